import json
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from heldout.experiments.analysis.cluster_models import Assumed
from heldout.experiments.analysis.power import RULES, PowerSettings, Simulator, power
from heldout.experiments.analysis.power_report import render_power, resolution
from heldout.experiments.analysis.run_noise import run_noise_levels
from heldout.gepa.gate.decide import GateSettings
from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.intervals.interval import ClusterSums
from heldout.gepa.statistics.tests.planning import t_power

ACCEPT, HELDOUT = (2, 3, 1, 2, 4) * 3, (3, 2, 4, 1, 3) * 6
SETTINGS = PowerSettings(seed=1, draws=600, candidates=5)


def simulator(**options):
    given = {
        "model": Assumed(),
        "accept": ACCEPT,
        "heldout": HELDOUT,
        "gate": GateSettings(),
        "settings": SETTINGS,
    }
    return Simulator(**{**given, **options})


def test_power_agrees_with_the_noncentral_t():
    # Equal sizes and no correlation: the textbook case.
    sizes = (2,) * 40
    model = Assumed(discordant=0.4, full=0.2, icc=0.0)
    settings = PowerSettings(seed=2, draws=4_000)
    found = simulator(model=model, heldout=sizes, settings=settings).shipped("interval", 0.1)
    big = model.draw(np.full((1, 200_000), 2), 0.1, np.random.default_rng(1))
    spread = float(ClusterSums(big.sums[0], big.sizes[0]).standard_error) * 200_000**0.5
    expected = t_power(0.1 / spread * 40**0.5, 39, 0.025)
    assert found.value == pytest.approx(expected, abs=0.025)


@pytest.mark.parametrize("rule", ["interval", "bootstrap", "permutation"])
def test_power_rises_with_the_effect_and_starts_at_the_level(rule):
    found = [simulator().shipped(rule, effect).value for effect in (0, 0.05, 0.1, 0.2)]
    assert found == sorted(found)
    assert found[0] < 0.06
    assert found[-1] > 0.9


def test_the_smallest_effect_has_the_power_asked_for():
    maker = simulator()
    found = maker.smallest("interval")
    assert maker.shipped("interval", found.value).value == pytest.approx(0.8, abs=0.03)
    assert 0 < found.error < 0.05
    hopeless = simulator(heldout=(1, 1))
    assert hopeless.smallest("interval") is None


def test_the_needed_consultations_suffice_and_half_do_not():
    maker = simulator(settings=PowerSettings(seed=1, draws=400))
    needed = maker.needed("interval", 0.1)
    assert maker._power_with("interval", 0.1, needed) >= 0.8
    assert maker._power_with("interval", 0.1, needed // 2) < 0.8
    assert maker.needed("interval", 0.0) is None
    assert maker.needed("interval", 1e-4) is None


def test_more_looks_and_a_margin_cost_power():
    alone = simulator().shipped("interval", 0.1).value
    looks = PowerSettings(seed=1, draws=600, planned_looks=3)
    assert simulator(settings=looks).shipped("interval", 0.1).value < alone
    margin = GateSettings(margin=0.03)
    assert simulator(gate=margin).shipped("interval", 0.1).value < alone


def test_the_pre_gate_buys_as_it_is_told():
    bought = {
        name: simulator(gate=GateSettings(pre_gate=name)).bought(0.0).value
        for name in ("off", "above", "study")
    }
    assert bought["off"] == 1
    assert bought["study"] < bought["above"] < 0.6
    assert simulator().bought(0.3).value > 0.99


def test_choosing_the_best_of_more_overstates_more():
    one, three, ten = (simulator().selection(n) for n in (1, 3, 10))
    assert abs(one.value) < 3 * one.error
    assert one.value < three.value < ten.value


def test_the_whole_report_prints_and_is_json():
    report = power(
        Assumed(), accept=ACCEPT, heldout=HELDOUT, gate=GateSettings(), settings=SETTINGS
    )
    body = json.loads(json.dumps(plain(report), allow_nan=False))
    assert set(body["rules"]) == set(RULES)
    assert [row["difference"] for row in body["rules"]["point"]["power"]] == [
        0.02,
        0.05,
        0.08,
        0.12,
    ]
    for stage in body["stages"]:
        assert stage["both"]["value"] == stage["pre_gate"]["value"] * stage["gate"]["value"]
    assert body["heldout"] == {"consultations": 30, "pairs": 78}
    assert body["needed"]["consultations"] > 30
    console = Console(file=StringIO(), width=140)
    console.print(render_power(report))
    text = console.file.getvalue()
    assert "80% power from" in text
    assert "Monte Carlo" in text


def test_the_same_seed_gives_the_same_report():
    few = PowerSettings(seed=1, draws=200, candidates=2)
    one, two = (
        power(Assumed(), accept=ACCEPT, heldout=HELDOUT, gate=GateSettings(), settings=few)
        for _ in range(2)
    )
    assert plain(one) == plain(two)


def test_a_dry_run_warns_of_what_its_sets_cannot_resolve():
    small = resolution(simulator())
    assert len(small.warnings) == 3
    assert "held-out cannot resolve the hoped gain of 0.050" in small.warnings[0]
    assert json.dumps(plain(small), allow_nan=False)
    assert len(small.sentences) == 3
    large = resolution(simulator(gate=GateSettings(hoped_gain=0.4)))
    assert large.warnings == ()


@pytest.mark.parametrize("heldout", [(2,) * 11, (40, *(1,) * 60), (9, 9, 9)])
def test_a_dry_run_warns_of_a_held_out_set_that_no_rule_can_decide_on(heldout):
    hopeful = GateSettings(hoped_gain=0.5)
    first, *_ = resolution(simulator(heldout=heldout, gate=hopeful)).warnings
    assert "too small for any decision" in first
    assert f"its {len(heldout)} consultations" in first
    told = resolution(simulator(heldout=(2,) * 12, gate=hopeful)).warnings
    assert not any("too small for any decision" in line for line in told)


def test_three_replicates_buy_the_level_that_one_loses():
    found = run_noise_levels((3, 2, 1, 4) * 28, np.random.default_rng(1), alpha=0.025)
    assert found.once > 0.08
    assert found.allowed < 0.04
    assert (found.runs, found.run_sd) == (3, 0.03)


def test_a_split_with_one_consultation_is_an_error():
    with pytest.raises(ValueError, match="the accept set needs pairs in at least two"):
        simulator(accept=(3,))

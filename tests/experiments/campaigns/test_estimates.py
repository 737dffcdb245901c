from functools import cache
from pathlib import Path

import pytest
import yaml

from heldout.experiments.campaigns.estimates import estimate, estimate_text
from heldout.experiments.campaigns.running import prepare, start
from heldout.experiments.campaigns.session import RunOptions

SMALL = ("benchmark.synthetic.consultations=16", "search.iterations=4", "tracking.enabled=false")


@pytest.fixture(scope="module")
def estimated(tmp_path_factory, pytestconfig):
    nowhere = tmp_path_factory.mktemp("estimates") / "run"

    @cache
    def run(*settings):
        config = pytestconfig.rootpath / "configs" / "ranks_only.yaml"
        checked = prepare(config, [*SMALL, *settings], nowhere)
        return estimate(checked, checked.made.benchmark)

    return run


@pytest.fixture(scope="module")
def pins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pins")

    def write(**prices):
        entry = {"efforts": ["low", "high"], **({"prices": prices} if prices else {})}
        models = {"openai/judge": entry, "openai/reflector": entry}
        path = folder / f"models{len(prices)}.yaml"
        path.write_text(yaml.safe_dump({"models": models}))
        return (
            f"models={path}",
            "student.model=openai/judge",
            "reflector.model=openai/reflector",
        )

    return write


def test_an_estimate_is_near_what_the_run_takes(estimated, tmp_path, pytestconfig):
    found = estimated()
    config = pytestconfig.rootpath / "configs" / "ranks_only.yaml"
    ended = start(
        prepare(config, SMALL, tmp_path / "real"), tmp_path / "real", RunOptions(quiet=True)
    )
    spent = ended.run.to_json()["budget"]
    # Its search may stop early, win with a seed and confirm nothing.
    confirm = found["phases"]["confirm"]["calls"]
    assert spent["calls"] - confirm <= found["total"]["calls"] <= 2 * (spent["calls"] + confirm)
    assert spent["tokens"] <= 1.5 * found["total"]["tokens"]


def test_phases_sum_to_the_total(estimated):
    found = estimated()
    for name in ("calls", "tokens"):
        parts = [phase[name] for phase in found["phases"].values()]
        assert sum(parts) == pytest.approx(found["total"][name], abs=len(parts))
    assert list(found["phases"]) == ["baseline", "seeds", "search", "confirm"]


def test_simulated_models_are_known_to_be_free_and_unknown_prices_stay_unknown(estimated, pins):
    assert estimated()["total"]["usd"] == 0.0
    unknown = estimated(*pins())
    assert unknown["total"]["usd"] is None
    assert "price unknown" in "\n".join(estimate_text(unknown))
    dear = estimated(*pins(prompt=2.0, completion=10.0, date="2025-01-01"))
    assert dear["total"]["usd"] > 2e-6 * dear["total"]["tokens"] * 0.9
    assert dear["total"]["usd"] == pytest.approx(
        sum(phase["usd"] for phase in dear["phases"].values()), abs=1e-3
    )


def test_reasoning_is_assumed_to_take_half_the_cap(estimated, pins):
    plain = estimated(*pins())
    reasoning = estimated(*pins(), "student.budget={max_tokens: 8000, reasoning_effort: high}")
    baseline = reasoning["phases"]["baseline"]
    assert baseline["tokens"] - plain["phases"]["baseline"]["tokens"] > 3500 * baseline["calls"]
    assert "half the cap" in reasoning["assumes"]


def test_replicates_samples_and_limits_count(estimated):
    once = estimated()["phases"]
    thrice = estimated("confirm.replicates=3", "search.samples=2")["phases"]
    assert thrice["baseline"]["calls"] == 3 * once["baseline"]["calls"]
    assert thrice["seeds"]["calls"] == 2 * once["seeds"]["calls"]
    limited = estimated("search.max_judgements=50")["phases"]["search"]
    assert limited["calls"] == 54  # and four reflections
    assert once["search"]["calls"] > 54


def test_what_three_replicates_cost_beyond_those_of_the_configuration(estimated):
    once, twice = estimated(), estimated("confirm.replicates=2")
    thrice = estimated("confirm.replicates=3")
    for fewer in (once, twice):
        more = fewer["more_for_replicates"]
        for name in ("calls", "tokens"):
            assert fewer["total"][name] + more[name] == pytest.approx(thrice["total"][name], abs=2)
    assert thrice["more_for_replicates"] is None


def test_a_design_of_several_stages_counts_what_is_asked_once_a_consultation(estimated):
    single, staged = estimated(), estimated("student.design=per_fact_checker")
    held = single["phases"]["baseline"]["calls"]
    assert staged["phases"]["baseline"]["calls"] > held
    assert staged["phases"]["baseline"]["calls"] < 2 * held
    assert staged["phases"]["confirm"]["calls"] == single["phases"]["confirm"]["calls"]


def test_the_plan_shows_it(tmp_path, pytestconfig):
    from heldout.experiments.campaigns.plan import plan, plan_text

    config = Path(pytestconfig.rootpath) / "configs" / "ranks_only.yaml"
    text = plan_text(plan(prepare(config, SMALL, tmp_path / "run")))
    assert "probable cost by phase:" in text
    assert "confirm" in text
    assert "confirm.replicates: 3 allows for it" in text
    enough = prepare(config, [*SMALL, "confirm.replicates=3"], tmp_path / "run")
    assert "allows for it" not in plan_text(plan(enough))

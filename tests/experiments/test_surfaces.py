"""One decision on six surfaces: `--json`, `gate.json`, card, report, MLflow and terminal agree.

Each kind of ending is a whole campaign on a scripted judge. Every surface is read as a person or a
program reads it, and held against the event on record.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.campaigns import run_small, write_config
from tests.support.length_judge import SAFE, SEEDS, LengthJudge, by_length

from heldout.experiments.campaigns.ending import ending, status_text
from heldout.experiments.campaigns.family import prepare_family, start_family
from heldout.experiments.campaigns.look_table import look_table
from heldout.experiments.campaigns.redecide import redecide
from heldout.experiments.campaigns.session import RunOptions, SessionResult
from heldout.experiments.report.family_page import FAMILY_PAGES
from heldout.experiments.report.pages import report_files
from heldout.experiments.report.text import TextPolicy, markdown
from heldout.experiments.tracking.campaign_run import campaign_note, campaign_tags
from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput
from heldout.splits.synthetic import draw, write_jsonl

pytestmark = pytest.mark.campaign


def alone(gate: dict[str, Any], judge: LengthJudge | None = None, **more: Any) -> Any:
    def run(folder: Path) -> SessionResult:
        doubles = {"sim/judge": judge or LengthJudge()}
        return run_small(folder, {"gate": gate, **more}, doubles=doubles)

    return run


def in_family(folder: Path) -> SessionResult:
    """Two targets that each pass alone: p is 2^-6 of six consultations, adjusted 2^-5."""
    gate = {**SAFE, "rule": "permutation"}
    files = []
    for name, tokens in (("first", 1500), ("second", 1400)):
        own = {"name": name, "student": {"budget": {"max_tokens": tokens}}, "gate": gate}
        (folder / name).mkdir()
        files.append(write_config(folder / name, own))
    options = RunOptions(quiet=True, doubles={"sim/judge": LengthJudge()})
    return start_family(prepare_family(files, (), folder / "family", options), folder / "family")[0]


def beyond_the_plan(folder: Path) -> SessionResult:
    """A second run on the notes of one that has looked, with the flag."""
    write_jsonl(draw(16, 5), folder / "pairs.jsonl", folder / "talks.jsonl")
    files = {
        "synthetic": None,
        "pairs": str(folder / "pairs.jsonl"),
        "consultations": str(folder / "talks.jsonl"),
        "public": False,
    }
    double = {"sim/judge": LengthJudge()}
    config: dict[str, Any] = {"benchmark": files, "gate": SAFE}
    first = run_small(folder, config, doubles=double, run="first")
    again = config | {"partition": {"manifest": str(first.files.manifest)}, "seed": 6}
    return run_small(folder, again, doubles=double, acknowledge_reuse=True)


def drifted(block: str, note: str) -> float:
    return 5.0 if block in SEEDS else by_length(block, note)


ENDINGS: dict[str, tuple[str, str | None, Callable[[Path], SessionResult]]] = {
    "emitted": ("emitted", None, alone(SAFE)),
    "rule": ("refused", "gate", alone({**SAFE, "margin": 0.9, "pre_gate": "off"})),
    "too few": ("refused", "gate:too_few", alone({**SAFE, "min_effective": 12})),
    "family": ("refused", "gate:family", in_family),
    "side": (
        "refused",
        "side:commissions",
        alone({}, benchmark={"synthetic": {"consultations": 30}}),
    ),
    "side not cleared": (
        "refused",
        "side:violations",
        alone(
            {"side_margins": {**SAFE["side_margins"], "violations": 0}, "sides": "require_cleared"}
        ),
    ),
    "drift": (
        "refused",
        "drift",
        alone(SAFE, LengthJudge(drifted, shift=2.0), confirm={"baseline": "before"}),
    ),
    "usability": ("refused", "gate:usable", alone({**SAFE, "require_usable": True})),
    "exploratory": ("refused", "exploratory", beyond_the_plan),
    "seed won": ("not_confirmed", "seed_won", alone({}, LengthJudge(lambda *_: 5.0))),
    "not inferior": (
        "emitted",
        None,
        alone({**SAFE, "goal": "non_inferior", "margin": 0.3}),
    ),
}


@pytest.fixture(scope="module", params=ENDINGS, ids=str)
def ended(request, tmp_path_factory) -> tuple[str, SessionResult]:
    """A finished run of each ending."""
    return request.param, ENDINGS[request.param][2](tmp_path_factory.mktemp("run"))


def card_of(run: Run) -> dict[str, Any] | None:
    """The emitted card, None where there is no prompt."""
    found = list(run.run_dir.rglob("*.card.yaml"))
    assert len(found) == len(list(run.run_dir.rglob("prompts/*.txt")))
    return yaml.safe_load(found[0].read_text()) if found else None


def test_every_surface_says_the_same(ended) -> None:
    kind, session = ended
    decision, reason, _ = ENDINGS[kind]
    run = session.run
    said = json.loads(json.dumps(run.to_json()))
    assert (said["decision"], said["reason"]) == (decision, reason), said["sentence"]
    gate = json.loads(session.files.gate.read_text())
    card = card_of(run)
    terminal = ending(run)
    pages = report_files(run, TextPolicy.FULL)
    page, note = html.unescape(pages["report.html"]), campaign_note(run)
    tags = campaign_tags(run, TextPolicy.FULL)
    sentence, flag = said["sentence"], said["usable"]["sentence"]

    for key in ("decision", "reason", "sentence", "rule"):
        assert gate[key] == said[key] == tags[key]
    assert gate["usable"] == said["usable"]
    assert (tags["usable"], tags["usable_reason"]) == (
        said["usable"]["usable"],
        said["usable"]["reason"],
    )
    assert sentence.startswith(decision.replace("_", " "))

    # A person reads the same sentence and the same line on use everywhere.
    capital = sentence[:1].upper() + sentence[1:]
    for text in (f"Decision: {sentence}", f"Flag:     {flag}"):
        assert text in terminal
    assert f"decision: {sentence}" in status_text(run)
    assert f"<b>{capital}." in page
    assert flag in page
    for text in (pages["report.md"], note):
        assert markdown(f"{capital}.") in text
        assert markdown(flag) in text
    notebook = html.unescape(run._repr_html_())
    assert f"Decision: {sentence}" in notebook
    assert flag in notebook

    # The card is there exactly where something was emitted, and says it too.
    assert (card is not None) == (decision == "emitted") == (said["prompt_file"] is not None)
    if card is not None:
        assert card["usable"] == said["usable"]
        for key in ("decision", "reason", "sentence", "rule"):
            assert card["gate"][key] == said[key]
        assert card["does_not_show"][: len(run.caveats)] == said["caveats"]
    for caveat in said["caveats"]:
        assert caveat in terminal
        assert caveat[1:] in page

    # Nothing calls better what was not shown to be.
    texts = "\n".join([json.dumps([said, gate, card]), terminal, page, note]).lower()
    if gate.get("finding") != "better":
        assert "shown to be better" not in texts.replace("not shown to be better", "")
    assert (gate.get("finding") == "better") <= run.gate.ships


def test_the_gate_under_the_runs_own_rule_gives_the_runs_own_decision(ended) -> None:
    _, session = ended
    gate = session.run.gate
    if gate.heldout is None:
        return
    again = redecide(session.files.path, gate.rule)
    for key in ("decision", "reason", "sentence", "finding"):
        assert again[key] == getattr(gate, key)
    assert again["usable"]["reason"] == gate.usable.reason
    assert [member["adjusted"] for member in again.get("family", [])] == [
        member.adjusted for member in gate.family
    ]


def test_a_family_stands_on_every_surface(tmp_path: Path) -> None:
    session = in_family(tmp_path)
    run, folder = session.run, session.files.path.parent
    members = json.loads(json.dumps(run.to_json()))["family"]
    assert [member["name"] for member in members] == ["first", "second"]
    assert [(m["p"], m["adjusted"], m["shown"]) for m in members] == [(2**-6, 2**-5, False)] * 2
    assert json.loads(session.files.gate.read_text())["family"] == members
    told = ["first: not shown, p 0.0156, adjusted 0.0312", "second: not shown, p 0.0156"]
    page = html.unescape(report_files(run, TextPolicy.FULL)["report.html"])
    joint = html.unescape((folder / FAMILY_PAGES[0]).read_text())
    for text in told:
        assert text in campaign_tags(run, TextPolicy.FULL)["family"]
        assert text in page
        assert text in str(look_table(folder))
    assert str(look_table(folder / "partition.json")) == str(look_table(session.files.path))
    for name in ("first", "second"):
        assert f'href="{name}/report.html"' in joint
    assert joint.count("0.0312") == 2
    assert joint.count(run.sentence[1:]) == 2
    assert "0.0312" in (folder / FAMILY_PAGES[1]).read_text()


def test_a_family_of_which_one_is_missing_is_not_decided_alone(tmp_path: Path) -> None:
    session = in_family(tmp_path)
    (session.files.path.parent / "second").rename(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="second"):
        redecide(session.files.path, "interval")
    lone = Path(session.files.path.rename(tmp_path / "lone"))
    with pytest.raises(BadInput, match="decided in a family"):
        redecide(lone, "interval")

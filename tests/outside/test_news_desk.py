"""An outside package: its student, acceptance rule and objective run to a decision."""

from __future__ import annotations

import ast
import csv
import json
import sys
from pathlib import Path

import pytest
import yaml
from tests.benchmarks.loopback import Answer, Request, completion, serving

import heldout
from heldout.testing import check_acceptance, check_objective, check_student
from heldout.types import BadInput

PACKAGE = Path(__file__).with_name("news_desk")
TOPICS = (
    "bridge", "school", "harbour", "library", "tram", "museum", "bakery", "orchard",
    "theatre", "hospital", "market", "lighthouse", "stadium", "airport", "castle", "river",
    "forest", "mill", "tower", "garden", "abbey", "brewery", "cinema", "dairy", "embassy",
    "ferry", "gallery", "hostel", "inn", "jetty", "kiosk", "laundry", "monastery", "nursery",
    "opera", "pier", "quarry", "racecourse", "sawmill", "tannery",
)  # fmt: skip
FACTS = (
    "The {} closes on {} May.",
    "Repairs cost {} thousand euros at the {}.",
    "Visitors of the {} take line {} instead.",
    "The {} was built {} years ago.",
)


def article(number: int) -> list[str]:
    """The facts of one made-up article."""
    topic = TOPICS[number]
    return [
        fact.format(*((topic, number + place) if place != 1 else (number + place, topic)))
        for place, fact in enumerate(FACTS, start=0)
    ]


def write_table(path: Path) -> Path:
    """Articles with a whole summary each and two that leave a fact out."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["group", "stratum", "note_id", "kind", "text", "transcript", "fact"])
        for number, topic in enumerate(TOPICS):
            facts = article(number)
            source = f"From the {topic} desk. {' '.join(facts)} More next week."
            rows.writerow([topic, "news", "whole", "clean", " ".join(facts), source, ""])
            for gone in (1, 2):
                kept = " ".join(f for f in facts if f is not facts[gone])
                rows.writerow([topic, "news", f"gap{gone}", "omit-complete", kept, "", facts[gone]])
    return path


def answer(request: Request) -> Answer:
    """A model behind an address: it counts facts, but only where the block asks for each of them.

    Asked for a rewrite, it writes a block that does.
    """
    prompt = request.body["messages"][-1]["content"]
    if "<<<BLOCK" in prompt:
        block = "Go through every fact of the article and check each of them, one by one."
        return Answer(json.dumps(completion(f"<<<BLOCK\n{block}\nBLOCK>>>")).encode())
    source, _, rest = prompt.partition("Article:\n")[2].partition("\n\nSummary:\n")
    summary, _, rest = rest.partition("\n\n")
    facts = [f"{line}." for line in source.split(". ")[1:-1]]
    kept = sum(fact.rstrip(".") in summary for fact in facts)
    share = round(100 * kept / len(facts)) if "every fact" in rest else 50
    return Answer(json.dumps(completion(f"coverage: {share}")).encode())


def write_campaign(folder: Path, api_base: str) -> Path:
    """A campaign file beside a copy of the package, with pins of the model on loopback."""
    (folder / "news_desk").mkdir()
    for source in PACKAGE.glob("*.py"):
        (folder / "news_desk" / source.name).write_text(source.read_text("utf-8"), "utf-8")
    prices = {"prompt": 0.0, "completion": 0.0, "date": "2026-01-01"}
    pins = {"desk/model": {"model": "openai/desk", "api_base": api_base, "prices": prices}}
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": pins}), "utf-8")
    campaign = {
        "name": "news",
        "seed": 3,
        "benchmark": {"pairs": write_table(folder / "news.csv").name, "public": True},
        "models": "models.yaml",
        "student": {
            "design": "news_desk.parts:CoverageJudge",
            "model": "desk/model",
            "budget": {"max_tokens": 200},
        },
        "reflector": {"model": "desk/model"},
        "seeds": [{"name": "plain", "text": "Say how well the summary does."}],
        "search": {
            "iterations": 4,
            "acceptance": "news_desk.parts:ClearlyBetter",
            "objective": "news_desk.parts:PairsThenSpread",
        },
        "tracking": {"enabled": False},
    }
    path = folder / "news.yaml"
    path.write_text(yaml.safe_dump(campaign, sort_keys=False), "utf-8")
    return path


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    for name in [n for n in sys.modules if n.partition(".")[0] == "news_desk"]:
        monkeypatch.delitem(sys.modules, name)


def test_the_package_imports_from_the_door_alone() -> None:
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("heldout"):
                assert node.module in ("heldout", "heldout.types", "heldout.testing")


def test_its_parts_keep_their_contracts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PACKAGE.parent))
    from news_desk.parts import ClearlyBetter, CoverageJudge, PairsThenSpread  # type: ignore

    check_acceptance(ClearlyBetter())
    check_objective(PairsThenSpread())
    check_student(CoverageJudge)


def test_a_campaign_with_its_parts_comes_to_its_decision(tmp_path: Path) -> None:
    with serving(answer) as server:
        config = write_campaign(tmp_path, server.api_base)
        run = heldout.run(config, run_dir=tmp_path / "run")
        assert run.status == "finished"
        assert (run.decision, run.reason) == ("emitted", None)
        assert run.opened.student.design == "news_desk.parts:CoverageJudge"
        assert set(run.opened.parts) == {
            "news_desk.parts:CoverageJudge",
            "news_desk.parts:ClearlyBetter",
            "news_desk.parts:PairsThenSpread",
        }
        assert run.settings.objective == {"name": "PairsThenSpread"}
        assert run.settings.acceptance == {"name": "ClearlyBetter", "step": 0.02}
        assert heldout.resume(tmp_path / "run").lineage_sha256 == run.lineage_sha256


def test_a_part_that_was_changed_does_not_go_on_with_a_run(tmp_path: Path) -> None:
    with serving(answer) as server:
        config = write_campaign(tmp_path, server.api_base)
        tree = yaml.safe_load(config.read_text("utf-8"))
        tree["budget"] = {"calls": 160}
        config.write_text(yaml.safe_dump(tree), "utf-8")
        assert heldout.run(config, run_dir=tmp_path / "run").status == "stopped"
        parts = tmp_path / "news_desk" / "parts.py"
        parts.write_text(
            parts.read_text("utf-8").replace("step: float = 0.02", "step: float = 0.01")
        )
        with pytest.raises(BadInput, match="changed after the run began"):
            heldout.resume(tmp_path / "run", budget={"calls": 5000})


def test_reading_a_run_does_not_import_its_parts(tmp_path: Path) -> None:
    with serving(answer) as server:
        config = write_campaign(tmp_path, server.api_base)
        heldout.run(config, run_dir=tmp_path / "run")
    for file in (tmp_path / "news_desk").glob("*.py"):
        file.write_text("raise RuntimeError('imported')\n", "utf-8")
    from heldout.experiments.campaigns.verify import verify_run
    from heldout.experiments.report.pages import write_report

    assert heldout.load_run(tmp_path / "run").decision == "emitted"
    assert verify_run(tmp_path / "run").fault is None
    write_report(tmp_path / "run")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (("search", "objective"), "news_desk.parts:Nothing", "has no Nothing"),
        (("search", "objective"), "no_such_module:Thing", "no_such_module cannot be imported"),
        (("search", "objective"), "news_desk.parts:ClearlyBetter", "search.objective"),
        (("search", "acceptance"), "news_desk.parts:PairsThenSpread", "search.acceptance"),
        (("gate", "rule"), "news_desk.parts:ClearlyBetter", "gate.rule"),
        (("student", "design"), "news_desk.parts:ANSWER", "student.design"),
        (("student", "design"), "news desk.parts:X", "there is no design"),
    ],
)
def test_a_part_that_does_not_fit_is_named_before_anything_is_bought(
    tmp_path: Path, key: tuple[str, str], value: str, said: str
) -> None:
    config = write_campaign(tmp_path, "http://127.0.0.1:9/v1")
    tree = yaml.safe_load(config.read_text("utf-8"))
    tree.setdefault(key[0], {})[key[1]] = value
    config.write_text(yaml.safe_dump(tree), "utf-8")
    with pytest.raises(BadInput, match=said):
        heldout.run(config, run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_in_python_a_part_is_the_object_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PACKAGE.parent))
    from news_desk.parts import ClearlyBetter, CoverageJudge, PairsThenSpread  # type: ignore

    with serving(answer) as server:
        config = write_campaign(tmp_path, server.api_base)
        tree = yaml.safe_load(config.read_text("utf-8"))
        by_path = heldout.run(config, run_dir=tmp_path / "by_path")
        tree["student"]["design"] = CoverageJudge
        tree["search"] |= {"acceptance": ClearlyBetter(0.02), "objective": PairsThenSpread()}
        tree |= {"models": str(tmp_path / "models.yaml")}
        tree["benchmark"]["pairs"] = str(tmp_path / "news.csv")
        # The same notes again: a registry that knows nothing of the first run.
        monkeypatch.setenv("HELDOUT_LOOKS", str(tmp_path / "other-looks.jsonl"))
        by_object = heldout.run(tree, run_dir=tmp_path / "by_object")
    assert by_object.lineage_sha256 == by_path.lineage_sha256

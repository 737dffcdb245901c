"""Ways to tamper with a finished run: `verify` names each, or docs/reliability.md lists it.

One emitted run is made for all of them; each way is tried on a copy, in process.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.campaigns import SMALL, resume_small, run_small

from heldout.experiments.campaigns.verify import verify_run
from heldout.experiments.practice.loaded_prompt import load_prompt
from heldout.experiments.report.pages import note_pages, write_lineage, write_report
from heldout.experiments.store.check import check_store
from heldout.gepa.record.journal import GENESIS
from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput
from heldout.splits.hashing import canonical_json, sha256_json, sha256_text
from heldout.students.models.chat import ChatReply, ChatRequest, StopReason, Usage

Tampering = Callable[[Path], None]


class LongerIsBetter:
    """A judge under which every evolved block beats the seeds."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        message = request.messages[0].content
        note = message.split("<note>\n")[1].split("\n</note>")[0]
        seen = any(seed["text"] in message for seed in SMALL["seeds"])
        answer = {"assessment": "made", "score": 7.0 if seen else min(10.0, len(note) / 300)}
        return ChatReply(json.dumps(answer), StopReason.STOP, Usage(50, 10), 0.0, "sim/judge")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that emitted a prompt."""
    ended = run_small(
        tmp_path_factory.mktemp("verify"),
        {"gate": {"side_margins": {"commissions": 1.0}}},
        doubles={"sim/judge": LongerIsBetter()},
    )
    assert ended.run.decision == "emitted"
    return ended.files.path


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


# -- ways to tamper ----------------------------------------------------------------------------


def text(name: str, edit: Callable[[str], str]) -> Tampering:
    """A text file edited."""

    def tamper(run: Path) -> None:
        path = run / name
        before = path.read_text("utf-8")
        after = edit(before)
        assert after != before
        path.write_text(after, "utf-8")

    return tamper


def tree(name: str, edit: Callable[[Any], object]) -> Tampering:
    """A JSON or YAML file edited."""
    yaml_file = name.endswith(".yaml")

    def tamper(run: Path) -> None:
        path = run / name
        found = yaml.safe_load(path.read_text()) if yaml_file else json.loads(path.read_text())
        edit(found)
        path.write_text(
            yaml.safe_dump(found, sort_keys=False) if yaml_file else json.dumps(found, indent=1)
        )

    return tamper


def gone(name: str) -> Tampering:
    return lambda run: (run / name).unlink()


def filled(name: str, content: bytes) -> Tampering:
    def tamper(run: Path) -> None:
        (run / name).parent.mkdir(exist_ok=True)
        (run / name).write_bytes(content)

    return tamper


def lines(name: str, edit: Callable[[list[str]], object]) -> Tampering:
    """The lines of a file edited."""

    def tamper(run: Path) -> None:
        found = (run / name).read_text("utf-8").splitlines()
        edit(found)
        (run / name).write_text("".join(f"{line}\n" for line in found), "utf-8")

    return tamper


def rechained(kind: str, edit: Callable[[Any], object], which: int = 0) -> Tampering:
    """The body of the journal's `which`-th event of a kind edited, and every hash made to fit."""

    def tamper(run: Path) -> None:
        path, previous, seen, out = run / "journal.jsonl", GENESIS, -1, []
        for raw in path.read_text("utf-8").splitlines():
            line = json.loads(raw)
            seen += line["kind"] == kind
            if line["kind"] == kind and seen == which:
                before = canonical_json(line["body"])
                edit(line["body"])
                assert canonical_json(line["body"]) != before
            head = f"{previous}\n{line['n']}\n{line['t']}\n{line['kind']}\n"
            own = sha256_text(head + canonical_json(line["body"]))
            out.append(canonical_json({**line, "prev": previous, "hash": own}))
            previous = own
        path.write_text("".join(f"{line}\n" for line in out), "utf-8")

    return tamper


def relooked(edit: Callable[[Any], object], which: int) -> Tampering:
    """A line of the looks edited, and every hash made to fit."""

    def tamper(run: Path) -> None:
        path = run / "partition.looks.jsonl"
        found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        edit(found[which])
        previous = found[0]["previous"]
        for line in found:
            line["previous"] = previous
            del line["hash"]
            previous = line["hash"] = sha256_json(line)
        path.write_text("".join(f"{canonical_json(line)}\n" for line in found), "utf-8")

    return tamper


def sql(statement: str) -> Tampering:
    def tamper(run: Path) -> None:
        database = sqlite3.connect(run / "calls.sqlite")
        assert database.execute(statement).rowcount
        database.commit()
        database.close()

    return tamper


def put(*keys: Any, to: Any) -> Callable[[Any], object]:
    """Sets a value deep in a tree."""

    def edit(found: Any) -> None:
        for key in keys[:-1]:
            found = found[next(iter(found)) if key is None else key]
        last = keys[-1]
        found[next(iter(found)) if last is None else last] = to

    return edit


def moved_id(found: Any) -> None:
    """One consultation from reflect to held-out, the manifest's own digest made to fit."""
    found["splits"]["heldout"].append(found["splits"]["reflect"].pop())
    found["sha256"] = sha256_json({k: v for k, v in found.items() if k != "sha256"})


def scored(found: Any) -> None:
    note = next(iter(found["scores"]))
    found["scores"][note] = 0.25


def flipped(found: Any) -> None:
    flags = next(iter(found["flags"].values()))
    flags[0] = not flags[0]


def swap(found: list[str]) -> None:
    found[3], found[4] = found[4], found[3]


def cut_before(kind: str) -> Callable[[list[str]], object]:
    def edit(found: list[str]) -> None:
        at = next(i for i, line in enumerate(found) if f'"kind":"{kind}"' in line)
        del found[at:]

    return edit


JOURNAL, LOOKS, CALLS = "journal.jsonl", "partition.looks.jsonl", "calls.sqlite"
CARD, PROMPT = "prompts/small.card.yaml", "prompts/small.txt"
NOTE, PAIRS = "benchmark/consultations.jsonl.gz", "benchmark/pairs.jsonl.gz"
H = "0" * 64

WAYS: dict[str, tuple[str, Tampering]] = {
    # the journal, its chain left as it was
    "a word of an event": (JOURNAL, text(JOURNAL, lambda t: t.replace('"search"', '"serach"', 1))),
    "a figure of an event": (JOURNAL, text(JOURNAL, lambda t: t.replace("0.5", "0.6", 1))),
    "a time": (JOURNAL, text(JOURNAL, lambda t: t.replace('"t":"20', '"t":"19', 1))),
    "a line removed": (JOURNAL, lines(JOURNAL, lambda x: x.pop(5))),
    "two lines exchanged": (JOURNAL, lines(JOURNAL, swap)),
    "a line twice": (JOURNAL, lines(JOURNAL, lambda x: x.insert(5, x[5]))),
    "a line that is none": (JOURNAL, lines(JOURNAL, lambda x: x.insert(5, "{}"))),
    "a line of deep nesting": (JOURNAL, lines(JOURNAL, lambda x: x.insert(5, "[" * 90_000))),
    "no UTF-8": (JOURNAL, filled(JOURNAL, b"\xff\xfe\n")),
    "an empty journal": ("gate.json", filled(JOURNAL, b"")),
    "no journal": (JOURNAL, gone(JOURNAL)),
    "cut before the emission": (PROMPT, lines(JOURNAL, cut_before("emission"))),
    "cut before the decision": ("gate.json", lines(JOURNAL, cut_before("gate"))),
    # the journal, every hash made to fit
    "a score on accept": ("lineage", rechained("evaluation", scored, 1)),
    "a score on held-out": ("lineage", rechained("evaluation", scored)),
    "the text of a candidate": ("its hash", rechained("candidate", put("block", to="x"))),
    "the length of a candidate": ("its hash", rechained("candidate", put("length", to=1))),
    "the parents of a candidate": (
        "lineage", rechained("candidate", put("parents", to=["c00", "c01"]), 2)),
    "the fate of a candidate": ("lineage", rechained("candidate", put("reason", to="leak"), 2)),
    "the winner": ("the winner", rechained("winner", put("id", to="c00"))),
    "a seed": ("seed plain", rechained("settings", put("seeds", "plain", to=H))),
    "the decision": ("gate.json", rechained("gate", put("decision", to="refused"))),
    "a figure of the decision": ("gate.json", rechained("gate", put("alpha", to=0.5))),
    "how it ended": ("ends as", rechained("finished", put("decision", to="refused"))),
    "what was settled": (CALLS, rechained("evaluation", put("spent", "calls", to=9999))),
    "the block judged": (
        "another block", rechained("evaluation", put("block_sha256", to=H), 3)),
    "the frame judged under": (
        "another frame", rechained("evaluation", put("frame_sha256", to=H), 3)),
    "a label": (
        "other labels", rechained("partition", put("labels", None, "trace", to="complete"))),
    "the manifest on record": (
        "partition.json", rechained("partition", put("manifest_sha256", to=H))),
    "the plan of looks": ("partition.json", rechained("partition", put("planned_looks", to=3))),
    "the benchmark on record": (
        "another benchmark", rechained("partition", put("benchmark", "digest", to=H))),
    "the target of a look": ("another target", rechained("look", put("target", to=H))),
    "what was emitted": (PROMPT, rechained("emission", put("prompt_sha256", to=H))),
    "the configuration on record": (
        "config.yaml", rechained("opened", put("config_sha256", to=H))),
    "the replies on record": (CALLS, rechained("calls", put("stored_sha256", to=H))),
    "the pages on record": ("report.md", rechained("rendered", put("pages", "report.md", to=H))),
    # the configuration
    "a value": ("config.yaml", tree("config.yaml", put("search", "iterations", to=50))),
    "a seed block": ("config.yaml", tree("config.yaml", put("seeds", 0, "text", to="Be kind."))),
    "a key too many": ("config.yaml", tree("config.yaml", put("extra", to=1))),
    "no YAML": ("config.yaml", filled("config.yaml", b"name: [small\n\tseed: {")),
    "another tree": ("config.yaml", filled("config.yaml", b"- small\n")),
    "no text at all": ("config.yaml", filled("config.yaml", b"\x00\xff\x80")),
    # the partition and the looks
    "a consultation moved": ("partition.json", tree("partition.json", moved_id)),
    "looks planned": ("partition.json", tree("partition.json", put("planned_looks", to=9))),
    "no manifest": ("partition.json", gone("partition.json")),
    "a manifest that is none": ("partition.json", filled("partition.json", b"[1, 2")),
    "a score of a look": (LOOKS, text(LOOKS, lambda t: t.replace("7.0", "7.5", 1))),
    "a look removed": (LOOKS, lines(LOOKS, lambda x: x.pop())),
    "no looks": (LOOKS, gone(LOOKS)),
    "looks that are none": (LOOKS, filled(LOOKS, b"\xff\n")),
    "a score of a look, chained": ("other results", relooked(put("scores", None, 0, to=1.5), 1)),
    "a flag of a look, chained": ("other results", relooked(flipped, 1)),
    "a figure of a look, chained": (
        "another figure", relooked(put("figures", "paired_omissions", to=0.9), 3)),
    "the calls of a look, chained": ("other calls", relooked(put("calls_sha256", to=H), 1)),
    "a look beyond the plan, chained": (
        "another exploratory", relooked(put("exploratory", to=True), 2)),
    # the data
    "no pairs": (PAIRS, gone(PAIRS)),
    "no consultations": (NOTE, gone(NOTE)),
    "data that are none": (PAIRS, filled(PAIRS, b"\x1f\x8b broken")),
    # the stored calls
    "a reply": (CALLS, sql("UPDATE calls SET text = 'x' WHERE id = 7")),
    "reasoning": (CALLS, sql("UPDATE calls SET reasoning = 'x' WHERE id = 7")),
    "a finish": (CALLS, sql("UPDATE calls SET finish = 'length' WHERE id = 7")),
    "tokens": (CALLS, sql("UPDATE calls SET completion_tokens = 1 WHERE id = 7")),
    "a price": (CALLS, sql("UPDATE calls SET usd = 0.5 WHERE id = 7")),
    "the model that answered": (CALLS, sql("UPDATE calls SET served_model = 'x' WHERE id = 7")),
    "what was asked": (CALLS, sql("UPDATE calls SET temperature = 0.1 WHERE id = 7")),
    "messages": (CALLS, sql("UPDATE calls SET messages = '[]' WHERE messages IS NOT NULL")),
    "a call removed": (CALLS, sql("DELETE FROM calls WHERE id = 7")),
    "two calls exchanged": (CALLS, sql("UPDATE calls SET id = 99999 WHERE id = 7")),
    "all calls of another run": (CALLS, sql("UPDATE calls SET run_id = 'other'")),
    "no table": (CALLS, sql("DROP TABLE calls")),
    "no database": (CALLS, filled(CALLS, b"no database" * 500)),
    "no store": (CALLS, gone(CALLS)),
    # the decision and what was emitted
    "gate.json: decision": ("gate.json", tree("gate.json", put("decision", to="refused"))),
    "gate.json: a sentence": ("gate.json", tree("gate.json", put("sentences", 0, to="Fine."))),
    "gate.json: a caveat": ("gate.json", tree("gate.json", put("caveats", to=[]))),
    "gate.json: none": ("gate.json", gone("gate.json")),
    "gate.json: no JSON": ("gate.json", filled("gate.json", b"\xff{")),
    "gate.json: deep": ("gate.json", filled("gate.json", b"[" * 90_000)),
    "the prompt": (PROMPT, text(PROMPT, lambda t: t + "Be brief.\n")),
    "the card's threshold": (CARD, tree(CARD, put("threshold", "value", to=1.0))),
    "the card's claim": (CARD, tree(CARD, put("simulated", to=False))),
    "no prompt": (PROMPT, gone(PROMPT)),
    "no card": (CARD, gone(CARD)),
    "a prompt of one's own": ("prompts/best.txt", filled("prompts/best.txt", b"Trust me.")),
    # the pages
    "a figure of the report": ("report.html", text("report.html", lambda t: t.replace("0.", "1."))),
    "the report in words": ("report.md", text("report.md", lambda t: t + "\n")),
    "the lineage": ("lineage.html", text("lineage.html", lambda t: t.replace("c00", "c99", 1))),
    "no report": ("report.html", gone("report.html")),
}  # fmt: skip


def test_a_run_that_nobody_touched_holds_together(run: Path) -> None:
    found = verify_run(run)
    assert (found.faults, found.notes) == ((), ())
    assert found.events + 1 == len((run / JOURNAL).read_text().splitlines())


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_tamper_is_named(way: str, run: Path) -> None:
    named, tamper = WAYS[way]
    tamper(run)
    found = verify_run(run)
    assert any(named in fault for fault in found.faults), found.text
    assert found.exit_status == 1
    assert all("\n" not in fault for fault in found.faults)


def test_a_run_without_its_configuration_is_refused_by_name(run: Path) -> None:
    (run / "config.yaml").unlink()
    with pytest.raises(BadInput, match=r"has no config\.yaml"):
        verify_run(run)


UNSEEN: dict[str, Tampering] = {
    "What the provider sent word for word": sql("UPDATE calls SET raw = 'x'"),
    "How long a request took": sql("UPDATE calls SET latency_s = 9"),
    "A journal cut at the end of a line": lines(JOURNAL, cut_before("finished")),
    "The newest remarks": lines(JOURNAL, cut_before("calls")),
}
"""What no check can see, by the words that list it in docs/reliability.md."""


@pytest.mark.parametrize("way", UNSEEN)
def test_what_verify_cannot_see_is_listed(way: str, run: Path) -> None:
    UNSEEN[way](run)
    assert verify_run(run).faults == ()
    page = Path(__file__).parents[3] / "docs" / "reliability.md"
    assert way in page.read_text("utf-8")


def test_a_figure_forged_in_every_file_is_found_by_computing_it_again(run: Path) -> None:
    rechained("gate", put("word_count", to=0.1))(run)
    tree("gate.json", put("word_count", to=0.1))(run)
    assert verify_run(run).faults == ()
    assert "word_count" in str(check_store(run).fault)
    page = Path(__file__).parents[3] / "docs" / "reliability.md"
    assert "heldout store check" in page.read_text("utf-8")


# -- cards -----------------------------------------------------------------------------------


def test_a_card_made_by_hand_is_told_from_one_whose_journal_agrees(
    run: Path, tmp_path: Path
) -> None:
    emitted = load_prompt(str(run / PROMPT))
    assert (emitted.confirmed, emitted.vouched) == (True, True)
    assert "held-out data agreed" in emitted.standing
    alone = tmp_path / "alone"
    shutil.copytree(run / "prompts", alone)
    copied = load_prompt(str(alone / "small.txt"))
    assert (copied.confirmed, copied.vouched) == (True, False)
    assert "by its card alone" in copied.standing


BY_HAND: dict[str, Tampering] = {
    "another threshold": tree(CARD, put("threshold", "value", to=9.9)),
    "another model": tree(CARD, put("models", "student", "id", to="openai/gpt-5")),
    "another decision": tree(CARD, put("gate", "decision", to="emitted by me")),
    "a comment": text(CARD, lambda t: t + "# checked\n"),
    "no emission on record": rechained("emission", put("card_sha256", to=H)),
}


@pytest.mark.parametrize("way", BY_HAND)
def test_beside_its_journal_a_card_made_by_hand_is_refused(way: str, run: Path) -> None:
    BY_HAND[way](run)
    with pytest.raises(BadInput, match="not what the journal of its run emitted") as caught:
        load_prompt(str(run / PROMPT))
    assert all("small.card.yaml" in line for line in caught.value.lines)


def test_a_torn_last_line_is_a_fault_once_the_run_has_finished(run: Path) -> None:
    journal = run / JOURNAL
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"index": 9')
    assert verify_run(run).faults == (
        f"{journal}: its last line is torn (11 bytes without a line end)",
    )
    *before, _, _ = whole.splitlines(keepends=True)
    finished = next(k for k, line in enumerate(before) if b'"finished"' in line)
    journal.write_bytes(b"".join(before[:finished]) + b'{"index": 9')
    found = verify_run(run)
    assert any("its last line is torn" in note for note in (*found.notes, *found.faults))


# -- pages -------------------------------------------------------------------------------------


def test_rendering_again_notes_nothing_new_and_leaves_the_lineage(run: Path) -> None:
    before, lineage = (run / JOURNAL).read_bytes(), Run.at(run).lineage_sha256
    write_report(run)
    write_lineage(run)
    note_pages(run)
    assert (run / JOURNAL).read_bytes() == before
    assert Run.at(run).lineage_sha256 == lineage
    assert resume_small(run).run.lineage_sha256 == lineage


def test_pages_of_another_version_are_told_as_older_and_are_no_fault(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = (run / "report.html").read_text("utf-8")
    monkeypatch.setattr("heldout.experiments.report.pages.metadata.version", lambda _: "0.2.0")
    found = verify_run(run)
    assert (found.exit_status, len(found.notes)) == (0, 3)
    assert "older, written by 0.1.0" in found.text
    (run / "report.html").write_text(old + " ")
    note_pages(run)
    assert (verify_run(run).faults, verify_run(run).notes) == ((), ())
    (run / "report.html").write_text(old)
    assert "older than the newest report, written by 0.1.0" in verify_run(run).text
    assert verify_run(run).exit_status == 0


def test_pages_that_the_journal_does_not_note_are_said_to_be_unchecked(run: Path) -> None:
    lines(JOURNAL, cut_before("rendered"))(run)
    text("report.html", lambda t: t + " ")(run)
    found = verify_run(run)
    assert found.exit_status == 0
    assert "not recorded" in found.text

"""A reflector that carries clinical text into its blocks: nothing of it is kept anywhere."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from tests.support.campaigns import run_small

from heldout.experiments.campaigns.session import SessionResult
from heldout.reflectors.reflector import RejectReason
from heldout.reflectors.reply import CLOSE, OPEN
from heldout.students.models.chat import ChatReply, ChatRequest, StopReason, Usage

pytestmark = pytest.mark.campaign

ZH = Path(__file__).parents[2] / "cases" / "zh.csv"
with ZH.open(encoding="utf-8") as _file:
    NOTES = [row["text"] for row in csv.DictReader(_file) if row["kind"] == "clean"]
NAMES = [note.partition("，")[0] for note in NOTES]
HONEST = "逐条列出谈话中提到的每一个事实，再在病历中逐一查找。缺少的事实越重要，分数越低。"


class Carrying:
    """A reflector that copies what it knows of the data: notes, parts of notes, a name."""

    def __init__(self) -> None:
        self.blocks = [
            *(f"请注意：{note}" for note in NOTES[:4]),
            " ".join(NOTES[4]),
            NOTES[5].replace("，", "\u200b、").replace("2", "２"),
            "；请看：".join(NOTES[6].split("。")),
            *(f"请注意{name}的情况。" for name in NAMES[7:10]),
            "请注意出生于1950年3月的人。",
            HONEST,
        ]

    async def complete(self, request: ChatRequest) -> ChatReply:
        block = self.blocks.pop(0)
        return ChatReply(f"{OPEN}\n{block}\n{CLOSE}", StopReason.STOP, Usage(9, 9), 0.0, "double")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SessionResult:
    """A campaign on notes without spaces, whose data is not public, with tracking."""
    folder = tmp_path_factory.mktemp("zh")
    double = Carrying()
    changes = {
        "benchmark": {"synthetic": None, "pairs": str(ZH), "public": False},
        "search": {"iterations": len(double.blocks), "merge_probability": 0.0},
        "tracking": {"enabled": True, "uri": f"sqlite:///{folder}/mlflow.db"},
    }
    return run_small(folder, changes, doubles={"sim/reflector": double})


def test_copies_and_names_are_rejected_and_an_honest_block_is_not(run: SessionResult) -> None:
    reasons = [c.reason for c in run.run.candidates.values() if c.kind == "mutation"]
    assert reasons[:7] == [RejectReason.OVERLAP] * 7
    assert reasons[7:11] == [RejectReason.IDENTIFIER] * 4
    assert reasons[11] not in set(RejectReason)


def test_nothing_of_such_a_proposal_is_kept(run: SessionResult) -> None:
    """Not in the journal, not in MLflow and its artifacts, not on a page."""
    folder = Path(run.run.run_dir).parent
    kept = [
        path
        for path in folder.rglob("*")
        if path.is_file() and "calls.sqlite" not in path.name and path.name != "partition.json"
    ]
    assert any(path.name == "mlflow.db" for path in kept)
    withheld = [name.encode() for name in NAMES] + [note[4:20].encode() for note in NOTES]
    for path in kept:
        data = path.read_bytes()
        found = [text.decode() for text in withheld if text in data]
        assert not found, path
    for candidate in run.run.candidates.values():
        if candidate.reason in (RejectReason.OVERLAP, RejectReason.IDENTIFIER):
            assert candidate.block is None
            assert re.fullmatch(r"[\x20-\x7e]+", candidate.detail)


def test_the_reason_says_what_was_found(run: SessionResult) -> None:
    details = Counter(
        c.detail for c in run.run.candidates.values() if c.reason == RejectReason.IDENTIFIER
    )
    assert details == {"name or address of a consultation": 3, "date of a consultation": 1}

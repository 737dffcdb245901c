import pytest
from tests.support.calls import spec

from heldout.experiments.campaigns.ending import status_text
from heldout.experiments.campaigns.running import prepare, start
from heldout.experiments.campaigns.session import RunOptions
from heldout.experiments.campaigns.starvation import starvation_lines, taken, tokens_needed
from heldout.gepa.record.remarks import AllReplies, Replies
from heldout.students.calls.store import CallStore
from heldout.students.models.chat import ChatReply, StopReason, Usage

SMALL = (
    "benchmark.synthetic.consultations=16",
    "search.iterations=1",
    "tracking.enabled=false",
    "seeds=[{name: list, text: 'First list every fact of the transcript, one by one. Then check "
    "each fact of the list against the note.'}]",
    "baseline=list",
)


class Wordy:
    """Never comes to its answer under the cap, most of which it spends on reasoning."""

    async def complete(self, request):
        cap = request.budget.max_tokens
        usage = Usage(50, cap, cap - 4)
        return ChatReply("First I shall", StopReason.LENGTH, usage, 0.0, "wordy")


def run(folder, pytestconfig, *settings, **doubles):
    config = pytestconfig.rootpath / "configs" / "ranks_only.yaml"
    path = folder / "run"
    ended = start(
        prepare(config, [*SMALL, *settings], path), path, RunOptions(quiet=True, doubles=doubles)
    )
    return ended.run


def test_a_starved_student_is_told_of(tmp_path, pytestconfig):
    budget = "student.budget.max_tokens=12"
    found = run(tmp_path, pytestconfig, budget, **{"sim/judge": Wordy()})
    lines = starvation_lines(found.calls.replies)
    assert lines[0].startswith("judge: 100% of ")
    assert "end at the cap of 12 tokens, 8 of them spent on reasoning" in lines[0]
    assert any(line.startswith("c00 asks for an inventory") for line in lines)
    assert all(line in status_text(found) for line in lines)


def test_a_student_with_room_is_not_warned_about(tmp_path, pytestconfig):
    replies = run(tmp_path, pytestconfig, "student.budget.max_tokens=2000").calls.replies
    assert starvation_lines(replies) == []
    (block,) = [b for b in replies.blocks if b.candidate == "c00"]
    assert block.needed is not None
    assert block.completion_median >= block.needed
    assert block.count > 0
    assert replies.stages["judge"].cap == 2000


def test_what_replies_took(tmp_path):
    store = CallStore(f"sqlite:///{tmp_path}/calls.sqlite", "run")
    calls = [
        store.put(
            spec(str(n)),
            ChatReply(
                "",
                StopReason.LENGTH if n < 2 else StopReason.STOP,
                Usage(10, 10 * n, 9 * n),
                0.0,
                "m",
            ),
        )
        for n in range(1, 6)
    ]
    store.close()
    assert Replies(**taken(calls)) == Replies(
        count=5, at_cap=1, completion_median=30, reasoning_median=27, cap=100
    )


@pytest.mark.parametrize(("at_cap", "warned"), [(0, False), (4, False), (5, True), (100, True)])
def test_replies_at_the_cap_are_told_of_from_a_share_on(at_cap, warned):
    stage = Replies(count=100, at_cap=at_cap, completion_median=50, reasoning_median=40, cap=64)
    lines = starvation_lines(AllReplies(stages={"judge": stage}, blocks=()))
    assert bool(lines) == warned
    if warned:
        assert "40 of them spent on reasoning" in lines[0]


def test_nothing_is_needed_for_no_notes():
    assert tokens_needed([]) == 0

from heldout.experiments.campaigns.calls_told import calls_lines
from heldout.gepa.record.remarks import AllReplies, CallsEvent


def told(**fields):
    empty = AllReplies(stages={}, blocks=())
    counts = {"requests": 9, "answered": 9, "from_store": 0, "faults": {}, "maybe_twice": ()}
    return calls_lines(CallsEvent(**{**counts, "replies": empty, **fields}))


def test_all_well_is_not_worth_a_line():
    assert told() == []


def test_estimated_tokens_are_said():
    assert told(estimated=1)[0].startswith("the tokens of 1 call are estimated")
    assert told(estimated=40)[0].startswith("the tokens of 40 calls are estimated")


def test_faults_are_counted_by_kind():
    assert told(faults={"empty": 2, "reset": 1}) == ["9 requests, 3 failed (empty 2, reset 1)"]

import json
import multiprocessing
from dataclasses import replace

import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.splits import chain
from heldout.splits.errors import BadInput, JournalBroken, LooksSpent
from heldout.splits.hashing import canonical_json, sha256_file, sha256_json
from heldout.splits.heldout import lines as lines_of_looks
from heldout.splits.heldout import looks_file
from heldout.splits.heldout.looks import Family, LookKind, LookRequest, LookResult, NoteResult
from heldout.splits.heldout.looks_file import Buyer, LooksFile

GENESIS, HELDOUT = "1" * 64, "2" * 64
RESULT = LookResult({"n1": (NoteResult(7.5), NoteResult(None, None, "truncated"))}, "3" * 64)


def request(block="b", target="t", kind=LookKind.WINNER) -> LookRequest:
    def digest(text: str) -> str:
        return text.encode().hex().ljust(64, "0")

    return LookRequest(kind, digest(target), digest(block), {"samples": 1})


@pytest.fixture
def looks(tmp_path) -> LooksFile:
    return LooksFile(tmp_path / "p.looks.jsonl", GENESIS, HELDOUT, planned=1)


def lines_of(looks: LooksFile) -> list[dict]:
    return [json.loads(line) for line in looks.path.read_text("utf-8").splitlines()]


# --- buying


def test_a_look_is_two_lines_and_counts_from_the_first(looks):
    look = looks.open(request(), Buyer("r1"))
    assert [line["event"] for line in lines_of(looks)] == ["opened"]
    assert looks.standing(Buyer("r2")).spent
    closed = looks.close(look, RESULT)
    assert [line["event"] for line in lines_of(looks)] == ["opened", "closed"]
    assert closed.result == RESULT
    (found,) = looks.looks()
    assert found == closed
    looks.verify()


def test_a_second_run_finds_the_first_ones_look_and_is_refused_naming_it(looks):
    looks.open(request(), Buyer("first-run"))
    with pytest.raises(LooksSpent, match=r"looked at by first-run") as e:
        looks.open(request("other"), Buyer("second-run"))
    assert e.value.opened_by == ("first-run",)
    assert len(lines_of(looks)) == 1


def test_an_identical_look_that_is_closed_is_returned_and_is_no_new_look(looks):
    looks.close(looks.open(request(), Buyer("r1")), RESULT)
    again = looks.open(request(), Buyer("r2"))
    assert (again.run, again.result) == ("r1", RESULT)
    assert len(lines_of(looks)) == 2


def test_an_identical_look_that_another_run_left_open_is_a_new_one(looks):
    looks.open(request(), Buyer("r1"))
    with pytest.raises(LooksSpent):
        looks.open(request(), Buyer("r2"))
    wide = replace(looks, planned=2)
    assert wide.open(request(), Buyer("r2")).run == "r2"


def test_the_run_itself_may_finish_its_look(looks):
    first = looks.open(request(), Buyer("r1"))
    assert looks.open(request(), Buyer("r1")) == first
    looks.close(first, RESULT)
    assert looks.open(request(), Buyer("r1")).result == RESULT
    assert looks.close(first, RESULT).result == RESULT
    assert len(lines_of(looks)) == 2


def test_ones_own_look_goes_before_an_identical_one_of_another_run(looks):
    wide = replace(looks, planned=2)
    first = wide.open(request(), Buyer("r1"))
    wide.open(request(), Buyer("r2"))
    wide.close(first, RESULT)
    assert wide.open(request(), Buyer("r2")).run == "r2"


def test_a_look_cannot_be_closed_with_another_result(looks):
    look = looks.open(request(), Buyer("r1"))
    looks.close(look, RESULT)
    with pytest.raises(BadInput, match="closed by this run with another result"):
        looks.close(look, replace(RESULT, calls_sha256="4" * 64))
    with pytest.raises(ValueError, match="was not opened by r9"):
        looks.close(replace(look, run="r9"), RESULT)


def test_the_plan_holds_for_one_run_too(looks):
    looks.open(request("b1"), Buyer("r1"))
    with pytest.raises(LooksSpent, match="looked at by r1"):
        looks.open(request("b2"), Buyer("r1"))
    wide = replace(looks, planned=2)
    wide.open(request("b2"), Buyer("r1"))
    with pytest.raises(LooksSpent):
        wide.open(request("b3"), Buyer("r1"))


def test_baselines_are_counted_apart(looks):
    baseline = request(kind=LookKind.BASELINE)
    looks.open(baseline, Buyer("r1"))
    assert not looks.standing(Buyer("r2")).spent
    looks.open(request("b2"), Buyer("r1"))
    looks.open(request("b3", kind=LookKind.BASELINE), Buyer("r1"))
    # Once the plan is spent by others not even a baseline is opened.
    with pytest.raises(LooksSpent):
        looks.open(request("b4", kind=LookKind.BASELINE), Buyer("r2"))


def test_acknowledged_reuse_is_exploratory_and_on_record(looks):
    looks.open(request(), Buyer("r1"))
    look = looks.open(request("b2"), Buyer("r2", acknowledge_reuse=True))
    assert look.exploratory
    assert lines_of(looks)[1]["exploratory"] is True
    # On resume without the override the look stays what it was.
    assert looks.open(request("b2"), Buyer("r2")).exploratory


def test_acknowledging_without_need_is_not_exploratory(looks):
    assert not looks.open(request(), Buyer("r1", acknowledge_reuse=True)).exploratory


def test_a_family_of_two_targets_takes_one_planned_look(looks):
    family = Family("command", (request(target="t1").target, request(target="t2").target))
    for run, target in (("a", "t1"), ("b", "t2")):
        looks.open(request(target=target, kind=LookKind.BASELINE), Buyer(run, family))
        look = looks.open(request("w", target=target), Buyer(run, family))
        assert look.family == "command"
    with pytest.raises(LooksSpent, match="looked at by a, b"):
        looks.open(request(), Buyer("c"))
    with pytest.raises(ValueError, match="not among those the family declared"):
        looks.open(request(target="t3"), Buyer("a", family))


def test_opened_is_synced_before_the_call_returns(looks, monkeypatch):
    synced = []
    fsync = chain.os.fsync
    monkeypatch.setattr(chain.os, "fsync", lambda fd: (synced.append(fd), fsync(fd)))
    looks.open(request(), Buyer("r1"))
    # The line, and the name of the new file in its folder.
    assert len(synced) == 2


results = st.builds(
    NoteResult,
    st.none() | st.floats(-10, 10),
    st.none() | st.booleans(),
    st.sampled_from(["ok", "truncated", "contract_violation"]),
)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.text("0123456789abcdef", min_size=16, max_size=16),
        st.lists(results, min_size=1, max_size=3).map(tuple),
        max_size=5,
    ),
    st.none() | st.just("emitted"),
)
def test_results_survive_the_file(tmp_path_factory, notes, decision):
    result = LookResult(notes, GENESIS, {"paired_omissions": 0.75, "n": 4, "swept": None}, decision)
    looks = LooksFile(tmp_path_factory.mktemp("looks") / "p.looks.jsonl", GENESIS, HELDOUT, 1)
    looks.close(looks.open(request(), Buyer("r1")), result)
    assert looks.looks()[0].result == result


def test_the_bytes_on_disk_are_those_of_earlier_versions(looks, monkeypatch):
    monkeypatch.setattr(looks_file, "_now", lambda: "2026-01-02T03:04:05+00:00")
    family = Family("f", ("a" * 64, "b" * 64))
    settings = {"samples": 1, "t": 0.5, "x": None, "deep": {"a": [1, 2.0]}}
    wanted = LookRequest(LookKind.WINNER, "a" * 64, "c" * 64, settings)
    looks.close(looks.open(wanted, Buyer("r ü", family)), RESULT)
    assert (
        sha256_file(looks.path)
        == "8390682402c7c3315f4ea47a3d672f932b5b8d82f68228bd28788151608b8f87"
    )


# --- the chain


def bought(looks: LooksFile) -> LooksFile:
    looks = replace(looks, planned=9)
    for run in ("r1", "r2"):
        looks.close(looks.open(request(run), Buyer(run)), RESULT)
    return looks


def tampered(looks: LooksFile, change) -> str:
    lines = looks.path.read_bytes().splitlines(keepends=True)
    looks.path.write_bytes(b"".join(change(lines)))
    with pytest.raises(JournalBroken) as caught:
        looks.verify()
    with pytest.raises(BadInput, match="cannot be trusted") as seen:
        looks.looks()
    assert seen.value.faults[0].where == f"{looks.path}:{caught.value.line}"
    with pytest.raises(BadInput, match="cannot be trusted"):
        looks.open(request("new"), Buyer("r3"))
    return f"{caught.value.line}: {caught.value.detail}"


def resealed(raw: bytes, **fields) -> bytes:
    line = {**json.loads(raw), **fields}
    del line["hash"]
    line["hash"] = sha256_json(line)
    return canonical_json(line).encode() + b"\n"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda x: [x[0].replace(b'"r1"', b'"r9"'), *x[1:]], "1: was changed after it was"),
        (lambda x: [*x[:1], *x[2:]], "2: does not follow from the line before"),
        (lambda x: [x[1], x[0], *x[2:]], "1: does not follow from this manifest"),
        (lambda x: [*x[:2], b"nonsense\n", *x[2:]], "3: not a line of JSON"),
        (lambda x: [*x[:2], b"\0" * 80 + b"\n", *x[2:]], "3: not a line of JSON"),
        (lambda x: [*x[:2], b"[1]\n"], "3: not a line of JSON"),
        (lambda x: [*x[:3], x[3].replace(b"7.5", b"9.5")], "4: was changed after it was"),
        (lambda x: [resealed(x[0], look="5" * 64), *x[1:]], "2: does not follow from the line"),
        (lambda x: [resealed(x[0], look="5" * 64)], "1: no sound look: its id does not fit"),
        (lambda x: [resealed(x[0], event="shut")], "1: no sound look: unknown event 'shut'"),
        (lambda x: [resealed(x[0], event="closed")], "1: no sound look: closed, but not open"),
        (lambda x: [x[0], resealed(x[1], scores={"n1": ["7.5"]})], "2: no sound look: scores.n1.0"),
        (
            lambda x: [resealed(x[0], kind="peek")],
            "1: no sound look: kind: Input should be 'baseline', 'winner' or 'other'",
        ),
        (lambda x: [resealed(x[0], n=2)], "1: does not follow from this manifest"),
    ],
)
def test_the_first_bad_line_is_named(looks, change, expected):
    assert tampered(bought(looks), change).startswith(expected)


def test_the_looks_of_another_manifest_are_refused(looks):
    other = replace(bought(looks), genesis="9" * 64)
    with pytest.raises(BadInput, match=r":1: does not follow from this manifest"):
        other.looks()


def test_a_run_cannot_open_or_close_twice_on_record(looks):
    bought(looks)
    lines = looks.path.read_bytes().splitlines(keepends=True)
    for repeated, expected in ((lines[0], "opened twice by one run"), (lines[1], "not open")):
        last = json.loads(lines[-1])["hash"]
        looks.path.write_bytes(b"".join([*lines, resealed(repeated, n=5, previous=last)]))
        with pytest.raises(JournalBroken, match=f"line 5: no sound look: .*{expected}"):
            looks.verify()


# --- kills


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_torn_last_line_is_cut_off_or_completed(tmp_path_factory, data):
    looks = LooksFile(tmp_path_factory.mktemp("looks") / "p.looks.jsonl", GENESIS, HELDOUT, 9)
    looks = bought(looks)
    whole = looks.path.read_bytes()
    ends = [k + 1 for k, byte in enumerate(whole) if byte == ord("\n")]
    cut = data.draw(st.integers(0, len(whole)))
    looks.path.write_bytes(whole[:cut])
    # A line counts once it is whole, line end or not.
    kept = sum(end - 1 <= cut for end in ends)
    looks.verify()
    assert len(looks.looks()) == (kept + 1) // 2
    looks.open(request("after"), Buyer("r3"))
    assert len(lines_of(looks)) == kept + 1
    assert looks.path.read_bytes().startswith(whole[: ends[kept - 1]] if kept else b"")
    looks.verify()


def test_garbage_after_the_last_line_end_is_cut_off(looks):
    wide = bought(looks)
    with wide.path.open("ab") as stream:
        stream.write(b"\0" * 4096)
    wide.open(request("after"), Buyer("r3"))
    assert len(lines_of(wide)) == 5


# --- other processes


def _buy(path, run, count):
    looks = LooksFile(path, GENESIS, HELDOUT, planned=1000)
    for n in range(count):
        looks.close(looks.open(request(f"{run}{n}"), Buyer(run)), RESULT)


def test_two_processes_append_to_one_chain(tmp_path):
    path, context = tmp_path / "p.looks.jsonl", multiprocessing.get_context("spawn")
    processes = [context.Process(target=_buy, args=(path, run, 12)) for run in ("r1", "r2")]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    looks = LooksFile(path, GENESIS, HELDOUT, planned=1000)
    looks.verify()
    found = looks.looks()
    assert len(found) == 24
    assert {look.run for look in found} == {"r1", "r2"}
    assert all(look.result == RESULT for look in found)


def _race(path, run, queue):
    try:
        LooksFile(path, GENESIS, HELDOUT, planned=1).open(request(run), Buyer(run))
        queue.put(run)
    except LooksSpent:
        queue.put(None)


def test_of_two_runs_racing_for_the_last_look_one_gets_it(tmp_path):
    path, context = tmp_path / "p.looks.jsonl", multiprocessing.get_context("spawn")
    queue = context.Queue()
    processes = [context.Process(target=_race, args=(path, f"r{n}", queue)) for n in range(3)]
    for process in processes:
        process.start()
    won = [queue.get(timeout=60) for _ in processes]
    for process in processes:
        process.join(60)
    assert len([run for run in won if run]) == 1


def test_a_lock_held_by_another_process_is_a_clear_message(looks, monkeypatch):
    monkeypatch.setattr(lines_of_looks, "LOCK_SECONDS", 0.05)
    with (
        FileLock(f"{looks.path}.lock"),
        pytest.raises(BadInput, match=r"locked by another process for 0\.05 s"),
    ):
        looks.open(request(), Buyer("r1"))


def test_a_folder_that_cannot_be_written_is_a_clear_message(tmp_path):
    (tmp_path / "file").write_text("x")
    looks = LooksFile(tmp_path / "file" / "p.looks.jsonl", GENESIS, HELDOUT, 1)
    with pytest.raises(BadInput, match="cannot be "):
        looks.open(request(), Buyer("r1"))

"""Campaigns of one command: one partition, one look plan, one cap, Holm over the targets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.campaigns import SMALL, merged, summary

from heldout.experiments.campaigns.family import prepare_family, resume_family, start_family
from heldout.experiments.campaigns.running import resume
from heldout.experiments.campaigns.session import RunOptions, SessionResult
from heldout.experiments.campaigns.verify import verify_run
from heldout.splits.errors import BadInput

pytestmark = pytest.mark.campaign

CHECKER = {
    "name": "checker",
    "student": {"design": "per_fact_checker", "budget": {"max_tokens": 1500}},
    "seeds": [{"name": "plain", "text": "Decide of each fact whether the note records it."}],
}
QUIET = RunOptions(quiet=True)


def write(folder: Path, *changes: dict[str, Any]) -> list[Path]:
    """A configuration file for each of `changes` to the small campaign."""
    paths = []
    for change in changes:
        config = merged(SMALL, {"search": {"iterations": 3}, **change})
        path = folder / f"{config['name']}.yaml"
        path.write_text(yaml.safe_dump(config))
        paths.append(path)
    return paths


def run_family(folder: Path, *changes: dict[str, Any], run: str = "family") -> list[SessionResult]:
    members = prepare_family(write(folder, *changes), (), folder / run, QUIET)
    return start_family(members, folder / run)


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> list[SessionResult]:
    """A finished family of two. Its files are not to be written to."""
    return run_family(tmp_path_factory.mktemp("done"), {}, CHECKER)


@pytest.fixture
def family(done, tmp_path) -> Path:
    """A copy of its folder."""
    return Path(shutil.copytree(done[0].files.path.parent, tmp_path / "family"))


def test_two_targets_share_partition_looks_and_family(done) -> None:
    assert [ended.exit_status for ended in done] == [0, 0]
    family = done[0].files.path.parent
    assert sorted(p.name for p in family.iterdir() if p.is_dir()) == [
        "benchmark", "checker", "small",
    ]  # fmt: skip
    splits = [ended.run.partition.splits for ended in done]
    assert splits[0] == splits[1]
    looks = [json.loads(x) for x in (family / "partition.looks.jsonl").read_text().splitlines()]
    opened = [line for line in looks if line["event"] == "opened"]
    assert len({line["family"] for line in opened}) == 1
    assert {line["kind"] for line in opened} >= {"baseline"}
    # Both baselines are measured before either decision is taken.
    for ended in done:
        assert not any(line.get("exploratory") for line in opened)
        assert summary(ended)["decision"] is not None


def test_a_finished_family_is_left_as_it_is(done) -> None:
    family = done[0].files.path.parent
    before = {p: p.read_bytes() for p in family.rglob("*") if p.is_file()}
    again = resume_family(family, (), QUIET)
    after = {p: p.read_bytes() for p in family.rglob("*") if p.is_file()}
    assert [summary(e) for e in again] == [summary(e) for e in done]
    assert before == after
    assert [verify_run(e.files.path).faults for e in done] == [(), ()]


def test_verify_names_what_was_changed_in_the_list_of_a_family(family: Path) -> None:
    assert verify_run(family / "small").faults == ()
    listed = family / "family.json"
    for text, told in (
        (listed.read_text().replace("small", "other"), "does not name small"),
        ('{"id": "other", "members": ["small", "checker"]}', "another family"),
        ("[]", "is no list of a family"),
    ):
        listed.write_text(text)
        assert any(told in fault for fault in verify_run(family / "small").faults)


def test_a_cap_is_for_the_sum_and_a_stopped_family_resumes_to_the_same_lineages(
    tmp_path, done
) -> None:
    whole = [summary(ended) for ended in done]
    needed = sum(found["budget"]["calls"] for found in whole)
    first = whole[0]["budget"]["calls"]
    cap = {"budget": {"calls": (needed + first) // 2 + 300}}
    stopped = run_family(tmp_path, cap, {**CHECKER, **cap}, run="capped")
    statuses = {ended.exit_status for ended in stopped}
    if statuses == {0}:
        pytest.skip("the cap was wide enough for both; nothing to resume")
    assert statuses == {3}
    again = resume_family(tmp_path / "capped", (f"budget.calls={10 * needed}",), QUIET)
    assert [ended.exit_status for ended in again] == [0, 0]
    assert [summary(e)["lineage_sha256"] for e in again] == [f["lineage_sha256"] for f in whole]


def test_a_member_is_not_resumed_alone(family: Path) -> None:
    with pytest.raises(BadInput, match="is decided together with others; resume the folder above"):
        resume(family / "small", (), QUIET)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "small"}, "two configurations of one command have the same name"),
        ({**CHECKER, "budget": {"calls": 9_000}}, "its budget differs from that of small"),
        ({**CHECKER, "partition": {"planned_looks": 2}}, "its partition differs"),
        ({**CHECKER, "seed": 6}, "its seeds must be equal"),
        ({**CHECKER, "gate": {"rule": "point"}}, "a family is decided by one gate"),
    ],
)
def test_what_a_family_shares_must_be_equal(tmp_path: Path, change, message: str) -> None:
    paths = write(tmp_path, {})
    config = merged(SMALL, {"search": {"iterations": 3}, **change})
    other = tmp_path / "other.yaml"
    other.write_text(yaml.safe_dump(config))
    with pytest.raises(BadInput) as caught:
        prepare_family([*paths, other], (), tmp_path / "family", QUIET)
    assert any(message in line for line in caught.value.lines), caught.value.lines
    assert not (tmp_path / "family").exists()

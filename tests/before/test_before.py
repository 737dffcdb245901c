"""Runs made by an earlier commit are read as that commit read them: figures, decisions, statuses.

`README.md` says how the runs were made, and what a change of a figure on purpose has to do.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.before.recording import (
    ENDS,
    ERROR,
    EXPECTED,
    PAGES,
    RAISED,
    commands,
    copied,
    differences,
    digests,
    figures,
    lineage_tokens,
    page_figures,
    prompts,
    resumptions,
    said,
)

pytestmark = pytest.mark.campaign

READ = [(end, command) for end in ENDS for command in commands(end)]
FINISHED = [end for end in ENDS if end != "stopped"]


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """What the earlier commit said, by end."""
    return {end: json.loads((EXPECTED / f"{end}.json").read_text("utf-8")) for end in ENDS}


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A copy of the runs of each end, for commands that only read; they may write pages."""
    return {end: copied(end, tmp_path_factory.mktemp(end)) for end in ENDS}


@pytest.mark.parametrize(("end", "command"), READ)
def test_a_command_says_of_an_old_run_what_it_said_before(
    end: str, command: str, copies: dict[str, Path], expected: dict[str, Any]
) -> None:
    """Every recorded key is there with its value, and the exit status is the same."""
    found = said(copies[end], command)
    assert list(differences(expected[end]["commands"][command], found)) == [], found.get(ERROR)


def test_every_end_is_told_apart_by_decision_and_status(expected: dict[str, Any]) -> None:
    """The runs are of the ends that they are kept for."""
    told = {
        run: expected[end]["commands"][f"status {run} --json"]["json"]
        for end, runs in ENDS.items()
        for run in runs
    }
    assert {run: (found["status"], found["decision"]) for run, found in told.items()} == {
        "emitted": ("finished", "emitted"),
        "refused": ("finished", "refused"),
        "not_confirmed": ("finished", "not_confirmed"),
        "stopped": ("stopped", None),
        "family/whole_note": ("finished", "refused"),
        "family/checker": ("finished", "emitted"),
    }


@pytest.mark.parametrize("end", FINISHED)
def test_resume_of_an_old_finished_run_changes_nothing(
    end: str, tmp_path: Path, expected: dict[str, Any]
) -> None:
    """It prints what `status` prints, and every file stays as it is."""
    folder = copied(end, tmp_path)
    for run in ENDS[end]:
        assert said(folder, f"report {run}")["exit"] == 0
    before = digests(folder)
    for command in resumptions(end):
        found = said(folder, command)
        assert list(differences(expected[end]["resumed"][command], found)) == [], found.get(ERROR)
    statuses = [said(folder, f"status {run} --json")["json"] for run in ENDS[end]]
    assert found["json"] == ({"campaigns": statuses} if end == "family" else statuses[0])
    assert digests(folder) == before


def test_an_old_stopped_run_goes_on_to_the_lineage_and_decision_of_before(
    tmp_path: Path, expected: dict[str, Any]
) -> None:
    """With the cap raised it ends as the earlier commit ended it, to the byte of the prompt."""
    folder = copied("stopped", tmp_path)
    found = {command: said(folder, command) for command in resumptions("stopped")}
    assert list(differences(expected["stopped"]["resumed"], found)) == []
    assert prompts(folder) == expected["stopped"]["prompts"]
    finished = found[f"resume stopped {RAISED} --json"]["json"]
    recorded = expected["stopped"]["resumed"][f"resume stopped {RAISED} --json"]["json"]
    assert (finished["status"], finished["decision"]) == ("finished", recorded["decision"])
    assert finished["lineage_sha256"] == recorded["lineage_sha256"]


# -- the comparison itself -------------------------------------------------------------------------


def test_a_changed_figure_is_seen_and_other_words_are_not() -> None:
    """A new caveat, a new key and a rounding error are none; a figure, a key or a state is."""
    old = {"sentences": ["better by 0.321 (3 of 8)"], "caveats": [], "k": 3, "p": 0.1, "state": "a"}
    new = {
        "sentences": ["by 0.321,", "which is 3 of 8"],
        "caveats": ["one is new: 0.5"],
        "k": 3,
        "p": 0.1 + 1e-12,
        "state": "a",
        "more": 1,
    }
    assert list(differences(old, new)) == []
    for change in ({"k": 4}, {"p": 0.1001}, {"state": "b"}, {"sentences": ["better by 0.322"]}):
        assert list(differences(old, {**new, **change})), change
    assert list(differences(old, {key: value for key, value in new.items() if key != "k"}))


def test_figures_are_decimals_percentages_and_counts() -> None:
    """Versions, times, ids and whole numbers are no figures."""
    text = "+0.321 [−0.132, 0.541] at 95%: 37.5% (3 of 8), 2/15; numpy 2.4.6, 01:02:03.5, c04, 12"
    assert figures(text) == ["-0.132", "0.321", "0.541", "2 of 15", "3 of 8", "37.5%", "95%"]


def test_a_page_gives_the_figures_that_are_seen(tmp_path: Path) -> None:
    """Styles, scripts and drawings are not read; the cells of a table stay apart."""
    page = tmp_path / PAGES[0]
    page.write_text(
        "<title>9.9</title><style>p{margin:1.5em}</style><p><b>3</b> of 8</p><svg><text>7.7</text>"
        "</svg><table><tr><td>0.5</td><td><bdi>0.6</bdi></td></tr></table><script>1.1</script>"
    )
    assert page_figures(page) == ["0.5", "0.6", "3 of 8"]


def test_a_lineage_gives_ids_fates_and_numbers_by_candidate() -> None:
    """Names of seeds and other words are not kept."""
    lines = (
        "c00 seed plain · accept 0.438  ███···  leads 9",
        "└── c02 merge c00+c01 · rejected: minibatch",
        "2 in all",
    )
    assert lineage_tokens("\n".join(lines)) == {
        "rest": ["2"],
        "c00": ["0.438", "9", "c00", "seed"],
        "c02": ["c00", "c01", "c02", "merge", "minibatch", "rejected"],
    }

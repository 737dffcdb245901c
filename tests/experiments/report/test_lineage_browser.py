"""`lineage.html` and the report in a real browser: clicked, keyed, dark, large, and hostile."""

from __future__ import annotations

import pytest
from tests.support.browser import launched, opened, shoot
from tests.support.made_runs import RUN_ID, Plan, make_run

from heldout.experiments.report import write_lineage, write_report
from heldout.experiments.report.candidate_files import candidate_files
from heldout.experiments.report.candidates import candidate_page
from heldout.experiments.report.reflections import reflections_of
from heldout.experiments.report.text import TextPolicy
from heldout.gepa.record.run import load_run

HOSTILE = (
    "</pre><script>window.bad=1</script>\"'><img src=x onerror=window.bad=1>"
    "<svg onload=window.bad=1> \u202egnp.exe 🩺 שלום &lt;b&gt;"
)


@pytest.fixture(scope="module")
def browser():
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = make_run(tmp_path_factory.mktemp("run") / "run", Plan(iterations=20))
    write_lineage(run)
    write_report(run)
    return run


def _selected(page) -> str:
    return page.locator("#selected").inner_text().split()[0]


def test_the_lineage_is_walked_by_click_and_by_key(browser, run):
    view = load_run(run)
    child = next(b for b in view.entered if len(b.parents) == 1)
    with opened(browser) as page:
        page.goto((run / "lineage.html").as_uri())
        assert _selected(page) == view.winner.id
        page.locator(f'#graph .node[data-id="{child.id}"]').click()
        assert _selected(page) == child.id
        assert page.locator("#panel pre").first.inner_text() == child.block
        assert page.locator("#panel ins").count() > 0
        page.keyboard.press("ArrowUp")
        assert _selected(page) == child.parents[0]
        page.keyboard.press("Home")
        assert _selected(page) == "c00"
        page.keyboard.press("ArrowRight")
        assert _selected(page) == "c01"
        page.keyboard.press("End")
        assert _selected(page) == list(view.candidates)[-1]
        page.keyboard.press("w")
        assert _selected(page) == view.winner.id
        shoot(page, "lineage", full_page=True)
        assert page.faults == []


def test_the_chosen_candidate_has_the_focus_and_a_label(browser, run):
    with opened(browser) as page:
        page.goto((run / "lineage.html").as_uri())
        page.keyboard.press("Home")
        focus = page.evaluate(
            "[document.activeElement.dataset.id, document.activeElement.ariaLabel]"
        )
        assert focus == ["c00", "c00 seed plain · accept 0.542"]
        assert page.locator('#graph .node[tabindex="0"]').count() == 1


def test_rejected_candidates_are_hidden_and_passed_over(browser, run):
    view = load_run(run)
    entered = [b.id for b in view.entered]
    with opened(browser) as page:
        page.goto((run / "lineage.html").as_uri())
        page.keyboard.press("h")
        assert not page.locator("#graph .node.rejected").first.is_visible()
        page.keyboard.press("Home")
        seen = [_selected(page)]
        for _ in entered[1:]:
            page.keyboard.press("ArrowRight")
            seen.append(_selected(page))
        assert seen == entered


def test_wins_and_losses_against_a_parent_are_listed(browser, run):
    view = load_run(run)
    merge = next(b for b in view.entered if b.kind == "merge")
    with opened(browser) as page:
        page.goto((run / "lineage.html").as_uri())
        page.locator(f'#graph .node[data-id="{merge.id}"]').click()
        for kind in ("won", "lost"):
            details = page.locator(f"#panel details.{kind}").first
            details.locator("summary").click()
            shown = int(details.locator("summary").inner_text().split()[0])
            assert details.locator("tbody tr").count() == shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_schemes_have_a_background_of_their_own(browser, run, scheme):
    with opened(browser, scheme=scheme) as page:
        page.goto((run / "report.html").as_uri())
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        level = int(colour.removeprefix("rgb(").split(",")[0])
        assert (level > 200) is (scheme == "light")
        shoot(page, f"report_{scheme}", full_page=True)
        assert page.faults == []


def test_five_hundred_candidates_without_lag(browser, long_run):
    path = write_lineage(long_run)
    with opened(browser) as page:
        page.goto(path.as_uri())
        page.keyboard.press("Home")
        times = page.evaluate(
            """async () => {
              const times = [];
              for (let i = 0; i < 60; i++) {
                const start = performance.now();
                document.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
                document.body.getBoundingClientRect();
                times.push(performance.now() - start);
                await new Promise(requestAnimationFrame);
              }
              return times.sort((a, b) => a - b);
            }"""
        )
        assert _selected(page) == "c60"
        assert times[30] < 50, "a key is answered within three frames"
        assert page.faults == []


def test_hostile_text_does_nothing_in_a_browser(browser, tmp_path):
    run = make_run(tmp_path / "run", Plan(iterations=5, hostile=HOSTILE, clinical=HOSTILE))
    view = load_run(run)
    pages = [write_lineage(run), write_report(run)]
    for id_ in view.candidates:
        found = candidate_page(view, id_, reflections_of(run, RUN_ID), TextPolicy.FULL)
        pages.append(run / f"{id_}.html")
        pages[-1].write_text(candidate_files(found)["candidate.html"], "utf-8")
    shown = 0
    with opened(browser) as page:
        for path in pages:
            page.goto(path.as_uri())
            for _ in view.candidates:
                page.keyboard.press("ArrowRight")
            page.wait_for_timeout(50)
            assert page.evaluate("window.bad") is None
            assert page.locator("img").count() == 0
            words = page.locator("body").inner_text()
            assert "\u202e" not in words
            shown += "window.bad=1" in words and "🩺 שלום" in words
        assert page.faults == []
    assert shown > 3


def test_the_policy_of_a_page_stops_a_script_that_slipped_in(browser, run, tmp_path):
    """The escaping is the first wall; this is the second."""
    text = (run / "lineage.html").read_text("utf-8")
    spoilt = text.replace(
        "</body>", "<script>window.bad=1</script><img src=x onerror=window.bad=2></body>"
    )
    assert spoilt != text
    (tmp_path / "spoilt.html").write_text(spoilt, "utf-8")
    with opened(browser) as page:
        page.goto((tmp_path / "spoilt.html").as_uri())
        page.wait_for_timeout(100)
        assert page.evaluate("window.bad") is None
        assert page.locator("#selected").count() == 1

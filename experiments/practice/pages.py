"""Pages for practitioners: everything escaped, nothing loaded from anywhere, no script."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import IO

from markupsafe import Markup

from heldout.experiments.practice.loaded_prompt import LoadedPrompt
from heldout.experiments.practice.note_rows import NoteRow
from heldout.experiments.practice.session import JudgedAs
from heldout.experiments.practice.thresholds import ThresholdChoice
from heldout.experiments.practice.verdicts import Verdict
from heldout.splits.visible import visible

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
MOST_NAMED = 20
"""Facts named of one note; the CSV and the JSON Lines hold all of them."""


def head(title: str) -> Markup:
    """The opening of a page, with the style of the reports."""
    style = resources.files("heldout.experiments.report") / "templates" / "style.css"
    # The style sheet is a file of this distribution, not data.
    return filled(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="{}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>{}</title><style>{}</style></head><body>\n<h1>{}</h1>\n",
        POLICY,
        title,
        Markup(style.read_text("utf-8")),
        title,
    )


def filled(markup: str, *values: object) -> Markup:
    """`markup` with each `{}` filled by an escaped value, invisible characters made visible."""
    return Markup(markup).format(*map(_shown, values))


def _shown(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@dataclass
class FlagPage:
    """The page that lists flags, written as notes come in; memory does not grow with them."""

    stream: IO[str]
    prompt: LoadedPrompt
    judged_as: JudgedAs
    threshold: ThresholdChoice
    flagged: int = 0
    passed: int = 0
    unanswered: int = 0

    def __post_init__(self) -> None:
        prompt = self.prompt
        kind = "verdict emitted" if prompt.confirmed else "verdict refused"
        simulated = self.judged_as.model.startswith("sim/")
        self.stream.write(head(f"Flags: {prompt.file_stem}"))
        self._add(
            '<div class="{}"><p>{}</p><p>{}</p>', kind, prompt.standing, self.threshold.sentence
        )
        if simulated:
            self._add("<p>Simulated model: no figure here is about a real one.</p>")
        self._add(
            '</div>\n<p class="small soft">block {} · model {} · {} tokens, effort {}</p>\n',
            prompt.sha256[:16],
            self.judged_as.model,
            self.judged_as.max_tokens,
            self.judged_as.reasoning_effort or "not sent",
        )

    def add(self, row: NoteRow, verdict: Verdict) -> None:
        """One flagged note."""
        self.flagged += 1
        self._add(
            '<article><h3><bdi>{}</bdi> <span class="pill loss">score {}</span></h3>'
            '<p class="small soft">row {}, consultation <bdi>{}</bdi></p><p>{}</p>',
            row.id,
            f"{verdict.score:g}",
            row.number,
            row.note.consultation if row.note else "",
            verdict.assessment,
        )
        if verdict.named:
            self.stream.write("<ul>")
            for fact in verdict.named[:MOST_NAMED]:
                self._add("<li>{} <span class='soft'>{}</span></li>", fact.text, fact.severity)
            if more := len(verdict.named) - MOST_NAMED:
                self._add("<li>and {} more</li>" if more > 0 else "", more)
            self.stream.write("</ul>")
        self.stream.write("</article>\n")

    def unjudged(self, row: NoteRow, status: str, reason: str) -> None:
        """A note without a score."""
        self.unanswered += 1
        self._add(
            '<article><h3><bdi>{}</bdi> <span class="pill tie">{}</span></h3>'
            '<p class="small soft">row {}: {}</p></article>\n',
            row.id,
            status,
            row.number,
            reason or "the judge gave no usable answer",
        )

    def cleared(self) -> None:
        """A note that is not flagged."""
        self.passed += 1

    def close(self) -> None:
        """The counts, and the end of the page."""
        self._add(
            '<div class="tiles"><div class="tile"><b>{}</b><span>flagged</span></div>'
            '<div class="tile"><b>{}</b><span>not flagged</span></div>'
            '<div class="tile"><b>{}</b><span>without a score</span></div></div>\n'
            '<p class="soft">A flag asks a person to look; a note that is not flagged is not shown '
            "to be complete.</p></body></html>\n",
            self.flagged,
            self.passed,
            self.unanswered,
        )

    def _add(self, markup: str, *values: object) -> None:
        self.stream.write(filled(markup, *values))

"""Reading pages back: what a browser would make of them, without one."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "hr", "input", "link"}


@dataclass
class Page(HTMLParser):
    """Elements, attributes and words of a page.

    `tables` holds rows of cell texts by the heading above each table.
    """

    source: str
    tags: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str | None]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    scripts: list[tuple[str | None, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []
        self._heading = ""
        self.feed(self.source)
        self.close()
        assert self._open == [], f"left open: {self._open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)
        if tag in ("h2", "h3"):
            self._heading = ""
        if tag == "tr":
            self.tables.setdefault(self._heading, []).append([])
        if tag in ("td", "th"):
            self.tables[self._heading][-1].append("")
        if tag == "script":
            self.scripts.append((dict(attrs).get("type"), ""))

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if "script" in self._open:
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)
            return
        if "style" in self._open:
            return
        self.words.append(data)
        if self._open and {"h2", "h3"} & set(self._open):
            self._heading += data
        if {"td", "th"} & set(self._open):
            self.tables[self._heading][-1][-1] += data

    @property
    def text(self) -> str:
        """All words, white space aside."""
        return " ".join(" ".join(self.words).split())


def markdown_tables(text: str) -> dict[str, list[list[str]]]:
    """Rows of cells by the heading above each table of a Markdown text."""
    tables: dict[str, list[list[str]]] = {}
    heading = ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|") and not line.startswith("| ---"):
            cells = line.strip("|").replace("\\[", "[").replace("\\]", "]").split(" | ")
            tables.setdefault(heading, []).append([cell.strip() for cell in cells])
    return tables

"""Word lists and patterns that stand in a YAML file beside the code that uses them."""

from __future__ import annotations

import re
from importlib import resources
from typing import Any, TypeVar

import yaml
from pydantic import TypeAdapter

_T = TypeVar("_T")
_PLACEHOLDER = re.compile(r"\{([A-Z_]+)\}")  # «{0,4}» in a pattern is a count


class WordTable:
    """The entries of one file by name.

    Every scalar is a string. The lines of a literal block are joined with nothing between them, so
    a long pattern goes over several lines, broken anywhere but at a space. `{NAME}` stands for the
    text of that name under `fragments`, or for what the caller gives.
    """

    def __init__(self, package: str, file: str, **given: str) -> None:
        """Read `file` of `package`; raises KeyError for a placeholder that nothing explains."""
        text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
        # The base loader keeps every scalar a string: «no» and «yes» are words here.
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        tree = yaml.load(text, Loader=loader)
        self._fragments = {**tree.pop("fragments", {}), **given}
        self.entries: dict[str, Any] = self._filled(tree)

    def _filled(self, tree: Any) -> Any:
        if isinstance(tree, dict):
            return {name: self._filled(entry) for name, entry in tree.items()}
        if isinstance(tree, list):
            return [self._filled(entry) for entry in tree]
        joined = tree.replace("\n", "")
        return _PLACEHOLDER.sub(lambda found: self._filled(self._fragments[found[1]]), joined)

    def read(self, name: str, kind: type[_T]) -> _T:
        """Entry `name` as a `kind`; raises ValidationError if it is none."""
        return TypeAdapter(kind).validate_python(self.entries[name])

    def pattern(self, name: str, flags: int = 0) -> re.Pattern[str]:
        """Entry `name`, compiled."""
        return re.compile(self.entries[name], flags)

    def words(self, name: str) -> frozenset[str]:
        """The words of entry `name`."""
        return frozenset(self.entries[name].split())

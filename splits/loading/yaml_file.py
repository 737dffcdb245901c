"""YAML that people write, read strictly: the line of every key, and no key taken twice in silence.

PyYAML's own loader takes the last of two equal keys and lets a few aliases of aliases grow into
more values than any memory holds; here both are faults. Of plain words only `true` and `false` are
truth values: `off`, `no` and `yes` stay the words they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from heldout.splits.errors import BadInput, Fault

Keys = tuple[str | int, ...]
"""Where a value stands: names of keys, and positions in lists from 0."""

MAX_BYTES = 1 << 20
MAX_VALUES = 10_000
MAX_DEPTH = 12
_ODD_VALUE = (yaml.YAMLError, ValueError, KeyError, AttributeError, TypeError, RecursionError)
"""What PyYAML raises for tags and forms that it does not understand."""
_BOOL = "tag:yaml.org,2002:bool"
_MERGE = "tag:yaml.org,2002:merge"


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the truth values of YAML 1.2."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOL]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    _BOOL, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


@dataclass(frozen=True)
class YamlFile:
    """A mapping as written: its tree and the line (from 1) at which each value stands."""

    path: Path
    tree: dict[str, Any]
    lines: Mapping[Keys, int]

    def where(self, keys: Keys) -> str:
        """File, line and dotted key of a value; the line is that of the nearest key around it."""
        dotted = ".".join(map(str, keys))
        for depth in range(len(keys), 0, -1):
            if keys[:depth] in self.lines:
                return f"{self.path}:{self.lines[keys[:depth]]}: {dotted}"
        return f"{self.path}: {dotted}" if dotted else str(self.path)


def read_yaml(path: Path, shape: str = "must be a mapping of keys to values") -> YamlFile:
    """The mapping in the file at `path`. Raises BadInput with every fault of its form.

    `shape` is what the fault says of a file that holds something else.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput.one(str(path), f"cannot be read ({error.strerror})") from error
    if len(data) > MAX_BYTES:
        raise BadInput.one(str(path), f"is {len(data)} bytes, at most 1 MiB is read")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput.one(f"{path}:{line}", f"is not UTF-8 text ({error.reason})") from error
    try:
        node = yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError) as error:
        raise BadInput.one(f"{path}{_line(error, text)}", f"is not YAML ({_why(error)})") from error
    if not isinstance(node, yaml.MappingNode):
        raise BadInput.one(str(path), shape)
    builder = _Builder(str(path))
    tree = builder.build(node, ())
    if builder.faults:
        raise BadInput(builder.faults)
    return YamlFile(path, tree, builder.lines)


def read_yaml_value(text: str, where: str) -> Any:
    """The value that `text` writes, None for none. Raises BadInput; its faults name `where`."""
    builder = _Builder(where)
    try:
        node = yaml.compose(text, Loader=_Loader)
        value = None if node is None else builder.build(node, ())
    except _ODD_VALUE as error:
        raise BadInput.one(where, f"{text!r} is not a YAML value") from error
    except BadInput as error:
        builder.faults.extend(error.faults)
    if builder.faults:
        problems = "; ".join(fault.message for fault in builder.faults)
        raise BadInput.one(where, f"{text!r} is not a YAML value ({problems})")
    return value


class _Builder:
    """Makes values of nodes, and notes the lines of keys and what is wrong on the way."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.lines: dict[Keys, int] = {}
        self.faults: list[Fault] = []
        self._values = 0
        self._loader = _Loader("")

    def build(self, node: yaml.Node, keys: Keys) -> Any:
        self._values += 1
        if len(keys) > MAX_DEPTH or self._values > MAX_VALUES:
            # Aliases that repeat aliases make a small file hold more values than any memory.
            raise BadInput.one(f"{self.place}:{_start(node)}", "is nested too deep or too large")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, keys)
        if isinstance(node, yaml.SequenceNode):
            for index, child in enumerate(node.value):
                self.lines[(*keys, index)] = _start(child)
            return [self.build(child, (*keys, index)) for index, child in enumerate(node.value)]
        try:
            return self._loader.construct_object(node)
        except _ODD_VALUE as error:
            problem = getattr(error, "problem", None) or f"is no value ({error})"
            self._fault(node, keys, problem)
            return None

    def _mapping(self, node: yaml.MappingNode, keys: Keys) -> dict[str, Any]:
        tree: dict[str, Any] = {}
        own: dict[str, int] = {}
        # What `<<` brings stands first, so that the mapping's own keys go over it. It has no lines
        # here: a fault of such a value is one of the mapping that took it.
        for key, value in sorted(node.value, key=lambda pair: pair[0].tag != _MERGE):
            here = (*keys, str(key.value))
            if not isinstance(key, yaml.ScalarNode):
                self._fault(key, keys, "a key must be a word")
            elif key.tag == _MERGE:
                tree.update(self._merged(value, (*keys, "<<")))
            elif key.value in own:
                self._fault(key, here, f"is given twice (first in line {own[key.value]})")
            else:
                self.lines[here] = own[key.value] = _start(key)
                tree[key.value] = self.build(value, here)
        return tree

    def _merged(self, node: yaml.Node, keys: Keys) -> dict[str, Any]:
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, Any] = {}
        for source in reversed(sources):  # the first that has a key gives its value
            found = self.build(source, keys)
            if isinstance(found, dict):
                merged.update(found)
            else:
                self._fault(source, keys, "takes a mapping, or a list of them")
        return merged

    def _fault(self, node: yaml.Node, keys: Keys, message: str) -> None:
        dotted = ".".join(map(str, keys))
        where = f"{self.place}:{_start(node)}" + (f": {dotted}" if dotted else "")
        self.faults.append(Fault(where, message))


def _start(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _line(error: Exception, text: str) -> str:
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return f":{mark.line + 1}"
    position = getattr(error, "position", None)  # of a character that YAML does not allow
    return f":{text.count(chr(10), 0, position) + 1}" if isinstance(position, int) else ""


def _why(error: Exception) -> str:
    return getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be parsed"

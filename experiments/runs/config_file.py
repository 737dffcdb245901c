"""From a YAML file and `--set` options to a validated configuration, every fault at once."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from heldout.experiments.runs.config import Config
from heldout.gepa.settings import as_meant_before, is_import_path
from heldout.reflectors.prompts import Layout
from heldout.splits.errors import BadInput, Fault
from heldout.splits.hashing import sha256_json
from heldout.splits.loading.yaml_file import Keys, YamlFile, read_yaml, read_yaml_value
from heldout.students.designs.roster import find_design

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
PATH_KEYS: frozenset[Keys] = frozenset(
    {
        ("benchmark", "pairs"),
        ("benchmark", "consultations"),
        ("partition", "manifest"),
        ("looks", "registry"),
        ("models",),
        ("parts",),
    }
)
REPLACED: Mapping[Keys, str] = {
    ("confirm", "drift_share"): "the whole baseline is judged again at confirmation",
    ("confirm", "drift_level"): "drift is tested against run-to-run spread, no level is set",
}
"""Keys of older versions, with what stands in their place."""

UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")


GIVEN: dict[str, object] = {}
"""Objects handed over in Python, by the import path that stands for them in the configuration.

A run that is continued in another process finds them by that path."""

ConfigSource = Path | Mapping[str, Any] | Config
"""A campaign as a file, as a mapping of the same keys, or validated already."""


def load_config(
    source: ConfigSource, settings: Sequence[str] = (), *, stored: bool = False
) -> Config:
    """The configuration in `source` with `--set key=value` options applied over it.

    Relative paths in a file are relative to the file, all others to the working folder. `stored`:
    the file is one that a run wrote for itself, perhaps by an older version; keys that are no
    longer known are passed over there. Raises BadInput with every fault found.
    """
    written = read_yaml(source) if isinstance(source, Path) else _from_python(source)
    folder = source.resolve().parent if isinstance(source, Path) else Path.cwd()
    overrides = [parse_setting(text) for text in settings]
    _resolve_paths(written.tree, folder)
    where = {key: f"--set {'.'.join(map(str, key))}" for key, _ in overrides}
    for key, value in overrides:
        _put(written.tree, key, value, where[key])
    if isinstance(source, Path):
        written.tree.setdefault("name", source.stem)
    own = _own_parts(written.tree)
    if own:
        written.tree.setdefault("parts", str(folder))
    if isinstance(source, Path) and not stored:
        _forget(own)
    if stored:
        written.tree.update(as_meant_before(written.tree))
        if isinstance(written.tree.get("reflector"), dict):
            # A run that says nothing of it began when there was one layout only.
            written.tree["reflector"].setdefault("layout", Layout.BLOCK_FIRST.value)
    faults = [*_expand(written, written.tree, ())]
    # The run keeps its configuration elsewhere, so every path in it has to be absolute.
    _resolve_paths(written.tree, Path.cwd())
    faults += _read_seeds(written, folder)
    if not stored:
        faults += _unknown_design(written, where)
    try:
        config = _validated(written.tree, asked=where if stored else None)
    except ValidationError as error:
        found = [_fault(written, where, detail) for detail in error.errors()]
        raise BadInput([*faults, *(f for f in found if f is not None)]) from None
    if faults:
        raise BadInput(faults)
    return config


def _from_python(source: Mapping[str, Any] | Config) -> YamlFile:
    """A configuration that was never a file: faults in it name its keys alone."""
    if isinstance(source, Config):
        return YamlFile(Path("config"), source.model_dump(mode="json"), {})
    if isinstance(source, Mapping):
        _forget(_own_parts(source))
    tree = _plain(source)
    if not isinstance(tree, dict):
        raise BadInput.one("config", f"must be a path, a mapping or a Config, not {source!r:.60}")
    return YamlFile(Path("config"), tree, {})


def _plain(value: Any) -> Any:
    """A copy in the terms of YAML: nothing that is done to it reaches the caller's own values."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value) if isinstance(value, Path) else given(value)


def given(part: object) -> str:
    """The import path that stands for an object handed over in Python.

    Raises BadInput for one without a name, such as a lambda.
    """
    owner = part if inspect.isclass(part) or inspect.isroutine(part) else type(part)
    path = f"{owner.__module__}:{owner.__name__}"
    if not is_import_path(path):
        raise BadInput.one("config", f"{part!r:.60} has no name; give it one with class or def")
    GIVEN[path] = part
    return path


def _forget(paths: Sequence[str]) -> None:
    """An import path that is written out means the module, whatever was handed over before."""
    for path in paths:
        GIVEN.pop(path, None)


def _own_parts(tree: Mapping[str, Any]) -> list[str]:
    """The import paths among the values of the sections."""
    sections = [section for section in tree.values() if isinstance(section, Mapping)]
    values = [value for section in sections for value in section.values()]
    return [value for value in values if isinstance(value, str) and is_import_path(value)]


def config_digest(path: Path) -> str:
    """Digest of a stored configuration's own content, whatever this version knows of its keys."""
    return sha256_json(read_yaml(path).tree)


def _validated(tree: dict[str, Any], *, asked: Mapping[Keys, str] | None) -> Config:
    """The configuration; keys that are not known are passed over in a stored one.

    `asked` are the keys set on top of a stored one, which are always to be known; None for a new
    configuration.
    """
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        unknown = [e["loc"] for e in error.errors() if e["type"] in UNKNOWN_KEY]
        if asked is None or len(unknown) < error.error_count() or any(k in asked for k in unknown):
            raise
        for *path, key in unknown:
            section: Any = tree
            for part in path:
                section = section[part]
            del section[key]
        return Config.model_validate(tree)


def parse_setting(text: str) -> tuple[Keys, Any]:
    """`a.b=value` as a path and a YAML value. Raises BadInput."""
    key, sign, value = text.partition("=")
    if not sign or not all(part.strip() for part in key.split(".")):
        raise BadInput.one("--set", f"{text!r} is not of the form key=value, such as seed=7")
    return tuple(key.strip().split(".")), read_yaml_value(value, f"--set {key}")


def _put(tree: dict[str, Any], path: Keys, value: Any, where: str) -> None:
    for key in path[:-1]:
        child = tree.setdefault(str(key), {})
        if child is None:
            child = tree[str(key)] = {}
        if not isinstance(child, dict):
            raise BadInput.one(where, f"{key} is a value, it has no keys of its own")
        tree = child
    tree[str(path[-1])] = value


def _resolve_paths(tree: dict[str, Any], folder: Path) -> None:
    """Make the file's relative paths relative to its folder; variables are filled in later."""
    for path in PATH_KEYS:
        parent: Any = tree
        for key in path[:-1]:
            parent = parent.get(key) if isinstance(parent, dict) else None
        value = parent.get(path[-1]) if isinstance(parent, dict) else None
        if isinstance(value, str) and not value.startswith("${"):
            parent[path[-1]] = str(folder / value)
    partition = tree.get("partition")
    if isinstance(partition, dict) and isinstance(partition.get("exclude"), list):
        partition["exclude"] = [
            str(folder / item) if isinstance(item, str) and not item.startswith("${") else item
            for item in partition["exclude"]
        ]


def _expand(source: YamlFile, value: Any, path: Keys) -> Iterator[Fault]:
    """Fill in `${NAME}` from the environment, in place; a name that is not set is a fault."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in list(items):
        here = (*path, key)
        if isinstance(child, dict | list):
            yield from _expand(source, child, here)
        elif isinstance(child, str) and VARIABLE.search(child) and here[0] != "seeds":
            unset = [name for name in VARIABLE.findall(child) if not os.environ.get(name)]
            for name in unset:
                message = f"needs the environment variable {name}, which is not set"
                if name == "HELDOUT_DATA":
                    message += "; set it to the folder of the data, or give the path with --set"
                yield Fault(source.where(here), message)
            if not unset:
                value[key] = VARIABLE.sub(lambda match: os.environ[match.group(1)], child)


def _read_seeds(source: YamlFile, folder: Path) -> list[Fault]:
    """Replace seed blocks given as files by name and text, in place."""
    seeds, faults = source.tree.get("seeds"), []
    if not isinstance(seeds, list):
        return []
    for index, item in enumerate(seeds):
        if not isinstance(item, str):
            continue
        file = folder / item
        try:
            seeds[index] = {"name": file.stem, "text": file.read_text("utf-8")}
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or f"cannot be read as text ({error})"
            faults.append(Fault(source.where(("seeds", index)), f"{file}: {reason}"))
            seeds[index] = {"name": file.stem or "unreadable", "text": f"unreadable {index}"}
    return faults


def _unknown_design(source: YamlFile, where: Mapping[Keys, str]) -> list[Fault]:
    """A judge design that is not on the roster, told together with what else is wrong."""
    path: Keys = ("student", "design")
    student = source.tree.get("student")
    name = student.get("design") if isinstance(student, dict) else None
    if not isinstance(name, str) or is_import_path(name):
        return []
    try:
        find_design(name, where.get(path) or source.where(path))
    except BadInput as error:
        return list(error.faults)
    return []


def _fault(source: YamlFile, where: Mapping[Keys, str], detail: ErrorDetails) -> Fault | None:
    """A validation error as a fault that names the place, the value and what would be right."""
    path = tuple(detail["loc"])
    place = where.get(path) or source.where(path)
    match detail["type"]:
        case kind if kind in UNKNOWN_KEY:
            if path in REPLACED:
                return Fault(place, f"is no setting any more: {REPLACED[path]} (confirm.baseline)")
            return Fault(place, f"unknown key{_suggestion(path)}")
        case "missing" | "missing_argument":
            return Fault(place, "is required")
        case "value_error":
            return Fault(place, str(detail["ctx"]["error"]))
    value = detail["input"]
    shown = "" if isinstance(value, dict | list) else f", got {value!r:.60}"
    return Fault(place, detail["msg"][:1].lower() + detail["msg"][1:] + shown)


def _suggestion(path: Keys) -> str:
    known = _fields_at(Config, path[:-1])
    close = get_close_matches(str(path[-1]), known, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known here: {', '.join(known)}" if known else ""


def _fields_at(kind: Any, path: Keys) -> list[str]:
    """Names of the keys allowed below `path`."""
    for key in path:
        kind = _unwrapped(_annotation(kind, key))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return sorted(kind.model_fields)
    return sorted(f.name for f in fields(kind)) if is_dataclass(kind) else []


def _annotation(kind: Any, key: str | int) -> Any:
    if isinstance(key, int):
        return next((a for a in get_args(kind) if a is not Ellipsis), None)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        field = kind.model_fields.get(key)
        return field.annotation if field else None
    return None


def _unwrapped(kind: Any) -> Any:
    """`X` for `X | None`."""
    options = [a for a in get_args(kind) if a is not type(None)]
    return options[0] if get_origin(kind) is not tuple and len(options) == 1 else kind

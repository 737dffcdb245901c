"""What a reader wants of a table's columns, and which of a file's columns these are."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from heldout.splits.loading.text_files import Faults, suggestion

OPTION = "--columns"
_NEAR: Mapping[str, tuple[str, ...]] = {
    "transcript": ("dialogue", "dialog", "conversation", "transcription", "encounter", "source"),
    "note": ("note", "summary", "soap", "report", "documentation", "errored", "text"),
    "text": ("note", "summary", "soap", "report", "documentation"),
    "group": ("consultation", "case", "encounter", "visit"),
}
"""Words that other people's tables have for a column."""
_MOST_NAMED = 12


@dataclass(frozen=True)
class TableOptions:
    """What a person says about a table.

    `columns` names the file's column for a column that is read; `delimiter` and `encoding` replace
    what is found; `multiline` takes a quoted field over several lines whatever its lines look like.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    delimiter: str | None = None
    encoding: str | None = None
    multiline: bool = False

    def only(self, names: Collection[str]) -> TableOptions:
        """The same for a file that has no other columns than `names`."""
        kept = {name: column for name, column in self.columns.items() if name in names}
        return replace(self, columns=kept)

    def second(self, names: Collection[str]) -> TableOptions:
        """The same for a second file, which may have another delimiter."""
        return replace(self.only(names), delimiter=None)


PLAIN = TableOptions()
"""Nothing said: everything is found."""


@dataclass(frozen=True)
class Wanted:
    """The columns of one kind of table.

    `names` are the columns that mean something, each with the names it may have in a file, the
    first going before the others; a table without one of `needed` is none. The values of `ids`
    name a row.
    """

    names: Mapping[str, tuple[str, ...]]
    needed: tuple[str, ...]
    ids: tuple[str, ...]

    @classmethod
    def of(cls, names: Sequence[str], needed: Sequence[str], ids: Sequence[str]) -> Wanted:
        """Columns that have one name each."""
        return cls({name: (name,) for name in names}, tuple(needed), tuple(ids))


def plain_name(name: str) -> str:
    """A column's name in lower case with underscores: `Text ID` is `text_id`."""
    return "_".join(name.strip("\ufeff").lower().replace("_", " ").replace("-", " ").split())


def columns_asked(pairs: Sequence[str]) -> dict[str, str]:
    """What `--columns NAME=COLUMN` says. Raises BadInput for anything else."""
    faults, found = Faults(), dict[str, str]()
    for pair in pairs:
        name, equals, column = pair.partition("=")
        if not (equals and name.strip() and column.strip()):
            faults.add(OPTION, f"{pair!r} is not of the form NAME=COLUMN")
        elif name.strip() in found:
            faults.add(OPTION, f"{name.strip()} is given twice")
        else:
            found[name.strip()] = column.strip()
    faults.raise_any()
    return found


def named(
    header: Sequence[str],
    wanted: Wanted,
    columns: Mapping[str, str],
    where: str,
    *,
    needed: Sequence[str] | None = None,
) -> list[str]:
    """What each column of `header` is to a reader: a name of `wanted`, or its own.

    A column that another one was taken for has no name. `needed` replaces that of `wanted`. Raises
    BadInput for equal names, a column that is needed and missing, and `columns` that do not fit.
    """
    faults = Faults()
    own = [name.strip().strip("\ufeff").strip() for name in header]
    taken = _taken(own, wanted, columns, faults)
    known = {alias for names in wanted.names.values() for alias in names}
    plain = [plain_name(name) for name in own]
    for name in dict.fromkeys(own):
        alike = [other for other in own if plain_name(other) == plain_name(name)]
        if name and alike[0] == name and len(alike) > 1:
            if own.count(name) > 1:
                faults.add(where, f"column «{name}» stands twice")
            elif plain_name(name) in known:
                faults.add(where, f"column «{name}» stands twice: {' and '.join(alike)}")
    needed = () if faults.found else wanted.needed if needed is None else needed
    for name in needed:
        if name not in taken.values():
            free = [column for index, column in enumerate(own) if index not in taken]
            faults.add(where, _missing(name, wanted, own, free))
    faults.raise_any()
    return [
        taken.get(index, "" if plain[index] in known else name) for index, name in enumerate(own)
    ]


def _taken(
    own: Sequence[str], wanted: Wanted, columns: Mapping[str, str], faults: Faults
) -> dict[int, str]:
    """The name of each column that means something, by its place."""
    plain = [plain_name(name) for name in own]
    found: dict[int, str] = {}
    for name, column in columns.items():
        if name not in wanted.names:
            near = suggestion(name, list(wanted.names))
            one_of = ", ".join(wanted.names)
            faults.add(OPTION, f"{name!r} is none of the columns that are read: {one_of}{near}")
        elif plain_name(column) not in plain:
            near = suggestion(column, own) or f"; {_all_of(own)}"
            faults.add(OPTION, f"{name}: there is no column «{column}»{near}")
        else:
            index = own.index(column) if column in own else plain.index(plain_name(column))
            if index in found:
                faults.add(OPTION, f"«{own[index]}» is given for {found[index]} and for {name}")
            found[index] = name
    for name, aliases in wanted.names.items():
        free = [a for a in aliases if a in plain and plain.index(a) not in found]
        if name not in found.values() and free:
            found[plain.index(free[0])] = name
    return found


def _missing(name: str, wanted: Wanted, own: Sequence[str], free: Sequence[str]) -> str:
    missing = f"there is no column {' or '.join(f'«{alias}»' for alias in wanted.names[name])}"
    near = _nearest(name, free)
    if near is None:
        return f"{missing}; {_all_of(own)}"
    return f"{missing}; there is «{near}»: {OPTION} {shlex.quote(f'{name}={near}')}"


def _nearest(name: str, free: Sequence[str]) -> str | None:
    for word in (name, *_NEAR.get(name, ())):
        for column in free:
            if word in plain_name(column).split("_"):
                return column
    return suggestion(name, free).partition("«")[2].partition("»")[0] or None


def _all_of(own: Sequence[str]) -> str:
    names = [f"«{name}»" for name in own if name]
    more = ", …" if len(names) > _MOST_NAMED else ""
    return f"the columns are {', '.join(names[:_MOST_NAMED])}{more}" if names else "it has none"

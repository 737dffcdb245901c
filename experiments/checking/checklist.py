"""A list of checks and the one runner of it.

A check is a function of what is checked: it says in words what is well, or raises what is wrong.
Campaigns, the practitioner's commands and `heldout doctor` all run their lists here, so that they
say the same lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

from heldout.splits.errors import BadInput, Fault, UserFault

Subject_contra = TypeVar("Subject_contra", contravariant=True)
Value = TypeVar("Value")


@dataclass(frozen=True)
class Check(Generic[Subject_contra]):
    """One check: `find` says what is well or raises UserFault; `remedy` is what mends it."""

    name: str
    find: Callable[[Subject_contra], str]
    remedy: str


@dataclass(frozen=True)
class CheckResult:
    """What one check found.

    `told` is what is well, `error` what was raised. `faults` are those that no check before has
    told: a check that fails only for what is known to be wrong already waits for it.
    """

    name: str
    remedy: str
    told: str = ""
    error: UserFault | None = None
    faults: tuple[Fault, ...] = ()

    @property
    def state(self) -> str:
        """`ok`, `fault`, or `waits` for what a check before found wrong."""
        if self.error is None:
            return "ok"
        return "fault" if self.faults else "waits"


def examine(subject: Subject_contra, checks: Iterable[Check[Subject_contra]]) -> list[CheckResult]:
    """What each check finds, in order; none stops those after it."""
    results: list[CheckResult] = []
    known: set[Fault] = set()
    for check in checks:
        try:
            results.append(CheckResult(check.name, check.remedy, told=check.find(subject)))
        except UserFault as error:
            new = tuple(f for f in dict.fromkeys(faults_of(error)) if f not in known)
            known.update(new)
            results.append(CheckResult(check.name, check.remedy, error=error, faults=new))
    return results


def demand(subject: Subject_contra, checks: Iterable[Check[Subject_contra]]) -> None:
    """Raise every fault that the checks find; an error of a single check as it is."""
    raise_all(result.error for result in examine(subject, checks) if result.faults)


def raise_all(errors: Iterable[UserFault | None]) -> None:
    """Raise what stands in `errors`: one as it is, several as one BadInput; nothing for none."""
    found = [error for error in errors if error is not None]
    if len(found) == 1:
        raise found[0].with_traceback(None)
    refuse(fault for error in found for fault in faults_of(error))


def refuse(faults: Iterable[Fault]) -> None:
    """Raise BadInput with `faults`, each once; nothing where there are none."""
    found = list(dict.fromkeys(faults))
    if found:
        raise BadInput(found)


def faults_of(error: UserFault) -> Sequence[Fault]:
    """What a person can mend, fault by fault."""
    if isinstance(error, BadInput):
        return error.faults
    where, _, message = str(error).partition(": ")
    return (Fault(where, message),)


def all_of(*finds: Callable[[], Value]) -> list[Value]:
    """What `finds` give. Raises the faults of all of them together."""
    values, errors = [], []
    for find in finds:
        try:
            values.append(find())
        except UserFault as error:
            errors.append(error)
    raise_all(errors)
    return values


class Settled(Generic[Value]):
    """A property that is worked out once; where that fails, its fault is kept and raised again."""

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    @overload
    def __get__(self, subject: None, owner: type) -> Settled[Value]: ...

    @overload
    def __get__(self, subject: object, owner: type) -> Value: ...

    def __get__(self, subject: object | None, owner: type) -> Settled[Value] | Value:
        if subject is None:
            return self
        kept = vars(subject)
        if self._name not in kept:
            try:
                kept[self._name] = (self._make(subject), None)
            except UserFault as error:
                kept[self._name] = (None, error)
        value, fault = kept[self._name]
        if fault is not None:
            raise fault.with_traceback(None)
        found: Value = value
        return found

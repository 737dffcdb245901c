"""Roles: which pinned model plays which part of a judge design.

In the pins file, beside `models`:

roles:
  judge: openai/gpt-5
  extractor: openai/gpt-5
  auditor: anthropic/claude-sonnet-4-5
  second_look: openai/gpt-5
  reflector: openai/gpt-5
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path

from heldout.splits.errors import BadInput, Fault
from heldout.splits.loading.yaml_file import read_yaml
from heldout.students.models.pins import PinnedModel, Pins

ROLES = ("judge", "extractor", "auditor", "second_look", "reflector")


def read_roles(path: Path, pins: Pins) -> dict[str, PinnedModel]:
    """The models by role that the pins file at `path` names; `pins` are its models.

    Raises BadInput with every fault: an unknown role, a model that is not pinned.
    """
    file = read_yaml(path)
    roles = file.tree.get("roles") or {}
    if not isinstance(roles, Mapping):
        raise BadInput.one(file.where(("roles",)), "must map roles to names of models")
    faults: list[Fault] = []
    found: dict[str, PinnedModel] = {}
    for role, name in roles.items():
        where = file.where(("roles", role))
        if role not in ROLES:
            near = difflib.get_close_matches(str(role), ROLES, n=1)
            hint = f"did you mean {near[0]}?" if near else f"roles: {', '.join(ROLES)}"
            faults.append(Fault(where, f"there is no such role; {hint}"))
            continue
        try:
            found[role] = pins.find(str(name), where)
        except BadInput as error:
            faults.extend(error.faults)
    if faults:
        raise BadInput(faults)
    return found


def require(roles: Mapping[str, PinnedModel], needed: Iterable[str], where: str) -> None:
    """Raise BadInput for every role of `needed` that has no model; `where` is where to pin it."""
    missing = [role for role in needed if role not in roles]
    if missing:
        raise BadInput(
            [Fault(where, f"role {role} is not pinned; name a model for it") for role in missing]
        )

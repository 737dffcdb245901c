"""Heldout: evolve the instruction block of an LLM judge; ship it only on held-out data.

    import heldout

    run = heldout.run("configs/quickstart.yaml")
    run.decision, run.heldout, run.candidates_table()

Importing this package imports nothing heavy: each name is looked up when it is first used.
`heldout.types` has the protocols of parts and everything they take and give, `heldout.testing`
their conformance tests.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import heldout.testing as testing  # noqa: PLR0402 (mypy wants the whole name)
    import heldout.types as types  # noqa: PLR0402
    from heldout.api import compare, judge, load_run, power, resume, run
    from heldout.experiments.runs.config import Config

    __version__: str

__all__ = [
    "Config",
    "__version__",
    "compare",
    "judge",
    "load_run",
    "power",
    "resume",
    "run",
    "testing",
    "types",
]


def __getattr__(name: str) -> Any:
    """A name of the door, imported when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    match name:
        case "__version__":
            found: Any = import_module("importlib.metadata").version("heldout")
        case "testing" | "types":
            found = import_module(f"heldout.{name}")
        case "Config":
            found = import_module("heldout.experiments.runs.config").Config
        case _:
            found = getattr(import_module("heldout.api"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

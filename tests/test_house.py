"""The counts of `make house`, each on small sources made for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests import house


def found(count: house.Count) -> tuple[float, tuple[str, ...]]:
    return count.value, count.places


def of(**modules: str) -> list[house.Source]:
    """Sources by path; `__` in a keyword stands for a slash."""
    return house.parse({f"{name.replace('__', '/')}.py": text for name, text in modules.items()})


def test_lines_and_modules() -> None:
    sources = of(gepa__a="x = 1\n" * 500, gepa__b="x = 1\n" * 10, gepa__deep__c="x = 1\n" * 2)
    sources += house.parse({"gepa/deep/__init__.py": '"""Docs."""\n'})
    assert found(house.product_lines(sources)) == (513, ())
    assert house.median_module(sources).value == 10
    assert found(house.long_modules(sources)) == (1, ("gepa/a.py (500)",))
    assert found(house.fullest_folder(sources)) == (2, ("gepa/",))


def test_long_functions() -> None:
    sources = of(gepa__a="def short():\n    pass\n\n\ndef long():\n" + "    x = 1\n" * 60)
    assert found(house.long_functions(sources)) == (1, ("gepa/a.py:5 long (61)",))


def test_string_keys_are_read_by_subscript_and_by_get() -> None:
    text = 'a = x["k"]\nx["k"] = 1\nb = x.get("k", 2)\nc = x[name]\nd: Literal["k"]\n'
    own = of(gepa__a=text + "#\n" * 95)
    assert house.string_keys(own).value == pytest.approx(1000 * 3 / 100)
    foreign = house.parse({"splits/loading/pairs.py": text})
    assert house.string_keys(own + foreign).value == house.string_keys(own).value
    assert found(house.foreign_readers(foreign)) == (1, ("splits/loading/pairs.py (3)",))


def test_classes_of_one_name() -> None:
    sources = of(gepa__a="class A:\n    class _B: ...\n", splits__b="class _B: ...\nclass C: ...\n")
    assert found(house.double_classes(sources)) == (1, ("_B: gepa/a.py:2, splits/b.py:1",))


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("call", "calling", True),
        ("calls", "calling", True),
        ("decide", "deciding", True),
        ("runs", "running", True),
        ("string", "ring", False),
        ("strata", "loading", False),
    ],
)
def test_neighbours_that_differ_by_ing(one: str, other: str, near: bool) -> None:
    together = of(**{f"gepa__{one}": "", f"gepa__{other}": ""})
    apart = of(**{f"gepa__{one}": "", f"splits__{other}": ""})
    assert house.near_names(together).value == near
    assert house.near_names(apart).value == 0


def test_a_folder_is_a_neighbour_of_modules() -> None:
    sources = of(gepa__gate__decide="", gepa__gating="")
    assert found(house.near_names(sources)) == (1, ("gepa/: gate, gating",))


def test_broad_catches() -> None:
    text = (
        "try:\n    pass\nexcept Exception:\n    pass\n"
        "try:\n    pass\nexcept (ValueError, BaseException):\n    pass\n"
        "try:\n    pass\nexcept ValueError:\n    pass\n"
        "with contextlib.suppress(Exception):\n    pass\n"
    )
    assert found(house.broad_catches(of(gepa__a=text))) == (
        3,
        ("gepa/a.py:3", "gepa/a.py:7", "gepa/a.py:13"),
    )


DECODE = "def f():\n    from heldout.gepa.record.codec import decode\n"
RUN = "from heldout.gepa.record.run import Run\n"


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("from heldout.gepa.record.journal import read_journal\n", "read_journal"),
        (DECODE + "    return decode(kind, Path(run, 'journal.jsonl'))\n", "decode"),
        (DECODE + "    return decode(kind, run.journal.read_text())\n", "decode"),
        (DECODE + "    return decode(kind, run.gate.read_text())\n", None),
        (RUN + "f = lambda event: event.body['scores']\n", "keys of bodies"),
        (RUN + "f = lambda event: event.body.get('scores')\n", "keys of bodies"),
        (RUN + "for e in run.events:\n    print(e.kind)\n", "loops over events"),
        (RUN + "x = [e.body for e in events if e]\n", "loops over events"),
        (RUN + "def told(event):\n    return isinstance(event.body, int)\n", None),
        (RUN + "for e in run.events:\n    tell(e)\ndef told(e):\n    return e.body\n", None),
        (RUN + "x = [row.kind for row in run.candidates]\n", None),
        ("x = reply.body['usage']\n", None),
    ],
)
def test_a_module_that_reads_the_journal_is_a_read_model(text: str, signs: str | None) -> None:
    outside = found(house.read_models(of(experiments__report__a=text)))
    inside = found(house.read_models(of(gepa__record__a=text)))
    assert outside == ((1, ()) if signs is None else (2, (f"experiments/report/a.py ({signs})",)))
    assert inside == (1, ())


def test_session_openers() -> None:
    sources = of(
        experiments__a="store = CallStore(url)\ncaller = calls.Caller(store, Ledger(caps))\n",
        experiments__b="ledger = Ledger(caps)\n",
        experiments__c="def f(store: CallStore) -> Caller: ...\n",
    )
    assert found(house.session_openers(sources)) == (
        1,
        ("experiments/a.py (CallStore, Caller, Ledger)",),
    )


def test_cycles_when_loading_and_inside_functions() -> None:
    sources = of(
        gepa__a="from heldout.gepa.b import x\n",
        gepa__b="from heldout.gepa import c\n",
        gepa__c="import heldout.gepa.a\n",
        gepa__d="import heldout.gepa.e\n",
        gepa__e="def f():\n    import heldout.gepa.d\n",
        gepa__g="import heldout.gepa.h\n",
        gepa__h="if TYPE_CHECKING:\n    import heldout.gepa.g\n",
    )
    knot = "heldout.gepa.a, heldout.gepa.b, heldout.gepa.c"
    assert found(house.import_cycles(sources)) == (1, (knot,))
    assert house.all_cycles(sources).value == 3


def test_a_package_and_the_door_are_modules() -> None:
    sources = house.parse(
        {
            "src/heldout/__init__.py": "from heldout.api import run\n",
            "src/heldout/api.py": "import heldout.gepa\n",
            "gepa/__init__.py": "from heldout import run\n",
        }
    )
    assert found(house.import_cycles(sources)) == (1, ("heldout, heldout.api, heldout.gepa",))


def test_the_table_says_which_bound_is_missed() -> None:
    small = of(gepa__a="x = 1\n" * 100)
    text, holds = house.table(small, None, "")
    assert not holds
    assert "session openers                            1 to 1          0    over" in text
    assert "product lines                              at most 37,000  100  ok" in text
    sources = of(gepa__a="x = 1\n" * 99 + "Caller(CallStore(), Ledger())\n")
    text, holds = house.table(sources, small, "before")
    assert holds
    assert "session openers                            1 to 1          0       1    ok" in text


def test_checkout_and_commit_see_the_same_product(tmp_path: Path) -> None:
    for name in ("gepa/a.py", "src/heldout/api.py", "tests/b.py", "src/heldout/gepa/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *command], check=True)
    expected = ["gepa/a.py", "src/heldout/api.py"]
    assert [source.path for source in house.checkout(tmp_path)] == expected
    assert [source.path for source in house.commit(tmp_path, "HEAD")] == expected

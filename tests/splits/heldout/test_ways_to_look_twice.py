"""Ways to look at the same held-out consultations again: refused, counted or labelled.

A first run has used the one planned look. Each way is what somebody might do next; none may end in
a look that counts as a confirmation.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.splits.builders import consultation, loader, write_benchmark

from heldout.splits.errors import BadInput, LooksSpent
from heldout.splits.heldout.lines import appending
from heldout.splits.heldout.looks import (
    Family,
    LookKind,
    LookRequest,
    LookResult,
    NoteResult,
    slots,
)
from heldout.splits.heldout.looks_file import Buyer
from heldout.splits.heldout.registry import (
    LAYOUT,
    LooksRegistry,
    Use,
    consultation_digests,
    registry_path,
    together,
)
from heldout.splits.heldout.vault import Splits, open_splits
from heldout.splits.loading.benchmark_files import BenchmarkSource, open_benchmark
from heldout.splits.partition.draw import draw_partition
from heldout.splits.partition.manifest import Shares, freeze

REFUSED, EXPLORATORY = "refused", "exploratory"


class Silent:
    """A journal that nobody reads."""

    def append(self, event: object) -> None:
        del event


def sha(text: str) -> str:
    return text.encode().hex().ljust(64, "0")[:64]


@dataclass
class World:
    """A benchmark in files, its manifest, and the registry beside it."""

    folder: Path
    source: BenchmarkSource
    manifest: Path

    @property
    def looks(self) -> Path:
        return self.manifest.with_name(f"{self.manifest.stem}.looks.jsonl")

    @property
    def registry(self) -> Path:
        return registry_path(None, self.source.pairs)

    def drawn(self, name: str, *, seed: int = 6, planned: int = 1, **shares: float) -> Path:
        """Another manifest of the same data."""
        loaded = open_benchmark(self.source)
        partition = draw_partition(
            loaded.benchmark,
            seed=seed,
            shares=Shares(**shares) if shares else None,
            planned_looks=planned,
            files=loaded.files,
        )
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        freeze(partition, path)
        return path

    def splits(self, run: str, manifest: Path | None = None, **buyer: object) -> Splits:
        return open_splits(
            loader(self.source),
            manifest or self.manifest,
            journal=Silent(),
            buyer=Buyer(run, **buyer),  # type: ignore[arg-type]
            registry=LooksRegistry(self.registry),
        )

    def spend(self, run: str = "first", block: str = "winner", **settings: object) -> Splits:
        """A whole run: baseline and winner."""
        splits = self.splits(run)
        splits.vault.admit()
        splits.register()
        splits.vault.note_blocks([sha("evolved")])
        for kind, text in ((LookKind.BASELINE, "baseline"), (LookKind.WINNER, block)):
            look(splits, kind, text, **settings)
        return splits

    def again(self, run: str = "second", manifest: Path | None = None, **asked: object) -> str:
        """What somebody is told who looks once more."""
        options = {k: asked.pop(k) for k in ("acknowledge_reuse", "family", "seeds") if k in asked}
        kind = LookKind(str(asked.pop("kind", "winner")))
        block = str(asked.pop("block", "another"))
        splits = self.splits(run, manifest, **options)
        try:
            splits.vault.admit()
            return look(splits, kind, block, **asked)
        except LooksSpent:
            return REFUSED


def look(splits: Splits, kind: LookKind, block: str, **settings: object) -> str:
    """One look; `exploratory` or `counted`."""
    target = str(settings.pop("target", "a" * 64))
    request = LookRequest(kind, target, sha(block), {"seed": 1, **settings})
    with splits.vault.look(request) as opened:
        if opened.own and opened.stored is None:
            scores = {label.id: (NoteResult(5.0),) for label in splits.vault.labels}
            opened.close(LookResult(scores, "c" * 64))
        return EXPLORATORY if opened.look.exploratory else "counted"


def untouched(folder: Path, stratum: str = "made") -> World:
    """Consultations that nobody has looked at, with a manifest."""
    (folder / "data").mkdir(parents=True)
    source = write_benchmark(folder / "data", [consultation(n, stratum=stratum) for n in range(24)])
    made = World(folder, source, folder / "p.json")
    made.drawn("p.json")
    return made


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = untouched(tmp_path)
    made.spend()
    return made


def copied(world: World) -> str:
    (world.folder / "copy").mkdir()
    path = world.folder / "copy" / "q.json"
    shutil.copy(world.manifest, path)
    return world.again(manifest=path)


def moved(world: World) -> str:
    world.manifest.rename(world.folder / "elsewhere.json")
    return world.again(manifest=world.folder / "elsewhere.json")


def without(*names: str) -> Callable[[World], str]:
    def way(world: World) -> str:
        for name in names:
            Path(getattr(world, name)).unlink()
        return world.again()

    return way


def data_moved(world: World) -> str:
    for path in (world.source.pairs, world.source.consultations, world.registry):
        assert path is not None
        target = world.folder / "other" / path.name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(path, target)
    other = world.folder / "other"
    assert world.source.consultations is not None
    world.source = replace(
        world.source,
        pairs=other / world.source.pairs.name,
        consultations=other / world.source.consultations.name,
    )
    return world.again(manifest=world.drawn("again.json", seed=9))


def rows_shuffled(world: World) -> str:
    lines = world.source.pairs.read_text("utf-8").splitlines()
    world.source.pairs.write_text("\n".join(reversed(lines)) + "\n", "utf-8")
    return world.again(manifest=world.drawn("again.json", seed=9))


def renamed(world: World) -> str:
    """Every consultation under another id."""
    for path in (world.source.pairs, world.source.consultations):
        assert path is not None
        text = path.read_text("utf-8").replace("made|c", "made|x").replace('"id": "c', '"id": "x')
        path.write_text(text, "utf-8")
    return world.again(manifest=world.drawn("again.json", seed=9))


def fewer_pairs(world: World) -> str:
    """A re-export with one errored note a consultation."""
    rows = [json.loads(line) for line in world.source.pairs.read_text("utf-8").splitlines()]
    kept = [row for row in rows if row["class"] != "add"]
    world.source.pairs.write_text("".join(json.dumps(row) + "\n" for row in kept), "utf-8")
    return world.again(manifest=world.drawn("again.json", seed=9))


def respaced(world: World) -> str:
    """Spaces and capitals in the transcripts changed."""
    path = world.source.consultations
    assert path is not None
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for row in rows:
        row["transcript"] = row["transcript"].upper().replace(" ", "  ")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return world.again(manifest=world.drawn("again.json", seed=9))


def resplit(seed: int, **shares: float) -> Callable[[World], str]:
    return lambda world: world.again(manifest=world.drawn(f"s{seed}.json", seed=seed, **shares))


def more_looks_planned(world: World) -> str:
    return world.again(manifest=world.drawn("more.json", planned=9))


def asked(**how: object) -> Callable[[World], str]:
    return lambda world: world.again(**how)  # type: ignore[arg-type]


def acknowledged(**how: object) -> Callable[[World], str]:
    return asked(acknowledge_reuse=True, **how)


def acknowledged_resplit(world: World) -> str:
    return world.again(manifest=world.drawn("n.json", seed=8), acknowledge_reuse=True)


def stored_result_acknowledged(world: World) -> str:
    """The first run's own look, to be decided by another rule, alpha or margin."""
    return world.again(block="winner", acknowledge_reuse=True)


def judged_elsewhere(world: World) -> str:
    """`judge`, `rerun` or `calibrate` with a block of one's own, on notes of a campaign."""
    fresh = untouched(world.folder / "f", "f")
    digests = together(map(consultation_digests, open_benchmark(fresh.source).benchmark))
    use = Use("judge-1", "judge (all)", frozenset(digests), counts=True)
    LooksRegistry(fresh.registry).note(use)
    return fresh.again()


def seeds_of_the_first(world: World) -> str:
    return world.again(manifest=world.drawn("n.json", seed=8), seeds=frozenset({sha("evolved")}))


def at_once(*, manifests: int) -> Callable[[World], str]:
    """Two runs that were admitted before either had looked, by one manifest or one each."""

    def way(world: World) -> str:
        fresh = untouched(world.folder / "g", "g")
        other = fresh.drawn("q.json", seed=7) if manifests > 1 else fresh.manifest
        one, two = fresh.splits("one"), fresh.splits("two", other)
        assert not one.vault.admit()
        assert not two.vault.admit()
        look(one, LookKind.WINNER, "first")
        try:
            return look(two, LookKind.WINNER, "second")
        except LooksSpent:
            return REFUSED

    return way


def baseline_shopping(world: World) -> str:
    """The same baseline under another seed is a look of its own."""
    fresh = untouched(world.folder / "b", "b")
    splits = fresh.splits("shopper")
    look(splits, LookKind.BASELINE, "baseline", seed=1)
    look(splits, LookKind.BASELINE, "baseline", seed=2)
    assert slots(splits.vault.looks.looks()) == 1
    try:
        return look(splits, LookKind.BASELINE, "baseline", seed=3)
    except LooksSpent:
        return REFUSED


WAYS: dict[str, tuple[Callable[[World], str], str]] = {
    "the same again": (asked(), REFUSED),
    "another seed": (asked(seed=2), REFUSED),
    "more samples": (asked(samples=8), REFUSED),
    "more replicates": (asked(replicates=3), REFUSED),
    "another block": (asked(block="third"), REFUSED),
    "another model": (asked(target="b" * 64), REFUSED),
    "as a baseline": (asked(kind="baseline"), REFUSED),
    "as another kind": (asked(kind="other"), REFUSED),
    "as a family": (asked(family=Family("f", ("a" * 64,))), REFUSED),
    "the first run's look": (asked(block="winner"), REFUSED),
    "manifest copied": (copied, REFUSED),
    "manifest moved": (moved, REFUSED),
    "looks file deleted": (without("looks"), REFUSED),
    "registry deleted": (without("registry"), REFUSED),
    "manifest copied, looks file deleted": (lambda w: (w.looks.unlink(), copied(w))[1], REFUSED),
    "data moved, split again": (data_moved, REFUSED),
    "rows shuffled, split again": (rows_shuffled, REFUSED),
    "ids changed, split again": (renamed, REFUSED),
    "pairs left out, split again": (fewer_pairs, REFUSED),
    "spaces and capitals changed, split again": (respaced, REFUSED),
    "more looks planned in a new manifest": (more_looks_planned, REFUSED),
    **{f"split again, seed {seed}": (resplit(seed), REFUSED) for seed in range(20, 30)},
    "split again, other shares": (
        resplit(6, reflect=0.3, accept=0.3, heldout=0.4),
        REFUSED,
    ),
    "split again, looks file deleted": (lambda w: (w.looks.unlink(), resplit(8)(w))[1], REFUSED),
    "acknowledged": (acknowledged(), EXPLORATORY),
    "acknowledged, another seed": (acknowledged(seed=2), EXPLORATORY),
    "acknowledged, split again": (acknowledged_resplit, EXPLORATORY),
    "acknowledged, the first run's own look": (stored_result_acknowledged, EXPLORATORY),
    "acknowledged, as a family": (
        acknowledged(family=Family("f", ("a" * 64,))),
        EXPLORATORY,
    ),
    "judged with a block of one's own before": (judged_elsewhere, REFUSED),
    "a seed block that was chosen on these notes": (seeds_of_the_first, REFUSED),
    "two at once": (at_once(manifests=1), REFUSED),
    "two at once, by two manifests": (at_once(manifests=2), REFUSED),
    "the baseline judged three times": (baseline_shopping, REFUSED),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_to_a_second_confirmation(way: str, world: World) -> None:
    tried, expected = WAYS[way]
    assert tried(world) == expected


def test_a_refusal_does_not_advise_to_split_again(world: World) -> None:
    with pytest.raises(LooksSpent, match="a new partition of the same notes would not renew them"):
        world.splits("second").vault.admit()


def test_there_are_forty() -> None:
    assert len(WAYS) >= 40


def test_what_one_record_lost_the_other_gives_back(world: World) -> None:
    before = world.looks.read_text("utf-8").count('"opened"')
    world.looks.unlink()
    world.again(acknowledge_reuse=True)
    assert world.looks.read_text("utf-8").count('"opened"') == before + 1
    world.registry.unlink()
    world.again("third", block="third", acknowledge_reuse=True)
    assert world.registry.read_text("utf-8").count('"opened"') == before + 2


def test_reflect_and_accept_of_others_are_told_and_do_not_count(tmp_path: Path) -> None:
    made = untouched(tmp_path)
    other = made.drawn("q.json", seed=7)
    made.splits("first").register()
    splits = made.splits("second", other)
    assert not splits.vault.admit()
    told = splits.vault.seen.sentences
    assert told
    assert all(s.startswith("seen before: ") and s.endswith("(first)") for s in told)
    assert {s.split(", ")[1] for s in told} <= {"for reflect (first)", "for accept (first)"}


def test_a_registry_that_was_edited_is_refused(world: World) -> None:
    text = world.registry.read_text("utf-8")
    world.registry.write_text(text.replace('"first"', '"other"', 1), "utf-8")
    with pytest.raises(BadInput, match="the looks on record cannot be trusted"):
        world.again()


def test_no_text_stands_in_the_registry(world: World) -> None:
    text = world.registry.read_text("utf-8")
    assert all(c.id not in text for c in open_benchmark(world.source).benchmark)


@pytest.mark.parametrize(
    "content",
    [
        {"event": "used", "run": "r"},
        {"event": "used", "run": "r", "what": "x", "consultations": 7},
        {"event": "opened", "run": "r", "consultations": []},
        {"event": "rumour", "run": "r"},
        {"run": "r"},
    ],
)
def test_a_line_that_is_no_entry_is_one_line_a_fault(content: dict, world: World) -> None:
    world.registry.unlink()
    with appending(world.registry, LAYOUT) as (file, _):
        file.append(content)
    with pytest.raises(BadInput, match="is no registry of looks") as caught:
        world.again()
    assert len(caught.value.lines) == 1


@pytest.mark.parametrize("kind", ["folder", "text", "binary"])
def test_what_is_no_registry_is_one_line_a_fault(kind: str, world: World) -> None:
    world.registry.unlink()
    if kind == "folder":
        world.registry.mkdir()
    else:
        world.registry.write_bytes(b"{}\n" if kind == "text" else b"\xff\x00\n")
    with pytest.raises(BadInput) as caught:
        world.again()
    assert len(caught.value.lines) == 1

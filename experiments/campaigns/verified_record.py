"""What `verify` asks of the journal itself, and of the looks that it shares with other runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heldout.experiments.campaigns.verified_files import Examined, Told
from heldout.gepa.candidates import Origin
from heldout.gepa.leaving_out import LEFT_OUT
from heldout.gepa.record.events import CandidateEvent, EvaluationEvent
from heldout.gepa.record.journal import torn_bytes
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.record.run import Run
from heldout.gepa.statistics.agreement.replicates import paired_spread
from heldout.gepa.statistics.selection import PairKind
from heldout.splits.counted import counted
from heldout.splits.hashing import sha256_text
from heldout.splits.heldout.looks import Look, LookEvent, NoteResult
from heldout.splits.heldout.looks_file import LooksFile

LOOKED = (Purpose.BASELINE, Purpose.CONFIRM)
"""Evaluations whose scores a look keeps as well."""

PAIRS: tuple[PairKind, ...] = ("omission", "commission")


def lineage(examined: Examined) -> Iterator[Told]:
    """The lineage hash on record is that of the events."""
    run, so_far = examined.run, examined.so_far
    finished = so_far.finished
    if finished is not None and finished.lineage_sha256 != so_far.lineage_sha256:
        yield Told(f"{run.journal}: the lineage hash on record is not that of the events")


def record(examined: Examined) -> Iterator[Told]:
    """Every text fits its hash; seeds, winner, evaluations and decision name each other rightly."""
    run, so_far = examined.run, examined.so_far
    if not run.journal.is_file() and run.store.exists():
        yield Told(f"{run.journal}: is missing")
    if torn := torn_bytes(run.journal):
        # A kill leaves such a line, which a resume drops; nothing is written once a run finished.
        told = f"{run.journal}: its last line is torn ({counted(torn, 'byte')} without a line end)"
        yield Told(told, is_fault=so_far.finished is not None)
    for candidate in so_far.candidates.values():
        if _text_differs(candidate):
            yield Told(f"{run.journal}: the text of {candidate.id} does not fit its hash")
    yield from (Told(f"{run.journal}: {fault}") for fault in _crossed(so_far))


def _text_differs(candidate: CandidateEvent) -> bool:
    block = candidate.block
    if block is None:
        return False
    return (sha256_text(block), len(block)) != (candidate.sha256, candidate.length)


def _crossed(so_far: Run) -> Iterator[str]:
    candidates, settings = so_far.candidates, so_far.settings
    if settings is not None:
        seeds = {c.name: c.sha256 for c in candidates.values() if c.kind is Origin.SEED}
        for name, digest in seeds.items():
            if settings.seeds.get(str(name)) != digest:
                yield f"seed {name} is not the one of the settings"
    for found in so_far.evaluations:
        yield from _evaluation(so_far, found)
    won = so_far.winner
    if won is not None and (won.id not in candidates or candidates[won.id].sha256 != won.sha256):
        yield f"the winner {won.id} is not the candidate of this name"
    end, gate = so_far.finished, so_far.gate
    if end and gate and (end.decision, end.reason) != (gate.decision, gate.reason):
        yield f"ends as {end.decision}, its gate said {gate.decision}"
    if (so_far.decision == "emitted") is (so_far.emission is None) and end:
        yield f"decided {so_far.decision}, which does not fit what it says was emitted"


def _evaluation(so_far: Run, found: EvaluationEvent) -> Iterator[str]:
    what = f"the evaluation {found.purpose} of {found.candidate or 'the baseline'}"
    candidate = so_far.candidates.get(found.candidate or "")
    if candidate is not None and candidate.sha256 != found.block_sha256:
        yield f"{what} is of another block than the candidate's"
    if any(found.scores.get(id_) is not None for id_ in found.violations):
        yield f"{what} scores a note that it says has no answer"
    if so_far.settings is not None and found.frame_sha256 != so_far.settings.frame_sha256:
        yield f"{what} is under another frame than the run's"


def looks(examined: Examined) -> Iterator[Told]:
    """The looks beside the manifest hold together and say of this run what its journal says."""
    run, so_far = examined.run, examined.so_far
    if so_far.partition is None:
        return
    path = examined.manifest
    if not path.exists():
        yield Told(f"{path}: is missing, and with it the record of looks")
        return
    file = LooksFile.beside(path, examined.partition)
    known = {(look.id, look.run): look for look in file.verify()}
    for event in so_far.looks:
        look = known.get((event.look, event.bought_by or so_far.opened.run_id))
        if look is None:
            yield Told(f"{file.path}: look {event.look} of the journal is not in it")
            continue
        yield from (Told(f"{file.path}: look {look.id} {x}") for x in _look(so_far, event, look))
    own = {event.look for event in so_far.looks if event.bought_by is None}
    for id_, run_id in known:
        if run_id == so_far.opened.run_id and id_ not in own:
            yield Told(f"{run.journal}: look {id_} of this run is not in it")


def _look(so_far: Run, event: LookEvent, look: Look) -> Iterator[str]:
    """What a look on record and the journal tell differently."""
    for name, said in (
        ("kind", look.kind),
        ("target", look.target),
        ("block", look.block_sha256),
        ("settings", look.settings),
        ("exploratory", look.exploratory),
    ):
        taken = name == "exploratory" and event.bought_by is not None and event.exploratory
        if said != getattr(event, name) and not taken:
            yield f"has another {name} than the journal says"
    judged = [
        e
        for e in so_far.evaluations
        if e.purpose in LOOKED and e.block_sha256 == look.block_sha256
        if (e.purpose is Purpose.BASELINE) is (event.kind == "baseline")
    ]
    if look.result is None:
        if so_far.finished is not None:
            yield "was never closed, though the run is finished"
        return
    kept = [(found, look.result.notes) for found in judged]
    if event.kind == "winner" and look.result.baseline is not None:
        kept += [(found, look.result.baseline) for found in so_far.on_heldout(Purpose.DRIFT)]
    for found, notes in kept:
        if _results(found) != _kept(notes, found):
            yield f"has other results than the journal's evaluation {found.purpose}"
    if len(judged) == 1 and judged[0].calls_sha256 != look.result.calls_sha256:
        yield "is of other calls than the journal's evaluation"
    tables = [so_far.table(found.scores) for found in judged]
    # Which pairs had left the figures by then is not told by the scores.
    whole = not any(event.split == "heldout" for event in so_far.left_out)
    for kind in PAIRS if tables and whole else ():
        figure = paired_spread(tables, kind).mean
        if look.result.figures.get(f"paired_{kind}s") != figure:
            yield f"has another figure for paired {kind}s than its scores give"


def _results(found: EvaluationEvent) -> dict[str, NoteResult]:
    """The results of an evaluation as a look keeps them."""
    flagged = found.flagged
    return {
        id_: NoteResult(
            score,
            None if flagged is None else id_ in flagged,
            found.violations.get(id_, "ok"),
        )
        for id_, score in found.scores.items()
    }


def _kept(
    notes: Mapping[str, tuple[NoteResult, ...]], found: EvaluationEvent
) -> dict[str, NoteResult]:
    """The results of a look as the evaluation has them; what had left the figures is not there."""
    here = {id_: results[found.replicate] for id_, results in notes.items()}
    return {
        id_: _bare(kept, found)
        for id_, kept in here.items()
        if id_ in found.scores or kept.outcome != LEFT_OUT
    }


def _bare(result: NoteResult, found: EvaluationEvent) -> NoteResult:
    """`result`; in the record of a run that took it from another one, no flag is a False."""
    if found.bought_by is None or found.flagged is None:
        return result
    return NoteResult(result.score, bool(result.flag), result.outcome)

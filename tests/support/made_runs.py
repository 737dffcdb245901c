"""Made-up runs: a journal and a call store as a campaign leaves them, in milliseconds.

Events come from the engine's own functions wherever there is one, so that a change of the engine
shows in every test that reads a run. Scores are drawn: a block of skill s sees an edit with
probability s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heldout.gepa.acceptance import MinibatchComparison, MinibatchImprovement, compare
from heldout.gepa.candidates import Candidate, Origin, Status
from heldout.gepa.emission import emit
from heldout.gepa.frontier import Frontier, win_tie_loss
from heldout.gepa.gate.decide import GateSettings, decide, pre_gate
from heldout.gepa.objective import PairedFirst, best
from heldout.gepa.record import events, kinds, remarks
from heldout.gepa.record.codec import plain
from heldout.gepa.record.events import PhaseEvent
from heldout.gepa.record.journal import Observer, RunJournal
from heldout.gepa.record.kinds import FinishReason, Phase, Purpose
from heldout.gepa.record.run import Run
from heldout.gepa.reward import rank_reward
from heldout.gepa.search import candidate_event, scores_of
from heldout.gepa.settings import ConfirmSettings, SearchSettings
from heldout.gepa.spending import Spent
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import measures
from heldout.gepa.statistics.rates.detection import swept
from heldout.gepa.statistics.table import ScoreTable
from heldout.gepa.word_control import control_event
from heldout.splits.benchmark import CleanMeans, NoteClass, NoteLabel, Severity, TraceLevel
from heldout.splits.hashing import content_id, sha256_text
from heldout.splits.heldout.looks import LookEvent, LookKind
from heldout.splits.randomness import choice, uniform
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.calls.store import CallStore
from heldout.students.frames import load_frame
from heldout.students.models.chat import (
    Budget,
    ChatReply,
    Message,
    ModelPin,
    StopReason,
    Usage,
)

RUN_ID = "made-0001"
EDITS = (
    (NoteClass.OMIT_COMPLETE, TraceLevel.COMPLETE, Severity.CRITICAL),
    (NoteClass.OMIT_PARTIAL, TraceLevel.PARTIAL_WEAK, Severity.SUPPORTING),
    (NoteClass.OMIT_PARTIAL, TraceLevel.PARTIAL_STRONG, Severity.PERIPHERAL),
    (NoteClass.ADD, None, Severity.SUPPORTING),
    (NoteClass.CHANGE, None, Severity.CRITICAL),
)
SEEDS = {
    "plain": "Read the note against the transcript.\nGive a score from 0 to 10.",
    "values": "Compare every number in the note with the transcript.\nScore from 0 to 10.",
}
STEPS = (
    "List every fact of the transcript before reading the note.",
    "Look each listed fact up in the note.",
    "Count a paraphrase as present.",
    "Take a fact that is only hinted at for half present.",
    "Give the score with one decimal.",
    "Check doses, sides and durations one by one.",
)
BUDGET = Budget(1500)
DRIFT = events.DriftEvent(notes=10, mean_change=0.0, level=0.1, refuses=False)


@dataclass(frozen=True)
class Plan:
    """What to make.

    `gain`: skill that a step adds; 0 makes a run that is not emitted. `hostile` goes into blocks,
    reflector prompts and names, `clinical` into prompts. `stop_after`: end without a decision
    after this many iterations, as a stopped run does.
    """

    iterations: int = 12
    consultations: int = 48
    seed: int = 1
    gain: float = 0.15
    hostile: str = ""
    clinical: str = "Patient says the cough began on Tuesday."
    model: str = "sim/judge"
    name: str = "made"
    flags: bool = False
    replicates: int = 1
    public: bool = True
    exploratory: bool = False
    clean_means: CleanMeans = CleanMeans.UNEDITED
    caveats: tuple[str, ...] = ("the models are simulated: no figure is about a real model",)
    stop_after: int | None = None
    run_id: str = RUN_ID


def make_run(run_dir: Path, plan: Plan | None = None, observers: tuple[Observer, ...] = ()) -> Path:
    """Write a run to `run_dir` and return it."""
    plan = plan or Plan()
    run_dir.mkdir(parents=True, exist_ok=True)
    store = CallStore(f"sqlite:///{run_dir / 'calls.sqlite'}", plan.run_id)
    journal = RunJournal(run_dir / "journal.jsonl", observers)
    try:
        _Maker(run_dir, plan, journal, store).run()
    finally:
        journal.close()
        store.close()
    return run_dir


class _Maker:
    def __init__(self, run_dir: Path, plan: Plan, journal: RunJournal, store: CallStore) -> None:
        self.run_dir, self.plan, self.journal, self.store = run_dir, plan, journal, store
        self.frame = load_frame("whole_note")
        self.labels: dict[str, list[NoteLabel]] = {"reflect": [], "accept": [], "heldout": []}
        self.words: dict[str, int] = {}
        self.candidates: list[Candidate] = []
        self.skill: dict[str, float] = {}
        self.spent = Spent()
        self.judgements = 0
        self.best = 0.0
        self.reward = rank_reward((0, 10))
        n = plan.consultations
        for number in range(n):
            split = "reflect" if number < n * 0.4 else "accept" if number < n * 0.58 else "heldout"
            self.labels[split] += self._consultation(number)

    # -- data ------------------------------------------------------------------------------------

    def _consultation(self, number: int) -> list[NoteLabel]:
        name, stratum = f"made|c{number:03d}", ("clinic", "phone")[number % 2]
        twin = content_id("note", name, "clean")
        length = 150 + int(uniform("length", number) * 100)
        self.words[twin] = length
        labels = [NoteLabel(twin, name, stratum, NoteClass.CLEAN, twin)]
        for kind, (note_class, trace, severity) in enumerate(EDITS):
            id_ = content_id("note", name, note_class, str(kind))
            self.words[id_] = length + (6 if note_class is NoteClass.ADD else 0)
            self.words[id_] -= 8 if note_class.is_omission else 0
            rest = (trace, severity, "program", f"p{number:03d}-{kind}")
            labels.append(NoteLabel(id_, name, stratum, note_class, twin, *rest))
        return labels

    def _scores(self, block: str, split: str, skill: float, replicate: int = 0):
        """Scores with a little noise, one decimal, now and then none."""
        seed, sha = self.plan.seed, sha256_text(block)
        scores: dict[str, float | None] = {}
        for label in self.labels[split]:
            path = (seed, sha, label.id, replicate)
            base = 7 + 2 * uniform(seed, "base", label.consultation)
            seen = not label.is_clean and uniform("seen", *path) < skill
            drop = 1 + uniform("drop", *path) if seen else 0.6 * (uniform("noise", *path) - 0.5)
            missing = uniform("missing", *path) < 0.01
            scores[label.id] = None if missing else round(base - drop, 1)
        return scores

    # -- events ----------------------------------------------------------------------------------

    def run(self) -> None:
        self._open()
        baseline = self._heldout(Purpose.BASELINE, SEEDS["plain"], 0.1)
        self._phase(Phase.SEEDS)
        self.frontier = Frontier(win_tie_loss(self.labels["accept"]))
        for number, (name, block) in enumerate(SEEDS.items()):
            self._seed(name, block, 0.1 + 0.05 * number)
        self._phase(Phase.SEARCH)
        for iteration in range(1, self.plan.iterations + 1):
            self._iterate(iteration)
            if iteration == self.plan.stop_after:
                reason = FinishReason.STOP_REQUESTED
                stopped = remarks.StoppedEvent(finish_reason=reason, exit_status=3, message="stop")
                self.journal.remark(stopped)
                return
        self._end(baseline)

    def _phase(self, phase: Phase) -> None:
        self.journal.append(PhaseEvent(name=phase))

    def _open(self) -> None:
        p = self.plan
        self.journal.remark(
            remarks.OpenedEvent(
                run_id=p.run_id,
                name=p.name,
                seed=p.seed,
                acknowledge_reuse=p.exploratory,
                config_sha256=sha256_text("config"),
                versions={"heldout": "0.1.0", "python": "3.11"},
                source_sha256=sha256_text("source"),
                commit="0" * 40,
                dirty=(),
                platform="Linux x86_64",
                student=remarks.ModelFacts(model=p.model, budget=BUDGET, design="whole_note"),
                reflector=remarks.ModelFacts(model="sim/reflector", budget=Budget(16_000)),
                reuse="off",
                tracking_text="full" if p.public else "hashes",
                simulated=p.model.startswith("sim/"),
                schema=kinds.SCHEMA,
            )
        )
        self._phase(Phase.PARTITION)
        self.journal.append(self._partition())
        self.journal.append(
            events.SettingsEvent(
                seeds={name: sha256_text(block) for name, block in SEEDS.items()},
                baseline="plain",
                search=SearchSettings(iterations=p.iterations),
                confirm=ConfirmSettings(replicates=p.replicates),
                gate=GateSettings(),
                reward={"name": "RankReward", **plain(self.reward)},
                acceptance={"name": "MinibatchImprovement", "margin": 0.0},
                objective={"name": "PairedFirst"},
                budget=BUDGET,
                frame_sha256=self.frame.sha256,
            )
        )
        self._control("accept")
        self._phase(Phase.BASELINE)

    def _partition(self) -> events.PartitionEvent:
        def entry(labels: Sequence[NoteLabel]) -> events.SplitEntry:
            ids = sorted({label.consultation for label in labels})
            digest = sha256_text(" ".join(ids))
            return events.SplitEntry(digest=digest, consultations=len(ids), notes=len(labels))

        return events.PartitionEvent(
            manifest_sha256=sha256_text("manifest"),
            benchmark=events.BenchmarkEntry(
                name="made",
                version="1",
                digest=sha256_text("benchmark"),
                clean_means=self.plan.clean_means,
                public=self.plan.public,
                has_transcripts=True,
            ),
            splits={split: entry(labels) for split, labels in self.labels.items()},
            labels={
                label.id: events.NoteEntry.of(label, split)
                for split, labels in self.labels.items()
                for label in labels
            },
            planned_looks=1,
            warnings=(),
            caveats=self.plan.caveats,
        )

    def _control(self, split: str) -> None:
        labels = self.labels[split]
        counts = {label.id: self.words[label.id] for label in labels}
        self.journal.append(control_event(split, labels, counts))

    def _heldout(
        self, purpose: Purpose, block: str, skill: float, candidate: str | None = None
    ) -> tuple[ScoreTable, ...]:
        on_baseline = purpose is Purpose.BASELINE
        self.journal.append(
            LookEvent(
                look=content_id("look", purpose),
                kind=LookKind.BASELINE if on_baseline else LookKind.WINNER,
                heldout=sha256_text("heldout"),
                target=sha256_text("target"),
                block=sha256_text(block),
                settings={},
                planned_looks=1,
                exploratory=self.plan.exploratory,
                bought_by=None,
            )
        )
        tables = []
        for replicate in range(self.plan.replicates):
            scores = self._scores(block, "heldout", skill, replicate)
            self._evaluation((purpose, "heldout"), block, scores, candidate, replicate=replicate)
            tables.append(ScoreTable.of(self.labels["heldout"], scores))
        if on_baseline:
            self._control("heldout")
        return tuple(tables)

    def _evaluation(self, what, block, scores, candidate=None, iteration=0, replicate=0) -> None:
        spent = Spent(len(scores), 900 * len(scores), round(0.0004 * len(scores), 8))
        self.spent, self.judgements = self.spent + spent, self.judgements + len(scores)
        flagged = tuple(n for n, s in scores.items() if s is not None and s < 6.5)
        self.journal.append(
            events.EvaluationEvent(
                purpose=what[0],
                split=what[1],
                candidate=candidate,
                iteration=iteration,
                replicate=replicate,
                samples=1,
                block_sha256=sha256_text(block),
                frame_sha256=self.frame.sha256,
                budget=BUDGET,
                scores=scores,
                flagged=flagged if self.plan.flags else None,
                violations={n: "truncated" for n, s in scores.items() if s is None},
                facts_sha256=None,
                calls_sha256=sha256_text(f"{what} {candidate} {iteration} {replicate}"),
                spent=spent.rounded(),
            )
        )

    def _seed(self, name: str, block: str, skill: float) -> None:
        id_ = f"c{len(self.candidates):02d}"
        scores = self._scores(block, "accept", skill)
        self._evaluation((Purpose.SEED, "accept"), block, scores, id_)
        text = (block, sha256_text(block), len(block))
        table = ScoreTable.of(self.labels["accept"], scores)
        candidate = Candidate(id_, Origin.SEED, (), 0, Status.ENTERED, *text, name, accept=table)
        self._add(candidate, skill)
        self.journal.append(candidate_event(candidate, None))

    def _add(self, candidate: Candidate, skill: float) -> None:
        self.candidates.append(candidate)
        self.skill[candidate.id] = skill
        if candidate.accept is not None:
            self.frontier.add(candidate.id, scores_of(candidate))

    # -- the search ------------------------------------------------------------------------------

    def _iterate(self, iteration: int) -> None:
        seed = self.plan.seed
        labels = self._minibatch(iteration)
        first = self.frontier.draw(seed, "parent", iteration)
        others = [id_ for id_ in self.frontier.members if id_ != first]
        merging = iteration % 5 == 0 and bool(others)
        parents = [first, choice(others, seed, "second", iteration)] if merging else [first]
        by_id = {candidate.id: candidate for candidate in self.candidates}
        blocks = [by_id[id_].block or "" for id_ in parents]
        judged = []
        for id_, block in zip(parents, blocks, strict=True):
            judged.append(self._on_minibatch(labels, block, self.skill[id_]))
            self._evaluation((Purpose.PARENT, "reflect"), block, judged[-1], id_, iteration)
        proposal = self._proposal(blocks, iteration)
        self._ask(iteration, merging, blocks, proposal)
        candidate = self._proposed(iteration, merging, parents, proposal)
        candidate, comparison = self._try(candidate, proposal, labels, judged)
        self.journal.append(candidate_event(candidate, comparison))
        self.journal.append(self._iteration(candidate, labels))

    def _iteration(
        self, candidate: Candidate, labels: Sequence[NoteLabel]
    ) -> events.IterationEvent:
        if candidate.accept is not None:
            value = measures(Judged.once(candidate.accept)).paired_omissions
            self.best = max(self.best, value or 0.0)
        return events.IterationEvent(
            iteration=candidate.iteration,
            kind=candidate.kind,
            candidate=candidate.id,
            minibatch=tuple(label.id for label in labels),
            best=round(self.best, 9),
            since_best=0,
            frontier=len(self.frontier.members),
            traces_left_out=0,
            judgements=self.judgements,
            spent=self.spent.rounded(),
        )

    def _minibatch(self, iteration: int) -> list[NoteLabel]:
        names = sorted({label.consultation for label in self.labels["reflect"]})
        start = iteration * 4 % len(names)
        drawn = set((names + names)[start : start + 4])
        return [x for x in self.labels["reflect"] if x.consultation in drawn]

    def _on_minibatch(self, labels, block: str, skill: float) -> dict[str, float | None]:
        scores = self._scores(block, "reflect", skill)
        return {label.id: scores[label.id] for label in labels}

    def _proposal(self, blocks: list[str], iteration: int) -> str | None:
        """A parent with one more step; now and then nothing usable, or a repetition."""
        draw = uniform(self.plan.seed, "proposal", iteration)
        if draw < 0.08:
            return None
        lines = [line for block in blocks for line in block.splitlines()]
        if draw > 0.15:
            step = choice(STEPS, self.plan.seed, "step", iteration)
            lines.insert(1, f"{step} ({iteration})")
        if self.plan.hostile:
            lines.append(self.plan.hostile)
        return "\n".join(dict.fromkeys(lines))

    def _ask(self, iteration: int, merging: bool, blocks: list[str], block: str | None) -> None:
        stage = Stage.MERGE if merging else Stage.REFLECT
        parts = ["Improve the block.", *blocks, self.plan.clinical, self.plan.hostile, "Case 1"]
        messages = (Message("user", "\n\n".join(parts)),)
        item, pin = f"i{iteration:03d}", ModelPin("sim/reflector")
        text = "I have no idea." if block is None else f"<<<BLOCK\n{block}\nBLOCK>>>"
        reply = ChatReply(text, StopReason.STOP, Usage(900, 120), 0.0, "sim/reflector")
        self.store.put(CallSpec(stage, item, messages, pin, Budget(16_000), seed=iteration), reply)
        self.spent = self.spent + Spent(1, 1020, 0.0)

    def _proposed(self, iteration, merging, parents, block) -> Candidate:
        """The candidate as the guard leaves it: rejected with its reason, or still `minibatch`."""
        known = {c.block: c.id for c in self.candidates if c.block}
        reason, detail = "minibatch", None
        if block is None:
            reason, detail = "no_block", "no usable block after one retry"
        elif uniform(self.plan.seed, "overlap", iteration) < 0.05:
            reason, detail = "overlap", "run of 9 words, hash 00c0ffee00c0ffee"
        elif block in known:
            reason, detail = "duplicate", known[block]
        return Candidate(
            id=f"c{len(self.candidates):02d}",
            kind=Origin.MERGE if merging else Origin.MUTATION,
            parents=tuple(parents),
            iteration=iteration,
            status=Status.REJECTED,
            block=None if reason == "overlap" else block,
            sha256=None if block is None else sha256_text(block),
            length=len(block or ""),
            reason=reason,
            detail=detail,
        )

    def _try(
        self, candidate: Candidate, block, labels, judged
    ) -> tuple[Candidate, MinibatchComparison | None]:
        skill = min(0.9, max(self.skill[p] for p in candidate.parents) + self.plan.gain)
        if candidate.reason != "minibatch":
            self._add(candidate, 0.0)
            return candidate, None
        child = self._on_minibatch(labels, block, skill)
        at = candidate.iteration
        self._evaluation((Purpose.CHILD, "reflect"), block, child, candidate.id, at)
        comparison = max(
            (compare(labels, p, child, reward=self.reward, clean_weight=0.1) for p in judged),
            key=lambda c: c.parent_reward,
        )
        if MinibatchImprovement().accepts(comparison):
            scores = self._scores(block, "accept", skill)
            self._evaluation((Purpose.ACCEPT, "accept"), block, scores, candidate.id, at)
            table = ScoreTable.of(self.labels["accept"], scores)
            candidate = replace(candidate, status=Status.ENTERED, reason=None, accept=table)
        self._add(candidate, skill)
        return candidate, comparison

    # -- the decision ----------------------------------------------------------------------------

    def _end(self, baseline: tuple[ScoreTable, ...]) -> None:
        counters = events.MergeCounters(scheduled=2, built=2, accepted=1)
        ended = events.SearchEndEvent(reason=FinishReason.ITERATIONS, merges=counters)
        self.journal.append(ended)
        self._phase(Phase.WINNER)
        winner = best([c for c in self.candidates if c.accept], PairedFirst())
        accept = (_on_accept(self.candidates[0]), _on_accept(winner))
        self.journal.append(
            events.WinnerEvent(
                id=winner.id,
                kind=winner.kind,
                iteration=winner.iteration,
                sha256=winner.sha256,
                accept=events.MeasuresPair(
                    baseline=measures(accept[0]), winner=measures(accept[1])
                ),
            )
        )
        gate = self._decide(winner, accept, baseline)
        self.journal.append(gate)
        if gate.decision == "emitted":
            self._phase(Phase.EMIT)
            card = {"campaign": self.plan.name, "candidate": winner.id, "looks": 1}
            block = winner.block or ""
            emitted = emit(self.run_dir, self.plan.name, frame=self.frame, block=block, card=card)
            self.journal.append(emitted)
        self.journal.append(
            events.FinishedEvent(
                finish_reason=FinishReason.ITERATIONS,
                decision=gate.decision,
                reason=gate.reason,
                lineage_sha256=Run.of(self.journal.events).lineage_sha256,
                spent=self.spent.rounded(),
                judgements=self.judgements,
            )
        )

    def _decide(self, winner: Candidate, accept, baseline) -> events.GateEvent:
        base, best = accept
        self._phase(Phase.CONFIRM)
        if winner.kind is Origin.SEED:
            return _not_confirmed("seed_won")
        bought = pre_gate(best, base, GateSettings(), primary="paired_omissions")
        self.journal.append(events.PreGateEvent(**vars(bought)))
        if not bought.buys:
            return _not_confirmed("pre_gate")
        block = winner.block or ""
        tables = self._heldout(Purpose.CONFIRM, block, self.skill[winner.id], winner.id)
        self.journal.append(DRIFT)
        self._phase(Phase.GATE)
        ours, theirs = Judged(tables, None, best.threshold), Judged(baseline, None, base.threshold)
        decision = decide(ours, theirs, GateSettings(), primary="paired_omissions", seed=1)
        if self.plan.exploratory:
            decision = decision.refused("exploratory")
        return events.GateEvent(
            **vars(decision),
            heldout=events.HeldoutMeasures(
                baseline=measures(theirs),
                winner=measures(ours),
                looks=1,
                exploratory=self.plan.exploratory,
            ),
            drift=DRIFT,
            word_count=0.9,
            caveats=("counting words orders 0.900 of the held-out omissions rightly",),
            simulated=True,
        )


def _not_confirmed(reason: str) -> events.GateEvent:
    return events.GateEvent(
        decision="not_confirmed",
        reason=reason,
        rule="interval",
        word_count=None,
        caveats=(),
        simulated=True,
    )


def _on_accept(candidate: Candidate) -> Judged:
    assert candidate.accept is not None
    return Judged.once(candidate.accept, threshold=swept(candidate.accept).threshold)


if __name__ == "__main__":
    import sys

    make_run(Path(sys.argv[1]), Plan(iterations=int(sys.argv[2])))

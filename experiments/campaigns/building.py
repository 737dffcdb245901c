"""Building a campaign from a checked configuration: store, ledger, models, student, reflector."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass

from heldout.experiments.campaigns.examination import (
    Checked,
    budget_of,
    caps_of,
    length_cap,
    role_caps_of,
)
from heldout.experiments.campaigns.partition_event import card_facts, partition_event
from heldout.experiments.campaigns.parts import (
    acceptance_of,
    build_reflector,
    build_student,
    minibatch_of,
    objective_of,
    rule_of,
)
from heldout.experiments.runs.run_directory import RunDirectory
from heldout.gepa.campaign import Campaign, Seed
from heldout.gepa.confirmation import HeldoutJudge
from heldout.gepa.evaluation import Evaluator
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.leaving_out import LeaveOut
from heldout.gepa.record.journal import Observer, RunJournal
from heldout.gepa.record.remarks import OpenedEvent
from heldout.gepa.record.run_events import RunEvents
from heldout.gepa.reward import rank_reward
from heldout.gepa.spending import Spending, Spent
from heldout.reflectors.guard import Guard, own_texts
from heldout.reflectors.prompts import Terms
from heldout.reflectors.reflector import Reflector
from heldout.reflectors.simulated.model import simulated_models
from heldout.splits.heldout.looks import target_id
from heldout.splits.heldout.looks_file import Buyer
from heldout.splits.heldout.vault import Splits, open_splits
from heldout.students.calls.caller import Caller
from heldout.students.calls.ledger import Amount, Ledger
from heldout.students.calls.session import open_judging
from heldout.students.calls.store import CallStore
from heldout.students.models.chat import ChatModel
from heldout.students.student import Student

DRIFT = "drift"
"""Occasion of the calls of a confirmation, which are bought afresh."""


@dataclass(frozen=True)
class Session:
    """One process working on one run: what has to be closed, watched and told."""

    campaign: Campaign
    ledger: Ledger
    caller: Caller


@dataclass
class Confirmations:
    """What the confirmations still to come will cost, kept out of reach in one ledger.

    `waiting` maps campaigns of one command to the largest cost of their confirmation.
    """

    ledger: Ledger
    waiting: dict[str, Amount]

    @classmethod
    def of(cls, members: Sequence[Checked]) -> Confirmations:
        """The confirmations of campaigns that share the cap of the first."""
        amounts = {checked.config.name: checked.confirmation for checked in members}
        config = members[0].config
        return cls(Ledger(caps_of(config), role_caps=role_caps_of(config)), amounts)

    def hold(self) -> None:
        """Put what all confirmations to come may cost out of reach."""
        total = Amount()
        for amount in self.waiting.values():
            total += amount
        self.ledger.hold(total)

    def release(self, name: str) -> None:
        """Give back the part of one campaign."""
        del self.waiting[name]
        self.ledger.release()
        self.hold()


@contextmanager
def open_session(  # noqa: PLR0913
    checked: Checked,
    run: RunDirectory,
    buyer: Buyer,
    *,
    observers: tuple[Observer, ...],
    stop: Callable[[], str | None],
    first: OpenedEvent,
    confirmations: Confirmations | None = None,
    doubles: Mapping[str, ChatModel] | None = None,
) -> Iterator[Session]:
    """Open everything a campaign needs, and close it again whatever happens.

    `first` is put on record before anything else; `confirmations` are those of a family of
    campaigns under one cap; `doubles` replace simulated models by id. Raises UserFault for a store
    or a journal that cannot be used.
    """
    config = checked.config
    confirmations = confirmations or Confirmations.of([checked])
    with ExitStack() as stack:
        judging = stack.enter_context(
            open_judging(
                config.store.url or f"sqlite:///{run.store}",
                buyer.run,
                (checked.student, checked.reflector),
                simulated_models(doubles),
                ledger=confirmations.ledger,
                concurrency=config.concurrency,
                reuse=config.store.reuse,
                retry=config.retry,
                stop=stop,
            )
        )
        store, caller = judging.store, judging.caller
        journal = stack.enter_context(
            closing(RunJournal(run.journal, observers, before_write=store.sync))
        )
        journal.remark(first)
        splits = open_splits(
            checked.load,
            checked.manifest,
            journal=journal,
            buyer=buyer,
            exclude=checked.exclude,
            registry=checked.registry,
        )
        splits.register()
        campaign = _campaign(
            checked,
            run,
            confirmations,
            runner=judging.runner,
            journal=journal,
            caller=caller,
            splits=splits,
            left_out=LeaveOut.of(RunEvents.of(journal.on_record), first.left_out),
        )
        yield Session(campaign, judging.ledger, caller)


def _campaign(  # noqa: PLR0913
    checked: Checked,
    run: RunDirectory,
    confirmations: Confirmations,
    *,
    runner: asyncio.Runner,
    journal: RunJournal,
    caller: Caller,
    splits: Splits,
    left_out: LeaveOut,
) -> Campaign:
    config = checked.config
    student = build_student(config, checked.student.pin, caller)
    spending = Spending(_cost_of(caller.store))
    return Campaign(
        name=config.name,
        seed=config.seed,
        run_dir=run.path,
        reflect=splits.reflect,
        accept=tuple(note for c in splits.accept for note in c.notes),
        heldout=_heldout_judge(
            checked,
            student,
            splits,
            caller,
            runner=runner,
            journal=journal,
            spending=spending,
            left_out=left_out,
        ),
        student=student,
        budget=budget_of(config.student),
        reflector=_reflector(checked, student, caller),
        guard=_guard(checked, student, splits),
        seeds=tuple(Seed(seed.name, seed.text) for seed in config.seeds),
        baseline=config.baseline_name,
        reward=rank_reward(student.score_range),
        acceptance=acceptance_of(config),
        objective=objective_of(config),
        minibatch=minibatch_of(config),
        rule=rule_of(config),
        search=config.search,
        confirm=config.confirm,
        gate=config.gate,
        journal=journal,
        spending=spending,
        runner=runner,
        left_out=left_out,
        hold=confirmations.hold,
        release=lambda: confirmations.release(config.name),
        partition=partition_event(checked, splits),
        simulated=checked.simulated,
        facts=card_facts(checked, splits),
    )


def _reflector(checked: Checked, student: Student, caller: Caller) -> Reflector:
    """What writes rewrites, with the terms that its proposals must respect."""
    config, section = checked.config, checked.config.reflector
    cap, room = length_cap(config), section.payload_tokens
    return build_reflector(
        config,
        caller=caller,
        terms=Terms(student.frame, cap, room, layout=section.layout),
        pin=checked.reflector.pin,
        budget=budget_of(section),
    )


def _guard(checked: Checked, student: Student, splits: Splits) -> Guard:
    """What keeps texts of any split out of every proposal."""
    own = own_texts(student.frame, [seed.text for seed in checked.config.seeds])
    return Guard(student.frame, length_cap(checked.config), splits.protected(own))


def _heldout_judge(  # noqa: PLR0913
    checked: Checked,
    student: Student,
    splits: Splits,
    caller: Caller,
    *,
    runner: asyncio.Runner,
    journal: RunJournal,
    spending: Spending,
    left_out: LeaveOut,
) -> HeldoutJudge:
    config, pin = checked.config, checked.student.pin
    budget = budget_of(config.student)
    afresh = build_student(config, pin, caller, occasion=DRIFT)
    baseline = next(s.text for s in config.seeds if s.name == config.baseline_name)
    return HeldoutJudge(
        vault=splits.vault,
        settings=config.confirm,
        journal=journal,
        fresh=Evaluator(
            afresh,
            budget,
            runner,
            journal=journal,
            spending=spending,
            left_out=left_out,
            # A failure in a mere drift check leaves no figure.
            baseline=baseline if config.confirm.baseline == "concurrent" else None,
        ),
        seed=config.seed,
        score_range=student.score_range,
        target=target_of(checked),
        look_settings={
            "model": pin.id,
            "samples": config.confirm.samples,
            "replicates": config.confirm.replicates,
            "seed": config.seed,
        },
        pairs=primary_pairs(config.search.primary),
    )


def target_of(checked: Checked) -> str:
    """The digest of what is optimised: design, frame, model pin and budget."""
    config, pin = checked.config, checked.student.pin
    return target_id(
        checked.judge.design,
        checked.judge.frame.sha256,
        {"id": pin.id, "temperature": pin.temperature, "parameters": dict(pin.parameters)},
        asdict(budget_of(config.student)),
    )


def _cost_of(store: CallStore) -> Callable[[str], Spent]:
    """What one stored call cost this run; nothing if another run had bought it."""

    def cost(key: str) -> Spent:
        stored = store.get(key)
        if stored is None or stored.origin is not None:
            return Spent()
        return Spent(1, stored.reply.usage.total, stored.reply.usd)

    return cost

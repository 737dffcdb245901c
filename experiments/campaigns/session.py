"""One process at work on one run: what watches it, what it puts on record, how it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from heldout.experiments.campaigns.building import Confirmations, Session, Who, open_session
from heldout.experiments.campaigns.calls_told import calls_event
from heldout.experiments.campaigns.checks import Checked, budget_of
from heldout.experiments.campaigns.parts import digests
from heldout.experiments.campaigns.progress import Progress
from heldout.experiments.campaigns.provenance import provenance
from heldout.experiments.report.pages import write_lineage, write_report
from heldout.experiments.report.text import TextPolicy
from heldout.experiments.runs.config_file import config_digest
from heldout.experiments.runs.run_directory import RunDirectory
from heldout.experiments.runs.stopping import stop_requests
from heldout.experiments.tracking import TrackingSettings, TrackingWriter, default_uri
from heldout.gepa.campaign import Campaign
from heldout.gepa.record.events import (
    SCHEMA,
    FinishReason,
    ModelFacts,
    OpenedEvent,
    StoppedEvent,
)
from heldout.gepa.record.journal import Observer
from heldout.gepa.record.run import Run
from heldout.splits.errors import (
    CircuitOpen,
    HardCapReached,
    HeldoutError,
    InfrastructureFailure,
    StopRequested,
    StoreUnavailable,
    UserFault,
)
from heldout.students.models.chat import ChatModel


@dataclass(frozen=True)
class Options:
    """What is added to a configuration; `quiet` shows no progress, `doubles` are for tests."""

    acknowledge_reuse: bool = False
    quiet: bool = False
    doubles: Mapping[str, ChatModel] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """How a session ended: the run and its files, the error that stopped it, the exit status.

    `untracked` says in one line why MLflow did not follow; `heldout sync` makes up for it.
    """

    files: RunDirectory
    run: Run
    error: HeldoutError | None
    untracked: str | None = None

    @property
    def exit_status(self) -> int:
        """0 when the campaign finished, whatever the gate said."""
        return 0 if self.error is None else self.error.exit_status


@dataclass(frozen=True)
class Task:
    """What one session works on.

    `opening` says whether the run begins or goes on, `raised` which caps were raised for it.
    `confirmations` are shared by the campaigns of a family, None for a campaign alone.
    """

    checked: Checked
    run: RunDirectory
    who: Who
    options: Options
    opening: type[OpenedEvent] = OpenedEvent
    raised: tuple[str, ...] = ()
    confirmations: Confirmations | None = None


@dataclass
class Sitting:
    """An open session with its campaign."""

    session: Session
    campaign: Campaign
    writer: TrackingWriter | None


def work(task: Task) -> Ended:
    """Run a campaign to its decision, or to what stops it.

    Raises UserFault, put on record first, for what a person can mend.
    """
    error: HeldoutError | None = None
    with sitting(task) as open_:
        try:
            open_.campaign.run()
        except HeldoutError as stopped:
            error = stopped
        close_record(task, open_, error)
    if isinstance(error, UserFault):
        raise error
    return ended(task, open_, error)


@contextmanager
def sitting(task: Task) -> Iterator[Sitting]:
    """Open a session on a run: progress, tracking, signals, models; all closed at the end."""
    progress = Progress(task.checked.config.search.iterations)
    with ExitStack() as stack:
        observers: list[Observer] = []
        if not task.options.quiet:
            stack.enter_context(progress)
            observers.append(progress.observe)
        writer = _tracking(task.checked, task.run)
        if writer is not None:
            stack.callback(writer.close)
            observers.append(writer.observe)
        stop = stack.enter_context(stop_requests(task.run.stop_file))
        session = stack.enter_context(
            open_session(
                task.checked,
                task.run,
                task.who,
                observers=tuple(observers),
                stop=stop,
                first=_opening(task),
                confirmations=task.confirmations,
            )
        )
        progress.totals = lambda: session.ledger.totals
        yield Sitting(session, session.campaign, writer)


def close_record(task: Task, open_: Sitting, error: HeldoutError | None) -> None:
    """Put on record what the session asked of models, and why it stopped; write the report."""
    journal = open_.campaign.journal
    # A full disk takes no remark either; the error that stopped the run is told all the same.
    with suppress(StoreUnavailable):
        journal.remark(calls_event(open_.session.caller, open_.campaign))
        if error is not None:
            journal.remark(
                StoppedEvent(
                    finish_reason=_finish_reason(error),
                    exit_status=error.exit_status,
                    message=str(error),
                )
            )
    if error is None:
        write_pages(task.run)


def write_pages(run: RunDirectory) -> None:
    """The report and the lineage page. Raises StoreUnavailable; `resume` makes up for it."""
    try:
        write_report(run.path)
        write_lineage(run.path)
    except OSError as error:
        raise StoreUnavailable(str(run.report), error.strerror or str(error)) from error


def ended(task: Task, open_: Sitting, error: HeldoutError | None) -> Ended:
    """What a closed session leaves to be told."""
    failure = open_.writer.failure if open_.writer else None
    return Ended(task.run, Run.at(task.run.path), error, failure)


def _tracking(checked: Checked, run: RunDirectory) -> TrackingWriter | None:
    """What follows the run into MLflow on a thread of its own, unless it is switched off."""
    section = checked.config.tracking
    if not section.enabled:
        return None

    text = TextPolicy(text_policy(checked))
    return TrackingWriter(
        run.path, TrackingSettings(default_uri(section.uri), section.experiment, text)
    )


def _finish_reason(error: HeldoutError) -> FinishReason:
    match error:
        case HardCapReached():
            return FinishReason.HARD_CAP
        case StopRequested():
            return FinishReason.STOP_REQUESTED
        case CircuitOpen() | InfrastructureFailure():
            return FinishReason.CIRCUIT_OPEN
        case StoreUnavailable():
            return FinishReason.STORE_UNAVAILABLE
    return FinishReason.FAULT


def _opening(task: Task) -> OpenedEvent:
    """The first event of a session."""
    checked, who = task.checked, task.who
    config, student, reflector = checked.config, checked.student.pin, checked.reflector.pin
    return task.opening(
        schema=SCHEMA,
        parts=digests(config),
        run_id=who.run_id,
        name=config.name,
        seed=config.seed,
        acknowledge_reuse=who.acknowledge_reuse,
        config_sha256=config_digest(task.run.config),
        raised=task.raised,
        family=who.family,
        student=ModelFacts(
            design=config.student.design,
            model=student.id,
            temperature=student.temperature,
            parameters=dict(student.parameters),
            budget=budget_of(config.student),
        ),
        reflector=ModelFacts(
            model=reflector.id,
            temperature=reflector.temperature,
            budget=budget_of(config.reflector),
        ),
        reuse=config.store.reuse,
        tracking_text=text_policy(checked),
        simulated=checked.simulated,
        notices=checked.notices,
        **provenance(),
    )


def text_policy(checked: Checked) -> str:
    """`tracking.text`: hashes unless the benchmark declares itself public."""
    configured = checked.config.tracking.text
    public = checked.made is not None or checked.source.public
    return configured or ("full" if public else "hashes")

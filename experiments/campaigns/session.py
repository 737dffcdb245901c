"""One process at work on one run: what watches it, what it puts on record, how it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType

from heldout.experiments.campaigns.building import Confirmations, Session, open_session
from heldout.experiments.campaigns.calls_told import calls_event
from heldout.experiments.campaigns.examination import Checked, budget_of
from heldout.experiments.campaigns.first_calls import first_calls
from heldout.experiments.campaigns.parts import digests
from heldout.experiments.campaigns.progress import Progress
from heldout.experiments.campaigns.provenance import provenance
from heldout.experiments.report.pages import rendered, write_lineage, write_report
from heldout.experiments.report.text import TextPolicy
from heldout.experiments.runs.config_file import config_digest
from heldout.experiments.runs.run_directory import RunDirectory
from heldout.experiments.runs.stopping import stop_requests
from heldout.experiments.tracking import TrackingSettings, TrackingWriter, default_uri
from heldout.gepa.record.codec import Event
from heldout.gepa.record.journal import Observer
from heldout.gepa.record.kinds import SCHEMA, FinishReason
from heldout.gepa.record.remarks import ModelFacts, OpenedEvent, StoppedEvent
from heldout.gepa.record.run import RESUMABLE, Run
from heldout.splits.errors import (
    CallRefused,
    CircuitOpen,
    HardCapReached,
    HeldoutError,
    InfrastructureFailure,
    NotesUnanswered,
    StopRequested,
    StoreUnavailable,
    UserFault,
)
from heldout.splits.heldout.looks_file import Buyer
from heldout.students.models.chat import ChatModel, ModelPin, Structured


@dataclass(frozen=True)
class RunOptions:
    """How a run is driven beside its configuration; no figure depends on it.

    `quiet` shows no progress; `observers` are told of every event; `doubles` replace simulated
    models by id, for tests.
    """

    acknowledge_reuse: bool = False
    quiet: bool = False
    observers: tuple[Observer, ...] = ()
    doubles: Mapping[str, ChatModel] = field(default_factory=dict)


@dataclass(frozen=True)
class SessionResult:
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


@dataclass(frozen=True, kw_only=True)
class CampaignSession:
    """One session on one run, before it is opened.

    `buyer` is who looks at held-out: this run, with the targets declared together with its own.
    `opening` says whether the run begins or goes on, `raised` which caps were raised for it
    and `left_out` which notes may go unanswered.
    `confirmations` are shared by the campaigns of a family, None for a campaign alone.
    """

    checked: Checked
    directory: RunDirectory
    buyer: Buyer
    options: RunOptions
    opening: type[OpenedEvent] = OpenedEvent
    raised: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    confirmations: Confirmations | None = None

    def work(self) -> SessionResult:
        """Run the campaign to its decision, or to what stops it.

        Raises UserFault, put on record first, for what a person can mend; so with the error of an
        observer.
        """
        try:
            with self.open() as opened, OnRecord([opened]) as record:
                opened.answer_first(self.checked)
                opened.session.campaign.run()
        except ObserverLeft as left:
            raise left.error from None
        return opened.result(record.error)

    @contextmanager
    def open(self) -> Iterator[OpenedSession]:
        """Open progress, tracking, signals and models; all closed at the end."""
        progress = Progress(self.checked.config.search.iterations)
        with ExitStack() as stack:
            observers: list[Observer] = []
            if not self.options.quiet:
                stack.enter_context(progress)
                observers.append(progress.observe)
            writer = self._tracking()
            if writer is not None:
                stack.callback(writer.close)
                observers.append(OnceBegun(writer.observe))
            stop = stack.enter_context(stop_requests(self.directory.stop_file))
            session = stack.enter_context(
                open_session(
                    self.checked,
                    self.directory,
                    self.buyer,
                    # A person's own come last: one that fails keeps no event from the others.
                    observers=(*observers, *map(UntilItFails, self.options.observers)),
                    stop=stop,
                    first=self._first_event(),
                    confirmations=self.confirmations,
                    doubles=self.options.doubles,
                )
            )
            progress.totals = lambda: session.ledger.totals
            yield OpenedSession(session, self.directory, writer)

    def _tracking(self) -> TrackingWriter | None:
        """What follows the run into MLflow on a thread of its own, unless it is switched off."""
        section = self.checked.config.tracking
        if not section.enabled:
            return None
        text = TextPolicy(text_policy(self.checked))
        return TrackingWriter(
            self.directory.path,
            TrackingSettings(default_uri(section.uri), section.experiment, text),
        )

    def _first_event(self) -> OpenedEvent:
        checked = self.checked
        config, student, reflector = checked.config, checked.student.pin, checked.reflector.pin
        return self.opening(
            schema=SCHEMA,
            parts=digests(config),
            run_id=self.buyer.run,
            name=config.name,
            seed=config.seed,
            acknowledge_reuse=self.buyer.acknowledge_reuse,
            config_sha256=config_digest(self.directory.config),
            raised=self.raised,
            left_out=self.left_out,
            family=self.buyer.family,
            student=ModelFacts(
                design=config.student.design,
                model=student.id,
                temperature=student.temperature,
                parameters=dict(student.parameters),
                structured=structured_of(student),
                budget=budget_of(config.student),
            ),
            reflector=ModelFacts(
                model=reflector.id,
                temperature=reflector.temperature,
                structured=structured_of(reflector),
                budget=budget_of(config.reflector),
            ),
            reuse=config.store.reuse,
            tracking_text=text_policy(checked),
            simulated=checked.simulated,
            notices=checked.notices,
            **provenance(),
        )


@dataclass(frozen=True)
class OpenedSession:
    """An open session, and what is left to tell when it is closed."""

    session: Session
    directory: RunDirectory
    writer: TrackingWriter | None

    def answer_first(self, checked: Checked) -> None:
        """Have each connected model answer one call. Raises StartRefused where one refuses."""
        first_calls(checked, self.session.campaign, self.session.caller)

    def put_on_record(self, error: Exception | None) -> None:
        """Say what was asked of models, and why the session stopped; write the report."""
        journal = self.session.campaign.journal
        # A full disk takes no remark either; the error that stopped the run is told all the same.
        with suppress(StoreUnavailable):
            journal.remark(calls_event(self.session.caller, self.session.campaign))
            if error is not None:
                journal.remark(_stopped(error))
        if error is None:
            write_pages(self.directory)
            journal.remark(rendered(self.directory.path))

    def result(self, error: HeldoutError | None) -> SessionResult:
        """What a closed session leaves to be told."""
        failure = self.writer.failure if self.writer else None
        return SessionResult(self.directory, Run.at(self.directory.path), error, failure)


class OnRecord(AbstractContextManager["OnRecord"]):
    """Puts on record how open sessions ended, whatever ended them.

    Holds back what `resume` can go on from, as `error`; lets everything else through.
    """

    def __init__(self, sessions: Sequence[OpenedSession]) -> None:
        self.sessions = sessions
        self.error: HeldoutError | None = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        # A KeyboardInterrupt may have come in the middle of a line: nothing is written after it.
        # One that an observer raised has not: the line that it was told of stands.
        if isinstance(error, ObserverLeft):
            error = StopRequested(f"{type(error.error).__name__} of an observer")
        if error is None or isinstance(error, Exception):
            for session in self.sessions:
                session.put_on_record(error)
        if isinstance(error, HeldoutError) and not isinstance(error, UserFault):
            self.error = error
        return self.error is not None and kind is not ObserverLeft


class ObserverLeft(BaseException):
    """An observer raised `error`, which is to end the program; the run can be resumed."""

    def __init__(self, error: SystemExit | KeyboardInterrupt) -> None:
        self.error = error
        super().__init__(str(error))


class UntilItFails:
    """A person's observer, which is told nothing more once it has raised."""

    def __init__(self, observer: Observer) -> None:
        self._observer, self._failed = observer, False

    def __call__(self, event: Event, replayed: bool) -> None:
        """Pass one event on; its error ends the session."""
        if not self._failed:
            self._failed = True
            try:
                self._observer(event, replayed)
            except (SystemExit, KeyboardInterrupt) as error:
                raise ObserverLeft(error) from error
            self._failed = False


class OnceBegun:
    """Tells an observer nothing of a session before it has done something, then all of it.

    A start that is refused before its first event leaves nothing behind, elsewhere neither.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer, self._begun = observer, False
        self._held: list[tuple[Event, bool]] = []

    def __call__(self, event: Event, replayed: bool) -> None:
        """Pass one event on, or hold it back."""
        self._held.append((event, replayed))
        resumable = isinstance(event.body, StoppedEvent) and event.body.exit_status in RESUMABLE
        self._begun = self._begun or not event.is_remark or resumable
        if self._begun:
            held, self._held = self._held, []
            for told in held:
                self._observer(*told)


def write_pages(run: RunDirectory) -> None:
    """The report and the lineage page. Raises StoreUnavailable; `resume` makes up for it."""
    try:
        write_report(run.path)
        write_lineage(run.path)
    except OSError as error:
        raise StoreUnavailable(str(run.report), error.strerror or str(error)) from error


def _stopped(error: Exception) -> StoppedEvent:
    if isinstance(error, HeldoutError):
        reason, status, message = _finish_reason(error), error.exit_status, str(error)
    else:
        # The words of a foreign error may be words of a note, which no event holds.
        reason, status = FinishReason.FAULT, HeldoutError.exit_status
        message = f"{type(error).__module__}.{type(error).__qualname__} was raised"
    unanswered = error.notes if isinstance(error, NotesUnanswered) else None
    return StoppedEvent(
        finish_reason=reason, exit_status=status, message=message, unanswered=unanswered
    )


REASONS: Mapping[type[HeldoutError], FinishReason] = {
    HardCapReached: FinishReason.HARD_CAP,
    StopRequested: FinishReason.STOP_REQUESTED,
    NotesUnanswered: FinishReason.UNANSWERED,
    CircuitOpen: FinishReason.CIRCUIT_OPEN,
    InfrastructureFailure: FinishReason.CIRCUIT_OPEN,
    CallRefused: FinishReason.CALL_REFUSED,
    StoreUnavailable: FinishReason.STORE_UNAVAILABLE,
}
"""Why a session ended, by the class of its error; the first that fits."""


def _finish_reason(error: HeldoutError) -> FinishReason:
    fitting = (reason for kind, reason in REASONS.items() if isinstance(error, kind))
    return next(fitting, FinishReason.FAULT)


def structured_of(pin: ModelPin) -> str | None:
    """How answers of a model are structured, for the record; None where they are not."""
    return None if pin.structured is Structured.NONE else pin.structured.value


def text_policy(checked: Checked) -> str:
    """`tracking.text`: hashes unless the benchmark declares itself public."""
    configured = checked.config.tracking.text
    public = checked.made is not None or checked.source.public
    return configured or ("full" if public else "hashes")

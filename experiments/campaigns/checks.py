"""The checks of a configuration: all that can be known before anything is sent or written.

`run`, its dry run and `heldout doctor` go through one list, `BEGINNING`; a run that is continued
through `ASKING`; what only reads data and partition through `READING`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import make_url

from heldout.experiments.campaigns.examination import (
    Checked,
    Examination,
    caps_of,
    length_cap,
)
from heldout.experiments.campaigns.parts import check_own_parts, minibatch_of
from heldout.experiments.checking.checklist import Check, demand, refuse
from heldout.experiments.checking.models import MODEL_CHECKS
from heldout.experiments.runs.config import Config
from heldout.experiments.runs.run_directory import RunDirectory, is_free, resolved
from heldout.gepa.minibatch import ConsultationFirst
from heldout.reflectors.guard import Guard
from heldout.reflectors.simulated.model import MODEL_ID, habits_of
from heldout.splits.errors import BadInput, Fault, LooksSpent
from heldout.splits.heldout.looks_file import Buyer
from heldout.splits.heldout.vault import looks_file
from heldout.splits.protected import ProtectedTexts
from heldout.students.calls.database import connect, has_password, opening
from heldout.students.models.pins_file import parameter_faults
from heldout.students.simulated import JUDGE_ID
from heldout.students.simulated.effects import Scale

Campaign = Check[Examination]


def check(
    config: Config,
    run: RunDirectory,
    checks: Sequence[Campaign] | None = None,
    buyer: Buyer | None = None,
) -> Checked:
    """Check `config` for a run in `run` by `checks`, by default those of data and partition.

    Raises BadInput with every fault, LooksSpent where that alone is wrong; writes nothing.
    """
    examination = Examination(config, run, buyer)
    demand(examination, READING if checks is None else checks)
    return examination.checked()


# -- the configuration itself ----------------------------------------------------------------------


def _secrets(found: Examination) -> str:
    """Keys and passwords in the configuration, which is copied to the run and to MLflow."""
    refuse(_secret_faults(found.config))
    return "none stand in the configuration"


def _secret_faults(config: Config) -> Iterator[Fault]:
    for name, section in (("student", config.student), ("reflector", config.reflector)):
        yield from parameter_faults(section.parameters, name)
    if config.store.url is not None and has_password(config.store.url):
        message = "holds a password; keep it in PGPASSWORD or in a password file"
        yield Fault("store.url", message)


def _parts(found: Examination) -> str:
    check_own_parts(found.config)
    return "built in, or as their contracts want them"


def _judge(found: Examination) -> str:
    _secrets(found)  # what no model may be given is no parameter to be looked up
    if found.student.pin.id == JUDGE_ID:
        Scale.of(found.student.pin.parameters)
    if found.reflector.pin.id == MODEL_ID:
        habits_of(found.reflector.pin.parameters)
    judge = found.judge
    return f"{judge.design}, {judge.calls_per_judgement} calls a judgement at most"


def _seeds(found: Examination) -> str:
    """Seeds that the guard would not let through: every rewrite of them would be rejected too."""
    guard = Guard(found.judge.frame, length_cap(found.config), ProtectedTexts())
    seeds = found.config.seeds
    rejections = ((seed, guard.check(seed.text, {}, ())) for seed in seeds)
    refuse(
        Fault(f"seeds: {seed.name}", f"is no usable block ({why.reason}: {why.detail})")
        for seed, why in rejections
        if why is not None
    )
    return ", ".join(seed.name for seed in seeds)


# -- data and partition ----------------------------------------------------------------------------


def _data(found: Examination) -> str:
    benchmark = found.loaded.benchmark
    notes = sum(len(consultation.notes) for consultation in benchmark)
    return f"{len(benchmark.by_id)} consultations, {notes} notes"


def _partition(found: Examination) -> str:
    asked, partition = found.config.partition, found.partition
    frozen = partition.planned_looks
    if "planned_looks" in asked.model_fields_set and asked.planned_looks != frozen:
        message = f"{asked.planned_looks} is not what the frozen manifest plans ({frozen})"
        raise BadInput.one("partition.planned_looks", message)
    state = "frozen" if found.data.manifest.exists() else "to be drawn"
    sizes = ", ".join(f"{name} {len(ids)}" for name, ids in partition.splits.items())
    return f"{state}: {sizes}"


def _minibatch(found: Examination) -> str:
    drawn = minibatch_of(found.config)
    if not isinstance(drawn, ConsultationFirst):
        return f"at most {drawn.largest} notes"
    by_id = found.loaded.benchmark.by_id
    usable = sum(bool(by_id[name].errored) for name in found.partition.splits["reflect"])
    # The default is no wish: a small reflect set gives what it has.
    if drawn.consultations > max(usable, ConsultationFirst().consultations):
        message = f"{drawn.consultations} is more than the {usable} consultations of reflect"
        raise BadInput.one("search.minibatch_consultations", f"{message} that have errored notes")
    many = min(drawn.consultations, usable)
    return f"{many} of {usable} consultations, at most {drawn.largest} notes"


def _looks(found: Examination) -> str:
    planned = found.partition.planned_looks
    if found.buyer is None:
        return f"{planned} planned"
    data = found.data
    looks = looks_file(data.manifest, found.partition, found.loaded.benchmark, data.registry)
    standing = looks.standing(found.buyer)
    if standing.spent and not found.buyer.acknowledge_reuse:
        opened_by = (*standing.others, *standing.elsewhere)
        raise LooksSpent(str(data.manifest), opened_by, standing.planned)
    seen = "".join(f"; {line}" for line in looks.seen(found.buyer).sentences)
    return f"{standing.used} of {standing.planned} used{seen}"


# -- budget and files ------------------------------------------------------------------------------


def _caps(found: Examination) -> str:
    """The baseline before the search and the confirmation, winner and baseline, must fit."""
    caps, needed = caps_of(found.config), found.heldout_judging + found.confirmation
    limits: Mapping[str, tuple[float | None, float]] = {
        "usd": (caps.usd, needed.usd),
        "calls": (caps.calls, needed.calls),
        "tokens": (caps.tokens, needed.tokens),
    }
    refuse(
        Fault(
            f"budget.{name}",
            f"{cap:g} cannot pay for the held-out baseline and the confirmation, "
            f"which may take {need:g}; raise it, or lower confirm.samples or confirm.replicates",
        )
        for name, (cap, need) in limits.items()
        if cap is not None and need > cap
    )
    set_ = [f"{name} {cap:g}" for name, (cap, _) in limits.items() if cap is not None]
    return ", ".join(set_) or "none"


def _folder(found: Examination) -> str:
    """A run goes into a folder that is free, and can be made and written."""
    path = resolved(found.run.path)
    if path.exists() and not is_free(path):
        message = "already exists; continue it with resume, or give another run directory"
        raise BadInput.one(str(found.run.path), message)
    writable(path)
    manifest = found.config.partition.manifest
    if manifest is not None and not manifest.exists():
        writable(manifest.parent)
    return str(found.run.path)


def writable(path: Path) -> None:
    """Raise BadInput where the folder `path` cannot be made or written; nothing is made."""
    there = next(folder for folder in (path, *path.parents) if folder.exists())
    if not there.is_dir():
        raise BadInput.one(str(path), f"cannot be made ({there} is a file)")
    if not os.access(there, os.W_OK | os.X_OK):
        raise BadInput.one(str(path), f"cannot be made ({there} may not be written)")


def _store(found: Examination) -> str:
    """A call store elsewhere can be reached; that of the run lies in its folder."""
    section = found.config.store
    if section.url is None:
        if section.reuse == "replay":
            message = "replay uses calls that are stored; name their store as store.url"
            raise BadInput.one("store.reuse", message)
        return "calls.sqlite in the run directory"
    _secrets(found)  # an address that may not be written down is not tried either
    with opening(section.url):
        url = make_url(section.url)
        if url.get_backend_name() == "postgresql" and find_spec("psycopg") is None:
            raise BadInput.one("store.url", "needs the package psycopg (the extra postgres)")
        file = Path(url.database or "") if url.get_backend_name() == "sqlite" else None
        if file is not None and not file.exists():
            writable(resolved(file.parent))
            if not file.parent.is_dir():
                raise BadInput.one("store.url", f"{file.parent} is no folder")
        else:
            connect(section.url).close()
    return "can be reached"


MODELS, DOORS, KEYS, TAKEN, PRICES = MODEL_CHECKS
SECRETS = Check("secrets", _secrets, "take the key out; name the variable that holds it in key_env")
PARTS = Check("parts", _parts, "mend the part; heldout.testing says what it has to do")
JUDGE = Check("judge", _judge, "heldout parts lists the designs, docs/simulation.md the parameters")
SEEDS = Check("seeds", _seeds, "shorten or reword the seed block as said")
DATA = Check("data", _data, "mend the file, or name another one; docs/data.md has the layouts")
PARTITION = Check("partition", _partition, "draw a new partition, or change its shares or its data")
CAPS = Check("caps", _caps, "raise the cap, or judge fewer notes, samples or replicates")
MINIBATCH = Check("minibatch", _minibatch, "draw fewer consultations, or add some to reflect")
LOOKS = Check(
    "looks",
    _looks,
    "judge notes nobody looked at, or go on: --acknowledge-reuse",
)
FOLDER = Check("run directory", _folder, "give another run directory, or mend its permissions")
STORE = Check("call store", _store, "start the database, or mend store.url")

READING: tuple[Campaign, ...] = (
    SECRETS, MODELS, PRICES, PARTS, JUDGE, SEEDS, DATA, PARTITION, CAPS
)  # fmt: skip
"""What is known from configuration, pins and data: enough to plan, to split, to check a store."""

ASKING: tuple[Campaign, ...] = (*READING, DOORS, KEYS, TAKEN)
"""The same, and that the models can be asked: for a run that goes on."""

PLANNING: tuple[Campaign, ...] = (*READING, MINIBATCH, FOLDER)
"""What a new run can be planned with, before it is known that its models can be asked."""

STARTING: tuple[Campaign, ...] = (DOORS, LOOKS, STORE)
"""What a planned run needs beside. Keys and what its models take are looked up once it is on
record: that may load a library for seconds."""

BEGINNING: tuple[Campaign, ...] = (
    SECRETS, MODELS, DOORS, KEYS, TAKEN, PRICES, PARTS, JUDGE, SEEDS, DATA, PARTITION, MINIBATCH,
    CAPS, LOOKS, FOLDER, STORE,
)  # fmt: skip
"""All of it, in the order in which a person reads it."""

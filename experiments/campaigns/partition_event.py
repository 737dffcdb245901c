"""What a campaign says of its data and models: the partition event, the card, the caveats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.experiments.campaigns.examination import Checked
from heldout.gepa.record.events import BenchmarkEntry, NoteEntry, PartitionEvent, SplitEntry
from heldout.gepa.record.summary import SIMULATED
from heldout.splits.benchmark import CleanMeans
from heldout.splits.heldout.vault import Splits
from heldout.students.models.chat import ModelPin

RECORDED = {SIMULATED: "the models are simulated: no figure here is about a real model"}
"""Words as they stand in journals on record, which a resumed run compares with its own."""


def partition_event(checked: Checked, splits: Splits) -> PartitionEvent:
    """The partition event: digests, labels by note id, warnings; no text."""
    partition, facts = splits.partition, splits.benchmark
    labels = {
        "reflect": [note.label for c in splits.reflect for note in c.notes],
        "accept": [note.label for c in splits.accept for note in c.notes],
        "heldout": list(splits.vault.labels),
    }
    return PartitionEvent(
        manifest_sha256=partition.sha256,
        benchmark=BenchmarkEntry(
            name=facts.name,
            version=facts.version,
            digest=facts.sha256,
            clean_means=facts.clean_means,
            public=facts.public,
            has_transcripts=facts.has_transcripts,
        ),
        splits={
            name: SplitEntry(
                digest=partition.split_sha256[name],
                consultations=len(partition.splits[name]),
                notes=len(found),
            )
            for name, found in labels.items()
        },
        labels={
            label.id: NoteEntry.of(label, name) for name, found in labels.items() for label in found
        },
        planned_looks=partition.planned_looks,
        warnings=tuple(partition.warnings),
        caveats=tuple(caveats(checked, splits)),
        seen_before=splits.vault.seen.sentences,
    )


def caveats(checked: Checked, splits: Splits) -> list[str]:
    """What the figures of this run do not show, from the facts known before its first call."""
    partition = splits.partition
    consultations = sum(len(ids) for ids in partition.splits.values())
    heldout = len(partition.splits["heldout"])
    lines = [
        f"{consultations} consultations, {heldout} of them held out, resolve little: "
        "differences of a few points cannot be told from none"
    ]
    if splits.benchmark.clean_means == CleanMeans.UNEDITED:
        lines.append(
            "the clean notes are unedited, not verified: a flag on one may be right, "
            "so flags on unedited notes are not false alarms and say nothing of specificity"
        )
    if checked.simulated_words:
        lines.append(RECORDED.get(checked.simulated_words, checked.simulated_words))
    lines.extend(checked.escaped)
    return lines


def card_facts(checked: Checked, splits: Splits) -> Mapping[str, Any]:
    """What stands on the card of an emitted prompt whatever was found: design, models, digests."""
    config = checked.config
    return {
        "design": config.student.design,
        "models": {
            "student": _model_facts(checked.student.pin),
            "reflector": _model_facts(checked.reflector.pin),
        },
        "samples": config.confirm.samples,
        "replicates": config.confirm.replicates,
        "simulated": checked.simulated,
        "partition_sha256": splits.partition.sha256,
        "data_sha256": splits.benchmark.sha256,
        "clean_means": splits.benchmark.clean_means,
    }


def _model_facts(pin: ModelPin) -> dict[str, Any]:
    return {"id": pin.id, "temperature": pin.temperature, "parameters": dict(pin.parameters)}

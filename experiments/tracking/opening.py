"""The lazy edge: MLflow takes more than a second to import, so only a use of it pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.experiments.tracking.settings import TrackingSettings

if TYPE_CHECKING:
    from heldout.experiments.tracking.door import Door


def open_door(settings: TrackingSettings) -> Door:
    """The store that `settings` name, met for the first time. Raises TrackingFailed."""
    from heldout.experiments.tracking.door import Door  # noqa: PLC0415

    return Door(settings)

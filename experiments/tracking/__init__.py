"""MLflow as a projection of the journal; see `heldout.experiments.tracking.door` for the door."""

from heldout.experiments.tracking.content import Counts, TrackingFailed
from heldout.experiments.tracking.settings import TrackingSettings
from heldout.experiments.tracking.syncing import default_uri, settings_of, sync
from heldout.experiments.tracking.writer import TrackingWriter

__all__ = [
    "Counts",
    "TrackingFailed",
    "TrackingSettings",
    "TrackingWriter",
    "default_uri",
    "settings_of",
    "sync",
]

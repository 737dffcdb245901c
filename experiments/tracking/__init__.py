"""MLflow as a projection of the journal; see `heldout.experiments.tracking.door` for the door."""

from heldout.experiments.tracking.content import Counts, TrackingFailed
from heldout.experiments.tracking.settings import TrackingSettings, set_environment
from heldout.experiments.tracking.syncing import Synced, default_uri, settings_of, sync
from heldout.experiments.tracking.ui import OpenUi, open_ui
from heldout.experiments.tracking.writer import TrackingWriter

__all__ = [
    "Counts",
    "OpenUi",
    "Synced",
    "TrackingFailed",
    "TrackingSettings",
    "TrackingWriter",
    "default_uri",
    "open_ui",
    "settings_of",
    "sync",
]

# Here, because whoever reaches the door comes through this package first, and MLflow reads some of
# it while it is imported.
set_environment()

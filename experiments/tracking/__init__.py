"""MLflow as a projection of the journal: `campaign_run` and `candidate_run` say what is logged."""

from heldout.experiments.tracking.content import SyncCounts, TrackingFailed
from heldout.experiments.tracking.settings import TrackingSettings, default_uri, set_environment
from heldout.experiments.tracking.syncing import OpenUi, SyncResult, open_ui, sync
from heldout.experiments.tracking.writer import TrackingWriter

__all__ = [
    "OpenUi",
    "SyncCounts",
    "SyncResult",
    "TrackingFailed",
    "TrackingSettings",
    "TrackingWriter",
    "default_uri",
    "open_ui",
    "sync",
]

# Here, because whoever reaches the client comes through this package first, and MLflow reads some
# of it while it is imported.
set_environment()

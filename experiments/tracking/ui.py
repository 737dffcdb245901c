"""What a reviewer opens: the preset view of the run table, and a server to open it on.

The view has the columns that a reviewer needs, in the order of the lineage. MLflow keeps a shared
view as a tag of the experiment and opens it by a key in the address. The format is not documented;
a browser test opens one.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from heldout.experiments.tracking.content import RUN_TAG, TAG
from heldout.experiments.tracking.settings import ENVIRONMENT, absolute_uri, artifact_root
from heldout.gepa.record.run import Run
from heldout.splits.hashing import sha256_json

if TYPE_CHECKING:
    from heldout.experiments.tracking.client import TrackingClient

COLUMNS = (
    "attributes.`Run Name`",
    f"tags.`{TAG}status`",
    f"tags.`{TAG}reason`",
    "metrics.`accept/paired_omissions`",
    "metrics.`reflect/reward_change`",
    "metrics.`reflect/separation_change`",
    "metrics.`heldout/difference_estimate`",
    "metrics.`heldout/difference_low`",
    f"tags.`{TAG}frontier_leads`",
    f"tags.`{TAG}decision`",
)
VIEW_TAG = "mlflow.sharedViewState."

HOST = "127.0.0.1"
SERVER_ENVIRONMENT = {
    **ENVIRONMENT,
    # Seven processes for jobs that nobody starts here.
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}


def save_view(client: TrackingClient, run: Run) -> str:
    """Store the view of one run; returns what follows the server in the address that opens it."""
    state = {
        "searchFilter": f"tags.`{RUN_TAG}` = '{run.run_id}'",
        "orderByKey": "attributes.start_time",
        "orderByAsc": True,
        "selectedColumns": list(COLUMNS),
    }
    key = f"heldout-{sha256_json(state)[:16]}"
    made = run.moment(run.events[0]).time_ms
    name, text = f"{run.name}: lineage", json.dumps(state)
    view = {"name": name, "createdAt": made, "updatedAt": made, "state": text}
    client.tag_experiment(f"{VIEW_TAG}{key}", json.dumps(view))
    page = f"/#/experiments/{client.experiment_id}/runs"
    return f"{page}?workflowType=machine_learning&viewStateShareKey={key}"


def server_command(uri: str, port: int) -> tuple[str, ...]:
    """`mlflow server` on a SQLite store, reachable from this machine only."""
    root = artifact_root(uri)
    options = {
        "--backend-store-uri": absolute_uri(uri),
        "--artifacts-destination": root.as_uri() if root is not None else "",
        "--host": HOST,
        "--port": str(port),
        "--workers": "1",
    }
    words = (word for option in options.items() for word in option)
    return (sys.executable, "-m", "mlflow", "server", *words)

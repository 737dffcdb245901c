"""The preset view of the run table: the columns a reviewer needs, in the order of the lineage.

MLflow keeps a shared view as a tag of the experiment and opens it by a key in the address. The
format is not documented; a browser test opens one.
"""

from __future__ import annotations

import json

from heldout.experiments.report.view import RunView, milliseconds
from heldout.experiments.tracking.content import RUN_TAG, TAG
from heldout.experiments.tracking.projection import Projection
from heldout.splits.hashing import sha256_json

VIEW_TAG = "mlflow.sharedViewState."

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


def save_view(projection: Projection, view: RunView) -> str:
    """Store the view of one run, unless it is there; returns its key."""
    state = {
        "searchFilter": f"tags.`{RUN_TAG}` = '{view.run_id}'",
        "orderByKey": "attributes.start_time",
        "orderByAsc": True,
        "selectedColumns": list(COLUMNS),
    }
    key = f"heldout-{sha256_json(state)[:16]}"
    made = milliseconds(view.events[0].time)
    value = json.dumps(
        {
            "name": f"{view.name}: lineage",
            "createdAt": made,
            "updatedAt": made,
            "state": json.dumps(state),
        }
    )
    tag = f"{VIEW_TAG}{key}"
    if projection.door.experiment_tag(tag) != value:
        projection.door.set_experiment_tag(tag, value)
    return key


def view_fragment(experiment_id: str, key: str) -> str:
    """The part of the address after the server's that opens a saved view."""
    return (
        f"/#/experiments/{experiment_id}/runs?workflowType=machine_learning&viewStateShareKey={key}"
    )

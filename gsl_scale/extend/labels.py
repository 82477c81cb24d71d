"""Labels of new nodes, for evaluation only: in the classes of the run, and for testing unless a
split says otherwise."""

import numpy as np
import pyarrow as pa

from gsl_scale.config_data import TablesData
from gsl_scale.ingest.ids import IdLookup
from gsl_scale.ingest.label_files import Labels, open_labels
from gsl_scale.ingest.source import Source, labels_table
from gsl_scale.store.artifact import Artifact


def new_labels(tables: TablesData, source: Source, lookup: IdLookup) -> Labels | None:
    """From a file of their own or from a column of the features; None: there are none."""
    if tables.labels is not None:
        return open_labels(tables, lookup, source.num_nodes)
    if source.labels is None:
        return None
    table = pa.concat_tables(source.labels())
    split = np.array(table["split"].fill_null("").to_pylist(), dtype="<U5")
    label = table["label"].fill_null(-1).to_numpy()
    return Labels(label, split if tables.split_column else None, source.facts["classes"])


def joined_labels(
    data: Artifact, new: Labels | None, count: int
) -> tuple[pa.Table | None, list[str]]:
    """Of all nodes, and the classes: those of the run, then those that only new nodes have."""
    first = data.manifest.num_nodes
    old = data.columns("labels") if "labels" in data else None
    if old is None and new is None:
        return None, []
    if old is None:
        old = labels_table(np.full(first, -1), None)
    classes = data.manifest.facts.get("classes")
    if classes is None:  # of data whose classes have numbers and no names
        highest = old["label"].fill_null(-1).to_numpy().max(initial=-1)
        classes = [str(number) for number in range(highest + 1)]
    if new is None:
        return pa.concat_tables([old, labels_table(np.full(count, -1), None)]), classes
    classes = [*classes, *(name for name in new.classes if name not in classes)]
    number = np.array([classes.index(name) for name in new.classes] or [-1], np.int64)
    label = np.where(new.label < 0, -1, number[new.label])
    split = new.split
    if split is None:
        split = np.where(label < 0, "", "test")
    return pa.concat_tables([old, labels_table(label, split)]), classes

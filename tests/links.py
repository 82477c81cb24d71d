"""A matrix as a link table on disk."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from gsl_scale.store import Artifact, Draft, ShardPlan
from gsl_scale.store.links import LinkTable, Rows, link_tables, write_links


def linked(matrix: sp.csr_matrix, folder: Path, shards: int = 3) -> LinkTable:
    plan = ShardPlan(matrix.shape[0], shards)
    with Draft(folder, "graph", plan) as draft:
        parts = []
        for shard, start, stop in plan:
            some = matrix[start:stop]
            some.sort_indices()
            counts = np.diff(some.indptr).astype(np.int64)
            rows = Rows(counts, some.indices.astype(np.int64), some.data)
            parts.append(write_links(draft, shard, rows))
        for name, table in link_tables(parts).items():
            draft.add_table(name, table)
        draft.publish()
    return LinkTable(Artifact.open(folder))

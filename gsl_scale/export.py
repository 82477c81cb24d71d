"""The learned graph as an edge store: S after the last step, without augmentation.

One shard at a time: its nodes' candidates (and given edges), their weights, and a shuffle that
brings both directions of an edge together. An edge found from both ends has the full weight
ReLU(cos), one found from one end half of it (Eq. 7). Weights lie in [0, 1]; self-loops are not
written (see `graph/weighted.py` for the rule).
"""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gsl_scale import progress
from gsl_scale.config import Config, depends_on
from gsl_scale.knn.search import search_knn
from gsl_scale.preset import Shape, resolve
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import EdgeShuffle
from gsl_scale.store.manifest import Manifest
from gsl_scale.store.nodes import write_columns

KIND = "graph"
_EDGES_AT_ONCE = 65_536


def export_stage(config: Config, data: Artifact, learned: Artifact, folder: Path) -> Manifest:
    knn = resolve(config, Shape.of(data)).knn
    embeddings = learned.nodes("embeddings")
    given = data.edges() if config.knn.keep_given and "edges" in data else None
    parents = {"data": data.manifest.content, "embeddings": learned.manifest.content}
    plan = data.manifest.plan
    with Draft(folder, KIND, plan, depends_on(config, ["knn"]), parents) as draft:
        candidates = draft.scratch() / "candidates"
        search_knn(learned, candidates, knn, config.run, config={}, table="embeddings")
        found = Artifact.open(candidates).edges()
        shuffle = EdgeShuffle(draft, mirror=True, merge="sum")
        with progress.track("export", plan.num_nodes) as advance:
            for _, start, stop in plan:
                for at in range(start, stop, config.run.batch):
                    end = min(at + config.run.batch, stop)
                    src, dst, _ = found.read(at, end)
                    if given is not None:
                        src, dst = _joined(src, dst, given.read(at, end)[:2], plan.num_nodes)
                    weight = cosine(embeddings, src, dst) * np.float32(0.5)
                    kept = weight > 0
                    shuffle.append(src[kept], dst[kept], weight[kept])
                    advance(end - at)
        draft.add_table("edges", shuffle.finish())
        if "ids" in data:
            draft.add_table("ids", write_columns(draft, "ids", [data.columns("ids")]))
        draft.facts = {"k": knn.k, "edges": shuffle.counts.stored // 2}
        return draft.publish()


def _joined(
    src: npt.NDArray[np.int64],
    dst: npt.NDArray[np.int64],
    more: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    num_nodes: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The union of two sets of edges."""
    keys = np.union1d(src * num_nodes + dst, more[0] * num_nodes + more[1])
    joined_src, joined_dst = np.divmod(keys, num_nodes)
    return joined_src, joined_dst


class HasRows(Protocol):
    def rows(self, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.floating[Any]]: ...


def cosine(
    rows: HasRows, src: npt.NDArray[np.int64], dst: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """ReLU of the cosine of each pair, reading only the rows that are needed."""
    out = np.empty(len(src), np.float32)
    for at in range(0, len(src), _EDGES_AT_ONCE):
        cut = slice(at, at + _EDGES_AT_ONCE)
        a, b = rows.rows(src[cut]), rows.rows(dst[cut])
        length = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        out[cut] = np.einsum("ij,ij->i", a, b) / np.where(length > 0, length, 1.0)
    return np.clip(out, 0.0, 1.0)

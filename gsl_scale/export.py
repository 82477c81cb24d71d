"""The learned graph as an edge store: S after the last step, without augmentation.

One shard at a time: its nodes' candidates (and given edges), their weights, and a shuffle that
brings both directions of an edge together. An edge found from both ends has the full weight
ReLU(cos), one found from one end half of it (Eq. 7). Where given edges are kept (`export.given`),
they have weight 1 and others a share of theirs. Weights lie in [0, 1]; self-loops are not written
(see `graph/weighted.py` for the rule).
"""

from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gsl_scale import progress
from gsl_scale.config import Config, Export, depends_on
from gsl_scale.knn.search import search_knn
from gsl_scale.preset import Shape, resolve
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import Edges, EdgeShuffle
from gsl_scale.store.manifest import Manifest
from gsl_scale.store.nodes import write_columns

KIND = "graph"
BLOCKS = ("knn", "export")
_EDGES_AT_ONCE = 65_536


def export_stage(config: Config, data: Artifact, learned: Artifact, folder: Path) -> Manifest:
    settings = resolve(config, Shape.of(data))
    knn = settings.knn
    embeddings = learned.nodes("embeddings")
    given = data.edges() if config.knn.keep_given and "edges" in data else None
    parents = {"data": data.manifest.content, "embeddings": learned.manifest.content}
    plan = data.manifest.plan
    with Draft(folder, KIND, plan, depends_on(config, BLOCKS), parents) as draft:
        if "candidates" in learned:  # training ended with a search
            found = learned.edges("candidates")
        else:
            candidates = draft.scratch() / "candidates"
            search_knn(learned, candidates, knn, config.run, config={}, table="embeddings")
            found = Artifact.open(candidates).edges()
        shuffle = EdgeShuffle(draft, mirror=True, merge="sum")
        with progress.track("export", plan.num_nodes) as advance:
            for _, start, stop in plan:
                for at in range(start, stop, config.run.batch):
                    end = min(at + config.run.batch, stop)
                    pairs = Pairs.of(found.read(at, end), plan.num_nodes)
                    if given is not None:
                        pairs = pairs.with_given(Pairs.of(given.read(at, end), plan.num_nodes))
                    shuffle.append(*halves(embeddings, pairs, settings.export))
                    advance(end - at)
        draft.add_table("edges", shuffle.finish())
        if "ids" in data:
            draft.add_table("ids", write_columns(draft, "ids", [data.columns("ids")]))
        draft.facts = {
            "k": knn.k,
            "edges": shuffle.counts.stored // 2,
            "export": settings.export.model_dump(mode="json"),
        }
        return draft.publish()


class Pairs(NamedTuple):
    """Candidates, no two the same, and which of them are given edges."""

    keys: npt.NDArray[np.int64]  # src * num_nodes + dst
    num_nodes: int
    is_given: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, edges: Edges, num_nodes: int) -> "Pairs":
        return cls(edges.src * num_nodes + edges.dst, num_nodes)

    def with_given(self, given: "Pairs") -> "Pairs":
        keys = np.union1d(self.keys, given.keys)
        return Pairs(keys, self.num_nodes, np.isin(keys, given.keys, assume_unique=True))


class HasRows(Protocol):
    def rows(self, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.floating[Any]]: ...


def halves(rows: HasRows, pairs: Pairs, settings: Export) -> Edges:
    """What one end says of the weights, where it is not nothing; as much is said by the other."""
    src, dst = np.divmod(pairs.keys, pairs.num_nodes)
    learned = cosine(rows, src, dst)
    weight = learned * np.float32(settings.share_of_new)
    if pairs.is_given is not None:
        there = np.float32(1.0) if settings.given == "kept" else learned
        weight = np.where(pairs.is_given, there, weight)
    heavy = weight > 0
    return Edges(src[heavy], dst[heavy], weight[heavy] * np.float32(0.5))


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

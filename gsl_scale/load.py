"""`load_graph`: a graph that lies on disk, for those who go on with another library.

    from gsl_scale import load_graph

    graph = load_graph("runs/people", top_k=10)
    graph.to_networkx().neighbors("ann")

Nothing is read before it is asked for, and torch, DGL, PyG, networkx and pandas are imported by the
method that needs them. Checksums are verified on every read.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from gsl_scale.errors import NotAStoreError, StaleArtifactError
from gsl_scale.remote.places import bring_beside, local_copy
from gsl_scale.selection import Selection, select
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.edges import Edges
from gsl_scale.store.manifest import FILE_NAME
from gsl_scale.store.matrix import edges_matrix
from gsl_scale.store.nodes import NodeTable

if TYPE_CHECKING:
    import pandas as pd
    import torch

# Node tables, and the artifact of a run that holds each.
NODE_TABLES = {"features": "data", "embeddings": "embeddings", "representations": "embeddings"}


def load_graph(
    folder: str | Path, *, top_k: int | None = None, threshold: float | None = None
) -> "StoredGraph":
    """Open a graph that gsl-scale wrote.

    Args:
        folder: a run folder (its learned graph is meant), or an artifact with edges: `RUN/graph`,
            `RUN/knn` (candidates), `RUN/data` (the given graph). Or the URI of one (s3://, gs://),
            which is brought here and verified first.
        top_k: keep an edge only if it is among the `top_k` heaviest of either of its ends (for
            candidates: of the node it belongs to).
        threshold: keep an edge only if its weight is at least this.

    Returns:
        A `StoredGraph`. Edges are read when one of its methods asks for them.

    Raises:
        NotAStoreError: there is no graph at `folder`.
        UserError: `top_k` or `threshold` cannot be meant.
    """
    artifact = open_graph(local_copy(folder, ["graph"]))
    return StoredGraph(artifact, Selection(top_k, threshold))


def open_graph(folder: Path) -> Artifact:
    """The artifact with edges that is meant by a path: itself, or the learned graph of a run."""
    if not (folder / FILE_NAME).exists():
        if (folder / "graph" / FILE_NAME).exists():
            return Artifact.open(folder / "graph")
        if folder.name == "edges" and (folder.parent / FILE_NAME).exists():
            return Artifact.open(folder.parent)
        if (folder / "config.yaml").exists():
            there = [name for name in ("knn", "data") if (folder / name / FILE_NAME).exists()]
            raise NotAStoreError(
                f"{folder} is a run without a learned graph.",
                f"It has: {', '.join(there) or 'no complete artifact'}.",
                f"Finish it with gsl-scale run {folder / 'config.yaml'} --out {folder}"
                + (f", or give {folder / there[0]}." if there else "."),
            )
    return Artifact.open(folder)


class StoredGraph:
    """A graph on disk: how large it is, what its nodes are called, and ways to read it.

    Nodes are numbered 0 .. num_nodes-1; `ids[i]` is what the user calls node i. An undirected graph
    holds both directions of every edge, as adjacency matrices do.
    """

    def __init__(self, artifact: Artifact, selection: Selection = Selection()) -> None:  # noqa: B008
        artifact.edges()  # refuses an artifact without edges at once
        self.artifact, self.selection = artifact, selection

    def __repr__(self) -> str:
        facts = [
            f"{self.num_nodes:,} nodes",
            f"{self._stored:,} {'' if self.undirected else 'directed '}edges",
        ]
        if self.selection.top_k is not None:
            facts.append(f"the {self.selection.top_k} heaviest of each node")
        if self.selection.threshold is not None:
            facts.append(f"weight at least {self.selection.threshold:g}")
        return f"<StoredGraph {self.artifact.folder}: {', '.join(facts)}>"

    @property
    def num_nodes(self) -> int:
        """How many nodes there are, those without an edge included."""
        return self.artifact.manifest.num_nodes

    @property
    def undirected(self) -> bool:
        """Whether both directions of every edge are there; candidates have only their own."""
        return self.artifact.manifest.kind != "candidates"

    @property
    def _stored(self) -> int:
        rows = len(self.artifact.edges())
        return rows // 2 if self.undirected else rows

    @cached_property
    def num_edges(self) -> int:
        """How many edges there are; the two directions of one count once. With `top_k` or
        `threshold` the edges are read to be counted."""
        if self.selection.everything:
            return self._stored
        rows = sum(len(edges.src) for edges in self.blocks())
        return rows // 2 if self.undirected else rows

    @property
    def has_own_ids(self) -> bool:
        """Whether nodes have names of the user's; otherwise they are called by their number."""
        return "ids" in self.artifact

    @cached_property
    def arrow_ids(self) -> pa.Array:
        """What the user calls each node, as Arrow: string or int64."""
        if self.has_own_ids:
            return self.artifact.columns("ids")["id"].combine_chunks()
        return pa.array(np.arange(self.num_nodes))

    @property
    def ids(self) -> npt.NDArray[Any]:
        """What the user calls each node: int64, or str in an object array."""
        named: npt.NDArray[Any] = self.arrow_ids.to_numpy(zero_copy_only=False)
        return named

    @property
    def weights(self) -> npt.NDArray[np.float32]:
        """The weight of every edge, in the order of `edges()`."""
        return self.edges().weight

    def blocks(self) -> Iterator[Edges]:
        """Edges as (src, dst, weight) arrays of node numbers, one shard at a time, sorted by
        (src, dst): for graphs that do not fit into memory."""
        return select(self.artifact.edges(), self.selection, undirected=self.undirected)

    def edges(self) -> Edges:
        """All edges as (src, dst, weight) arrays of node numbers, sorted by (src, dst)."""
        if self.selection.everything:
            return self.artifact.edges().read()
        return Edges(*(np.concatenate(column) for column in zip(*self.blocks(), strict=True)))

    def nodes(self, name: str) -> NodeTable:
        """A table with a row per node: `features`, `embeddings` or `representations`.

        `.read(start, stop)` gives rows, memory-mapped; `.rows(nodes)` those of some nodes.
        """
        if name not in NODE_TABLES:
            raise NotAStoreError(
                f"There is no node table {name!r}.", f"There are: {', '.join(NODE_TABLES)}."
            )
        if name in self.artifact:
            return self.artifact.nodes(name)
        return self.beside(NODE_TABLES[name], name).nodes(name)

    def beside(self, stage: str, name: str) -> Artifact:
        """Another artifact of the same run, if it is the one that this graph was made from."""
        made_from = self.artifact.manifest.parents.get(stage)
        folder = self.artifact.folder.absolute().parent / stage
        if made_from is not None:
            bring_beside(folder, made_from)
        if made_from is None or not (folder / FILE_NAME).exists():
            raise NotAStoreError(
                f"{self.artifact.folder} has no {name}, and there is no {folder} that has.",
                f"It is a {self.artifact.manifest.kind} artifact with: "
                f"{', '.join(self.artifact.manifest.tables)}.",
                "Give the graph of a finished run: gsl-scale status RUN",
            )
        found = Artifact.open(folder)
        if found.manifest.content != made_from:
            raise StaleArtifactError(
                f"{folder} is not what {self.artifact.folder} was made from.",
                f"Its {name} belong to another graph.",
                f"Run again: gsl-scale run {folder.parent / 'config.yaml'} --out {folder.parent}",
            )
        return found

    @cached_property
    def embeddings(self) -> npt.NDArray[Any]:
        """The learner's embeddings, a row per node; an edge weighs their cosine similarity."""
        return self.nodes("embeddings").read()

    @cached_property
    def representations(self) -> npt.NDArray[Any]:
        """The encoder's representations, a row per node, made from features and learned graph."""
        return self.nodes("representations").read()

    @cached_property
    def features(self) -> npt.NDArray[Any]:
        """The features that the graph was learned from, as they were stored, a row per node."""
        return self.nodes("features").read()

    def to_scipy(self) -> sp.csr_array:
        """The adjacency matrix as `scipy.sparse.csr_array`, float32."""
        if self.selection.everything:
            return _canonical(sp.csr_array(edges_matrix(self.artifact)))
        edges = self.edges()
        indptr = np.zeros(self.num_nodes + 1, np.int64)
        np.cumsum(np.bincount(edges.src, minlength=self.num_nodes), out=indptr[1:])
        shape = (self.num_nodes, self.num_nodes)
        return _canonical(sp.csr_array((edges.weight, edges.dst, indptr), shape=shape))

    def to_torch(self) -> "torch.Tensor":
        """The adjacency matrix as a coalesced sparse COO tensor of torch, float32;
        `.to_sparse_csr()` makes the other kind."""
        from gsl_scale.convert import to_torch

        return to_torch(self)

    def to_dgl(self, nodes: Sequence[str] = ()) -> Any:
        """A `dgl.DGLGraph` with `edata["weight"]`; both directions of every edge.

        Args:
            nodes: tables to put into `ndata` under their names: `features`, `embeddings`,
                `representations`.

        Ids that are whole numbers are in `ndata["node_id"]`. DGL has no place for text: `ids[i]` of
        this object names node i.
        """
        from gsl_scale.convert import to_dgl

        return to_dgl(self, nodes)

    def to_pyg(self, nodes: Sequence[str] = ()) -> Any:
        """A `torch_geometric.data.Data` with `edge_index`, `edge_weight` and `num_nodes`; both
        directions of every edge.

        Args:
            nodes: tables to carry along: `features` (as `x`), `embeddings`, `representations`.

        The user's own ids, if there are any, are `data.node_id`: a tensor, or a list of str.
        """
        from gsl_scale.convert import to_pyg

        return to_pyg(self, nodes)

    def to_networkx(self) -> Any:
        """A `networkx.Graph` (candidates: a `DiGraph`) whose nodes are the user's ids, isolated
        ones included, and whose edges have a `weight`. For up to some million edges."""
        from gsl_scale.convert import to_networkx

        return to_networkx(self)

    def to_pandas(self) -> "pd.DataFrame":
        """A DataFrame with `src`, `dst` (the user's ids) and `weight`; both directions of every
        edge."""
        from gsl_scale.convert import to_pandas

        return to_pandas(self)


def _canonical(matrix: sp.csr_array) -> sp.csr_array:
    matrix.has_canonical_format = True  # sorted, none twice: spares a look at every edge
    return matrix

"""A stored graph as an object of another library, each imported only when it is asked for."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gsl_scale.extras import require, require_dgl
from gsl_scale.load import StoredGraph
from gsl_scale.store.edges import Edges

if TYPE_CHECKING:
    import pandas as pd
    import torch

COLUMNS = ("src", "dst", "weight")


def to_torch(graph: StoredGraph) -> "torch.Tensor":
    import torch

    edges, size = graph.edges(), (graph.num_nodes, graph.num_nodes)
    # Sorted by (src, dst) and none twice is what torch calls coalesced.
    return torch.sparse_coo_tensor(
        _pairs(edges), _tensor(edges.weight), size, is_coalesced=True, check_invariants=False
    )


def to_dgl(graph: StoredGraph, nodes: Sequence[str] = ()) -> Any:
    dgl = require_dgl("to_dgl (export --format dgl)")
    edges = graph.edges()
    made = dgl.graph((_tensor(edges.src), _tensor(edges.dst)), num_nodes=graph.num_nodes)
    made.edata["weight"] = _tensor(edges.weight)
    if graph.has_own_ids and pa.types.is_integer(graph.arrow_ids.type):
        made.ndata["node_id"] = _tensor(graph.ids)
    for name in nodes:
        made.ndata[name] = _tensor(graph.nodes(name).read())
    return made


def to_pyg(graph: StoredGraph, nodes: Sequence[str] = ()) -> Any:
    data = require("torch_geometric.data", "pyg", "to_pyg (export --format pyg)")
    edges = graph.edges()
    made = data.Data(
        edge_index=_pairs(edges), edge_weight=_tensor(edges.weight), num_nodes=graph.num_nodes
    )
    if graph.has_own_ids:
        ids = graph.arrow_ids
        whole = pa.types.is_integer(ids.type)
        made.node_id = _tensor(graph.ids) if whole else ids.to_pylist()
    for name in nodes:
        made["x" if name == "features" else name] = _tensor(graph.nodes(name).read())
    return made


def to_networkx(graph: StoredGraph) -> Any:
    nx = require("networkx", "networkx", "to_networkx")
    ids = graph.ids.tolist()
    made = nx.Graph() if graph.undirected else nx.DiGraph()
    made.add_nodes_from(ids)
    for edges in graph.blocks():
        src, dst, weight = (column.tolist() for column in once(graph, edges))
        named = zip(map(ids.__getitem__, src), map(ids.__getitem__, dst), weight, strict=True)
        made.add_weighted_edges_from(named)
    return made


def to_pandas(graph: StoredGraph) -> "pd.DataFrame":
    frame: pd.DataFrame = pa.concat_tables(named_blocks(graph)).to_pandas()
    return frame


def named_blocks(graph: StoredGraph) -> Iterator[pa.Table]:
    """src, dst and weight, one shard at a time, with the user's ids."""
    for edges in graph.blocks():
        src, dst = (
            graph.arrow_ids.take(pa.array(end)) if graph.has_own_ids else pa.array(end)
            for end in (edges.src, edges.dst)
        )
        yield pa.table([src, dst, pa.array(edges.weight)], names=COLUMNS)


def once(graph: StoredGraph, edges: Edges) -> Edges:
    """One of the two directions of every edge."""
    return edges.where(edges.src < edges.dst) if graph.undirected else edges


def _pairs(edges: Edges) -> "torch.Tensor":
    return _tensor(np.stack([edges.src, edges.dst]))


def _tensor(array: npt.NDArray[Any]) -> "torch.Tensor":
    import torch

    # What is mapped from a file or owned by Arrow cannot be written to, and torch may write.
    return torch.from_numpy(np.require(array, requirements=["C", "W"]))

"""What is done to one shard of the graphs of a training, by whichever rank has it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from torch import Tensor

from gsl_scale.anchor import heaviest
from gsl_scale.config import Run
from gsl_scale.graph.features import Features
from gsl_scale.graph.ops import edge_dot, edge_dot_at
from gsl_scale.graph.sample import Hop, hop
from gsl_scale.graph.weighted import Graph
from gsl_scale.postprocess import weights_of
from gsl_scale.store.edges import EdgeTable
from gsl_scale.store.links import LinkTable, Rows
from gsl_scale.store.mapped import mapped
from gsl_scale.store.nodes import NodeTable
from gsl_scale.store.shards import ShardPlan

Ids = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float32]
CPU = torch.device("cpu")
_AT_ONCE, _LINKS_AT_ONCE = 4096, 65_536  # rows, and links that are followed
_HERE, _THERE = 1, 2  # from which end an edge was found


def device_of(run: Run) -> torch.device:
    """Where this rank computes; Ray Train has made its own GPU the current one."""
    on_gpu = run.workers > 0 and run.device != "cpu" and torch.cuda.is_available()
    return torch.device("cuda") if on_gpu else CPU


@dataclass(frozen=True)
class ScaledRows:
    """A node table, memory-mapped, multiplied by one number when read, for use on a device."""

    table: NodeTable
    scale: float = 1.0
    device: torch.device = CPU

    def of(self, nodes: Ids) -> Features:
        return self._features(self.table.rows(nodes).astype(np.float32, copy=False))

    def between(self, start: int, stop: int) -> Features:
        return self._features(self.table.read(start, stop).astype(np.float32))

    def _features(self, rows: Vector) -> Features:
        """Of a copy, which may be written to."""
        if self.scale != 1.0:
            rows *= np.float32(self.scale)
        return Features(torch.from_numpy(rows).to(self.device), None)


def in_steps(plan: ShardPlan, shard: int, along: LinkTable | None = None) -> Iterator[Ids]:
    """The nodes of a shard, a few thousand at a time; `along` links, fewer where they have many."""
    start, stop = plan.bounds(shard)
    nodes = np.arange(start, stop)
    links = np.append(0, np.cumsum(along.degrees(nodes))) if along is not None else None
    at = 0
    while at < len(nodes):
        end = at + _AT_ONCE
        if links is not None:
            most = int(np.searchsorted(links, links[at] + _LINKS_AT_ONCE, side="right")) - 1
            end = min(end, max(most, at + 1))
        yield nodes[at:end]
        at = end


def computed(
    plan: ShardPlan, shard: int, rows_of: Callable[[Ids], Tensor], along: LinkTable | None = None
) -> Iterator[npt.NDArray[np.float32]]:
    """What a function makes of the nodes of a shard, block by block, without gradient."""
    for nodes in in_steps(plan, shard, along):
        with torch.no_grad():
            yield rows_of(nodes).cpu().numpy()


def mirror(candidates: EdgeTable, plan: ShardPlan, shard: int, scratch: Path) -> None:
    """Tell the owners of the other ends of a shard's candidates: first half of a shuffle."""
    edges = candidates.read(*plan.bounds(shard))
    order = np.argsort(edges.dst, kind="stable")
    pairs = np.stack([edges.dst[order], edges.src[order]], axis=1)
    borders = np.searchsorted(pairs[:, 0], [start for _, start, _ in plan] + [plan.num_nodes])
    for owner in range(plan.num_shards):
        np.save(_told_path(scratch, shard, owner), pairs[borders[owner] : borders[owner + 1]])


def union(
    candidates: EdgeTable, given: EdgeTable | None, plan: ShardPlan, shard: int, scratch: Path
) -> Rows:
    """A shard of the sketch (`postprocess.Sketch`): second half of the shuffle."""
    bounds = plan.bounds(shard)
    own = candidates.read(*bounds)
    found = [(own.src, own.dst, _HERE)]
    for other in range(plan.num_shards):
        pairs = mapped(_told_path(scratch, other, shard))
        found.append((pairs[:, 0], pairs[:, 1], _THERE))
    if given is not None:
        edges = given.read(*bounds)  # both directions are stored
        found.append((edges.src, edges.dst, _HERE | _THERE))
    return _joined([_united(found, nodes, plan.num_nodes) for nodes in in_steps(plan, shard)])


def _united(found: list[tuple[Ids, Ids, int]], nodes: Ids, num_nodes: int) -> Rows:
    """Of a few nodes, each edge once; every column of sources in `found` is in order."""
    start, stop = nodes[0], nodes[-1] + 1
    ends = [((nodes - start) * num_nodes + nodes) * 4 + (_HERE | _THERE)]  # self-loops
    for src, dst, end in found:
        here = slice(*np.searchsorted(src, [start, stop]))
        ends.append(((src[here] - start) * num_nodes + dst[here]) * 4 + end)
    keyed = np.sort(np.concatenate(ends))
    keys = keyed >> 2
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    known = np.bitwise_or.reduceat(keyed & 3, first)
    src, dst = np.divmod(keys[first], num_nodes)
    share = np.where(known == _HERE | _THERE, np.float32(1.0), np.float32(0.5))
    return Rows(np.bincount(src, minlength=len(nodes)), dst, share)


def _told_path(scratch: Path, teller: int, owner: int) -> Path:
    return scratch / f"told-{teller:05d}-{owner:05d}.npy"


def weighed(sketch: LinkTable, embeddings: NodeTable, nodes: Ids) -> tuple[Hop, Tensor]:
    """All edges of these nodes, and their weights in S before normalisation."""
    around = hop(sketch, nodes)
    unit = F.normalize(torch.from_numpy(embeddings.rows(around.nodes)), dim=1)
    return around, edge_weights(around, unit)[0]


def edge_weights(edges: Hop, unit: Tensor) -> tuple[Tensor, Tensor]:
    """In S before normalisation, from the nodes' embeddings of length 1; and those of the rows."""
    similarity, rows = edge_dot_at(edges.pattern, unit, edges.at)
    return weights_of(similarity, edges.value, edges.is_loop), rows


def degrees(sketch: LinkTable, embeddings: NodeTable, nodes: Ids) -> Tensor:
    """Of these nodes in S, as a column."""
    around, weights = weighed(sketch, embeddings, nodes)
    return Graph(around.pattern, weights) @ weights.new_ones(len(around.nodes), 1)


def normalised(
    sketch: LinkTable, embeddings: NodeTable, degree: Vector, nodes: Ids
) -> tuple[Hop, Graph]:
    """The rows of these nodes in the normalised S."""
    around, weights = weighed(sketch, embeddings, nodes)
    scale = torch.from_numpy(degree[around.nodes])[:, None].rsqrt()
    both = edge_dot(around.pattern, scale[around.at], scale)
    return around, Graph(around.pattern, weights * both)


def blended(
    anchor: LinkTable, sketch: LinkTable, learned: Callable[[Ids], tuple[Hop, Graph]],
    tau: float, budget: int, plan: ShardPlan, shard: int,
) -> Rows:  # fmt: skip
    """A shard of the next anchor: tau of it, 1 - tau of the learned graph, the heaviest edges."""
    done = []
    for nodes in in_steps(plan, shard, sketch):
        around, graph = learned(nodes)
        shape = (len(nodes), plan.num_nodes)
        local = graph.to_scipy()
        taken = sp.csr_matrix((local.data, around.nodes[local.indices], local.indptr), shape)
        counts, dst, value = anchor.rows(nodes)
        kept = sp.csr_matrix((value, dst, np.append(0, np.cumsum(counts))), shape)
        mixed = heaviest((kept * tau + taken * (1.0 - tau)).tocsr(), budget)
        mixed.sort_indices()
        ids = mixed.indices.astype(np.int64)
        done.append(Rows(np.diff(mixed.indptr).astype(np.int64), ids, mixed.data))
    return _joined(done)


def given_anchor(given: EdgeTable, degree: Vector, plan: ShardPlan, shard: int) -> Rows:
    """A shard of the given graph with self-loops, normalised."""
    start, stop = plan.bounds(shard)
    edges = given.read(start, stop)
    here = np.arange(start, stop)
    src, dst = np.concatenate([edges.src, here]), np.concatenate([edges.dst, here])
    weight = np.concatenate([edges.weight, np.ones(stop - start, np.float32)])
    weight = weight / np.sqrt(degree[src]) / np.sqrt(degree[dst])
    order = np.lexsort((dst, src))
    counts = np.bincount(src - start, minlength=stop - start)
    return Rows(counts, dst[order], weight[order].astype(np.float32))


def stored(edges: EdgeTable, plan: ShardPlan, shard: int) -> Rows:
    indptr, dst, weight = edges.csr(*plan.bounds(shard))
    return Rows(np.diff(indptr), dst, weight)


def identity(plan: ShardPlan, shard: int) -> Rows:
    start, stop = plan.bounds(shard)
    ones = np.ones(stop - start, np.float32)
    return Rows(ones.astype(np.int64), np.arange(start, stop), ones)


def _joined(pieces: list[Rows]) -> Rows:
    return Rows(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))

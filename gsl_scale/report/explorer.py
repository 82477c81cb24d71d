"""The neighbours of nodes, before and after, packed for the page: JSON, gzip, base64.

All nodes where there is room; otherwise those that changed most and as many drawn at random, with
a fixed seed. The heaviest edges of each. The result has a bound whatever the graph is.
"""

import base64
import gzip
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gsl_scale.report.change import Change, rows_of
from gsl_scale.report.groups import Groups
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.edges import Csr, EdgeTable

Ids = npt.NDArray[np.int64]
LIMIT = 3_200_000  # bytes of the packed text
_NEIGHBOURS = 60  # of a node, at most
_LINKS = 400_000  # of all nodes, about
_NAME = 120  # letters of an id; longer ones are cut
_SUGGESTED = 6


@dataclass(frozen=True)
class Explorer:
    packed: str
    num_nodes: int  # of those on the page
    whole: bool  # whether these are all


def explore(
    data: Artifact, before: EdgeTable, after: EdgeTable, change: Change, groups: Groups | None
) -> Explorer:
    num_nodes = data.manifest.num_nodes
    links = np.minimum(change.before.degree, _NEIGHBOURS) + np.minimum(
        change.after.degree, _NEIGHBOURS
    )
    per_node = max(1.0, float(links.mean()))
    wanted = min(num_nodes, max(2, int(_LINKS / per_node)))
    while True:
        nodes = choose(change, wanted)
        packed = _pack(data, nodes, before, after, change, groups)
        if len(packed) <= LIMIT or wanted <= 2:
            return Explorer(packed, len(nodes), len(nodes) == num_nodes)
        wanted = max(2, int(0.85 * wanted * LIMIT / len(packed)))


def choose(change: Change, wanted: int) -> Ids:
    """In order; half of them those with most neighbours that came or went."""
    num_nodes = len(change.kept)
    if wanted >= num_nodes:
        return np.arange(num_nodes)
    most = np.argsort(-change.changed, kind="stable")[: wanted // 2]
    rest = np.setdiff1d(np.arange(num_nodes), most)
    drawn = np.random.default_rng(0).choice(rest, wanted - len(most), replace=False)
    return np.sort(np.concatenate([most, drawn]))


def _pack(
    data: Artifact,
    nodes: Ids,
    before: EdgeTable,
    after: EdgeTable,
    change: Change,
    groups: Groups | None,
) -> str:
    rows = {"before": rows_of(before, nodes), "after": rows_of(after, nodes)}
    both = _shared(rows["before"], rows["after"], len(change.kept))
    heaviest = {side: _heaviest(found) for side, found in rows.items()}
    mentioned = np.unique(
        np.concatenate([nodes, *(rows[side].dst[kept] for side, kept in heaviest.items())])
    )
    content: dict[str, Any] = {
        "nodes": mentioned.tolist(),
        "here": np.searchsorted(mentioned, nodes).tolist(),
        "names": _names(data, mentioned),
        "groups": None if groups is None else groups.of[mentioned].tolist(),
        "groupNames": [] if groups is None else _used_names(groups, mentioned),
        "groupWord": "" if groups is None else groups.what,
        "suggested": np.searchsorted(nodes, _suggested(change, nodes)).tolist(),
    }
    for side, found in rows.items():
        kept = heaviest[side]
        owner = np.repeat(np.arange(len(nodes)), np.diff(found.indptr))
        content[side] = {
            "degree": np.diff(found.indptr).tolist(),
            "count": np.bincount(owner[kept], minlength=len(nodes)).tolist(),
            "kept": change.kept[nodes].tolist(),
            "dst": np.searchsorted(mentioned, found.dst[kept]).tolist(),
            "weight": [float(f"{weight:.3g}") for weight in found.weight[kept].tolist()],
            "both": "".join("1" if shared else "0" for shared in both[side][kept]),
        }
    text = json.dumps(content, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _shared(before: Csr, after: Csr, num_nodes: int) -> dict[str, npt.NDArray[np.bool_]]:
    """Which edges are in the other graph too."""
    keys = {
        side: np.repeat(np.arange(len(found.indptr) - 1), np.diff(found.indptr)) * num_nodes
        + found.dst
        for side, found in (("before", before), ("after", after))
    }
    return {
        "before": np.isin(keys["before"], keys["after"]),
        "after": np.isin(keys["after"], keys["before"]),
    }


def _heaviest(rows: Csr) -> Ids:
    """Places of each node's heaviest edges, node by node, the heaviest first."""
    degrees = np.diff(rows.indptr)
    owner = np.repeat(np.arange(len(degrees)), degrees)
    order = np.lexsort((rows.dst, -rows.weight, owner))
    rank = np.arange(len(order)) - np.repeat(rows.indptr[:-1], degrees)
    return order[rank < _NEIGHBOURS]


def _suggested(change: Change, nodes: Ids) -> Ids:
    """To begin with: nodes with about as many edges as most, of which some were kept and some
    not; then those that changed most."""
    mean = float(change.after.degree.mean())
    mixed = nodes[(change.kept[nodes] > 0) & (change.changed[nodes] > 0)]
    usual = mixed[np.argsort(np.abs(change.after.degree[mixed] - mean), kind="stable")]
    most = nodes[np.argsort(-change.changed[nodes], kind="stable")]
    both = [*usual[: _SUGGESTED // 2].tolist(), *most[:_SUGGESTED].tolist()]
    return np.array(list(dict.fromkeys(both))[:_SUGGESTED], np.int64)


def _names(data: Artifact, mentioned: Ids) -> list[str] | None:
    """The users' own ids; None: node numbers are the names."""
    if "ids" not in data:
        return None
    return [str(name)[:_NAME] for name in data.columns("ids")["id"].take(mentioned).to_pylist()]


def _used_names(groups: Groups, mentioned: Ids) -> dict[int, str]:
    used = np.unique(groups.of[mentioned])
    return {int(group): groups.names[group][:_NAME] for group in used if group >= 0}

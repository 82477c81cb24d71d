import base64
import gzip
import json

import numpy as np
import pytest

from gsl_scale.report import explorer
from gsl_scale.report.change import compare
from gsl_scale.report.groups import Groups
from gsl_scale.store import Artifact
from gsl_scale.store.matrix import edges_matrix


def explored(run):
    data, graph = Artifact.open(run / "data"), Artifact.open(run / "graph")
    groups = Groups.find(data, None)
    change = compare(data.edges(), graph.edges(), groups)
    found = explorer.explore(data, data.edges(), graph.edges(), change, groups)
    content = json.loads(gzip.decompress(base64.b64decode(found.packed)))
    return found, content, change, (edges_matrix(data), edges_matrix(graph))


def neighbours(content, side, place):
    """As the page unpacks them: name, weight, whether in both."""
    table = content[side]
    first = sum(table["count"][:place])
    cut = slice(first, first + table["count"][place])
    nodes = [content["nodes"][i] for i in table["dst"][cut]]
    return list(zip(nodes, table["weight"][cut], table["both"][cut], strict=True))


def test_every_node_has_its_neighbours(make_run):
    run = make_run(ids=tuple(f"n{i}" for i in range(60)))
    found, content, _, (old, new) = explored(run)
    assert (found.num_nodes, found.whole) == (60, True)
    assert content["names"][7] == "n7"
    for node in range(60):
        for side, mine, other in (("before", old, new), ("after", new, old)):
            listed = neighbours(content, side, node)
            assert sorted(n for n, _, _ in listed) == mine[node].indices.tolist()
            for neighbour, weight, both in listed:
                assert weight == pytest.approx(mine[node, neighbour], rel=5e-3)
                assert both == ("1" if other[node, neighbour] else "0")
            weights = [weight for _, weight, _ in listed]
            assert weights == sorted(weights, reverse=True)
    assert [content["groupNames"][str(g)] for g in content["groups"][:4]] == [
        "cat", "dog", "emu", "cat",
    ]  # fmt: skip


def test_a_hub_shows_its_heaviest(make_run, monkeypatch):
    monkeypatch.setattr(explorer, "_NEIGHBOURS", 2)
    _, content, _, (_, new) = explored(make_run())
    for node in range(60):
        listed = neighbours(content, "after", node)
        assert len(listed) == min(2, new[node].nnz) <= content["after"]["degree"][node]
        heaviest = sorted(new[node].data, reverse=True)[:2]
        assert [weight for _, weight, _ in listed] == pytest.approx(heaviest, rel=5e-3)


def test_too_many_nodes_are_sampled(make_run, monkeypatch):
    run = make_run(num_nodes=400)
    monkeypatch.setattr(explorer, "_LINKS", 1000)
    found, content, change, _ = explored(run)
    assert not found.whole
    here = {content["nodes"][i] for i in content["here"]}
    assert len(here) == found.num_nodes < 400
    most = np.argsort(-change.changed, kind="stable")[: found.num_nodes // 2]
    assert set(most.tolist()) <= here
    assert explored(run)[0] == found  # the seed is fixed


def test_the_bound_holds_whatever_the_names(make_run, monkeypatch):
    letters = np.random.default_rng(0).integers(33, 120, (300, 400))
    ids = tuple("".join(map(chr, row)) for row in letters)  # nothing that could be compressed
    monkeypatch.setattr(explorer, "LIMIT", 8000)
    found, *_ = explored(make_run(num_nodes=300, ids=ids))
    assert len(found.packed) <= 8000
    assert 2 <= found.num_nodes < 300

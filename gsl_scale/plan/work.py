"""Every quantity as amounts of work; what it comes to is linear in them (`coefficients.py`).

Amounts are per process: of a stage that is shared out, the share of the busiest worker. The names
of quantities are those that `gsl-scale bench scaling` measures.
"""

import math

from gsl_scale.config import AUTO
from gsl_scale.encoded import DROPPED, MASKED, STEPS, WIDTH
from gsl_scale.knn.plan import is_exact
from gsl_scale.memory import columns_at_once
from gsl_scale.plan.blocks import Step, messages
from gsl_scale.plan.size import Case
from gsl_scale.store.shards import ShardPlan

Amounts = dict[str, float]
_KEPT = 3  # of the rows of a batch
_WHOLE, _PASSED = 3, 4  # of all rows, while they are smoothed; of the columns at work then
_ENCODED = 20  # copies of two views, forth and back
_GROWTH = 1.2  # of an approximate search with nodes: `gsl-scale bench growth` found 1.21


def links_amounts(case: Case) -> dict[str, Amounts]:
    """Rows of the learned graph: candidates from both ends, and given edges."""
    n, k, m = case.size.nodes, case.config.knn.k, case.size.edges
    given = float(m) if case.config.knn.keep_given else 0.0
    return {"graph.rows": {"candidates": float(n * k), "given": given}}


def amounts(case: Case, links: float) -> dict[str, Amounts]:
    """`links`: edges of the learned graph, self-loops included."""
    return _seconds(case, links) | _memory(case, links) | _disk(case, links)


def _seconds(case: Case, links: float) -> dict[str, Amounts]:
    n, d, m = case.size.nodes, case.size.features, case.size.edges
    w, k = case.columns, case.config.knn.k
    contrast, share = case.config.contrast, busiest(case)
    started = float(case.config.run.workers > 0)  # Ray, and its workers
    prepare: Amounts = {"once": 1.0, "started": started, "weighed": links * w * share}
    prepare |= {"smoothed": 0.0, "projected": 0.0}
    if case.sees_more:
        hops = case.config.learner.hops if case.config.learner.context == "smooth" else 1
        prepare["smoothed"] = float(hops) * m * d
        prepare["projected"] = float(n) * d * min(w, d)
    # Without more to see, training begins with the candidates there are.
    prepare |= _search(case, w) if case.sees_more else {"exact": 0.0, "vectors": 0.0}
    represented = (n * d + links) * contrast.hidden * share
    return {
        "ingest.seconds": {"once": 1.0, "numbers": float(n * d), "edges": float(m)},
        "knn.seconds": {"once": 1.0, "started": started, **_search(case, d)},
        "prepare.seconds": prepare | {"represented": represented},
        "step.seconds": _step(case, links),
        "refresh.seconds": {
            "once": 1.0,
            **_search(case, w),
            "embedded": n * w * w * share,
            "weighed": links * w * share,
            "sorted": links * share,
        },
        "anchor.seconds": {
            "once": 1.0,
            "embedded": n * w * w * share,
            "weighed": links * w * share,
            "sorted": links * share,
        },
        "export.seconds": {"once": 1.0, "weighed": links * w, "sorted": links},
        "evaluate.seconds": _evaluate(case, links, n * k),
    }


def busiest(case: Case) -> float:
    """The share of all shards that the busiest worker has."""
    shards = num_shards(case)
    return -(-shards // case.workers) / shards


def _search(case: Case, dim: int) -> Amounts:
    """Of all nodes among all nodes."""
    n, share, knn = case.size.nodes, busiest(case), case.config.knn
    if is_exact(n, dim, knn.index):
        return {"exact": float(n) ** 2 * dim * share, "vectors": 0.0}
    # Every query goes to every piece of the index, and pieces are smaller.
    work = n * num_pieces(case, dim) * (n / num_pieces(case, dim)) ** (_GROWTH - 1)
    return {"exact": 0.0, "vectors": work * dim * share}


def _step(case: Case, links: float) -> Amounts:
    step, contrast = Step.of(case, links), case.config.contrast
    w, d, h = case.columns, case.size.features, contrast.hidden
    r, p = contrast.representation, contrast.projection
    learner = case.config.learner
    layers = learner.layers if learner.activation != "none" else 1
    products = step.around * (w * w * layers if learner.kind == "mlp" else w)
    moved = step.learner.edges * w + step.around * w
    masks = (contrast.mask_learner, contrast.mask_anchor)
    for view, masked in zip((step.learner, step.anchor), masks, strict=True):
        kept = 1 - masked
        few = 2 * view.hidden < view.inputs  # then rows are summed before they are multiplied
        products += (view.hidden if few else view.inputs) * d * kept * h + view.hidden * h * r
        moved += view.inner * (d * kept if few else h) + view.outer * r + view.inputs * d
    products += 2 * step.seeds * (r * p + p * p)
    sent = messages(case)
    waits = 2.0 * (case.workers - 1)
    return {
        "once": 1.0,
        "products": products,
        "moved": moved,
        "pairs": step.seeds * step.batch,
        "messages": waits * len(sent),
        "message_bytes": waits / case.workers * sum(sent),
    }


def encoding(case: Case) -> Amounts:
    """What an encoder of the context takes (`encoded.py`), in the work of a step."""
    if case.config.learner.context != "encoded":
        return {}
    n, m, views = case.size.nodes, case.size.edges, 2.0 * STEPS
    kept = (1 - MASKED) * case.size.features
    return {
        "products": views * n * (kept + 2.5 * WIDTH) * WIDTH,  # both layers, and correlations
        "moved": views * 2 * (1 - DROPPED) * (m + n) * WIDTH,
    }


def _evaluate(case: Case, links: float, candidates: int) -> Amounts:
    """Three graphs and an MLP, each as often as validation and seeds ask; clusters of the features
    and three times of representations; figures of the graphs."""
    n, settings = case.size.nodes, case.config.evaluate
    trained = len(settings.weight_decay) + settings.seeds - 1
    edges = links + case.size.edges + 1.6 * candidates
    graphs = 3 if case.size.edges else 2
    layers = settings.layers - 1
    products = n * settings.hidden * (case.size.features + layers * settings.hidden)
    epochs = float(trained * settings.epochs)
    return {
        "once": 1.0,
        "products": epochs * (graphs + 1) * products,
        "moved": epochs * edges * settings.hidden * layers,
        "numbers": float(n * (case.size.features + 3 * case.config.contrast.representation)),
        "edges": edges,
    }


def _memory(case: Case, links: float) -> dict[str, Amounts]:
    """Peak bytes of a process. `base` is the interpreter with its libraries. Batches, the index of
    a search and what is computed beforehand are not there at the same time, and what one gives
    back the next one uses, so the largest of them counts."""
    n, d, m = case.size.nodes, case.size.features, case.size.edges
    w, settings, shards = case.columns, case.config.evaluate, num_shards(case)
    step = Step.of(case, links)
    rows = (step.learner.inputs + step.anchor.inputs) * max(d, case.config.contrast.hidden)
    # With gradients and what the backward pass needs.
    block = _KEPT * 4 * (rows + step.around * w) + 12 * step.seeds * step.batch
    passed = _PASSED * min(d, columns_at_once(n))
    if case.config.learner.context == "encoded":
        passed = _ENCODED * WIDTH
    whole = 4.0 * n * (_WHOLE * d + passed) + 32.0 * m if case.sees_more else 0.0
    index = index_bytes(case, w)
    # From three layers on they are normalised over the nodes, which is kept for the way back.
    hidden = 4.0 * n * settings.hidden * settings.layers * (2 if settings.layers > 2 else 1)
    return {
        "ingest.memory": {"base": 1.0, "nodes": 8.0 * n, "shard": 20.0 * m / shards},
        "knn.memory": {"base": 1.0, "largest": index_bytes(case, d)},
        "driver.memory": {"base": 1.0, "largest": whole},
        "rank.memory": {"base": 1.0, "largest": max(block, index), "nodes": 8.0 * n},
        # All in one process.
        "train.memory": {"base": 1.0, "largest": max(block, index, whole), "nodes": 8.0 * n},
        "export.memory": {"base": 1.0, "shard": 20.0 * links / shards},
        "evaluate.memory": {
            "base": 1.0,
            "graphs": 4.0 * n * d + 16.0 * (links + m),
            "hidden": hidden,
        },
    }


def num_shards(case: Case) -> int:
    return ShardPlan.choose(case.size.nodes, case.config.run.shards).num_shards


def index_bytes(case: Case, dim: int) -> float:
    """Of a piece: vectors and, if approximate, their codes."""
    return _whole_index(case, dim) / num_pieces(case, dim)


def num_pieces(case: Case, dim: int) -> int:
    """One, unless `run.memory` says that it is too much."""
    memory = case.config.run.memory
    return 1 if memory == AUTO else max(1, math.ceil(_whole_index(case, dim) / (memory * 2**30)))


def _whole_index(case: Case, dim: int) -> float:
    code = 0.0 if is_exact(case.size.nodes, dim, case.config.knn.index) else dim / 2 + 8
    return case.size.nodes * (4.0 * dim + code)


def _disk(case: Case, links: float) -> dict[str, Amounts]:
    """Bytes that are compressed; all other tables are as large as their numbers."""
    rows = float(case.size.nodes * case.config.knn.k)
    return {
        "edges.bytes": {"rows": float(case.size.edges)},
        "candidates.bytes": {"rows": rows},
        "graph.bytes": {"rows": links - case.size.nodes},
    }

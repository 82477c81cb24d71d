"""What of a forecast does not fit a cluster, and what would make it fit."""

from dataclasses import dataclass

from gsl_scale.memory import size
from gsl_scale.plan.forecast import Forecast
from gsl_scale.plan.work import index_bytes, num_shards

_FILES = 250_000  # of one refresh; more keep a shared file system busy with names alone


@dataclass(frozen=True)
class Shortage:
    what: str
    remedy: str
    fatal: bool = True  # or merely slow


def shortages(found: Forecast) -> list[Shortage]:
    return [*_memory(found), *_disk(found), *_slow(found)]


def _memory(found: Forecast) -> list[Shortage]:
    case, cluster = found.case, found.cluster
    workers = case.config.run.workers
    share = cluster.memory / max(1, cluster.per_node(workers))
    lacking = []
    for stage in found.stages:
        # Ingest and evaluation have a node to themselves, and so has the driver.
        alone = stage.stage in ("ingest", "evaluate", "export")
        room = cluster.memory if alone or not workers else share
        if stage.memory is not None and stage.memory > room:
            where = "one process" if alone or not workers else "each worker"
            text = f"{stage.stage}: {where} needs {size(stage.memory)}, there is {size(room)}."
            lacking.append(Shortage(text, _less_memory(found, stage.stage, stage.memory, room)))
        if stage.driver is not None and stage.driver > cluster.memory:
            text = (
                f"{stage.stage}: the process that starts the workers needs {size(stage.driver)}, "
                f"a node has {size(cluster.memory)}."
            )
            remedy = (
                "What the learner sees beside the features is computed in one process. Set "
                "learner.context=none and learner.width=0, or give the first node "
                f"{size(1.1 * stage.driver)}."
            )
            lacking.append(Shortage(text, remedy))
    return lacking


def _less_memory(found: Forecast, stage: str, needed: float, room: float) -> str:
    case, cluster = found.case, found.cluster
    if stage == "evaluate":
        return (
            "It trains on the whole graph in memory. Stop at the graph (--until export), or "
            f"evaluate on a machine with {size(1.1 * needed)}."
        )
    index = index_bytes(case, case.size.features if stage == "knn" else case.columns)
    rest = needed - index
    if stage != "ingest" and index > 0 and rest < 0.8 * room:
        pieces = (0.8 * room - max(rest, 0.0)) / 2**30
        return f"Cut the index into pieces: run.memory={max(0.5, pieces):.1f} (GiB per worker)."
    fits = int(cluster.memory // needed) * cluster.nodes
    if fits >= 1 and stage in ("knn", "train"):
        return (
            f"There is room for {fits} such workers on {cluster.nodes} nodes: run.workers={fits}; "
            "or lower contrast.batch or contrast.fanout."
        )
    return f"Take nodes with {size(1.1 * needed)} of memory, or more shards (run.shards)."


def _disk(found: Forecast) -> list[Shortage]:
    room = found.cluster.disk
    if room is None:
        return []
    kept, most = 0.0, 0.0
    for stage in found.stages:
        most = max(most, kept + stage.disk + stage.scratch)
        kept += stage.disk
    if most <= room:
        return []
    text = f"The run folder grows to {size(most)}, there is {size(room)}."
    return [Shortage(text, "Take more, or set data.dtype=float16, a lower knn.k or anchor.budget.")]


def _slow(found: Forecast) -> list[Shortage]:
    case, shards = found.case, num_shards(found.case)
    slow = []
    if case.workers > shards:
        text = f"{case.workers} workers share {shards} shards, so some have none at a refresh."
        slow.append(Shortage(text, f"Set run.shards={2 * case.workers}.", fatal=False))
    if found.files > _FILES:
        text = f"A refresh passes {found.files:,} small files among the workers (shards²)."
        remedy = f"Set run.shards={max(case.workers, 256)}."
        slow.append(Shortage(text, remedy, fatal=False))
    longest = found.step or 0.0
    sending = found.sent / found.cluster.bandwidth
    if longest and sending > longest / 2:
        text = f"{sending / longest:.0%} of a step is spent sending."
        remedy = "Take a faster network, fewer workers or a larger contrast.batch."
        slow.append(Shortage(text, remedy, fatal=False))
    return slow

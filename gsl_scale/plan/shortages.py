"""What of a forecast does not fit a cluster, and what would make it fit."""

from collections.abc import Iterator
from dataclasses import dataclass

from gsl_scale.knn.plan import SHARE_OF_MEMORY
from gsl_scale.memory import size
from gsl_scale.plan.forecast import Forecast, forecast
from gsl_scale.plan.size import Case
from gsl_scale.plan.work import num_shards

_FILES = 250_000  # of one refresh; more keep a shared file system busy with names alone


@dataclass(frozen=True)
class Shortage:
    what: str
    remedy: str
    fatal: bool = True  # or merely slow


def shortages(found: Forecast) -> list[Shortage]:
    return [*_memory(found), *_disk(found), *_slow(found)]


def _memory(found: Forecast) -> Iterator[Shortage]:
    for stage in found.stages:
        room = _room(found, stage.stage)
        if stage.memory is not None and stage.memory > room:
            where = "each worker" if _is_shared(found, stage.stage) else "one process"
            text = f"{stage.stage}: {where} needs {size(stage.memory)}, there is {size(room)}."
            yield Shortage(text, _less_memory(found, stage.stage))
        if stage.driver is not None and stage.driver > found.cluster.memory:
            text = (
                f"{stage.stage}: the process that starts the workers needs {size(stage.driver)}, "
                f"a node has {size(found.cluster.memory)}."
            )
            remedy = (
                "What the learner sees beside the features is computed in one process. Set "
                "learner.context=none and learner.width=0, or give the first node "
                f"{size(1.1 * stage.driver)}."
            )
            yield Shortage(text, remedy)


def _is_shared(found: Forecast, stage: str) -> bool:
    """Whether workers do it; other stages have a node to themselves."""
    return found.case.config.run.workers > 0 and stage in ("knn", "train")


def _room(found: Forecast, stage: str) -> float:
    """Bytes of memory for each process of a stage."""
    memory, workers = found.cluster.memory, found.case.config.run.workers
    return memory / found.cluster.per_node(workers) if _is_shared(found, stage) else memory


def _less_memory(found: Forecast, stage: str) -> str:
    """The first change that would make a stage fit, tried out in the model itself."""
    needed = found.stage(stage).memory or 0.0
    if stage == "evaluate":
        return (
            "It trains on the whole graph in memory. Stop at the graph (--until export), or "
            f"evaluate on a machine with {size(1.1 * needed)}."
        )
    for settings in _changes(found, stage):
        again = _changed(found, settings)
        if (again.stage(stage).memory or 0.0) <= _room(again, stage):
            return f"Set {', '.join(f'{key}={value}' for key, value in settings.items())}."
    return f"Take machines with {size(1.1 * needed)} for each of its processes."


def _changes(found: Forecast, stage: str) -> Iterator[dict[str, float]]:
    """An index in pieces; fewer workers per machine; smaller batches; more shards."""
    config, room = found.case.config, _room(found, stage) / 2**30
    if stage == "ingest":
        for more in (4, 16):
            yield {"run.shards": num_shards(found.case) * more}
        return
    yield from ({"run.memory": round(share * room, 1)} for share in (0.7, 0.5, 0.3, 0.1))
    workers = config.run.workers
    while workers > found.cluster.nodes and stage != "export":
        workers //= 2
        for share in (1.0, 0.5, 0.25):
            memory = found.cluster.memory / found.cluster.per_node(workers) / 2**30
            yield {"run.workers": workers, "run.memory": round(share * 0.7 * memory, 1)}
    for less in (2, 4, 8):
        for share in (0.5, 0.1):
            batch = config.contrast.batch // less
            yield {"contrast.batch": batch, "run.memory": round(share * room, 1)}


def _changed(found: Forecast, settings: dict[str, float]) -> Forecast:
    config = found.case.config
    for key, value in settings.items():
        name, _, field = key.partition(".")
        block = getattr(config, name).model_copy(update={field: value})
        config = config.model_copy(update={name: block})
    return forecast(Case(found.case.size, config), found.cluster, found.coefficients)


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
    room = SHARE_OF_MEMORY * found.cluster.memory / found.cluster.per_node(case.workers) / 2**30
    if found.pieces > 1 and _changed(found, {"run.memory": room}).pieces < found.pieces:
        text = f"The index is cut into {found.pieces} pieces, each of which every query goes to."
        remedy = f"Set run.memory={room:.1f} (GiB per worker): a machine has room for that."
        slow.append(Shortage(text, remedy, fatal=False))
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

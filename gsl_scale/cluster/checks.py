"""Whether a cluster can run a config: what was found there against what is needed."""

from collections.abc import Collection, Iterator

from gsl_scale.cluster.probe import Facts, NodeFacts
from gsl_scale.config import AUTO, Run
from gsl_scale.errors import ClusterError
from gsl_scale.memory import size
from gsl_scale.remote.uri import CACHE, is_uri


def require(
    facts: Facts, run: Run, out: str, client: dict[str, str], stages: Collection[str] = ()
) -> None:
    """Raise with everything that is in the way of these stages."""
    found = [*_problems(facts, run, out, client), *_shortages(facts, run, stages)]
    if found:
        raise ClusterError(
            "The cluster cannot run this:\n" + "\n".join(f"  {line}" for line in found),
            "Nothing was launched.",
            "Mend this, or change run.workers, run.threads, run.device, run.memory or --out.",
        )


def _problems(facts: Facts, run: Run, out: str, client: dict[str, str]) -> Iterator[str]:
    if facts.trouble:
        yield facts.trouble
        return
    for node in facts.nodes:
        if node.trouble:
            yield f"{node.name}: {node.trouble}"
            continue
        for package, here in client.items():
            there = node.versions.get(package, "missing")
            if there != here:
                yield f"{node.name} has {package} {there}, here it is {here}"
        if not (node.sees and node.writes):
            yield from _not_shared(node.name, facts.folder, run, out)


def _not_shared(node: str, folder: str, run: Run, out: str) -> Iterator[str]:
    if not is_uri(out):
        yield f"{node} does not share {out}: all nodes must see it at the same path"
    elif run.workers:  # without, all is done where the job starts
        yield (
            f"{node} does not share {folder}, in which workers write what then goes to {out}: set "
            f"{CACHE} to a folder that all nodes see at the same path (NFS), or run.workers=0"
        )


def _shortages(facts: Facts, run: Run, stages: Collection[str]) -> Iterator[str]:
    """A worker needs all it needs on one node."""
    if run.workers == 0 or facts.trouble:
        return
    needs = {"cpus": float(facts.threads)}
    # With auto, workers take a GPU each as soon as the cluster has any (`train/launch.py`).
    if run.device == "cuda" or (run.device == "auto" and any(node.gpus for node in facts.nodes)):
        needs["gpus"] = 1.0
    forecast = max((facts.memory.get(stage, 0.0) for stage in stages), default=0.0)
    if run.memory != AUTO:
        needs["memory"] = run.memory * 2**30
    elif forecast:
        needs["memory"] = forecast
    places = sum(_places(node, needs) for node in facts.nodes)
    if places < run.workers:
        wanted = ", ".join(_named(name, amount) for name, amount in needs.items())
        yield f"{run.workers} workers with {wanted} each; there is room for {places}:"
        for node in facts.nodes:
            has = ", ".join(_named(name, getattr(node, name)) for name in needs)
            yield f"  {node.name} has {has}"
        if run.memory == AUTO and forecast:
            yield "  (memory by forecast: see gsl-scale plan; run.memory sets it yourself)"


def _places(node: NodeFacts, needs: dict[str, float]) -> int:
    return min(int(getattr(node, name) // amount) for name, amount in needs.items())


def _named(name: str, amount: float) -> str:
    if name == "memory":
        return f"{size(int(amount))} memory"
    return f"{amount:g} {name.upper()[:-1]}{'s' if amount != 1 else ''}"

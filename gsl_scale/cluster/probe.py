"""Runs on the cluster, as a job of its own, before a config does: what is there?

    python -m gsl_scale.cluster.probe config.yaml OUT

Asks every node for its versions and resources and whether it sees the run folder, and looks up how
far an earlier job came and how much memory a worker will take. The answer is the last line it
prints. Leaves nothing behind.
"""

import contextlib
import json
import secrets
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsl_scale.cluster.versions import versions_here
from gsl_scale.config import Config
from gsl_scale.config_file import load_config
from gsl_scale.errors import GslError
from gsl_scale.remote.uri import is_uri

if TYPE_CHECKING:
    from gsl_scale.plan.size import Size

MARK = "gsl-scale probe: "
# A node whose new worker does not come up starts another one after 60 seconds (Ray's
# worker_register_timeout_seconds); that one should have time to answer, too.
_SECONDS = 150.0


@dataclass(frozen=True)
class NodeFacts:
    name: str
    cpus: float = 0.0
    gpus: float = 0.0
    memory: float = 0.0  # bytes
    versions: dict[str, str] = field(default_factory=dict)
    sees: bool = False  # what another node wrote into the run folder
    writes: bool = False  # into it
    trouble: str = ""


@dataclass(frozen=True)
class Facts:
    nodes: list[NodeFacts]
    threads: int  # of a worker
    stages: list[dict[str, Any]]  # state of each, as `gsl-scale status` has it
    trouble: str = ""  # with the input or the run folder, on the head
    folder: str = ""  # in which workers would write
    memory: dict[str, float] = field(default_factory=dict)  # bytes of a worker in a stage, forecast


def main(file: str, out: str) -> None:
    facts = look(load_config(file), out)
    sys.stdout.write(f"{MARK}{json.dumps(asdict(facts))}\n")


def look(config: Config, place: str) -> Facts:
    from gsl_scale.engine import threads_per_worker
    from gsl_scale.ingest import input_paths
    from gsl_scale.pipeline import STAGES, stage_status

    threads = threads_per_worker(config.run) if config.run.workers else 1
    try:
        out = _folder(place)
    except GslError as error:
        return Facts([], threads, [], error.what)
    was_there = out.exists()
    sign = out / f".probe-{secrets.token_hex(8)}"
    try:
        out.mkdir(parents=True, exist_ok=True)
        sign.write_text(sign.name)
    except OSError as error:
        return Facts([], threads, [], f"{out} cannot be written: {error.strerror}")
    try:
        with _seen(place, out) as seen:
            stages = [vars(stage_status(config, seen, stage)) for stage in STAGES]
            size = _size(config, seen / "data" if stages[0]["state"] == "complete" else None)
        if stages[0]["state"] != "complete":
            for _, path in input_paths(config.data):
                if not path.exists():
                    return Facts([], threads, stages, f"{path} does not exist there")
        nodes = _ask_all(sign)
        memory = worker_memory(config, size, nodes) if size else {}
        return Facts(nodes, threads, stages, folder=str(out), memory=memory)
    except GslError as error:
        return Facts([], threads, [], error.what)
    finally:
        for left in out.glob(f"{sign.name}*"):
            left.unlink(missing_ok=True)
        if not was_there:
            with contextlib.suppress(OSError):
                out.rmdir()


def _folder(place: str) -> Path:
    """In which the run would be worked on there."""
    if not is_uri(place):
        return Path(place)
    from gsl_scale.remote.run import RemoteRun

    run = RemoteRun(place)
    run.bucket.require()
    return run.folder


@contextlib.contextmanager
def _seen(place: str, folder: Path) -> Iterator[Path]:
    """From which one can tell how far it is."""
    if not is_uri(place):
        yield folder
        return
    from gsl_scale.remote.run import RemoteRun

    run = RemoteRun(place)
    run.look()
    with run.view() as manifests:
        yield manifests


def _size(config: Config, data: Path | None) -> "Size | None":
    """From the manifest of the input, or from the config; tables would have to be read for it."""
    from gsl_scale.plan.size import Size
    from gsl_scale.store.artifact import Artifact

    if data is not None:
        found = Artifact.open(data)
        edges = found.manifest.tables["edges"].rows if "edges" in found else 0
        return Size(*found.nodes().shape, edges)
    return Size.of_config(config) if config.data.source in ("ogb", "synthetic") else None


def worker_memory(config: Config, size: "Size", nodes: list[NodeFacts]) -> dict[str, float]:
    """As `gsl-scale plan` has it, for the stages that are done by workers."""
    from gsl_scale.plan.coefficients import SHIPPED, Coefficients
    from gsl_scale.plan.forecast import Cluster, forecast
    from gsl_scale.plan.size import Case

    rooms = [node.memory for node in nodes if node.cpus and node.memory]
    if not (rooms and config.run.workers):
        return {}
    cluster = Cluster(len(rooms), gpus=0, memory=min(rooms), bandwidth=1e9, latency=0.0)
    found = forecast(Case.of(config, size), cluster, Coefficients.load(SHIPPED), "train")
    return {stage: found.stage(stage).memory or 0.0 for stage in ("knn", "train")}


def _ask_all(sign: Path) -> list[NodeFacts]:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ray.init(log_to_driver=False, include_dashboard=False)
    asked: dict[Any, dict[str, Any]] = {}
    nodes: Any = ray.nodes()  # type: ignore[no-untyped-call]
    for node in nodes:
        if node["Alive"]:
            there: Any = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            remote: Any = ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=there)(_answer)
            asked[remote.remote(str(sign), node["NodeID"])] = node
    done, _ = ray.wait(list(asked), num_returns=len(asked), timeout=_SECONDS)
    found = [_facts(node, sign, ray, ref if ref in done else None) for ref, node in asked.items()]
    ray.shutdown()
    return found


def _answer(sign: str, node: str) -> dict[str, Any]:
    """On each node."""
    path = Path(sign)
    answer: dict[str, Any] = {"versions": versions_here(), "sees": False}
    with contextlib.suppress(OSError):
        answer["sees"] = path.read_text() == path.name
        path.with_name(f"{path.name}-{node}").write_text(node)
    return answer


def _facts(node: dict[str, Any], sign: Path, ray: Any, ref: Any) -> NodeFacts:
    resources = node["Resources"]
    known: dict[str, Any] = {
        "name": node.get("NodeName") or node["NodeManagerAddress"],
        "cpus": resources.get("CPU", 0.0),
        "gpus": resources.get("GPU", 0.0),
        "memory": resources.get("memory", 0.0),
    }
    if ref is None:
        return NodeFacts(**known, trouble=f"did not answer in {_SECONDS:.0f} seconds")
    try:
        answer = ray.get(ref)
    except ray.exceptions.RayError as error:
        return NodeFacts(**known, trouble=(str(error).splitlines() or ["failed"])[-1])
    writes = sign.with_name(f"{sign.name}-{node['NodeID']}").exists()
    return NodeFacts(**known, **answer, writes=writes)


if __name__ == "__main__":
    main(*sys.argv[1:])

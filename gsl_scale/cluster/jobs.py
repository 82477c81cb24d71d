"""Jobs on a cluster, through Ray's Jobs API: submit, follow, list, stop, resume.

A job is `python -m gsl_scale run config.yaml --out OUT` in a folder that was shipped with it. What
makes it safe to submit the same twice lies in the run folder (`pipeline.py`, `store/draft.py`).
"""

import asyncio
import json
import logging
import os
import secrets
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import yaml

from gsl_scale import progress
from gsl_scale.cluster import checks, ship
from gsl_scale.cluster.access import Access
from gsl_scale.cluster.http import refused, unreachable
from gsl_scale.cluster.probe import MARK, Facts, NodeFacts
from gsl_scale.cluster.versions import versions_here
from gsl_scale.config import Config
from gsl_scale.config_file import make_config
from gsl_scale.errors import ClaimedError, ClusterError, StaleArtifactError
from gsl_scale.pipeline import require_stage
from gsl_scale.remote.uri import CACHE, is_uri, parse

_ENDED = ("SUCCEEDED", "FAILED", "STOPPED")
_SECONDS_BETWEEN_LOOKS = 0.5


class Jobs:
    """The jobs of one cluster."""

    def __init__(self, access: Access) -> None:
        self.access = access
        from ray.job_submission import JobSubmissionClient

        for name in ("ray.dashboard.modules.dashboard_sdk", "ray._private.runtime_env.packaging"):
            logging.getLogger(name).setLevel(logging.WARNING)  # of every upload
        with _explained(access):
            address = access.address.rstrip("/")
            self._client: Any = JobSubmissionClient(address, headers=dict(access.headers))

    def submit(
        self,
        config: Config,
        out: str,
        name: str,
        *,
        first: str | None = None,
        until: str | None = None,
        bench: str | None = None,
    ) -> str | None:
        """Check, then launch; None if there was nothing left to do. `out` is a path there, or a
        URI; `first` and `until` are those of `run_pipeline`; `bench`: the words of a benchmark
        to run instead of the stages."""
        require_stage(first)
        require_stage(until)
        if is_uri(out):
            parse(out)
        self._refuse_twice(out)
        job = f"{name}-{secrets.token_hex(4)}"
        with ship.packed(config) as folder:
            runtime = {"working_dir": str(folder), "env_vars": _environment(out)}
            facts = self._probe(job, out, runtime)
            states = _states(facts, until)
            left = [stage for stage, state in states.items() if first or state != "complete"]
            checks.require(facts, config.run, out, versions_here(), [] if bench else left)
            about = {"gsl_out": out, "gsl_config": config.to_yaml(), "gsl_name": name}
            if bench is not None:
                words = ["bench", *shlex.split(bench), "--config", ship.CONFIG, "--out", out]
                command = shlex.join(["python", "-m", "gsl_scale", *words])
                self._launch(job, command, runtime, about | {"gsl_bench": bench})
                return job
            if first is None:
                _refuse_stale(facts, until)
            kept = [stage for stage, state in states.items() if state == "complete"]
            if first is None and len(kept) == len(states):
                return None
            if first is None and (kept or "partial" in states.values()):
                progress.say(f"goes on with what is there: {', '.join(kept) or 'a part'}")
            flags = {"--out": out, "--from": first, "--until": until}
            words = [word for flag, value in flags.items() if value for word in (flag, value)]
            if until:
                about["gsl_until"] = until
            command = shlex.join(["python", "-m", "gsl_scale", "run", ship.CONFIG, *words])
            self._launch(job, command, runtime, about)
        return job

    def _refuse_twice(self, out: str) -> None:
        for job in self.list():
            if job["out"] == out and job["state"] not in _ENDED:
                raise ClaimedError(
                    f"{out} is being written by job {job['job']}.",
                    "Two writers would be in each other's way.",
                    f"Follow it: gsl-scale jobs logs {job['job']} --follow",
                )

    def _probe(self, job: str, out: str, runtime: dict[str, Any]) -> Facts:
        """Ask the cluster itself; a job of its own, since only a job sees what jobs see."""
        progress.say(f"checking {self.access.address}")
        asked = f"probe-of-{job}"
        command = shlex.join(["python", "-m", "gsl_scale.cluster.probe", ship.CONFIG, out])
        self._launch(asked, command, runtime, {})
        state, _ = self.wait(asked)
        with _explained(self.access):
            log: str = self._client.get_job_logs(asked)
        for line in reversed(log.splitlines()):
            if line.startswith(MARK):
                body = json.loads(line.removeprefix(MARK))
                nodes = [NodeFacts(**node) for node in body.pop("nodes")]
                return Facts(nodes=nodes, **body)
        raise ClusterError(
            f"The cluster could not run our code ({state}).",
            "\n".join(log.splitlines()[-8:]),
            "The Python on the head's PATH needs gsl-scale's dependencies: see cluster/.",
        )

    def _launch(
        self, job: str, command: str, runtime: dict[str, Any], about: dict[str, str]
    ) -> None:
        with _explained(self.access):
            self._client.submit_job(
                entrypoint=command, submission_id=job, runtime_env=runtime, metadata=about
            )

    def page(self, job: str) -> str:
        """Of the dashboard."""
        return f"{self.access.address.rstrip('/')}/#/jobs/{job}"

    def wait(self, job: str) -> tuple[str, int]:
        """Its last state and its exit code, once it has ended."""
        while True:
            info = self._info(job)
            if info.status.value in _ENDED:
                code = info.driver_exit_code
                return info.status.value, int(
                    info.status.value != "SUCCEEDED"
                ) if code is None else code
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    def follow(self, job: str, show: Callable[[str], None]) -> int:
        """Show its log as it grows, to its end; its exit code."""
        self._info(job)
        try:
            asyncio.run(self._tail(job, show))
        except ClusterError:  # if the cluster is gone, asking for the job says so
            progress.say(f"the log of {job} broke off; waiting for its end")
        state, code = self.wait(job)
        progress.say(f"job {job}: {state.lower()}")
        return code

    async def _tail(self, job: str, show: Callable[[str], None]) -> None:
        with _explained(self.access):
            async for lines in self._client.tail_job_logs(job):
                show(lines)

    def logs(self, job: str) -> str:
        self._info(job)
        with _explained(self.access):
            return str(self._client.get_job_logs(job))

    def stop(self, job: str) -> bool:
        """Whether it was still running."""
        self._info(job)
        with _explained(self.access):
            return bool(self._client.stop_job(job))

    def resume(self, job: str) -> str | None:
        """Submit what a job was given again; it goes on where that one ended."""
        about = self._info(job).metadata or {}
        if "gsl_config" not in about:
            raise ClusterError(f"{job} was not submitted by gsl-scale submit.")
        config = make_config(yaml.safe_load(about["gsl_config"]), file=f"config of {job}")
        kept = {key: about.get(f"gsl_{key}") for key in ("until", "bench")}
        return self.submit(config, about["gsl_out"], about["gsl_name"], **kept)

    def list(self) -> "list[dict[str, Any]]":
        """Newest first, without our own questions to the cluster."""
        with _explained(self.access):
            found = self._client.list_jobs()
        jobs = [_about(job) for job in found if "gsl_out" in (job.metadata or {})]
        return sorted(jobs, key=lambda job: job["began"] or "", reverse=True)

    def _info(self, job: str) -> Any:
        with _explained(self.access):
            try:
                return self._client.get_job_info(job)
            except RuntimeError as error:
                if "404" not in str(error):
                    raise
        raise ClusterError(
            f"There is no job {job}.", next_step="Those there are: gsl-scale jobs list"
        )


# Where an object store is and where its runs are worked on; secrets have to be there already, since
# whoever has the token can read what is sent along with a job.
_TOLD = (CACHE, "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION")


def _environment(out: str) -> dict[str, str]:
    told = _TOLD if is_uri(out) else ()
    return {"PYTHONUNBUFFERED": "1"} | {key: os.environ[key] for key in told if key in os.environ}


def _refuse_stale(facts: Facts, until: str | None) -> None:
    """As the run itself would, without launching it."""
    for stage in facts.stages:
        if stage["state"] in ("stale", "damaged"):
            raise StaleArtifactError(
                f"{stage['stage']} is {stage['state']}: {stage['why']}.",
                "It does not belong to this config, and is not reused silently.",
                f"Rebuild with --from {stage['stage']}, or give another --out.",
            )
        if stage["stage"] == until:
            break


def _states(facts: Facts, until: str | None) -> dict[str, str]:
    """Of each stage that is asked for."""
    states = {}
    for stage in facts.stages:
        states[stage["stage"]] = stage["state"]
        if stage["stage"] == until:
            break
    return states


def _about(job: Any) -> dict[str, Any]:
    began = job.start_time and datetime.fromtimestamp(job.start_time / 1000)
    ended = (job.end_time or time.time() * 1000) / 1000
    return {
        "job": job.submission_id,
        "state": job.status.value,
        "began": began and began.isoformat(timespec="seconds"),
        "seconds": began and ended - job.start_time / 1000,
        "out": job.metadata["gsl_out"],
        "exit_code": job.driver_exit_code,
    }


@contextmanager
def _explained(access: Access) -> Iterator[None]:
    """Ray's errors as ours; no message of theirs holds the token."""
    from aiohttp import ClientError
    from ray.exceptions import AuthenticationError
    from requests.exceptions import RequestException

    try:
        yield
    except AuthenticationError:
        raise refused(access) from None
    except (ConnectionError, RequestException, ClientError) as error:
        raise unreachable(access, (str(error).splitlines() or [""])[0].rstrip(".")) from None
    except RuntimeError as error:
        raise ClusterError(
            f"{access.address} did not do as asked: {(str(error).splitlines() or [''])[0]}"
        ) from None

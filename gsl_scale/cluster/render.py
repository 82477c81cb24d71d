"""How clusters and jobs look in a terminal. Shows what it is given, computes nothing."""

from typing import Any

from rich.table import Table

from gsl_scale.printed import printed


def print_cluster(found: dict[str, Any]) -> None:
    out = printed()
    if not found["nodes"]:
        out.print("no cluster is running here; start one: gsl-scale cluster start")
        return
    table = Table("node", "state", "CPUs", "raylet", "runs", box=None, pad_edge=False)
    for node in found["nodes"]:
        raylet = f"process {node['raylet']}" if node["alive"] else "–"
        state = "[green]alive[/]" if node["alive"] else "[red]gone[/]"
        table.add_row(
            node["node"], state, str(node["cpus"]), raylet, ", ".join(node["runs"]) or "–"
        )
    out.print(table)
    if found.get("address"):
        out.print(f"dashboard: {found['address']} (asks for the token in {found['token_file']})")


def print_jobs(jobs: list[dict[str, Any]]) -> None:
    if not jobs:
        printed().print("no jobs yet; submit one: gsl-scale submit CONFIG --out DIR")
        return
    table = Table("job", "state", "began", "seconds", "out", box=None, pad_edge=False)
    for job in jobs:
        seconds = "–" if job["seconds"] is None else f"{job['seconds']:.0f}"
        table.add_row(job["job"], job["state"], job["began"] or "–", seconds, job["out"])
    printed().print(table)

"""Which index to search with, in how many pieces, and the memory it takes: decided beforehand."""

import math
import os
from dataclasses import dataclass

from gsl_scale.config import AUTO, Knn, Run, digest
from gsl_scale.errors import InputError
from gsl_scale.knn.device import GPU_MOST, device_of, require_selectable
from gsl_scale.knn.exact import SPARE
from gsl_scale.knn.mutual import WIDE
from gsl_scale.memory import size

EXACT = "exact"
# Products of an exact search (n² d) up to which it is not worth approximating: seconds.
_AFFORDABLE = {"cpu": 5e11, "cuda": 5e13}
SHARE_OF_MEMORY = 0.6  # of what is free, for the index; the rest is for queries and answers
_SCRATCH = 256 << 20  # batches of queries, their answers, FAISS's own buffers
_SAMPLE_PER_LIST = 50
# Shares of all lists to look into, from cheap to thorough; beyond the last, exact is no dearer.
LOOKED = tuple(0.01 * 1.25**step for step in range(16))
FACTORS = (2, 4, 8)  # answers compared anew, per answer kept


@dataclass(frozen=True)
class SearchPlan:
    """`index` is 'exact' or a FAISS factory string over `dim` columns, re-ranked exactly."""

    index: str
    num_nodes: int
    dim: int
    pieces: int
    device: str
    bill: dict[str, int]

    @property
    def exact(self) -> bool:
        return self.index == EXACT

    @property
    def bytes(self) -> int:
        return sum(self.bill.values())

    @property
    def training_rows(self) -> int:
        """How many rows the quantiser is trained on."""
        lists = [int(word[3:]) for word in self.index.split(",") if _is_ivf(word)]
        return min(self.num_nodes, max(10_000, _SAMPLE_PER_LIST * max(lists, default=0)))

    def bounds(self, piece: int) -> tuple[int, int]:
        """The nodes of a piece of the index."""
        n = self.num_nodes
        return piece * n // self.pieces, (piece + 1) * n // self.pieces

    @property
    def line(self) -> str:
        """The bill, for a person."""
        items = ", ".join(f"{name} {size(value)}" for name, value in self.bill.items())
        where = "" if self.pieces == 1 else f" in {self.pieces} pieces"
        what = f"{self.index} index of {self.num_nodes:,} × {self.dim}{where} on {self.device}"
        return f"knn: {what}; memory per worker: {items}"

    @property
    def name(self) -> str:
        """What is built for one plan is of no use to another."""
        return digest([self.index, self.pieces])[:12]


def choose(num_nodes: int, dim: int, knn: Knn, run: Run, gpus: int = 0) -> SearchPlan:
    """The plan for a search of all nodes among all nodes; `gpus`: those that may be used."""
    index, device = knn.index, device_of(run, gpus)
    if index == "auto":
        index = EXACT if is_exact(num_nodes, dim, index, device) else "ivf"
    bill = {"vectors": 4 * num_nodes * dim}
    if index != EXACT:
        index = {"ivf": _ivf(num_nodes, dim, device), "hnsw": "HNSW32"}.get(index, index)
        if "HNSW" in index or index.endswith(("fs", "fsr")):
            device = "cpu"  # FAISS has no such index on a GPU
        factor = 1 if index.endswith("Flat") else FACTORS[-1]
        require_selectable(factor * (WIDE * knn.k + 1), device)
        code = 4 * (dim + 64) if "HNSW" in index or "Flat" in index else dim // 2 + 8
        bill["codes"] = num_nodes * code
    else:
        require_selectable(knn.k + 1 + SPARE, device)
    memory = memory_for_index(run)
    pieces = math.ceil(sum(bill.values()) / memory)
    if pieces > num_nodes:
        raise InputError(
            f"run.memory leaves {size(memory)} for the index, not even one node's share.",
            next_step="Raise run.memory (GiB per worker).",
        )
    bill = {name: math.ceil(value / pieces) for name, value in bill.items()}
    return SearchPlan(index, num_nodes, dim, pieces, device, bill | {"batches": _SCRATCH})


def is_exact(num_nodes: int, dim: int, index: str, device: str = "cpu") -> bool:
    """Whether a search that was asked for so begins as an exact one."""
    affordable = float(num_nodes) ** 2 * dim <= _AFFORDABLE[device]
    return index == EXACT or (index == "auto" and affordable)


def finer(plan: SearchPlan, asked: str) -> str | None:
    """What to search with when too much was missed: codes twice as long, of what is left beside a
    list's centre (where all vectors have much in common, other codes say little else); then
    without codes. None: what was asked for is all there is."""
    if asked in ("auto", "ivf") and plan.index.endswith("x4fs"):
        return f"{plan.index.split(',')[0]},PQ{padded(plan.dim)}x4fsr"
    return EXACT if asked == "auto" else None


def memory_for_index(run: Run) -> int:
    """Bytes a worker may fill with an index."""
    if run.memory != AUTO:
        return max(1, int(run.memory * 2**30) - _SCRATCH)
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(SHARE_OF_MEMORY * free / max(1, run.workers))


def _ivf(num_nodes: int, dim: int, device: str) -> str:
    """Lists of about √n/4 nodes; on a CPU codes of 4 bits per two columns, scanned in registers."""
    lists = max(1, min(round(4 * math.sqrt(num_nodes)), num_nodes // 40))
    if device == "cuda":  # looks into as many lists as it selects answers, at most
        lists = min(lists, int(GPU_MOST / LOOKED[-1]))
    return f"IVF{lists}," + ("Flat" if device == "cuda" else f"PQ{padded(dim) // 2}x4fs")


def padded(dim: int) -> int:
    """Columns come in pairs."""
    return dim + dim % 2


def _is_ivf(word: str) -> bool:
    return word.startswith("IVF") and word[3:].isdigit()

"""An artifact that all ranks write, shard by shard."""

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from torch import Tensor

from gsl_scale.errors import ClaimedError
from gsl_scale.ranks import Ranks
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import Edges, edge_table, write_edge_part
from gsl_scale.store.links import LinkTable, Rows, link_tables, write_links
from gsl_scale.store.manifest import Part, Table
from gsl_scale.store.nodes import rows_table, write_rows_part
from gsl_scale.store.parts import Parts
from gsl_scale.store.shards import ShardPlan
from gsl_scale.train import shards
from gsl_scale.train.shards import Ids

Made = TypeVar("Made")
_SECONDS_FOR_CLAIM = 30.0


class SharedDraft:
    """The first rank holds the claim and publishes; each writes the shards whose turn it has."""

    def __init__(self, ranks: Ranks, folder: Path, kind: str, plan: ShardPlan) -> None:
        self._ranks, self._plan = ranks, plan
        self._draft = Draft(folder, kind, plan)
        self.parts: Parts

    def __enter__(self) -> Self:
        self.parts = self._ranks.lead(self._claimed)
        return self

    def _claimed(self) -> Parts:
        """A rank of an attempt that was cut short may hold the claim for a moment longer."""
        limit = time.monotonic() + _SECONDS_FOR_CLAIM
        while True:
            try:
                return self._draft.__enter__().parts
            except ClaimedError:
                if time.monotonic() > limit:
                    raise
                time.sleep(0.2)

    def shards(self, make: Callable[[int], Made]) -> list[Made]:
        """What is made of every shard, in order."""
        return [made for _, made in self._ranks.map(make, range(self._plan.num_shards))]

    def rows(
        self, name: str, dim: int, rows_of: Callable[[Ids], Tensor], along: LinkTable | None = None
    ) -> None:
        """Write a node table, computed from node numbers, or `along` the links of the nodes."""

        def write(shard: int) -> Part:
            blocks = shards.computed(self._plan, shard, rows_of, along)
            return write_rows_part(self.parts, name, shard, blocks, dim, "float32")

        self.add(name, rows_table(name, self.shards(write), dim, "float32"))

    def links(self, make: Callable[[int], Rows]) -> None:
        parts = self.shards(lambda shard: write_links(self.parts, shard, make(shard)))
        for name, table in link_tables(parts).items():
            self.add(name, table)

    def edges(self, make: Callable[[int], Edges]) -> None:
        parts = self.shards(lambda shard: write_edge_part(self.parts, "edges", shard, make(shard)))
        self.add("edges", edge_table(parts))

    def add(self, name: str, table: Table) -> None:
        self._draft.add_table(name, table)

    def facts(self, facts: dict[str, Any]) -> None:
        self._draft.facts = facts

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._ranks.lead(lambda: self._draft.publish() and None)
        finally:
            if self._ranks.rank == 0:
                self._draft.__exit__(kind, error, trace)

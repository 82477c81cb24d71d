"""Which node of one graph is which node of the other: by the ids that their users gave them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gsl_scale.diff.read import Side
from gsl_scale.errors import InputError
from gsl_scale.ingest.ids import IdLookup

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Match:
    """Nodes of either graph in one numbering: those of the new one first, then what only the old
    one has. `old[i]` is the common number of the old graph's node i."""

    ids: pa.Array
    old: Ids
    new: Ids
    how: str

    @property
    def num_nodes(self) -> int:
        return len(self.ids)

    @property
    def both(self) -> int:
        return len(self.old) + len(self.new) - self.num_nodes

    def in_both(self) -> npt.NDArray[np.bool_]:
        there = np.zeros(self.num_nodes, np.int64)
        there[self.old] += 1
        there[self.new] += 1
        both: npt.NDArray[np.bool_] = there == 2
        return both


def match_nodes(old: Side, new: Side) -> Match:
    if old.ids is None and new.ids is None:
        numbers = np.arange(max(old.num_nodes, new.num_nodes))
        how = "by number"
        return Match(pa.array(numbers), numbers[: old.num_nodes], numbers[: new.num_nodes], how)
    named = [_names(side) for side in (old, new)]
    how = "by id"
    if named[0].type != named[1].type:
        named = [pc.cast(ids, pa.string()) for ids in named]
        how = "by id, whole numbers compared with text as they are written"
    to_new = IdLookup(named[1])(named[0])
    absent = to_new < 0
    if len(absent) and absent.all() and new.num_nodes:
        raise InputError(
            f"No node of {old.path} is in {new.path}.",
            f"Nodes are matched by id; the first of each: {named[0][0]}, {named[1][0]}.",
            "Give two graphs of the same nodes, with the same ids in both.",
        )
    to_new[absent] = new.num_nodes + np.arange(absent.sum())
    ids = pa.concat_arrays([named[1], named[0].filter(pa.array(absent))])
    return Match(ids, to_new, np.arange(new.num_nodes), how)


def _names(side: Side) -> pa.Array:
    return pa.array(np.arange(side.num_nodes)) if side.ids is None else side.ids

"""What lies on disk between stages.

An **artifact** is a folder:

    DIR/manifest.json            what this is, from what it was made, and the SHA-256 of every part
    DIR/TABLE/part-00000.*       one part per shard, in node order

| table      | format  | one row                     | columns                                     |
|------------|---------|-----------------------------|---------------------------------------------|
| features   | npy     | a node                      | float32 or float16, memory-mapped when read |
| edges      | parquet | an edge, sorted (src, dst)  | src int64, dst int64, weight float32        |
| labels     | parquet | a node                      | label int64 (null: unknown), split string   |
| ids        | parquet | a node                      | id: the user's own, string or int64         |
| model      | safetensors | a tensor                | of learner, encoder and projector           |
| context    | safetensors | a tensor                | what the learner's input was fitted with    |

A part holds one **shard**, a range of nodes (of source nodes, for edges). The manifest lies one
level above the parts, so that DuckDB, Polars and pandas can read a table's bare folder.

An artifact is written as a *draft* beside its final place (`draft.py`) and appears whole, by one
rename. `claimed` means a live process is writing it, `partial` that a draft was left behind,
`complete` that the manifest is there.
"""

from gsl_scale.store.artifact import Artifact
from gsl_scale.store.draft import Draft
from gsl_scale.store.edges import EdgeShuffle, EdgeTable
from gsl_scale.store.manifest import Manifest
from gsl_scale.store.nodes import NodeTable
from gsl_scale.store.shards import ShardPlan

__all__ = ["Artifact", "Draft", "EdgeShuffle", "EdgeTable", "Manifest", "NodeTable", "ShardPlan"]

"""Runs in an object store: `--out s3://BUCKET/PATH` or `gs://BUCKET/PATH`.

Stores are memory-mapped and replaced by renames, which object stores cannot do. So work is done in
a folder here (below `$GSL_CACHE`), and every artifact is mirrored as soon as it is complete:

    RUN/config.yaml, metrics.json, report.html, train.jsonl, tensorboard/    as in a run folder
    RUN/NAME/manifest.json          of the artifact NAME: written last, so it is there whole or not
    RUN/NAME/CONTENT/TABLE/part-*   its parts, below the first 16 digits of its content's digest
    RUN/.checkpoint/                of a training that is not finished
    RUN/.claim/ID                   who writes the run now

A reader never mixes versions, since parts of other content have another name.

uri.py         what is a place in a store, and what is a path
bucket.py      objects: read, written, listed; refusals explained, the network waited for
claim.py       one writer at a time
parts.py       how parts are called there, and all of them moved
run.py         a run: what is here, what is there, and what has to be moved
places.py      what a path or a URI means: a run to be written, or something to be read
checkpoint.py  the last checkpoint of a training, kept there while it runs
"""

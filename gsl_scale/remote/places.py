"""What a path or a URI means: a run to be written, or something to be read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gsl_scale import progress
from gsl_scale.errors import NotAStoreError
from gsl_scale.remote.run import ORIGIN, RemoteRun
from gsl_scale.remote.uri import is_uri
from gsl_scale.store.artifact import Artifact
from gsl_scale.store.manifest import FILE_NAME


@contextmanager
def opened(out: str | Path) -> Iterator[tuple[Path, RemoteRun | None]]:
    """The folder in which a run is written and, if it lies in a store, the run there."""
    if not is_uri(out):
        yield Path(out), None
        return
    with RemoteRun(str(out)).written() as run:
        yield run.folder, run


@contextmanager
def seen(place: str) -> Iterator[Path]:
    """A folder from which one can tell how far a run is: the run folder, or of one in a store its
    manifests and its config."""
    if not is_uri(place):
        yield Path(place)
        return
    run, _ = find(place)
    if (holder := run.holder) is not None:
        progress.say(f"{run.uri} is being written by {holder}, or was when that was killed")
    with run.view() as folder:
        config = run.bucket.read("config.yaml")
        if config is not None:
            (folder / "config.yaml").write_bytes(config)
        yield folder


def find(uri: str) -> tuple[RemoteRun, list[str]]:
    """The run that a URI lies in, and which of its artifacts are meant: one, or all."""
    run = RemoteRun(uri)
    run.bucket.require()
    if run.bucket.read(FILE_NAME) is not None:
        parent, _, name = run.uri.rpartition("/")
        run = RemoteRun(parent)
        run.look([name])
        return run, [name]
    run.look()
    entries = sorted(run.bucket.entries())
    if not run.names and "config.yaml" not in entries:
        raise NotAStoreError(
            f"There is no run at {run.uri}.",
            f"Found: {', '.join(entries[:5]) or 'nothing'}.",
            "Check the URI: it is the --out of a run, or of one with /graph, /knn, /data behind.",
        )
    return run, run.names


def local_copy(place: str | Path, only: Sequence[str] | None = None) -> Path:
    """A path on this machine for what is to be read; from a store it is brought here first.

    Of a run, `only` these artifacts are brought.
    """
    if not is_uri(place):
        return Path(place)
    run, names = find(str(place))
    one = run.uri != RemoteRun(str(place)).uri
    wanted = [name for name in names if one or only is None or name in only]
    if not wanted and only is not None:
        raise NotAStoreError(
            f"{run.uri} has no {only[0]}.",
            f"It has: {', '.join(names) or 'no complete artifact'}.",
            f"Finish it with gsl-scale run CONFIG --out {run.uri}"
            + (f", or give {run.uri}/{names[0]}." if names else "."),
        )
    run.fetch(wanted)
    if one:
        return run.folder / names[0]
    run.fetch_files()
    return run.folder


def bring_beside(folder: Path, content: str) -> None:
    """If this artifact belongs to the copy of a run in a store: bring it, unless it is here."""
    origin = folder.parent / ORIGIN
    if not origin.is_file():
        return
    if (folder / FILE_NAME).exists() and Artifact.open(folder).manifest.content == content:
        return
    run = RemoteRun(origin.read_text())
    run.look([folder.name])
    run.fetch([folder.name])

"""The folder a job takes along: this package as it is here, and one config."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gsl_scale
from gsl_scale.config import Config

CONFIG = "config.yaml"


@contextmanager
def packed(config: Config) -> Iterator[Path]:
    """A folder with both. Ray uploads it once for each content."""
    package = Path(gsl_scale.__file__).parent
    with tempfile.TemporaryDirectory(prefix="gsl-ship-") as folder:
        left_out = shutil.ignore_patterns("__pycache__", "*.pyc")
        shutil.copytree(package, Path(folder) / package.name, ignore=left_out)
        (Path(folder) / CONFIG).write_text(config.to_yaml(), encoding="utf-8")
        yield Path(folder)

"""From any kind of input to the same artifact: features, edges, labels and ids.

source = open_source(config.data)     streams, whatever the files are
write_data(config, folder)            checked, then written as one artifact
"""

from collections.abc import Iterable
from pathlib import Path

from gsl_scale.config_data import (
    AnyData,
    OgbData,
    PlanetoidData,
    SklearnData,
    SyntheticData,
    TablesData,
)
from gsl_scale.ingest.source import Source


def open_source(data: AnyData) -> Source:
    # Each kind is imported when it is asked for: pandas and scikit-learn take a second to load.
    if isinstance(data, TablesData):
        from gsl_scale.ingest.tables import open_tables

        return open_tables(data)
    if isinstance(data, PlanetoidData):
        from gsl_scale.ingest.planetoid import open_planetoid

        return open_planetoid(data)
    if isinstance(data, OgbData):
        from gsl_scale.ingest.ogb import open_ogb

        return open_ogb(data)
    if isinstance(data, SyntheticData):
        from gsl_scale.ingest.synthetic import open_synthetic

        return open_synthetic(data)
    assert isinstance(data, SklearnData)
    from gsl_scale.ingest.bundled import open_bundled

    return open_bundled(data)


def input_paths(data: AnyData) -> Iterable[tuple[str, Path]]:
    """The files that `open_source` would read, without reading them."""
    if isinstance(data, TablesData):
        from gsl_scale.ingest import tables

        return tables.input_paths(data)
    if isinstance(data, PlanetoidData):
        from gsl_scale.ingest import planetoid

        return planetoid.input_paths(data)
    if isinstance(data, OgbData):
        from gsl_scale.ingest import ogb

        return ogb.input_paths(data)
    return ()

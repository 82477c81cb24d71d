"""What most readers of a store will do: open its edges with the tool they have."""

import duckdb
import pandas as pd
import polars as pl
import pytest


@pytest.fixture
def edges(store):
    return store.folder / "edges", len(store.edges())


def test_duckdb(edges):
    folder, rows = edges
    assert duckdb.sql(f"select count(*) from '{folder}/*.parquet'").fetchall() == [(rows,)]
    assert duckdb.sql(f"select count(*) from read_parquet('{folder}/**')").fetchall() == [(rows,)]


def test_polars(edges):
    folder, rows = edges
    assert pl.read_parquet(f"{folder}/*.parquet").height == rows
    assert pl.scan_parquet(folder).select(pl.len()).collect().item() == rows


def test_pandas(edges):
    folder, rows = edges
    frame = pd.read_parquet(folder)
    assert len(frame) == rows
    assert frame.dtypes.astype(str).to_dict() == {
        "src": "int64",
        "dst": "int64",
        "weight": "float32",
    }
    assert len(pd.concat(map(pd.read_parquet, sorted(folder.glob("*.parquet"))))) == rows

"""Benchmarks."""

from pathlib import Path
from typing import Annotated

import typer

from gsl_scale.cli.options import AsJson, Sets, here, one_config, report
from gsl_scale.config_file import load_config


def bench_store(
    edges: Annotated[int, typer.Option(min=1000, help="Edges in the measured graph.")] = 6_000_000,
    repeats: Annotated[
        int, typer.Option(min=1, help="Measurements of each; the median counts.")
    ] = 7,
    as_json: AsJson = False,
) -> None:
    """Bytes per edge and reading time, against pyarrow's own default file of the same table.

    Example: gsl-scale bench store --edges 1000000
    """
    from gsl_scale.bench.store import measure
    from gsl_scale.render import print_store_bench

    result = measure(edges, repeats)
    report(as_json, result, lambda: print_store_bench(result))


def bench_load(
    edges: Annotated[int, typer.Option(min=1000, help="Edges in the measured graph.")] = 5_000_000,
    repeats: Annotated[
        int, typer.Option(min=1, help="Measurements of each; the median counts.")
    ] = 15,
    as_json: AsJson = False,
) -> None:
    """A graph from disk into SciPy: load_graph, checksums verified, against pyarrow and SciPy.

    Example: gsl-scale bench load --edges 1000000
    """
    from gsl_scale.bench.load import measure
    from gsl_scale.render import print_load_bench

    result = measure(edges, repeats)
    report(as_json, result, lambda: print_load_bench(result))


def bench_train(
    config: Annotated[
        Path | None, typer.Argument(help="YAML file.", show_default="configs/pubmed.yaml")
    ] = None,
    named: Annotated[
        Path | None, typer.Option("--config", help="The same, by name, as jobs give it.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps of ours that are timed.")] = 15,
    paper_steps: Annotated[int, typer.Option(min=1, help="Steps the paper's way.")] = 3,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """A training step beside one done the paper's way, and the memory each takes.

    Example: gsl-scale bench train configs/pubmed.yaml
    """
    from gsl_scale.bench.train import measure
    from gsl_scale.render import print_train_bench

    file = one_config(config, named or (None if config else Path("configs/pubmed.yaml")))
    result = measure(load_config(file, sets or ()), steps, paper_steps)
    report(as_json, result, lambda: print_train_bench(result))


def bench_knn(
    vectors: Annotated[
        Path | None, typer.Option(help="NPY file.", show_default="clustered vectors, made here")
    ] = None,
    rows: Annotated[int, typer.Option(min=2000, help="Vectors to make.")] = 169_343,
    dim: Annotated[int, typer.Option(min=2, help="Their columns.")] = 128,
    k: Annotated[int, typer.Option(min=1, help="Neighbours.")] = 20,
    recall: Annotated[float, typer.Option(max=1, help="What has to be found.")] = 0.99,
    skip: Annotated[
        list[str] | None, typer.Option(help="A way to leave out, by name. Repeatable.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """All nearest neighbours: ours, the paper's way, and the libraries one would pick instead.

    Needs pip install 'gsl-scale\\[bench]' (hnswlib, pynndescent). Building counts everywhere.

    Example: gsl-scale bench knn --rows 50000 --skip scikit-learn
    """
    import numpy as np

    from gsl_scale.bench.knn import clustered, measure
    from gsl_scale.config import Run
    from gsl_scale.render import print_knn_bench

    found = clustered(rows, dim) if vectors is None else np.load(vectors)
    result = measure(found, k, recall, skip or [], Run())
    result["vectors"] = "clustered" if vectors is None else vectors.name
    report(as_json, result, lambda: print_knn_bench(result))


def bench_growth(
    rows: Annotated[list[int] | None, typer.Option(min=2000, help="Sizes. Repeatable.")] = None,
    dim: Annotated[int, typer.Option(min=2, help="Columns.")] = 128,
    k: Annotated[int, typer.Option(min=1, help="Neighbours.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Time and memory of the approximate kNN stage as nodes grow, and the exponent of the time.

    Example: gsl-scale bench growth --rows 50000 --rows 200000 --rows 1000000
    """
    from gsl_scale.bench.growth import measure
    from gsl_scale.render import print_growth_bench

    result = measure(rows or [50_000, 100_000, 200_000, 500_000, 1_000_000], dim, k)
    report(as_json, result, lambda: print_growth_bench(result))


def bench_workers(
    config: Annotated[Path, typer.Argument(help="YAML file.")],
    workers: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Numbers of workers; the first is the measure.  [1, 2]"),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Steps that are timed.")] = 40,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each; the median counts.")] = 3,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Training steps on several Ray workers of one thread each, beside one worker, same batches.

    Example: gsl-scale bench workers configs/pubmed.yaml --set contrast.fanout=[4,4]
    """
    from gsl_scale.bench.workers import measure
    from gsl_scale.render import print_workers_bench

    result = measure(load_config(config, sets or ()), workers or [1, 2], steps, repeats)
    report(as_json, result, lambda: print_workers_bench(result))


def bench_extend(
    configs: Annotated[list[Path], typer.Argument(help="YAML files; data with labels.")],
    seeds: Annotated[int, typer.Option(min=1, help="Choices of nodes: seeds 0, 1, ...")] = 3,
    share: Annotated[float, typer.Option(min=0.001, max=0.5, help="Nodes held back.")] = 0.1,
    out: Annotated[Path, typer.Option(help="Finished ones are kept here.", parser=here)] = Path(
        "runs/extend"
    ),
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Nodes held back, then added by extend: their accuracy beside learning anew with all.

    Example: gsl-scale bench extend configs/digits.yaml configs/pubmed.yaml
    """
    from gsl_scale.bench.extend import measure
    from gsl_scale.render import print_extend_bench

    loaded = [(path.stem, load_config(path, sets or ())) for path in configs]
    results = [measure(name, config, seeds, share, out) for name, config in loaded]
    report(as_json, results, lambda: print_extend_bench(results))

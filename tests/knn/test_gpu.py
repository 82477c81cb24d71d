"""On a GPU. Without one the first group is skipped; the second checks what can be checked here."""

import faiss
import numpy as np
import pytest

from gsl_scale.config import Knn, Run
from gsl_scale.errors import ConfigError, InputError
from gsl_scale.knn import device
from gsl_scale.knn.exact import all_neighbours
from gsl_scale.knn.finder import Finder
from gsl_scale.knn.plan import choose

HAS_GPU = hasattr(faiss, "StandardGpuResources") and faiss.get_num_gpus() > 0
on_gpu = pytest.mark.skipif(not HAS_GPU, reason="FAISS sees no GPU here: untested on hardware")


@on_gpu
@pytest.mark.parametrize("k", [1, 20, device.GPU_MOST - 9])
def test_exact_is_the_same_as_on_the_cpu(k):
    rows = np.random.default_rng(0).normal(size=(5000, 48)).astype(np.float32)
    here = all_neighbours(rows, k)
    there = all_neighbours(rows, k, device="cuda")
    assert all((a == b).all() for a, b in zip(here, there, strict=True))


@on_gpu
def test_lists_on_the_gpu_pass_the_gate():
    rows = np.random.default_rng(0).normal(size=(20_000, 8)).astype(np.float32)
    found = Finder(Knn(k=10, index="ivf"), Run(device="cuda"))(rows)
    truth = all_neighbours(rows, 10)
    assert (found.similarity >= truth.similarity.min(axis=1, keepdims=True) - 1e-5).mean() > 0.98


@pytest.mark.skipif(HAS_GPU, reason="there is a GPU")
def test_asking_for_a_gpu_that_is_not_there():
    with pytest.raises(ConfigError, match="FAISS sees no GPU"):
        choose(1000, 8, Knn(k=5), Run(device="cuda"))


def test_what_would_be_chosen_on_a_gpu():
    assert choose(500_000, 128, Knn(k=20), Run(), gpus=1).line.count("exact") == 1
    large = choose(5_000_000, 128, Knn(k=20), Run(memory=8), gpus=1)
    assert large.index == "IVF7205,Flat" and large.device == "cuda"
    assert choose(5_000_000, 128, Knn(k=20, index="hnsw"), Run(memory=8), gpus=1).device == "cpu"
    assert choose(5_000_000, 128, Knn(k=20), Run(memory=8, device="cpu"), gpus=1).device == "cpu"


@pytest.mark.parametrize(
    ("index", "k"), [("exact", 2040), ("IVF1024,Flat", 1024), ("IVF1024,PQ64", 128)]
)
def test_more_answers_than_a_gpu_selects(index, k):
    with pytest.raises(InputError, match="a GPU selects at most 2,048"):
        choose(500_000, 128, Knn(k=k, index=index), Run(memory=8), gpus=1)
    choose(500_000, 128, Knn(k=k - 1, index=index), Run(memory=8), gpus=1)

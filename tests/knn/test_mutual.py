import numpy as np

from gsl_scale.knn.mutual import accept, between, offers
from gsl_scale.knn.neighbours import Neighbours


def test_who_finds_me_tells_me():
    # Node 0 missed node 2, which found it; node 3 is nearer to 1 than what 1 has.
    ids = np.array([[1, 3], [0, 2], [0, 1], [1, 0]])
    similarity = np.array([[0.9, 0.1], [0.9, 0.3], [0.8, 0.3], [0.5, 0.1]], np.float32)
    found = Neighbours(ids, similarity)
    made = offers(found, 0, similarity[:, -1])
    assert sorted(zip(made["src"], made["dst"], strict=True)) == [(0, 1), (1, 0), (2, 0), (3, 1)]
    better = accept(found, 0, made)
    assert better.ids.tolist() == [[1, 2], [0, 3], [0, 1], [1, 0]]
    assert np.allclose(better.similarity[1], [0.9, 0.5])
    assert found.ids[0].tolist() == [1, 3]  # inputs are left alone


def test_offers_to_a_range():
    rng = np.random.default_rng(0)
    found = Neighbours(rng.permuted(np.tile(np.arange(50), (50, 1)), axis=1)[:, :6],
                       rng.random((50, 6)).astype(np.float32))  # fmt: skip
    made = offers(found, 0, np.full(50, 0.5, np.float32))
    parts = [between(made, start, start + 10) for start in range(0, 50, 10)]
    assert sum(map(len, parts)) == len(made) == (found.similarity > 0.5).sum()
    assert all((part["dst"] // 10 == i).all() for i, part in enumerate(parts))

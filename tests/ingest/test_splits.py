import numpy as np
import pytest

from gsl_scale.config_data import Split
from gsl_scale.errors import InputError
from gsl_scale.ingest.splits import by_index, draw


def test_every_class_is_trained_on_and_unknown_labels_are_left_out():
    labels = np.array([0] * 50 + [1] * 30 + [-1] * 20)
    split = draw(labels, Split(train=8, valid=10, seed=3))
    assert set(labels[split == "train"]) == {0, 1}
    assert [(split == part).sum() for part in ("train", "valid", "test", "")] == [8, 10, 62, 20]
    assert (split[labels < 0] == "").all()


@pytest.mark.parametrize(("train", "valid"), [(1, 5), (20, 0), (10, 10)])
def test_what_cannot_be_drawn(train, valid):
    with pytest.raises(InputError, match="cannot be drawn"):
        draw(np.array([0] * 10 + [1] * 10), Split(train=train, valid=valid))


def test_by_index():
    split = by_index(4, train=np.array([2]), test=np.array([0]))
    assert split.tolist() == ["test", "", "train", ""]

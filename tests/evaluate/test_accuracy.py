"""OGB's data are judged by OGB's own evaluator."""

import pytest
import torch

from gsl_scale.config_file import make_config
from gsl_scale.evaluate.accuracy import OgbAccuracy, accuracy_of, plain


def test_ogb_data_get_ogbs_evaluator():
    from ogb.nodeproppred import Evaluator

    config = make_config({"data": {"source": "ogb", "name": "ogbn-arxiv"}})
    judge = accuracy_of(config.data)
    assert isinstance(judge, OgbAccuracy)
    labels, predicted = (
        torch.randint(0, 3, (500,), generator=torch.Generator().manual_seed(s)) for s in (0, 1)
    )
    asked = {"y_true": labels[:, None], "y_pred": predicted[:, None]}
    assert judge(labels, predicted) == Evaluator("ogbn-arxiv").eval(asked)["acc"]
    assert judge(labels, predicted) == pytest.approx(plain(labels, predicted))


def test_other_data_get_ours():
    assert accuracy_of(make_config({"data": {"source": "sklearn", "name": "wine"}}).data) is plain

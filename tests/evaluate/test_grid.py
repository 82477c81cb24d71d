import pytest

from gsl_scale.config_file import load_config
from gsl_scale.errors import UserError
from gsl_scale.evaluate.grid import choose
from tests.conftest import ROOT


def test_every_combination_in_order():
    found = choose(["knn.k=5,10", "anchor.tau=0.9,1"])
    assert found == [
        ("knn.k=5", "anchor.tau=0.9"), ("knn.k=5", "anchor.tau=1"),
        ("knn.k=10", "anchor.tau=0.9"), ("knn.k=10", "anchor.tau=1"),
    ]  # fmt: skip


def test_more_trials_are_the_same_ones_and_others():
    few, many = choose(["paper"], 5), choose(["paper"], 40)
    assert few[0] == () and many[:5] == few and len(set(many)) == 40
    small = choose(["knn.k=5,10,20"], 3)
    assert small == choose(["knn.k=5,10,20"], 10)[:3]
    assert len(choose(["knn.k=5,10,20"], 10)) == 4  # as it is, and all three


def test_the_space_of_the_paper_is_one_that_configs_take():
    for setting in choose(["paper"], 30)[1:]:
        config = load_config(ROOT / "configs/wine.yaml", setting)
        assert config.knn.k in range(5, 41, 5)
        assert config.contrast.mask_learner != config.contrast.mask_anchor
        assert config.anchor.tau in (0.99, 0.999, 0.9999, 0.99999, 1)


def test_an_axis_replaces_that_of_the_paper():
    found = choose(["paper", "knn.k=7"], 20)[1:]
    assert {setting[0] for setting in found} == {"knn.k=7"}


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        (["knn.k"], "names no values"),
        (["knn.k=5,,6"], "names no values"),
        (["=5"], "names no values"),
        (["knn.k=5", "knn.k=6"], "names knn.k twice"),
        (["paper"], "1,399,680 settings"),
    ],
)
def test_what_is_no_grid(grid, said):
    with pytest.raises(UserError, match=said):
        choose(grid)

import pickle

from gsl_scale.errors import ClaimedError, ConfigError, GslError, InputError


def test_says_what_why_next():
    error = InputError("a is wrong", "because", "do b")
    assert str(error) == "a is wrong\n  because\n  do b"


def test_places_are_named():
    assert str(GslError("it broke", stage="knn", rank=1, shard=3)) == (
        "it broke (stage knn, rank 1, shard 3)"
    )


def test_pickles_with_its_places():
    again = pickle.loads(pickle.dumps(ClaimedError("x", "y", "z", stage="knn", rank=2)))
    assert type(again) is ClaimedError
    assert (again.what, again.why, again.next_step) == ("x", "y", "z")
    assert (again.stage, again.rank, again.shard) == ("knn", 2, None)


def test_exit_codes_tell_whose_mistake_it_was():
    assert ConfigError("x").exit_code == 2
    assert GslError("x").exit_code == 1

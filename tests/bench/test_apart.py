import os
import signal

import pytest

from gsl_scale.bench.apart import apart
from gsl_scale.errors import GslError, InputError


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def mistaken():
    raise InputError("no such file", next_step="Look again.")


def test_another_process_answers():
    assert apart(os.getpid) != os.getpid()
    assert apart(max, 3, 5) == 5


def test_one_that_is_killed_is_not_waited_for():
    with pytest.raises(GslError, match="killed, usually for lack of memory"):
        apart(killed)


def test_a_mistake_stays_one():
    with pytest.raises(InputError, match="no such file"):
        apart(mistaken)

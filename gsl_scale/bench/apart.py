"""What is measured runs in a process of its own, which has its own peak memory."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

from gsl_scale.errors import GslError

Made = TypeVar("Made")


def apart(function: Callable[..., Made], *arguments: object) -> Made:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(function, *arguments).result()
        except BrokenProcessPool:
            raise GslError(
                "A measured process was killed, usually for lack of memory.",
                next_step="Ask for smaller sizes; what is finished is kept.",
            ) from None

"""Many small factorisations are quickest when the linear-algebra library does not spread each over threads of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import scipy.linalg  # noqa: F401  its library is to be among those that are limited

P = ParamSpec("P")
T = TypeVar("T")


def on_one_core(function: Callable[P, T]) -> Callable[P, T]:
    """The function, while which runs BLAS uses one thread; on a busy machine its threads wait for each other far longer than they work."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with _libraries().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return run


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()

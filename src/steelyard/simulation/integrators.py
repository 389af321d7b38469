"""Integrators of fixed step, over any scalars: explicit Runge-Kutta methods by their tables, and semi-implicit Euler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..algebra.scalar import Scalar, is_zero
from ..errors import CallError, suggest

Rates = Callable[[Sequence[Scalar], Sequence[Scalar]], tuple[list[Scalar], list[Scalar]]]
"""(q, qd) -> accelerations, and the rates of further quantities that do not act back."""
Moves = Callable[[Sequence[Scalar], Sequence[Scalar]], list[Scalar]]
"""(q, qd) -> the rates of q."""
METHODS = ("euler", "rk4", "rk8")
RATES = "rates"
"""The explicit method of order 1: over one second it gains the rates of all quantities."""


@dataclass(frozen=True)
class Table:
    """An explicit Runge-Kutta method: stage i begins where the rates of earlier stages, weighted by a[i], lead; b weighs the result."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    order: int


@cache
def table(method: str) -> Table:
    """The table of "rk4", the classical method of order 4, or "rk8", that of order 8 with twelve stages by Dormand and Prince.

    Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", 2nd ed., section II.1 (table 1.2) and II.5 (DOP853).
    """
    if method == RATES:
        return Table(((),), (1.0,), 1)
    if method == "rk4":
        return Table(((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6), 4)
    from scipy.integrate import DOP853

    stages = int(DOP853.n_stages)
    rows = tuple(tuple(float(x) for x in DOP853.A[i, :i]) for i in range(stages))
    return Table(rows, tuple(float(x) for x in DOP853.B[:stages]), 8)


def as_they_are(q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
    """Positions whose rates are the velocities."""
    return list(qd)


def advanced(
    method: str, rates: Rates, q: Sequence[Scalar], qd: Sequence[Scalar], h: Scalar, moves: Moves = as_they_are
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """q and qd after a step of h [s], and what the further quantities gained. `moves` gives the rates of q where they are not qd.

    "euler" is the semi-implicit method: the new velocity moves the position, so that energy does not drift without friction.
    Hairer, Lubich and Wanner, "Geometric Numerical Integration", 2nd ed., section I.1.2 (symplectic Euler).
    """
    if method == "euler":
        qdd, further = rates(q, qd)
        after = [v + h * a for v, a in zip(qd, qdd, strict=True)]
        return [x + h * v for x, v in zip(q, moves(q, after), strict=True)], after, [h * x for x in further]
    made = table(method)
    stages: list[tuple[list[Scalar], list[Scalar], list[Scalar]]] = []
    for row in made.a:
        where, speed = _moved(q, h, row, [s[0] for s in stages]), _moved(qd, h, row, [s[1] for s in stages])
        qdd, further = rates(where, speed)
        stages.append((moves(where, speed), qdd, further))
    zero = [0.0] * len(stages[0][2])
    return (
        _moved(q, h, made.b, [s[0] for s in stages]),
        _moved(qd, h, made.b, [s[1] for s in stages]),
        _moved(zero, h, made.b, [s[2] for s in stages]),
    )


def _moved(x: Sequence[Scalar], h: Scalar, weights: Sequence[float], rates: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """x + h (sum of the weighted rates), those of equal weights added first: an addition costs less than a product."""
    groups: dict[float, list[Sequence[Scalar]]] = {}
    for weight, rate in zip(weights, rates, strict=True):
        if not is_zero(weight):
            groups.setdefault(weight, []).append(rate)
    made = list(x)
    for weight, equal in groups.items():
        part = h * weight
        made = [start + part * _sum([rate[i] for rate in equal]) for i, start in enumerate(made)]
    return made


def _sum(terms: Sequence[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def require_method(method: str) -> None:
    """Raise CallError for a method that does not exist."""
    if method not in (*METHODS, "adaptive"):
        raise CallError(f"simulate: no method is called {method!r}; {suggest(str(method), (*METHODS, 'adaptive'))}")

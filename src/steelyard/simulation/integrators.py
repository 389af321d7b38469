"""Fixed-step integrators over any scalars: explicit Runge-Kutta and semi-implicit Euler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..algebra.scalar import Scalar, is_zero
from ..errors import CallError, suggest
from ..option_groups.simulation import ADAPTIVE, METHODS

Rates = Callable[[Sequence[Scalar], Sequence[Scalar]], tuple[list[Scalar], list[Scalar]]]
"""(q, qd) -> accelerations, and the rates of quadratures such as work and heat."""
Moves = Callable[[Sequence[Scalar], Sequence[Scalar]], list[Scalar]]
"""(q, qd) -> the rates of q."""
RATES = "rates"
"""Explicit Euler: a step of one second adds the rates of all quantities."""


@dataclass(frozen=True)
class ButcherTable:
    """Butcher table of an explicit Runge-Kutta method.

    a[i] weighs the rates of earlier stages for stage i; b weighs all stages for the result.
    """

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    order: int


@cache
def butcher_table(method: str) -> ButcherTable:
    """Return the Butcher table of "rk4" (classical) or "rk8" (Dormand and Prince, 12 stages).

    Hairer, Norsett and Wanner, "Solving Ordinary Differential Equations I", 2nd ed., section II.1
    (table 1.2) and II.5 (DOP853).
    """
    if method == RATES:
        return ButcherTable(((),), (1.0,), 1)
    if method == "rk4":
        return ButcherTable(
            ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6), 4
        )
    from scipy.integrate import DOP853

    stages = int(DOP853.n_stages)
    rows = tuple(tuple(float(x) for x in DOP853.A[i, :i]) for i in range(stages))
    return ButcherTable(rows, tuple(float(x) for x in DOP853.B[:stages]), 8)


def velocity_rates(q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
    """Return the rates of positions whose rates are the velocities."""
    return list(qd)


def integrate_step(
    method: str,
    rates: Rates,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    h: Scalar,
    moves: Moves = velocity_rates,
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Return q and qd after a step of h [s], and the increments of the quadratures.

    `moves` returns the rates of q where they are not qd. "euler" is the semi-implicit method: the
    new velocity changes the position, so that energy does not drift without friction. Hairer,
    Lubich and Wanner, "Geometric Numerical Integration", 2nd ed., section I.1.2 (symplectic Euler).
    """
    if method == "euler":
        qdd, further = rates(q, qd)
        after = [v + h * a for v, a in zip(qd, qdd, strict=True)]
        return (
            [x + h * v for x, v in zip(q, moves(q, after), strict=True)],
            after,
            [h * x for x in further],
        )
    butcher = butcher_table(method)
    stages: list[tuple[list[Scalar], list[Scalar], list[Scalar]]] = []
    for row in butcher.a:
        position = _advance(q, h, row, [s[0] for s in stages])
        velocity = _advance(qd, h, row, [s[1] for s in stages])
        qdd, further = rates(position, velocity)
        stages.append((moves(position, velocity), qdd, further))
    zero = [0.0] * len(stages[0][2])
    return (
        _advance(q, h, butcher.b, [s[0] for s in stages]),
        _advance(qd, h, butcher.b, [s[1] for s in stages]),
        _advance(zero, h, butcher.b, [s[2] for s in stages]),
    )


def _advance(
    x: Sequence[Scalar], h: Scalar, weights: Sequence[float], rates: Sequence[Sequence[Scalar]]
) -> list[Scalar]:
    """Return x + h (sum of the weighted rates); rates of equal weight are added first.

    An addition costs less than a product.
    """
    groups: dict[float, list[Sequence[Scalar]]] = {}
    for weight, rate in zip(weights, rates, strict=True):
        if not is_zero(weight):
            groups.setdefault(weight, []).append(rate)
    result = list(x)
    for weight, equal in groups.items():
        part = h * weight
        result = [
            start + part * _sum([rate[i] for rate in equal]) for i, start in enumerate(result)
        ]
    return result


def _sum(terms: Sequence[Any]) -> Any:
    """Return the sum of scalars without a leading zero."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def require_method(method: str) -> None:
    """Raise CallError for a method that does not exist."""
    if method not in (*METHODS, ADAPTIVE):
        raise CallError(
            f"simulate: no method is called {method!r};"
            f" {suggest(str(method), (*METHODS, ADAPTIVE))}"
        )

"""Projection onto closed configurations: the nearest one, for a whole batch at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .loop_thresholds import THRESHOLDS

Array = NDArray[np.float64]
Function = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Assembly:
    """Result of `robot.assembly`.

    Closed positions q (..., n), the remaining `gap` of the loops (...) [m|rad], and whether each
    configuration is `closed` (...).
    """

    q: Array
    gap: Array
    closed: NDArray[np.bool_]
    status: str


def closed_configurations(
    residual: Function, jacobian: Function, start: Array, free: Sequence[int], loops: Sequence[str]
) -> Assembly:
    """Find the closed configurations nearest to `start` (..., n) [rad|m].

    Only the `free` coordinates change. Newton steps of least length close the loops; then
    Gauss-Newton steps along them minimise |q - start|. Nocedal and Wright 2006, "Numerical
    Optimization", section 18.1 (sequential quadratic programming).
    """
    targets = start.reshape(-1, start.shape[-1])
    q, known = (
        targets.copy(),
        np.all(np.isfinite(targets), axis=-1) & ~(_gap(residual, targets) <= THRESHOLDS.exact_gap),
    )
    q[known] = _newton(residual, jacobian, q[known], free)
    for reach in THRESHOLDS.restart_changes:
        rows = np.flatnonzero(known & ~(_gap(residual, q) <= THRESHOLDS.closed_gap))
        if rows.size:
            shaken = targets[rows].copy()
            shaken[:, free] += reach * np.random.default_rng(0).uniform(
                -1.0, 1.0, (len(rows), len(free))
            )
            tried = _newton(residual, jacobian, shaken, free)
            better = _gap(residual, tried) < _gap(residual, q[rows])
            q[rows[better]] = tried[better]
    rows = np.flatnonzero(known & (_gap(residual, q) <= THRESHOLDS.closed_gap))
    q[rows] = _closest(residual, jacobian, q[rows], targets[rows], free)
    gap = _gap(residual, q)
    closed = gap <= THRESHOLDS.closed_gap
    open_ = gap[~closed & np.isfinite(gap)]
    status = _status(closed, float(open_.max()) if open_.size else np.nan, loops)
    shape = start.shape[:-1]
    return Assembly(q.reshape(start.shape), gap.reshape(shape), closed.reshape(shape), status)


def _status(closed: NDArray[np.bool_], worst: float, loops: Sequence[str]) -> str:
    if np.all(closed):
        return "closed"
    which = (
        "the configuration"
        if closed.size == 1
        else f"{np.sum(~closed)} of {closed.size} configurations"
    )
    if np.isnan(worst):
        return f"{which} cannot be closed: the positions are not finite"
    return (
        f"{which} cannot be closed from here: the loops {', '.join(loops)} stay open by up to"
        f" {worst:.3g} m or rad"
    )


def least_squares_step(Phi: Array, excess: Array, free: Sequence[int]) -> Array:
    """Compute the smallest change (..., n) of the free coordinates with Phi change = excess.

    Least squares by damped normal equations, which dependent closures need, and one refinement,
    which removes the effect of the damping.
    """
    A = Phi[..., free]
    gram = A @ np.swapaxes(A, -1, -2)
    size = np.trace(gram, axis1=-2, axis2=-1)[..., None, None] / max(gram.shape[-1], 1)
    gram = gram + (THRESHOLDS.dependent_closure * size + 1e-200) * np.eye(gram.shape[-1])
    total = np.zeros((*Phi.shape[:-2], Phi.shape[-1]))
    residual = excess
    for _ in range(2):
        change = np.einsum(
            "...ji,...j->...i", A, np.linalg.solve(gram, residual[..., None])[..., 0]
        )
        total[..., free] += change
        residual = residual - np.einsum("...ij,...j->...i", A, change)
    return total


def _newton(residual: Function, jacobian: Function, q: Array, free: Sequence[int]) -> Array:
    """Return closed configurations by Newton steps with line search."""
    q, phi = q.copy(), residual(q)
    open_ = np.arange(len(q))
    for _ in range(THRESHOLDS.closing_steps):
        if not open_.size:
            break
        change = -least_squares_step(jacobian(q[open_]), phi[open_], free)
        change *= np.minimum(
            1.0,
            THRESHOLDS.longest_step
            / np.maximum(np.abs(change).max(axis=-1, keepdims=True), 1e-300),
        )
        size, shares = _norm(phi[open_]), np.ones(len(open_))
        for _ in range(12):
            tried = residual(q[open_] + shares[:, None] * change)
            worse = ~(_norm(tried) < size) & (size > THRESHOLDS.closed_gap)
            if not np.any(worse):
                break
            shares[worse] *= 0.5
        better = _norm(tried) < size
        q[open_[better]] += (shares[:, None] * change)[better]
        phi[open_[better]] = tried[better]
        open_ = open_[
            better
            & (_norm(tried) > 0.0)
            & ~((size > 1e-6) & (_norm(tried) > THRESHOLDS.slow_convergence * size))
        ]
    return q


def _closest(
    residual: Function, jacobian: Function, q: Array, start: Array, free: Sequence[int]
) -> Array:
    """Move along the closed configurations towards the start while the distance decreases."""
    best = q.copy()
    for _ in range(THRESHOLDS.nearest_steps):
        Phi, away = jacobian(best), start - best
        correction = least_squares_step(Phi, np.einsum("...ij,...j->...i", Phi, away), free)
        along = np.zeros_like(away)
        along[..., free] = (away - correction)[..., free]
        if np.abs(along).max(initial=0.0) < 1e-13:
            break
        along *= np.minimum(
            1.0,
            THRESHOLDS.longest_step / np.maximum(np.abs(along).max(axis=-1, keepdims=True), 1e-300),
        )
        tried = _newton(residual, jacobian, best + along, free)
        nearer = _norm(tried - start) < _norm(best - start)
        nearer &= np.abs(residual(tried)).max(axis=-1, initial=0.0) <= np.maximum(
            THRESHOLDS.closed_gap, np.abs(residual(best)).max(axis=-1, initial=0.0)
        )
        best[nearer] = tried[nearer]
        if not np.any(nearer):
            break
    return best


def _gap(residual: Function, q: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(residual(q)).max(axis=-1, initial=0.0))


def _norm(x: Array) -> Array:
    return np.asarray(np.sqrt(np.sum(x * x, axis=-1)))

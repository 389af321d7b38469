"""The nonlinear part of friction, found in an outer loop: how wide the step of Coulomb friction is around zero speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..estimators.wls import weighted
from ..samples.samples import Samples
from .model import Model
from .problem import Problem

Array = NDArray[np.float64]
Rows: TypeAlias = "tuple[Array, Array, NDArray[np.bool_] | None]"
MOST = 4000  # samples that the search looks at
GRID = np.concatenate([[0.0], np.geomspace(1e-3, 3.0, 36)])  # [rad/s|m/s]
GAIN = 0.005  # of the residual's squares that a width must win over sign(qd)


@dataclass(frozen=True, eq=False)
class Widths:
    """The width of each joint's Coulomb step (n,) [rad/s|m/s], 0 for sign(qd), and sentences."""

    values: tuple[float, ...]
    status: tuple[str, ...] = ()


def find_widths(model: Model, samples: tuple[Samples, ...], rounds: int = 3) -> Widths:
    """Widths w_j of Fc tanh(qd / w_j) that leave the least residual: the linear parameters are solved for at each trial.

    Variable projection: Golub and Pereyra, SIAM J. Numer. Anal. 10 (1973), p. 413. A joint whose residual gains nothing keeps sign(qd).
    """
    columns = coulomb_columns(model)
    if not columns:
        return Widths((0.0,) * model.n)
    thin = thinned(samples)
    widths = np.array(model.widths or (0.0,) * model.n)
    for _ in range(rounds):
        trial = Problem(model.with_widths(widths.tolist()), thin)
        base, _ = weighted(trial.total, trial.prior, 2)
        before, rows = widths.copy(), per_log(trial)
        for j, group in columns.items():
            widths[j] = best_width(trial, rows, base, j, group)
        if np.array_equal(before, widths):
            break
    said = [f"{name} {w:.3g}" for name, w in zip(model.robot.joint_names, widths, strict=True) if w > 0]
    status = (f"Coulomb friction rises over a speed of [rad/s|m/s]: {', '.join(said)}.",) if said else ()
    return Widths(tuple(float(w) for w in widths), status)


def coulomb_columns(model: Model) -> dict[int, list[int]]:
    """Joint -> positions among the base columns of its Fv, Fc, F0, for the joints whose Fc is to be found."""
    names = list(model.base.names)
    groups = {}
    for j, joint in enumerate(model.robot.joint_names):
        if f"{joint}.Fc" in names:
            groups[j] = [names.index(f"{joint}.{term}") for term in ("Fc", "Fv", "F0") if f"{joint}.{term}" in names]
    return groups


def thinned(samples: tuple[Samples, ...]) -> tuple[Samples, ...]:
    """Every so many samples, together about MOST; the residual's shape over speed does not need them all."""
    step = max(1, sum(s.N for s in samples) // MOST)
    return tuple(s.part(slice(None, None, step)) for s in samples)


def best_width(trial: Problem, rows: list[Rows], base: Array, joint: int, group: list[int]) -> float:
    """The width of one joint, the other columns where they are, its own friction columns refitted at each trial."""
    rest, own, speed = [], [], []
    for part, (Y, tau, keep) in zip(trial.samples, rows, strict=True):
        kept = slice(None) if keep is None else keep[:, joint]
        without = base.copy()
        without[group] = 0.0
        rest.append((tau[:, joint] - Y[:, joint] @ without)[kept])
        own.append(Y[:, joint][:, group][kept])
        speed.append(part.qd[:, joint][kept])
    r, F, v = np.concatenate(rest), np.concatenate(own), np.concatenate(speed)
    cost = np.array([leftover(r, F, v, w) for w in GRID])
    k = int(np.argmin(cost))
    return float(GRID[k]) if cost[k] < (1.0 - GAIN) * cost[0] else 0.0


def leftover(r: Array, F: Array, speed: Array, width: float) -> float:
    """Squares left of r when Fc's column is the step of that width."""
    F = F.copy()
    F[:, 0] = np.tanh(speed / width) if width > 0 else np.sign(speed)
    gram, right = F.T @ F, F.T @ r
    return float(r @ r - right @ np.linalg.pinv(gram, hermitian=True) @ right)


def per_log(trial: Problem) -> list[Rows]:
    """Y, tau, keep of each log as one block."""
    made: list[Rows] = []
    for s in trial.samples:
        Y = trial.model.rows(s.q, s.qd, s.qdd)
        made.append((Y, s.tau - trial.model.known_torque(s.q, s.qd, s.qdd), s.keep))
    return made

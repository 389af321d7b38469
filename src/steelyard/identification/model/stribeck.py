"""The Stribeck effect: friction that falls as motion begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..estimators.wls import weighted
from ..samples.samples import Samples
from .coulomb_width import Rows, per_log, thinned
from .extra_terms import Extra
from .model import Model
from .problem import Problem

Array = NDArray[np.float64]
GRID = np.geomspace(0.01, 1.0, 15)  # [rad/s|m/s]
USUAL = 0.1  # [rad/s|m/s]: where the search begins


@dataclass(frozen=True)
class Stribeck:
    """tau_j += Fs_j step(qd_j) exp(-(qd_j / v_j)^2), one term for every joint: what friction has more near rest than Coulomb's.

    `speeds` v_j [rad/s|m/s] are found in an outer loop, Fs [N m|N] with the other parameters.
    Armstrong-Helouvry, Dupont and Canudas de Wit, Automatica 30 (1994), eq. (6).
    """

    joint_names: tuple[str, ...] = ()
    speeds: tuple[float, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{name}.Fs" for name in self.joint_names)

    def bound(self, joint_names: Sequence[str]) -> Stribeck:
        """For the joints of a robot, in their order."""
        return Stribeck(tuple(joint_names), self.speeds or (USUAL,) * len(joint_names))

    def structural(self) -> Stribeck:
        """The same terms so wide that random states show them."""
        return replace(self, speeds=(1.0,) * len(self.joint_names))

    def columns(self, q: Array, qd: Array, qdd: Array, widths: Sequence[float] = ()) -> Array:
        """(N, n, n): a column for each joint."""
        n = q.shape[1]
        Y = np.zeros((len(q), n, n))
        for j in range(n):
            Y[:, j, j] = shape(qd[:, j], self.speeds[j], widths[j] if widths else 0.0)
        return Y


def shape(qd: Array, speed: float, width: float) -> Array:
    """step(qd) exp(-(qd / speed)^2), the step being sign(qd) or tanh(qd / width)."""
    step = np.tanh(qd / width) if width > 0 else np.sign(qd)
    return np.asarray(step * np.exp(-((qd / speed) ** 2)))


def find_speeds(model: Model, samples: tuple[Samples, ...], rounds: int = 2) -> Model:
    """The model with the Stribeck speeds that leave the least residual; as it is where it has no such term.

    Variable projection joint by joint, as for the width of Coulomb friction: Golub and Pereyra 1973.
    """
    place = next((k for k, extra in enumerate(model.extras) if isinstance(extra, Stribeck)), None)
    if place is None:
        return model
    thin = thinned(samples)
    for _ in range(rounds):
        trial = Problem(model, thin)
        base, _ = weighted(trial.total, trial.prior, 2)
        term = model.extras[place]
        assert isinstance(term, Stribeck)
        rows = per_log(trial)
        speeds = tuple(best_speed(trial, rows, base, j, term) for j in range(model.n))
        extras: tuple[Extra, ...] = tuple(Stribeck(term.joint_names, speeds) if k == place else e for k, e in enumerate(model.extras))
        model = replace(model, extras=extras)
    return model


def best_speed(trial: Problem, rows: Sequence[Rows], base: Array, joint: int, term: Stribeck) -> float:
    """The speed of one joint, its own friction columns refitted at each trial."""
    names = list(trial.base.names)
    name = term.joint_names[joint]
    group = [names.index(f"{name}.{t}") for t in ("Fs", "Fc", "Fv", "F0") if f"{name}.{t}" in names]
    if f"{name}.Fs" not in names:
        return term.speeds[joint]
    width = trial.model.widths[joint] if trial.model.widths else 0.0
    without = base.copy()
    without[group] = 0.0
    r, F, v = [], [], []
    for part, (Y, tau, keep) in zip(trial.samples, rows, strict=True):
        kept = slice(None) if keep is None else keep[:, joint]
        r.append((tau[:, joint] - Y[:, joint] @ without)[kept])
        F.append(Y[:, joint][:, group][kept])
        v.append(part.qd[:, joint][kept])
    rest, columns, speed = np.concatenate(r), np.concatenate(F), np.concatenate(v)
    return float(GRID[int(np.argmin([left(rest, columns, shape(speed, s, width)) for s in GRID]))])


def left(r: Array, F: Array, first: Array) -> float:
    """Squares left of r after its best fit by the columns, the first of them replaced."""
    F = np.column_stack([first, F[:, 1:]])
    right = F.T @ r
    return float(r @ r - right @ np.linalg.pinv(F.T @ F, hermitian=True) @ right)

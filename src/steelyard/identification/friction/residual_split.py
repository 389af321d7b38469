"""The error that is left, split by cause: sensor noise, friction, rigid bodies, unexplained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiler.runtime.threads import mapped
from ...drawing.numbers import percent
from ...drawing.table import Column, Table
from ...mechanism.joint_terms import direction
from ..model.linear_model import Model
from ..model.problem import FOLDS, Problem, block_length
from ..result.provenance import rows
from ..samples.decimation import decimated
from ..samples.repeats import apart
from ..samples.samples import Samples

Array = NDArray[np.float64]
CAUSES = ("sensor noise", "friction", "rigid bodies", "unexplained")
MOST = 8000  # samples that are read
MOST_SPEEDS = 100_000  # samples, evenly spread, whose speeds are looked at
SPEEDS = 5  # pieces of the friction curve in either direction
SHRINK = 1e-6  # of the information about a column: coefficients with less are left at zero
BAND = (0.4, 0.75)  # of the Nyquist frequency: there is little motion there, and the low-pass of the decimation passes it


@dataclass(frozen=True, eq=False)
class ResidualSplit:
    """Shares (n, 4) of each joint's squared residual that go back to each of CAUSES; they add to one.

    Sensor noise is what is left of the residual's spectrum at high frequency, taken as white. Friction is what a free function of the
    joint's own speed, direction and load predicts on parts of the samples that it has not seen; rigid bodies what the columns of the links
    predict with values that this joint chooses by itself, and functions of its own position. What both could be counts half for either.
    `floor` is what differs between the periods of a motion that repeats, noise of any colour, over the torque; None for other motions.
    """

    joint_names: tuple[str, ...]
    shares: Array
    floor: float | None = None

    def table(self) -> Table:
        """Return the shares of every joint in percent."""
        columns = (Column("joint", numeric=False), *(Column(cause, "%") for cause in CAUSES))
        rows = tuple((name, *(percent(float(x), 0) for x in row)) for name, row in zip(self.joint_names, self.shares, strict=True))
        return Table("Causes of the error", columns, rows, "Shares of each joint's squared residual.")

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the shares as plain data, joint by joint."""
        return rows(name=self.joint_names, **{cause.replace(" ", "_"): self.shares[:, k] for k, cause in enumerate(CAUSES)})

    def __str__(self) -> str:
        return self.table().to_text()


@dataclass(frozen=True, eq=False)
class CauseColumns:
    """Columns that stand for causes at the samples of a log, (N, n, K): first those of friction, then those of positions.

    `knots` (n, SPEEDS) are the speeds [rad/s|m/s] at which the friction curve may bend.
    """

    model: Model
    base: Array
    knots: Array

    @property
    def friction(self) -> int:
        """How many of the columns stand for friction."""
        return 2 * SPEEDS + 2

    def __call__(self, samples: Samples, log: int) -> Array:
        speed, forward = np.abs(samples.qd), samples.qd > 0
        towards = np.stack([np.asarray(direction(t, v)) for t, v in zip(self.model.robot.tree.terms, samples.qd.T, strict=True)], axis=1)
        load = towards * np.abs(self.model.gravity_torque(self.base, samples.q))
        curve = [np.minimum(speed, self.knots[:, k]) * side for k in range(SPEEDS) for side in (forward, ~forward)]
        place = [wave(h * samples.q) for h in (1, 2) for wave in (np.sin, np.cos)]
        return np.stack([*curve, towards, load, *place, samples.qdd], axis=2)


def split_residuals(problem: Problem, base: Array) -> ResidualSplit:
    """Return what the residuals of base parameters (b,) go back to, joint by joint."""
    columns, whole = cause_columns(problem, base), with_free_links(problem.model)
    most = max(FOLDS, MOST * problem.decimate // block_length(problem.decimate)) if problem.N > MOST else None
    blocks = list(problem.blocks(most))
    keep = [np.ones(x.tau.shape, bool) if x.keep is None else x.keep for x in blocks]
    left = [(x.tau - x.rows @ base) * k for x, k in zip(blocks, keep, strict=True)]
    noise, e, kept = noise_share(left), np.concatenate(left), np.concatenate(keep)
    links = blocks if whole is problem.model else list(Problem(whole, problem.samples, problem.decimate).blocks(most))
    beside = list(mapped(lambda place: problem.columns_at(columns, place), problem.places(most)))

    def shares(j: int) -> tuple[float, float, float, float]:
        own = [k for k, c in enumerate(whole.reach[j]) if whole.base.columns[c] < 10 * len(whole.robot.tree.bodies)]
        parts = [np.column_stack([more[:, j], x.rows.row(j)[:, own]]) for more, x in zip(beside, links, strict=True)]
        C = np.concatenate(parts)[kept[:, j]]
        sets = C[:, : columns.friction], C[:, columns.friction :], C
        rub, rigid, both = (explained(X, e[kept[:, j], j]) for X in sets)
        return add_to_one(noise[j], (rub + both - rigid) / 2, (rigid + both - rub) / 2)

    made = np.array(list(mapped(shares, range(problem.n))))
    return ResidualSplit(problem.model.robot.joint_names, made, noise_between_periods(problem))


def with_free_links(model: Model) -> Model:
    """Return the model with nothing held of its links."""
    inner = 10 * len(model.robot.tree.bodies)
    held = tuple((i, x) for i, x in model.held if i >= inner)
    return model if held == model.held else replace(model, held=held)


def noise_between_periods(problem: Problem) -> float | None:
    """Return the root mean square of what differs between the periods of all logs, over that of the torque; None if one does not repeat."""
    squares, torque = 0.0, 0.0
    for s in problem.samples:
        if s.period is None:
            return None
        noise = apart(s.t, s.tau, s.period)
        squares += s.N * float(np.mean(decimated(noise, problem.decimate, 0, -(-len(noise) // problem.decimate)) ** 2))
        torque += s.N * float(np.mean(s.tau**2))
    return float(np.sqrt(squares / max(torque, 1e-300)))


def cause_columns(problem: Problem, base: Array) -> CauseColumns:
    """Return the columns of the causes: bends of the friction curves at quantiles of the speed."""
    step = -(-sum(s.N for s in problem.samples) // MOST_SPEEDS)
    speeds = np.abs(np.concatenate([s.qd[::step] for s in problem.samples]))
    return CauseColumns(problem.model, base, np.quantile(speeds, np.linspace(0.1, 0.9, SPEEDS), axis=0).T)


def explained(X: Array, e: Array) -> float:
    """Return the share of e (N,) that columns X (N, k) predict on consecutive parts from the others, from 0 to 1."""
    if len(e) < 2 * FOLDS or not np.any(e):
        return 0.0
    scale = np.linalg.norm(X, axis=0)
    X = X[:, scale > 1e-12 * scale.max(initial=0.0)] / scale[scale > 1e-12 * scale.max(initial=0.0)]
    parts = [slice(part[0], part[-1] + 1) for part in np.array_split(np.arange(len(e)), FOLDS)]
    grams = [(X[part].T @ X[part], X[part].T @ e[part]) for part in parts]
    A, z = sum(G for G, _ in grams), sum(g for _, g in grams)
    left = 0.0
    for part, own in zip(parts, grams, strict=True):
        G, g = A - own[0], z - own[1]
        left += float(np.sum((e[part] - X[part] @ np.linalg.solve(G + SHRINK * np.eye(len(g)), g)) ** 2))
    return float(np.clip(1.0 - left / np.sum(e**2), 0.0, 1.0))


def noise_share(parts: list[Array]) -> Array:
    """Return the share of white noise in residuals, each part (N, n) evenly sampled, (n,): the level of the spectrum within BAND."""
    total, level, weight = 0.0, 0.0, 0.0
    for e in (part for part in parts if len(part) >= 32):
        power = np.abs(np.fft.rfft(e * np.hanning(len(e))[:, None], axis=0)) ** 2
        low, high = (int(edge * (len(power) - 1)) for edge in BAND)
        level = level + len(e) * power[low:high].mean(axis=0)
        total = total + len(e) * power.mean(axis=0)
        weight += len(e)
    if not weight:
        return np.ones(parts[0].shape[1])
    return np.clip(level / np.maximum(total, 1e-300), 0.0, 1.0)


def add_to_one(noise: float, friction: float, rigid: float) -> tuple[float, float, float, float]:
    """Return shares of the four causes; those of friction and rigid bodies are at most what noise leaves over."""
    friction, rigid = max(friction, 0.0), max(rigid, 0.0)
    fits = min(1.0, (1.0 - noise) / max(friction + rigid, 1e-300))
    return noise, fits * friction, fits * rigid, max(1.0 - noise - fits * (friction + rigid), 0.0)

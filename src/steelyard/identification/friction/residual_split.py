"""The residual error split by cause: sensor noise, friction, rigid bodies, unexplained."""

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
from ..model.model_thresholds import THRESHOLDS as MODEL_THRESHOLDS
from ..model.problem import Problem, block_length
from ..result.provenance import table_rows
from ..samples.decimation import decimated
from ..samples.repeats import apart
from ..samples.samples import Samples
from .friction_thresholds import THRESHOLDS

Array = NDArray[np.float64]
CAUSES = ("sensor noise", "friction", "rigid bodies", "unexplained")


@dataclass(frozen=True, eq=False)
class ResidualSplit:
    """Shares (n, 4) of each joint's squared residual by cause (CAUSES); they add to one.

    Sensor noise is the level of the residual's spectrum at high frequency, assumed white. Friction
    is the share that a free function of the joint's speed, direction and load predicts out of
    sample. Rigid bodies are the share that link columns with free values, and functions of the
    joint's position, predict. A share that both predict is divided equally. `floor` is the
    difference between the periods of a periodic motion over the torque, None for other motions.
    """

    joint_names: tuple[str, ...]
    shares: Array
    floor: float | None = None

    def table(self) -> Table:
        """Return the shares of every joint in percent."""
        columns = (Column("joint", numeric=False), *(Column(cause, "%") for cause in CAUSES))
        rows = tuple(
            (name, *(percent(float(x), 0) for x in row))
            for name, row in zip(self.joint_names, self.shares, strict=True)
        )
        return Table(
            "Causes of the error", columns, rows, "Shares of each joint's squared residual."
        )

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the shares as plain data, joint by joint."""
        return table_rows(
            name=self.joint_names,
            **{cause.replace(" ", "_"): self.shares[:, k] for k, cause in enumerate(CAUSES)},
        )

    def __str__(self) -> str:
        return self.table().to_text()


@dataclass(frozen=True, eq=False)
class CauseColumns:
    """Columns of the causes at the samples of a log, (N, n, K): friction, then positions.

    `knots` (n, `speed_knots`) are the speeds [rad/s|m/s] at which the friction curve may bend.
    """

    model: Model
    base: Array
    knots: Array

    @property
    def friction(self) -> int:
        """Number of friction columns."""
        return 2 * THRESHOLDS.speed_knots + 2

    def __call__(self, samples: Samples, log: int) -> Array:
        speed, forward = np.abs(samples.qd), samples.qd > 0
        towards = np.stack(
            [
                np.asarray(direction(t, v))
                for t, v in zip(self.model.robot.tree.terms, samples.qd.T, strict=True)
            ],
            axis=1,
        )
        load = towards * np.abs(self.model.gravity_torque(self.base, samples.q))
        curve = [
            np.minimum(speed, self.knots[:, k]) * side
            for k in range(THRESHOLDS.speed_knots)
            for side in (forward, ~forward)
        ]
        position = [wave(h * samples.q) for h in (1, 2) for wave in (np.sin, np.cos)]
        return np.stack([*curve, towards, load, *position, samples.qdd], axis=2)


def split_residuals(problem: Problem, base: Array) -> ResidualSplit:
    """Split the residuals of base parameters (b,) by cause, joint by joint."""
    columns, whole = cause_columns(problem, base), with_free_links(problem.model)
    most = (
        max(
            MODEL_THRESHOLDS.folds,
            THRESHOLDS.split_samples * problem.decimate // block_length(problem.decimate),
        )
        if THRESHOLDS.split_samples < problem.N
        else None
    )
    blocks = list(problem.blocks(most))
    keep = [np.ones(x.tau.shape, bool) if x.keep is None else x.keep for x in blocks]
    errors = [(x.tau - x.rows @ base) * k for x, k in zip(blocks, keep, strict=True)]
    noise, e, used = noise_share(errors), np.concatenate(errors), np.concatenate(keep)
    links = (
        blocks
        if whole is problem.model
        else list(Problem(whole, problem.samples, problem.decimate).blocks(most))
    )
    beside = list(mapped(lambda block: problem.columns_at(columns, block), problem.places(most)))

    def shares(j: int) -> tuple[float, float, float, float]:
        link_columns = [
            k
            for k, c in enumerate(whole.reach[j])
            if whole.base.columns[c] < 10 * len(whole.robot.tree.bodies)
        ]
        parts = [
            np.column_stack([more[:, j], x.rows.row(j)[:, link_columns]])
            for more, x in zip(beside, links, strict=True)
        ]
        C = np.concatenate(parts)[used[:, j]]
        sets = C[:, : columns.friction], C[:, columns.friction :], C
        friction, rigid, both = (predicted_share(X, e[used[:, j], j]) for X in sets)
        return normalise_shares(
            noise[j], (friction + both - rigid) / 2, (rigid + both - friction) / 2
        )

    table = np.array(list(mapped(shares, range(problem.n))))
    return ResidualSplit(problem.model.robot.joint_names, table, noise_between_periods(problem))


def with_free_links(model: Model) -> Model:
    """Return the model with free link parameters."""
    inner = 10 * len(model.robot.tree.bodies)
    fixed = tuple((i, x) for i, x in model.held if i >= inner)
    return model if fixed == model.held else replace(model, held=fixed)


def noise_between_periods(problem: Problem) -> float | None:
    """Return the rms difference between periods over the rms torque; None without repetition."""
    squares, torque = 0.0, 0.0
    for s in problem.samples:
        if s.period is None:
            return None
        noise = apart(s.t, s.tau, s.period)
        squares += s.N * float(
            np.mean(decimated(noise, problem.decimate, 0, -(-len(noise) // problem.decimate)) ** 2)
        )
        torque += s.N * float(np.mean(s.tau**2))
    return float(np.sqrt(squares / max(torque, 1e-300)))


def cause_columns(problem: Problem, base: Array) -> CauseColumns:
    """Return the columns of the causes: bends of the friction curves at quantiles of the speed."""
    step = -(-sum(s.N for s in problem.samples) // THRESHOLDS.speed_samples)
    speeds = np.abs(np.concatenate([s.qd[::step] for s in problem.samples]))
    return CauseColumns(
        problem.model,
        base,
        np.quantile(speeds, np.linspace(0.1, 0.9, THRESHOLDS.speed_knots), axis=0).T,
    )


def predicted_share(X: Array, e: Array) -> float:
    """Return the share of e (N,), from 0 to 1, that columns X (N, k) predict out of sample.

    Consecutive parts are predicted from the others.
    """
    if len(e) < 2 * MODEL_THRESHOLDS.folds or not np.any(e):
        return 0.0
    scale = np.linalg.norm(X, axis=0)
    X = X[:, scale > 1e-12 * scale.max(initial=0.0)] / scale[scale > 1e-12 * scale.max(initial=0.0)]
    parts = [
        slice(part[0], part[-1] + 1)
        for part in np.array_split(np.arange(len(e)), MODEL_THRESHOLDS.folds)
    ]
    grams = [(X[part].T @ X[part], X[part].T @ e[part]) for part in parts]
    A, z = sum(G for G, _ in grams), sum(g for _, g in grams)
    squares = 0.0
    for part, gram in zip(parts, grams, strict=True):
        G, g = A - gram[0], z - gram[1]
        squares += float(
            np.sum(
                (e[part] - X[part] @ np.linalg.solve(G + THRESHOLDS.ridge * np.eye(len(g)), g)) ** 2
            )
        )
    return float(np.clip(1.0 - squares / np.sum(e**2), 0.0, 1.0))


def noise_share(parts: list[Array]) -> Array:
    """Return the share of white noise in residuals, each part (N, n) evenly sampled, (n,).

    The level of the spectrum within `noise_band`.
    """
    total, level, weight = 0.0, 0.0, 0.0
    for e in (part for part in parts if len(part) >= 32):
        power = np.abs(np.fft.rfft(e * np.hanning(len(e))[:, None], axis=0)) ** 2
        low, high = (int(edge * (len(power) - 1)) for edge in THRESHOLDS.noise_band)
        level = level + len(e) * power[low:high].mean(axis=0)
        total = total + len(e) * power.mean(axis=0)
        weight += len(e)
    if not weight:
        return np.ones(parts[0].shape[1])
    return np.clip(level / np.maximum(total, 1e-300), 0.0, 1.0)


def normalise_shares(
    noise: float, friction: float, rigid: float
) -> tuple[float, float, float, float]:
    """Return the shares of the four causes; friction and rigid bodies share what is not noise."""
    friction, rigid = max(friction, 0.0), max(rigid, 0.0)
    fits = min(1.0, (1.0 - noise) / max(friction + rigid, 1e-300))
    return noise, fits * friction, fits * rigid, max(1.0 - noise - fits * (friction + rigid), 0.0)

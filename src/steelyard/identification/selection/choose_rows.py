"""Choice of rows: leave out rows of resting joints where that lowers the held-out error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..model.accumulator import Accumulator
from ..model.linear_model import Model
from ..samples.preparation import Preparation
from ..samples.samples import Samples
from .held_out_torque import WLS, BandSamples, HeldOutError, plain_bases
from .selection_thresholds import THRESHOLDS

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RestingRows:
    """Rows of resting joints that are left out.

    Static friction takes any value between plus and minus the breakaway torque, so a row of a
    resting joint bounds the parameters but does not determine them.

    Parameters
    ----------
    joint_names : names of the robot's joints
    speeds : (n,) [rad/s|m/s] below which the rows of a joint are left out, 0 for all rows
    shares : (n,) of the samples below these speeds
    before, after : (n,) held-out error |e| / |tau| of moving rows, with and without resting rows
    """

    joint_names: tuple[str, ...]
    speeds: Array
    shares: Array
    before: Array
    after: Array

    def masked(self, samples: Iterable[Samples]) -> tuple[Samples, ...]:
        """Return samples without the rows of resting joints."""
        parts = []
        for s in samples:
            moving = np.abs(s.qd) >= self.speeds
            parts.append(replace(s, keep=moving if s.keep is None else s.keep & moving))
        return tuple(parts)

    def with_every_row(self, joints: Sequence[int]) -> RestingRows | None:
        """Return the choice with all rows of some joints; None if no joint has rows left out."""
        speeds = np.array(self.speeds)
        speeds[list(joints)] = 0.0
        return replace(self, speeds=speeds) if speeds.any() else None

    def prepared(self, preparation: Preparation) -> Preparation:
        """Return the preparation with these speeds as its mask."""
        pairs = zip(self.joint_names, self.speeds.tolist(), strict=True)
        return replace(preparation, mask={name: speed for name, speed in pairs if speed > 0.0})

    @property
    def note(self) -> str:
        """A sentence on the choice."""
        parts = [
            f"{name} ({share:.0%} of its samples, below {speed:.2g} rad/s|m/s; held-out error while"
            f" moving {after:.1%} in place of {before:.1%})"
            for name, speed, share, before, after in zip(
                self.joint_names, self.speeds, self.shares, self.before, self.after, strict=True
            )
            if speed > 0.0
        ]
        return f"Rows of resting joints are left out: {', '.join(parts)}."


def choose_rows(band: BandSamples, model: Model) -> RestingRows | None:
    """Choose the joints whose rows at rest are left out, by blocked cross-validation.

    Weighted least squares with viscous and Coulomb friction is fitted twice: to all rows, and
    without rows of resting joints. Both fits predict the moving rows of held-out blocks. A joint
    that is often at rest loses its resting rows if its error falls by more than `least_rest_gain`
    and by more than the standard error.

    Parameters
    ----------
    band : samples in the band of the comparison
    model : the model, with its usual friction terms

    Returns
    -------
    RestingRows; None where all rows are used.
    """
    if any(s.keep is not None and s.disturbed is None for s in band.samples):
        return None
    speeds, shares = resting_speeds([(s.t, s.qd) for s in band.samples])
    if not speeds.any():
        return None
    names = model.robot.joint_names
    unknown = np.full(len(speeds), np.nan)
    trial = RestingRows(names, speeds, shares, unknown, unknown)
    moving = replace(band, samples=trial.masked(band.samples))
    errors = [least_errors(each, moving, model) for each in (band, moving)]
    if not all(errors):
        return None
    before, after = errors
    speeds = np.where(list(map(gains_while_moving, after, before)), speeds, 0.0)
    if not speeds.any():
        return None
    totals = [np.array([each.total for each in errors]) for errors in (before, after)]
    return RestingRows(names, speeds, shares, *totals)


def gains_while_moving(after: HeldOutError, before: HeldOutError) -> bool:
    """Return whether leaving out the rows at rest lowers the error of a joint's moving rows."""
    return after.is_better(before, THRESHOLDS.least_rest_gain)


def resting_speeds(motions: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the speed (n,) below which each joint rests, and the share (n,) of samples at rest.

    The speed is 0 for joints that are too seldom at rest, or nearly always. A joint that is slow
    for less than `rest_seconds` reverses, and does not rest.

    Parameters
    ----------
    motions : times (N,) [s] and velocities (N, n) of each log
    """
    speeds = THRESHOLDS.rest_speed * np.max([np.abs(qd).max(axis=0) for _, qd in motions], axis=0)
    resting = np.concatenate([long_stretches(t, np.abs(qd) < speeds) for t, qd in motions])
    shares = np.mean(resting, axis=0)
    enough = shares >= THRESHOLDS.least_rest_share
    speeds = np.where(enough & (shares <= THRESHOLDS.largest_rest_share), speeds, 0.0)
    return speeds, shares


def long_stretches(t: Array, slow: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which samples (N, n) are in slow stretches of at least `rest_seconds`; t (N,) [s]."""
    long = np.zeros_like(slow)
    for j, each in enumerate(slow.T):
        edges = np.flatnonzero(np.diff(each.astype(int), prepend=0, append=0))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            if t[stop - 1] - t[start] >= THRESHOLDS.rest_seconds:
                long[start:stop, j] = True
    return long


def least_errors(training: BandSamples, moving: BandSamples, model: Model) -> list[HeldOutError]:
    """Return the held-out error of each joint while it moves; [] where rows are too few.

    Of several widths of the Coulomb step, each joint has the one of least error: a smooth step may
    explain slow rows.

    Parameters
    ----------
    training : samples that base parameters are estimated from
    moving : samples that are predicted
    model : the model, with its usual friction terms
    """
    errors: list[list[HeldOutError]] = []
    prior = model.base.values(model.start)
    for width in THRESHOLDS.rest_widths:
        smooth = model.with_shape("width", [width] * model.n)
        bases = plain_bases(training.folds(smooth), prior, WLS)
        if bases is None:
            return []
        errors.append(joint_errors(moving.folds(smooth), bases))
    return [min(each, key=lambda e: e.total) for each in zip(*errors, strict=True)]


def joint_errors(folds: Sequence[Accumulator], bases: Sequence[Array]) -> list[HeldOutError]:
    """Return the held-out error of each joint.

    Parameters
    ----------
    folds : rows of each block
    bases : (blocks, b) base parameters, each row estimated without its block
    """
    residual = np.array([f.residual_squares(b) for f, b in zip(folds, bases, strict=True)])
    torque = np.array([f.torque_squares() for f in folds])
    return [HeldOutError(*pair) for pair in zip(residual.T, torque.T, strict=True)]

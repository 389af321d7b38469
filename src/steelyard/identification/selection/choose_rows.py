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
    if any(s.keep is not None for s in band.samples):
        return None
    qd = np.abs(np.concatenate([s.qd for s in band.samples]))
    speeds = THRESHOLDS.rest_speed * qd.max(axis=0)
    shares = np.mean(qd < speeds, axis=0)
    low, high = THRESHOLDS.rest_shares
    speeds = np.where((shares >= low) & (shares <= high), speeds, 0.0)
    if not speeds.any():
        return None
    names = model.robot.joint_names
    unknown = np.full(len(speeds), np.nan)
    trial = RestingRows(names, speeds, shares, unknown, unknown)
    moving = replace(band, samples=trial.masked(band.samples)).folds(model)
    prior = model.base.values(model.start)
    bases = [plain_bases(rows, prior, WLS) for rows in (band.folds(model), moving)]
    if bases[0] is None or bases[1] is None:
        return None
    before, after = (joint_errors(moving, each) for each in bases if each is not None)
    gains = [a.is_better(b, THRESHOLDS.least_rest_gain) for a, b in zip(after, before, strict=True)]
    speeds = np.where(gains, speeds, 0.0)
    if not speeds.any():
        return None
    totals = [np.array([each.total for each in errors]) for errors in (before, after)]
    return RestingRows(names, speeds, shares, *totals)


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

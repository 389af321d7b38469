"""The learned residual of a fit: curves of the joints where it wins, zero outside the region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .curves import JointCurves
from .residual_thresholds import THRESHOLDS

Array = NDArray[np.float64]
EXPORTS = "fit.robot and exports (URDF, C and others) do not carry it"


@dataclass(frozen=True, eq=False)
class StateBox:
    """The states in which the learned residual acts: the region of the fit.

    Parameters
    ----------
    q_low, q_high : (n,) range of positions [rad|m]
    qd_most, qdd_most : (n,) largest |qd| [rad/s|m/s] and |qdd| [rad/s2|m/s2]
    taper : share of each range at its edge over which the residual falls to zero
    """

    q_low: Array
    q_high: Array
    qd_most: Array
    qdd_most: Array
    taper: float

    @classmethod
    def of(cls, q_low: Array, q_high: Array, qd_most: Array, qdd_most: Array) -> StateBox:
        """Return the box of ranges (n,) with the usual taper."""
        return cls(q_low, q_high, qd_most, qdd_most, taper=THRESHOLDS.taper)

    def weight(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the factor (N,) of the residual at q, qd, qdd, each (N, n).

        1 inside, 0 outside, linear between: the least over all joints and signals.
        """
        distances = (
            np.minimum(q - self.q_low, self.q_high - q) / (self.q_high - self.q_low),
            1.0 - np.abs(qd) / self.qd_most,
            1.0 - np.abs(qdd) / self.qdd_most,
        )
        nearest = np.minimum.reduce([distance.min(axis=1) for distance in distances])
        return np.asarray(np.clip(nearest / self.taper, 0.0, 1.0))

    def to_dict(self) -> dict[str, Any]:
        """Return the box as plain data."""
        return {name: np.asarray(value).tolist() for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StateBox:
        """Return the box that `to_dict` wrote."""
        names = ("q_low", "q_high", "qd_most", "qdd_most")
        arrays = {name: np.array(data[name], float) for name in names}
        return cls(**arrays, taper=float(data["taper"]))


@dataclass(frozen=True, eq=False)
class LearnedJoint:
    """The decision on one joint.

    Parameters
    ----------
    name : of the joint
    before, after : held-out rms error inside the region, without and with the learned torque
        [N m|N]
    ratio : squares of held-out errors with it over those without, of all rows or of the largest
        block, whichever is larger
    curves : the learned torque, None where it is not kept
    """

    name: str
    before: float
    after: float
    ratio: float = 1.0
    curves: JointCurves | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the joint as plain data."""
        curves = None if self.curves is None else self.curves.to_dict()
        return {**vars(self), "curves": curves}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LearnedJoint:
        """Return the joint that `to_dict` wrote, JSON in between: None stands for NaN."""
        numbers = {
            name: float("nan") if data[name] is None else float(data[name])
            for name in ("before", "after", "ratio")
        }
        curves = None if data["curves"] is None else JointCurves.from_dict(data["curves"])
        return cls(name=str(data["name"]), curves=curves, **numbers)


@dataclass(frozen=True, eq=False)
class LearnedResidual:
    """Torque that the identified model misses, of the joints where held-out torque gains by it.

    Parameters
    ----------
    box : states in which it acts
    joints : the decision on each joint
    """

    box: StateBox
    joints: tuple[LearnedJoint, ...]

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of the joints whose learned torque is kept."""
        return tuple(joint.name for joint in self.joints if joint.curves is not None)

    @property
    def error_ratios(self) -> Array:
        """Squares of held-out errors over those without it, (n,); 1 where it is not kept."""
        return np.array([1.0 if joint.curves is None else joint.ratio for joint in self.joints])

    def torque(self, q: Array, qd: Array, qdd: Array, load: Array) -> Array:
        """Return the learned torque (N, n) [N m|N], exactly zero outside the box.

        Parameters
        ----------
        q, qd, qdd : (N, n) states [rad|m], [rad/s|m/s], [rad/s2|m/s2]
        load : (N, n) gravity torque [N m|N]
        """
        torque, weight = np.zeros(q.shape), self.box.weight(q, qd, qdd)
        for j, joint in enumerate(self.joints):
            if joint.curves is not None:
                learned = joint.curves.torque(q[:, j], qd[:, j], load[:, j])
                torque[:, j] = np.where(weight > 0.0, weight * learned, 0.0)
        return torque

    def band(self, variance: Array, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the variance (N, n) of a measured torque around its prediction with it.

        Less by the fall of the held-out mean square, and at least the variance times the ratio
        of the held-out mean squares.

        Parameters
        ----------
        variance : (N, n) without the learned residual [(N m)^2|N^2]
        q, qd, qdd : (N, n) states
        """
        result, weight = np.array(variance), self.box.weight(q, qd, qdd)
        for j, joint in enumerate(self.joints):
            if joint.curves is not None:
                gain = joint.before**2 - joint.after**2
                share = (joint.after / joint.before) ** 2
                less = np.maximum(variance[:, j] - gain, share * variance[:, j])
                result[:, j] += weight * (less - variance[:, j])
        return result

    @property
    def note(self) -> str:
        """A sentence on the decision."""
        if not self.kept:
            return (
                "Learned residual: not kept, since it does not lower the held-out error of any"
                " joint enough; predictions are those without it."
            )
        joints = ", ".join(
            f"{joint.name} ({joint.after:.3g} in place of {joint.before:.3g} N m|N)"
            for joint in self.joints
            if joint.curves is not None
        )
        return (
            f"Learned residual: predicted torques have it, by the held-out error, at {joints};"
            f" it is zero outside the region, and {EXPORTS}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the learned residual as plain data."""
        return {"box": self.box.to_dict(), "joints": [joint.to_dict() for joint in self.joints]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LearnedResidual:
        """Return the learned residual that `to_dict` wrote."""
        joints = tuple(LearnedJoint.from_dict(row) for row in data["joints"])
        return cls(StateBox.from_dict(data["box"]), joints)

"""Control laws, each written once over scalars, so that they are traced into the step of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algebra.scalar import Scalar
from ..arguments import numbers
from ..dynamics.gravity import gravity_torque
from ..dynamics.joint_torques import friction_torque
from ..dynamics.rnea import inverse_dynamics
from ..errors import CallError
from ..mechanism.tree import Tree
from ..motion import Trajectory
from ..robot import Robot

Array = NDArray[np.float64]
Scalars = Sequence[Scalar]


@runtime_checkable
class Controller(Protocol):
    """A law of the state and of what is wanted: q [rad|m], qd and qdd of the reference, n scalars each.

    `gains` are inputs of the kernel, so that changing them compiles nothing.
    """

    reference: Any
    model: Robot | None

    def gains(self, n: int) -> Array:
        """All gains in one row, (k,)."""

    def law(self, tree: Tree, q: Scalars, qd: Scalars, wanted: Sequence[Scalars], gains: Scalars) -> list[Scalar]:
        """Torques, n scalars [N m|N], on the tree of the model that the controller has."""


@dataclass(frozen=True, eq=False)
class _Following:
    """Gains kp and kd, one for all joints or one each, the motion to follow or the position to hold, and the model that is used."""

    reference: Trajectory | ArrayLike | None = None
    kp: ArrayLike = 0.0
    kd: ArrayLike = 0.0
    model: Robot | None = None

    def __post_init__(self) -> None:
        for name in ("kp", "kd"):
            value = numbers(f"{type(self).__name__}: {name}", getattr(self, name))
            if value.ndim > 1 or not np.all(np.isfinite(value)):
                raise CallError(f"{type(self).__name__}: {name} must be one finite number, or one for each joint")

    def gains(self, n: int) -> Array:
        """kp, then kd, (2 n,)."""
        made = []
        for name in ("kp", "kd"):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.size not in (1, n):
                raise CallError(f"{type(self).__name__}: {name} has {value.size} numbers; expected one, or one for each of {n} joints")
            made.append(np.broadcast_to(value, n))
        return np.concatenate(made)

    @staticmethod
    def correction(q: Scalars, qd: Scalars, wanted: Sequence[Scalars], gains: Scalars) -> list[Scalar]:
        """kp (q_r - q) + kd (qd_r - qd)."""
        n = len(q)
        errors = zip(gains[:n], gains[n:], wanted[0], q, wanted[1], qd, strict=True)
        return [p * (a - b) + d * (c - e) for p, d, a, b, c, e in errors]


@dataclass(frozen=True, eq=False)
class PD(_Following):
    """tau = kp (q_r - q) + kd (qd_r - qd) + g(q). kp [N m/rad|N/m], kd [N m s/rad|N s/m].

    Takegaki and Arimoto 1981; Siciliano et al. 2009, section 8.5.1 (PD control with gravity compensation).
    """

    def law(self, tree: Tree, q: Scalars, qd: Scalars, wanted: Sequence[Scalars], gains: Scalars) -> list[Scalar]:
        return [a + b for a, b in zip(self.correction(q, qd, wanted, gains), gravity_torque(tree, q), strict=True)]


@dataclass(frozen=True, eq=False)
class ComputedTorque(_Following):
    """tau = M(q) (qdd_r + kd (qd_r - qd) + kp (q_r - q)) + C(q, qd) qd + g(q) + friction(qd_r). kp [1/s2], kd [1/s].

    Luh, Walker and Paul 1980; Siciliano et al. 2009, section 8.5.2 (inverse dynamics control).
    """

    def law(self, tree: Tree, q: Scalars, qd: Scalars, wanted: Sequence[Scalars], gains: Scalars) -> list[Scalar]:
        desired = [a + b for a, b in zip(wanted[2], self.correction(q, qd, wanted, gains), strict=True)]
        rigid = inverse_dynamics(tree.without_friction(), q, qd, desired)
        return [a + b for a, b in zip(rigid, friction_torque(tree, wanted[1], wanted[0]), strict=True)]


@dataclass(frozen=True, eq=False)
class FeedForward(_Following):
    """tau = inverse dynamics of the reference + kp (q_r - q) + kd (qd_r - qd). kp [N m/rad|N/m], kd [N m s/rad|N s/m].

    Siciliano et al. 2009, section 8.4 (feedforward compensation).
    """

    def law(self, tree: Tree, q: Scalars, qd: Scalars, wanted: Sequence[Scalars], gains: Scalars) -> list[Scalar]:
        ahead = inverse_dynamics(tree, *wanted)
        return [a + b for a, b in zip(ahead, self.correction(q, qd, wanted, gains), strict=True)]

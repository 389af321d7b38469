"""Joint-space control laws over scalars, which are traced into the step of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...algebra.scalar import Scalar, Scalars, dot
from ...arguments import real_number
from ...dynamics.gravity import gravity_torque
from ...dynamics.joint_torques import friction_torque
from ...dynamics.regressor import slotine_li_regressor
from ...dynamics.rnea import inverse_dynamics
from ...mechanism.parameter_vector import parameters
from ...mechanism.tree import Tree
from ...motion import Trajectory
from ...robot import Robot
from .controller import check_gains, spread_gain

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Following:
    """Joint controller with gains kp and kd, one for all joints or one each.

    Follows a trajectory or holds a position; `model` is the robot itself by default.
    """

    reference: Trajectory | ArrayLike | None = None
    kp: ArrayLike = 0.0
    kd: ArrayLike = 0.0
    model: Robot | None = None
    kernel_inputs: ClassVar[tuple[str, ...]] = ("reference", "kp", "kd")

    def __post_init__(self) -> None:
        check_gains(self, "kp", "kd")

    def gains(self, n: int) -> Array:
        """Return kp, then kd (2 n,)."""
        return np.concatenate([spread_gain(self, name, n, "joints") for name in ("kp", "kd")])

    @staticmethod
    def correction(
        q: Scalars, qd: Scalars, reference: Sequence[Scalars], gains: Scalars
    ) -> list[Scalar]:
        """Return kp (q_r - q) + kd (qd_r - qd)."""
        n = len(q)
        errors = zip(gains[:n], gains[n:], reference[0], q, reference[1], qd, strict=True)
        return [p * (a - b) + d * (c - e) for p, d, a, b, c, e in errors]


@dataclass(frozen=True, eq=False)
class PD(_Following):
    """PD control with gravity compensation: kp [N m/rad|N/m], kd [N m s/rad|N s/m].

    tau = kp (q_r - q) + kd (qd_r - qd) + g(q).
    Takegaki and Arimoto 1981; Siciliano et al. 2009, section 8.5.1 (PD control with gravity
    compensation).
    """

    def law(
        self,
        tree: Tree,
        q: Scalars,
        qd: Scalars,
        reference: Sequence[Scalars],
        gains: Scalars,
        *memory: Scalars,
    ) -> list[Scalar]:
        return [
            a + b
            for a, b in zip(
                self.correction(q, qd, reference, gains), gravity_torque(tree, q), strict=True
            )
        ]


@dataclass(frozen=True, eq=False)
class ComputedTorque(_Following):
    """Computed torque control: kp [1/s2], kd [1/s].

    tau = M(q) (qdd_r + kd (qd_r - qd) + kp (q_r - q)) + C(q, qd) qd + g(q) + friction(qd_r).
    Luh, Walker and Paul 1980; Siciliano et al. 2009, section 8.5.2 (inverse dynamics control).
    """

    def law(
        self,
        tree: Tree,
        q: Scalars,
        qd: Scalars,
        reference: Sequence[Scalars],
        gains: Scalars,
        *memory: Scalars,
    ) -> list[Scalar]:
        desired = [
            a + b
            for a, b in zip(reference[2], self.correction(q, qd, reference, gains), strict=True)
        ]
        rigid = inverse_dynamics(tree.without_friction(), q, qd, desired)
        return [
            a + b
            for a, b in zip(rigid, friction_torque(tree, reference[1], reference[0]), strict=True)
        ]


@dataclass(frozen=True, eq=False)
class FeedForward(_Following):
    """Feed-forward of the reference with PD feedback: kp [N m/rad|N/m], kd [N m s/rad|N s/m].

    tau = inverse dynamics of the reference + kp (q_r - q) + kd (qd_r - qd).
    Siciliano et al. 2009, section 8.4 (feedforward compensation).
    """

    def law(
        self,
        tree: Tree,
        q: Scalars,
        qd: Scalars,
        reference: Sequence[Scalars],
        gains: Scalars,
        *memory: Scalars,
    ) -> list[Scalar]:
        ahead = inverse_dynamics(tree, *reference)
        return [a + b for a, b in zip(ahead, self.correction(q, qd, reference, gains), strict=True)]


@dataclass(frozen=True, eq=False)
class SlotineLi:
    """Adaptive control that estimates the robot's parameters a.

    tau = Y(q, qd, v, dv) a - kd s, da/dt = -gamma W Y^T s, with s = qd - v and
    v = qd_r - rate (q - q_r). kd [N m s/rad|N s/m] and rate [1/s] are one for all joints or one
    each; gamma is one number. W has the squared sizes of the model's parameters, separately for
    masses, first moments, inertias and joint terms. a starts at the model's parameters;
    `Run.memory` has it over time. With V = s^T M s / 2 + |a - a_true|^2 / (2 gamma W),
    dV/dt = -s^T kd s. Slotine and Li 1987, eq. (6)-(9).
    """

    reference: Trajectory | ArrayLike | None = None
    rate: ArrayLike = 10.0
    kd: ArrayLike = 0.0
    gamma: float = 1.0
    model: Robot | None = None
    kernel_inputs: ClassVar[tuple[str, ...]] = ("reference", "rate", "kd", "gamma")

    def __post_init__(self) -> None:
        check_gains(self, "rate", "kd")
        real_number("SlotineLi: gamma", self.gamma, 0.0)

    def gains(self, n: int) -> Array:
        """Return rate, kd, gamma (2 n + 1,)."""
        return np.concatenate(
            [
                *(spread_gain(self, name, n, "joints") for name in ("rate", "kd")),
                [float(self.gamma)],
            ]
        )

    def memory(self, robot: Robot) -> Array:
        """Return the initial parameters (p,)."""
        return np.array((self.model or robot).parameters)

    def law(
        self,
        tree: Tree,
        q: Scalars,
        qd: Scalars,
        reference: Sequence[Scalars],
        gains: Scalars,
        *memory: Scalars,
    ) -> list[Scalar]:
        s, Y = self._error(tree, q, qd, reference, gains)
        return [
            dot(row, memory[0]) - d * x for row, d, x in zip(Y, gains[tree.n :], s, strict=False)
        ]

    def memory_rate(
        self,
        tree: Tree,
        q: Scalars,
        qd: Scalars,
        reference: Sequence[Scalars],
        gains: Scalars,
        memory: Scalars,
    ) -> list[Scalar]:
        """Return da/dt, p scalars."""
        s, Y = self._error(tree, q, qd, reference, gains)
        return [
            -gains[-1] * size**2 * dot([row[k] for row in Y], s)
            for k, size in enumerate(parameter_sizes(tree))
        ]

    def _error(
        self, tree: Tree, q: Scalars, qd: Scalars, reference: Sequence[Scalars], gains: Scalars
    ) -> tuple[list[Scalar], Any]:
        """Return s, n scalars, and Y(q, qd, v, dv), n x p."""
        rate = gains[: tree.n]
        v = [
            b - k * (x - a) for k, x, a, b in zip(rate, q, reference[0], reference[1], strict=True)
        ]
        dv = [
            c - k * (x - b) for k, x, b, c in zip(rate, qd, reference[1], reference[2], strict=True)
        ]
        return [a - b for a, b in zip(qd, v, strict=True)], slotine_li_regressor(tree, q, qd, v, dv)


def parameter_sizes(tree: Tree) -> list[float]:
    """Return the typical size of each parameter, p numbers.

    The largest value of its kind, or the largest mass times a power of 0.1 m.
    """
    pi = [abs(float(x)) for x in parameters(tree)]
    inner = 10 * len(tree.bodies)
    mass = max(pi[:inner:10], default=0.0) or 1.0
    kinds = [range(1), range(1, 4), range(4, 10)]
    largest = [
        max((pi[k + i] for i in range(0, inner, 10) for k in kind), default=0.0) or mass * 0.1**j
        for j, kind in enumerate(kinds)
    ]
    links = [largest[0], *[largest[1]] * 3, *[largest[2]] * 6] * len(tree.bodies)
    return links + [x or 1.0 for x in pi[inner:]]

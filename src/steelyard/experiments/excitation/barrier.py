"""The logarithmic barrier of a motion's limits.

Slacks at every sample, with first and second derivatives by the coefficients.

Position, velocity, acceleration and jerk are linear in the coefficients, so that their part is
exact; of the torque's second derivative the part that matters near the limit is kept
(Gauss-Newton). Boyd and Vandenberghe, Convex Optimization, 2004, section 11.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...motion.trajectories.limits import TrajectoryLimits
from ...robot import Robot
from .excitation_thresholds import THRESHOLDS

Array = NDArray[np.float64]


class BoxConstraints(NamedTuple):
    """bound - sign * (derivative of that order of some joints) > 0."""

    order: int
    sign: float
    bound: Array
    joints: NDArray[np.intp]


class Constraint(Protocol):
    """Slacks (N, k) of states (4, N, n), positive within the limits, relative to them.

    `labels` names what each slack keeps.
    """

    @property
    def labels(self) -> tuple[str, ...]: ...

    def slack(self, states: Array) -> Array: ...

    def jacobian(self, states: Array) -> tuple[Array, ...]:
        """Compute d slack / d(q, qd, qdd), as many of them as matter, (N, k, n) each."""
        ...


@dataclass(frozen=True, eq=False)
class TorqueLimit:
    """1 -+ tau / effort of the joints whose effort is limited."""

    robot: Robot
    effort: Array

    @property
    def labels(self) -> tuple[str, ...]:
        """Each torque in words."""
        names = [
            name
            for name, x in zip(self.robot.joint_names, self.effort, strict=True)
            if np.isfinite(x)
        ]
        return tuple(f"the torque of {name}" for _ in range(2) for name in names)

    def slack(self, states: Array) -> Array:
        joints = np.flatnonzero(np.isfinite(self.effort))
        share = self.robot.inverse_dynamics(*states[:3])[:, joints] / self.effort[joints]
        return np.concatenate([1.0 - share, 1.0 + share], axis=1)

    def jacobian(self, states: Array) -> tuple[Array, ...]:
        joints = np.flatnonzero(np.isfinite(self.effort))
        derivatives = (
            x[:, joints] / self.effort[joints, None]
            for x in self.robot.inverse_dynamics_derivatives(*states[:3])
        )
        return tuple(np.concatenate([-x, x], axis=1) for x in derivatives)


def box_constraints(limits: TrajectoryLimits) -> tuple[BoxConstraints, ...]:
    """Return the finite limits on position, velocity, acceleration and jerk as constraints."""
    rates = ((1, limits.velocity), (2, limits.acceleration), (3, limits.jerk))
    rows = [
        (0, 1.0, limits.upper),
        (0, -1.0, -limits.lower),
        *((order, sign, x) for order, x in rates for sign in (1.0, -1.0)),
    ]
    limited = (
        (order, sign, bound, np.flatnonzero(np.isfinite(bound))) for order, sign, bound in rows
    )
    return tuple(
        BoxConstraints(order, sign, bound[joints], joints)
        for order, sign, bound, joints in limited
        if len(joints)
    )


@dataclass(frozen=True, eq=False)
class LogBarrier:
    """Logarithmic barrier -sum log(slack) over the samples of a motion.

    The states (4, N, n) of the motion are rows (4, N, m) times its coefficients (n, m).
    """

    rows: Array
    boxes: tuple[BoxConstraints, ...]
    others: tuple[Constraint, ...] = ()

    def value(self, states: Array) -> float:
        """Compute the barrier; infinite where a limit is exceeded."""
        total = 0.0
        for slack in self._slacks(states):
            if slack.size and not slack.min() > 0:
                return float("inf")
            total -= float(np.sum(np.log(slack)))
        return total

    def derivatives(self, states: Array) -> tuple[Array, Array, Array]:
        """Compute gradient (n, m) and positive semidefinite Hessian (n m, n m) of the barrier.

        The derivatives are by the coefficients. Also returns d log(slack) (k, n m) of the nonlinear
        slacks that are small.
        """
        n, m = states.shape[2], self.rows.shape[2]
        orders = sorted({box.order for box in self.boxes})
        first, second = np.zeros((2, len(orders), *states.shape[1:]))
        for box, slack in zip(self.boxes, self._slacks(states), strict=False):
            first[orders.index(box.order)][:, box.joints] += box.sign / slack
            second[orders.index(box.order)][:, box.joints] += 1.0 / slack**2
        rows = self.rows[orders].reshape(-1, m)
        gradient = first.reshape(-1, n).T @ rows
        blocks = rows.T @ (second.reshape(-1, n).T[:, :, None] * rows)
        joints = np.zeros((n, m, n, m))
        joints[np.arange(n), :, np.arange(n)] = blocks
        curvature = joints.reshape(n * m, n * m)
        parts = [self._nonlinear(each, states) for each in self.others]
        J = np.concatenate([np.empty((0, n * m)), *(part[1] for part in parts)])
        return sum((part[0] for part in parts), gradient), curvature + J.T @ J, J

    def longest_step(self, states: Array, change: Array, rates: Array) -> float:
        """Return the longest step along a change of states (4, N, n) within the linear limits.

        Infinite if no limit is reached.

        `rates` (k,) are the relative rates at which other slacks change: as if these limits were
        linear, too.
        """
        fastest = max(0.0, -float(np.min(rates, initial=0.0)))
        for box, slack in zip(self.boxes, self._slacks(states), strict=False):
            fastest = max(
                fastest, float(np.max(box.sign * change[box.order][:, box.joints] / slack))
            )
        return 1.0 / fastest if fastest > 0 else float("inf")

    def _slacks(self, states: Array) -> Iterator[Array]:
        yield from (box.bound - box.sign * states[box.order][:, box.joints] for box in self.boxes)
        yield from (each.slack(states) for each in self.others)

    def _nonlinear(self, constraint: Constraint, states: Array) -> tuple[Array, Array]:
        """Return the gradient (n, m) and the Gauss-Newton rows (k, n m) of small slacks.

        The second derivative is J^T J of these rows.
        """
        slack, D = constraint.slack(states), constraint.jacobian(states)
        gradient = -sum(
            np.einsum("tk,tkj->jt", 1.0 / slack, x) @ self.rows[i] for i, x in enumerate(D)
        )
        t, k = np.nonzero(slack < THRESHOLDS.near_slack)
        J = (
            sum(x[t, k][:, :, None] * self.rows[i][t][:, None, :] for i, x in enumerate(D))
            / slack[t, k][:, None, None]
        )
        return gradient, np.asarray(J).reshape(len(t), gradient.size)

"""Payloads of logs whose centre or inertia is unknown, estimated together with the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...drawing.numbers import with_uncertainty
from ...errors import CallError
from ...parameters.orders import from_urdf, to_urdf, urdf_jacobian
from ...parameters.pseudo_inertia import load_to_body
from ...robot import Robot
from ...signals.schema import Payload
from ..model.linear_model import Model
from ..samples.samples import Samples

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
ENTRIES = [[0, 1, 2], [1, 3, 4], [2, 4, 5]]
"""Where the entries of a symmetric matrix (3, 3) are in Ixx Ixy Ixz Iyy Iyz Izz."""


def unknown_terms(payload: Payload) -> tuple[int, ...]:
    """Return which of the ten parameters about the payload's frame are unknown.

    With an unknown centre these are first moments and inertia, with a known one the inertia.
    """
    if payload.com is None:
        return tuple(range(1, 10))
    return tuple(range(4, 10)) if payload.inertia is None else ()


def body_of(robot: Robot, payload: Payload) -> int:
    """Return the index of the moving body that carries a payload."""
    return robot.tree.frames[payload.frame or robot.end_effector].body


def matrix_to_body(robot: Robot, payload: Payload) -> Array:
    """Return the matrix (10, 10) that moves parameters from the payload's frame to its body."""
    pose = robot.tree.frames[payload.frame or robot.end_effector].pose
    return load_to_body(np.array(pose.R, float), np.array(pose.p, float))


@dataclass(frozen=True, eq=False)
class PayloadColumns:
    """Regressor columns (N, n, k) of the unknown parameters of payloads.

    `payloads` are distinct. Logs that state equal payloads carry the same one; the columns of a
    payload are zero in logs without it.
    """

    model: Model
    payloads: tuple[Payload, ...]

    @property
    def slices(self) -> tuple[slice, ...]:
        """The columns of each payload."""
        ends = np.cumsum([0, *(len(unknown_terms(each)) for each in self.payloads)]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @property
    def count(self) -> int:
        """How many columns there are."""
        return self.slices[-1].stop if self.payloads else 0

    def __call__(self, samples: Samples, log: int) -> Array:
        Y = np.zeros((*samples.q.shape, self.count))
        if samples.payload in self.payloads:
            payload, robot = samples.payload, self.model.robot
            body = 10 * body_of(robot, payload)
            q, qd, qdd, *base = samples.states
            columns = self.model.columns(q, qd, qdd, tuple(range(body, body + 10)), *base)
            of_load = columns @ matrix_to_body(robot, payload)
            index = self.slices[self.payloads.index(payload)]
            Y[:, :, index] = of_load[:, :, list(unknown_terms(payload))]
        return Y


def payload_columns(model: Model, samples: Sequence[Samples]) -> PayloadColumns:
    """Return the columns of all payloads that are not known whole."""
    return PayloadColumns(
        model, tuple(dict.fromkeys(s.payload for s in samples if s.payload is not None))
    )


@dataclass(frozen=True, eq=False)
class EstimatedPayload:
    """A payload of some logs whose unknown numbers were estimated together with the robot.

    `stated` is the payload as the logs state it. `parameters` (10,) are m, mc, Ixx Ixy Ixz Iyy Iyz
    Izz about the origin of its frame, `covariance` (10, 10) is theirs, `shown` (10,) says which the
    logs determine. Numbers are least-squares estimates; they need not be physically consistent.
    """

    robot: Robot
    stated: Payload
    parameters: Array
    covariance: Array
    shown: Bools

    @property
    def frame(self) -> str:
        """The frame of the numbers."""
        return self.stated.frame or self.robot.end_effector

    @property
    def mass(self) -> float:
        """Mass [kg], as given."""
        return self.stated.mass

    @property
    def com(self) -> Array:
        """Centre of mass in the frame, (3,) [m]."""
        return self._numbers[1:4]

    @property
    def com_std(self) -> Array:
        """Standard deviation of `com`, (3,) [m]: 0 where given, infinite where not shown."""
        return self._std[1:4]

    @property
    def inertia(self) -> Array:
        """Inertia about the centre of mass, in the frame's axes, (3, 3) [kg m2]."""
        return self._numbers[4:][ENTRIES]

    @property
    def inertia_std(self) -> Array:
        """Standard deviation of `inertia`, (3, 3) [kg m2]: 0 where given, infinite if unknown."""
        return self._std[4:][ENTRIES]

    @property
    def _numbers(self) -> Array:
        return to_urdf(self.parameters)

    @property
    def _std(self) -> Array:
        jacobian = urdf_jacobian(self.parameters)
        variance = np.einsum("ij,jk,ik->i", jacobian, self.covariance, jacobian)
        hidden = np.any((np.abs(jacobian) > 1e-9) & ~self.shown, axis=1)
        return np.where(hidden, np.inf, np.sqrt(np.maximum(variance, 0.0)))

    def torque(self, samples: Samples) -> Array:
        """Return the torque (N, n) [N m|N] that moves and holds the payload."""
        added, body = np.zeros(len(self.robot.parameters)), 10 * body_of(self.robot, self.stated)
        added[body : body + 10] = matrix_to_body(self.robot, self.stated) @ self.parameters
        q, qd, qdd, *base = samples.states
        motion = base[0] if base else None
        return self.robot.inverse_dynamics(q, qd, qdd, base=motion, parameters=added)

    def sentence(self) -> str:
        """Return the estimated centre with two standard deviations, as a sentence."""
        load = f"The payload of {self.mass:.4g} kg on {self.frame}"
        if self.stated.com is not None:
            return f"{load}: its inertia was estimated together with the robot."
        axes = [
            f"{axis} {' ± '.join(with_uncertainty(x, 2 * s))} m"
            if np.isfinite(s)
            else f"{axis} not shown"
            for axis, x, s in zip("xyz", self.com.tolist(), self.com_std.tolist(), strict=True)
        ]
        return f"{load}: centre of mass {', '.join(axes)}, estimated together with the robot."


def estimated_payload(
    robot: Robot, payload: Payload, values: Array, covariance: Array, shown: Bools
) -> EstimatedPayload:
    """Return a payload with its unknown parameters (k,), their covariance (k, k) and shown (k,)."""
    terms = list(unknown_terms(payload))
    parameters = from_urdf(np.array([payload.mass, *(payload.com or np.zeros(3)), *np.zeros(6)]))
    every, visible = np.zeros((10, 10)), np.ones(10, bool)
    parameters[terms] += values
    every[np.ix_(terms, terms)] = covariance
    visible[terms] = shown
    return EstimatedPayload(
        robot=robot, stated=payload, parameters=parameters, covariance=every, shown=visible
    )


def with_payloads(samples: Samples, payloads: Sequence[EstimatedPayload]) -> Samples:
    """Return samples with the whole torque of their payload.

    Raises CallError if the samples have a payload of which the estimates do not have the rest.
    """
    if samples.payload is None:
        return samples
    match = next((each for each in payloads if each.stated == samples.payload), None)
    if match is None:
        raise CallError(
            f"the centre or the inertia of the payload of {samples.payload.mass:.4g} kg is not"
            " known: give com= and inertia= of Payload, or identify from logs with this payload"
            " and logs without it"
        )
    return replace(samples, payload_torque=match.torque(samples), payload=None)

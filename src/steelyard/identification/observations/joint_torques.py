"""Joint torques: the observation of a robot without loops, one row for each joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import CallError, LogError
from ...option_groups.identification import KnownArgument
from ...robot import Robot
from ...signals.log import Log
from ..model.known import KnownFunction, Torque, torque_of
from ..model.model_thresholds import THRESHOLDS
from ..samples.fourier import FourierMotion
from ..samples.preparation import Preparation
from ..samples.samples import (
    Samples,
    commanded,
    finite_part,
    logged_base_motion,
    payload_torque,
    refuse_degrees,
    require,
    slice_of,
    state_arrays,
    temperature,
)
from ..samples.smoothing import drawn_errors
from .observation import EVERY_STEP, EstimatedParameters, Observation, SmoothedMotion

Array = NDArray[np.float64]
UNUSED_WRENCH = (
    "base_wrench was not used, since there are torques of the joints; without tau the wrench is"
    " identified from."
)


@dataclass(frozen=True)
class JointTorques(Observation):
    """tau = Y(q, qd, qdd) pi, a row for each joint [N m|N]."""

    case = "a log of joint torques"
    allowed = EVERY_STEP
    has_joint_rows = True
    predicts_measurements = True

    def applies(self, robot: Robot, logs: Sequence[Log]) -> bool:
        """Return True: other logs are refused for the torques that they lack."""
        return True

    def row_names(self, robot: Robot) -> tuple[str, ...]:
        """Return the names of the joints."""
        return robot.joint_names

    def select(self, robot: Robot, log: Log) -> Log:
        """Return the log with its joints in the robot's order; raise LogError without torques."""
        log = log.reordered(robot)
        require(log)
        refuse_degrees(robot, log)
        return log

    def samples(
        self, robot: Robot, log: Log, motion: SmoothedMotion, options: Preparation
    ) -> Samples:
        """Return the samples of a cleaned log, with the rows that the mask leaves in use."""
        least = options.least_speeds(robot.joint_names)
        assert log.tau is not None
        used = slice_of(motion.used)
        t, q, qd, qdd, tau = (x[used] for x in (log.t, *motion.states, log.tau))
        base = logged_base_motion(robot, log)
        unused = () if log.base_wrench is None else (f"{log.where or 'A log: '}{UNUSED_WRENCH}",)
        repeats = (motion.noise.sentence(log),) if isinstance(motion.noise, FourierMotion) else ()
        samples = Samples(
            t=t,
            q=q,
            qd=qd,
            qdd=qdd,
            tau=tau,
            keep=None if least is None else np.abs(qd) >= least,
            remarks=(*log.remarks, *unused, *repeats),
            source=log.source,
            base=None if base is None else base[used],
            temperature=temperature(log, used),
            measured=log.q[used],
            command=(log.t, commanded(log)),
            period=motion.period,
            measured_tau=tau,
            measured_qd=finite_part(log.qd, used),
        )
        samples = replace(samples, errors=drawn_errors(t[samples.middle], motion.noise))
        return samples if log.payload is None else with_payload_torque(robot, log, samples)

    def regressor(self, robot: Robot, q: Array, qd: Array, qdd: Array, *base: Array) -> Array:
        """Return Y with tau = Y pi, (N, n, p)."""
        return np.asarray(robot.regressor(q, qd, qdd, *base))

    def predictor(
        self, robot: Robot, *, known: KnownArgument | None = None, structure: Robot | None = None
    ) -> Torque:
        """Return the inverse dynamics of a robot plus the known torque."""
        return torque_of(robot, known)

    def predict(
        self, estimate: EstimatedParameters, q: Array, qd: Array, qdd: Array
    ) -> tuple[Array, Array]:
        """Return joint torques and diag(Y cov Y^T), both (..., n)."""
        variance = torque_variance(estimate, *(x.reshape(-1, x.shape[-1]) for x in (q, qd, qdd)))
        torque = self.joint_torque(estimate.robot, estimate.known, q, qd, qdd, None)
        return torque, variance.reshape(torque.shape)

    def joint_torque(
        self,
        robot: Robot,
        known: KnownFunction | None,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        base: ArrayLike | None,
    ) -> Array:
        """Return the joint torques of a robot, known torques included, (..., n) [N m|N]."""
        states = state_arrays(robot.n, q, qd, qdd)
        shape = states[0].shape
        moved = (
            ()
            if base is None
            else (np.broadcast_to(np.asarray(base, float), (*shape[:-1], 9)).reshape(-1, 9),)
        )
        flat = (x.reshape(-1, robot.n) for x in states)
        return torque_of(robot, known)(*flat, *moved).reshape(shape)


JOINT_TORQUES = JointTorques()


def torque_variance(estimate: EstimatedParameters, q: Array, qd: Array, qdd: Array) -> Array:
    """Return diag(Y cov Y^T) (N, n) of states (N, n), block by block."""
    step, parts = THRESHOLDS.block_samples, [np.zeros((0, q.shape[1]))]
    for start in range(0, len(q), step):
        Y = estimate.rows(*(x[start : start + step] for x in (q, qd, qdd)))
        parts.append(np.einsum("tjb,tjb->tj", Y @ estimate.covariance, Y))
    return np.concatenate(parts)


def with_payload_torque(robot: Robot, log: Log, samples: Samples) -> Samples:
    """Return samples with the torque (N, n) of the log's payload, and a sentence on it."""
    assert log.payload is not None
    try:
        torque = payload_torque(robot, log.payload, *samples.states)
    except CallError as error:
        raise LogError(f"{log.where}its payload: {error}") from None
    note = (
        f"{log.where or 'A log: '}the torque of its payload, {log.payload.mass:.4g} kg, was taken"
        " out; the result is the robot without it."
    )
    unknown = None if log.payload.is_known else log.payload
    return replace(
        samples, remarks=(*samples.remarks, note), payload_torque=torque, payload=unknown
    )

"""Drive torques: the observation of a robot with loops, in its independent coordinates.

The multipliers of the loops do no work and have no part in these equations. A log needs the
positions of the joints that determine all others and the torques of the drives; the positions of
the passive joints follow from the loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import CallError, LogError, suggest
from ...option_groups.identification import KnownArgument
from ...parameters.base import closed_regressor
from ...robot import Robot
from ...signals.log import Log
from ..identification_thresholds import THRESHOLDS
from ..model.known import KnownFunction, Torque
from ..model.model_options import ModelOptions
from ..samples.preparation import Preparation
from ..samples.samples import Samples, logged_base_motion, refuse_degrees, require
from ..samples.smoothing import drawn_errors
from .observation import EstimatedParameters, Observation, SmoothedMotion

Array = NDArray[np.float64]
INDEPENDENT = (
    "Torques act on the independent joints, {}: loops do no work, so that their multipliers"
    " are not needed."
)
PASSIVE = "Friction and offsets of joints without a drive are taken from the description."


@dataclass(frozen=True)
class DriveTorques(Observation):
    """N^T tau = N^T Y(q, qd, qdd) pi with qd = N qd_independent, a row per independent joint.

    Khalil and Dombre 2002, section 12.4.
    """

    case = "a robot with loops"

    def applies(self, robot: Robot, logs: Sequence[Log]) -> bool:
        """Return whether the robot has loops."""
        return bool(robot.tree.loops)

    def row_names(self, robot: Robot) -> tuple[str, ...]:
        """Return the names of the independent joints."""
        return independent_joints(robot)

    def notes(self, robot: Robot) -> tuple[str, ...]:
        """Return which joints the torques are of, and what they do not show."""
        return INDEPENDENT.format(", ".join(independent_joints(robot))), PASSIVE

    def model_options(self, options: ModelOptions) -> ModelOptions:
        """Return the options with the usual friction terms; CallError for a known torque."""
        if options.known is not None:
            raise CallError(
                "known= cannot be combined with a robot that has loops; give the robot the torque"
                " itself: robot.with_known_torque(...)"
            )
        return replace(options, friction=options.first_terms)

    def unobservable(self, robot: Robot, model_robot: Robot, moving: bool) -> dict[int, float]:
        """Return the terms of joints without a drive, with the values of the description."""
        passive = {name for c, name in enumerate(robot.joint_names) if c not in robot.tree.driven}
        described = dict(zip(robot.parameter_names, robot.parameters, strict=True))
        links = 10 * len(robot.tree.bodies)
        return {
            i: float(described.get(name, 0.0))
            for i, name in enumerate(model_robot.parameter_names)
            if i >= links and name.rpartition(".")[0] in passive
        }

    def select(self, robot: Robot, log: Log) -> Log:
        """Return the log of the driven and the independent joints."""
        log = drive_log(robot, log)
        require(log)
        logged_base_motion(robot, log)  # refuses one that moves
        if set(log.labels) == set(robot.joint_names):
            refuse_degrees(robot, log)
        return log

    def samples(
        self, robot: Robot, log: Log, motion: SmoothedMotion, options: Preparation
    ) -> Samples:
        """Return the samples of a cleaned log, with passive joints where the loops put them."""
        columns = [robot.joint_names.index(name) for name in log.labels]
        q, qd, qdd, tau = np.zeros((4, int(np.sum(motion.used)), robot.n))
        assert log.tau is not None
        for signal, measured in zip((q, qd, qdd, tau), (*motion.states, log.tau), strict=True):
            signal[:, columns] = measured[motion.used]
        q, independent = closed_positions(robot, q, log.where), independent_joints(robot)
        qd = robot.consistent_velocity(q, qd, independent)
        qdd = robot.consistent_acceleration(q, qd, qdd, independent)
        passive = [c for c in range(robot.n) if c not in robot.tree.driven]
        tau[:, passive] = 0.0
        samples = Samples(
            t=log.t[motion.used],
            q=q,
            qd=qd,
            qdd=qdd,
            tau=robot.independent_torque(q, tau),
            remarks=log.remarks,
            source=log.source,
        )
        errors = drawn_errors(samples.t[samples.middle], motion.noise)
        return replace(samples, errors=errors_of_all_joints(robot, samples, errors, log.labels))

    def regressor(self, robot: Robot, q: Array, qd: Array, qdd: Array, *base: Array) -> Array:
        """Return N^T Y, (N, f, p)."""
        return np.asarray(robot.constrained_regressor(q, qd, qdd))

    def sampled_regressor(self, robot: Robot, moving: bool) -> Array:
        """Return N^T Y at random closed states, (N f, p)."""
        return closed_regressor(robot)

    def feasible_states(
        self, robot: Robot, q: Array, qd: Array, qdd: Array
    ) -> tuple[Array, Array, Array]:
        """Return the closed states with these independent joints, as far as there are any."""
        independent = independent_joints(robot)
        start = np.where(np.isin(robot.joint_names, independent), q, np.median(q, axis=0))
        assembly = robot.assembly(start, independent)
        rates = robot.consistent_velocity(assembly.q, qd, independent)
        accelerations = robot.consistent_acceleration(assembly.q, rates, qdd, independent)
        closed = assembly.closed
        return assembly.q[closed], rates[closed], accelerations[closed]

    def predictor(
        self, robot: Robot, *, known: KnownArgument | None = None, structure: Robot | None = None
    ) -> Torque:
        """Return N^T tau of a robot, by the regressor of `structure` if that has all its terms."""
        return IndependentTorque(robot, robot if structure is None else structure)

    def predict(
        self, estimate: EstimatedParameters, q: Array, qd: Array, qdd: Array
    ) -> tuple[Array, Array]:
        """Return the torques of the independent joints and their variance, both (..., f)."""
        Y = self.regressor(estimate.structure, q, qd, qdd)
        rows = Y[..., list(estimate.base.columns)]
        variance = np.einsum("...jb,bc,...jc->...j", rows, estimate.covariance, rows)
        return Y @ estimate.parameters, variance

    def joint_torque(
        self,
        robot: Robot,
        known: KnownFunction | None,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        base: ArrayLike | None,
    ) -> Array:
        """Return the torques of the drives, (..., n) [N m|N], zero at joints without a drive."""
        if base is not None:
            raise CallError("torque: base: a robot with loops stands on a base at rest")
        return np.asarray(robot.constrained_inverse_dynamics(q, qd, qdd).tau)


DRIVE_TORQUES = DriveTorques()


class IndependentTorque:
    """N^T tau of a robot in closed motion, (N, f) [N m|N].

    The regressor of `structure` is used if it has the loops and all terms of the robot: its kernel
    is compiled already.
    """

    def __init__(self, robot: Robot, structure: Robot) -> None:
        values = dict(zip(robot.parameter_names, robot.parameters, strict=True))
        shared = (
            set(values) <= set(structure.parameter_names)
            and structure.tree.loops == robot.tree.loops
        )
        self.robot = structure if shared else robot
        self.parameters = np.array([values.get(name, 0.0) for name in self.robot.parameter_names])

    def __call__(self, q: Array, qd: Array, qdd: Array) -> Array:
        return np.asarray(self.robot.constrained_regressor(q, qd, qdd) @ self.parameters)


def independent_joints(robot: Robot) -> tuple[str, ...]:
    """Return the joints that determine all others."""
    return tuple(robot.joint_names[c] for c in robot.loop_structure.independent)


def drive_log(robot: Robot, log: Log) -> Log:
    """Return the log of the joints that have a drive or determine others.

    Raises
    ------
    LogError for such a joint that the log does not have.
    """
    joints = robot.measured_joints
    if log.joint_names is None:
        if log.n not in (len(joints), robot.n):
            raise LogError(
                f"{log.where}the log has {log.n} joints without names; expected {len(joints)}:"
                f" {', '.join(joints)}"
            )
        log = log.replace(joint_names=joints if log.n == len(joints) else robot.joint_names)
    for name in joints:
        if name not in (log.joint_names or ()):
            known = suggest(name, log.joint_names or ())
            raise LogError(
                f"{log.where}the log has no joint {name!r}; expected {', '.join(joints)}: {known}"
            )
    return log.select(joints)


def closed_positions(robot: Robot, q: Array, where: str) -> Array:
    """Return closed positions (N, n) along a motion of the independent joints.

    Every `closure_stride`-th sample starts from the one before it, the others from between these.

    Raises
    ------
    LogError for a sample at which the loops cannot be closed.
    """
    independent, start = independent_joints(robot), q.copy()
    is_independent = np.isin(robot.joint_names, independent)
    knots = np.unique([*range(0, len(q), THRESHOLDS.closure_stride), len(q) - 1])
    last = np.zeros(robot.n)
    for k in knots:
        assembly = robot.assembly(np.where(is_independent, q[k], last), independent)
        if not assembly.closed:
            raise LogError(open_loop(where, int(k), assembly.status, independent))
        start[k] = last = assembly.q
    for c in np.flatnonzero(~is_independent):
        start[:, c] = np.interp(np.arange(len(q)), knots, start[knots, c])
    assembly = robot.assembly(np.where(is_independent, q, start), independent)
    if not np.all(assembly.closed):
        k = int(np.argmin(assembly.closed))
        raise LogError(open_loop(where, k, assembly.status, independent))
    return assembly.q


def open_loop(where: str, sample: int, status: object, independent: Sequence[str]) -> str:
    """Return the error message for a sample at which the loops cannot be closed."""
    return (
        f"{where}at sample {sample} {status}: are these the positions of {', '.join(independent)},"
        " from the description's zero?"
    )


def errors_of_all_joints(
    robot: Robot, samples: Samples, errors: Array, labels: Sequence[str]
) -> Array:
    """Return errors of all joints (3, W, n) from errors of the measured joints, dq = N dq_i."""
    columns = [list(labels).index(name) for name in independent_joints(robot)]
    basis = robot.freedom_basis(samples.q[samples.middle])
    return np.einsum("tif,ktf->kti", basis, errors[..., columns])

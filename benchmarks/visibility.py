"""Which planted faults a log can show at all, and by which names.

What no robot like the description explains.

A robot within 10 % of its description (standard deviation), with any friction and rotors of at
least 0, gives torques tau = Y pi + F f + noise along the motion of a log. The squared distance of a
log from all such robots is d^2 = min over f of e^T (S + Y P Y^T)^-1 e with e = tau - Y pi0 - F f,
where S is the covariance of the noise and P the covariance of the link parameters pi: all the
information that a doctor has. A fault that leaves d^2 near zero cannot be found by anyone; one that
another fault would undo as well cannot be distinguished from it. A measured log is judged by its
motion, with the friction and rotors that it shows, and the residual of its best fit as noise: a
wrist that hardly moves its links shows neither its gain nor its zero. Gelman et al., "Bayesian Data
Analysis", 3rd ed., section 14.8 (prior information as additional data).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

import steelyard as sy
from benchmarks.arms import log_of
from benchmarks.faults import FAULTS, Joints, Planted, each_joint
from benchmarks.true_robot import SPREAD, with_drives
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.samples.preparation import Preparation
from steelyard.simulation import perturbed

Array = NDArray[np.float64]
# squared distance from which a fault counts as visible: five and a half standard deviations
SEEN = 30.0
UNDONE = 10.0  # squared distance below which another fault counts as an explanation
RIVALS = 2  # other names that a fault may have; with more it is not planted
NOISE = 0.03  # of a joint's rms torque, at each of
POINTS = 100  # independent points in time
DRAWS = 100  # of robots like the description, for the covariance of their parameters
TERMS = ("armature", "viscous", "coulomb", "offset")
ALWAYS = (
    "jitter",
    "dropped samples",
    "duplicated stamps",
    "delay",
    "saturation",
    "dead channel",
    "encoder spikes",
    "filtered torque",
    "poor excitation",
)
"""Faults that show in the log itself, without the mechanics, under their own name."""
Name = tuple[str, Joints]


class Reference(NamedTuple):
    """The described robot with all joint terms and its noiseless log with exact derivatives.

    `factor` is C with the covariance C C^T of its links; `noise` (n,) is the noise of each joint as
    a share of its rms torque.
    """

    robot: sy.Robot
    log: sy.Log
    factor: Array
    noise: Array


class Misfit(NamedTuple):
    """Standardised residual of a log.

    Residual r (R,), columns of friction and rotors (R, K), columns of the torques (R, n).
    """

    r: Array
    terms: Array
    torques: Array

    def squared(self, *free: Array) -> float:
        """min over f >= 0 and any factors of the free columns of |r - terms f - free c|^2."""
        columns = np.column_stack(
            [self.terms, *(sign * column for column in free for sign in (1.0, -1.0))]
        )
        size = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
        return float(nnls(columns / size, self.r)[1] ** 2)


def shows(robot: sy.Robot, planted: Planted) -> bool:
    """Whether a fault can be seen and named.

    A shared motor that the description knows of can always be left out of it.
    """
    if planted.key in ALWAYS or (planted.key == "coupling" and robot.mechanism.couplings):
        return True
    return misfit(robot, planted).squared() > SEEN and len(names(robot, planted)) <= 1 + RIVALS


@cache
def names(robot: sy.Robot, planted: Planted) -> tuple[Name, ...]:
    """Fault and joints as planted, and those that would undo it as well.

    By any of them it counts as named.
    """
    own = (planted.key, planted.joints)
    return (
        own,
        *(name for name in UNDOING.get(planted.key, _nothing)(robot, planted) if name != own),
    )


def _nothing(robot: sy.Robot, planted: Planted) -> Iterator[Name]:
    return iter(())


def _signs(robot: sy.Robot, planted: Planted) -> Iterator[Name]:
    """Signs of position or torque that leave a log as of the described robot."""
    for joints in each_joint(robot):
        for key in ("position sign", "torque sign"):
            if misfit(robot, planted, Planted(key, joints, -1)).squared() < UNDONE:
                yield key, joints


def _gains(robot: sy.Robot, planted: Planted) -> Iterator[Name]:
    """Torques that may be scaled, of one joint or of all."""
    remaining = misfit(robot, planted)
    for j, joints in enumerate(each_joint(robot)):
        if remaining.squared(remaining.torques[:, j]) < UNDONE:
            yield "gear ratio or torque constant", joints
    if remaining.squared(remaining.torques.sum(axis=1)) < UNDONE:
        yield "torque scale", robot.joint_names


def _turns(robot: sy.Robot, planted: Planted) -> Iterator[Name]:
    """To turn gravity is to turn the first joint, if its axis lies."""
    if _lies(robot) and (
        planted.key == "gravity direction" or planted.joints == robot.joint_names[:1]
    ):
        yield "gravity direction", robot.joint_names
        yield "position offset", robot.joint_names[:1]


UNDOING: dict[str, Callable[[sy.Robot, Planted], Iterator[Name]]] = {
    **dict.fromkeys(("position sign", "torque sign"), _signs),
    **dict.fromkeys(("gear ratio or torque constant", "torque scale"), _gains),
    **dict.fromkeys(("position offset", "gravity direction"), _turns),
}
"""For faults that another one may undo as well, the names of those that do."""


def _lies(robot: sy.Robot) -> bool:
    """Whether the first axis is normal to gravity, so that rotating gravity rotates the joint."""
    first = robot.tree.bodies[0]
    axis = np.asarray(robot.forward_kinematics(np.zeros(robot.n), first.name))[:3, :3] @ np.asarray(
        first.axis
    )
    return first.kind == "revolute" and bool(abs(axis @ np.asarray(robot.gravity)) < 1e-6)


def misfit(robot: sy.Robot, *planted: Planted) -> Misfit:
    """What robots like the description leave of the reference log with these faults."""
    described, true, log = robot, reference(robot).robot, reference(robot).log
    for each in planted:
        stage = FAULTS[each.key].stage
        described = each.into(robot, described) if stage == "description" else described
        true = each.into(robot, true) if stage == "true robot" else true
    log = log.replace(tau=true.inverse_dynamics(*states(log)))
    for each in planted:
        log = seen_through(each.into(robot, log), log) if FAULTS[each.key].stage == "log" else log
    same = np.array_equal(described.parameters, robot.parameters)
    expected = reference(robot if same else described)
    return standardised(
        described.with_joint_terms(TERMS), expected.factor, log, reference(robot).noise
    )


def seen_through(faulty: sy.Log, log: sy.Log) -> sy.Log:
    """The faulty log with the velocities and accelerations that its own clock gives."""
    slower = faulty.duration / log.duration
    _, qd, qdd = states(faulty)
    return faulty.replace(qd=qd / slower, qdd=qdd / slower**2)


def states(log: sy.Log) -> tuple[Array, Array, Array]:
    """q, qd, qdd of a log that has them, (N, n) each."""
    assert log.qd is not None
    assert log.qdd is not None
    return log.q, log.qd, log.qdd


def standardised(robot: sy.Robot, factor: Array, log: sy.Log, share: Array) -> Misfit:
    """Return residual and columns in units of noise, without the part that links explain.

    |x - Y C z|^2 + |z|^2 is minimal where [x, 0] is projected off the columns [Y C, 1]; the
    projections are the rows of the result.
    """
    assert log.tau is not None
    links = len(factor)
    size = np.sqrt(np.mean(log.tau**2, axis=0))
    noise = np.tile(np.maximum(share * size, 1e-9 * size.max()), log.N)
    Y = robot.regressor(*states(log)).reshape(len(noise), -1) / noise[:, None]
    tau = log.tau.ravel() / noise
    offsets = [k for k, name in enumerate(robot.parameter_names) if name.endswith(".F0")]
    by_joint = np.where(np.arange(len(tau))[:, None] % log.n == np.arange(log.n), tau[:, None], 0.0)
    stacked = np.column_stack(
        [tau - Y[:, :links] @ robot.parameters[:links], Y[:, links:], -Y[:, offsets], by_joint]
    )
    stacked = np.vstack([stacked, np.zeros((factor.shape[1], stacked.shape[1]))])
    Q, _ = np.linalg.qr(np.vstack([Y[:, :links] @ factor, np.eye(factor.shape[1])]))
    remaining = stacked - Q @ (Q.T @ stacked)
    return Misfit(remaining[:, 0], remaining[:, 1 : -log.n], remaining[:, -log.n :])


@cache
def reference(robot: sy.Robot) -> Reference:
    """Made of a motion of 10 s that excites the robot well.

    Of a measured robot, of the motion that was measured.
    """
    recorded = log_of(robot)
    if recorded is not None:
        return measured_reference(robot, recorded)
    rough = with_drives(robot).with_joint_terms(TERMS)
    motion = sy.excite(
        robot, 10.0, 5, 0.1, 0, candidates=12, speed=1.0, acceleration=np.inf, ground=None
    ).sample(POINTS / 10)
    log = sy.Log(
        t=motion.t, q=motion.q, qd=motion.qd, qdd=motion.qdd, joint_names=robot.joint_names
    )
    return Reference(rough, log, spread_factor(robot), np.full(robot.n, NOISE))


def measured_reference(robot: sy.Robot, recorded: sy.Log) -> Reference:
    """Made of points of a measured motion.

    The described links with the friction and rotors that the log shows, and its own noise.
    """
    fit = sy.identify(robot, recorded, friction=("viscous", "coulomb", "offset"), diagnose=False)
    described = with_drives(robot).with_joint_terms(TERMS)
    results = dict(zip(fit.robot.parameter_names, fit.robot.parameters, strict=True))
    links = len(robot.tree.bodies) * 10
    values = [results.get(name, 0.0) for name in described.parameter_names[links:]]
    rough = described.with_parameters(np.concatenate([described.parameters[:links], values]))
    samples = prepare(robot, recorded, Preparation())
    selected = np.linspace(0, samples.N - 1, POINTS).astype(int)
    q, qd, qdd = samples.q[selected], samples.qd[selected], samples.qdd[selected]
    log = sy.Log(t=samples.t[selected], q=q, qd=qd, qdd=qdd, joint_names=robot.joint_names)
    return Reference(rough, log, spread_factor(robot), np.maximum(NOISE, fit.relative_error))


def spread_factor(robot: sy.Robot) -> Array:
    """C with C C^T the covariance of the link parameters of perturbed robots, (10 links, 10 links).

    Links vary independently.
    """
    links = 10 * len(robot.tree.bodies)
    off = (
        np.array([perturbed(robot, seed, SPREAD).parameters[:links] for seed in range(DRAWS)])
        - robot.parameters[:links]
    )
    C = np.zeros((links, links))
    for i in range(0, links, 10):
        _, sizes, directions = np.linalg.svd(
            off[:, i : i + 10] / math.sqrt(DRAWS), full_matrices=False
        )
        C[i : i + 10, i : i + 10] = directions.T * sizes
    return C

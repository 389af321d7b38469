"""Identification of robots with loops: the equations of the independent coordinates, in which the loops' multipliers have no part.

A log needs the joints that determine all others and the torques of the drives; where the passive joints are follows from the loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cached import cached_property
from ..errors import CallError, LogError, suggest
from ..parameters.base import closed_regressor
from ..robot import Robot
from ..signals.clean import clean
from ..signals.log import Log
from .base_wrench import channel_fit
from .estimators.least_squares import Estimate
from .model.linear_model import Model, build_model
from .model.problem import Problem
from .model.rows import gathered
from .options import Options
from .result.fit import Fit
from .result.prediction import Prediction, states
from .result.validation import Validation, ValidationSamples
from .samples.decimation import common_factor, natural_factor
from .samples.preparation import Preparation
from .samples.samples import Samples, at_rest, base_motion, refuse_degrees, require, require_enough, require_log
from .samples.smoothing import drawn_errors, smoothed, standing

Array = NDArray[np.float64]
STRIDE = 25  # samples between those that are closed one after the other; the rest starts from between them
REDUCED = "Torques are those of the independent joints, {}: loops do no work, so that their multipliers are not needed."
PASSIVE = "Friction and offsets of joints without a drive are those of the description."


@dataclass(frozen=True, eq=False)
class ClosedLoopModel(Model):
    """A model whose rows are the independent coordinates: N^T tau = N^T Y(q, qd, qdd) pi, with qd = N qd_independent.

    Khalil and Dombre 2002, section 12.4.
    """

    @property
    def n(self) -> int:
        return self.robot.loop_structure.freedoms

    @property
    def row_names(self) -> tuple[str, ...]:
        return independent_joints(self.robot)

    @cached_property
    def _sampled(self) -> Array:
        return closed_regressor(self.robot)

    def columns(self, q: Array, qd: Array, qdd: Array, columns: Sequence[int], *base: Array) -> Array:
        """Return some columns of the regressor, (N, f, k)."""
        return np.asarray(self.robot.constrained_regressor(q, qd, qdd)[..., list(columns)])

    def entries(self, q: Array, qd: Array, qdd: Array, *base: Array) -> Array:
        """Return the entries of the base columns in reach, (N, P)."""
        return gathered(self.rows(q, qd, qdd, *base), self.reach)

    def known_torque(self, q: Array, qd: Array, qdd: Array, *base: Array) -> Array:
        """Return the torque (N, f) of the held parameters."""
        values = np.zeros(len(self.names))
        for index, value in self.held:
            values[index] = value
        return np.asarray(self.robot.constrained_regressor(q, qd, qdd) @ values)

    def possible(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array]:
        """Return the closed states (N, n) with these positions and rates of the independent joints, as far as there are any."""
        hold = independent_joints(self.robot)
        start = np.where(np.isin(self.robot.joint_names, hold), q, np.median(q, axis=0))
        found = self.robot.assembly(start, hold)
        rates = self.robot.consistent_velocity(found.q, qd, hold)
        return tuple(x[found.closed] for x in (found.q, rates, self.robot.consistent_acceleration(found.q, rates, qdd, hold)))  # type: ignore[return-value]


class ClosedLoopFit(Fit):
    """A fit of a robot with loops: `validation`, `residuals` and `rms` are of the independent joints; `predict` of all drives."""

    def predict(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, cutoff: float | None = None, t: ArrayLike | None = None) -> Prediction:
        """Return the torques of the independent joints (..., f) [N m|N] with their uncertainty, in a closed motion (..., n)."""
        shaped = states(self.robot.n, q, qd, qdd)
        Y = np.asarray(self.model.robot.constrained_regressor(*shaped))
        rows = Y[..., list(self.model.base.columns)]
        std = np.sqrt(np.maximum(np.einsum("...jb,bc,...jc->...j", rows, self.covariance, rows), 0.0))
        return Prediction(Y @ self.parameters, std, self.region.contains(*shaped))

    def torque(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, base: ArrayLike | None = None) -> Array:
        """Return the drive torques of `robot`, (..., n) [N m|N], zero at joints without a drive; its base is at rest."""
        if base is not None:
            raise CallError("torque: base: a robot with loops stands on a base at rest")
        return np.asarray(self.robot.constrained_inverse_dynamics(q, qd, qdd).tau)

    def validate(self, log: Log, other: Robot | Fit | None = None, preparation: Preparation | None = None) -> Validation:
        """Return the validation on another log, beside the robot as given and, if named, another model."""
        if other is not None and not isinstance(other, (Robot, Fit)):
            raise CallError(f"other must be a Robot or a Fit, not {type(other).__name__}")
        chosen = preparation or self.preparation
        samples = prepare_closed(self.initial, log, chosen)
        factor = chosen.decimate or natural_factor(samples.t, samples.qd)
        scored = ValidationSamples(samples, factor, independent_joints(self.robot), self.region)
        third = other.robot if isinstance(other, Fit) else other
        robots = [self.robot, self.initial, *([] if third is None else [third])]
        own, before, *others = (scored.score(ReducedTorque(each, self.model.robot)) for each in robots)
        return replace(own, before=before, other=others[0] if others else None, verdict_inputs=self.verdict_inputs)


class ReducedTorque:
    """N^T of the torques of a robot in closed motion, (N, f) [N m|N], by the regressor of a robot of the same shape if it has all terms."""

    def __init__(self, robot: Robot, like: Robot) -> None:
        own = dict(zip(robot.parameter_names, robot.parameters, strict=True))
        shared = set(own) <= set(like.parameter_names) and like.tree.loops == robot.tree.loops
        self.robot = like if shared else robot
        self.parameters = np.array([own.get(name, 0.0) for name in self.robot.parameter_names])

    def __call__(self, q: Array, qd: Array, qdd: Array) -> Array:
        return np.asarray(self.robot.constrained_regressor(q, qd, qdd) @ self.parameters)


def independent_joints(robot: Robot) -> tuple[str, ...]:
    """Return the joints that determine all others."""
    return tuple(robot.joint_names[c] for c in robot.loop_structure.independent)


def closed_problem(robot: Robot, logs: Sequence[Log], options: Options) -> Problem:
    """Return the problem of a robot with loops: N^T tau = N^T Y pi + noise."""
    samples = tuple(prepare_closed(robot, log, options.preparation) for log in logs)
    problem = Problem(closed_model(robot, options), samples, options.preparation.decimate or common_factor(samples))
    problem.check_rows()
    return problem


def closed_model(robot: Robot, options: Options) -> ClosedLoopModel:
    """Return the model: joints without a drive keep the joint terms of the description, drives have those of an arm."""
    if options.model.known is not None:
        raise CallError("known= of a robot with loops is not there; give the robot the torque itself (with_known_torque)")
    full = build_model(robot, replace(options.model, friction=options.model.first_terms, known=None))
    passive = [name for c, name in enumerate(robot.joint_names) if c not in robot.tree.driven]
    own = dict(zip(robot.parameter_names, robot.parameters, strict=True))
    held = dict(full.held)
    for i, name in enumerate(full.names):
        if i >= 10 * len(robot.tree.bodies) and name.rpartition(".")[0] in passive:
            held[i] = float(own.get(name, 0.0))
    return ClosedLoopModel(full.robot, tuple(sorted(held.items())), None, full.bounds, full.total_mass)


def prepare_closed(robot: Robot, log: Log, options: Preparation) -> Samples:
    """Return the samples of a log: its driven and independent joints, cleaned and smoothed, with all others where the loops put them."""
    require_log(log)
    log = drive_log(robot, log)
    require(log)
    base_motion(robot, log)  # refuses one that moves
    if set(log.labels) == set(robot.joint_names):
        refuse_degrees(robot, log)
    log = clean(log)
    require_enough(log)
    moved, sure, noise, _ = smoothed(log, options)
    moved = at_rest(*moved, standing(log.q))
    at = [robot.joint_names.index(name) for name in log.labels]
    q, qd, qdd, tau = np.zeros((4, int(np.sum(sure)), robot.n))
    assert log.tau is not None
    for full, known in zip((q, qd, qdd, tau), (*moved, log.tau), strict=True):
        full[:, at] = known[sure]
    q, hold = tracked(robot, q, log.where), independent_joints(robot)
    qd = robot.consistent_velocity(q, qd, hold)
    qdd = robot.consistent_acceleration(q, qd, qdd, hold)
    passive = [c for c in range(robot.n) if c not in robot.tree.driven]
    tau[:, passive] = 0.0
    made = Samples(log.t[sure], q, qd, qdd, robot.independent_torque(q, tau), None, log.remarks, log.source)
    return replace(made, errors=spread_errors(robot, made, drawn_errors(made.t[made.middle], noise), log.labels))


def drive_log(robot: Robot, log: Log) -> Log:
    """Return the log with the joints that have a drive or determine others alone; raise LogError for one that is missing."""
    wanted = robot.measured_joints
    if log.joint_names is None:
        if log.n not in (len(wanted), robot.n):
            raise LogError(f"{log.where}the log has {log.n} joints without names; expected {len(wanted)}: {', '.join(wanted)}")
        log = log.replace(joint_names=wanted if log.n == len(wanted) else robot.joint_names)
    for name in wanted:
        if name not in (log.joint_names or ()):
            known = suggest(name, log.joint_names or ())
            raise LogError(f"{log.where}the log has no joint {name!r}; expected {', '.join(wanted)}: {known}")
    return log.select(wanted)


def tracked(robot: Robot, q: Array, where: str) -> Array:
    """Return closed positions (N, n) along a motion whose independent joints are known; raise LogError where there are none."""
    hold, made = independent_joints(robot), q.copy()
    held = np.isin(robot.joint_names, hold)
    knots = np.unique([*range(0, len(q), STRIDE), len(q) - 1])
    last = np.zeros(robot.n)
    for k in knots:
        found = robot.assembly(np.where(held, q[k], last), hold)
        if not found.closed:
            raise LogError(
                f"{where}at sample {k} {found.status}: are these the positions of {', '.join(hold)}, from the description's zero?"
            )
        made[k] = last = found.q
    for c in np.flatnonzero(~held):
        made[:, c] = np.interp(np.arange(len(q)), knots, made[knots, c])
    found = robot.assembly(np.where(held, q, made), hold)
    if not np.all(found.closed):
        k = int(np.argmin(found.closed))
        raise LogError(f"{where}at sample {k} {found.status}: are these the positions of {', '.join(hold)}, from the description's zero?")
    return found.q


def spread_errors(robot: Robot, samples: Samples, errors: Array, labels: Sequence[str]) -> Array:
    """Return errors of all joints (3, W, n) from those of the joints of the log, through the velocities that the loops allow."""
    hold = independent_joints(robot)
    own = errors[..., [list(labels).index(name) for name in hold]]
    return np.einsum("tif,ktf->kti", robot.freedom_basis(samples.q[samples.middle]), own)


def closed_fit(robot: Robot, problem: Problem, estimate: Estimate, options: Options, logs: Sequence[Log]) -> Fit:
    """Return the fit of an estimate with parameters of a real robot."""
    names = independent_joints(robot)
    notes = (REDUCED.format(", ".join(names)), PASSIVE)
    return channel_fit(
        ClosedLoopFit, robot, problem, estimate, options, logs, names, partial(ReducedTorque, like=problem.model.robot), notes
    )

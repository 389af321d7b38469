"""Elastic joints: stiffness and damping of the gears, from positions on both of their sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, LogError, suggest
from ...mechanism.joint_terms import KNOWN_TORQUE
from ...robot import Robot
from ...signals.log import Log
from ..estimators.least_squares import Estimate
from ..model.linear_model import Model
from ..model.model_options import ALL
from ..model.problem import Problem
from ..samples.samples import Samples
from .elasticity import Elasticity
from .regression import regression, smooth
from .torque_sensor import has_torque_sensors, stiffness_behind_sensors

Array = NDArray[np.float64]
SEEN = 2.0  # standard deviations by which a compliance must be above zero for the stiffness to be seen
FEWEST = 100  # samples with both positions
GEARED = 1.5  # factor between the motions of both sides from which a motor's position is not one at the joint


def estimate_elasticity(problem: Problem, estimate: Estimate, root: Array, logs: Sequence[Log], asked: tuple[str, ...]) -> Elasticity:
    """Return the elasticity of the joints that are asked for; root root^T is the covariance (p, p) of the estimate's parameters.

    Joints with positions on both sides of the gear are seen by their deflection; without any, torque sensors show the stiffness.
    """
    joints = asked_joints(problem.model.robot, asked)
    assert estimate.parameters is not None
    pi, names = estimate.parameters, problem.model.robot.joint_names
    pairs = [deflection(log.reordered(problem.model.robot), s.t) for log, s in zip(logs, problem.samples, strict=True)]
    visible = [j for j in joints if seen_by_positions(pairs, j)]
    made = by_positions(problem, pi, root, pairs, visible) if visible else by_sensors(problem, pi, estimate.weights, joints)
    shown = visible or joints
    found = Elasticity(tuple(names[j] for j in shown), *np.array(made).T)
    return replace(found, notes=tuple(sentences(found, [names[j] for j in joints if j not in shown])))


def require_visible(robot: Robot, logs: Sequence[Log], asked: tuple[str, ...]) -> None:
    """Raise LogError if logs have neither positions on both sides of a gear that is asked for nor torque sensors."""
    joints = asked_joints(robot, asked)
    pairs = [deflection(log.reordered(robot), log.t) for log in logs]
    if not any(seen_by_positions(pairs, j) for j in joints) and not all(map(has_torque_sensors, logs)):
        raise LogError(invisible(logs, [robot.joint_names[j] for j in joints]))


def seen_by_positions(pairs: Sequence[Array | None], joint: int) -> bool:
    """Return whether a joint has a deflection in one of the logs."""
    given = [d[:, joint] for d in pairs if d is not None]
    return any(np.isfinite(d).sum() >= FEWEST and np.nanstd(d) > 0 for d in given)


def by_positions(problem: Problem, pi: Array, root: Array, pairs: Sequence[Array | None], joints: Sequence[int]) -> list[tuple[float, ...]]:
    """Return the fields of `Elasticity` joint by joint, from deflections (N, n) of each log; root root^T is the covariance (p, p) of pi.

    A spring under the torque tau of the links, K (theta - q) + D (theta' - q') = tau, deflects by tau / K - (D / K^2) dtau/dt in motions
    that are slow against K / D. The deflection is the noisier of the two: it is regressed on the torque that the identified links give for
    the smoothed motion. Spong 1987, eq. (10)-(11).
    """
    model, inner = problem.model, 10 * len(problem.model.robot.tree.bodies)
    given = [(d, s) for d, s in zip(pairs, problem.samples, strict=True) if d is not None]
    torques = [link_torque(model, pi, s) for _, s in given]
    columns = [model.columns(s.q, s.qd, s.qdd, range(inner), *s.states[3:]) for _, s in given]
    made = []
    for j in joints:
        parts = [(d[:, j], s.t, s.qd[:, j], torque[:, j]) for (d, s), torque in zip(given, torques, strict=True)]
        made.append(one_joint(parts, np.concatenate([Y[:, j] for Y in columns]) @ root[:inner], problem.decimate))
    return made


def by_sensors(problem: Problem, pi: Array, weights: Array, joints: Sequence[int]) -> list[tuple[float, ...]]:
    """Return the fields of `Elasticity` joint by joint, from torque sensors; damping is not seen by them."""
    a, sigma = stiffness_behind_sensors(problem, pi, weights, joints)
    nothing = np.nan, np.inf, np.nan, np.nan, np.nan
    return [(1 / x, s / x**2, *nothing) if x > SEEN * s else (np.inf, np.inf, *nothing) for x, s in zip(a, sigma, strict=True)]


def asked_joints(robot: Robot, asked: tuple[str, ...]) -> list[int]:
    """Return the joints that are asked for; raise CallError for a name that is none."""
    joint_names = robot.joint_names
    for name in asked if asked != ALL else ():
        if name not in joint_names:
            raise CallError(f"elastic: no joint is called {name!r}; {suggest(name, joint_names)}")
    return [j for j, name in enumerate(joint_names) if asked == ALL or name in asked]


def deflection(log: Log, t: Array) -> Array | None:
    """Return the motor's position minus that of the link at times t (N,) [s], (N, n), NaN where one is missing; None without a pair."""
    if log.motor_position is None and log.link_position is None:
        return None
    motor, link = (log.q if x is None else x for x in (log.motor_position, log.link_position))
    made = np.full((len(t), log.n), np.nan)
    for j in range(log.n):
        both = np.isfinite(motor[:, j]) & np.isfinite(link[:, j]) & np.isfinite(log.t)
        if both.sum() < FEWEST or np.std(link[both, j]) == 0:
            continue
        ratio = np.std(motor[both, j]) / np.std(link[both, j])
        if not 1 / GEARED < ratio < GEARED:
            raise LogError(
                f"{log.where}the motor of {log.labels[j]} moves {ratio:.3g} times as far as its link; expected motor_position at the "
                "joint's side of the gear: divide it by the gear ratio"
            )
        order = np.argsort(log.t[both])
        made[:, j] = np.interp(t, log.t[both][order], (motor - link)[both, j][order])
    return made


def invisible(logs: Sequence[Log], joints: Sequence[str]) -> str:
    """Say what logs lack for the elasticity of joints to be seen."""
    single = all(log.motor_position is None and log.link_position is None for log in logs)
    lacks = "there is one position of each joint" if single else "both positions are the same, or too few are numbers"
    where = logs[0].where if len(logs) == 1 else ""
    return (
        f"{where}elastic: the stiffness of {', '.join(joints)} is invisible: {lacks}; expected "
        "motor_position, or link_position of a second encoder, beside q; or torques of sensors (effort='torque') with the motors' current"
    )


def link_torque(model: Model, pi: Array, samples: Samples) -> Array:
    """Return the torque (N, n) [N m|N] of links, payload and known torques: what a spring carries, without rotors and friction."""
    inner = 10 * len(model.robot.tree.bodies)
    columns = [c for c in range(len(pi)) if c < inner or model.term(c).row is KNOWN_TORQUE]
    moving = () if samples.base is None else (samples.base,)
    tau = np.asarray(model.columns(samples.q, samples.qd, samples.qdd, columns, *moving) @ pi[columns])
    tau = tau if samples.payload_torque is None else tau + samples.payload_torque
    return tau if model.known is None else tau + model.known(samples.q, samples.qd, samples.qdd)


def one_joint(parts: Sequence[tuple[Array, Array, Array, Array]], unsure: Array, decimate: int) -> tuple[float, ...]:
    """Return stiffness, its deviation, damping, its deviation, shift, lost motion and rms of a joint.

    Each log gives deflection, t, qd and the torque tau of the links, (N,) each:
    deflection = tau / K - (D / K^2) dtau/dt + shift qd + lost_motion sign(qd) + an offset of the log.
    All of them are smoothed alike, as one in `decimate` samples are kept: vibrations that the smoothed motion lacks do not count.
    unsure (N, u) are changes of the torque by one standard deviation of each of u independent errors of the links.
    """
    y = np.concatenate([smooth(t, d, decimate) for d, t, *_ in parts])
    rows = [
        np.column_stack([smooth(t, tau, decimate), -smooth(t, tau, decimate, 1), smooth(t, qd, decimate), smooth(t, np.sign(qd), decimate)])
        for _, t, qd, tau in parts
    ]
    offsets = [np.repeat(np.eye(len(parts))[k : k + 1], len(x), axis=0) for k, x in enumerate(rows)]
    X = np.hstack([np.concatenate(rows), np.concatenate(offsets)])
    used = np.isfinite(y) & np.all(np.isfinite(X), axis=1)
    x, covariance = regression(X[used], y[used])
    moved = x[0] * np.linalg.lstsq(X[used], unsure[used], rcond=None)[0]  # what errors of the links do to x
    covariance = covariance + moved @ moved.T
    left = float(np.sqrt(np.mean((y[used] - X[used] @ x) ** 2)))
    a, e = x[:2]
    sigma = np.sqrt(np.diag(covariance))
    if not a > SEEN * sigma[0]:
        return np.inf, np.inf, np.nan, np.inf, x[2], x[3], left
    K, D = 1.0 / a, e / a**2
    slope = np.array([-2.0 * e / a**3, 1.0 / a**2])
    return K, sigma[0] * K**2, D, float(np.sqrt(slope @ covariance[:2, :2] @ slope)), x[2], x[3], left


def sentences(found: Elasticity, hidden: Sequence[str]) -> list[str]:
    """Return what was found in sentences, the joints `hidden` by a log without a second position included."""
    seen = [k for k in range(len(found.joint_names)) if np.isfinite(found.stiffness[k])]
    rigid = [name for k, name in enumerate(found.joint_names) if k not in seen]
    values = [f"{found.joint_names[k]} {found.stiffness[k]:.3g} ± {2 * found.stiffness_std[k]:.2g}" for k in seen]
    made = [f"Stiffness of the joints (two standard deviations) [N m/rad|N/m]: {', '.join(values)}."] if seen else []
    if rigid:
        made.append(f"The deflection of {', '.join(rigid)} does not follow the torque of the links: the stiffness is not seen.")
    if hidden:
        made.append(f"The stiffness of {', '.join(hidden)} is invisible: the log has one position of each.")
    return made

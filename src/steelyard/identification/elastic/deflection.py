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
from .elastic_thresholds import THRESHOLDS
from .elasticity import Elasticity
from .regression import regress_with_jackknife, smooth_derivative
from .torque_sensor import has_torque_sensors, stiffness_behind_sensors

Array = NDArray[np.float64]


def estimate_elasticity(
    problem: Problem, estimate: Estimate, root: Array, logs: Sequence[Log], asked: tuple[str, ...]
) -> Elasticity:
    """Estimate the elasticity of the requested joints.

    `root` root^T is the covariance (p, p) of the estimate's parameters. Joints with positions on
    both sides of the gear show their deflection; without any, torque sensors show the stiffness.
    """
    joints = asked_joints(problem.model.robot, asked)
    assert estimate.parameters is not None
    pi, names = estimate.parameters, problem.model.robot.joint_names
    pairs = [
        deflection(log.reordered(problem.model.robot), s.t)
        for log, s in zip(logs, problem.samples, strict=True)
    ]
    visible = [j for j in joints if has_deflection(pairs, j)]
    values = (
        stiffness_from_positions(problem, pi, root, pairs, visible)
        if visible
        else stiffness_from_sensors(problem, pi, estimate.weights, joints)
    )
    shown = visible or joints
    stiffness, stiffness_std, damping, damping_std, shift, lost_motion, rms = np.array(values).T
    elasticity = Elasticity(
        joint_names=tuple(names[j] for j in shown),
        stiffness=stiffness,
        stiffness_std=stiffness_std,
        damping=damping,
        damping_std=damping_std,
        shift=shift,
        lost_motion=lost_motion,
        rms=rms,
    )
    return replace(
        elasticity, notes=tuple(sentences(elasticity, [names[j] for j in joints if j not in shown]))
    )


def require_visible(robot: Robot, logs: Sequence[Log], asked: tuple[str, ...]) -> None:
    """Raise LogError if logs show no deflection of the requested joints and no sensed torque."""
    joints = asked_joints(robot, asked)
    pairs = [deflection(log.reordered(robot), log.t) for log in logs]
    if not any(has_deflection(pairs, j) for j in joints) and not all(map(has_torque_sensors, logs)):
        raise LogError(invisible_message(logs, [robot.joint_names[j] for j in joints]))


def has_deflection(pairs: Sequence[Array | None], joint: int) -> bool:
    """Return whether a joint has a deflection in one of the logs."""
    deflections = [d[:, joint] for d in pairs if d is not None]
    return any(
        np.isfinite(d).sum() >= THRESHOLDS.least_samples and np.nanstd(d) > 0 for d in deflections
    )


def stiffness_from_positions(
    problem: Problem, pi: Array, root: Array, pairs: Sequence[Array | None], joints: Sequence[int]
) -> list[tuple[float, ...]]:
    """Return the fields of `Elasticity` joint by joint, from deflections (N, n) of each log.

    `root` root^T is the covariance (p, p) of pi. A spring under the torque tau of the links, K
    (theta - q) + D (theta' - q') = tau, deflects by tau / K - (D / K^2) dtau/dt in motions that are
    slow against K / D. The deflection is the noisier of the two: it is regressed on the torque of
    the identified links along the smoothed motion. Spong 1987, eq. (10)-(11).
    """
    model, inner = problem.model, 10 * len(problem.model.robot.tree.bodies)
    used = [(d, s) for d, s in zip(pairs, problem.samples, strict=True) if d is not None]
    torques = [link_torque(model, pi, s) for _, s in used]
    columns = [model.columns(s.q, s.qd, s.qdd, range(inner), *s.states[3:]) for _, s in used]
    values = []
    for j in joints:
        parts = [
            (d[:, j], s.t, s.qd[:, j], torque[:, j])
            for (d, s), torque in zip(used, torques, strict=True)
        ]
        values.append(
            fit_stiffness(
                parts, np.concatenate([Y[:, j] for Y in columns]) @ root[:inner], problem.decimate
            )
        )
    return values


def stiffness_from_sensors(
    problem: Problem, pi: Array, weights: Array, joints: Sequence[int]
) -> list[tuple[float, ...]]:
    """Return the fields of `Elasticity` joint by joint, from torque sensors.

    Torque sensors show no damping.
    """
    a, sigma = stiffness_behind_sensors(problem, pi, weights, joints)
    nothing = np.nan, np.inf, np.nan, np.nan, np.nan
    return [
        (1 / x, s / x**2, *nothing)
        if x > THRESHOLDS.visible_deviations * s
        else (np.inf, np.inf, *nothing)
        for x, s in zip(a, sigma, strict=True)
    ]


def asked_joints(robot: Robot, asked: tuple[str, ...]) -> list[int]:
    """Return the joints that are asked for; raise CallError for a name that is none."""
    joint_names = robot.joint_names
    for name in asked if asked != ALL else ():
        if name not in joint_names:
            raise CallError(
                f"elastic: no joint is called {name!r}; {suggest(name, joint_names)}",
                argument="elastic",
            )
    return [j for j, name in enumerate(joint_names) if asked == ALL or name in asked]


def deflection(log: Log, t: Array) -> Array | None:
    """Return motor position minus link position at times t (N,) [s], (N, n); None without a pair.

    NaN where one position is missing.
    """
    if log.motor_position is None and log.link_position is None:
        return None
    motor, link = (log.q if x is None else x for x in (log.motor_position, log.link_position))
    difference = np.full((len(t), log.n), np.nan)
    for j in range(log.n):
        both = np.isfinite(motor[:, j]) & np.isfinite(link[:, j]) & np.isfinite(log.t)
        if both.sum() < THRESHOLDS.least_samples or np.std(link[both, j]) == 0:
            continue
        ratio = np.std(motor[both, j]) / np.std(link[both, j])
        if not 1 / THRESHOLDS.motor_ratio < ratio < THRESHOLDS.motor_ratio:
            raise LogError(
                f"{log.where}the motor of {log.labels[j]} moves {ratio:.3g} times as far as its"
                " link; expected motor_position at the joint's side of the gear: divide it by the"
                " gear ratio"
            )
        order = np.argsort(log.t[both])
        difference[:, j] = np.interp(t, log.t[both][order], (motor - link)[both, j][order])
    return difference


def invisible_message(logs: Sequence[Log], joints: Sequence[str]) -> str:
    """Say what logs lack for the elasticity of joints to be seen."""
    single = all(log.motor_position is None and log.link_position is None for log in logs)
    lacks = (
        "there is one position of each joint"
        if single
        else "both positions are the same, or too few are numbers"
    )
    where = logs[0].where if len(logs) == 1 else ""
    return (
        f"{where}elastic: the stiffness of {', '.join(joints)} is invisible: {lacks}; expected"
        " motor_position, or link_position of a second encoder, beside q; or torques of sensors"
        " (effort='torque') with the motors' current"
    )


def link_torque(model: Model, pi: Array, samples: Samples) -> Array:
    """Return the torque (N, n) [N m|N] of a spring: links, payload and known torques.

    Rotors and friction are not included.
    """
    inner = 10 * len(model.robot.tree.bodies)
    columns = [c for c in range(len(pi)) if c < inner or model.term(c).row is KNOWN_TORQUE]
    moving = () if samples.base is None else (samples.base,)
    tau = np.asarray(
        model.columns(samples.q, samples.qd, samples.qdd, columns, *moving) @ pi[columns]
    )
    tau = tau if samples.payload_torque is None else tau + samples.payload_torque
    return tau if model.known is None else tau + model.known(samples.q, samples.qd, samples.qdd)


def fit_stiffness(
    parts: Sequence[tuple[Array, Array, Array, Array]], unsure: Array, decimate: int
) -> tuple[float, ...]:
    """Fit stiffness, damping, shift and lost motion of one joint.

    Returns stiffness, its deviation, damping, its deviation, shift, lost motion and rms. Each log
    gives deflection, t, qd and the torque tau of the links, (N,) each: deflection = tau / K - (D /
    K^2) dtau/dt + shift qd + lost_motion sign(qd) + an offset of the log. All signals are smoothed
    like decimated ones, so that vibrations absent from the smoothed motion do not count. unsure (N,
    u) are changes of the torque by one standard deviation of each of u independent errors of the
    links.
    """
    y = np.concatenate([smooth_derivative(t, d, decimate) for d, t, *_ in parts])
    rows = [
        np.column_stack(
            [
                smooth_derivative(t, tau, decimate),
                -smooth_derivative(t, tau, decimate, 1),
                smooth_derivative(t, qd, decimate),
                smooth_derivative(t, np.sign(qd), decimate),
            ]
        )
        for _, t, qd, tau in parts
    ]
    offsets = [np.repeat(np.eye(len(parts))[k : k + 1], len(x), axis=0) for k, x in enumerate(rows)]
    X = np.hstack([np.concatenate(rows), np.concatenate(offsets)])
    used = np.isfinite(y) & np.all(np.isfinite(X), axis=1)
    x, covariance = regress_with_jackknife(X[used], y[used])
    # what errors of the links do to x
    moved = x[0] * np.linalg.lstsq(X[used], unsure[used], rcond=None)[0]
    covariance = covariance + moved @ moved.T
    rms = float(np.sqrt(np.mean((y[used] - X[used] @ x) ** 2)))
    a, e = x[:2]
    sigma = np.sqrt(np.diag(covariance))
    if not a > THRESHOLDS.visible_deviations * sigma[0]:
        return np.inf, np.inf, np.nan, np.inf, x[2], x[3], rms
    K, D = 1.0 / a, e / a**2
    gradient = np.array([-2.0 * e / a**3, 1.0 / a**2])
    return (
        K,
        sigma[0] * K**2,
        D,
        float(np.sqrt(gradient @ covariance[:2, :2] @ gradient)),
        x[2],
        x[3],
        rms,
    )


def sentences(elasticity: Elasticity, hidden: Sequence[str]) -> list[str]:
    """Return sentences on the stiffness; `hidden` joints have one position in the log."""
    seen = [k for k in range(len(elasticity.joint_names)) if np.isfinite(elasticity.stiffness[k])]
    names = elasticity.joint_names
    rigid = [name for k, name in enumerate(names) if k not in seen]
    values = [
        f"{names[k]} {elasticity.stiffness[k]:.3g} ± {2 * elasticity.stiffness_std[k]:.2g}"
        for k in seen
    ]
    lines = (
        [f"Stiffness of the joints (two standard deviations) [N m/rad|N/m]: {', '.join(values)}."]
        if seen
        else []
    )
    if rigid:
        lines.append(
            f"The deflection of {', '.join(rigid)} does not follow the torque of the links: the"
            " stiffness is not seen."
        )
    if hidden:
        lines.append(
            f"The stiffness of {', '.join(hidden)} is invisible: the log has one position of each."
        )
    return lines

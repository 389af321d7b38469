"""doctor: what is wrong with a log for this robot, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError, ProblemError, require_robot
from ...mechanism.parameter_vector import LINK_TERMS
from ...robot import Robot
from ...signals.clean import find_faults
from ...signals.log import Log
from ..identify import identify
from ..result.fit import Fit
from ..samples.samples import require_log, require_numbers

Array = NDArray[np.float64]
SLOW = 0.6  # [rad/s|m/s]: below it friction and gravity hide inertia


@dataclass(frozen=True)
class Diagnosis:
    """A verdict, every finding as a sentence, and the parameters that the log cannot show. Iterate over it for the sentences.

    `usable` is False if the log does not identify the robot.
    """

    verdict: str
    findings: tuple[str, ...]
    unidentifiable: tuple[str, ...] = ()
    usable: bool = True

    @property
    def healthy(self) -> bool:
        """True if nothing was found."""
        return not self.findings

    def __iter__(self) -> Iterator[str]:
        return iter((self.verdict, *self.findings))

    def __len__(self) -> int:
        return 1 + len(self.findings)

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"- {finding}" for finding in self.findings)])


def doctor(robot: Robot, log: Log) -> Diagnosis:
    """Return what is wrong with a log: time, units, still joints, inconsistent velocities, torques without information, limits,
    saturation, delay; and, after a trial identification, which parameters it cannot show.

    Only the robot's joints are examined. Nothing is changed.
    """
    require_robot(robot, "doctor")
    require_log(log)
    log = log.reordered(robot)
    try:
        require_numbers(log)
    except LogError as error:
        return unusable(robot, error, [])
    findings = [*find_faults(log), *beyond_limits(robot, log), *slow_joints(robot, log), *saturated(robot, log)]
    try:
        fit = identify(robot, log, "wls")
    except (LogError, ProblemError) as error:
        return unusable(robot, error, findings)
    hidden = tuple(dict.fromkeys([*fit.uncertainty.unexcited, *fit.uncertainty.weak]))
    findings += [*unexplained(fit), *wrong_scale(fit), *delayed(fit), *hidden_parameters(fit)]
    sentence, usable = verdict(fit, findings)
    return Diagnosis(sentence, tuple(dict.fromkeys(findings)), hidden, usable)


def unusable(robot: Robot, error: Exception, findings: Sequence[str]) -> Diagnosis:
    """Return the diagnosis of a log that cannot be used at all."""
    return Diagnosis(f"This log cannot be used to identify the robot: {error}", tuple(findings), robot.parameter_names, usable=False)


def verdict(fit: Fit, findings: Sequence[str]) -> tuple[str, bool]:
    """Return one sentence, whether this log can identify this robot, and False if it cannot."""
    hidden = set(fit.uncertainty.unexcited) | set(fit.uncertainty.weak)
    links = [name for name in fit.base.names if name.rpartition(".")[2] in LINK_TERMS]
    lost = [name for name in links if name in hidden]
    unexplained = [fit.robot.joint_names[j] for j in range(fit.robot.n) if fit.r2[j] < 0.7]
    if len(lost) > 0.6 * len(links) or len(unexplained) > 0.3 * fit.robot.n:
        joints = f"; the torque of {', '.join(unexplained)} is not explained by any model" if unexplained else ""
        return f"This log does not identify the robot: {len(lost)} of {len(links)} link parameters cannot be told from zero{joints}.", False
    if lost or unexplained:
        return f"This log identifies part of the robot: {len(links) - len(lost)} of {len(links)} combinations of link parameters.", True
    return ("This log can identify the robot." if not findings else "This log can identify the robot, with the remarks below."), True


def beyond_limits(robot: Robot, log: Log) -> Iterator[str]:
    """Report positions, speeds and torques beyond the limits of the description."""
    for j, (name, limit) in enumerate(zip(robot.joint_names, robot.tree.limits, strict=False)):
        low, high = float(np.nanmin(log.q[:, j])), float(np.nanmax(log.q[:, j]))
        slack = 1e-3 + 0.02 * (limit.upper - limit.lower if np.isfinite(limit.upper - limit.lower) else 0.0)
        if low < limit.lower - slack or high > limit.upper + slack:
            allowed = f"{limit.lower:.4g} and {limit.upper:.4g}"
            yield f"{name} goes from {low:.4g} to {high:.4g}, its limits are {allowed}: another zero, sign or unit?"
        if log.qd is not None and np.nanmax(np.abs(log.qd[:, j])) > 1.1 * limit.velocity:
            yield f"{name} moves at {np.nanmax(np.abs(log.qd[:, j])):.4g}, its limit is {limit.velocity:.4g} rad/s|m/s."
        if log.tau is not None and 0 < limit.effort < 0.9 * np.nanmax(np.abs(log.tau[:, j])):
            yield f"The torque of {name} reaches {np.nanmax(np.abs(log.tau[:, j])):.4g}, its limit is {limit.effort:.4g} N m|N."


def slow_joints(robot: Robot, log: Log) -> Iterator[str]:
    """Report joints whose motion is too slow or too small to show inertia."""
    step = np.diff(log.t)
    rate = np.abs(np.diff(log.q, axis=0)) / np.where(step > 0, step, np.nan)[:, None]
    fast = np.nanpercentile(rate, 99, axis=0) if log.qd is None else np.nanmax(np.abs(log.qd), axis=0)
    slow = [f"{name} ({v:.2g})" for name, v in zip(robot.joint_names, fast, strict=True) if v < SLOW]
    if slow:
        yield f"Slow, below {SLOW} rad/s|m/s: {', '.join(slow)}. Inertia hardly shows at such speeds; gravity and friction do."
    span = np.nanmax(log.q, axis=0) - np.nanmin(log.q, axis=0)
    short = [f"{name} ({s:.2g})" for name, s in zip(robot.joint_names, span, strict=True) if 0 < s < 0.1]
    if short:
        yield f"Hardly moved, less than 0.1 rad|m: {', '.join(short)}."


def saturated(robot: Robot, log: Log) -> Iterator[str]:
    """Report torques that stay at their largest value."""
    if log.tau is None:
        return
    for j, name in enumerate(robot.joint_names):
        top = np.nanmax(np.abs(log.tau[:, j]))
        share = float(np.mean(np.abs(log.tau[:, j]) >= top * (1 - 1e-9))) if top > 0 else 0.0
        if share > 0.01 and np.nanstd(log.tau[:, j]) > 0:
            yield f"The torque of {name} is at its largest value, {top:.4g}, in {share:.1%} of the samples: saturated?"


def unexplained(fit: Fit) -> Iterator[str]:
    """Report joints whose torque no parameters explain."""
    for j, name in enumerate(fit.robot.joint_names):
        if fit.r2[j] < 0.7:
            yield f"The torque of {name} does not follow its motion: even the best parameters explain {max(fit.r2[j], 0):.0%} of it."
    size = np.sqrt(np.mean(fit.validation.measured**2, axis=0))
    for j, name in enumerate(fit.robot.joint_names):
        if 0 < size[j] < 0.02 * size.max() and fit.r2[j] < 0.9:
            yield f"The torque of {name} is almost zero ({size[j]:.2g} N m|N rms): it says nothing about the links."


def wrong_scale(fit: Fit) -> Iterator[str]:
    """Report torques of another scale or sign than the description predicts."""
    assert fit.before is not None
    expected, measured = fit.before.predicted, fit.validation.measured
    for j, name in enumerate(fit.robot.joint_names):
        power = float(np.sum(expected[:, j] ** 2))
        if power <= 1e-6 * float(np.sum(measured[:, j] ** 2)):
            continue
        gain = float(np.sum(expected[:, j] * measured[:, j])) / power
        alike = np.corrcoef(expected[:, j], measured[:, j])[0, 1] if np.std(measured[:, j]) > 0 and np.std(expected[:, j]) > 0 else 0.0
        if alike > 0.8 and not 0.2 < gain < 5:
            yield f"The torque of {name} is {gain:.2g} times what the description asks for: a current, or motor torque before the gear?"
        elif alike < -0.8:
            yield f"The torque of {name} has the opposite sign of what the description asks for."


def delayed(fit: Fit) -> Iterator[str]:
    """Report delays between torque and position."""
    slow = [f"{name} {1e3 * d:.3g} ms" for name, d in zip(fit.robot.joint_names, fit.pipeline.delay, strict=True) if abs(d) > 2e-3]
    if slow:
        yield f"Torque and position are not at the same time: {', '.join(slow)} (positive: the torque is late)."


def hidden_parameters(fit: Fit) -> Iterator[str]:
    """Report the base parameters that the log cannot show."""
    if fit.uncertainty.unexcited:
        yield f"Not excited at all: {', '.join(fit.uncertainty.unexcited)}."
    if fit.uncertainty.weak:
        yield f"Cannot be told from zero: {', '.join(fit.uncertainty.weak)}."

"""examine and doctor: faults of a log for a robot, as findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...errors import LogError, refuse_loops, require_robot
from ...floating_point import default_errstate
from ...robot import Robot
from ...signals.clean.cleaning import sort_by_time
from ...signals.clean.correction import Correction
from ...signals.log import Log
from ..model.accumulator import on_one_core
from ..model.linear_model import Model, build_model
from ..samples.samples import (
    Samples,
    far_positions,
    logged_base_motion,
    require,
    require_finite,
    require_log,
    require_numbers,
)
from .channels import dead_channels, saturated_torques, spikes
from .doctor_thresholds import THRESHOLDS
from .effort_checks import commanded_efforts, quantised_efforts, unsigned_efforts
from .examined_samples import mark_unused_torques, samples_of
from .excitation import free_swing, poor_excitation, rows_per_unknown
from .fault_search.fault_correction import FaultCorrection
from .fault_search.fault_hypothesis import is_doubtful
from .fault_search.log_evidence import LogEvidence, Trial, held_out_error
from .fault_search.motion_faults import DEGREE
from .fault_search.search import Step, correction_of, search, without_description
from .fault_search.thinned_log import narrow_band, thin_log
from .fault_search.unknowns import Unknowns
from .finding import Diagnosis, Finding
from .position_checks import repeated_samples, stuck_positions
from .sentences import findings_of
from .time_stamps import (
    backwards_finding,
    reverse_time,
    runs_backwards,
    stamp_findings,
    unit_finding,
)
from .velocity_checks import velocity_findings
from .wrong_robot import (
    OF_THE_ROBOT,
    cancellation,
    described_cancellation,
    is_placeholder,
    wrong_robot,
)

Array = NDArray[np.float64]
UNEXPLAINABLE = ("effort without sign", "effort is the command", "stuck channel")
"""Faults of channels that no robot explains: no mechanical hypothesis is then tried."""
OF_POSITIONS = ("clock", "degrees", "motor side", "position sign")
"""Faults after which measured velocities differ from the derivative of positions."""


@dataclass(frozen=True, eq=False)
class Examination:
    """Findings on a log, the correction they add up to, and the best trial, or None."""

    findings: tuple[Finding, ...]
    correction: Correction
    best: Trial | None = field(default=None, repr=False)


@on_one_core
@default_errstate
def doctor(robot: Robot, log: Log) -> Diagnosis:
    """Diagnose a log: every fault with its evidence, its probability and a fix.

    A fault is a hypothesis whose correction makes the log agree with rigid-body dynamics and the
    description. Its evidence is compared with the evidence of a healthy log. Only the robot's
    joints are examined, and nothing is changed. Logs with a moving base, or with base wrenches in
    place of torques, are not examined; the verdict says so.

    Parameters
    ----------
    robot : the `Robot`, described in SI units.
    log : a `Log` of the robot's motion: positions (N, n) [rad|m] and torques (N, n) [N m|N] at
        times (N,) [s].

    Returns
    -------
    A `Diagnosis`: .findings, .verdict, .healthy, .usable.

    Examples
    --------
    >>> robot = sy.load("planar_2r")
    >>> log = sy.record(robot, sy.excite(robot, seconds=4, starts=1), rate=100)
    >>> sy.doctor(robot, log).usable
    True
    """
    require_robot(robot, "doctor", known_function=True)
    refuse_loops(
        robot, "doctor", "identify(robot, log) says how well it explains a log of its drives"
    )
    require_log(log)
    try:
        log = log.reordered(robot)
        if reason := not_examined(robot, log):
            return Diagnosis(
                f"This log was not examined: {reason} identify(robot, log) takes it as it is.",
                examined=False,
            )
        return make_diagnosis(robot, examine_log(robot, log))
    except LogError as error:
        return Diagnosis(
            f"This log cannot be used to identify the robot: {error}", (), usable=False
        )


@on_one_core
def examine(
    model: Model, samples: Sequence[Samples], logs: Sequence[Log] = ()
) -> tuple[Finding, ...]:
    """Return the findings on prepared samples, and on their logs, for a model to identify."""
    back = [
        finding for log in logs if (finding := backwards(model.robot, log.reordered(model.robot)))
    ]
    if back:
        return tuple(back)
    signals = [
        finding
        for log in logs
        for finding in signal_findings(model.robot, log.reordered(model.robot))[0]
    ]
    if any(finding.fault in UNEXPLAINABLE for finding in signals):
        return tuple(dict.fromkeys(signals))
    reported = {finding.fault for finding in signals if not finding.joints}
    mechanical = (
        finding
        for finding in examine_samples(model, samples).findings
        if finding.fault not in reported
    )
    return without_followers((*dict.fromkeys(signals), *mechanical))


def not_examined(robot: Robot, log: Log) -> str:
    """Return why a log that can be identified from is not examined, in a sentence.

    '' if it is to be.
    """
    if log.tau is None and log.base_wrench is not None:
        require_numbers(log)
        require_finite(log, "base_wrench")
        return "it has base wrenches, and only joint torques are examined."
    require(log)
    return (
        ""
        if logged_base_motion(robot, log) is None
        else "its base moves, and only logs with a base at rest are examined."
    )


def examine_log(robot: Robot, log: Log) -> Examination:
    """Examine a log in the robot's joint order, with torques and a base at rest."""
    if back := backwards(robot, log):
        examination = examine_log(robot, reverse_time(log))
        return Examination(
            (back, *examination.findings),
            examination.correction.changed(clock=-examination.correction.clock),
            examination.best,
        )
    log = sort_by_time(log)
    findings, signal_correction = signal_findings(robot, log)
    if any(finding.fault in UNEXPLAINABLE for finding in findings):
        return Examination(findings, Correction.none(robot.n))
    log = signal_correction.correct_samples(log)
    far = far_positions(robot, log)
    examination = examine_samples(
        build_model(robot),
        (samples_of(robot, in_radians(robot, log) if far else log),),
        thorough=not far,
    )
    if far:
        examination = examine_far_positions(robot, examination, far)
    correction = examination.correction.changed(
        regular=signal_correction.regular,
        spikes=signal_correction.spikes,
        clock=signal_correction.clock * examination.correction.clock,
    )
    return Examination(
        without_followers(findings + examination.findings), correction, examination.best
    )


def without_followers(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings without those on velocities that follow from positions or stamps."""
    if not {finding.fault for finding in findings} & set(OF_POSITIONS):
        return findings
    return tuple(finding for finding in findings if finding.fault != "velocity channel")


def backwards(robot: Robot, log: Log) -> Finding | None:
    """Return the finding on a clock that runs backwards, None if it does not.

    Friction dissipates power in one direction of time only. Falling stamps may also come from a
    file with its last sample first; then the sorted samples agree with the robot.
    """
    if not runs_backwards(log):
        return None
    model = build_model(robot)
    trials = []
    for each in (log, reverse_time(log)):
        unknowns = Unknowns(model, not is_placeholder(model))
        trials.append(
            LogEvidence(
                unknowns, thin_log([mark_unused_torques(samples_of(robot, each))])
            ).first_trial(FaultCorrection.none(model.n))
        )
    gain = trials[1].evidence - trials[0].evidence
    return backwards_finding(gain) if gain > 0 else None


def signal_findings(robot: Robot, log: Log) -> tuple[tuple[Finding, ...], Correction]:
    """Return the findings of the signals alone, and the correction of time stamps and spikes."""
    log = sort_by_time(log)
    stamps, even = stamp_findings(log)
    unit, clock = unit_finding(log)
    jumps = tuple(spikes(log))
    efforts = (
        (
            *dead_channels(log),
            *unsigned_efforts(robot, log),
            *commanded_efforts(log),
            *quantised_efforts(log),
            *saturated_torques(log),
        )
        if log.tau is not None
        else ()
    )
    stuck = tuple(stuck_positions(robot, log))
    frozen = {name for finding in stuck for name in finding.joints}
    velocities = tuple(each for each in velocity_findings(log) if not frozen & set(each.joints))
    motion = (*stuck, *repeated_samples(log), *velocities)
    return (*unit, *stamps, *efforts, *motion, *jumps), Correction.none(log.n).changed(
        regular=even, spikes=bool(jumps), clock=clock
    )


def examine_samples(model: Model, samples: Sequence[Samples], thorough: bool = True) -> Examination:
    """Examine samples with rigid-body dynamics, by the evidence of hypotheses about the log.

    `thorough` searches for further explanations of a log that contradicts the description.
    """
    described = not is_placeholder(model)
    log_evidence, start = first_evidence(Unknowns(model, described), samples)

    def other_robot(trial: Trial, steps: Sequence[Step]) -> Finding | None:
        cancelled = cancellation(log_evidence, trial)
        return wrong_robot(model, trial, steps, log_evidence.thinned_log.band, cancelled)

    def contradicted(trial: Trial, steps: Sequence[Step]) -> bool:
        return thorough and described and other_robot(trial, steps) is not None

    names = model.robot.joint_names
    used = start.regression.counts > 0
    small = np.any(described_cancellation(log_evidence, start)[used] < THRESHOLDS.free_swing)
    swing = (
        free_swing(cancellation(log_evidence, start), start.agreement.error * used, names)
        if small
        else None
    )
    enough = rows_per_unknown(log_evidence.thinned_log, model) >= THRESHOLDS.least_rows
    best, steps = search(log_evidence, start, contradicted) if enough else (start, ())
    steps = without_description(log_evidence, best, steps)
    if thorough and swing is not None and not any(is_obvious(step) for step in steps):
        return Examination((swing,), Correction.none(model.n), start)
    poor = tuple(poor_excitation(log_evidence, best))
    other = other_robot(best, steps) if described and enough else None
    timed = velocities_agree(samples)
    steps = tuple(step for step in steps if not (timed and is_small_clock(step)))
    faults = [
        step
        for step in steps
        if step.matters and not (other and step.hypothesis.fault in OF_THE_ROBOT)
    ]
    findings = (*((other,) if other else ()), *findings_of(best, faults, names), *poor)
    return Examination(
        findings, Correction.none(model.n) if other else correction_of(best.correction, steps), best
    )


def velocities_agree(samples: Sequence[Samples]) -> bool:
    """Return whether measured velocities are the derivative of the positions: the clock is right.

    The velocities of all logs are compared with the smoothed ones.
    """
    product = power = 0.0
    for s in samples:
        if s.measured_qd is None:
            return False
        product += float(np.nansum(s.measured_qd * s.qd))
        power += float(np.sum(s.qd**2))
    return abs(product / max(power, 1e-300) - 1.0) < THRESHOLDS.clock_velocity


def is_obvious(step: Step) -> bool:
    """Return whether a fault explains most of the error also of blocks that took no part.

    A motion that only seems close to free swinging, because torques are exchanged, shows it. Faults
    of time do not count: near resonance, errors of the model look like them.
    """
    is_of_time = step.hypothesis.fault in ("delay", "clock")
    gain = None if is_of_time else step.gain
    return gain is not None and gain.mean >= THRESHOLDS.obvious_gain


def is_small_clock(step: Step) -> bool:
    """Return whether a wrong clock gains little: right velocities outweigh it then."""
    gain = step.gain
    return (
        step.hypothesis.fault == "clock" and gain is not None and gain.mean < THRESHOLDS.clock_gain
    )


def first_evidence(unknowns: Unknowns, samples: Sequence[Samples]) -> tuple[LogEvidence, Trial]:
    """Return the thinned log with its evidence, and the trial without a correction.

    Where errors are large, signals within the band of model errors are tried; they are used if
    noise outside this band was the reason.
    """
    used = [mark_unused_torques(s) for s in samples]
    none = FaultCorrection.none(unknowns.n)
    log_evidence = LogEvidence(unknowns, thin_log(used))
    trial = log_evidence.first_trial(none)
    if not is_doubtful(trial):
        return log_evidence, trial
    narrow_evidence = LogEvidence(unknowns, thin_log([narrow_band(s) for s in used]))
    narrow = narrow_evidence.first_trial(none)
    better = noise_outside_band(trial.agreement.error, narrow.agreement.error)
    return (narrow_evidence, narrow) if better else (log_evidence, trial)


def noise_outside_band(whole: Array, narrow: Array) -> bool:
    """Return whether errors (n,) within the band of model errors are much smaller than all."""
    ratio = float(np.exp(np.mean(np.log(narrow / whole))))
    return ratio < THRESHOLDS.band_error_ratio


def in_radians(robot: Robot, log: Log) -> Log:
    """Return the log with the positions of revolute joints converted from degrees."""
    return Correction.none(log.n).changed(scale=degree_scale(robot)).correct_columns(log)


def degree_scale(robot: Robot) -> Array:
    """Return what one unit of each position is, (n,), if angles are in degrees."""
    turning = {body.coordinate for body in robot.tree.bodies if body.kind == "revolute"}
    return np.array([DEGREE if j in turning else 1.0 for j in range(robot.n)])


def examine_far_positions(
    robot: Robot, examination: Examination, far: Sequence[str]
) -> Examination:
    """Return the examination of a log whose positions go far beyond the limits.

    Degrees if the mechanics then fits, else motor angles.
    """
    reason = f"Positions exceed the joint limits by far: {', '.join(far)}"
    assert examination.best is not None
    error = float(np.median(examination.best.agreement.error))
    weak = (
        examination.best.correction.clock**2
        * float(np.median(np.abs(examination.best.correction.gain)))
        > THRESHOLDS.motor_side_factor
    )
    if (
        error < THRESHOLDS.degrees_error
        and not weak
        and not {"wrong robot", "degrees"} & {each.fault for each in examination.findings}
    ):
        sentence = f"{reason}. In degrees, the median error of the joints' torques is {error:.1%}."
        finding = Finding("degrees", (), sentence, 0.99, 'angle = "deg"')
        return Examination(
            (finding, *examination.findings),
            examination.correction.changed(scale=degree_scale(robot)),
            examination.best,
        )
    sentence = (
        f"{reason}. In degrees, they do not explain the torques: positions and torques are on the"
        " motor side of the gears."
    )
    fix = (
        "transmission.ratio = { joint = gear ratio, ... }, with the gear ratios, which the log"
        " does not show"
    )
    return Examination(
        (Finding("motor side", (), sentence, 0.95, fix),), Correction.none(robot.n), None
    )


def make_diagnosis(robot: Robot, examination: Examination) -> Diagnosis:
    """Return the diagnosis of an examination."""
    faults = dict.fromkeys(each.fault for each in examination.findings if each.severity == "fault")
    silent = unexplained_joints(robot, examination)
    correction = examination.correction if examination.correction.changes else None
    if (
        examination.best is None
        or "wrong robot" in faults
        or len(silent) > THRESHOLDS.unexplained_joints * robot.n
    ):
        joints = f": no model explains the torque of {', '.join(silent)}" if silent else ""
        if channels := [fault for fault in faults if fault in UNEXPLAINABLE]:
            joints = f": {', '.join(channels)}"
        return Diagnosis(
            f"This log does not identify the robot{joints}.",
            examination.findings,
            False,
            correction,
        )
    open_questions = dict.fromkeys(
        each.fault for each in examination.findings if each.severity == "fault" and each.hypotheses
    )
    if faults and set(faults) == set(open_questions):
        sentence = (
            f"Torques and description disagree: {', '.join(faults)}. Find out which is right"
            " before using this log."
        )
        return Diagnosis(sentence, examination.findings, True, correction)
    if faults:
        return Diagnosis(
            f"Do not use this log as it is: {', '.join(faults)}.",
            examination.findings,
            True,
            correction,
        )
    remarks = ", with the remarks below" if examination.findings else ""
    return Diagnosis(
        f"This log can identify the robot{remarks}.", examination.findings, True, correction
    )


def unexplained_joints(robot: Robot, examination: Examination) -> tuple[str, ...]:
    """Return the joints whose torque is dead or not predicted on held-out parts by any model."""
    dead = {
        joint
        for each in examination.findings
        if each.fault == "dead channel"
        for joint in each.joints
    }
    errors = np.zeros(robot.n) if examination.best is None else held_out_error(examination.best)
    return tuple(
        name
        for name, error in zip(robot.joint_names, errors, strict=True)
        if name in dead or error > THRESHOLDS.unexplained_error
    )

"""examine and doctor: what is wrong with a log for this robot, as findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...compiler.runtime.threads import mapped
from ...errors import LogError, refuse_loops, require_robot
from ...floating_point import default_errstate
from ...robot import Robot
from ...signals.clean import clean
from ...signals.clean.cleaning import sort_by_time
from ...signals.clean.correction import Correction
from ...signals.log import Log
from ..model.accumulator import on_one_core
from ..model.linear_model import Model, build_model
from ..samples.preparation import Preparation
from ..samples.samples import (
    FEWEST,
    Samples,
    base_motion,
    far_positions,
    payload_torque,
    require,
    require_finite,
    require_log,
    require_numbers,
)
from ..samples.smoothing import smoothed
from .channels import at_the_bound, dead_channels, is_dead, saturated_torques, spikes
from .excitation import FEWEST_ROWS, poor_excitation, rows_per_unknown
from .finding import Diagnosis, Finding
from .mechanics.hypothesis import Hypothesis
from .mechanics.motion_faults import DEGREE
from .mechanics.search import Step, correction_of, search, without_description
from .mechanics.unknowns import Unknowns
from .mechanics.view import view_of
from .mechanics.witness import Trial, Witness, held_out_error
from .sentences import findings_of
from .time_stamps import backwards_finding, run_down, stamp_findings, turned_round, unit_finding
from .wrong_robot import OF_THE_ROBOT, is_placeholder, wrong_robot

Array = NDArray[np.float64]
UNEXPLAINED = 0.7  # error of a joint over its torque on time that took no part, from which it says nothing
MOST_SILENT = 0.3  # of the joints, without which a log is of no use
WEAKEST = 16.5  # factor by which torques may be too small for positions in degrees; else they are those of the motors
FITTING = 0.2  # error of the middle joint, up to which positions that were taken as degrees are so


@dataclass(frozen=True, eq=False)
class Examination:
    """Findings, the correction of the log that they add up to, and the trial that explains it best (None if none could be made)."""

    findings: tuple[Finding, ...]
    correction: Correction
    best: Trial | None = field(default=None, repr=False)


@on_one_core
@default_errstate
def doctor(robot: Robot, log: Log) -> Diagnosis:
    """Return what is wrong with a log, each fault with its evidence, its probability and the line that mends it.

    A fault is a hypothesis: what would make the log agree with rigid-body dynamics and with the description. The evidence of each is
    compared with that of a healthy log. Only the robot's joints are examined; nothing is changed. Logs of a base that moves, or of the
    base's wrench without torques, are not examined, and the verdict says so.

    Returns:
        A `Diagnosis`: .findings, .verdict, .healthy, .usable.
    Example:
        >>> robot = sy.load("planar_2r")
        >>> log = sy.record(robot, sy.excite(robot, seconds=4, starts=1), rate=100)
        >>> sy.doctor(robot, log).usable
        True
    """
    require_robot(robot, "doctor", known_function=True)
    refuse_loops(robot, "doctor", "identify(robot, log) says how well it explains a log of its drives")
    require_log(log)
    try:
        log = log.reordered(robot)
        if reason := not_examined(robot, log):
            return Diagnosis(f"This log was not examined: {reason} identify(robot, log) takes it as it is.", examined=False)
        return judged(robot, examine_log(robot, log))
    except LogError as error:
        return Diagnosis(f"This log cannot be used to identify the robot: {error}", (), usable=False)


@on_one_core
def examine(model: Model, samples: Sequence[Samples], logs: Sequence[Log] = ()) -> tuple[Finding, ...]:
    """Return the findings on prepared samples, and on the logs that they were made of, for a model that is to be identified."""
    back = [finding for log in logs if (finding := backwards(model.robot, log.reordered(model.robot)))]
    if back:
        return tuple(back)
    signals = [finding for log in logs for finding in signal_findings(log.reordered(model.robot))[0]]
    told = {finding.fault for finding in signals if not finding.joints}
    return (*dict.fromkeys(signals), *(finding for finding in examine_samples(model, samples).findings if finding.fault not in told))


def not_examined(robot: Robot, log: Log) -> str:
    """Return why a log that can be identified from is not examined, in a sentence; '' if it is to be."""
    if log.tau is None and log.base_wrench is not None:
        require_numbers(log)
        require_finite(log, "base_wrench")
        return "it has wrenches of the base, and only torques of the joints are examined."
    require(log)
    return "" if base_motion(robot, log) is None else "its base moves, and only logs of a base at rest are examined."


def examine_log(robot: Robot, log: Log) -> Examination:
    """Return the examination of a log in the robot's joint order, with torques and its base at rest."""
    if back := backwards(robot, log):
        made = examine_log(robot, turned_round(log))
        return Examination((back, *made.findings), made.correction.changed(clock=-made.correction.clock), made.best)
    log = sort_by_time(log)
    findings, mended = signal_findings(log)
    log = mended.mend_samples(log)
    far = far_positions(robot, log)
    made = examine_samples(build_model(robot), (samples_of(robot, in_radians(robot, log) if far else log),), thorough=not far)
    if far:
        made = far_away(robot, made, far)
    correction = made.correction.changed(regular=mended.regular, spikes=mended.spikes, clock=mended.clock * made.correction.clock)
    return Examination(findings + made.findings, correction, made.best)


def backwards(robot: Robot, log: Log) -> Finding | None:
    """Return the finding on a clock that runs backwards, if it does: friction takes power out of a motion in one direction of time only.

    Stamps that fall may also be those of a file with its last sample first; then sorted samples agree with the robot.
    """
    if not run_down(log):
        return None
    model = build_model(robot)
    trials = []
    for each in (log, turned_round(log)):
        unknowns = Unknowns(model, not is_placeholder(model))
        trials.append(Witness(unknowns, view_of([with_use(samples_of(robot, each))])).first_trial(Hypothesis.none(model.n)))
    gain = trials[1].evidence - trials[0].evidence
    return backwards_finding(gain) if gain > 0 else None


def signal_findings(log: Log) -> tuple[tuple[Finding, ...], Correction]:
    """Return what the signals alone show, and the correction of time stamps and spikes."""
    log = sort_by_time(log)
    stamps, even = stamp_findings(log)
    unit, clock = unit_finding(log)
    jumps = tuple(spikes(log))
    torques = (*dead_channels(log), *saturated_torques(log)) if log.tau is not None else ()
    return (*unit, *stamps, *torques, *jumps), Correction.none(log.n).changed(regular=even, spikes=bool(jumps), clock=clock)


def samples_of(robot: Robot, log: Log) -> Samples:
    """Return the smoothed samples of a log, whatever its positions look like."""
    log = clean(log)
    if log.N < FEWEST:
        raise LogError(f"{log.where}{log.N} samples are too few to identify from; expected at least {FEWEST}")
    (q, qd, qdd), sure, *_ = smoothed(log, Preparation())
    assert log.tau is not None
    made = Samples(log.t[sure], q[sure], qd[sure], qdd[sure], log.tau[sure], None, log.remarks, log.source)
    return made if log.payload is None else replace(made, payload_torque=payload_torque(robot, log.payload, made.q, made.qd, made.qdd))


def with_use(samples: Samples) -> Samples:
    """Return the samples with torques that are dead or at their bound marked as not in use."""
    keep = np.ones(samples.tau.shape, bool) if samples.keep is None else samples.keep.copy()
    for j, used in enumerate(mapped(lambda tau: ~at_the_bound(tau) & (not is_dead(tau)), samples.tau.T)):
        keep[:, j] &= used
    return replace(samples, keep=keep)


def examine_samples(model: Model, samples: Sequence[Samples], thorough: bool = True) -> Examination:
    """Return what the mechanics shows: hypotheses about the log, held against each other by their evidence.

    `thorough` looks for further explanations of a log that contradicts the description.
    """
    described = not is_placeholder(model)
    witness = Witness(Unknowns(model, described), view_of([with_use(s) for s in samples]))
    start = witness.first_trial(Hypothesis.none(model.n))

    def contradicted(trial: Trial, steps: Sequence[Step]) -> bool:
        return thorough and described and wrong_robot(model, trial, steps, witness.view.band) is not None

    enough = rows_per_unknown(witness.view, model) >= FEWEST_ROWS
    best, steps = search(witness, start, contradicted) if enough else (start, ())
    steps = without_description(witness, best, steps)
    poor = tuple(poor_excitation(witness, best))
    names = model.robot.joint_names
    other = wrong_robot(model, best, steps, witness.view.band) if described and enough else None
    faults = [step for step in steps if step.matters and not (other and step.found.fault in OF_THE_ROBOT)]
    findings = (*((other,) if other else ()), *findings_of(best, faults, names), *poor)
    return Examination(findings, Correction.none(model.n) if other else correction_of(best.hypothesis, steps), best)


def in_radians(robot: Robot, log: Log) -> Log:
    """Return the log with the positions of turning joints taken as degrees."""
    return Correction.none(log.n).changed(scale=degrees(robot)).mend_columns(log)


def degrees(robot: Robot) -> Array:
    """Return what one unit of each position is, (n,), if angles are in degrees."""
    turning = {body.coordinate for body in robot.tree.bodies if body.kind == "revolute"}
    return np.array([DEGREE if j in turning else 1.0 for j in range(robot.n)])


def far_away(robot: Robot, made: Examination, far: Sequence[str]) -> Examination:
    """Return the examination of a log whose positions go far beyond the limits: degrees if the mechanics then fits, else motor angles."""
    told = f"Positions go far beyond the joints' limits: {', '.join(far)}"
    assert made.best is not None
    error = float(np.median(made.best.agreement.error))
    weak = made.best.hypothesis.clock**2 * float(np.median(np.abs(made.best.hypothesis.gain))) > WEAKEST
    if error < FITTING and not weak and not {"wrong robot", "degrees"} & {each.fault for each in made.findings}:
        sentence = f"{told}. Taken as degrees, the middle joint's torque is explained up to {error:.1%}."
        found = Finding("degrees", (), sentence, 0.99, 'angle = "deg"')
        return Examination((found, *made.findings), made.correction.changed(scale=degrees(robot)), made.best)
    sentence = f"{told}. Taken as degrees, the torques do not follow from them: angles and torques are those of the motors."
    fix = "transmission.ratio = { joint = gear ratio, ... }, with the ratios of the gears: the log cannot tell them"
    return Examination((Finding("motor side", (), sentence, 0.95, fix),), Correction.none(robot.n), None)


def judged(robot: Robot, made: Examination) -> Diagnosis:
    """Return the diagnosis of an examination."""
    faults = dict.fromkeys(each.fault for each in made.findings if each.severity == "fault")
    silent = unexplained(robot, made)
    mended = made.correction if made.correction.changes else None
    if made.best is None or "wrong robot" in faults or len(silent) > MOST_SILENT * robot.n:
        joints = f": the torque of {', '.join(silent)} is not explained by any model" if silent else ""
        return Diagnosis(f"This log does not identify the robot{joints}.", made.findings, False, mended)
    open_questions = dict.fromkeys(each.fault for each in made.findings if each.severity == "fault" and each.hypotheses)
    if faults and set(faults) == set(open_questions):
        sentence = f"Torques and description disagree: {', '.join(faults)}. Decide which is right before this log is used."
        return Diagnosis(sentence, made.findings, True, mended)
    if faults:
        return Diagnosis(f"This log must not be used as it is: {', '.join(faults)}.", made.findings, True, mended)
    remarks = ", with the remarks below" if made.findings else ""
    return Diagnosis(f"This log can identify the robot{remarks}.", made.findings, True, mended)


def unexplained(robot: Robot, made: Examination) -> tuple[str, ...]:
    """Return the joints whose torque is dead, or not explained by any parameters on time that took no part."""
    dead = {joint for each in made.findings if each.fault == "dead channel" for joint in each.joints}
    errors = np.zeros(robot.n) if made.best is None else held_out_error(made.best)
    return tuple(name for name, error in zip(robot.joint_names, errors, strict=True) if name in dead or error > UNEXPLAINED)

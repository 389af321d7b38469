"""Position channels: encoders that freeze, and samples that repeat the previous one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...robot import Robot
from ...signals.log import Log
from ..model.linear_model import build_model
from .doctor_thresholds import THRESHOLDS
from .examined_samples import mark_unused_torques, samples_of
from .fault_search.fault_correction import FaultCorrection
from .fault_search.log_evidence import LogEvidence
from .fault_search.thinned_log import thin_log
from .fault_search.unknowns import Unknowns
from .finding import Finding
from .wrong_robot import is_placeholder

Array = NDArray[np.float64]


def stuck_positions(robot: Robot, log: Log) -> Iterator[Finding]:
    """Yield findings on positions that freeze while other signals show a motion.

    The evidence is a measured velocity, a moving command, an abrupt stop (no joint stops from its
    usual speed within one sample while its torque goes on varying), or a torque that no resting
    joint has.
    """
    for j, name in enumerate(log.labels):
        start, stop = longest_repeat(log.q[:, j])
        seconds = float(log.t[stop - 1] - log.t[start]) if stop > start else 0.0
        if (
            stop - start < THRESHOLDS.least_stuck_samples
            or seconds < THRESHOLDS.least_stuck_seconds
            or seconds < THRESHOLDS.least_stuck_share * log.duration
        ):
            continue
        run = slice(start, stop)
        evidence = motion_evidence(log, j, run) or torque_evidence(robot, log, j, run)
        if evidence:
            sentence = (
                f"The position of {name} is stuck at {log.q[start, j]:.4g} rad|m for"
                f" {seconds:.3g} s from t = {log.t[start]:.6g} s, while {evidence}."
            )
            fix = (
                "the samples before the encoder froze (log.between), or another log; no mapping"
                " can restore it"
            )
            yield Finding("stuck channel", (name,), sentence, 0.97, fix)


def longest_repeat(q: Array) -> tuple[int, int]:
    """Return start and stop of the longest run of equal values of q (N,)."""
    change = np.flatnonzero(np.diff(q) != 0)
    edges = np.concatenate([[0], change + 1, [len(q)]])
    i = int(np.argmax(np.diff(edges)))
    return int(edges[i]), int(edges[i + 1])


def motion_evidence(log: Log, j: int, run: slice) -> str:
    """Return what shows that a joint moved during a run of equal positions, '' for nothing."""
    if log.qd is not None:
        qd = np.nan_to_num(log.qd[:, j])
        inside, usual = (float(np.sqrt(np.mean(x**2))) for x in (qd[run], qd))
        distance = float(np.sum(np.abs(qd[run]))) * log.dt
        moves = inside > THRESHOLDS.stuck_motion_share * usual
        if moves and distance > THRESHOLDS.stuck_distance:
            return f"its velocity has an rms of {inside:.3g} rad/s|m/s"
        return ""
    if log.reference is not None:
        moved = float(np.ptp(np.nan_to_num(log.reference[run, j])))
        if moved > max(
            THRESHOLDS.stuck_distance, THRESHOLDS.stuck_motion_share * np.ptp(log.q[:, j])
        ):
            return f"its command moves by {moved:.3g} rad|m"
        return ""
    return abrupt_stop(log, j, run)


def abrupt_stop(log: Log, j: int, run: slice) -> str:
    """Return the evidence of a joint that stops within one sample, or starts so, '' for none."""
    steps = np.diff(log.q[:, j])
    usual = float(np.sqrt(np.mean(steps[steps != 0] ** 2))) if np.any(steps) else 0.0
    before = steps[max(run.start - THRESHOLDS.stuck_approach, 0) : run.start]
    approach = float(np.min(np.abs(before))) if len(before) == THRESHOLDS.stuck_approach else 0.0
    jump = abs(float(steps[run.stop - 1])) if run.stop - 1 < len(steps) else 0.0
    sudden = approach > THRESHOLDS.stuck_speed_share * usual > 0
    jumped = jump > THRESHOLDS.stuck_jump * usual > 0
    if not (sudden or jumped) or log.tau is None:
        return ""
    if not torque_varies(log, j, run):
        return ""
    how = "it stops from full speed" if sudden else f"it jumps by {jump:.3g} rad|m after it"
    return f"{how} within one sample and its torque goes on varying"


def torque_varies(log: Log, j: int, run: slice) -> bool:
    """Return whether the torque of a joint varies during a run nearly as in the whole log."""
    assert log.tau is not None
    tau = np.nan_to_num(log.tau[:, j])
    return bool(np.std(tau[run]) >= THRESHOLDS.stuck_motion_share * np.std(tau))


def torque_evidence(robot: Robot, log: Log, j: int, run: slice) -> str:
    """Return the evidence of a torque that varies as in motion though no model explains it.

    The model is identified from the samples outside the run. A resting joint bears the gravity and
    the inertia of the links beyond it, which the model predicts, and a nearly constant friction.
    """
    silent = log.qd is None and log.reference is None and log.tau is not None
    if not (silent and torque_varies(log, j, run)):
        return ""
    share = unexplained_variation(robot, log, j, run)
    if share < THRESHOLDS.stuck_unexplained:
        return ""
    return f"its torque goes on varying, {share:.0%} of it not explained by a joint at rest"


def unexplained_variation(robot: Robot, log: Log, j: int, run: slice) -> float:
    """Return the residual's standard deviation over the torque's, of a joint during a run."""
    first, last = log.t[run][[0, -1]]
    model = build_model(robot)
    used = mark_unused_torques(samples_of(robot, log))
    resting = (used.t >= first) & (used.t <= last)
    assert used.keep is not None
    outside = thin_log([replace(used, keep=used.keep & ~resting[:, None])])
    unknowns = Unknowns(model, not is_placeholder(model))
    none, log_evidence = FaultCorrection.none(robot.n), LogEvidence(unknowns, outside)
    u = log_evidence.first_trial(none).agreement.mean
    predicted = log_evidence.with_every_row.regression(none).predicted(u)
    inside = (outside.t >= first) & (outside.t <= last)
    tau = outside.tau[inside, j]
    if len(tau) < THRESHOLDS.least_stretch:
        return 0.0
    return float(np.std(tau - predicted[inside, j])) / max(float(np.std(tau)), 1e-300)


def repeated_samples(log: Log) -> Iterator[Finding]:
    """Yield a remark on signals that are logged faster than they are measured."""
    for signal, value in (("position", log.q), ("velocity", log.qd), ("torque", log.tau)):
        times = 1 if value is None else repeat_count(value)
        if times > 1:
            sentence = (
                f"Every {signal} is repeated {times} times: logged at {log.rate:.4g} Hz, measured"
                f" at about {log.rate / times:.4g} Hz."
            )
            yield Finding(
                fault="repeated samples",
                joints=(),
                sentence=sentence,
                probability=0.98,
                fix=f"log[::{times}], or a log at the rate of the measurement",
                severity="remark",
            )


def repeat_count(x: Array) -> int:
    """Return how many times each sample of x (N, n) is repeated, 1 for none.

    Samples change at every k-th row alone, in all columns together.
    """
    change = np.flatnonzero(np.any(x[1:] != x[:-1], axis=1))
    if len(change) < THRESHOLDS.least_stamps:
        return 1
    runs = np.diff(change)
    times = int(np.median(runs))
    regular = times > 1 and np.mean(runs == times) > THRESHOLDS.regular_repeats
    return times if regular else 1

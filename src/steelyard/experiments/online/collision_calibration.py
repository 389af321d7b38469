"""Calibration of the collision observer.

Thresholds from held-out residuals, per joint and state of motion.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, SteelyardWarning
from ...identification.result.fit import Fit
from .calibration.confirmed_states import confirmed_states, largest_of_states, tail_probability
from .calibration.covered_motion import covered_motion
from .calibration.half_fits import half_fits
from .calibration.monitored_states import TRUSTED, MonitoredStates, are_trusted
from .calibration.near_states import near_states
from .calibration.rule import RULE, CalibrationRule, classifier
from .held_out_residuals import (
    HalfStreams,
    HeldOutLimits,
    ResidualStream,
    half_streams,
    held_out_limits,
    residual_streams,
)
from .motion_states import STATES, Visits, joined_visits, visits

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Counts = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CollisionCalibration(MonitoredStates):
    """Thresholds of a collision observer, and the held-out free motion that supports them.

    Residuals come from block cross-validation: each part of the fit's log is predicted by models
    that were estimated without it. The largest of m exchangeable visits of a joint to a state is
    exceeded by the next one with a probability of at most 1 / (m + 1); the threshold is `factor`
    times as large. Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005,
    section 2.2 (conformal prediction); Coles, "An Introduction to Statistical Modeling of Extreme
    Values", 2001, chapter 3.

    Attributes
    ----------
    joint_names : names of the joints
    largest : largest held-out filtered residual, (n, 4) [N m|N]; NaN for a state without any
    visits : number of visits to each state, (n, 4)
    monitored : whether the observer reports collisions in a state, (n, 4)
    share : share of the held-out motion in which the joint is monitored, (n,)
    low, high, speed, torque, spread : ranges that are monitored, (n,); see `CoveredMotion`
    threshold, confirmed, words, near : see `MonitoredStates`
    jitter : variance of the noise of the velocities, (n,) [(rad/s)^2|(m/s)^2]
    hours : length of the held-out motion [h]
    alarms : visits above a threshold that was calibrated on the other visits
    """

    joint_names: tuple[str, ...]
    largest: Array
    visits: Counts
    monitored: Bools
    share: Array
    jitter: Array
    hours: float
    alarms: int

    @property
    def alarms_per_hour(self) -> float:
        """Observed rate of false alarms on held-out visits [1/h]."""
        return self.alarms / self.hours

    @property
    def alarms_per_hour_limit(self) -> float:
        """Upper 95 % confidence limit of the rate [1/h] of a Poisson process.

        Garwood, Biometrika 28 (1936), p. 437.
        """
        from scipy.special import gammaincinv

        return float(gammaincinv(self.alarms + 1.0, 0.95)) / self.hours

    @property
    def visit_probability(self) -> Array:
        """Upper bound of the probability that an exchangeable visit is a false alarm, (n, 4).

        1 / (m + 1) after m visits; 0 if the state is not monitored.
        """
        return np.where(self.monitored, 1.0 / (self.visits + 1.0), 0.0)

    @property
    def detectable(self) -> Array:
        """Smallest external torque that is detected in every monitored state, (n,) [N m|N].

        It is the threshold plus the largest residual, which may have the opposite sign; infinite
        for a joint without a monitored state. A constant external torque reaches 95 % of its size
        in the residual after 3 / gain.
        """
        both = np.where(self.monitored, self.threshold + np.nan_to_num(self.largest), 0.0).max(
            axis=1
        )
        return np.where(self.monitored.any(axis=1), both, np.inf)

    def __str__(self) -> str:
        total = f"{self.hours * 3600.0:.3g} s of held-out free motion"
        rate = (
            f"{self.alarms} false alarms in {total} (95 % limit: {self.alarms_per_hour_limit:.3g}"
            " per hour)"
        )
        sizes = zip(self.joint_names, self.detectable, self.share, strict=True)
        listed = ", ".join(
            f"{name} {size:.3g} ({share:.0%})" for name, size, share in sizes if share > 0.0
        )
        text = (
            f"{rate}. Smallest detectable torque [N m|N] (share of that motion which is monitored):"
            f" {listed}."
        )
        return f"{text} {gaps}" if (gaps := self.not_monitored) else text

    @property
    def not_monitored(self) -> str:
        """Sentence on the states that are not monitored, '' without any."""
        gaps = []
        for j, name in enumerate(self.joint_names):
            missing = [STATES[k] for k in np.flatnonzero(~self.monitored[j])]
            if len(missing) == len(STATES):
                missing = [
                    (
                        "all states"
                        if self.words[j] in TRUSTED
                        else f"all states: {self.words[j]}, and not confirmed"
                    )
                ]
            gaps += [f"{name} ({', '.join(missing)})"] * bool(missing)
        return f"Not monitored: {'; '.join(gaps)}." if gaps else ""


_calibrations: WeakKeyDictionary[
    Fit, dict[tuple[object, ...], tuple[CollisionCalibration, HeldOutLimits]]
] = WeakKeyDictionary()


def calibrate(
    fit: Fit, gain: float, rest: Array | None
) -> tuple[CollisionCalibration, HeldOutLimits]:
    """Return the calibration of an observer of this gain, computed once for a fit.

    Parameters
    ----------
    fit : the identified robot
    gain : bandwidth of the observer [1/s]
    rest : speed of joints at rest, (n,) [rad/s|m/s]; None for a share of each joint's largest speed

    Raises
    ------
    CallError : if the fit has no free motion
    """
    key = (gain, None if rest is None else tuple(rest.tolist()))
    stored = _calibrations.setdefault(fit, {})
    if key not in stored:
        if not fit.pipeline.held_out:
            raise CallError(
                "CollisionObserver: this fit has no samples of free motion to calibrate the"
                " threshold on; identify from logs of joint torques on a base at rest"
            )
        words = joint_words(fit)
        limits = held_out_limits(fit, gain, rest, RULE.rest)
        fits = half_fits(fit)
        streams = residual_streams(fit, gain, limits, fits)
        halves = half_streams(fit, streams, gain, limits, fits)
        result = calibration_of(streams, halves, fit.robot.joint_names, words, limits, gain, RULE)
        stored[key] = result, limits
    result, limits = stored[key]
    if not result.monitored.any():
        warnings.warn(
            _why_nothing_is_monitored(fit, joint_words(fit)), SteelyardWarning, stacklevel=4
        )
    return result, limits


def joint_words(fit: Fit) -> tuple[str, ...]:
    """Return the word of the verdict on each joint; no joint of a refused fit is trusted."""
    words = {joint.name: joint.word for joint in fit.verdict.joints}
    refused = fit.verdict.word == "refused"
    return tuple("refused" if refused else words[name] for name in fit.robot.joint_names)


def _why_nothing_is_monitored(fit: Fit, words: tuple[str, ...]) -> str:
    """Return the warning about an observer without a threshold: it reports no collision."""
    if any(word in TRUSTED for word in words):
        return (
            "CollisionObserver monitors nothing and reports no collision: no joint visits a state"
            f" of motion {RULE.fewest} times in the fit's log. Identify from a longer log"
        )
    return (
        "CollisionObserver monitors nothing and reports no collision: this fit is"
        f" {fit.verdict.word}, and the halves of its log do not confirm each other's residuals."
        " Identify from a longer log; print(fit.verdict) has the reasons;"
        " sy.CollisionObserver(fit.robot, noise=...) observes without a calibration"
    )


def calibration_of(
    streams: tuple[ResidualStream, ...],
    halves: tuple[HalfStreams, ...],
    names: tuple[str, ...],
    words: tuple[str, ...],
    limits: HeldOutLimits,
    gain: float,
    rule: CalibrationRule,
) -> CollisionCalibration:
    """Return the calibration of held-out residuals by a rule.

    Parameters
    ----------
    streams : residuals of the parts of the fit's log
    halves : residuals of each half of the log, and of the other half by the model of this half
    names : names of the joints
    words : word of the verdict on each joint
    limits : speeds of the fit's motion
    gain : bandwidth of the observer [1/s]
    rule : constants of the calibration
    """
    n = len(names)
    states = [classifier(limits, gain, rule).classify(part.qd, part.dt) for part in streams]
    every = joined_visits(
        [visits(state, part.residual) for state, part in zip(states, streams, strict=True)]
    )
    trusted = are_trusted(words)[:, None]
    confirmed = confirmed_states(halves, words, gain, rule)
    confirmed &= trusted | (tail_probability(every, n, rule.factor) <= rule.tail)
    threshold, largest, counts, monitored = thresholds(every, trusted | confirmed, rule)
    inside = np.concatenate([monitored[np.arange(n), state] for state in states])
    covered = covered_motion(streams, rule.factor)
    return CollisionCalibration(
        low=covered.low,
        high=covered.high,
        speed=covered.speed,
        torque=covered.torque,
        spread=covered.spread,
        near=near_states(streams),
        joint_names=names,
        threshold=threshold,
        largest=largest,
        visits=counts,
        monitored=monitored,
        confirmed=confirmed,
        words=words,
        share=inside.mean(axis=0),
        jitter=limits.jitter,
        hours=sum(float(np.sum(x.dt)) for x in streams) / 3600.0,
        alarms=cross_validated_alarms(every, monitored, rule),
    )


def thresholds(
    every: Visits, supported: Bools, rule: CalibrationRule
) -> tuple[Array, Array, Counts, Bools]:
    """Return threshold, largest residual, number of visits and monitored states, each (n, 4).

    Parameters
    ----------
    every : visits of joints to states
    supported : states (n, 4) that the verdict or the log supports; others have no finite threshold
    rule : constants; a state with fewer than `rule.fewest` visits has no finite threshold
    """
    largest, counts = largest_of_states(every, len(supported))
    monitored = (counts >= rule.fewest) & supported
    return (
        np.where(monitored, rule.factor * largest, np.inf),
        np.where(counts > 0, largest, np.nan),
        counts,
        monitored,
    )


def cross_validated_alarms(every: Visits, monitored: Bools, rule: CalibrationRule) -> int:
    """Count the visits above a threshold that was calibrated on the other visits to that state."""
    alarms = 0
    for joint, state in np.argwhere(monitored):
        values = np.sort(every.largest[(every.joint == joint) & (every.state == state)])
        alarms += len(values) > 1 and bool(values[-1] > rule.factor * values[-2])
    return alarms

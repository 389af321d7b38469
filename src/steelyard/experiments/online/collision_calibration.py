"""Calibration of the collision observer: thresholds from held-out residuals, per joint and state of motion."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, SteelyardWarning
from ...identification.result.fit import Fit
from .held_out_residuals import MotionLimits, ResidualStream, motion_limits, residual_streams
from .motion_states import STATES, Recently, StateClassifier, Visits, joined, visits

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Counts = NDArray[np.intp]
TRUSTED = ("trusted", "trusted within")  # words of the verdict


@dataclass(frozen=True)
class CalibrationRule:
    """Constants of the calibration; `benchmarks/collision_calibration.py` shows how each was chosen.

    factor : threshold over the largest held-out residual; for motions that are not exchangeable
    fewest : visits of a joint to a state from which the state is monitored
    slow : share of the joint's largest speed below which friction is not at its Coulomb level
    rest : share of the joint's largest speed below which it stands, unless the user gives `rest`
    memory : time constants of the observer after which a reversal, a stop or an unknown state is forgotten
    """

    factor: float = 1.5
    fewest: int = 3
    slow: float = 0.05
    rest: float = 0.002
    memory: float = 3.0


RULE = CalibrationRule()


@dataclass(frozen=True, eq=False)
class Calibration:
    """Thresholds of a collision observer, and the held-out free motion that supports them.

    Residuals come from block cross-validation: each part of the fit's log is predicted by models that
    were estimated without it. The largest of m exchangeable visits of a joint to a state is exceeded by the
    next one with a probability of at most 1 / (m + 1); the threshold is `factor` times as large.
    Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005, section 2.2 (conformal
    prediction); Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, chapter 3.

    Attributes
    ----------
    joint_names : names of the joints
    threshold : (n, 4) [N m|N], of joints that move forward or backward, reverse and stand; inf if not monitored
    largest : largest held-out filtered residual, (n, 4) [N m|N]; NaN for a state without any
    visits : number of visits to each state, (n, 4)
    monitored : whether the observer reports collisions in a state, (n, 4)
    words : word of the verdict on each joint
    share : share of the held-out motion in which the joint is monitored, (n,)
    low, high : range of positions that is monitored, (n,) [rad|m]; infinite for joints that the verdict trusts everywhere
    speed : largest speed of the held-out motion, which is monitored, (n,) [rad/s|m/s]
    torque : largest filtered torque of the model in the held-out motion, which is monitored, (n,) [N m|N]
    spread : largest parameter uncertainty that is monitored, (n,) [N m|N]
    jitter : variance of the noise of the velocities, (n,) [(rad/s)^2|(m/s)^2]
    hours : length of the held-out motion [h]
    alarms : visits above a threshold that was calibrated on the other visits
    """

    joint_names: tuple[str, ...]
    threshold: Array
    largest: Array
    visits: Counts
    monitored: Bools
    words: tuple[str, ...]
    share: Array
    low: Array
    high: Array
    speed: Array
    torque: Array
    spread: Array
    jitter: Array
    hours: float
    alarms: int

    @property
    def alarms_per_hour(self) -> float:
        """Observed rate of false alarms on held-out visits [1/h]."""
        return self.alarms / self.hours

    @property
    def alarms_per_hour_limit(self) -> float:
        """Upper 95 % confidence limit of the rate [1/h], of a Poisson process. Garwood, Biometrika 28 (1936), p. 437."""
        from scipy.special import gammaincinv

        return float(gammaincinv(self.alarms + 1.0, 0.95)) / self.hours

    @property
    def visit_probability(self) -> Array:
        """Bound of the probability that an exchangeable visit is a false alarm, (n, 4): 1 / (m + 1); 0 if not monitored."""
        return np.where(self.monitored, 1.0 / (self.visits + 1.0), 0.0)

    @property
    def detectable(self) -> Array:
        """Smallest external torque that is detected in every monitored state, (n,) [N m|N]; inf without any.

        Threshold plus largest residual, which may have the opposite sign. A constant external torque
        reaches 95 % of its size in the residual after 3 / gain.
        """
        both = np.where(self.monitored, self.threshold + np.nan_to_num(self.largest), 0.0).max(axis=1)
        return np.where(self.monitored.any(axis=1), both, np.inf)

    def __str__(self) -> str:
        total = f"{self.hours * 3600.0:.3g} s of held-out free motion"
        rate = f"{self.alarms} false alarms in {total} (95 % limit: {self.alarms_per_hour_limit:.3g} per hour)"
        sizes = zip(self.joint_names, self.detectable, self.share, strict=True)
        listed = ", ".join(f"{name} {size:.3g} ({share:.0%})" for name, size, share in sizes if share > 0.0)
        text = f"{rate}. Smallest detectable torque [N m|N] (share of that motion which is monitored): {listed}."
        return f"{text} {gaps}" if (gaps := self.not_monitored) else text

    @property
    def not_monitored(self) -> str:
        """Sentence on the states that are not monitored, '' without any."""
        gaps = []
        for j, name in enumerate(self.joint_names):
            missing = [STATES[k] for k in np.flatnonzero(~self.monitored[j])]
            if len(missing) == len(STATES):
                missing = ["all states" if self.words[j] in TRUSTED else f"all states: the verdict is {self.words[j]}"]
            gaps += [f"{name} ({', '.join(missing)})"] * bool(missing)
        return f"Not monitored: {'; '.join(gaps)}." if gaps else ""


_calibrations: WeakKeyDictionary[Fit, dict[tuple[object, ...], tuple[Calibration, MotionLimits]]] = WeakKeyDictionary()


def calibrate(fit: Fit, gain: float, rest: Array | None) -> tuple[Calibration, MotionLimits]:
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
                "CollisionObserver: this fit has no samples of free motion to calibrate the threshold on; "
                "identify from logs of joint torques on a base at rest"
            )
        words = joint_words(fit)
        limits = motion_limits(fit, gain, rest, RULE.rest)
        result = calibration_of(residual_streams(fit, gain, limits), fit.robot.joint_names, words, limits, gain, RULE)
        stored[key] = result, limits
    result, limits = stored[key]
    if not result.monitored.any():
        warnings.warn(_why_nothing_is_monitored(fit, joint_words(fit)), SteelyardWarning, stacklevel=4)
    return result, limits


def joint_words(fit: Fit) -> tuple[str, ...]:
    """Return the word of the verdict on each joint; no joint of a refused fit is trusted.

    Held-out residuals of a doubtful or refused joint are no bound on its residuals in other motions.
    """
    words = {joint.name: joint.word for joint in fit.verdict.joints}
    refused = fit.verdict.word == "refused"
    return tuple("refused" if refused else words[name] for name in fit.robot.joint_names)


def _why_nothing_is_monitored(fit: Fit, words: tuple[str, ...]) -> str:
    """Return the warning about an observer without a threshold: it reports no collision."""
    if any(word in TRUSTED for word in words):
        return (
            f"CollisionObserver monitors nothing and reports no collision: no joint visits a state of motion {RULE.fewest} times "
            "in the fit's log. Identify from a longer log"
        )
    return (
        f"CollisionObserver monitors nothing and reports no collision: this fit is {fit.verdict.word}, so its residuals are no bound "
        "on those of other motions. print(fit.verdict) has the reasons; sy.CollisionObserver(fit.robot, noise=...) observes without a "
        "calibration"
    )


def calibration_of(
    streams: tuple[ResidualStream, ...],
    names: tuple[str, ...],
    words: tuple[str, ...],
    limits: MotionLimits,
    gain: float,
    rule: CalibrationRule,
) -> Calibration:
    """Return the calibration of held-out residuals by a rule.

    Parameters
    ----------
    streams : residuals of the parts of the fit's log
    names : names of the joints
    words : word of the verdict on each joint
    limits : speeds of the fit's motion
    gain : bandwidth of the observer [1/s]
    rule : constants of the calibration
    """
    states = [classifier(limits, gain, rule).classify(part.qd, part.dt) for part in streams]
    every = joined([visits(state, part.residual) for state, part in zip(states, streams, strict=True)])
    threshold, largest, counts, monitored = thresholds(every, np.array([word in TRUSTED for word in words]), rule)
    inside = np.concatenate([monitored[np.arange(len(names)), state] for state in states])
    low, high = np.min([part.q.min(axis=0) for part in streams], axis=0), np.max([part.q.max(axis=0) for part in streams], axis=0)
    most = [np.max([np.abs(getattr(part, name)).max(axis=0) for part in streams], axis=0) for name in ("qd", "torque", "spread")]
    everywhere = np.array([word == TRUSTED[0] for word in words])
    return Calibration(
        joint_names=names,
        threshold=threshold,
        largest=largest,
        visits=counts,
        monitored=monitored,
        words=words,
        share=inside.mean(axis=0),
        low=np.where(everywhere, -np.inf, low),
        high=np.where(everywhere, np.inf, high),
        speed=most[0],
        torque=most[1],
        spread=rule.factor * most[2],
        jitter=limits.jitter,
        hours=sum(float(np.sum(x.dt)) for x in streams) / 3600.0,
        alarms=cross_validated_alarms(every, monitored, rule),
    )


def classifier(limits: MotionLimits, gain: float, rule: CalibrationRule) -> StateClassifier:
    """Return a new classifier of states by a rule."""
    return StateClassifier(limits.rest, rule.slow * limits.speed, rule.memory / gain)


def thresholds(every: Visits, trusted: Bools, rule: CalibrationRule) -> tuple[Array, Array, Counts, Bools]:
    """Return threshold, largest residual, number of visits and whether it is monitored, each (n, 4).

    A state with fewer than `rule.fewest` visits and a joint that is not trusted have no finite threshold.
    """
    shape = len(trusted), len(STATES)
    largest, counts = np.full(shape, -np.inf), np.zeros(shape, np.intp)
    np.maximum.at(largest, (every.joint, every.state), every.largest)
    np.add.at(counts, (every.joint, every.state), 1)
    monitored = (counts >= rule.fewest) & trusted[:, None]
    return np.where(monitored, rule.factor * largest, np.inf), np.where(counts > 0, largest, np.nan), counts, monitored


def cross_validated_alarms(every: Visits, monitored: Bools, rule: CalibrationRule) -> int:
    """Count the visits above a threshold that was calibrated on the other visits to that state."""
    alarms = 0
    for joint, state in np.argwhere(monitored):
        values = np.sort(every.largest[(every.joint == joint) & (every.state == state)])
        alarms += len(values) > 1 and bool(values[-1] > rule.factor * values[-2])
    return alarms


class MonitoredThreshold:
    """Threshold of live samples: inf where the calibration does not cover the state of a joint. Causal.

    A joint is covered if, during the last `memory`, its position was in the range of the log, and its speed, the
    torque of the model and the uncertainty of that torque were no larger than in the log (the uncertainty: `factor`
    times, as the threshold). The measured torque does not decide: a collision changes it first.

    Parameters
    ----------
    calibration : thresholds and ranges
    limits : speeds of the fit's motion
    gain : bandwidth of the observer [1/s]
    rule : constants of the calibration
    """

    def __init__(self, calibration: Calibration, limits: MotionLimits, gain: float, rule: CalibrationRule) -> None:
        self.calibration = calibration
        self._states = classifier(limits, gain, rule)
        self._outside = Recently(len(calibration.joint_names), rule.memory / gain)

    def update(self, q: Array, qd: Array, torque: Array, spread: Array, dt: Array) -> Array:
        """Return the threshold (N, n) [N m|N] of samples (N, n), each dt (N,) [s] after the one before it."""
        known = self.calibration
        limit = known.threshold[np.arange(q.shape[1]), self._states.classify(qd, dt)]
        outside = (q < known.low) | (q > known.high) | (np.abs(qd) > known.speed)
        outside |= (np.abs(torque) > known.torque) | (spread > known.spread)
        return np.where(self._outside.update(outside, dt), np.inf, limit)

"""Monitored states, and the threshold of live samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..held_out_residuals import HeldOutLimits, ResidualStream
from ..motion_states import Recently
from .covered_motion import CoveredMotion
from .near_states import NearStates
from .rule import CalibrationRule, classifier

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
TRUSTED = ("trusted", "trusted within")  # words of the verdict


def are_trusted(words: tuple[str, ...]) -> Bools:
    """Return whether the words of the verdict on joints trust them, (n,)."""
    return np.array([word in TRUSTED for word in words])


@dataclass(frozen=True, eq=False)
class MonitoredStates(CoveredMotion):
    """Thresholds of the states of each joint, and the motion to which they apply.

    Attributes
    ----------
    threshold : (n, 4) [N m|N], of joints that move forward or backward, reverse and stand; inf
        if not monitored
    confirmed : whether the halves of the log confirm each other's thresholds, (n, 4)
    words : word of the verdict on each joint
    near : states to which joints that are not trusted are limited
    """

    threshold: Array
    confirmed: Bools
    words: tuple[str, ...]
    near: NearStates


class MonitoredThreshold:
    """Causal threshold of live samples, infinite where the calibration does not cover a joint.

    A joint is covered if its position, its speed, the torque of the model and the uncertainty of
    that torque stayed within the ranges of the log during the last `memory`; the range of the
    uncertainty is multiplied by `factor`, as the threshold is. In a state that the log does not
    confirm, all joints must be within their ranges of position, because model errors depend on the
    posture. A joint that the verdict does not trust is covered near the states of the log only:
    its model may interpolate, not extrapolate. Measured torque is not compared, because a collision
    changes it first.

    Parameters
    ----------
    states : thresholds and ranges
    limits : speeds of the fit's motion
    gain : bandwidth of the observer [1/s]
    rule : constants of the calibration
    """

    def __init__(
        self, states: MonitoredStates, limits: HeldOutLimits, gain: float, rule: CalibrationRule
    ) -> None:
        self.states = states
        self._classifier = classifier(limits, gain, rule)
        self._doubtful = ~are_trusted(states.words)
        n, window = len(states.speed), rule.memory / gain
        self._beyond, self._posture, self._far = (Recently(k, window) for k in (n, 1, 1))

    def update(self, q: Array, qd: Array, torque: Array, spread: Array, dt: Array) -> Array:
        """Return the threshold (N, n) [N m|N] of samples (N, n), dt (N,) [s] apart."""
        known = self.states
        index = np.arange(q.shape[1]), self._classifier.classify(qd, dt)
        beyond = self._beyond.update(known.beyond(q, qd, torque, spread), dt)
        posture = self._posture.update(
            np.asarray(known.beyond_positions(q).any(axis=1))[:, None], dt
        )
        beyond = beyond | (posture & ~known.confirmed[index])
        if self._doubtful.any():
            far = self._far.update(known.near.beyond(q, qd)[:, None], dt)
            beyond = beyond | (far & self._doubtful)
        return np.where(beyond, np.inf, known.threshold[index])

    def along(self, part: ResidualStream) -> Array:
        """Return the threshold (N, n) of the next samples, a part of a log."""
        return self.update(part.q, part.qd, part.torque, part.spread, part.dt)

"""Constants of the calibration of the collision observer."""

from __future__ import annotations

from dataclasses import dataclass

from ..held_out_residuals import HeldOutLimits
from ..motion_states import StateClassifier


@dataclass(frozen=True)
class CalibrationRule:
    """Constants of the calibration.

    `benchmarks/collision_calibration.py` shows how each was chosen.

    factor : threshold over the largest held-out residual; for motions that are not exchangeable
    fewest : visits of a joint to a state from which the state is monitored
    tail : largest probability, extrapolated from the visits, that the next one is a false alarm
    slow : share of the joint's largest speed below which friction is not at its Coulomb level
    rest : share of the joint's largest speed below which it stands, unless the user gives `rest`
    memory : time constants of the observer after which a reversal or an unknown state is forgotten
    """

    factor: float = 1.5
    fewest: int = 3
    tail: float = 0.05
    slow: float = 0.05
    rest: float = 0.002
    memory: float = 3.0


RULE = CalibrationRule()


def classifier(limits: HeldOutLimits, gain: float, rule: CalibrationRule) -> StateClassifier:
    """Return a new classifier of states by a rule."""
    return StateClassifier(limits.rest, rule.slow * limits.speed, rule.memory / gain)

"""Thresholds of elastic joints: when a stiffness is seen, and which positions are a pair."""

from __future__ import annotations

import numpy as np

import steelyard as sy
from steelyard.identification.elastic.deflection import deflection, fit_stiffness, has_deflection
from tests.thresholds.threshold import Threshold, sides

T = np.arange(4000) / 100
TORQUE, QD = np.sin(T), np.cos(0.3 * T)
NOISE = np.random.default_rng(0).normal(size=len(T))


def stiff(compliance: float) -> bool:
    """Whether a stiffness is seen of a joint whose compliance is so many times its standard
    deviation.
    """

    def found(a: float) -> tuple[float, ...]:
        return fit_stiffness([(a * TORQUE + NOISE, T, QD, TORQUE)], np.zeros((len(T), 1)), 1)

    sure = found(10.0)
    sigma, offset = sure[1] / sure[0] ** 2, 1.0 / sure[0] - 10.0
    return bool(np.isfinite(found(compliance * sigma - offset)[0]))


def pair(count: int) -> bool:
    """Whether so many samples with both positions show a deflection."""
    link = np.where(np.arange(len(T)) < count, 1.0, np.nan)[:, None] * QD[:, None]
    log = sy.Log(
        t=T,
        q=QD[:, None],
        motor_position=QD[:, None] + 1e-3 * TORQUE[:, None],
        link_position=link,
        tau=QD[:, None],
    )
    return has_deflection([deflection(log, T[:count])], 0)


def geared(ratio: float) -> bool:
    """Whether a motor that moves so many times as far as its link is refused."""
    log = sy.Log(t=T, q=QD[:, None], motor_position=ratio * QD[:, None], tau=QD[:, None])
    try:
        deflection(log, T)
    except sy.LogError:
        return True
    return False


ELASTIC = [
    Threshold("elastic.elastic_thresholds:visible_deviations", sides(stiff, 2.0)),
    Threshold("elastic.elastic_thresholds:least_samples", lambda: (pair(70), pair(140))),
    Threshold("elastic.elastic_thresholds:motor_ratio", sides(geared, 1.5)),
]

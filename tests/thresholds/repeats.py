"""Thresholds of motions that repeat."""

from __future__ import annotations

import numpy as np

import steelyard as sy
from steelyard.identification.samples.fourier import fourier_motion
from steelyard.identification.samples.repeats import comes_back, find_period, first_return
from tests.thresholds.threshold import Threshold, sides

T = np.arange(3000) / 100
Q = np.stack(
    [np.sin(0.2 * np.pi * T) + 0.5 * np.cos(0.6 * np.pi * T), np.cos(0.2 * np.pi * T)], axis=1
)
NOISE = np.random.default_rng(0).normal(size=Q.shape)


def log(**changes: np.ndarray) -> sy.Log:
    return sy.Log(**{"t": T, "q": Q, "tau": Q, **changes})


def away(most: float) -> bool:
    """Whether a motion comes back that is away by so much of its variance at most, half the mean
    square difference.
    """
    x = np.sin(0.2 * np.pi * T)[:, None]
    return first_return(np.sqrt(most) * x)[0] is not None


def back(remaining: float) -> bool:
    """Whether a motion has come back whose second half differs by so much of its variance, half the
    mean square difference.
    """
    x = np.sqrt(2.0) * np.sin(2 * np.pi * T / 15.0)[:, None]
    x[1500:] += np.sqrt(2.0 * remaining)
    return first_return(x)[0] is not None


def differs(ratio: float) -> bool:
    """Whether periods that differ by so many times the noise are repeats."""
    drift = (
        np.sqrt(max(ratio**2 - 1.0, 0.0))
        * np.where(T[:2000] < 10, -1.0, 1.0)[:, None]
        / np.sqrt(2.0)
    )
    return comes_back(T[:2000], Q[:2000] + 1e-3 * NOISE[:2000] + 1e-3 * drift * [[1.0, 0.0]], 10.0)


def rounded(size: float) -> bool:
    """Whether periods of a motion without noise that differ by so much of its variation are
    repeats.
    """
    return comes_back(
        T[:2000], Q[:2000] + np.sqrt(2.0) * size * Q.std(axis=0) * (T[:2000, None] >= 10), 10.0
    )


def uneven(share: float) -> bool:
    """Whether a period is looked for where a step is longer by so much of the others."""
    t = T + share * 0.01 * (T > 15)
    return (
        find_period(
            log(
                t=t,
                q=np.stack([np.sin(0.2 * np.pi * t), np.cos(0.2 * np.pi * t)], axis=1)
                + 1e-2 * NOISE,
            )
        )
        is not None
    )


def short(steps: int) -> bool:
    """Whether a period of so many steps is one."""
    q = np.sin(2 * np.pi * np.arange(300) / steps)[:, None]
    return first_return(q / q.std())[0] is not None


def high(share: float) -> bool:
    """Whether harmonics up to so much of the steps of a period are a motion."""
    k = int(share * 1000)
    return (
        fourier_motion(log(q=Q + 0.1 * np.sin(2 * np.pi * k * T / 10.0)[:, None]), 10.0) is not None
    )


REPEATS = [
    Threshold("samples.samples_thresholds:departure", sides(away, 0.5)),
    Threshold("samples.samples_thresholds:return_difference", sides(back, 0.02), (True, False)),
    Threshold(
        "samples.samples_thresholds:repeated_noise_ratio", sides(differs, 2.0), (True, False)
    ),
    Threshold("samples.samples_thresholds:repeated_rounding", sides(rounded, 1e-7), (True, False)),
    Threshold("samples.samples_thresholds:uneven_step", sides(uneven, 0.5), (True, False)),
    Threshold("samples.samples_thresholds:least_period_samples", lambda: (short(11), short(23))),
    Threshold("samples.samples_thresholds:highest_harmonic", sides(high, 0.35), (True, False)),
]

"""Thresholds of cleaning a log and of the times in a file."""

from __future__ import annotations

import numpy as np

import steelyard as sy
from steelyard.signals.clean.faults import find_faults
from steelyard.signals.clean.spikes import find_spikes
from steelyard.signals.read.time_column import from_ticks
from tests.thresholds.threshold import Threshold, sides

MODULE = "signals.signal_thresholds"


def spike(size: float, q: np.ndarray) -> bool:
    """Whether a position in the middle of q (N,) that is moved by `size` is a spike."""
    moved = q.copy()
    moved[len(q) // 2] += size
    return bool(find_spikes(moved[:, None])[len(q) // 2, 0])


def crowded(share: float) -> bool:
    """Whether spikes are found that are such a share of the samples of a standing joint."""
    q = np.zeros(2000)
    q[10 :: round(1 / share)] = 1.0
    return bool(find_spikes(q[:, None]).any())


def faults(t: np.ndarray, q: float = 1.0) -> str:
    """What is found in a log of one joint that reaches q [rad]."""
    log = sy.Log(t=t, q=q * np.sin(t)[:, None], tau=np.cos(t)[:, None], joint_names=("joint1",))
    return " ".join(find_faults(log))


def degrees(reach: float) -> bool:
    t = np.linspace(0.0, np.pi / 2, 100)
    return "Degrees instead of radians" in faults(t, reach)


def dropped(steps: float) -> bool:
    """Whether a step of so many usual ones is one of dropped samples, not a gap."""
    t = 0.01 * np.arange(100.0)
    t[50:] += 0.01 * (steps - 1.0)
    return "samples were dropped" in faults(t)


def milliseconds(interval: float) -> bool:
    """Whether times with such an interval are asked about."""
    return "milliseconds" in " ".join(from_ticks(interval * np.arange(10.0), None, "t").remarks)


NOISE = 0.01 * np.random.default_rng(0).normal(size=301)
NOISE[148:153] = 0.0
SIGNALS = [
    Threshold(f"{MODULE}:least_spike", sides(lambda x: spike(x, np.zeros(301)), 5e-3)),
    Threshold(
        f"{MODULE}:least_spike_share",
        sides(lambda x: spike(x, np.linspace(0.0, 20.0, 20_001)), 2e-3 * 0.98 * 20.0),
    ),
    # the median of five beside a spike is one step off
    Threshold(
        f"{MODULE}:spike_steps",
        lambda: (spike(0.2, 0.1 * np.arange(301.0)), spike(0.35, 0.1 * np.arange(301.0))),
    ),
    Threshold(f"{MODULE}:spike_ratio", sides(lambda x: spike(x, NOISE), 0.11)),
    Threshold(f"{MODULE}:spike_share", sides(crowded, 0.05), (True, False)),
    Threshold(f"{MODULE}:degrees_position", sides(degrees, 4 * np.pi)),
    Threshold(f"{MODULE}:gap_ratio", sides(dropped, 10.0), (True, False)),
    Threshold(f"{MODULE}:longest_interval", sides(milliseconds, 0.5)),
]

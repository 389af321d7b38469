"""Simulated work of a robot, to be watched.

Moves between random places with rests, what its sensors make of it, and what befalls it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

import steelyard as sy

Array = NDArray[np.float64]
SHARE = 0.6  # of the range of a joint's positions that is used
SPEED = 0.8  # [rad/s|m/s] the fastest of a move
REST = 0.15  # [s] between moves


@dataclass(frozen=True, eq=False)
class Noise:
    """Errors of live signals, as standard deviations.

    Of torques as shares of their rms, of speed [rad/s] and acceleration [rad/s2].

    Errors of torques have a white part and a part with the correlation time `memory` [s]. No
    model here has the ripple of the gears, 100 radians of its wave for one of the joint, nor the
    friction that fades with speed over `fades` [rad/s]; both are shares of the rms torque.
    """

    white: float = 0.02
    slow: float = 0.01
    memory: float = 0.05
    ripple: float = 0.0
    fading: float = 0.0
    fades: float = 0.1
    speed: float = 2e-4
    acceleration: float = 0.02


@dataclass(frozen=True, eq=False)
class Work:
    """True motion t (N,), q, qd, qdd (N, n) of a robot at work."""

    t: Array
    q: Array
    qd: Array
    qdd: Array

    def torque(self, robot: sy.Robot) -> Array:
        """The torque that a robot needs for it, (N, n)."""
        return np.asarray(robot.inverse_dynamics(self.q, self.qd, self.qdd))


def work(robot: sy.Robot, seconds: float, rate: float, seed: int = 0) -> Work:
    """Return minimum-jerk moves between random positions within the limits, with rests.

    They begin and end in the middle of the ranges, and last a little longer than `seconds`.
    """
    rng = np.random.default_rng(seed)
    limits = robot.tree.limits
    low, high = (
        np.clip([getattr(x, side) for x in limits], -np.pi, np.pi) for side in ("lower", "upper")
    )
    middle, half = 0.5 * (low + high), 0.5 * SHARE * (high - low)
    parts, total, here = [], 0, middle.copy()
    done = False
    while not done:
        done = total >= seconds * rate
        there = middle if done else middle + half * rng.uniform(-1.0, 1.0, robot.n)
        lasts = max(
            1.875 * float(np.max(np.abs(there - here))) / (SPEED * rng.uniform(0.4, 1.0)), 0.3
        )
        u = np.arange(0.0, lasts * rate) / (lasts * rate)
        s = np.stack(
            [
                u**3 * (10 - 15 * u + 6 * u**2),
                30 * u**2 * (1 - u) ** 2 / lasts,
                60 * u * (1 - u) * (1 - 2 * u) / lasts**2,
            ]
        )
        move = s[:, :, None] * (there - here)
        move[0] += here
        rest = np.zeros((3, int(REST * rate), robot.n))
        rest[0] = there
        parts += [move, rest]
        total += move.shape[1] + rest.shape[1]
        here = there
    q, qd, qdd = np.concatenate(parts, axis=1)
    return Work(np.arange(len(q)) / rate, q, qd, qdd)


def measured(
    motion: Work, tau: Array, size: Array, noise: Noise, rate: float, seed: int = 0
) -> tuple[Array, Array, Array, Array]:
    """What sensors make of the motion and of its torque, whose rms is `size` (n,).

    Q, qd, qdd, tau, (N, n) each.
    """
    rng = np.random.default_rng(seed + 1000)
    p = np.exp(-1.0 / (noise.memory * rate))
    slow = lfilter([np.sqrt(1.0 - p * p)], [1.0, -p], rng.normal(size=tau.shape), axis=0)
    ripple = noise.ripple * np.sqrt(2.0) * np.sin(100.0 * motion.q + np.arange(tau.shape[1]))
    fading = noise.fading * np.sign(motion.qd) * np.exp(-np.abs(motion.qd) / noise.fades)
    torque = tau + size * (
        ripple + fading + noise.white * rng.normal(size=tau.shape) + noise.slow * slow
    )
    qd = motion.qd + noise.speed * rng.normal(size=tau.shape)
    qdd = motion.qdd + noise.acceleration * rng.normal(size=tau.shape)
    return motion.q, qd, qdd, torque

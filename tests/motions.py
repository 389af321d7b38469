"""Band-limited motions with exact derivatives, and logs made along them."""

from __future__ import annotations

from typing import Any

import numpy as np

import steelyard as sy
from steelyard.robot import Robot
from steelyard.signals.log import Log


def fourier(
    n: int,
    seconds: float,
    rate: float,
    seed: int = 0,
    base: float = 0.1,
    harmonics: int = 5,
    size: float = 0.4,
) -> tuple[np.ndarray, ...]:
    """t (N,), q, qd, qdd (N, n): random Fourier series of base frequency `base` [Hz]."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * rate)) / rate
    q, qd, qdd = np.zeros((3, len(t), n))
    for k in range(1, harmonics + 1):
        a, b = rng.normal(size=(2, n)) * size / np.sqrt(k)
        w = 2 * np.pi * base * k
        s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        q += a * s + b * c
        qd += w * (a * c - b * s)
        qdd -= w * w * (a * s + b * c)
    return t, q, qd, qdd


def rubbing(robot: Robot) -> Robot:
    """The robot with friction and rotors, different at each joint."""
    k = np.arange(1, robot.n + 1)
    rough = robot.with_friction(
        viscous=(2.0 / k).tolist(), coulomb=(1.0 + 1.0 / k).tolist(), offset=(0.1 * k).tolist()
    )
    return rough.with_rotors((0.3 / k).tolist())


def recorded(
    true: Robot,
    seconds: float = 20.0,
    rate: float = 100.0,
    noise: float = 0.0,
    seed: int = 0,
    **motion: Any,
) -> Log:
    """A log of the true robot along a motion, with exact qd and qdd; white torque noise [N m|N]."""
    t, q, qd, qdd = fourier(true.n, seconds, rate, seed, **motion)
    tau = true.inverse_dynamics(q, qd, qdd)
    tau = tau + noise * np.random.default_rng(seed + 1).normal(size=tau.shape)
    return Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=true.joint_names)


def coloured(shape: tuple[int, int], rho: float, rng: np.random.Generator) -> np.ndarray:
    """First-order autoregressive noise of unit variance, (N, n)."""
    from scipy.signal import lfilter

    white = rng.normal(size=(shape[0] + 500, shape[1]))
    return np.asarray(lfilter([np.sqrt(1 - rho**2)], [1, -rho], white, axis=0))[500:]


def load(name: str) -> Robot:
    return sy.load(name)

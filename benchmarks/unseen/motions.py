"""Reference motions: Fourier series, point-to-point cycles, chirps and sweeps of single joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

Array = NDArray[np.float64]
Rng = np.random.Generator
KINDS = ("fourier", "point to point", "chirp", "single sweeps")


@dataclass(frozen=True, eq=False)
class Region:
    """The states that motions may use, each (n,).

    Centre and half of the range of q [rad], greatest speed [rad/s] and acceleration [rad/s2].
    """

    centre: Array
    half: Array
    speed: Array
    acceleration: Array


@dataclass(frozen=True, eq=False)
class Reference:
    """A sampled motion: q, qd, qdd (N, n)."""

    q: Array
    qd: Array
    qdd: Array


def random_region(rng: Rng, n: int) -> Region:
    """Return a region of an arm: wrists move faster and further than shoulders."""
    faster = np.linspace(1.0, 1.6, n)
    return Region(
        centre=rng.uniform(-1.0, 1.0, n),
        half=rng.uniform(0.5, 1.4, n) * np.minimum(faster, 1.3),
        speed=rng.uniform(0.7, 1.8) * faster * rng.uniform(0.8, 1.2, n),
        acceleration=rng.uniform(3.0, 9.0) * faster * rng.uniform(0.8, 1.2, n),
    )


def reference(kind: str, region: Region, t: Array, rng: Rng) -> Reference:
    """Return a motion of one of KINDS at uniform times (N,), at rest in the beginning."""
    shape = {
        "fourier": fourier,
        "point to point": point_to_point,
        "chirp": chirp,
        "single sweeps": single_sweeps,
    }[kind]
    q = shape(region, t, rng)
    if kind in ("fourier", "chirp"):
        q = region.centre + limited(q, region, t)
    step = t[1] - t[0]
    start = smooth_step(t / 0.8)[:, None]  # positions begin at rest
    q = q[0] + start * (q - q[0])
    qd = np.gradient(q, step, axis=0)
    return Reference(q, qd, np.gradient(qd, step, axis=0))


def limited(q: Array, region: Region, t: Array) -> Array:
    """Scale each joint's motion (N, n) about zero into the region."""
    step = t[1] - t[0]
    qd = np.gradient(q, step, axis=0)
    qdd = np.gradient(qd, step, axis=0)
    most = [np.max(np.abs(x), axis=0) for x in (q, qd, qdd)]
    allowed = region.half, region.speed, region.acceleration
    return np.asarray(q * np.min([a / m for a, m in zip(allowed, most, strict=True)], axis=0))


def fourier(region: Region, t: Array, rng: Rng) -> Array:
    """Return sums of 3 to 6 harmonics of a common period of 5 to 10 s."""
    n, harmonics = len(region.half), int(rng.integers(3, 7))
    omega = 2 * np.pi / rng.uniform(5.0, 10.0)
    q = np.zeros((len(t), n))
    for k in range(1, harmonics + 1):
        a, b = rng.normal(size=(2, n)) / k
        q += a * np.sin(k * omega * t)[:, None] + b * np.cos(k * omega * t)[:, None]
    return np.asarray(q - q.mean(axis=0))


def chirp(region: Region, t: Array, rng: Rng) -> Array:
    """Return sines whose frequency rises from 0.1 to 1-2.5 Hz while the amplitude falls."""
    columns = []
    for _ in region.half:
        first, last = rng.uniform(0.08, 0.15), rng.uniform(1.0, 2.5)
        ratio, share = last / first, t / t[-1]
        frequency = first * ratio**share
        phase = 2 * np.pi * first * t[-1] / np.log(ratio) * (ratio**share - 1)
        amplitude = 1 / (1 + (frequency / 0.35) ** 2)
        columns.append(amplitude * np.sin(phase + rng.uniform(0, 2 * np.pi)))
    return np.stack(columns, axis=1)


def point_to_point(region: Region, t: Array, rng: Rng) -> Array:
    """Return quintic moves of all joints between random points, with dwells of 0.2 to 1 s."""
    q = np.empty((len(t), len(region.half)))
    here, begins, pause = random_point(region, rng), 0.8, rng.uniform(0.2, 1.0)
    q[:] = here
    while begins < t[-1]:
        there = random_point(region, rng)
        change = np.abs(there - here)
        lasts = max(
            1.875 * float(np.max(change / region.speed)),
            float(np.sqrt(5.77 * np.max(change / region.acceleration))),
            0.3,
        )
        q[t >= begins] = here + (
            smooth_step((t[t >= begins] - begins) / lasts)[:, None] * (there - here)
        )
        here, begins = there, begins + lasts + pause * rng.uniform(0.5, 1.5)
    return q


def single_sweeps(region: Region, t: Array, rng: Rng) -> Array:
    """Return motions of one joint after the other, twice there and back, the others at rest."""
    n = len(region.half)
    q = np.tile(random_point(region, rng) * 0.5 + region.centre * 0.5, (len(t), 1))
    start, span = 0.9, (t[-1] - 0.9) / n
    for j in range(n):
        knots = np.linspace(0, 1, 6)
        points = region.half[j] * np.array([0.0, 1.0, -1.0, 0.6, -0.6, 0.0])
        curve = CubicSpline(knots, points, bc_type="clamped")
        u = np.clip((t - start - j * span) / span, 0.0, 1.0)
        move = curve(u)
        step = t[1] - t[0]
        qd = np.gradient(move, step)
        most = max(
            float(np.max(np.abs(qd))) / region.speed[j],
            float(np.max(np.abs(np.gradient(qd, step)))) / region.acceleration[j],
            1.0,
        )
        q[:, j] += move / most
    return q


def random_point(region: Region, rng: Rng) -> Array:
    return np.asarray(region.centre + region.half * rng.uniform(-1, 1, len(region.half)))


def smooth_step(u: Array) -> Array:
    """Return the quintic step from 0 to 1, with zero speed and acceleration at both ends."""
    u = np.clip(u, 0.0, 1.0)
    return np.asarray(u**3 * (10 - 15 * u + 6 * u**2))

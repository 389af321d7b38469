"""How late the torque is against the motion, joint by joint, found together with the parameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...signals.segments import is_uniform, split
from ..estimators.least_squares import inverse_information, least_squares
from ..estimators.wls import weighted
from ..model.accumulator import Accumulator
from ..model.model import Model
from ..model.problem import Block, Problem
from .decimation import decimated, natural_factor
from .samples import Samples

Array = NDArray[np.float64]
MOST = 60_000  # consecutive samples looked at
LONGEST = 0.1  # [s]
SURE = 5.0  # standard deviations


def find_delay(model: Model, samples: tuple[Samples, ...], rounds: int = 8) -> tuple[Array, tuple[str, ...]]:
    """Delay of each joint's torque (n,) [s], zero where none can be told, and sentences.

    tau(t) = Y base - d dtau/dt: the delay is one more unknown of each joint, so that friction and inertia do not take it on themselves;
    Gauss-Newton until it stays. Joints share one delay unless they are sure of another; less than a twentieth of a sample is none.
    """
    window = longest_window(samples)
    if window is None:
        return np.zeros(model.n), ()
    dt = float(np.median(np.diff(window.t)))
    factor = min(natural_factor(window.t, window.qd), max(1, window.N // 200))
    found, std = np.zeros(model.n), np.full(model.n, np.inf)
    trial = Problem(model, (window,), factor)
    blocks = list(trial.blocks())
    for _ in range(rounds):
        step, std = one_step(trial, blocks, window.advanced(found).tau, factor)
        found = np.clip(found + step, -LONGEST, LONGEST)
        if np.all(np.abs(step) < 1e-3 * dt):
            break
    found = significant(found, std, dt)
    said = [f"{name} {1e3 * d:.3g} ms" for name, d in zip(model.robot.joint_names, found, strict=True) if d]
    return found, ((f"The torque is late against the position and was moved by: {', '.join(said)}.",) if said else ())


def significant(found: Array, std: Array, dt: float) -> Array:
    """The common delay where it is four times its standard deviation, a joint's own where it differs from that by five times its own."""
    std = np.maximum(std, 1e-12)
    sure = 1.0 / std**2
    common = float(np.sum(sure * found) / np.sum(sure))
    if abs(common) < 4.0 / np.sqrt(np.sum(sure)):
        common = 0.0
    result = np.where(np.abs(found - common) > SURE * std, found, common)
    return np.where((np.abs(result) < 0.05 * dt) | (np.abs(result) >= 0.99 * LONGEST), 0.0, result)


def one_step(trial: Problem, blocks: list[Block], tau: Array, factor: int) -> tuple[Array, Array]:
    """How much later still the torque (N, n) is, (n,) [s], and the standard deviation of that."""
    Y = np.concatenate([b.Y for b in blocks])
    t, known = np.concatenate([b.t for b in blocks]), np.concatenate([b.known for b in blocks])
    kept = [b.keep for b in blocks if b.keep is not None]
    keep = np.concatenate(kept) if kept else None
    rest = decimated(tau, factor, 0, len(t)) - known
    n, b = trial.n, trial.base.n_base
    base, weights = weighted(Accumulator.empty(trial.model.reach, b).fold(Y, rest, keep), trial.prior, 2)
    slope = np.gradient(Y @ base + known, t, axis=0)
    wide = np.zeros((len(t), n, b + n))
    wide[:, :, :b] = Y
    wide[:, range(n), b + np.arange(n)] = -slope
    reach = [(*columns, b + j) for j, columns in enumerate(trial.model.reach)]
    total = Accumulator.empty(reach, b + n).fold(wide, rest, keep)
    triangle = total.triangle(weights)
    x = least_squares(triangle, np.append(trial.prior, np.zeros(n)))
    e = (rest - wide @ x) * (1.0 if keep is None else keep)
    rho = np.clip(np.sum(e[1:] * e[:-1], axis=0) / np.maximum(np.sum(e**2, axis=0), 1e-300), 0.0, 0.99)
    variance = np.diag(inverse_information(triangle))[b:] * (1 + rho) / (1 - rho)
    return x[b:], np.sqrt(np.maximum(variance, 0.0))


def longest_window(samples: tuple[Samples, ...]) -> Samples | None:
    """The longest evenly sampled stretch, at most MOST samples of it from its middle."""
    parts = [(s, part) for s in samples for part in split(s.t) if part.stop - part.start >= 200 and is_uniform(s.t[part], 0.05)]
    if not parts:
        return None
    s, part = max(parts, key=lambda item: item[1].stop - item[1].start)
    spare = max(0, part.stop - part.start - MOST) // 2
    return s.part(slice(part.start + spare, part.stop - spare))

"""How late the torque is against the motion, joint by joint, found by the model that fits it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..signals.delay import estimate_delay
from ..signals.segments import is_uniform, split
from .model import Model
from .problem import Problem
from .samples import Samples
from .wls import weighted

Array = NDArray[np.float64]
MOST = 20000  # consecutive samples looked at
LONGEST = 0.05  # [s]


def find_delay(model: Model, samples: tuple[Samples, ...]) -> tuple[Array, tuple[str, ...]]:
    """Delay of each joint's torque (n,) [s], zero where none can be told, and sentences.

    The predicted torque of a first fit against the measured one; taken only where it is ten times as large as its standard deviation,
    above a twentieth of a sample, and the two are alike.
    """
    found = np.zeros(model.n)
    window = longest_window(samples)
    if window is None:
        return found, ()
    t, predicted, measured = torques(model, window)
    dt = float(np.median(np.diff(t)))
    most = min(LONGEST, dt * (len(t) // 4))
    delay = estimate_delay(predicted, measured, dt, most)
    sure = (np.abs(delay.seconds) > 10 * delay.sigma) & (np.abs(delay.seconds) > 0.05 * dt) & (delay.correlation > 0.9)
    sure &= np.abs(delay.seconds) < 0.95 * most
    found[sure] = delay.seconds[sure]
    said = [f"{name} {1e3 * d:.3g} ms" for name, d in zip(model.robot.joint_names, found, strict=True) if d]
    return found, ((f"The torque is late against the position and was moved: {', '.join(said)}.",) if said else ())


def longest_window(samples: tuple[Samples, ...]) -> Samples | None:
    """The longest evenly sampled stretch, at most MOST samples of it from its middle."""
    parts = [(s, part) for s in samples for part in split(s.t) if part.stop - part.start >= 200 and is_uniform(s.t[part], 0.05)]
    if not parts:
        return None
    s, part = max(parts, key=lambda item: item[1].stop - item[1].start)
    spare = max(0, part.stop - part.start - MOST) // 2
    return s.part(slice(part.start + spare, part.stop - spare))


def torques(model: Model, window: Samples) -> tuple[Array, Array, Array]:
    """t, predicted and measured torque of a window, by weighted least squares on itself."""
    trial = Problem(model, (window,))
    base, _ = weighted(trial.total, trial.prior, 2)
    blocks = list(trial.blocks())
    predicted = np.concatenate([b.Y @ base + b.known for b in blocks])
    return window.t, predicted, window.tau

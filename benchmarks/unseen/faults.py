"""Faults of unseen logs: how each is planted, and the names under which it counts as found.

A fault acts on the log, on the description, or on the plant (its links or gravity).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt, sosfiltfilt

import steelyard as sy
from benchmarks.unseen.robots import Body, Chain, combined

Array = NDArray[np.float64]
Rng = np.random.Generator
OnLog = Callable[[sy.Log, int, float], sy.Log]
OnChain = Callable[[Chain, int, float], Chain]


@dataclass(frozen=True)
class Fault:
    """A kind of fault with sizes between `least` and `most`.

    `names` are keys of findings that name it. With `doubt`, a verdict of 'doubtful' or 'refused'
    is sufficient. `on_log` changes logs, `on_description` the chain given to the estimator,
    `on_truth` the chain that is simulated; `tilts` means another direction of gravity,
    `springs` a spring at a joint that the description lacks. `harmless` marks a fault that leaves
    the identified dynamics right, as it is or since it is estimated and corrected silently where it
    is small, so that a right fit is sufficient. `least_joints` is the
    smallest arm on which it exists.
    """

    names: tuple[str, ...]
    least: float = 1.0
    most: float = 1.0
    on_log: OnLog | None = None
    on_description: OnChain | None = None
    on_truth: OnChain | None = None
    tilts: bool = False
    springs: bool = False
    doubt: bool = False
    harmless: bool = False
    least_joints: int = 1

    def draw(self, rng: Rng) -> float:
        """Return a size, evenly in its logarithm."""
        return float(self.least * (self.most / self.least) ** rng.uniform())


def flip(log: sy.Log, joint: int, size: float) -> sy.Log:
    return log.replace(tau=torque(log) * signs(log, joint, -1.0))


def scale(log: sy.Log, joint: int, size: float) -> sy.Log:
    return log.replace(tau=torque(log) * signs(log, joint, size))


def torque(log: sy.Log) -> Array:
    assert log.tau is not None
    return log.tau


def signs(log: sy.Log, joint: int, value: float) -> Array:
    factors = np.ones(log.q.shape[1])
    factors[joint] = value
    return factors


def delay_torque(log: sy.Log, joint: int, size: float) -> sy.Log:
    return log.replace(tau=delayed(log.t, torque(log), size))


def delayed(t: Array, values: Array, seconds: float) -> Array:
    """Return signals (N, n) as they were some time before."""
    return np.stack([np.interp(t - seconds, t, column) for column in values.T], axis=1)


def stick(log: sy.Log, joint: int, size: float) -> sy.Log:
    """Freeze the encoder of a joint, from the start or from a moment on."""
    q = np.array(log.q)
    first = int((1 - size) * len(q))
    q[first:, joint] = q[first, joint]
    return log.replace(q=q)


def swap(log: sy.Log, joint: int, size: float) -> sy.Log:
    """Exchange the torques of neighbouring joints."""
    order = list(range(log.q.shape[1]))
    other = joint + 1 if joint + 1 < len(order) else joint - 1
    order[joint], order[other] = order[other], order[joint]
    return log.replace(tau=torque(log)[:, order])


def scale_clock(log: sy.Log, joint: int, size: float) -> sy.Log:
    """Multiply time stamps; velocities keep their values, as a driver reports them."""
    return log.replace(t=log.t * size)


def lag_velocity(log: sy.Log, joint: int, size: float) -> sy.Log:
    """Delay the velocity channel, made by differences if the log has none."""
    qd = log.qd if log.qd is not None else np.gradient(log.q, log.t, axis=0)
    return log.replace(qd=delayed(log.t, np.asarray(qd), size))


def unsigned(log: sy.Log, joint: int, size: float) -> sy.Log:
    return log.replace(tau=np.abs(torque(log)))


def low_pass_torque(log: sy.Log, joint: int, size: float) -> sy.Log:
    """Low-pass the torque at a frequency [Hz], zero-phase."""
    rate = (len(log.t) - 1) / (log.t[-1] - log.t[0])
    return log.replace(tau=sosfiltfilt(butter(2, size, fs=rate, output="sos"), torque(log), axis=0))


def lengthen(chain: Chain, joint: int, size: float) -> Chain:
    """Return the arm with the place of a joint further from its parent."""
    places = list(chain.places)
    xyz, rpy = places[joint]
    places[joint] = (xyz * size, rpy)
    return replace(chain, places=tuple(places))


def payload(chain: Chain, joint: int, size: float) -> Chain:
    """Return the arm with a mass beyond the last link's centre of mass."""
    return with_mass(chain, chain.n - 1, size, 1.5)


def with_mass(chain: Chain, link: int, share: float, path: float) -> Chain:
    """Return the arm with a share of a link's mass at a multiple of its centre of mass."""
    body = chain.bodies[link]
    mass = share * body.mass
    extra = Body(mass, path * body.com + 0.02, 2e-3 * mass * np.eye(3))
    bodies = list(chain.bodies)
    bodies[link] = combined([body, extra])
    return replace(chain, bodies=tuple(bodies))


def causal_low_pass(values: Array, rate: float, cutoff: float) -> Array:
    """Filter as a drive does, forwards only."""
    sections = butter(1, min(cutoff, 0.45 * rate), fs=rate, output="sos")
    initial = values[:1]
    return np.asarray(sosfilt(sections, values - initial, axis=0) + initial)


FAULTS: dict[str, Fault] = {
    "torque sign": Fault(("torque sign",), on_log=flip),
    "torque delay": Fault(("delay",), 0.005, 0.06, on_log=delay_torque, harmless=True),
    "torque gain": Fault(("gear ratio or torque constant", "torque scale"), 1.3, 2.0, on_log=scale),
    "stuck encoder": Fault(("dead channel", "stuck channel"), 0.5, 1.0, on_log=stick),
    "swapped torques": Fault(("swapped joints",), on_log=swap, least_joints=2),
    "gravity direction": Fault(("gravity direction",), tilts=True),
    "clock": Fault(("clock",), 1.5, 10.0, on_log=scale_clock),
    "lagging velocity": Fault(
        ("delay", "velocity channel"), 0.015, 0.06, on_log=lag_velocity, harmless=True
    ),
    "unsigned effort": Fault(("effort without sign",), on_log=unsigned),
    "link too long": Fault(
        ("geometry", "wrong geometry", "link length", "wrong robot"),
        1.25,
        1.25,
        on_description=lengthen,
        doubt=True,
        least_joints=2,
    ),
    "missing counterweight": Fault(
        ("counterweight", "missing term", "wrong robot"), 1.0, 3.0, springs=True, doubt=True
    ),
    "filtered torque": Fault(
        ("filtered torque", "torque filter", "filtered effort"),
        1.0,
        1.0,
        on_log=low_pass_torque,
        doubt=True,
    ),
    "payload": Fault(
        ("payload", "wrong robot", "missing term"),
        0.3,
        1.5,
        on_truth=payload,
        doubt=True,
        harmless=True,
    ),
}
"""The faults by key. Names of findings that do not exist yet are accepted when they appear."""

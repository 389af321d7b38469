"""Models of encoders and torque sensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import numbers, yes_or_no
from ...errors import CallError

Array = NDArray[np.float64]
PerJoint: TypeAlias = "float | Sequence[float]"


@dataclass(frozen=True)
class Sensors:
    """Errors of a robot's sensors; each number is one for all joints or one per joint.

    Zero disables an effect. Torque ripple of geared motors: Hollerbach, Khalil and Gautier,
    Springer Handbook of Robotics, 2nd ed., section 6.3.2.

    Parameters
    ----------
    encoder : size of an encoder step at the joint [rad|m].
    encoder_noise : standard deviation of the position noise before quantisation [rad|m].
    torque_noise : standard deviation as a fraction of the joint's rms torque [-], white below
        `bandwidth`.
    torque_ripple : rms as a fraction of the joint's rms torque [-], a sum of `harmonics` h with
        amplitudes proportional to 1/h.
    harmonics : multiples of the motor angle, gear_ratio * q [-].
    gear_ratio : motor turns per joint turn [-].
    bandwidth : cut-off frequency of the first-order low-pass in the torque channel [Hz].
    delay : delay of the torque relative to the position [s].
    torque_step : quantisation of the torque [N m|N].
    torque_constant : where it is not zero, the log has motor currents, torque / constant, instead
        of torques [N m/A|N/A].
    plate : whether a force plate under the robot is logged.
    plate_noise : standard deviation as a fraction of each component's rms deviation [-].

    Examples
    --------
    >>> sy.Sensors(torque_noise=0.05, delay=0.0).torque_noise
    0.05
    """

    encoder: PerJoint = 2 * math.pi / 2**17
    encoder_noise: PerJoint = 1e-5
    torque_noise: PerJoint = 0.02
    torque_ripple: PerJoint = 0.01
    harmonics: tuple[int, ...] = (1, 2, 6)
    gear_ratio: PerJoint = 100.0
    bandwidth: PerJoint = 150.0
    delay: PerJoint = 0.002
    torque_step: PerJoint = 0.0
    torque_constant: PerJoint = 0.0
    plate: bool = False
    plate_noise: float = 0.01

    def __post_init__(self) -> None:
        yes_or_no("sensors: plate", self.plate)
        for field in (each for each in fields(self) if each.name != "plate"):
            value = (
                numbers(f"sensors: {field.name}", getattr(self, field.name))
                if len(np.atleast_1d(getattr(self, field.name)))
                else np.zeros(0)
            )
            if (
                value.ndim > 1
                or not np.all(np.isfinite(value))
                or (field.name != "gear_ratio" and np.any(value < 0))
            ):
                raise CallError(
                    f"sensors: {field.name} = {getattr(self, field.name)!r}; expected finite"
                    " numbers of at least 0"
                )

    @classmethod
    def perfect(cls) -> Sensors:
        """Return sensors without any error.

        Returns
        -------
        A `Sensors`.

        Examples
        --------
        >>> sy.Sensors.perfect().encoder
        0.0
        """
        return cls(
            encoder=0.0,
            encoder_noise=0.0,
            torque_noise=0.0,
            torque_ripple=0.0,
            harmonics=(),
            gear_ratio=1.0,
            bandwidth=0.0,
            delay=0.0,
            torque_step=0.0,
            plate_noise=0.0,
        )

    def per_joint(self, name: str, n: int) -> Array:
        """Return one number per joint (n,).

        Parameters
        ----------
        name : name of a field.
        n : number of joints.

        Returns
        -------
        (n,), in the unit of the field.

        Examples
        --------
        >>> sy.Sensors().per_joint("delay", 2)
        array([0.002, 0.002])
        """
        value = np.asarray(getattr(self, name), dtype=float)
        if value.shape not in ((), (n,)):
            raise CallError(
                f"sensors: {name} has {value.size} numbers; expected one, or one for each of {n}"
                " joints"
            )
        return np.broadcast_to(value, (n,))


def quantised(x: ArrayLike, step: ArrayLike) -> Array:
    """Round x to whole steps: step * round(x / step); unchanged where the step is 0."""
    x, step = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(step, dtype=float))
    safe = np.where(step > 0, step, 1.0)
    return np.where(step > 0, safe * np.rint(x / safe), x)


def ripple(q: Array, gear_ratio: Array, harmonics: Sequence[int], phases: Array) -> Array:
    """Return the sum over h of sin(h G q + phase_h) / h, scaled to rms 1 per joint, (N, n).

    Zero without harmonics. phases: (H, n) [rad].
    """
    if not len(harmonics):
        return np.zeros_like(q)
    waves = [
        np.sin(h * gear_ratio * q + phase) / h for h, phase in zip(harmonics, phases, strict=True)
    ]
    return np.sum(waves, axis=0) * math.sqrt(2.0 / sum(1.0 / h**2 for h in harmonics))


def first_order_low_pass(x: Array, rate: float, bandwidth: Array) -> Array:
    """Apply a first-order low-pass y' = 2 pi f (x - y), exact for piecewise linear x.

    Starts at rest; f = 0 leaves x unchanged.
    Franklin, Powell and Workman, "Digital Control of Dynamic Systems", 3rd ed., section 6.3
    (triangle hold).
    """
    from scipy.signal import lfilter, lfiltic

    out = x.copy()
    for j in np.flatnonzero(bandwidth > 0):
        r = 2 * math.pi * bandwidth[j] / rate
        p = math.exp(-r)
        b, a = [1 - (1 - p) / r, (1 - p) / r - p], [1.0, -p]
        out[:, j] = lfilter(b, a, x[:, j], zi=lfiltic(b, a, [x[0, j]], [x[0, j]]))[0]
    return out

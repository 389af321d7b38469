"""Zero-phase Butterworth filter, central differences and decimation of arrays.

No filter reaches across a gap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import CallError
from .segments import per_segment, split

Array = NDArray[np.float64]


def lowpass(x: ArrayLike, t: ArrayLike, cutoff: float, order: int = 4) -> Array:
    """Filter x (N, ...) by a zero-phase Butterworth low-pass, each segment of t [s] by itself.

    Its gain at `cutoff` [Hz] is 1/sqrt(2).

    The filter is linear: if it is applied to the torque and to every column of the regressor, tau =
    Y pi still holds. Winter, "Biomechanics and Motor Control of Human Movement", 4th ed., 2009, p.
    69: the correction for two passes.
    """
    x, t = np.asarray(x, float), np.asarray(t, float)
    if len(t) < 3:
        return x.copy()
    rate = 1.0 / float(np.median(np.diff(t)))
    if not cutoff > 0:
        raise CallError(f"the cut-off must be positive, not {cutoff!r} Hz")
    if cutoff >= 0.5 * rate * (1 - 1e-9):
        raise CallError(
            f"the cut-off of {cutoff:.6g} Hz is not below half the sampling rate,"
            f" {0.5 * rate:.6g} Hz"
        )
    if order < 1:
        raise CallError(f"the order must be at least 1, not {order!r}")
    sections = design(cutoff, rate, order)
    pad = int(np.ceil(8 * rate / cutoff))  # after which a start's influence has decayed to 1e-9
    return per_segment(lambda _, part: forward_backward(sections, part, pad), t, x)


def design(cutoff: float, rate: float, order: int) -> Array:
    """Return second-order sections whose squared magnitude is 1/sqrt(2) at the cut-off [Hz]."""
    from scipy.signal import butter

    stretch = (np.sqrt(2.0) - 1.0) ** (-0.5 / order)
    # prewarped for the bilinear transform
    corner = np.arctan(np.tan(np.pi * cutoff / rate) * stretch) / np.pi * rate
    return np.asarray(butter(order, corner, fs=rate, output="sos"))


def forward_backward(sections: Array, x: Array, pad: int) -> Array:
    """Filter forward, then backward, so that the phase is zero.

    The ends are extended by point reflection.
    """
    from scipy.signal import sosfiltfilt

    if len(x) < 2:
        return x.copy()
    return np.asarray(sosfiltfilt(sections, x, axis=0, padtype="odd", padlen=min(pad, len(x) - 1)))


def differences(x: ArrayLike, t: ArrayLike) -> tuple[Array, Array]:
    """Compute first and second derivatives of x (N, n) over t [s] by central differences.

    They are one-sided at the ends of each segment.

    (x[k+1] - x[k-1]) / 2 dt and (x[k+1] - 2 x[k] + x[k-1]) / dt2, in their form for unequal steps.
    Fornberg, Math. Comp. 51 (1988), p. 699.
    """
    x, t = np.asarray(x, float), np.asarray(t, float)
    return per_segment(first_difference, t, x), per_segment(second_difference, t, x)


def first_difference(t: Array, x: Array) -> Array:
    """Return dx/dt of one segment."""
    if len(t) < 3:
        return np.gradient(x, t, axis=0) if len(t) == 2 else np.zeros_like(x)
    return np.asarray(np.gradient(x, t, axis=0, edge_order=2))


def second_difference(t: Array, x: Array) -> Array:
    """Return d2x/dt2 of one segment, extrapolated at the ends."""
    if len(t) < 3:
        return np.zeros_like(x)
    step = np.diff(t).reshape(-1, *([1] * (x.ndim - 1)))
    first = np.diff(x, axis=0) / step
    inner = 2.0 * np.diff(first, axis=0) / (step[1:] + step[:-1])
    if len(inner) < 2:
        return np.concatenate([inner, inner, inner])
    return np.concatenate([2 * inner[:1] - inner[1:2], inner, 2 * inner[-1:] - inner[-2:-1]])


def decimate(x: ArrayLike, t: ArrayLike, factor: int, order: int = 4) -> tuple[Array, Array]:
    """Return every factor-th sample of x (N, ...) and t [s] after an anti-aliasing filter.

    The filter is a zero-phase low-pass at 0.8 of the new Nyquist frequency.

    Apply it to torque and regressor columns alike (parallel filtering). Gautier, ICRA 1997, pp.
    1922-1927.
    """
    x, t = np.asarray(x, float), np.asarray(t, float)
    if factor != int(factor) or factor < 1:
        raise CallError(
            f"decimate: the factor must be a whole number from 1 on, not {factor!r}",
            argument="decimate",
        )
    if factor == 1 or len(t) < 3:
        return x.copy(), t.copy()
    rate = 1.0 / float(np.median(np.diff(t)))
    index = decimated_index(t, int(factor))
    return lowpass(x, t, 0.4 * rate / factor, order)[index], t[index]


def decimated_index(t: ArrayLike, factor: int) -> NDArray[np.intp]:
    """Return the indices of every factor-th sample of each segment."""
    t = np.asarray(t, float)
    return np.concatenate([np.arange(part.start, part.stop, factor) for part in split(t)])

"""Distribution, autocorrelation, spectrum and trends of the residuals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...drawing.colours import GREY, SILVER, WINE, hue
from ...drawing.figure import Axis, Curve, Figure, Panel, Points
from ...signals.autocorrelation import autocorrelation
from ...signals.segments import split

Array = NDArray[np.float64]
WIDEST = 4.2  # standard deviations that the histogram shows
BINS = 14  # parts of speed or position over which the residual is averaged
WELCH_SAMPLES = 256  # samples of one part of a spectrum
MAX_DOTS = 300  # samples of a joint that are drawn as dots
MAX_LAGS = 400


def residual_figure(residual: Array, names: Sequence[str], dt: float) -> Figure:
    """Return histogram, beside the normal density, and autocorrelation of residuals (N, n).

    Parameters
    ----------
    residual : NaN in rows that are not in use [N m|N]
    dt : time between samples [s]
    """
    edges = np.linspace(-WIDEST, WIDEST, 43)
    centres, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    normal = np.exp(-(centres**2) / 2) / np.sqrt(2 * np.pi)
    densities = [
        Curve(x=centres, y=normal, name="normal density", colour=GREY, width=1.5, dash="dot")
    ]
    correlograms = []
    for j, name in enumerate(names):
        x, colour = residual[np.isfinite(residual[:, j]), j], hue(j, len(names))
        size = float(x.std()) if len(x) else 0.0
        density = np.zeros(len(centres))
        if size:
            density = np.histogram((x - x.mean()) / size, edges)[0] / (len(x) * width)
        densities.append(Curve(x=centres, y=density, name=name, colour=colour))
        lags, values = correlogram(x, dt)
        correlograms.append(Curve(x=lags, y=values, name=name, colour=colour))
    panels = (
        Panel(
            marks=tuple(densities),
            x=Axis(title="residual / standard deviation", limits=(-WIDEST, WIDEST)),
            y=Axis(title="density", from_zero=True),
        ),
        Panel(
            marks=tuple(correlograms),
            x=Axis(title="lag [s]"),
            y=Axis(title="autocorrelation", limits=(-0.4, 1.02), zero_line=True),
        ),
    )
    caption = (
        "Left: distribution of the residuals of every joint, beside the normal density."
        " Right: their autocorrelation. Correlation over time shows effects that the model lacks"
        " (friction at low speed, elasticity, ripple); the uncertainties account for it."
    )
    return Figure(name="residuals", rows=(panels,), caption=caption, height=330)


def correlogram(x: Array, dt: float, seconds: float = 1.0) -> tuple[Array, Array]:
    """Return lags [s] and the autocorrelation of a series without its mean."""
    if len(x) < 8 or not np.ptp(x):
        return np.zeros(1), np.ones(1)
    r = autocorrelation(x, max(1, min(len(x) // 4 - 1, int(seconds / dt))), center=True)
    every = max(1, len(r) // MAX_LAGS)
    return np.arange(0.0, len(r), every) * dt, r[::every]


def spectrum_figure(
    joints: Sequence[str], units: Sequence[str], t: Array, residual: Array
) -> Figure:
    """Return the amplitude spectral density of residuals (N, n) [N m|N] over t (N,) [s]."""
    frequency, density = residual_spectra(t, residual)
    root = np.sqrt(density)
    unit = "|".join(dict.fromkeys(units))
    curves = tuple(
        Curve(
            x=frequency,
            y=np.where(root[:, j] > 0, root[:, j], np.nan),
            name=joint,
            colour=hue(j, len(joints)),
            width=1.4,
        )
        for j, joint in enumerate(joints)
    )
    panel = Panel(
        marks=curves,
        x=Axis(title="frequency [Hz]", logarithmic=True),
        y=Axis(title=f"√density [{unit}/√Hz]", logarithmic=True),
    )
    caption = (
        "Spectrum of the residuals. A flat line is sensor noise; a rise at low frequency is"
        " friction or mass that the model lacks; a peak is an elastic joint or gear ripple."
    )
    return Figure(name="spectra", rows=((panel,),), caption=caption, height=340)


def residual_spectra(t: Array, residual: Array) -> tuple[Array, Array]:
    """Return frequencies (F,) [Hz] above zero and the one-sided power density (F, n) of residuals.

    NaN counts as zero; no part reaches across a gap. Welch, IEEE Trans. Audio and Electroacoustics
    15 (1967), p. 70.
    """
    from scipy.signal import welch

    parts = [part for part in split(t) if part.stop - part.start >= 8]
    if not parts:
        return np.ones(1), np.zeros((1, residual.shape[1]))
    length = min(WELCH_SAMPLES, max(part.stop - part.start for part in parts))
    total, weight, rate = 0.0, 0.0, 1.0 / float(np.median(np.diff(t)))
    for part in (part for part in parts if part.stop - part.start >= length // 2):
        values = np.nan_to_num(residual[part])
        options = {"nperseg": min(length, len(values)), "nfft": length, "detrend": "constant"}
        frequency, density = welch(values, rate, axis=0, **options)
        total, weight = total + len(values) * density, weight + len(values)
    return frequency[1:], np.asarray(total / weight)[1:]


def residual_panel(
    joint: str, quantity: str, units: tuple[str, str], x: Array, residual: Array
) -> Panel:
    """Return residuals (N,) of a joint against its speed or position x (N,), with their mean.

    Parameters
    ----------
    quantity : "speed" or "position"
    units : of x and of the torque
    """
    used = np.isfinite(residual) & np.isfinite(x)
    shown = evenly_spread(used)
    centres, means = piecewise_mean(x[used], residual[used])
    dots = Points(x=x[shown], y=residual[shown], colour=SILVER, marker="dot")
    mean = Curve(x=centres, y=means, name="mean", colour=WINE, width=2.0)
    return Panel(
        marks=(dots, mean),
        x=Axis(title=f"{quantity} [{units[0]}]"),
        y=Axis(title=f"residual [{units[1]}]", zero_line=True),
        title=joint,
    )


def piecewise_mean(x: Array, y: Array, bins: int = BINS) -> tuple[Array, Array]:
    """Return the means of x and y (N,) over parts with equally many samples, in the order of x."""
    order = np.argsort(x, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return np.array([x[p].mean() for p in parts]), np.array([y[p].mean() for p in parts])


def evenly_spread(used: NDArray[np.bool_], limit: int = MAX_DOTS) -> NDArray[np.intp]:
    """Return at most `limit` indices of the rows (N,) in use, evenly spread."""
    rows = np.flatnonzero(used)
    if not len(rows):
        return rows
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(limit, len(rows))).astype(int))]

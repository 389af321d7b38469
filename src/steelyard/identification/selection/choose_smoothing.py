"""The choice of the smoothing: automatic, or a Butterworth filter, by held-out torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ...errors import LogError
from ...robot import Robot
from ...signals.filters import lowpass
from ...signals.log import Log
from ...signals.segments import is_uniform
from ..model.accumulator import Accumulator
from ..model.linear_model import Model
from ..model.model_thresholds import THRESHOLDS as MODEL_THRESHOLDS
from ..model.problem import Problem
from ..observations.observation import Observation
from ..observations.prepare import prepare_all
from ..samples.decimation import common_decimation
from ..samples.preparation import Preparation
from ..samples.samples import Samples
from .choose_rows import RestingRows, choose_rows
from .external_force import ExternalForce, find_external_force
from .held_out_torque import (
    OLS,
    WLS,
    BandSamples,
    HeldOutError,
    band_decimation,
    band_samples,
    held_out_error,
    plain_bases,
)
from .selection_thresholds import THRESHOLDS

LeftOut = TypeVar("LeftOut", RestingRows, ExternalForce)
FIRST = "auto"


@dataclass(frozen=True, eq=False)
class SmoothingChoice:
    """A preparation, and how plain least squares predicts held-out torque with others.

    Parameters
    ----------
    preparation : with the chosen smoothing
    band : samples on which candidates are compared
    plain : held-out error of plain least squares by (cut-off [Hz], 'ols' or 'wls')
    note : a sentence on the choice, '' where nothing was chosen
    given_decimation : decimation that the caller gave, None for the automatic one
    rest : rows of resting joints that are left out, None if all rows are used
    force : samples in which an external force acts, None without one
    """

    preparation: Preparation
    band: BandSamples
    plain: dict[tuple[float, str], HeldOutError]
    note: str = ""
    given_decimation: int | None = None
    rest: RestingRows | None = None
    force: ExternalForce | None = None


def choose_smoothing(
    robot: Robot,
    logs: Sequence[Log],
    samples: tuple[Samples, ...],
    preparation: Preparation,
    model: Model,
    observation: Observation,
) -> SmoothingChoice | None:
    """Choose how logs are smoothed, by blocked cross-validation of torque in one band.

    Candidates are the samples as they are prepared, and zero-phase Butterworth filters. For each,
    weighted least squares with viscous and Coulomb friction predicts blocks of the torque from the
    others. They are compared in the widest band in which the best of them predicts the torque
    almost as well as in any band that holds the motion: where noise of the accelerations outweighs
    the torque, models that shrink would win. Of the candidates that are not worse than the best by
    a tenth and by the standard error, the one with the widest band is taken, the samples as
    prepared before all filters: a filter also smooths the reversals of friction. Roberts et al.,
    Ecography 40 (2017), p. 913 (blocked cross-validation).

    Parameters
    ----------
    robot, logs : the robot and its logs
    samples : the logs, prepared as `preparation` says
    preparation : options of the samples
    model : the model, whose friction terms are the usual ones
    observation : rows of the samples

    Returns
    -------
    SmoothingChoice; None where the samples are too few to compare.
    """
    plain = model.with_shape("width", [THRESHOLDS.coulomb_width] * model.n)
    rate = min(1.0 / s.dt for s in samples)
    if not has_long_blocks(samples):
        return None
    cutoffs = [f for f in THRESHOLDS.cutoffs if f < THRESHOLDS.largest_cutoff * rate]
    if not cutoffs:
        return None
    bands: dict[float, BandSamples] = {}
    short = [thinned(log, max(cutoffs)) for log in shortened(logs)]
    for cutoff in cutoffs:
        filtered = replace(preparation, smoothing="butterworth", cutoff=cutoff, period=None)
        try:
            bands[cutoff] = band_samples(prepare_all(robot, short, filtered, observation), cutoff)
        except LogError:
            return None
    candidates = Candidates(plain, tuple(s.part(shortest(s, samples)) for s in samples), bands)
    comparison = candidates.compare()
    if comparison is None:
        return None
    force = find_external_force(bands[min(cutoffs)], plain)
    if force is not None:
        candidates, comparison, force = fewer_rows(candidates, comparison, force)
    band = candidates.bands[comparison.cutoff]
    rest = choose_rows(band, plain) if preparation.mask is None else None
    if rest is not None:
        candidates, comparison, rest = fewer_rows(candidates, comparison, rest)
    errors, cutoff = comparison.errors, comparison.cutoff
    compared = {key: error for (key, kind), error in errors.items() if kind == WLS}
    by_bandwidth: list[str | float] = [FIRST]
    by_bandwidth += sorted(cutoffs, reverse=True)
    best = widest_of(compared, by_bandwidth)
    plain_errors = {
        (float(key), kind): error for (key, kind), error in errors.items() if key != FIRST
    }
    choice = SmoothingChoice(
        preparation,
        candidates.bands[cutoff],
        plain_errors,
        given_decimation=preparation.decimate,
        rest=rest,
        force=force,
    )
    if best == FIRST:
        return choice
    note = (
        f"Smoothing: a zero-phase Butterworth filter at {best:g} Hz, which predicts held-out torque"
        f" up to {cutoff:g} Hz better: {compared[best].total:.1%} against"
        f" {compared[FIRST].total:.1%}."
    )
    chosen = butterworth_preparation(preparation, float(best), samples)
    return replace(choice, preparation=chosen, note=note)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The band [Hz] in which candidates are compared, and their errors there.

    `errors` are by smoothing (FIRST, or a cut-off [Hz]) and kind of least squares.
    """

    cutoff: float
    errors: dict[tuple[str | float, str], HeldOutError]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Samples as prepared, and in several bands, for plain least squares.

    Parameters
    ----------
    model : with viscous and Coulomb friction
    first : samples as they are prepared
    bands : samples behind a Butterworth filter, by cut-off [Hz]
    """

    model: Model
    first: tuple[Samples, ...]
    bands: dict[float, BandSamples]

    def masked(self, rows: RestingRows | ExternalForce) -> Candidates:
        """Return the candidates without rows of resting joints, or of an external force."""
        bands = {
            cutoff: replace(band, samples=rows.masked(band.samples))
            for cutoff, band in self.bands.items()
        }
        return replace(self, first=rows.masked(self.first), bands=bands)

    def compare(self) -> Comparison | None:
        """Compare all candidates by held-out torque; None where one has too few rows."""
        first = Problem(self.model, self.first, common_decimation(self.first))
        folds = {cutoff: band.folds(self.model) for cutoff, band in self.bands.items()}
        prior = self.model.base.values(self.model.start)
        every: list[tuple[str | float, tuple[Accumulator, ...]]] = [(FIRST, first.folds)]
        every += list(folds.items())
        bases = {
            (key, kind): plain_bases(rows, prior, kind)
            for key, rows in every
            for kind in (WLS, OLS)
        }
        usable = {key: value for key, value in bases.items() if value is not None}
        if len(usable) < len(bases):
            return None
        errors = {
            cutoff: {key: held_out_error(folds[cutoff], value) for key, value in usable.items()}
            for cutoff in with_motion(self.bands)
        }
        smallest = {each: min(error.total for error in errors[each].values()) for each in errors}
        cutoff = widest_band(smallest)
        return Comparison(cutoff, errors[cutoff])


def fewer_rows(
    candidates: Candidates, comparison: Comparison, rows: LeftOut
) -> tuple[Candidates, Comparison, LeftOut | None]:
    """Return candidates without some rows, their comparison, and the rows that are left out.

    All rows stay where too few would remain: None.
    """
    masked = candidates.masked(rows)
    fewer = masked.compare()
    return (candidates, comparison, None) if fewer is None else (masked, fewer, rows)


def butterworth_preparation(
    preparation: Preparation, cutoff: float, samples: Sequence[Samples]
) -> Preparation:
    """Return a preparation with a Butterworth filter; torque and regressor end at its cut-off."""
    decimate = preparation.decimate or band_decimation(samples, cutoff)
    return replace(
        preparation, smoothing="butterworth", cutoff=cutoff, period=None, decimate=decimate
    )


def has_long_blocks(samples: Sequence[Samples]) -> bool:
    """Return whether held-out blocks of the samples are long enough to compare candidates on."""
    seconds = sum(s.N * s.dt for s in samples)
    return seconds >= MODEL_THRESHOLDS.folds * THRESHOLDS.shortest_block


def widest_of(
    errors: dict[str | float, HeldOutError], by_bandwidth: Sequence[str | float]
) -> str | float:
    """Return the first candidate that the best one does not beat clearly."""
    least = errors[min(errors, key=lambda key: errors[key].total)]
    gain = THRESHOLDS.least_smoothing_gain
    return next(key for key in by_bandwidth if not least.is_better(errors[key], gain))


def widest_band(errors: dict[float, float]) -> float:
    """Return the widest cut-off [Hz] whose least error is near the least of all bands."""
    limit = THRESHOLDS.band_error * min(errors.values())
    return max(cutoff for cutoff, error in errors.items() if error <= limit)


def with_motion(bands: dict[float, BandSamples]) -> list[float]:
    """Return the cut-offs [Hz] whose band holds most of the velocity's power."""
    power = {
        cutoff: np.sum([np.mean(s.qd**2, axis=0) for s in band.samples], axis=0)
        for cutoff, band in bands.items()
    }
    whole = np.maximum(power[max(bands)], 1e-300)
    return [
        cutoff
        for cutoff in bands
        if cutoff == max(bands) or np.mean(power[cutoff] / whole) >= THRESHOLDS.motion_share
    ]


def shortened(logs: Sequence[Log]) -> list[Log]:
    """Return the middle of each log, so that all have about `samples` samples."""
    most = max(THRESHOLDS.samples // len(logs), 1)
    parts = []
    for log in logs:
        start = max(0, log.N - most) // 2
        parts.append(log if log.N <= most else log[start : start + most])
    return parts


def thinned(log: Log, cutoff: float) -> Log:
    """Return a log at the rate that filters up to a cut-off [Hz] need, through a low-pass.

    Logs with gaps or scattered stamps stay as they are.
    """
    every = int(log.rate / (THRESHOLDS.samples_per_row * THRESHOLDS.rows_per_cutoff * cutoff))
    if every < 2 or log.tau is None or not is_uniform(log.t):
        return log
    if not (np.isfinite(log.q).all() and np.isfinite(log.tau).all()):
        return log
    limit = 0.4 * log.rate / every
    low = {name: lowpass(getattr(log, name), log.t, limit) for name in ("q", "tau")}
    return log.replace(**low)[::every]


def shortest(samples: Samples, every: Sequence[Samples]) -> slice:
    """Return the middle of samples that `shortened` leaves."""
    most = max(THRESHOLDS.samples // len(every), 1)
    start = max(0, samples.N - most) // 2
    return slice(start, start + most)

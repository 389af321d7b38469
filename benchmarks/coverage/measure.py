"""Counts of parameters within two standard deviations, of torques within bands, and z of halves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.coverage.scenarios import Scenario, trial
from steelyard.identification.observations.prepare import prepare
from steelyard.signals.filters import lowpass

Array = NDArray[np.float64]
USUAL = ("viscous", "coulomb", "offset")
SMOOTH = 10.0  # [Hz] cut-off of smoothed torque
RESOLVED = 1e-5  # of the largest singular value
# least share of the information that the samples hold of what is compared between halves
HELD = 0.9


@dataclass(frozen=True, eq=False)
class Counts:
    """Deviations over their standard deviations, and shares of torques within 95 % bands.

    Raw and smoothed, in and out of sample.

    `errors` (5,) are the standard errors of `inside` and of the bands, from how draws differ; 0 for
    a single one.
    """

    z: Array
    bands: Array
    finite: float = 1.0
    errors: Array = field(default_factory=lambda: np.zeros(5))

    @property
    def inside(self) -> float:
        """Share within two standard deviations."""
        return float(np.mean(np.abs(self.z) < 2.0))

    @property
    def rms(self) -> float:
        """Root mean square of the deviations over their standard deviations."""
        return float(np.sqrt(np.mean(self.z**2)))


def together(counts: list[Counts]) -> Counts:
    """All of several counts, with standard errors."""
    each = np.array([[c.inside, *c.bands] for c in counts])
    errors = each.std(axis=0, ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.zeros(5)
    return Counts(
        np.concatenate([c.z for c in counts]),
        each[:, 1:].mean(axis=0),
        float(np.mean([c.finite for c in counts])),
        errors,
    )


def count(scenario: Scenario, seed: int, **options: Any) -> Counts:
    """One draw of a scenario, identified with no further word but these options.

    Friction that the model lacks is not looked for.
    """
    result = trial(scenario, seed)
    log = result.log()
    lacking: dict[str, Any] = {} if scenario.friction == "as modelled" else {"friction": USUAL}
    fit = sy.identify(result.described, log, **lacking, **options)
    truth = fit.base.values(
        np.array([result.parameters.get(name, 0.0) for name in fit.parameter_names])
    )
    finite = np.isfinite(fit.base_std) & (fit.base_std > 0)
    z = ((fit.base_values - truth) / fit.base_std)[finite]
    return Counts(
        z,
        np.concatenate([bands(fit, log), bands(fit, result.log(1), region=True)]),
        float(np.mean(finite)),
    )


def bands(fit: sy.Fit, log: sy.Log, region: bool = False) -> Array:
    """The share of a log's torques within the bands of a fit.

    Raw, and low-passed at SMOOTH; with `region` of the states within it.
    """
    s = prepare(fit.robot, log, fit.preparation).advanced(fit.delay)
    fixed = []
    for cutoff, tau in ((None, s.tau), (SMOOTH, lowpass(s.tau, s.t, SMOOTH))):
        prediction = fit.predict(s.q, s.qd, s.qdd, cutoff, s.t)
        counted = prediction.inside if region else slice(None)
        fixed.append(np.mean(((prediction.low <= tau) & (tau <= prediction.high))[counted]))
    return np.array(fixed)


def between(one: sy.Fit, other: sy.Fit) -> tuple[Array, Array]:
    """Differences of two fits over their standard deviations.

    Base parameters, and eigen-directions of the information.

    Directions of which both hold at least HELD of the information. Raises CallError
    for fits of different parameters.
    """
    if one.base.names != other.base.names:
        raise sy.CallError(
            "two fits can be compared if they have the same base parameters; identify both with the"
            " same friction="
        )
    change, covariance = one.base_values - other.base_values, one.covariance + other.covariance
    std = np.hypot(one.base_std, other.base_std)
    share = np.minimum(one.uncertainty.share, other.uncertainty.share)
    own = (share >= HELD) & np.isfinite(std)
    D = directions(one, other)
    return change[own] / std[own], (D.T @ change) / np.sqrt(np.sum(D * (covariance @ D), axis=0))


def directions(one: sy.Fit, other: sy.Fit) -> Array:
    """Return combinations of the base parameters, (b, k), whose variance falls below 1 - HELD.

    Eigenvectors of the mean of the two posterior covariances against the prior covariance of `one`.
    """
    before, after = [], []
    for fit in (one, other):
        posterior = fit.estimate.posterior
        assert posterior is not None
        to_base = fit.base.matrix @ posterior.coordinates.matrix
        half = to_base @ posterior.root
        after.append(half @ half.T)
        prior = np.linalg.solve(posterior.prior.T, to_base.T)
        before.append(prior.T @ prior)
    size = np.sqrt(np.diag(before[0]))
    L = np.linalg.cholesky(before[0] / np.outer(size, size))
    half = np.linalg.solve(L, 0.5 * sum(after) / np.outer(size, size))
    values, vectors = np.linalg.eigh(np.linalg.solve(L, half.T))
    return np.asarray(np.linalg.solve(L.T, vectors[:, values < 1.0 - HELD]) / size[:, None])


def exact_rank(fit: sy.Fit, q: Array, qd: Array, qdd: Array) -> int:
    """The rank of the regressor of states without noise, columns of unit norm.

    What is below RESOLVED of the largest no encoder shows.
    """
    Y = fit.model.rows(q, qd, qdd).reshape(-1, fit.base.n_base)
    size = np.linalg.norm(Y, axis=0)
    shown = size > 1e-12 * size.max()
    values = np.linalg.svd(Y[:, shown] / size[shown], compute_uv=False)
    return int(np.sum(values > RESOLVED * values[0]))

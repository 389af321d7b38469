"""Thresholds of the estimators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...threshold import threshold


@dataclass(frozen=True)
class EstimatorThresholds:
    """Thresholds of estimators; the metadata `chosen` says how each was chosen."""

    # -- Least squares
    # singular value over the largest one below which it counts as zero, columns scaled to unit norm
    rank: float = threshold(1e-9, "numerical tolerance")
    # information of a direction over what errors of the regressor add, from which it is excited
    excited_ratio: float = threshold(4.0, "convention: twice the amplitude (design page 014)")

    # standard deviation of a given equality over the size of its terms, in covariances
    equality_std: float = threshold(1e-6, "numerical: practically exact")

    # -- Noise levels
    # consecutive parts of the samples for the autocorrelation
    autocorrelation_blocks: int = threshold(16, "convention: not measured")
    # iterations of the noise
    noise_rounds: int = threshold(30, "computing time")
    # relative change of the noise that ends them
    noise_tolerance: float = threshold(1e-3, "numerical tolerance")
    # least noise over the largest torque
    least_noise: float = threshold(1e-8, "numerical tolerance: rounding of the torque")

    # -- Weight of the description
    # weights of described links that are tried: 1 for links right to their size, 1e4 for a
    # hundredth of it
    weights: tuple[float, ...] = threshold(
        tuple(10.0 ** np.arange(-1, 7)), "a factor of 10 between neighbours"
    )
    # the same of links whose description is discarded
    discarded_weights: tuple[float, ...] = threshold(
        tuple(10.0 ** np.arange(-5, 2)), "a factor of 10 between neighbours"
    )
    # weight of a description before the samples
    prior_weight: float = threshold(
        30.0, "convention: links right to about a fifth of their size (design page 014)"
    )
    # its standard deviation in decades
    prior_weight_decades: float = threshold(1.5, "convention: weakly informative (design page 014)")
    # weight from which links are taken as described
    exact_weight: float = threshold(1e5, "convention: within their noise")
    # evidence [nats] that discarding a description must win
    discard_odds: float = threshold(7.0, "convention: one in a thousand (design page 014)")

    # -- Prior of joint terms
    # standard deviations of an offset over the torque of its joint
    offset_spreads: tuple[float, ...] = threshold(
        (1.0, 0.3, 0.1), "a factor of 3 between neighbours (design page 014)"
    )
    # standard deviations of a rotor inertia or friction over its described value
    described_spreads: tuple[float, ...] = threshold(
        (np.inf, 1.0, 0.3, 0.1), "a factor of 3 between neighbours (design page 014)"
    )
    # speed of a slow motion over the fastest one of the joint, 1 rad/s|m/s where it has none
    slow_speed: float = threshold(0.1, "convention: a tenth")

    # -- Posterior
    # columns that are reflected together
    reflected_columns: int = threshold(32, "computing time")
    # prior precision of a joint term over the information of the samples, where none is given
    least_precision: float = threshold(1e-9, "numerical: practically without a prior")

    # -- Semidefinite program
    # Newton steps
    newton_steps: int = threshold(40, "computing time")
    # length of a step, in the metric of its start, that ends them
    newton_tolerance: float = threshold(1e-7, "numerical tolerance")

    # -- Options by name
    # weight of the description for `prior='cad'`
    cad_weight: float = threshold(30.0, "convention: as `prior_weight`")

    # -- Frequency domain
    # neighbouring harmonics over which the power of noise is averaged
    least_harmonics: int = threshold(16, "convention: not measured")
    # width of a band over its frequency
    band_width: float = threshold(0.3, "convention: not measured")
    # least power of the noise over the mean power of the joint
    least_power: float = threshold(1e-12, "numerical tolerance")

    # -- Shrinkage
    # strengths of the ridge that are tried, 0 first
    ridge_strengths: tuple[float, ...] = threshold(
        (0.0, *np.geomspace(1e-10, 1.0, 21).tolist()), "a factor of 3.2 between neighbours"
    )
    # strengths of lasso and elastic net that are tried, 0 last
    net_strengths: tuple[float, ...] = threshold(
        (*np.geomspace(0.3, 1e-7, 20).tolist(), 0.0), "a factor of 2.2 between neighbours"
    )

    # -- Stepwise
    # growth of the residual up to which parameters are left out, where none is given
    residual_growth: float = threshold(1.03, "convention: 3 %")

    # -- Errors in variables
    # largest share of the residuals that errors of the regressor make
    regressor_error_share: float = threshold(0.99, "judgement: the torque has some noise too")
    # consecutive parts of the rows from which the uncertainty follows
    likelihood_parts: int = threshold(80, "convention: not measured")
    # steps towards the variance of the torque's noise
    likelihood_steps: int = threshold(5, "computing time")
    # relative change of the torque that ends the iteration
    likelihood_tolerance: float = threshold(1e-6, "numerical tolerance")

    # -- Without accelerations
    # least standard deviation [samples] of a window
    least_window_width: float = threshold(
        1.5, "numerical: below it sums over samples are no longer integrals"
    )
    # standard deviation of a window over the interval between kept samples
    window_width: float = threshold(0.5, "convention: half")
    # windows per kept sample
    windows_per_sample: int = threshold(2, "fewer would lose what lies between them")
    # standard deviations to where a window reaches
    window_reach: float = threshold(8.0, "numerical: it has fallen to 1e-14 there")
    # weight of unused rows that a window may have
    masked_weight: float = threshold(1e-3, "numerical tolerance")
    # consecutive parts of the windows from which the uncertainty follows
    window_parts: int = threshold(80, "convention: not measured")
    # least noise of the power over its root mean square
    least_power_noise: float = threshold(
        0.01, "judgement: at rest the equation is not without error"
    )

    # -- Simulated motion
    # mean fall of the logarithm of held-out squares that the simulated motion must win
    least_simulation_gain: float = threshold(0.01, "no record of a measurement")
    # longest time step [s] of the simulation
    longest_step: float = threshold(1e-3, "convention: not measured")
    # rounds of weighting the joints by their residuals
    weighting_rounds: int = threshold(3, "convention: not measured")
    # singular value of the instruments' correlation over the largest one, below which a direction
    # is not shown
    instrument_rank: float = threshold(1e-6, "numerical tolerance")
    # Gauss-Newton steps
    gauss_newton_steps: int = threshold(6, "computing time")
    # relative change of the torque that ends them
    gauss_newton_tolerance: float = threshold(1e-3, "numerical tolerance")
    # bytes of derivatives beyond which a log is refused
    derivative_bytes: float = threshold(1e9, "memory")
    # rounds of simulating and estimating
    simulation_rounds: int = threshold(5, "computing time")
    # relative change of the torque that ends them
    simulation_tolerance: float = threshold(5e-4, "no record of a measurement")
    # share of the residual that a further round must win
    least_residual_gain: float = threshold(2e-3, "no record of a measurement")
    # parts of a log whose mean differences from the simulated positions are compared
    difference_parts: int = threshold(100, "convention: not measured")
    # time [s] from which a sticking joint is at rest
    least_rest: float = threshold(0.01, "no record of a measurement")
    # variance of these means over the variance of white noise, from which they are systematic
    white_variance_ratio: float = threshold(2.0, "convention: twice")


THRESHOLDS = EstimatorThresholds()

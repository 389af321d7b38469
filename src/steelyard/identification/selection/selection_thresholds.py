"""Thresholds of choices by held-out torque."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class SelectionThresholds:
    """Thresholds of choices by held-out torque; the metadata `chosen` says how each was chosen."""

    # cut-offs [Hz] of the Butterworth filters that are tried, and bands of the comparison
    cutoffs: tuple[float, ...] = threshold((4.0, 8.0, 12.0, 20.0), "convention: usual cut-offs")
    # a cut-off over the sampling rate up to which it is tried
    largest_cutoff: float = threshold(0.4, "convention: below the Nyquist frequency")
    # rate of the rows over the cut-off: their low-pass then ends at the cut-off
    rows_per_cutoff: float = threshold(2.5, "the low-pass of a decimation ends at 0.4 of its rate")
    # samples for each row of the comparison, at which rows are computed before their low-pass
    samples_per_row: float = threshold(4.0, "computing time")
    # rows in time that a decimation leaves at least
    least_rows: int = threshold(200, "convention: as the automatic decimation")
    # samples of all logs that the comparison reads
    samples: int = threshold(120_000, "computing time")
    # length of a held-out block [s] from which candidates are compared
    shortest_block: float = threshold(0.25, "convention: a period of the lowest cut-off")
    # share of the velocity's power that a band must hold
    motion_share: float = threshold(0.9, "convention: most of the motion")
    # error over the least of all bands, up to which a band is not dominated by noise
    band_error: float = threshold(1.3, "two double pendulums at 8 Hz, where their noise begins")
    # speed [rad/s|m/s] over which Coulomb friction of plain candidates rises
    coulomb_width: float = threshold(0.02, "convention of the plain candidates")
    # least relative gain of the held-out error for which the first candidate is left
    least_gain: float = threshold(0.005, "convention: half a percent")
    # least relative gain of the held-out error for which a narrower filter is taken
    least_smoothing_gain: float = threshold(
        0.1, "unseen draw 0: a filter with a gain of 5 % was worse on another motion"
    )
    # standard errors of the gain over blocks beyond which the first candidate is left
    gain_deviations: float = threshold(1.0, "convention: the one-standard-error rule")
    # speed over the largest one of a joint, below which it rests
    rest_speed: float = threshold(0.02, "convention: as friction that is not yet sliding")
    # time [s] for which a joint is slow where it rests
    rest_seconds: float = threshold(0.2, "convention: longer than a reversal of a usual motion")
    # widths [rad/s|m/s] of the Coulomb step with which all rows are compared with moving ones
    rest_widths: tuple[float, ...] = threshold((0.02, 0.05, 0.15), "search: a factor of three")
    # least share of the samples at rest, for which rows at rest may be left out
    least_rest_share: float = threshold(
        0.05, "a sinusoid is below two per cent of its speed in 1.3 % of its samples"
    )
    # largest share of the samples at rest, for which rows at rest may be left out
    largest_rest_share: float = threshold(0.8, "convention: a fifth of the rows remains")
    # least relative gain of the held-out error of moving rows, for rows at rest to be left out
    least_rest_gain: float = threshold(0.05, "convention: a twentieth")
    # residual over the largest measured torque of a joint, from which an external force acts
    missing_torque: float = threshold(
        2.5, "five pushes of a pendulum have 6 to 15, 21 other measured logs at most 1.9"
    )
    # the same of the first least squares, over `missing_torque`, below which no row is trimmed
    least_first_residual: float = threshold(
        0.25, "five pushes of a pendulum have 0.30 to 1.1; computing time"
    )
    # concentration steps of least trimmed squares at most
    concentration_steps: int = threshold(20, "computing time; measured logs took at most 7")
    # bytes of the rows in which external forces are searched for at most
    force_bytes: float = threshold(2e8, "memory: two hours of six joints at 10 Hz")
    # periods of the cut-off that are left out on either side of an external force
    force_margin: float = threshold(1.0, "convention: reach of a low-pass")
    # largest share of the samples that may be left out for an external force
    largest_force_share: float = threshold(0.1, "convention: a tenth")
    # weight of the description that keeps the described links as they are
    exact_prior: float = threshold(1e8, "numerical: far above the weight of any log")
    # least relative gain of the held-out error for which inconsistent parameters predict
    least_consistency_gain: float = threshold(
        0.05, "unseen draw 13: unconstrained parameters with a gain of 5 % were worse elsewhere"
    )
    # difference of such parameters from the consistent robot at shuffled states, over its held-out
    # error, from which they do not predict
    largest_contradiction: float = threshold(
        2.0, "unseen draws: at most 0.8, and 3.5 where parameters of single sweeps failed"
    )
    # shuffled states of this comparison
    compared_states: int = threshold(400, "computing time")


THRESHOLDS = SelectionThresholds()

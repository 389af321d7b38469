"""Thresholds of the search for exciting motions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...threshold import threshold


class SearchLevel(NamedTuple):
    """One level of the search, from coarse to fine.

    Attributes
    ----------
    survivors : number of best starts that enter it.
    points : samples per detail of the motion.
    weights : weights of the barrier, one after the other.
    steps : most steps for each weight.
    effort : share of the effort limits that is used.
    extra : added to the distances to keep [m], a reserve between samples.
    every : distances are computed in each `every`-th sample.
    """

    survivors: int
    points: int
    weights: tuple[float, ...]
    steps: int
    effort: float
    extra: float
    every: int


@dataclass(frozen=True)
class ExcitationThresholds:
    """Thresholds of excitation; the metadata `chosen` says how each was chosen."""

    # -- Defaults
    # duration [s] of a motion
    seconds: float = threshold(20.0, "convention")
    # starts of a search
    starts: int = threshold(8, "computing time")
    # starts of each trial while the shortest time is looked for
    trial_starts: int = threshold(2, "computing time")
    # period [s] of a motion
    period: float = threshold(20.0, "convention")
    # highest frequency [Hz] of a motion
    highest_frequency: float = threshold(0.5, "convention")

    # -- Shortest time
    # first guess [s]
    first_time: float = threshold(20.0, "convention: as `seconds`")
    # shortest time [s]
    shortest_time: float = threshold(2.0, "convention")
    # longest time [s] where the caller states none
    longest_time: float = threshold(600.0, "convention")
    # ratio of the last two times that ends the search
    time_ratio: float = threshold(1.06, "convention: 6 %")
    # times that are tried
    time_trials: int = threshold(12, "computing time")
    # fall of log(ratio) per log(time) where nothing else is known
    information_exponent: float = threshold(0.5, "information grows with time")

    # -- Information
    # samples of a period per harmonic
    harmonic_samples: int = threshold(24, "twelve times what the band needs")
    # share of a column apart from others below which no recording shows it
    shown_share: float = threshold(1e-5, "judgement: such as the rounding of angles in a file")
    # noise of a sample over the typical torque where the caller states none
    noise_share: float = threshold(0.02, "convention: 2 %")
    # random states of the region
    accuracy_states: int = threshold(400, "computing time")
    # acceleration over velocity [1/s] of the region where it is not limited
    acceleration_rate: float = threshold(np.pi, "convention: a sine of 0.5 Hz")
    # standard deviation of friction, rotors and bodies that are not described over the typical
    # torque
    unknown_spread: float = threshold(100.0, "convention: weakly informative")
    # difference over the torque of a parameter up to which two groupings are equal
    equal_groupings: float = threshold(1e-3, "numerical tolerance")
    # power of the mean that stands for the worst direction
    worst_power: float = threshold(4.0, "smooth, and within b^(1/4) of it")

    # -- Random motions
    # times that a motion beyond a limit is made 20 % smaller
    motion_shrinks: int = threshold(18, "computing time")
    # random positions at which a refusal looks for its reason
    refusal_positions: int = threshold(400, "computing time")
    # random positions among which the centre of a motion is chosen
    centre_positions: int = threshold(64, "computing time")

    # -- Barrier
    # slack over its limit below which it counts in the second derivative
    near_slack: float = threshold(0.3, "computing time")
    # distance [m] beyond the least one from which an obstacle does not count
    obstacle_range: float = threshold(0.03, "no record of a measurement")

    # -- Interior point
    # factor of a line search
    step_factor: float = threshold(0.4, "no record of a measurement")
    # cuts of a line search
    step_cuts: int = threshold(5, "computing time")
    # Armijo's constant
    armijo_constant: float = threshold(1e-4, "convention: 1e-4 is usual")
    # share of the way to a limit
    barrier_share: float = threshold(0.95, "convention: 95 %")
    # steps whose merit a new one is compared with
    merit_memory: int = threshold(5, "no record of a measurement")
    # shifts of a Hessian over its mean diagonal
    hessian_shifts: tuple[float, ...] = threshold(
        (1e-12, 1e-9, 1e-6, 1e-3), "a factor of 1000 between neighbours"
    )

    # -- Several starts
    # levels of the search, from coarse to fine
    search_levels: tuple[SearchLevel, ...] = threshold(
        (
            SearchLevel(
                survivors=10**9,
                points=16,
                weights=(0.1, 0.01),
                steps=30,
                effort=0.98,
                extra=0.015,
                every=2,
            ),
            SearchLevel(
                survivors=3, points=16, weights=(0.003,), steps=40, effort=0.98, extra=0.01, every=1
            ),
            SearchLevel(
                survivors=1,
                points=48,
                weights=(0.001, 0.0002),
                steps=40,
                effort=0.995,
                extra=0.004,
                every=1,
            ),
        ),
        "no record of a measurement; benchmarks.excitation compares the motions",
    )
    # level at which variations of the best motion are searched
    variation_level: SearchLevel = threshold(
        SearchLevel(
            survivors=1,
            points=16,
            weights=(0.01, 0.003),
            steps=40,
            effort=0.98,
            extra=0.01,
            every=1,
        ),
        "no record of a measurement; benchmarks.excitation compares the motions",
    )
    # sizes of variations of the best motion over its own size, in turn
    variations: tuple[float, ...] = threshold(
        (0.15, 0.3, 0.6), "no record of a measurement; benchmarks.excitation compares the motions"
    )
    # coefficients that are varied for each start
    variation_work: int = threshold(350, "computing time")
    # least variations of each start
    least_variations: int = threshold(1, "computing time")
    # largest number of variations of each start
    largest_variations: int = threshold(4, "computing time")
    # coefficients of a second round
    round_work: int = threshold(160, "computing time")
    # least starts of a round where there are several
    round_starts: int = threshold(4, "computing time")
    # motion of the centre over its travel where all of its size varies
    centre_variation: float = threshold(
        0.1, "no record of a measurement; benchmarks.excitation compares the motions"
    )
    # random motions of which the first within the limits is a start
    start_draws: int = threshold(12, "computing time")
    # factor by whose growing powers a motion is made smaller at the start of a level
    inside_factor: float = threshold(0.998, "no record of a measurement")
    # growth of these powers
    inside_growth: float = threshold(1.5, "no record of a measurement")
    # number of these powers
    inside_shrinks: int = threshold(17, "computing time")

    # -- Repairs
    # searches with other random starts before a motion is refused
    searches: int = threshold(3, "computing time")
    # best starts that are repaired if they do not keep their distances
    repaired_starts: int = threshold(3, "computing time")
    # factors of the last level's reserves
    repair_reserves: tuple[float, ...] = threshold((2.0, 4.0), "no record of a measurement")
    # shares by which a motion that passes a limit between samples is made smaller
    small_cuts: tuple[float, ...] = threshold(
        (0.0, 0.0005, 0.001, 0.0025, 0.005, 0.01), "no record of a measurement"
    )
    # the same where nothing else helps
    large_cuts: tuple[float, ...] = threshold(
        (0.02, 0.04, 0.08, 0.16, 0.32), "a factor of 2 between neighbours"
    )


THRESHOLDS = ExcitationThresholds()

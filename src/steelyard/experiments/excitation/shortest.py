"""The shortest motion that reaches an accuracy, by a search over its duration.

Each duration has an optimised motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ...errors import ProblemError
from .excitation_thresholds import THRESHOLDS


def shortest_time(
    ratio: Callable[[float], tuple[float, str]], longest: float, least_step: float = 0.1
) -> float:
    """Return the least time [s] at which ratio(time) is at most 1.

    ratio(time) is the standard deviation over the target of the worst target, with its name.

    The ratio falls about with the root of the time; the bracket is closed by interpolation between
    logarithms.
    """
    short: tuple[float, float] | None = None  # time and ratio that fail
    enough: tuple[float, float] | None = None  # time and ratio that do
    time, name = min(THRESHOLDS.first_time, longest), ""
    for _ in range(THRESHOLDS.time_trials):
        value, name = ratio(time)
        if value <= 1:
            enough = (time, value)
        else:
            short = (time, value)
        if (short and enough and enough[0] <= THRESHOLDS.time_ratio * short[0]) or (
            enough and enough[0] <= THRESHOLDS.shortest_time
        ):
            break
        if short and short[0] >= longest:
            raise ProblemError(
                f"accuracy: {name} cannot be reached in {longest:g} s; the standard deviation"
                f" expected after that is {short[1]:.3g} times as large, so that it would take"
                f" about {longest * short[1] ** 2:.3g} s",
                argument="accuracy",
            )
        time = _rounded(min(longest, _next(short, enough)), least_step)
    if enough is None:
        raise ProblemError(
            f"accuracy: no time up to {longest:g} s was found at which {name} is reached",
            argument="accuracy",
        )
    return enough[0]


def _next(short: tuple[float, float] | None, enough: tuple[float, float] | None) -> float:
    """Return the next time to try: extrapolated from one end, or between both."""
    if short and enough:
        exponent = math.log(short[1] / enough[1]) / math.log(enough[0] / short[0])
        guess = short[0] * short[1] ** (1 / max(exponent, 0.1)) * math.sqrt(THRESHOLDS.time_ratio)
        low, high = (
            short[0] * (enough[0] / short[0]) ** 0.1,
            enough[0] / (enough[0] / short[0]) ** 0.1,
        )
        return min(max(guess, low), high)
    if enough:
        return max(
            THRESHOLDS.shortest_time,
            enough[0]
            * max(0.3, enough[1] ** (1 / THRESHOLDS.information_exponent) / THRESHOLDS.time_ratio),
        )
    assert short is not None
    return short[0] * min(
        4.0, short[1] ** (1 / THRESHOLDS.information_exponent) * THRESHOLDS.time_ratio
    )


def _rounded(time: float, step: float) -> float:
    return math.ceil(time / step - 1e-9) * step

"""Thresholds of choices by held-out torque."""

from __future__ import annotations

from types import SimpleNamespace as Stub
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from steelyard.identification.samples.samples import Samples
from steelyard.identification.selection.choose_predictor import (
    CONSISTENT,
    WLS,
    best_predictor,
    contradicts_robot,
)
from steelyard.identification.selection.choose_rows import gains_while_moving, resting_speeds
from steelyard.identification.selection.choose_smoothing import (
    has_long_blocks,
    widest_band,
    widest_of,
    with_motion,
)
from steelyard.identification.selection.external_force import are_few, intervals_of_peaks
from steelyard.identification.selection.held_out_torque import HeldOutError
from steelyard.identification.selection.selection_thresholds import THRESHOLDS
from tests.thresholds.threshold import Threshold, sides

Array = NDArray[np.float64]
ROBOT = sy.load("planar_2r")


def errors(total: float, *gains: float) -> HeldOutError:
    """Squares of four blocks, with gains of single blocks."""
    squares = np.full(4, total**2)
    squares[: len(gains)] -= gains
    return HeldOutError(squares, np.ones(4))


def gains_by(share: float) -> bool:
    """Whether an error that is less by a share counts as less."""
    return errors(0.1 * (1 - share)).is_less(errors(0.1))


def exceeds_its_spread(deviations: float) -> bool:
    """Whether a gain of so many standard errors counts."""
    spread = np.array([1.0, -1.0, 1.0, -1.0])
    error = np.sqrt(4) * np.std(spread, ddof=1)
    gain = deviations * error / 4 + spread
    first = HeldOutError(np.full(4, 100.0), np.ones(4))
    return HeldOutError(100.0 - gain, np.ones(4)).is_better(first, gain=0.0)


def predicts(share: float) -> bool:
    """Whether parameters without constraints predict that are better by a share."""
    candidates = {CONSISTENT: errors(0.1), WLS: errors(0.1 * (1 - share))}
    return best_predictor(candidates) == WLS


def compared(seconds: float) -> bool:
    """Whether blocks of a log of eight times this length are compared."""
    return has_long_blocks([Stub(N=800, dt=seconds / 100)])


def filters(share: float) -> bool:
    """Whether a filter is taken whose error is less by a share."""
    compared: dict[str | float, HeldOutError] = {
        "auto": errors(0.1),
        8.0: errors(0.1 * (1 - share)),
    }
    return widest_of(compared, ["auto", 8.0]) == 8.0


def in_band(error: float) -> bool:
    """Whether the wider band is taken although its error is larger by a factor."""
    return widest_band({4.0: 0.1, 8.0: 0.1 * error}) == 8.0


def holds(share: float) -> bool:
    """Whether a band with a share of the velocity's power is one to compare in."""
    bands: dict[float, Any] = {
        4.0: Stub(samples=[Stub(qd=np.full((9, 2), np.sqrt(share)))]),
        8.0: Stub(samples=[Stub(qd=np.ones((9, 2)))]),
    }
    return 4.0 in with_motion(bands)


def rests(speed: float) -> bool:
    """Whether a joint counts as at rest at this share of its largest speed."""
    return not resting_share(np.concatenate([np.full(200, speed), np.ones(800)]))[1].any()


def often(share: float) -> bool:
    """Whether a joint that is at rest in such a share of the samples may lose their rows."""
    count = round(2000 * share)
    return resting_share(np.concatenate([np.zeros(count), np.ones(2000 - count)]))[0].any()


def resting_share(qd: Array) -> tuple[Array, Array]:
    """The speeds and shares at rest of one joint at 100 Hz."""
    return resting_speeds([(np.arange(len(qd)) / 100.0, qd[:, None])])


def still(seconds: float) -> bool:
    """Whether a joint that stops for so long again and again rests."""
    qd = np.tile(np.concatenate([np.zeros(round(100 * seconds) + 1), np.ones(60)]), 9)
    return bool(resting_share(qd)[1].any())


def better_moving(share: float) -> bool:
    """Whether rows at rest are left out for a gain by a share."""
    return gains_while_moving(errors(0.1 * (1 - share)), errors(0.1))


def reaches(ratio: float) -> bool:
    """Whether residuals of such a ratio are a force."""
    t = np.arange(50) / 10.0
    return bool(intervals_of_peaks(t, np.where(t == 2.0, ratio, 0.1), 0.25))


def separate(periods: float) -> bool:
    """Whether peaks so many periods of 4 Hz apart are two stretches."""
    t = np.arange(2000) / 100.0
    first, second = 500, 500 + round(100 * 2 * periods / 4.0)
    ratios = np.where(np.isin(np.arange(2000), (first, second)), 5.0, 0.0)
    return len(intervals_of_peaks(t, ratios, THRESHOLDS.force_margin / 4.0)) == 2


def loses(share: float) -> bool:
    """Whether such a share of the samples may be left out for an external force."""
    t = np.arange(1000) / 100.0
    x = np.zeros((1000, 1))
    return are_few([Samples(t, x, x, x, x).without_rows(t < 10.0 * share)])


def contradicted(ratio: float) -> bool:
    """Whether parameters differ too much from the robot, over its held-out error of a tenth."""
    ones = np.ones((50, 1))
    problem = Stub(
        samples=(Samples(np.arange(50.0), ones, ones, ones, ones),),
        model=Stub(feasible_states=lambda *x: x, rows=lambda q, qd, qdd: qd[:, :, None]),
        base=Stub(values=lambda x: x),
        total=None,
    )
    errors = {"consistent": HeldOutError(np.full(4, 0.01), np.ones(4))}
    return contradicts_robot(
        problem, Stub(parameters=np.ones(1)), lambda rows: np.array([1 + 0.1 * ratio]), errors
    )


MODULE = "selection.selection_thresholds"
SELECTION = [
    Threshold(f"{MODULE}:largest_contradiction", sides(contradicted, 2.0)),
    Threshold(f"{MODULE}:least_gain", sides(gains_by, 0.005)),
    Threshold(f"{MODULE}:gain_deviations", sides(exceeds_its_spread, 1.0)),
    Threshold(f"{MODULE}:least_smoothing_gain", sides(filters, 0.1)),
    Threshold(f"{MODULE}:least_consistency_gain", sides(predicts, 0.05)),
    Threshold(f"{MODULE}:shortest_block", sides(compared, 0.25)),
    Threshold(f"{MODULE}:band_error", sides(in_band, 1.3), (True, False)),
    Threshold(f"{MODULE}:motion_share", sides(holds, 0.9)),
    Threshold(f"{MODULE}:rest_speed", sides(rests, 0.02)),
    Threshold(f"{MODULE}:rest_seconds", sides(still, 0.2)),
    Threshold(f"{MODULE}:least_rest_share", sides(often, 0.05)),
    Threshold(f"{MODULE}:largest_rest_share", lambda: (often(0.7), often(0.9)), (True, False)),
    Threshold(f"{MODULE}:least_rest_gain", sides(better_moving, 0.05)),
    Threshold(f"{MODULE}:missing_torque", sides(reaches, 2.5)),
    Threshold(f"{MODULE}:force_margin", sides(separate, 1.0)),
    Threshold(f"{MODULE}:largest_force_share", sides(loses, 0.1), (True, False)),
]

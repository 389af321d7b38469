"""Every threshold that decides a word decides it where it stands: half of it, or twice that, is noticed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import steelyard
from tests.thresholds.doctor import DOCTOR
from tests.thresholds.mechanics import MECHANICS
from tests.thresholds.result import RESULT
from tests.thresholds.threshold import PACKAGE, Threshold

THRESHOLDS = [*DOCTOR, *MECHANICS, *RESULT]
PLACES = ("identify.py", "doctor", "result", "friction", "estimators")
NO_WORD = {
    "how much is tried, and when a search ends": (
        "doctor.mechanics.candidate: NEEDED ROUNDS LITTLE FARTHEST",
        "doctor.mechanics.motion_faults: CLOCKS TRIES",
        "doctor.mechanics.search: FAR_CLOCKS MOST_STEPS FIRSTS",
        "doctor.mechanics.torque_faults: POLISHED WORTHWHILE",
        "doctor.mechanics.witness: STEPS CONVERGED HOPELESS MOST_GROWTH MOST_COLUMNS",
        "friction.choice: ROUNDS",
        "identify: LOAD_ROUNDS SAME_LOAD",
        "estimators.drive_gains: ROUNDS",
        "estimators.sdp: NEWTON_STEPS SMALL_STEP",
        "estimators.prior_weight: WEIGHTS LOOSE",
        "estimators.torque_delay: LONGEST",
        "friction.candidates: VELOCITIES",
    ),
    "how many samples are read, and in how many parts": (
        "doctor.time_stamps: MOST",
        "doctor.mechanics.design: FOLDS",
        "doctor.mechanics.view: MOST WINDOWS SHORTEST PER_PERIOD",
        "result.jackknife: CELLS SPAN POINTS LEAST_SCALE SAME STEP",
        "result.prediction: MOST",
        "result.promise: STATES",
        "result.residuals: MOST",
        "result.torque_noise: FEWEST",
        "friction.residual_split: MOST SPEEDS",
        "friction.term_search: MOST",
        "estimators.evidence: BLOCKS",
        "estimators.shape: MOST",
        "estimators.torque_delay: MOST",
    ),
    "what is assumed before the samples, with a continuous effect; the benchmark of trust is its test": (
        "doctor.mechanics.unknowns: WIDTHS WEIGHT NO_WEIGHT",
        "doctor.mechanics.design: SLOWEST",
        "doctor.mechanics.witness: SHAPE VAGUE",
    ),
    "rounding, units, counts of columns, and values that a user may give": (
        "doctor.mechanics.motion_faults: DEGREE",
        "doctor.mechanics.unknowns: SHARED",
        "doctor.mechanics.witness: ROUNDING",
        "result.jackknife: ROUNDING",
        "result.uncertainty: ROUNDING",
        "estimators.drive_gains: CERTAIN",
        "estimators.least_squares: RANK",
        "estimators.posterior: LEAST",
        "estimators.registry: CAD_WEIGHT",
        "estimators.stepwise: MOST_GROWTH",
    ),
}


@pytest.mark.parametrize("each", THRESHOLDS, ids=lambda each: each.name)
def test_half_or_twice_a_threshold_is_noticed(each: Threshold) -> None:
    assert each.now() == each.decided
    for factor in (0.5, 2.0):
        with each.moved(factor):
            assert each.now() != each.decided, f"{each.name} times {factor} decides the same"
    assert each.now() == each.decided


def test_every_constant_is_a_threshold_or_decides_no_word() -> None:
    tested = {each.name for each in THRESHOLDS}
    others = {
        f"{module}:{name}" for lines in NO_WORD.values() for module, names in (line.split(": ") for line in lines) for name in names.split()
    }
    assert not tested & others
    assert tested | others == set(constants())


def constants() -> Iterator[str]:
    """The numbers, and tuples of numbers, in capitals at the top of each module, as module:constant."""
    root = Path(steelyard.__file__).parent / "identification"
    paths = (path for place in PLACES for path in ((root / place).rglob("*.py") if (root / place).is_dir() else [root / place]))
    for path in (path for path in paths if path.name != "__init__.py"):
        module = ".".join(path.relative_to(root).with_suffix("").parts)
        values = vars(import_module(f"{PACKAGE}.{module}"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            yield from (f"{module}:{name}" for name in names if name.isupper() and is_number(values[name]))


def is_number(value: Any) -> bool:
    return all(map(is_number, value)) and bool(value) if isinstance(value, tuple) else isinstance(value, int | float)

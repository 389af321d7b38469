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
from tests.thresholds.elastic import ELASTIC
from tests.thresholds.mechanics import MECHANICS
from tests.thresholds.repeats import REPEATS
from tests.thresholds.result import RESULT
from tests.thresholds.samples import SAMPLES
from tests.thresholds.simulated import SIMULATED
from tests.thresholds.threshold import PACKAGE, Threshold

THRESHOLDS = [*DOCTOR, *ELASTIC, *MECHANICS, *REPEATS, *RESULT, *SAMPLES, *SIMULATED]
PLACES = (
    "identify.py",
    "settle.py",
    "conclude.py",
    "validate.py",
    "options.py",
    "base_wrench.py",
    "closed_loops.py",
    "doctor",
    "elastic",
    "result",
    "friction",
    "estimators",
    "model",
    "samples",
)
NO_WORD = {
    "how much is tried, and when a search ends": (
        "doctor.mechanics.candidate: NEEDED ROUNDS LITTLE FARTHEST",
        "doctor.mechanics.motion_faults: CLOCKS TRIES",
        "doctor.mechanics.search: FAR_CLOCKS MOST_STEPS FIRSTS",
        "doctor.mechanics.torque_faults: POLISHED WORTHWHILE",
        "doctor.mechanics.witness: STEPS CONVERGED HOPELESS MOST_GROWTH MOST_COLUMNS",
        "friction.choice: ROUNDS",
        "conclude: LOAD_ROUNDS SAME_LOAD",
        "estimators.drive_gains: ROUNDS",
        "estimators.sdp: NEWTON_STEPS SMALL_STEP",
        "estimators.simulated.feedback_loop: STEP",
        "estimators.simulated.instruments: WEIGHINGS",
        "estimators.simulated.output_error: STEPS SMALL LARGEST",
        "estimators.simulated.restate: ROUNDS CONVERGED LITTLE PARTS",
        "estimators.prior_weight: WEIGHTS LOOSE",
        "estimators.evidence: ROUNDS SAME",
        "estimators.torque_delay: LONGEST",
        "estimators.errors_in_variables.maximum_likelihood: STEPS SAME",
        "friction.candidates: VELOCITIES",
    ),
    "how many samples are read, and in how many parts": (
        "doctor.time_stamps: MOST",
        "doctor.mechanics.design: FOLDS",
        "doctor.mechanics.view: MOST WINDOWS SHORTEST PER_PERIOD GOLDEN",
        "result.jackknife: CELLS SPAN POINTS SCALED SAME STEP",
        "result.state_coverage: LEAST_SCALE MOST",
        "model.accumulator: MANY UNKNOWNS",
        "doctor.mechanics.joint_information: FEW",
        "estimators.posterior: PANEL",
        "model.problem: BLOCK FOLDS STORED",
        "closed_loops: STRIDE",
        "samples.samples: MIDDLE",
        "samples.smoothing: MOST_UNCERTAIN MOST_SURE",
        "samples.decimation: REACH GROUP",
        "samples.fourier: BLOCK",
        "samples.noise: MOST WINDOWS",
        "estimators.frequency: NARROWEST WIDER",
        "samples.repeats: SMOOTHED EDGE REFINED WHOLE MOST WINDOWS TOGETHER KNOTS ALIGNED WIDE",
        "result.prediction: MOST BLOCK",
        "result.expected_error: STATES",
        "result.held_out_motion: MOST FEWEST",
        "result.residuals: MOST",
        "result.validation: BLOCK",
        "result.torque_noise: FEWEST MOST WINDOWS",
        "friction.residual_split: MOST MOST_SPEEDS SPEEDS",
        "friction.term_search: MOST",
        "estimators.evidence: BLOCKS",
        "estimators.shape: MOST",
        "estimators.torque_delay: MOST",
        "elastic.regression: SMOOTHED PARTS",
        "estimators.errors_in_variables.maximum_likelihood: PARTS",
        "estimators.without_acceleration.windows: NARROWEST SPREAD OVERLAP REACH MASKED PARTS",
    ),
    "what is assumed before the samples, with a continuous effect; the benchmark of trust is its test": (
        "doctor.mechanics.unknowns: WIDTHS WEIGHT NO_WEIGHT",
        "doctor.mechanics.design: SLOWEST",
        "doctor.mechanics.witness: SHAPE VAGUE",
        "model.prior: SMALLEST THINNEST SHORTEST",
        "estimators.joint_prior: OFFSETS DESCRIBED SLOW",
        "result.prediction: COVERED",
        "estimators.errors_in_variables.total_least_squares: MOST_ERRORS",
        "estimators.without_acceleration.energy: SLOWEST",
    ),
    "rounding, units, counts of columns, and values that a user may give": (
        "doctor.mechanics.motion_faults: DEGREE",
        "doctor.mechanics.unknowns: SHARED",
        "doctor.mechanics.witness: ROUNDING",
        "result.jackknife: ROUNDING",
        "result.uncertainty: ROUNDING",
        "result.verdict.verdict: TRUSTED WITHIN DOUBTFUL REFUSED",
        "estimators.drive_gains: CERTAIN",
        "estimators.least_squares: RANK",
        "estimators.simulated.instruments: WEAKEST",
        "estimators.frequency: LEAST",
        "estimators.evidence: ROUNDING",
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


COUNTS = (0, 1, 2, 3, 8, 10)  # of axes, of bytes of a number, of the numbers of a body
UNNAMED = {  # numbers without a name that are compared with: steps and ends of searches, units, and counts that make no word
    "doctor.mechanics.candidate": {0.01},
    "doctor.mechanics.model_faults": {0.1},
    "doctor.mechanics.motion_faults": {0.003},
    "doctor.mechanics.torque_faults": {0.02, 0.05, 0.1, 0.5, 4, 20},
    "doctor.mechanics.view": {0.99, 1.2},
    "doctor.mechanics.witness": {0.1},
    "doctor.sentences": {0.001},
    "doctor.time_stamps": {1.999},
    "estimators.sdp": {0.25},
    "estimators.stepwise": {0.5},
    "estimators.torque_delay": {0.001, 0.99},
    "friction.residual_split": {32},
    "samples.decimation": {0.1},
}


def test_numbers_that_are_compared_have_a_name() -> None:
    found: dict[str, set[float]] = {}
    for module, path in modules():
        compared = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Compare))
        numbers = {each.value for node in compared for each in ast.walk(node) if isinstance(each, ast.Constant)}
        if unnamed := {x for x in numbers if isinstance(x, int | float) and x not in COUNTS and x > 1e-5}:
            found[module] = unnamed
    assert found == UNNAMED


def modules() -> Iterator[tuple[str, Path]]:
    """The modules in which words are decided."""
    root = Path(steelyard.__file__).parent / "identification"
    paths = (path for place in PLACES for path in ((root / place).rglob("*.py") if (root / place).is_dir() else [root / place]))
    return ((".".join(path.relative_to(root).with_suffix("").parts), path) for path in paths if path.name != "__init__.py")


def constants() -> Iterator[str]:
    """The numbers, and tuples of numbers, in capitals at the top of each module, as module:constant."""
    for module, path in modules():
        values = vars(import_module(f"{PACKAGE}.{module}"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            yield from (f"{module}:{name}" for name in names if name.isupper() and is_number(values[name]))


def is_number(value: Any) -> bool:
    return all(map(is_number, value)) and bool(value) if isinstance(value, tuple) else isinstance(value, int | float)

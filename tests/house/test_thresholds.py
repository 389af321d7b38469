"""Every threshold that decides a word decides it where it stands.

Half of it, or twice that, is noticed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import Field, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import steelyard
from tests.thresholds.doctor import DOCTOR
from tests.thresholds.elastic import ELASTIC
from tests.thresholds.many_logs import MANY_LOGS
from tests.thresholds.mechanics import MECHANICS
from tests.thresholds.repeats import REPEATS
from tests.thresholds.result import RESULT
from tests.thresholds.samples import SAMPLES
from tests.thresholds.simulated import SIMULATED
from tests.thresholds.threshold import PACKAGE, Threshold

THRESHOLDS = [*DOCTOR, *ELASTIC, *MANY_LOGS, *MECHANICS, *REPEATS, *RESULT, *SAMPLES, *SIMULATED]
PLACES = (
    "identification_thresholds.py",
    "identify.py",
    "build_problem.py",
    "make_fit.py",
    "validate.py",
    "options.py",
    "observations",
    "doctor",
    "elastic",
    "out_of_core",
    "result",
    "friction",
    "estimators",
    "nuisance",
    "model",
    "samples",
)
EXPERIMENTS = ("experiments.online.online_thresholds", "experiments.fleet.fleet_thresholds")
NO_WORD = {
    "how much is tried, and when a search ends": (
        "identification_thresholds: load_rounds load_tolerance",
        "nuisance.nuisance_thresholds: gain_rounds",
        "estimators.estimator_thresholds: newton_steps newton_tolerance",
        "estimators.estimator_thresholds: longest_step",
        "estimators.estimator_thresholds: weighting_rounds",
        "estimators.estimator_thresholds: gauss_newton_steps gauss_newton_tolerance",
        "estimators.estimator_thresholds: derivative_bytes",
        "estimators.estimator_thresholds: simulation_rounds simulation_tolerance",
        "estimators.estimator_thresholds: least_residual_gain difference_parts",
        "estimators.estimator_thresholds: weights discarded_weights ridge_strengths net_strengths",
        "estimators.estimator_thresholds: noise_rounds noise_tolerance",
        "nuisance.nuisance_thresholds: longest_delay",
        "estimators.estimator_thresholds: likelihood_steps likelihood_tolerance",
        "doctor.doctor_thresholds: parabolas negligible_evidence farthest_step clocks",
        "doctor.doctor_thresholds: refined_offsets",
        "doctor.doctor_thresholds: clocks_with_fault most_search_steps first_hypotheses",
        "doctor.doctor_thresholds: refined_gains",
        "doctor.doctor_thresholds: refined_gain_evidence evidence_steps evidence_tolerance",
        "doctor.doctor_thresholds: hopeless_evidence evidence_growth cached_torques",
        "friction.friction_thresholds: rounds stribeck_velocities",
        "out_of_core.out_of_core_thresholds: worker_replacements dask_retries compared_logs",
        "out_of_core.out_of_core_thresholds: compared_states",
        "experiments.online.online_thresholds: change_starts weighting_rounds ros_wait",
        "experiments.fleet.fleet_thresholds: weighting_rounds most_outliers pooling_rounds",
        "experiments.fleet.fleet_thresholds: pooling_tolerance",
    ),
    "how many samples are read, and in how many parts": (
        "doctor.fault_search.thinned_log: GOLDEN",
        "result.result_thresholds: motion_cells block_cells compared_points scale_samples",
        "result.result_thresholds: equal_state_distances equal_state_steps",
        "result.result_thresholds: least_scale path_points",
        "model.model_thresholds: threaded_samples threaded_unknowns",
        "model.model_thresholds: dense_entries",
        "estimators.estimator_thresholds: reflected_columns",
        "model.model_thresholds: block_samples folds stored_bytes",
        "identification_thresholds: closure_stride",
        "samples.samples_thresholds: state_error_samples",
        "samples.samples_thresholds: uncertain_acceleration certain_share",
        "samples.samples_thresholds: filter_reach filter_group",
        "samples.samples_thresholds: fourier_block",
        "samples.samples_thresholds: noise_samples noise_windows",
        "estimators.estimator_thresholds: least_harmonics band_width",
        "samples.samples_thresholds: period_windows window_edge period_steps",
        "samples.samples_thresholds: whole_step_deviations period_samples period_sample_windows",
        "samples.samples_thresholds: path_columns spline_knots aligned_time fourier_window",
        "result.result_thresholds: region_samples region_block",
        "result.result_thresholds: expected_error_states",
        "result.result_thresholds: held_out_samples least_part_samples",
        "result.result_thresholds: information_samples",
        "result.result_thresholds: validation_block",
        "result.result_thresholds: least_noise_samples noise_samples noise_windows",
        "estimators.estimator_thresholds: autocorrelation_blocks",
        "nuisance.nuisance_thresholds: shape_samples width_candidates stribeck_candidates",
        "nuisance.nuisance_thresholds: delay_samples",
        "estimators.estimator_thresholds: likelihood_parts",
        "estimators.estimator_thresholds: least_window_width window_width windows_per_sample",
        "estimators.estimator_thresholds: window_reach masked_weight window_parts",
        "doctor.doctor_thresholds: roughness_samples folds most_rows log_windows least_stretch",
        "doctor.doctor_thresholds: rows_per_period",
        "friction.friction_thresholds: split_samples speed_samples speed_knots search_samples",
        "elastic.elastic_thresholds: smoothing_width jackknife_parts",
        "out_of_core.out_of_core_thresholds: parts_per_log states_per_log rows_per_task pilot_logs",
        "out_of_core.out_of_core_thresholds: pilot_samples most_motions repeated_share",
        "out_of_core.out_of_core_thresholds: bytes_in_memory",
        "out_of_core.out_of_core_thresholds: listed_logs",
        "experiments.online.online_thresholds: window_seconds chunk_samples learning_folds",
        "experiments.online.online_thresholds: recent_samples",
        "experiments.online.online_thresholds: block_samples portion_samples",
    ),
    "what is assumed before the samples, with a continuous effect; the benchmark of trust is its test": (
        "model.model_thresholds: least_gyration least_gyration_ratio least_body_length",
        "estimators.estimator_thresholds: offset_spreads described_spreads slow_speed",
        "result.result_thresholds: covered_noise_share",
        "estimators.estimator_thresholds: regressor_error_share",
        "estimators.estimator_thresholds: least_power_noise",
        "doctor.doctor_thresholds: friction_widths description_weight placeholder_weight",
        "doctor.doctor_thresholds: slow_joint",
        "doctor.doctor_thresholds: weight_shape joint_term_spread",
        "experiments.online.online_thresholds: prior_spread resting_memory uncertain_modes",
        "experiments.fleet.fleet_thresholds: prior_spread prior_spread_weight kind_weight",
        "experiments.fleet.fleet_thresholds: huber_deviations huber_variance free_spread",
        "experiments.fleet.fleet_thresholds: center_spread",
    ),
    "rounding, units, counts of columns, and values that a user may give": (
        "doctor.fault_search.motion_faults: DEGREE",
        "doctor.fault_search.unknowns: SHARED",
        "model.model_thresholds: cholesky_ridge",
        "result.result_thresholds: leverage_rounding",
        "result.result_thresholds: least_residual",
        "result.verdict.verdict: TRUSTED WITHIN DOUBTFUL REFUSED",
        "nuisance.nuisance_thresholds: known_mass_deviation",
        "estimators.estimator_thresholds: rank",
        "estimators.estimator_thresholds: instrument_rank",
        "estimators.estimator_thresholds: least_power",
        "estimators.estimator_thresholds: least_noise",
        "estimators.estimator_thresholds: least_precision",
        "estimators.estimator_thresholds: cad_weight",
        "estimators.estimator_thresholds: residual_growth",
        "out_of_core.factor_store: LETTERS TAG KEY_BYTES",
        "experiments.online.online_thresholds: change_rank normal_ridge unseen_direction",
        "experiments.online.online_thresholds: nominal_rate",
        "experiments.online.online_thresholds: learning_seconds",
        "experiments.fleet.fleet_thresholds: least_information",
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
        f"{module}:{name}"
        for lines in NO_WORD.values()
        for module, names in (line.split(": ") for line in lines)
        for name in names.split()
    }
    assert not tested & others
    assert tested | others == set(constants())


def test_every_threshold_says_how_it_was_chosen() -> None:
    modules_with = [f"{PACKAGE}.{module}" for module, _ in modules()]
    for module in (*modules_with, *(f"steelyard.{module}" for module in EXPERIMENTS)):
        for each in thresholds_of(module):
            assert each.metadata.get("chosen"), f"{module}:{each.name}"
            assert is_number(each.default), f"{module}:{each.name}"


COUNTS = (0, 1, 2, 3, 8, 10)  # of axes, of bytes of a number, of the numbers of a body
# numbers without a name that are compared with: steps and ends of searches, units, and counts that
# make no word
UNNAMED = {
    "doctor.fault_search.fault_hypothesis": {0.01},
    "doctor.fault_search.model_faults": {0.1},
    "doctor.fault_search.motion_faults": {0.003},
    "doctor.fault_search.torque_faults": {0.02, 0.05, 0.1, 0.5, 4, 20},
    "doctor.fault_search.thinned_log": {0.99, 1.2},
    "doctor.fault_search.log_evidence": {0.1},
    "doctor.sentences": {0.001},
    "doctor.time_stamps": {1.999},
    "estimators.sdp": {0.25},
    "estimators.stepwise": {0.5},
    "nuisance.torque_delay": {0.001, 0.99},
    "friction.residual_split": {32},
    "samples.decimation": {0.1},
}


def test_numbers_that_are_compared_have_a_name() -> None:
    found: dict[str, set[float]] = {}
    for module, path in modules():
        compared = (
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Compare)
        )
        numbers = {
            each.value
            for node in compared
            for each in ast.walk(node)
            if isinstance(each, ast.Constant)
        }
        if unnamed := {
            x for x in numbers if isinstance(x, int | float) and x not in COUNTS and x > 1e-5
        }:
            found[module] = unnamed
    assert found == UNNAMED


def modules() -> Iterator[tuple[str, Path]]:
    """The modules in which words are decided."""
    root = Path(steelyard.__file__).parent / "identification"
    paths = (
        path
        for place in PLACES
        for path in ((root / place).rglob("*.py") if (root / place).is_dir() else [root / place])
    )
    return (
        (".".join(path.relative_to(root).with_suffix("").parts), path)
        for path in paths
        if path.name != "__init__.py"
    )


def thresholds_of(module: str) -> Iterator[Field[Any]]:
    """The fields of a module's THRESHOLDS, if it defines any."""
    instance = getattr(import_module(module), "THRESHOLDS", None)
    if type(instance).__module__ == module:
        yield from fields(instance)


def constants() -> Iterator[str]:
    """The numbers in capitals at the top of each module, and the fields of thresholds."""
    for module in EXPERIMENTS:
        yield from (f"{module}:{each.name}" for each in thresholds_of(f"steelyard.{module}"))
    for module, path in modules():
        yield from (f"{module}:{each.name}" for each in thresholds_of(f"{PACKAGE}.{module}"))
        values = vars(import_module(f"{PACKAGE}.{module}"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            names = [
                name.id
                for target in targets
                for name in ast.walk(target)
                if isinstance(name, ast.Name)
            ]
            yield from (
                f"{module}:{name}" for name in names if name.isupper() and is_number(values[name])
            )


def is_number(value: Any) -> bool:
    return (
        all(map(is_number, value)) and bool(value)
        if isinstance(value, tuple)
        else isinstance(value, int | float)
    )

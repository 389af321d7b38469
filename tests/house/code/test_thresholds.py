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
from tests.thresholds.channels import CHANNELS
from tests.thresholds.doctor import DOCTOR
from tests.thresholds.elastic import ELASTIC
from tests.thresholds.experiments import EXPERIMENTS
from tests.thresholds.many_logs import MANY_LOGS
from tests.thresholds.mechanics import MECHANICS
from tests.thresholds.repeats import REPEATS
from tests.thresholds.residual import RESIDUAL
from tests.thresholds.result import RESULT
from tests.thresholds.samples import SAMPLES
from tests.thresholds.selection import SELECTION
from tests.thresholds.signals import SIGNALS
from tests.thresholds.simulated import SIMULATED
from tests.thresholds.simulation import SIMULATION
from tests.thresholds.threshold import PACKAGE, Threshold

THRESHOLDS = [
    *CHANNELS,
    *DOCTOR,
    *ELASTIC,
    *EXPERIMENTS,
    *MANY_LOGS,
    *MECHANICS,
    *REPEATS,
    *RESIDUAL,
    *RESULT,
    *SAMPLES,
    *SELECTION,
    *SIGNALS,
    *SIMULATED,
    *SIMULATION,
]
PLACES = (
    "identification_thresholds.py",
    "identify.py",
    "build_problem.py",
    "make_fit.py",
    "estimate_model.py",
    "selection",
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
    "residual",
    "samples",
)
TUNED = (  # packages outside identification whose tuned numbers are fields of thresholds
    "experiments",
    "motion/collision",
    "motion/inverse_kinematics",
    "motion/trajectories",
    "robot/loops",
    "signals",
    "simulation",
)
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
        "nuisance.nuisance_thresholds: longest_delay earliest_torque delay_blocks",
        "nuisance.nuisance_thresholds: delay_ridge uniform_scatter",
        "estimators.estimator_thresholds: likelihood_steps likelihood_tolerance",
        "doctor.doctor_thresholds: parabolas negligible_evidence farthest_step clocks",
        "doctor.doctor_thresholds: refined_offsets tried_structures most_lengths length_steps",
        "doctor.doctor_thresholds: length_tolerance filter_cutoffs filter_orders",
        "doctor.doctor_thresholds: clocks_with_fault most_search_steps first_hypotheses",
        "doctor.doctor_thresholds: refined_gains gravity_rows command_rows velocity_samples",
        "doctor.doctor_thresholds: longest_velocity_delay held_out_blocks widest_band band_order",
        "doctor.doctor_thresholds: refined_gain_evidence evidence_steps evidence_tolerance",
        "doctor.doctor_thresholds: hopeless_evidence evidence_growth cached_torques",
        "doctor.doctor_thresholds: singular_cost",
        "friction.friction_thresholds: rounds stribeck_velocities",
        "selection.selection_thresholds: rest_widths concentration_steps least_first_residual",
        "residual.residual_thresholds: ridges",
        "friction.friction_thresholds: first_memory_step memory_step",
        "nuisance.nuisance_thresholds: rest_width",
        "nuisance.nuisance_thresholds: distance_rounds distance_tolerance largest_distance_step",
        "out_of_core.out_of_core_thresholds: worker_replacements dask_retries compared_logs",
        "out_of_core.out_of_core_thresholds: compared_states",
        "experiments.online.online_thresholds: change_starts weighting_rounds ros_wait",
        "experiments.fleet.fleet_thresholds: weighting_rounds most_outliers pooling_rounds",
        "experiments.fleet.fleet_thresholds: pooling_tolerance",
        "experiments.excitation.excitation_thresholds: starts trial_starts time_trials",
        "experiments.excitation.excitation_thresholds: accuracy_states motion_shrinks",
        "experiments.excitation.excitation_thresholds: refusal_positions centre_positions",
        "experiments.excitation.excitation_thresholds: near_slack step_cuts variation_work",
        "experiments.excitation.excitation_thresholds: least_variations largest_variations",
        "experiments.excitation.excitation_thresholds: round_work round_starts start_draws",
        "experiments.excitation.excitation_thresholds: inside_shrinks repaired_starts searches",
        "experiments.experiment_thresholds: calibration_steps rehearsal_starts",
        "experiments.online.online_thresholds: regressor_samples state_points",
        "experiments.payload_identification.payload_thresholds: candidate_poses candidate_draws",
        "experiments.payload_identification.payload_thresholds: way_positions block_positions",
        "motion.collision.clearance_thresholds: rare_distance pair_positions farthest_distance",
        "motion.collision.clearance_thresholds: corner_directions ground_positions",
        "motion.collision.clearance_thresholds: sweep_intervals sweep_halvings",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: free_positions nearest_effort",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: single_thread_scalars",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: cached_problems steps rounds",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: tried_positions parallel_starts",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: chunk_poses polishing_steps",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: preference_steps leaving_share",
        "motion.trajectories.trajectory_thresholds: distance_rate certificate_intervals",
        "motion.trajectories.trajectory_thresholds: certificate_halvings ample_bound",
        "motion.trajectories.trajectory_thresholds: coarse_piece_parts fine_piece_parts",
        "motion.trajectories.trajectory_thresholds: pose_steps friction_rounds lowering_rounds",
        "motion.trajectories.trajectory_thresholds: local_rounds lowering_factor bounded_parts",
        "motion.trajectories.trajectory_thresholds: compared_intervals",
        "robot.loops.loop_thresholds: closing_steps nearest_steps tried_configurations",
        "robot.loops.loop_thresholds: compared_choices",
        "signals.signal_thresholds: digest_bytes numpy_cells constant_samples smoother_samples",
        "signals.signal_thresholds: likelihood_samples likelihood_blocks",
        "signals.signal_thresholds: uneven_likelihood_samples uneven_likelihood_blocks",
        "signals.signal_thresholds: summed_lags",
        "simulation.simulation_thresholds: work_per_call block_runs event_limit evaluation_limit",
        "simulation.simulation_thresholds: samples_per_call side_change_limit",
    ),
    "how many samples are read, and in how many parts": (
        "doctor.fault_search.thinned_log: GOLDEN",
        "result.result_thresholds: motion_cells block_cells compared_points scale_samples",
        "result.result_thresholds: equal_state_distances equal_state_steps",
        "result.result_thresholds: least_scale path_points",
        "result.result_thresholds: least_sequence sequence_speed sequence_error sequence_share",
        "result.result_thresholds: sequence_gap saved_path_digits",
        "model.model_thresholds: threaded_samples threaded_unknowns",
        "model.model_thresholds: dense_entries",
        "estimators.estimator_thresholds: reflected_columns",
        "model.model_thresholds: block_samples folds stored_bytes",
        "identification_thresholds: closure_stride",
        "samples.samples_thresholds: state_error_samples delay_samples velocity_step",
        "samples.samples_thresholds: longest_velocity_delay",
        "selection.selection_thresholds: cutoffs largest_cutoff rows_per_cutoff samples_per_row",
        "selection.selection_thresholds: least_rows samples coulomb_width exact_prior force_bytes",
        "selection.selection_thresholds: compared_states",
        "samples.samples_thresholds: uncertain_acceleration certain_share",
        "samples.samples_thresholds: filter_reach filter_group",
        "samples.samples_thresholds: fourier_block",
        "samples.samples_thresholds: noise_samples noise_windows",
        "estimators.estimator_thresholds: least_harmonics band_width",
        "samples.samples_thresholds: period_windows window_edge period_steps",
        "samples.samples_thresholds: whole_step_deviations period_samples period_sample_windows",
        "samples.samples_thresholds: path_columns spline_knots aligned_time fourier_window",
        "residual.residual_thresholds: samples position_knots speed_knots load_knots",
        "result.result_thresholds: region_samples region_block",
        "result.result_thresholds: expected_error_states",
        "result.result_thresholds: held_out_samples least_part_samples",
        "result.result_thresholds: information_samples",
        "result.result_thresholds: shape_spread delay_spread shape_step overlap_freedom",
        "result.result_thresholds: validation_block",
        "result.result_thresholds: least_noise_samples noise_samples noise_windows",
        "estimators.estimator_thresholds: autocorrelation_blocks",
        "nuisance.nuisance_thresholds: shape_samples width_candidates stribeck_candidates",
        "nuisance.nuisance_thresholds: distance_candidates",
        "friction.friction_thresholds: samples_per_kept reversal_seconds",
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
    (
        "what is assumed before the samples, with a continuous effect; "
        "the benchmark of trust is its test"
    ): (
        "model.model_thresholds: least_gyration least_gyration_ratio least_body_length",
        "estimators.estimator_thresholds: offset_spreads described_spreads slow_speed",
        "result.result_thresholds: covered_noise_share",
        "estimators.estimator_thresholds: regressor_error_share",
        "estimators.estimator_thresholds: least_power_noise",
        "doctor.doctor_thresholds: friction_widths description_weight placeholder_weight",
        "doctor.doctor_thresholds: slow_joint description_weights",
        "doctor.doctor_thresholds: weight_shape joint_term_spread",
        "experiments.online.online_thresholds: prior_spread resting_memory uncertain_modes",
        "experiments.fleet.fleet_thresholds: prior_spread prior_spread_weight kind_weight",
        "experiments.fleet.fleet_thresholds: huber_deviations huber_variance free_spread",
        "experiments.fleet.fleet_thresholds: center_spread",
    ),
    "rounding, units, counts of columns, and values that a user may give": (
        "doctor.fault_search.motion_faults: DEGREE",
        "doctor.fault_search.unknowns: SHARED SPRING",
        "model.model_thresholds: cholesky_ridge",
        "residual.residual_thresholds: knot_variance",
        "result.result_thresholds: leverage_rounding",
        "result.result_thresholds: least_residual",
        "result.verdict.verdict: TRUSTED WITHIN DOUBTFUL REFUSED",
        "nuisance.nuisance_thresholds: known_mass_deviation",
        "estimators.estimator_thresholds: rank",
        "estimators.estimator_thresholds: instrument_rank",
        "estimators.estimator_thresholds: least_power",
        "estimators.estimator_thresholds: least_noise",
        "estimators.estimator_thresholds: least_precision",
        "estimators.estimator_thresholds: cad_weight equality_std",
        "estimators.estimator_thresholds: residual_growth",
        "out_of_core.factor_store: LETTERS TAG KEY_BYTES",
        "experiments.online.online_thresholds: change_rank normal_ridge unseen_direction",
        "experiments.online.online_thresholds: nominal_rate",
        "experiments.online.online_thresholds: learning_seconds",
        "experiments.fleet.fleet_thresholds: least_information",
        "experiments.excitation.excitation_thresholds: equal_groupings",
        "experiments.experiment_thresholds: calibration_tolerance least_deviation",
        "experiments.online.online_thresholds: settling_constants window_rounding",
        "experiments.online.online_thresholds: least_state_scale",
        "experiments.payload_identification.payload_thresholds: least_eigenvalue least_noise",
        "experiments.payload_identification.payload_thresholds: lightest_load least_information",
        "motion.collision.clearance_thresholds: point_length least_link_length",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: axis_tolerance zero_component",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: limit_rounding axis_distance",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: double_solution reached_error",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: pose_tolerance accuracy",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: least_damping",
        "motion.trajectories.trajectory_thresholds: limit_tolerance certificate_tolerance",
        "motion.trajectories.trajectory_thresholds: pose_error rotation_error shortest_time",
        "motion.trajectories.trajectory_thresholds: least_distance slow_path_speed least_lowering",
        "motion.trajectories.trajectory_thresholds: excess_rounding resting_path_speed",
        "motion.trajectories.trajectory_thresholds: zero_coefficient parallel_gradient",
        "motion.trajectories.trajectory_thresholds: contradiction_rounding",
        "robot.loops.loop_thresholds: closed_gap exact_gap dependent_closure torque_residual",
        "robot.loops.loop_thresholds: opening_acceleration open_gap closure_rank",
        "signals.signal_thresholds: largest_number equal_stamps largest_noise_ratio",
        "signals.signal_thresholds: largest_inflation least_correlation",
        "simulation.simulation_thresholds: creep_velocity stop_slack",
    ),
    "words on a load, on both sides in tests/laws/experiments/test_payload.py": (
        "experiments.payload_identification.payload_thresholds: lighter_deviations refused_error",
        "experiments.payload_identification.payload_thresholds: doubtful_error_ratio",
        "experiments.payload_identification.payload_thresholds: doubtful_mass_deviation",
        "experiments.payload_identification.payload_thresholds: load_deviations",
    ),
    "sizes of motions, models and steps, without a word; tests of their package see the result": (
        "experiments.excitation.excitation_thresholds: search_levels variation_level",
        "experiments.excitation.excitation_thresholds: seconds period highest_frequency",
        "experiments.excitation.excitation_thresholds: first_time shortest_time longest_time",
        "experiments.excitation.excitation_thresholds: time_ratio information_exponent",
        "experiments.excitation.excitation_thresholds: harmonic_samples shown_share noise_share",
        "experiments.excitation.excitation_thresholds: acceleration_rate unknown_spread",
        "experiments.excitation.excitation_thresholds: worst_power obstacle_range step_factor",
        "experiments.excitation.excitation_thresholds: armijo_constant barrier_share merit_memory",
        "experiments.excitation.excitation_thresholds: hessian_shifts variations centre_variation",
        "experiments.excitation.excitation_thresholds: inside_factor inside_growth",
        "experiments.excitation.excitation_thresholds: repair_reserves small_cuts large_cuts",
        "experiments.experiment_thresholds: least_information_share alignment_tolerances",
        "experiments.experiment_thresholds: rehearsal_seconds rehearsal_harmonics rehearsal_rate",
        "experiments.online.online_thresholds: regular_intervals derivative_bandwidth",
        "experiments.online.online_thresholds: warm_up_samples noisier_variance noise_deviations",
        "experiments.online.online_thresholds: clipped_variance velocity_change_quantile",
        "experiments.payload_identification.payload_thresholds: small_error weighting_rounds",
        "experiments.payload_identification.payload_thresholds: gyration_radius compared_mass",
        "experiments.payload_identification.payload_thresholds: prior_spread density",
        "experiments.payload_identification.payload_thresholds: load_error_share",
        "experiments.payload_identification.payload_thresholds: velocity_window",
        "experiments.payload_identification.payload_thresholds: resting_speed settling_time",
        "experiments.payload_identification.payload_thresholds: separate_interval least_approach",
        "experiments.payload_identification.payload_thresholds: approach_time free_range",
        "experiments.payload_identification.payload_thresholds: load_sizes",
        "experiments.payload_identification.payload_thresholds: pose_reserve",
        "model.model_thresholds: first_stribeck_velocity first_presliding_distance",
        "model.model_thresholds: presliding_start distance_step",
        "motion.collision.clearance_thresholds: built_close_share built_close_distance",
        "motion.collision.clearance_thresholds: thin_radius prism_sides capsule_thickness",
        "motion.collision.clearance_thresholds: often_close_share thinner_radii",
        "motion.collision.clearance_thresholds: table_points table_distance level_height",
        "motion.collision.clearance_thresholds: grounded_size",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: rounded_angle preference_gain",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: longest_step error_damping",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: closure_weight rotation_weight",
        "motion.inverse_kinematics.inverse_kinematics_thresholds: singular_value damping",
        "motion.trajectories.trajectory_thresholds: revolute_speed prismatic_speed ramp_time",
        "motion.trajectories.trajectory_thresholds: limit_rate coarse_harmonic_samples",
        "motion.trajectories.trajectory_thresholds: fine_harmonic_samples path_singular",
        "motion.trajectories.trajectory_thresholds: path_damping ramp_share interpolation_error",
        "robot.loops.loop_thresholds: restart_changes longest_step slow_convergence",
        "robot.loops.loop_thresholds: preferred_remainder structure_samples least_motion",
        "signals.signal_thresholds: episode_pause searched_folders spike_samples smoother_overlap",
        "simulation.simulation_thresholds: steps_per_call",
        "simulation.simulation_thresholds: listed_failures",
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
    for module in (*(f"{PACKAGE}.{module}" for module, _ in modules()), *other_modules()):
        for each in thresholds_of(module):
            assert each.metadata.get("chosen"), f"{module}:{each.name}"
            assert is_number(each.default), f"{module}:{each.name}"


# numbers at the top of a module that nobody tuned, each with the reason
FACTS = {
    "codes and places in a table": (
        "identification.result.verdict.verdict: TRUSTED WITHIN DOUBTFUL REFUSED",
        "experiments.online.motion_states: FORWARD BACKWARD REVERSING STANDING",
        "experiments.payload_identification.payload: SIX",
        "motion.inverse_kinematics.analytic: UNREACHED OUTSIDE VALID",
        "simulation.sensitivities: _PARAMETERS",
    ),
    "mathematics": (
        "identification.doctor.fault_search.motion_faults: DEGREE",
        "identification.doctor.fault_search.thinned_log: GOLDEN",
        "motion.inverse_kinematics.analytic: _MAGIC _TWO_PI",
        "motion.trajectories.bspline: DEGREE AT_REST",
    ),
    "numbers of a model's state or terms": (
        "identification.doctor.fault_search.unknowns: SHARED SPRING",
        "signals.smooth.kalman: OUTPUTS",
    ),
    "sizes in a format of files": (
        "identification.out_of_core.factor_store: LETTERS TAG KEY_BYTES",
    ),
    "computed from thresholds": (
        "experiments.online.collision_thresholds: NOISE_SHARE",
        "motion.inverse_kinematics.subproblems: _CLOSE2",
    ),
}


def test_tuned_numbers_are_fields_of_thresholds() -> None:
    """No number at the top of a module, public or not, is one that somebody chose."""
    allowed = {
        f"{module}:{name}"
        for lines in FACTS.values()
        for module, names in (line.split(": ") for line in lines)
        for name in names.split()
    }
    assert set(module_numbers()) == allowed


def module_numbers() -> Iterator[str]:
    """The names of numbers, or of tuples of them, at the top of modules with thresholds."""
    root = Path(steelyard.__file__).parent
    paths = [path for package in TUNED for path in (root / package).rglob("*.py")]
    for path in (*paths, *(path for _, path in modules())):
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for name in assigned_names(path):
            if is_number(vars(import_module(f"steelyard.{module}"))[name]):
                yield f"{module}:{name}"


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
    "doctor.fault_words": {0.001},
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


def other_modules() -> Iterator[str]:
    """The modules with thresholds of the packages outside identification."""
    root = Path(steelyard.__file__).parent
    for package in TUNED:
        for path in sorted((root / package).rglob("*_thresholds.py")):
            yield ".".join(path.relative_to(root.parent).with_suffix("").parts)


def thresholds_of(module: str) -> Iterator[Field[Any]]:
    """The fields of a module's THRESHOLDS, if it defines any."""
    instance = getattr(import_module(module), "THRESHOLDS", None)
    if type(instance).__module__ == module:
        yield from fields(instance)


def constants() -> Iterator[str]:
    """The numbers in capitals at the top of each module, and the fields of thresholds."""
    for module in other_modules():
        name = module.removeprefix("steelyard.")
        yield from (f"{name}:{each.name}" for each in thresholds_of(module))
    for module, path in modules():
        yield from (f"{module}:{each.name}" for each in thresholds_of(f"{PACKAGE}.{module}"))
        values = vars(import_module(f"{PACKAGE}.{module}"))
        yield from (
            f"{module}:{name}"
            for name in assigned_names(path)
            if name.isupper() and is_number(values[name])
        )


def assigned_names(path: Path) -> Iterator[str]:
    """The names that a module assigns at its top, with or without a type."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign) and node.value is not None
            else []
        )
        yield from (
            name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
        )


def is_number(value: Any) -> bool:
    return (
        all(map(is_number, value)) and bool(value)
        if isinstance(value, tuple)
        else isinstance(value, int | float) and not isinstance(value, bool)
    )

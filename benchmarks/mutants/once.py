"""Bugs that were planted once and lived, and the tests that notice them now."""

from __future__ import annotations

STATISTICS, LAWS = "tests/statistics/test_", "tests/laws/"
ONCE = {
    "weights of 1/σ² in weighted least squares": (
        f"{STATISTICS}least_squares.py::"
        "test_weights_are_one_over_the_residual_deviation_of_statsmodels"
    ),
    "degrees of freedom": (
        f"{STATISTICS}least_squares.py::"
        "test_weights_are_one_over_the_residual_deviation_of_statsmodels"
    ),
    "robust weights without their root": (
        f"{STATISTICS}robust.py::test_of_one_joint_it_is_the_robust_regression_of_statsmodels"
    ),
    "the factor of the median absolute deviation": (
        f"{STATISTICS}robust.py::test_the_scale_of_normal_noise_is_its_standard_deviation"
    ),
    "the strength of ridge": f"{STATISTICS}penalties.py::test_ridge_is_its_normal_equations",
    "inflation by autocorrelation": (
        f"{STATISTICS}autocorrelation.py::test_inflation_is_the_long_run_variance_over_the_variance"
    ),
    "the cutoff against aliases": (
        f"{STATISTICS}filters.py::"
        "test_decimation_filters_at_four_fifths_of_the_new_nyquist_frequency"
    ),
    "dropped cells of the score": (
        f"{STATISTICS}covariance.py::"
        "test_scores_and_information_of_cells_equal_the_sums_over_their_rows"
    ),
    "the overlap of parts of a long log": (
        f"{STATISTICS}filters.py::test_overlapping_parts_of_a_long_log_equal_the_whole"
    ),
    "the velocity limit of a mimic joint": (
        f"{LAWS}mechanism/test_mechanism_mimic_limits.py::"
        "test_a_joint_that_mimics_at_twice_the_speed_halves_the_speed_that_is_allowed"
    ),
    "the frame missing from a kernel's key": (
        f"{LAWS}compiler/test_kernel_keys.py::"
        "test_kernels_that_differ_in_one_option_compute_different_things"
    ),
    "a file's content missing from the cache's key": (
        "tests/backends/test_cache_recall.py::"
        "test_sources_differ_by_what_is_in_a_file_of_the_same_name_and_length"
    ),
    "llvmlite's version missing from the cache's key": (
        "tests/backends/test_cache_recall.py::"
        "test_code_depends_on_program_processor_compiler_and_sources"
    ),
}

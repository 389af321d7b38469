"""Rows without the zeros of their structure, blocks of them on several threads, and long logs by
windows: the same as all of it.
"""

from __future__ import annotations

from dataclasses import replace
from threading import get_ident
from time import sleep

import numpy as np
import pytest

import steelyard as sy
from steelyard.compiler.ir.program import select_entries
from steelyard.compiler.runtime.fold_rows import Triangles
from steelyard.compiler.runtime.kernel import Kernel
from steelyard.compiler.runtime.threads import mapped, thread_count
from steelyard.errors import CallError
from steelyard.identification.model.accumulator import Accumulator
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.model_options import ModelOptions
from steelyard.identification.model.problem import Problem
from steelyard.identification.model.rows import ColumnSupport, Rows, gathered
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.result.residuals import residuals
from steelyard.identification.samples import noise
from steelyard.identification.samples.preparation import Preparation
from steelyard.identification.samples.repeats import (
    apart,
    find_period,
    gaussian_smoothed,
    thinned_return,
)
from steelyard.identification.samples.samples_thresholds import THRESHOLDS
from steelyard.kernels import program
from steelyard.signals.segments import windows
from tests.motions import fourier, recorded, rubbing

REACH = ColumnSupport([(2,), (0, 1, 3, 4), tuple(range(6))])


def problem_of(seconds: float = 60.0, decimate: int = 1, **model: object) -> Problem:
    robot = rubbing(sy.load("spatial_3r"))
    return Problem(
        build_model(robot, ModelOptions(**model)),
        (prepare(robot, recorded(robot, seconds, 200.0, 0.1), Preparation()),),
        decimate,
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "model", [{}, {"friction": ("viscous", "coulomb", "stribeck", "load")}, {"hold": ("link2.m",)}]
)
def test_entries_are_the_rows_without_their_zeros(model: dict[str, object]) -> None:
    options = ModelOptions(**model)  # type: ignore[arg-type]
    unknowns = build_model(rubbing(sy.load("spatial_3r")), options)
    states = fourier(3, 2.0, 100.0)[1:]
    rows = Rows(unknowns.entries(*states), unknowns.reach, unknowns.base.n_base)
    np.testing.assert_allclose(rows.dense, unknowns.rows(*states), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(gathered(rows.dense, rows.reach), rows.entries)
    base = np.arange(1.0, rows.width + 1)
    np.testing.assert_allclose(rows @ base, rows.dense @ base, rtol=1e-12, atol=1e-9)


def test_one_more_column_for_each_row(rng: np.random.Generator) -> None:
    rows, own = Rows(rng.normal(size=(7, 11)), REACH, 6), rng.normal(size=(7, 3))
    wide = rows.with_columns(own)
    np.testing.assert_array_equal(wide.dense[:, :, :6], rows.dense)
    np.testing.assert_array_equal(wide.dense[:, :, 6:], own[:, :, None] * np.eye(3))
    np.testing.assert_array_equal(Rows.of(wide.dense).dense, wide.dense)


@pytest.mark.parametrize("weighed", [False, True])
def test_entries_fold_to_the_bits_of_whole_rows(rng: np.random.Generator, weighed: bool) -> None:
    rows, tau = Rows(rng.normal(size=(500, 11)), REACH, 6), rng.normal(size=(500, 3))
    weights = rng.uniform(size=(500, 3)) if weighed else None
    if weights is not None:  # what has no weight may be anything
        weights[::7], rows.entries[::7], tau[::7] = 0.0, np.nan, np.inf
    whole, sparse_rows = Triangles(REACH), Triangles(REACH)
    whole.fold(rows.dense, tau, weights)
    sparse_rows.fold_entries(rows.entries, tau, weights, threads=2)
    np.testing.assert_array_equal(whole.memory, sparse_rows.memory)
    assert np.all(np.isfinite(whole.memory))


def test_rows_of_another_model_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(CallError, match="different models"):
        Accumulator.empty(((0, 1),), 2).fold_rows(
            Rows(rng.normal(size=(5, 11)), REACH, 6), rng.normal(size=(5, 3))
        )


def test_a_program_of_some_scalars_computes_those(rng: np.random.Generator) -> None:
    robot = sy.load("planar_2r")
    whole, picked = program(robot.tree, "regressor"), [3, 0, 25]
    few = select_entries(whole, picked)
    assert len(few.steps) < len(whole.steps)
    states = rng.normal(size=(3, 40, 2))
    np.testing.assert_allclose(
        Kernel(few)(*states), robot.regressor(*states).reshape(40, -1)[:, picked], rtol=1e-13
    )


@pytest.mark.parametrize("decimate", [1, 7])
def test_threads_do_not_change_a_bit_of_what_is_accumulated(decimate: int) -> None:
    results = []
    for count in (1, 2, 3):
        problem = problem_of(decimate=decimate)
        with sy.threads(count):
            residual = residuals(problem, problem.prior, np.ones(3))
            results.append(
                [
                    *(R for fold in problem.folds for R in fold.factors),
                    residual.predicted,
                    residual.scores,
                    residual.information,
                ]
            )
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_parts_are_those_of_consecutive_samples() -> None:
    problem = problem_of()
    Y, tau = (
        np.concatenate(x)
        for x in zip(*((block.Y, block.tau) for block in problem.blocks()), strict=True)
    )
    parts = np.arange(len(tau)) * 8 // len(tau)
    for k, fold in enumerate(problem.folds):
        own = Accumulator.empty(problem.reach, problem.base.n_base).fold(
            Y[parts == k], tau[parts == k]
        )
        assert fold.counts == own.counts
        np.testing.assert_allclose(
            fold.triangle().T @ fold.triangle(),
            own.triangle().T @ own.triangle(),
            rtol=1e-10,
            atol=1e-8,
        )


def test_scores_and_information_are_those_of_the_rows() -> None:
    problem = problem_of(20.0)
    weights = np.array([1.0, 2.0, 0.5])
    residual = residuals(problem, problem.prior, weights)
    (block,) = problem.blocks()
    e = block.tau - block.Y @ problem.prior
    np.testing.assert_allclose(residual.values, e, atol=1e-9)
    np.testing.assert_allclose(
        residual.scores.sum(axis=0),
        np.einsum("tjb,tj->b", block.Y, weights**2 * e),
        rtol=1e-8,
        atol=1e-8,
    )
    weighed = (block.Y * weights[:, None]).reshape(-1, problem.base.n_base)
    np.testing.assert_allclose(
        residual.information.sum(axis=0), weighed.T @ weighed, rtol=1e-9, atol=1e-9
    )


def test_a_pass_that_is_broken_off_is_not_kept() -> None:
    problem = problem_of()
    next(problem.blocks())
    assert sum(len(block.t) for block in problem.blocks()) == problem.N
    assert sum(len(block.t) for block in problem.blocks()) == problem.N


def test_results_come_in_order_from_several_threads_with_one_each() -> None:
    def late(i: int) -> tuple[int, int, int]:
        sleep(0.002 * (5 - i % 5))
        return i, thread_count(), get_ident()

    with sy.threads(3):
        results = list(mapped(late, range(20)))
    assert [i for i, *_ in results] == list(range(20))
    assert {count for _, count, _ in results} == {1}
    assert len({thread for *_, thread in results}) > 1
    with sy.threads(1):
        assert {thread for *_, thread in mapped(late, range(3))} == {get_ident()}


def test_an_error_in_a_thread_is_raised() -> None:
    with sy.threads(2), pytest.raises(ZeroDivisionError):
        list(mapped(lambda i: 1 / (3 - i), range(6)))


def test_windows_are_spread_over_a_stretch() -> None:
    assert windows(slice(5, 105), 100, 4) == [slice(5, 105)]
    parts = windows(slice(5, 10_005), 100, 4)
    assert [part.stop - part.start for part in parts] == [25] * 4
    assert (parts[0].start, parts[-1].stop) == (5, 10_005)


def test_long_logs_repeat_and_are_noisy_like_short_ones(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that is read by windows has the period, and the noise within a few percent, of the same
    log that is read whole.
    """
    log = recorded(sy.load("planar_2r"), 200.0, 100.0)
    log = log.replace(q=log.q + 1e-4 * rng.normal(size=log.q.shape))
    whole = (
        find_period(log),
        noise.rough(log.q),
        np.std(apart(log.t, log.q, 10.0)),
        thinned_return(log.q),
    )
    for field in ("noise_samples", "period_samples"):
        monkeypatch.setitem(vars(THRESHOLDS), field, 4096)
    few = (
        find_period(log),
        noise.rough(log.q),
        np.std(apart(log.t, log.q, 10.0)),
        thinned_return(log.q),
    )
    assert whole[0] == few[0] == pytest.approx(10.0, abs=1e-12)
    np.testing.assert_allclose(few[1], whole[1], rtol=0.05)
    assert few[2] == pytest.approx(whole[2], rel=0.05)
    assert few[2] == pytest.approx(1e-4, rel=0.05)
    assert np.abs(np.subtract(few[3], whole[3])).max() <= 2 * 5  # means of five neighbours
    never = replace(log, q=log.q + 1e-2 * log.t[:, None])
    assert find_period(never) is None


@pytest.mark.parametrize("width", [40.0, 200.0])
def test_a_wide_window_is_the_gaussian_whichever_way_it_is_applied(
    rng: np.random.Generator, width: float
) -> None:
    x = rng.normal(size=(3000, 2)).cumsum(axis=0)
    k = np.arange(-int(4 * width + 0.5), int(4 * width + 0.5) + 1)
    window = np.exp(-0.5 * (k / width) ** 2)
    padded = np.pad(x, ((len(k) // 2, len(k) // 2), (0, 0)), "edge")
    expected = np.stack(
        [np.convolve(column, window / window.sum(), "valid") for column in padded.T], axis=1
    )
    np.testing.assert_allclose(gaussian_smoothed(x, width), expected, atol=1e-10 * np.abs(x).max())

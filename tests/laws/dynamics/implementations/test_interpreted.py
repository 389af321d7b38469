"""Algorithms without compiling give the kernels' numbers, and refuse what kernels refuse.

Compiling says how far it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import steelyard as sy
from benchmarks.chains import chain
from steelyard.compiler import progress
from steelyard.compiler.runtime import kernel as compiled
from steelyard.kernels import ALGORITHMS
from tests.laws.dynamics import running
from tests.laws.dynamics.law import close, runs
from tests.zoo import case


@pytest.mark.parametrize("name", ["lift", "hand"])
def test_an_interpreted_algorithm_is_the_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = case(name)
    reference = [a for a in ALGORITHMS if runs(a, name) and not a.endswith("regressor")]
    expected = {a: running.by_kernel(x, a, running.inputs(x, a)) for a in reference}
    monkeypatch.setattr(
        compiled, "_compile", lambda program: pytest.fail(f"{program.name} is compiled")
    )
    for a in reference:
        result = x.robot.interpreted(a, running.frame_of(x, a))(*running.inputs(x, a))
        for one, other in zip(
            result if isinstance(result, tuple) else (result,), expected[a], strict=True
        ):
            close(one, other, 1e-9, a)


def test_batches_broadcast() -> None:
    robot = sy.load("planar_2r")
    q, qd = np.zeros((4, 1, 2)), np.ones((3, 2))
    result = robot.interpreted("coriolis_matrix")(q, qd)
    assert result.shape == (4, 3, 2, 2)
    close(result, robot.coriolis_matrix(q, qd))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("mass_matrx",), "interpreted: no algorithm is called 'mass_matrx'; .*mass_matrix"),
        (("mass_matrix", "link2"), "mass_matrix is not about a frame"),
        (("jacobian", "nowhere"), "nowhere"),
    ],
)
def test_what_is_no_algorithm_is_refused(arguments: Any, words: str) -> None:
    with pytest.raises(sy.CallError, match=words):
        sy.load("planar_2r").interpreted(*arguments)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (([0.0, 0.0, 0.0],), r"q has shape \(3,\), expected \(..., 2\)"),
        (([0.0, 0.0], [0.0, 0.0]), "takes 1 arrays"),
        ((["a", "b"],), "not an array of real numbers"),
        (([1j, 0.0],), "not an array of real numbers"),
    ],
)
def test_wrong_arrays_are_refused(arrays: Any, words: str) -> None:
    with pytest.raises(sy.CallError, match=words):
        sy.load("planar_2r").interpreted("mass_matrix")(*arrays)


def test_compiling_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path))
    messages: list[tuple[str, float]] = []
    with sy.compile_progress(lambda *message: messages.append(message)):
        chain(3, seed=1).mass_matrix(np.zeros(3))
        assert not messages, "nothing is said of what is done in less than a second"
        monkeypatch.setattr(progress, "PATIENCE", 0.0)
        chain(3, seed=2).mass_matrix(np.zeros(3))
    chain(3, seed=3).mass_matrix(np.zeros(3))
    shares = [share for _, share in messages]
    assert {sentence for sentence, _ in messages} == {"compiling mass matrix"}
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert {progress.TRACED, progress.RENDERED} <= set(shares)


def test_progress_takes_a_function() -> None:
    with (
        pytest.raises(sy.CallError, match="compile_progress takes a function"),
        sy.compile_progress("loud"),
    ):  # type: ignore[arg-type]
        pass

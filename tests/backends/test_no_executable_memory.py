"""Without executable memory, kernels are interpreted, with a warning and equal numbers."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux is asked whether memory may be executable"
)
RESULTS = """
import ctypes, json, pickle, sys, warnings
import numpy as np

if sys.argv[1] == "forbidden":
    assert ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) == 0  # PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
import steelyard as sy
from steelyard.compiler.runtime import elf

if sys.argv[1] == "failing":
    def refuse(code):
        raise RuntimeError(
            "the system does not let this process make code executable: Permission denied"
        )
    elf._executable = refuse
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    robot = sy.load("planar_2r").with_friction(1.0, 2.0)
    q, out = np.array([0.1, 0.2]), np.empty((3, 2))
    results = [robot.inverse_dynamics(q, q, q) for _ in range(3)]
    results += [robot.inverse_dynamics(np.ones((3, 2)), q, q, out=out), out]
    results += [pickle.loads(pickle.dumps(robot.gravity_torque))(q), robot.kernel("mass_matrix")(q)]
    results += robot.tick("jacobian", "kinetic_energy")(q, q)
    results += [robot.forward_dynamics(q, q, q, wrench=np.ones((2, 6))), robot.jacobian(q)]
    results += [robot.kinetic_energy(q, q), sy.simulate(robot, seconds=0.05).q[-1]]
    results += [sy.inverse_kinematics(robot, robot.forward_kinematics(q)).best]
    t = np.arange(0, 3, 0.01)
    motion = np.stack([np.sin(2 * t) + np.sin(5 * t), np.cos(3 * t) - np.sin(4 * t)], 1)
    first, second = 2 * np.cos(2 * t) + 5 * np.cos(5 * t), -3 * np.sin(3 * t) - 4 * np.cos(4 * t)
    velocity = np.stack([first, second], 1)
    first = -4 * np.sin(2 * t) - 25 * np.sin(5 * t)
    second = -9 * np.cos(3 * t) + 16 * np.sin(4 * t)
    acceleration = np.stack([first, second], 1)
    tau = robot.inverse_dynamics(motion, velocity, acceleration)
    tau = tau + 0.1 * np.random.default_rng(0).normal(size=tau.shape)
    log = sy.Log(t=t, q=motion, qd=velocity, qdd=acceleration, tau=tau)
    results.append(sy.identify(robot, log, estimator="wls").base_values)
    try:
        robot.inverse_dynamics(q, q, np.ones(3))
    except sy.CallError as error:
        sentence = str(error)
messages = [str(each.message) for each in caught if "interprets" in str(each.message)]
print(json.dumps([[np.asarray(x).tolist() for x in results], messages, sentence]))
"""


def results(how: str, root: Path, folder: Path) -> list[Any]:
    """Return the results of the script, its warnings, and the sentence of an error."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "STEELYARD_CACHE": str(folder)}
    run = subprocess.run(
        [sys.executable, "-c", RESULTS, how],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def compiled(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], Path]:
    folder = tmp_path_factory.mktemp("cache")
    return results("allowed", root, folder), folder


def can_forbid() -> bool:
    """Return whether this Linux can forbid a process to make memory executable (6.3 or newer)."""
    return ctypes.CDLL(None).prctl(66, 0, 0, 0, 0) >= 0  # PR_GET_MDWE


@pytest.mark.parametrize("how", ["forbidden", "failing"])
def test_kernels_are_interpreted_with_a_warning(
    how: str, compiled: tuple[list[Any], Path], root: Path, tmp_path: Path
) -> None:
    if how == "forbidden" and not can_forbid():
        pytest.skip("this Linux cannot forbid executable memory")
    (expected, none, sentence), warm = compiled
    assert none == []
    for folder in (warm, tmp_path):  # with machine code on disk and without
        interpreted, messages, same = results(how, root, folder)
        assert len(messages) == 1
        assert "MemoryDenyWriteExecute=no" in messages[0]
        assert same == sentence
        for a, b in zip(interpreted, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("count", [1, 3, 100])
def test_factors_folded_by_numpy_are_those_of_the_compiled_loop(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from steelyard.compiler.runtime.fold_rows import Triangles, fold_by_numpy

    rng = np.random.default_rng(count)
    reach = ((0, 2, 3), (1, 2), (0, 1, 2, 3))
    Y, tau, weights = (
        rng.normal(size=(count, 3, 4)),
        rng.normal(size=(count, 3)),
        rng.uniform(0.5, 2.0, (count, 3)),
    )
    weights[0, 1], Y[0, 1] = 0.0, np.nan  # not read
    entries = np.concatenate(
        [np.nan_to_num(Y[:, j, list(columns)]) for j, columns in enumerate(reach)], axis=1
    )
    grams = []
    for numpy in (False, True):
        if numpy:
            monkeypatch.setattr(
                "steelyard.compiler.runtime.fold_rows._fold_function", lambda rows: fold_by_numpy
            )
        triangles, more = Triangles(reach), Triangles(reach)
        triangles.fold(Y, tau, weights)
        triangles.fold_entries(entries, tau, None, 2)
        more.fold_joined(np.concatenate([np.nan_to_num(Y).reshape(count, -1), tau], axis=1), 4)
        triangles.absorb(more.factors)
        grams.append([R.T @ R for R in triangles.factors])
        assert all(np.array_equal(R, np.triu(R)) for R in triangles.factors)
    for a, b in zip(*grams, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)

"""The self-check finds that good robots obey physics, and names the law that a planted defect
breaks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import steelyard as sy


class Tampered:
    """A robot of which one method returns something else."""

    def __init__(self, robot: sy.Robot, method: str, change: Callable[[Any], Any]) -> None:
        self.robot, self.method, self.change = robot, method, change

    def __getattr__(self, name: str) -> Any:
        result = getattr(self.robot, name)
        return (
            (lambda *arguments: self.change(result(*arguments))) if name == self.method else result
        )


def lopsided(M: np.ndarray) -> np.ndarray:
    M = M.copy()
    M[..., 0, 1] *= 1.001
    return M


DEFECTS = {
    "symmetry": ("mass_matrix", lopsided),
    "definiteness": (
        "mass_matrix",
        lambda M: M - 2 * np.max(np.linalg.eigvalsh(M)) * np.eye(M.shape[-1]),
    ),
    "skewness": ("coriolis_matrix", lambda C: C + 1e-3 * np.eye(C.shape[-1]) * np.abs(C).max()),
    "splitting": ("gravity_torque", lambda g: g * (1 + 1e-6)),
    "linearity": ("regressor", lambda Y: Y * (1 + 1e-6)),
    "inversion": ("forward_dynamics", lambda qdd: qdd * (1 + 1e-6)),
    "power": ("potential_energy", lambda U: U * (1 + 1e-4)),
    "momentum": ("momentum", lambda p: p * (1 + 1e-6)),
    "jacobian rate": ("jacobian_rate", lambda rate: rate * (1 + 1e-6)),
    **{
        f"{which} derivatives": (
            f"{which}_dynamics_derivatives",
            lambda by, k=k: (*by[:k], by[k] * (1 + 1e-5), *by[k + 1 :]),
        )
        for k, which in enumerate(("inverse", "forward"))
    },
}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in sy.robots(installed=False)
        if name == "four_bar" or not sy.load(name).mechanism.loops
    ],
)
def test_built_in_robots_obey_physics(name: str) -> None:
    result = sy.check(sy.load(name))
    assert result.ok, str(result)
    assert "obeys all" in str(result)


@pytest.mark.parametrize("law", DEFECTS)
def test_a_planted_defect_is_named(law: str) -> None:
    result = sy.check(Tampered(sy.load("elbow_6r"), *DEFECTS[law]))  # type: ignore[arg-type]
    assert not result.ok
    assert law in result.verdict
    assert f"FAILS  {law}" in str(result)


def spinning_rotors(name: str, ratio: float) -> sy.Robot:
    """A robot whose rotors spin on the links that carry them, and so are felt there."""
    return sy.load(name).without_friction().with_rotors(0.1, ratio=ratio)


ROTORS = [("planar_2r", 1.0), ("elbow_6r", 20.0), ("puma560", -60.0)]


@pytest.mark.parametrize(("name", "ratio"), ROTORS)
def test_robots_with_spinning_rotors_obey_physics(name: str, ratio: float) -> None:
    result = sy.check(spinning_rotors(name, ratio))
    assert result.ok, str(result)


@pytest.mark.parametrize(("name", "ratio"), ROTORS)
def test_derivatives_that_leave_out_spinning_rotors_are_noticed(name: str, ratio: float) -> None:
    robot = spinning_rotors(name, ratio)
    without = sy.load(name).without_friction().with_rotors(0.1)

    class Forgetful(Tampered):
        def __getattr__(self, attribute: str) -> Any:
            return getattr(without if attribute == self.method else robot, attribute)

    for which in ("inverse", "forward"):
        forgetful: Any = Forgetful(robot, f"{which}_dynamics_derivatives", np.array)
        result = sy.check(forgetful)
        assert f"FAILS  {which} derivatives" in str(result)


@pytest.mark.parametrize(
    "method", sorted({method for method, _ in DEFECTS.values()} - {"mass_matrix"})
)
def test_a_nan_is_never_passed_over(method: str) -> None:
    def poison(values: np.ndarray) -> np.ndarray:
        poisoned = np.array(values)
        poisoned.flat[-1] = np.nan
        return poisoned

    tampered: Any = Tampered(sy.load("spatial_3r"), method, poison)
    assert not sy.check(tampered).ok


def test_how_far_a_mass_matrix_is_from_definite_is_said() -> None:
    """Its least eigenvalue below zero over its largest.

    Of M - 1.5 max M in units of the largest, the spread of M decides.
    """
    robot = sy.load("elbow_6r")
    less = Tampered(
        robot,
        "mass_matrix",
        lambda M: M - 0.5 * np.max(np.linalg.eigvalsh(M)) * np.eye(M.shape[-1]),
    )
    laws = sy.check(less).laws  # type: ignore[arg-type]
    (law,) = [each for each in laws if each.name == "definiteness"]
    assert 0.9 < law.violation < 1.1, (
        "the least is all but minus half of the largest, which is half of itself"
    )

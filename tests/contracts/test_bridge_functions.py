"""Functions that bridges offer: one typed property per row of the catalogue."""

from __future__ import annotations

import inspect

import pytest

import steelyard as sy
from steelyard.bridges.robot_functions import RobotFunctions
from steelyard.robot.bridges import OF_CLOSED_LOOPS, OF_LOOPS

PROPERTIES = {
    name: value for name, value in vars(RobotFunctions).items() if isinstance(value, property)
}


def test_every_function_has_a_property() -> None:
    assert list(PROPERTIES) == [*sy.Robot._single_calls, *OF_LOOPS, *OF_CLOSED_LOOPS]


@pytest.mark.parametrize("robot", ["planar_2r", "four_bar"])
def test_the_catalogue_of_a_robot_has_only_functions_with_a_property(robot: str) -> None:
    assert set(sy.load(robot)._catalogue().entries) <= set(PROPERTIES)


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_is_described_as_the_method_is(name: str) -> None:
    method = inspect.getdoc(getattr(sy.Robot, name))
    described = inspect.getdoc(PROPERTIES[name])
    assert method
    assert described
    assert described.splitlines()[0] == method.splitlines()[0]

"""Options of `simulate`: the signature, the groups of options and their keywords agree."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.option_groups.simulation import StepOptions
from steelyard.options import options_of
from steelyard.simulation import SimulationOptions, run_gradient, sensitivities
from steelyard.simulation.options import SimulationKeywords

FUNCTIONS = (sy.simulate, sensitivities, run_gradient)
MOST_PARAMETERS = 12


def test_keywords_are_the_fields_of_the_group() -> None:
    written = {each.name: each.type for each in fields(SimulationOptions)}
    assert {name: _text(kind) for name, kind in SimulationKeywords.__annotations__.items()} == {
        name: _text(kind) for name, kind in written.items()
    }
    assert not SimulationKeywords.__required_keys__


def _text(kind: Any) -> str:
    """Return an annotation as it is written."""
    return kind if isinstance(kind, str) else str(kind.__forward_arg__)


@pytest.mark.parametrize("group", [StepOptions, SimulationOptions])
def test_every_field_is_an_option_with_a_sentence(group: type) -> None:
    assert sorted(x.name for x in options_of(group)) == sorted(x.name for x in fields(group))
    assert all(each.spec.help.endswith(".") for each in options_of(group))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_defaults_of_steps_are_those_of_the_group(function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    for each in options_of(StepOptions):
        assert parameters[each.name].default == each.default
    assert len(parameters) <= MOST_PARAMETERS


def test_a_group_and_its_keywords_are_the_same() -> None:
    arm = sy.load("planar_2r")
    options = SimulationOptions(saturate=True, base_twist0=np.zeros(6))
    one = sy.simulate(arm, [1e6, 0.0], seconds=0.01, saturate=True)
    other = sy.simulate(arm, [1e6, 0.0], seconds=0.01, options=SimulationOptions(saturate=True))
    np.testing.assert_array_equal(one.q, other.q)
    keyword = sy.simulate(arm, seconds=0.01, options=options, base_twist0=None)
    assert keyword.base_pose is None, "a keyword takes precedence over the group"


def test_wrong_options_are_named() -> None:
    arm: Any = sy.load("planar_2r")
    unknown: Any = {"saturat": True}
    with pytest.raises(sy.CallError, match=r"simulate has no option called 'saturat'; did you me"):
        sy.simulate(arm, **unknown)
    with pytest.raises(sy.CallError, match=r"options must be SimulationOptions\(\.\.\.\), not"):
        sy.simulate(arm, options={"saturate": True})  # type: ignore[arg-type]

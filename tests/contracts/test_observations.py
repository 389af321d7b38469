"""Every observation: names, units and predictions agree, and what it does not allow is refused."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError
from steelyard.identification.build_problem import OBSERVATIONS, choose_observation
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.problem import Problem
from steelyard.identification.observations.observation import EVERY_STEP, Observation
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.samples.preparation import Preparation
from tests.laws.identification.observations.test_base_wrench import plate_log, robots, torque_log
from tests.laws.identification.observations.test_loops import drive_log, five_bars

KINDS = {type(each).__name__: each for each in OBSERVATIONS}


@cache
def case(name: str) -> tuple[sy.Robot, sy.Log]:
    """A described robot, and a log of the true one that has such rows."""
    if name == "DriveTorques":
        described, true = five_bars()
        return described, drive_log(true)
    described, true = robots()
    return described, (plate_log if name == "BaseWrenches" else torque_log)(true)


@cache
def samples(name: str):
    robot, log = case(name)
    return prepare(robot, log, Preparation(), KINDS[name])


@pytest.mark.parametrize("name", KINDS)
def test_a_log_chooses_its_observation(name: str) -> None:
    robot, log = case(name)
    assert choose_observation(robot, [log]) == KINDS[name]


@pytest.mark.parametrize("name", KINDS)
def test_rows_have_names_and_units(name: str) -> None:
    (robot, _), observation = case(name), KINDS[name]
    rows = samples(name).tau.shape[1]
    assert len(observation.row_names(robot)) == len(observation.row_units(robot)) == rows
    assert set(observation.row_units(robot)) <= {"N", "N m"}
    assert build_model(robot, observation=observation).n == rows


@pytest.mark.parametrize("name", KINDS)
def test_the_regressor_times_the_parameters_is_the_prediction(name: str) -> None:
    (robot, _), observation, states = case(name), KINDS[name], samples(name).states
    pi = np.concatenate([robot.parameters, observation.constant_parameters(robot)])
    rows = observation.predictor(robot)(*states)
    assert np.allclose(observation.regressor(robot, *states) @ pi, rows, atol=1e-9)


@pytest.mark.parametrize("name", KINDS)
def test_the_rows_of_a_problem_are_those_of_the_regressor(name: str) -> None:
    """Base columns times base parameters plus the held ones are the prediction of the model."""
    (robot, _), observation = case(name), KINDS[name]
    moving = samples(name).base is not None
    model = build_model(robot, observation=observation, moving=moving)
    block = Problem(model, (samples(name),)).block(Problem(model, (samples(name),)).places()[0])
    predict = observation.predictor(model.robot)
    rows = block.rows.dense @ model.base.values(model.start) + block.known
    assert np.allclose(rows, predict(*samples(name).part(slice(0, len(rows))).states), atol=1e-9)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("option", [{"delay": 0.01}, {"drive_gains": "all"}, {"elastic": True}])
def test_options_that_an_observation_does_not_allow_are_refused(
    name: str, option: dict[str, object]
) -> None:
    (robot, log), observation = case(name), KINDS[name]
    if next(iter(option)) in observation.allowed:
        return
    with pytest.raises(CallError, match=f"{next(iter(option))}= is not used for"):
        sy.identify(robot, log, **option)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", KINDS)
def test_an_observation_allows_known_steps_and_says_what_it_is(name: str) -> None:
    observation: Observation = KINDS[name]
    assert observation.allowed <= EVERY_STEP
    assert observation.case.startswith("a ")
    robot, _ = case(name)
    assert all(note.endswith(".") for note in observation.notes(robot))

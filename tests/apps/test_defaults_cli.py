"""What is not typed is what is not given in Python.

The defaults of the command line and of the functions are the same.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

import steelyard as sy
from steelyard.apps import cli
from steelyard.apps.config import config_keys
from steelyard.apps.group_options import expanded, options_of_command
from steelyard.checks.laws import check
from steelyard.checks.timing import against_pinocchio
from steelyard.identification.model.model_options import ModelOptions
from steelyard.identification.samples.preparation import Preparation
from steelyard.option_groups.excitation import ExcitationOptions
from steelyard.option_groups.payload import StaticPoseOptions
from steelyard.options import options_of
from steelyard.simulation import PD, ComputedTorque, FeedForward, SimulationOptions
from tests.apps.test_cli import Run, run

__all__ = ["run"]  # the fixture

OPTIONS = (Preparation, ModelOptions)
FUNCTIONS: dict[str, tuple[Callable[..., Any], ...]] = {  # command -> what it calls
    "identify": (sy.identify, sy.read_log, *OPTIONS),
    "fleet": (sy.identify_fleet, sy.read_log, *OPTIONS),
    "excite": (sy.excite, ExcitationOptions),
    "simulate": (
        sy.simulate,
        SimulationOptions,
        PD,
        ComputedTorque,
        FeedForward,
        sy.simulation.Run.log,
    ),
    "check": (check,),
    "ik": (sy.inverse_kinematics,),
    "payload": (sy.payload, sy.static_poses, StaticPoseOptions, sy.read_log),
    "doctor": (sy.read_log,),
    "validate": (sy.read_log,),
    "bench": (against_pinocchio,),
    "export": (sy.Robot.to_c,),
    "new": (sy.signals.Mapping,),
}
OWN = {
    ("simulate", "controller"): "none",
    ("demo", "robot"): "elbow_6r",
    ("demo", "seed"): 1,
    ("identify", "report"): True,
    ("page", "folder"): Path(),
    ("page", "host"): "127.0.0.1",
    ("page", "port"): 0,
}
"""Defaults that no function has: of options that only a command has, and of the demo."""


def defaults(function: Callable[..., Any]) -> dict[str, Any]:
    return {
        name: each.default
        for name, each in inspect.signature(function).parameters.items()
        if each.default is not each.empty
    }


@pytest.mark.parametrize("command", [command.__name__ for command in cli.COMMANDS])
def test_in_forceare_those_of_the_functions(command: str) -> None:
    function = next(each for each in cli.COMMANDS if each.__name__ == command)
    known: dict[str, list[Any]] = {}
    for other in FUNCTIONS.get(command, ()):
        for name, value in defaults(other).items():
            known.setdefault(name, []).append(value)
    for name, value in defaults(function).items():
        if value is None or value is False:
            # not given: the function is not told, which test_what_is_not_typed_is_not_said tests
            continue
        if (command, name) in OWN:
            assert value == OWN[command, name]
            continue
        assert name in known, (
            f"{command} --{name} = {value!r} is no default of a function: {sorted(known)}"
        )
        assert all(value == each for each in known[name]), (
            f"{command} --{name} = {value!r}, in Python {known[name]}"
        )


@pytest.mark.parametrize("command", FUNCTIONS)
def test_what_help_says_of_in_forceis_true(command: str) -> None:
    """'..., 100 if not given' names the default of the function."""
    function = next(each for each in cli.COMMANDS if each.__name__ == command)
    python = {
        name: value for other in FUNCTIONS[command] for name, value in defaults(other).items()
    }
    for each in expanded(function, options_of_command(function)):
        match = re.search(r"; ([0-9.]+) if not given", str(get_args(each.annotation)[1].help))
        if match and python.get(each.name) is not None:
            assert float(match[1]) == python[each.name], f"{command} --{each.name}"
    if command == "excite":
        from steelyard.experiments.excitation.excitation_thresholds import THRESHOLDS

        in_force = THRESHOLDS.seconds, THRESHOLDS.starts, THRESHOLDS.longest_time
        assert in_force == (20.0, 8, 600.0), "as the help says"


def test_what_is_not_typed_is_not_said(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the fewest words every argument that a function gets is its own default."""
    log = tmp_path / "log.csv"
    log.write_text(
        "t,q_joint1,q_joint2,tau_joint1,tau_joint2\n"
        + "\n".join(f"{k / 100},{k},{k},{k},{k}" for k in range(9))
    )
    values: dict[str, Any] = {}

    def watched(name: str) -> Callable[..., Any]:
        function = getattr(sy, name)

        def call(*arguments: Any, **options: Any) -> Any:
            bound = inspect.signature(function).bind(*arguments, **options)
            for words in ("options", "keywords"):  # of **options and **keywords
                values.update(bound.arguments.pop(words, {}))
            values.update(bound.arguments)
            raise sy.CallError("called")

        return call

    extra = {field.name: field.default for group in OPTIONS for field in fields(group)}
    simulated = {each.name: each.default for each in options_of(SimulationOptions)}
    own = ("robot", "log", "pose", "loaded", "progress", "options")
    for name, words in {
        "identify": ["identify", "planar_2r", log],
        "excite": ["excite", "planar_2r"],
        "simulate": ["simulate", "planar_2r"],
        "payload": ["payload", "planar_2r", log],
        "inverse_kinematics": ["ik", "planar_2r", "--xyz", "0,0,0"],
    }.items():
        values.clear()
        expected = defaults(getattr(sy, name)) | (extra if name == "identify" else {})
        expected |= simulated if name == "simulate" else {}
        with monkeypatch.context() as patch:
            patch.setattr(sy, name, watched(name))
            assert "called" in run(*words).err
        messages = {key: value for key, value in values.items() if key not in own}
        assert messages == {key: expected[key] for key in messages}, name


def test_a_file_of_options_takes_every_plain_option_of_identify() -> None:
    plain = {field.name for group in OPTIONS for field in fields(group)} - {"controller"}
    of_logs = {"joints", "freeze", "mapping", "effort", "damaged", "keep"}
    assert set(config_keys()) == plain | of_logs | {"estimator"}

"""The keywords of `identify` are the fields of its option groups, with their types."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from steelyard.identification import ModelOptions, Preparation
from steelyard.option_groups.identification import IdentifyKeywords
from steelyard.options import options_of

GROUPS = (Preparation, ModelOptions)
SCRIPT = """
import numpy as np
import steelyard as sy

robot = sy.load("planar_2r")
t = np.linspace(0.0, 1.0, 100)
log = sy.Log(t=t, q=np.zeros((100, 2)), tau=np.zeros((100, 2)))
fit = sy.identify(
    robot, log, "wls", friction="viscous", hold={"link1.m": 2.0}, mask=0.1, delay=[0.0, 0.01],
    coupling=[("joint1", "joint2")], known=lambda q, qd, qdd: 0.0 * q, known_mass=3.0, decimate=2
)
sy.identify(robot, log, coupling=sy.Coupling("joint1", "joint2"), elastic=["joint1"])
sy.simulate(robot, stops=sy.simulation.Stops(0.5), drive=sy.simulation.Elastic(1e4, inertia=1.0))
word: str = fit.verdict.word
std = fit.parameters_std + fit.relative_std
error: float = fit.total_relative_error + fit.condition
names: tuple[str, ...] = fit.unseen
band = fit.predict([0, 0], [0, 0], [0, 0]).low
rms = fit.validate(log).rms
"""
WRONG = """
fit.verdikt
sy.identify(robot, log, friktion=("viscous",))
sy.identify(robot, log, decimate="2")
sy.identify_fleet(robot, {"a": log, "b": log}, friktion=("viscous",))
sy.payload(robot, log, friktion=("viscous",))
sy.OnlineIdentifier(robot, friktion=("viscous",))
sy.simulate(robot, saturat=True)
sy.simulate(robot, stops="hard")
sy.read_log("run.csv", robot, angel="deg")
sy.find_logs("logs", rate="fast")
robot.to_jax().mas_matrix
robot.to_torch().mas_matrix
robot.to_casadi().mas_matrix
"""


def test_the_keywords_are_the_fields() -> None:
    keywords = {
        name: getattr(hint, "__forward_arg__", hint)
        for name, hint in IdentifyKeywords.__annotations__.items()
    }
    assert keywords == {each.name: each.type for group in GROUPS for each in fields(group)}


@pytest.mark.parametrize("group", GROUPS)
def test_every_field_is_an_option_with_help_and_panel(group: type) -> None:
    options = options_of(group)
    assert [each.name for each in options] == [each.name for each in fields(group)]
    for each in options:
        assert each.spec.help.endswith(".") or each.spec.help.endswith("...")
        assert len(each.spec.help) <= 90
        assert each.spec.panel


def test_mypy_accepts_a_correct_script_and_flags_misspelled_names(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + WRONG, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, script.name]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    first = SCRIPT.count("\n") + 2
    errors = [line for line in run.stdout.splitlines() if "error:" in line]
    assert len(errors) == 13, run.stdout + run.stderr
    assert all(f":{first + k}:" in line for k, line in enumerate(errors)), errors
    assert '"Fit" has no attribute "verdikt"' in errors[0]
    assert 'Unexpected keyword argument "friktion"' in errors[1]
    assert 'incompatible type "str"' in errors[2]
    assert all('Unexpected keyword argument "friktion"' in errors[k] for k in (3, 4, 5))
    assert 'Unexpected keyword argument "saturat"' in errors[6]
    assert 'incompatible type "str"; expected "bool | JointStops"' in errors[7]
    assert 'Unexpected keyword argument "angel"' in errors[8]
    assert 'incompatible type "str"; expected "float | None"' in errors[9]
    assert all('has no attribute "mas_matrix"' in errors[k] for k in (10, 11, 12))

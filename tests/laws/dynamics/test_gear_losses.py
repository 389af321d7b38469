"""Gear losses by the direction of the power: dissipation, efficiency, rest, and files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from tests.laws.dynamics.law import close

DRIVING, DRIVEN = (0.15, 0.3, 0.05), (0.4, 0.1, 0.95)


def lossy(
    driving: tuple[float, ...] = DRIVING, driven: tuple[float, ...] = DRIVEN, **terms: float
) -> sy.Robot:
    robot = sy.load("spatial_3r").without_friction()
    return robot.with_friction(driving=list(driving), driven=list(driven), **terms)


@cache
def states() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(3, 500, 3))


@pytest.mark.parametrize("width", [None, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_losses_take_power_at_every_state(seed: int, width: float | None) -> None:
    shares = np.random.default_rng(seed).uniform(0.0, 0.999, (2, 3))
    robot = lossy(*map(tuple, shares), **({} if width is None else {"width": width}))
    q, qd, _ = states()
    power = robot.friction_torque(qd, q) * qd
    assert np.all(power >= 0.0)
    assert np.any(power[:, 1:] > 0.0)


@pytest.mark.parametrize("width", [None, 0.3])
def test_equal_losses_are_friction_of_the_load(width: float | None) -> None:
    shape = {} if width is None else {"width": width}
    equal = lossy(DRIVEN, DRIVEN, **shape)
    symmetric = sy.load("spatial_3r").without_friction().with_friction(load=list(DRIVEN), **shape)
    close(equal.inverse_dynamics(*states()), symmetric.inverse_dynamics(*states()), 1e-14)


def test_efficiency_follows_from_the_losses() -> None:
    """Power at the links over power of the motor, or the inverse where the load drives."""
    robot, (q, qd, _) = lossy(), states()
    load, motor = robot.gravity_torque(q), robot.gravity_torque(q) + robot.friction_torque(qd, q)
    drives = load * qd > 0.0
    for j in (1, 2):  # joint 1 is vertical: it has no load
        forward, backward = drives[:, j], ~drives[:, j]
        np.testing.assert_allclose(load[forward, j] / motor[forward, j], 1 / (1 + DRIVING[j]))
        np.testing.assert_allclose(motor[backward, j] / load[backward, j], 1 - DRIVEN[j])


@pytest.mark.parametrize(("share", "moves"), [(0.62, -1), (0.7, 0), (1.1, 0), (1.2, 1)])
def test_a_joint_rests_between_its_two_losses(share: float, moves: int) -> None:
    """Between (1 - Flb) g and (1 + Fld) g, the torque of the motor moves nothing."""
    one = sy.load("planar_2r").freeze({"joint2": 0.0}).without_friction()
    one = one.with_friction(driving=0.15, driven=0.35)
    assert one.gravity_torque([0.2])[0] > 0.0
    tau = share * one.gravity_torque([0.2])
    run = sy.simulate(one, lambda t, q, qd: tau, q0=[0.2], seconds=0.05)
    assert np.sign(np.round(run.q[-1, 0] - 0.2, 9)) == moves


@pytest.mark.filterwarnings("ignore:.*principal moments:steelyard.SteelyardWarning")
def test_a_file_keeps_the_losses_and_its_errors_name_the_joint(tmp_path: Path) -> None:
    path = tmp_path / "robot.toml"
    lossy().to_toml(path)
    close(sy.load(path).inverse_dynamics(*states()), lossy().inverse_dynamics(*states()), 1e-12)
    text = path.read_text(encoding="utf-8")
    assert text.count("driven") == 3
    for before, after, words in (
        ("driven = 0.1", "driven = 1.0", r"joint2.*\(driven\) is 1; expected a number in \[0, 1\)"),
        ("driving = 0.3", "driving = -0.3", r"joint2.*\(driving\) is -0.3; expected a number in"),
        (", driven = 0.1", "", "joint2.* has driving but no driven, the gear loss per load"),
    ):
        assert before in text
        path.write_text(text.replace(before, after), encoding="utf-8")
        with pytest.raises(sy.ModelError, match=words):
            sy.load(path)

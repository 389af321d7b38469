"""A payload of known mass: its centre and inertia come back with the robot and the drive gains."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, LogError, ProblemError
from steelyard.identification import validate_robot
from steelyard.signals.write import to_npz
from tests.motions import recorded, rubbing

INERTIA = ((0.02, 0.001, 0.0), (0.001, 0.03, -0.002), (0.0, -0.002, 0.04))
LOAD = sy.Payload(5.0, (0.1, 0.02, 0.05), INERTIA)
FIXED = {"delay": 0, "coulomb_width": 0, "diagnose": False}
GAINS = (1.3, 0.8, 1.1)


@cache
def arm() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


def measured(seed: int, stated: sy.Payload | None = None, gains=1.0, noise=0.0) -> sy.Log:
    """A log of the arm, with the load if a payload is stated, of torques over the gains."""
    loaded = arm().with_payload(LOAD.mass, LOAD.com, LOAD.inertia)
    log = recorded(arm() if stated is None else loaded, seed=seed, noise=noise)
    return log.replace(tau=log.tau / np.asarray(gains), payload=stated)


def two(stated: sy.Payload, seed: int = 0, **more) -> list[sy.Log]:
    return [measured(2 * seed, **more), measured(2 * seed + 1, stated, **more)]


@pytest.mark.parametrize("estimator", ["wls", "sdp"])
@pytest.mark.parametrize("gains", [(), "all"], ids=["gains known", "gains unknown"])
def test_centre_and_inertia_of_a_known_mass_come_back(estimator: str, gains) -> None:
    start = arm().with_parameters(1.2 * arm().parameters)
    logs = two(sy.Payload(5.0), gains=GAINS if gains else 1.0)
    fit = sy.identify(start, logs, estimator, drive_gains=gains)
    (load,) = fit.payloads
    np.testing.assert_allclose(load.com, LOAD.com, rtol=1e-6)
    np.testing.assert_allclose(load.inertia, LOAD.inertia, atol=1e-6)
    np.testing.assert_allclose(fit.drive_gains, GAINS if gains else 1.0, rtol=1e-6)
    true = fit.base.values(arm().parameters)
    np.testing.assert_allclose(fit.base_values, true, rtol=1e-4, atol=1e-4)
    assert fit.validate(logs[1]).total_relative_error < 1e-4
    assert any("centre of mass x 0.1000" in note for note in fit.status)


def test_an_unknown_inertia_about_a_known_centre_comes_back() -> None:
    fit = sy.identify(arm(), two(sy.Payload(5.0, LOAD.com)), "wls", **FIXED)
    (load,) = fit.payloads
    np.testing.assert_allclose(load.inertia, LOAD.inertia, atol=1e-6)
    assert np.all(load.com_std == 0)


def test_equal_payloads_are_one_load_in_another_frame() -> None:
    robot = arm()
    stated = sy.Payload(5.0, frame="link2")
    loaded = robot.with_payload(5.0, LOAD.com, LOAD.inertia, "link2")
    logs = [recorded(robot), *(recorded(loaded, seed=k).replace(payload=stated) for k in (1, 2))]
    (load,) = sy.identify(robot, logs, "wls", **FIXED).payloads
    assert load.frame == "link2"
    np.testing.assert_allclose(load.com[:2], LOAD.com[:2], rtol=1e-5)


def test_the_standard_deviations_of_a_payload_and_the_gains_are_those_of_repeated_logs() -> None:
    fits = [
        sy.identify(
            arm(),
            two(sy.Payload(5.0), seed=k, gains=GAINS, noise=0.5),
            "wls",
            drive_gains="all",
            **FIXED,
        )
        for k in range(12)
    ]
    z = [(fit.payloads[0].com - LOAD.com) / fit.payloads[0].com_std for fit in fits]
    z += [(fit.drive_gains - GAINS) / fit.drive_gain_std for fit in fits]
    assert 0.75 < np.sqrt(np.mean(np.square(z))) < 1.3
    scale = [np.mean(fit.drive_gains / GAINS) - 1.0 for fit in fits]
    stated = np.sqrt(np.mean([fit.torque_scale_std**2 for fit in fits]))
    assert 0.5 < np.sqrt(np.mean(np.square(scale))) / stated < 1.6


def test_torque_constants_come_back_from_currents() -> None:
    constants = (12.0, 8.0, 5.0)
    logs = [
        log.replace(current=log.tau, tau=None)
        for log in two(sy.Payload(5.0), gains=constants, noise=0.2)
    ]
    fit = sy.identify(arm(), logs, drive_gains="all")
    np.testing.assert_allclose(fit.drive_gains, constants, rtol=5e-3)
    assert np.all(np.abs(fit.drive_gains - constants) < 4 * fit.drive_gain_std)
    assert fit.verdict.word in ("trusted", "trusted within"), fit.verdict.reasons
    assert fit.validate(logs[1]).total_relative_error < 0.05
    assert any("torque constants" in note for note in fit.status)
    with pytest.raises(LogError, match=r"drive_gains='all'.*payload of known mass"):
        sy.identify(arm(), logs)


def test_a_payload_that_every_log_carries_cannot_be_separated() -> None:
    logs = [measured(seed, sy.Payload(5.0)) for seed in (0, 1)]
    with pytest.raises(ProblemError, match="add a log without this payload, or give com="):
        sy.identify(arm(), logs, **FIXED)
    fit = sy.identify(arm(), measured(1, sy.Payload(5.0, LOAD.com)), "wls", **FIXED)
    assert any("it is part of that link" in note for note in fit.status)
    point = arm().with_payload(0.0, LOAD.com, LOAD.inertia)
    np.testing.assert_allclose(
        fit.base_values, fit.base.values(point.parameters), rtol=1e-4, atol=1e-4
    )


def test_other_functions_refuse_a_payload_that_is_not_known(tmp_path: Path) -> None:
    fit = sy.identify(arm(), measured(0), **FIXED)
    log = measured(1, sy.Payload(5.0))
    for call in (
        lambda: fit.validate(log),
        lambda: validate_robot(arm(), log),
        lambda: sy.payload(arm(), log),
    ):
        with pytest.raises(CallError, match=r"of unknown centre|is not known"):
            call()
    for k in range(2):
        to_npz(log, tmp_path / f"run{k}.npz")
    with pytest.raises((CallError, LogError, ProblemError)):
        sy.identify(arm(), str(tmp_path), executor=1, keep=False, **FIXED)


def test_a_payload_without_centre_is_written_and_read_back(tmp_path: Path) -> None:
    to_npz(measured(1, sy.Payload(5.0)), tmp_path / "run.npz")
    assert sy.read_log(tmp_path / "run.npz", arm()).payload == sy.Payload(5.0)

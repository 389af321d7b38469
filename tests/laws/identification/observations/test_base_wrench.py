"""Identification from a force plate.

Links found without a joint torque, on a base at rest and on one that moves, and bad input.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.samples.samples import logged_base_motion
from steelyard.motion import point_to_point
from steelyard.simulation import Motor, perturbed
from tests.laws.simulation.test_simulation_free import satellite


@cache
def robots() -> tuple[sy.Robot, sy.Robot]:
    """A robot as described, and the true one.

    Other links, and friction that the description does not have.
    """
    described = sy.load("spatial_3r").without_friction()
    return described, perturbed(described, seed=3).with_friction(2.0, 5.0, 0.1)


def plate_log(robot: sy.Robot, seed: int = 0, moving: bool = False, noise: float = 0.005) -> sy.Log:
    """Ten seconds on a plate; noise as a fraction of each component's deviation."""
    rng, w, k = np.random.default_rng(seed), 2 * np.pi / 10.0, np.arange(1, 6)
    t = np.arange(0.0, 10.0, 0.01)
    a, b = rng.normal(size=(2, 5, robot.n)) * 0.5
    s, c = np.sin(w * np.outer(t, k)), np.cos(w * np.outer(t, k))
    q, qd, qdd = (
        (s / k) @ a + (c / k) @ b,
        w * (c @ a - s @ b),
        -w * w * ((s * k) @ a + (c * k) @ b),
    )
    base = np.tile(np.r_[-robot.gravity, np.zeros(6)], (len(t), 1))
    if moving:
        turns = w * np.array([2, 3, 4])
        base[:, :3] += 2 * np.sin(np.outer(t, turns[::-1]) + [0, 1, 2])
        base[:, 3:] = np.hstack([np.sin(np.outer(t, turns)), turns * np.cos(np.outer(t, turns))])
    wrench = robot.base_wrench(q, qd, qdd, base)
    wrench = wrench + noise * wrench.std(axis=0) * rng.normal(size=wrench.shape)
    return sy.Log(
        t=t, q=q, qd=qd, qdd=qdd, base=base, base_wrench=wrench, joint_names=robot.joint_names
    )


@pytest.mark.parametrize(("moving", "estimator"), [(False, None), (True, None), (False, "wls")])
def test_an_arm_on_a_plate_is_identified(moving: bool, estimator: str | None) -> None:
    described, true = robots()
    fit = sy.identify(described, plate_log(true, moving=moving), estimator)
    wrench = fit.validate(plate_log(true, 5, moving, noise=0.0))
    assert wrench.joint_names == ("fx", "fy", "fz", "mx", "my", "mz")
    assert wrench.total_relative_error < 0.002 < 10 * 0.002 < wrench.before.total_relative_error
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 50, 3))
    rigid = true.without_friction().inverse_dynamics(q, qd, qdd)
    # torques of joints that were never measured
    assert np.linalg.norm(fit.torque(q, qd, qdd) - rigid) < 0.02 * np.linalg.norm(rigid)
    z = (fit.base_values - fit.base.values(true.parameters[: len(fit.parameters)])) / fit.base_std
    assert np.sqrt(np.mean(z[np.isfinite(z)] ** 2)) < 3
    assert any(
        "Friction" in note and "do not reach the base" in note for note in fit.estimate.notes
    )
    assert fit.verdict.trusted
    assert "fx" in fit.summary()
    predicted = fit.predict(q, qd, qdd)
    assert predicted.torque.shape == predicted.std.shape == (50, 3)


def test_a_moving_base_shows_more() -> None:
    described, true = robots()
    still, moving = (
        sy.identify(described, plate_log(true, moving=m)).base.n_base for m in (False, True)
    )
    assert still < moving
    rank = np.linalg.matrix_rank(
        described.base_wrench_regressor(*np.random.default_rng(0).normal(size=(3, 60, 3))).reshape(
            360, -1
        )
    )
    assert still == rank


def test_friction_stays_as_described() -> None:
    described, true = robots()
    rough = described.with_friction(0.7, 0.3, 0.0)
    fit = sy.identify(rough, plate_log(true))
    np.testing.assert_array_equal(fit.parameters[-9:], rough.parameters[-9:])
    np.testing.assert_array_equal(fit.parameters_std[-9:], 0.0)


def test_a_tilted_plate_is_felt() -> None:
    """The wrench of a robot that leans is explained by what the sensor on its base says, not by the
    described gravity.
    """
    described, true = robots()
    tilted = true.with_gravity((3.0, 0.0, -9.3))
    fit = sy.identify(described, plate_log(tilted))
    assert fit.validate(plate_log(tilted, 5)).total_relative_error < 0.01


def torque_log(robot: sy.Robot, seed: int = 0, noise: float = 0.005) -> sy.Log:
    """Joint torques of a robot on a base that moves."""
    log = plate_log(robot, seed, moving=True)
    tau = robot.inverse_dynamics(log.q, log.qd, log.qdd, base=log.base)
    tau = tau + noise * tau.std(axis=0) * np.random.default_rng(seed).normal(size=tau.shape)
    return log.replace(tau=tau, base_wrench=None)


def test_joint_torques_on_a_moving_base() -> None:
    """Links and friction; the same log without its base's motion explains nothing.

    A motion at rest afterwards is predicted too.
    """
    described, true = robots()
    fit = sy.identify(
        described, torque_log(true), friction=("viscous", "coulomb", "offset"), coulomb_width=0.0
    )
    other = torque_log(true, 5, noise=0.0)
    assert fit.validate(other, true).total_relative_error < 0.01
    assert fit.validate(other, true).other.total_relative_error < 1e-9
    assert fit.validate(other.replace(base=None)).total_relative_error > 0.1
    fixed = sy.identify(
        described,
        torque_log(true).replace(base=None),
        friction=("viscous", "coulomb", "offset"),
        diagnose=False,
    )
    assert fixed.base.n_base < fit.base.n_base
    assert fixed.total_relative_error > 10 * fit.total_relative_error
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 50, 3))
    for base in (None, other.base[:50]):
        tau = true.inverse_dynamics(q, qd, qdd, base=base)
        assert np.linalg.norm(fit.torque(q, qd, qdd, base) - tau) < 0.02 * np.linalg.norm(tau)
    z = (
        (fit.base_values - fit.base.values(true.parameters)) / fit.base_std
        if len(true.parameters) == len(fit.parameters)
        else np.zeros(1)
    )
    assert np.sqrt(np.mean(z[np.isfinite(z)] ** 2)) < 3


def test_simulated_logs_have_what_the_base_feels() -> None:
    """A force plate under a run and under a recorded motion.

    A free base's sensor, from which its arm is identified.
    """
    smooth = robots()[1].without_friction()
    run = sy.simulate(smooth, [1.0, -2.0, 0.5], seconds=0.2, method="euler")
    plate = run.log(replace(sy.Sensors.perfect(), plate=True))
    np.testing.assert_allclose(
        plate.base_wrench,
        smooth.base_wrench(run.q, run.qd, smooth.forward_dynamics(run.q, run.qd, run.tau)),
    )
    moved = point_to_point(np.zeros(3), np.full(3, 0.5), 1.0)
    log = sy.record(smooth, moved, 100.0, sensors=replace(sy.Sensors.perfect(), plate=True))
    np.testing.assert_allclose(log.base_wrench, smooth.base_wrench(*moved.motion(log.t)))
    base, start = satellite(), [0.1, 0.0, 0.0, 0.2, 0.3, 0.1]
    flown = sy.simulate(
        base,
        lambda t, q, qd: 20 * np.sin([3 * t, 5 * t, 7 * t]) - qd,
        seconds=4.0,
        every=4,
        base_twist0=start,
    )
    log, point = flown.log(sy.Sensors.perfect()), (flown.q[5], flown.qd[5])
    qdd, _ = base.free_forward_dynamics(*point, flown.tau[5], log.base[5, 3:6])
    tau = base.inverse_dynamics(*point, qdd, base=log.base[5])
    np.testing.assert_allclose(tau, flown.tau[5], atol=1e-9)
    rough = replace(flown, drive=Motor(1, 1, 1)).base_motion  # by differences
    assert np.linalg.norm((rough - log.base)[1:-1]) < 0.05 * np.linalg.norm(log.base)
    fit = sy.identify(
        perturbed(base, seed=4), log.replace(qd=flown.qd), friction=(), rotor=False, diagnose=False
    )
    assert fit.total_relative_error < 0.2 < fit.before.total_relative_error / 5
    with pytest.raises(sy.CallError, match="the base is free"):
        _ = flown.base_wrench
    with pytest.raises(sy.CallError, match="the base is fixed"):
        _ = run.base_motion


def test_when_a_base_counts_as_moving() -> None:
    """Sensors at rest are noisy and a little tilted [m/s2]; bases that move, or lean, are worse."""
    described, true = robots()
    log = plate_log(true)
    x = np.arange(9) == 0
    for shake, lean, moves in (
        (0.4, 0.0, False),
        (0.6, 0.0, True),
        (0.0, 0.4, False),
        (0.0, 0.6, True),
    ):
        noise = shake * np.random.default_rng(0).normal(size=(1000, 9)) * x
        assert (
            logged_base_motion(described, log.replace(base=log.base + noise + lean * x)) is not None
        ) == moves


def test_bad_logs() -> None:
    described, true = robots()
    log = plate_log(true)
    for changes, message in (
        ({"base_wrench": log.base_wrench[:, :5]}, r"base_wrench must be \(1000, 6\)"),
        ({"base": log.base[:-1]}, r"base must be \(1000, 9\)"),
        ({"base_wrench": None}, "no torque; .* or base_wrench"),
        (
            {"base_wrench": np.where(np.arange(6) == 2, np.nan, log.base_wrench)},
            "base_wrench of fz holds no numbers",
        ),
        ({"base": np.full((1000, 9), np.inf)}, "base of ax holds no numbers"),
    ):
        with pytest.raises(sy.LogError, match=message):
            sy.identify(described, log.replace(**changes))
    torques = log.replace(tau=np.ones((1000, 3)), base_wrench=None, base=None)
    with pytest.raises(sy.LogError, match="log 2 of 2 has joint torques"):
        sy.identify(described, [log, torques])
    with pytest.raises(
        sy.LogError, match="friction that grows with the load is identified on a base at rest"
    ):
        sy.identify(described.with_friction(load=0.1), torque_log(true))
    assert not sy.doctor(described, torque_log(true)).examined
    fit = sy.identify(described, log)
    with pytest.raises(sy.LogError, match="no base_wrench"):
        fit.validate(torques)


def test_the_doctor_leaves_plates_and_moving_bases_to_identify() -> None:
    described, true = robots()
    plate = plate_log(true, moving=True)
    moving = plate.replace(
        base_wrench=None, tau=true.inverse_dynamics(plate.q, plate.qd, plate.qdd, base=plate.base)
    )
    for log, why in ((plate, "it has base wrenches"), (moving, "its base moves")):
        diagnosis = sy.doctor(described, log)
        assert diagnosis.usable
        assert not diagnosis.examined
        assert not diagnosis.healthy
        assert not diagnosis.faults
        assert why in diagnosis.verdict
        assert "identify(robot, log) takes it" in diagnosis.verdict
        assert "cannot be used" not in diagnosis.verdict
    holes = plate.base_wrench.copy()
    holes[3] = np.nan
    assert "cannot be used" in sy.doctor(described, plate.replace(base_wrench=holes)).verdict


def test_a_refused_plate_is_not_sent_to_the_doctor() -> None:
    described, true = robots()
    log = plate_log(true)
    noise = np.random.default_rng(0).normal(size=log.base_wrench.shape)
    verdict = sy.identify(described, log.replace(base_wrench=noise)).verdict
    assert verdict.word == "refused"
    assert "No model explains what was measured of fx" in " ".join(verdict.reasons)
    assert "doctor" not in " ".join(verdict.reasons)


def test_a_wrench_beside_torques_is_said_not_to_be_used() -> None:
    described, true = robots()
    log = plate_log(true)
    both = log.replace(tau=true.inverse_dynamics(log.q, log.qd, log.qdd))
    fits = [
        sy.identify(described, one, "wls", diagnose=False)
        for one in (both, both.replace(base_wrench=None), log)
    ]
    reported = [any("base_wrench was not used" in note for note in fit.status) for fit in fits]
    assert reported == [True, False, False]

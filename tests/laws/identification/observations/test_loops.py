"""Identification of robots with loops from their drives alone.

A five-bar, a Delta that is simulated, redundant drives, bad input.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, LogError
from steelyard.simulation import perturbed
from tests.loop_robots import robot

SECONDS = 4.0


def drive_motion(result: sy.Robot, t: np.ndarray, seed: int, size: float) -> np.ndarray:
    """Positions of the drives, (N, d): five harmonics that begin at zero."""
    rng, k = np.random.default_rng(seed), np.arange(1, 6)
    a, b = rng.normal(size=(2, 5, len(result.tree.driven))) * size
    phase = 2 * np.pi / SECONDS * np.outer(t, k)
    return (np.sin(phase) / k) @ a + ((np.cos(phase) - 1) / k) @ b


def drive_log(result: sy.Robot, seed: int = 0, noise: float = 0.005, size: float = 0.15) -> sy.Log:
    """What a robot that follows a motion of its drives exactly measures at them.

    Positions and torques.
    """
    t, h = np.arange(0.0, SECONDS, 0.01), 1e-3
    driven, names = list(result.tree.driven), result.driven_joints
    paths = [drive_motion(result, t + s, seed, size) for s in (-h, 0.0, h)]
    q, qd, qdd = np.zeros((3, len(t), result.n))
    q[:, driven], qd[:, driven] = paths[1], (paths[2] - paths[0]) / (2 * h)
    qdd[:, driven] = (paths[2] - 2 * paths[1] + paths[0]) / h**2
    q = result.assemble(q, hold=names)
    qd = result.consistent_velocity(q, qd, hold=names)
    qdd = result.consistent_acceleration(q, qd, qdd, hold=names)
    tau = result.constrained_inverse_dynamics(q, qd, qdd).tau[:, driven]
    rng = np.random.default_rng(seed + 100)
    tau = tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    return sy.Log(
        t=t, q=q[:, driven] + 1e-3 * noise * rng.normal(size=tau.shape), tau=tau, joint_names=names
    )


@cache
def five_bars() -> tuple[sy.Robot, sy.Robot]:
    """As described, and the true one."""
    described = robot("five_bar")
    return described, perturbed(described, seed=3).with_friction(
        viscous={"left_shoulder": 0.3, "right_shoulder": 0.2}
    )


def test_a_five_bar_is_identified_from_its_two_drives(tmp_path: Path) -> None:
    described, true = five_bars()
    fit = sy.identify(described, drive_log(true))
    validation = fit.validate(drive_log(true, 5, noise=0.0))
    assert validation.joint_names == ("left_shoulder", "right_shoulder")
    assert (
        validation.total_relative_error
        < 0.005
        < 10 * 0.005
        < validation.before.total_relative_error
    )
    assert fit.verdict.trusted
    assert any("loops do no work" in note for note in fit.estimate.notes)
    sy.report(fit, tmp_path / "report.html")
    assert "right_shoulder" in (tmp_path / "report.html").read_text(encoding="utf-8")
    fit.robot.to_toml(tmp_path / "identified.toml")
    assert sy.load(tmp_path / "identified.toml").loop_structure.case == "exact"
    q, qd, qdd = closed_states(true)
    tau = true.constrained_inverse_dynamics(q, qd, qdd).tau
    assert np.linalg.norm(fit.torque(q, qd, qdd) - tau) < 0.02 * np.linalg.norm(tau)
    predicted = fit.predict(q, qd, qdd)
    assert predicted.torque.shape == predicted.std.shape == (20, 2)
    np.testing.assert_allclose(
        predicted.torque, fit.torque(q, qd, qdd)[:, list(true.tree.driven)], atol=1e-9
    )


def test_a_file_with_the_drives_alone_is_read(tmp_path: Path) -> None:
    log = drive_log(five_bars()[1])
    head = ",".join(["t", *(f"{signal}_{name}" for signal in ("q", "tau") for name in log.labels)])
    np.savetxt(
        tmp_path / "drives.csv",
        np.column_stack([log.t, log.q, log.tau]),
        delimiter=",",
        header=head,
        comments="",
    )
    again = sy.read_log(tmp_path / "drives.csv", robot("five_bar"))
    assert again.joint_names == ("left_shoulder", "right_shoulder")
    with pytest.raises(LogError, match="right_shoulder"):
        sy.read_log(tmp_path / "drives.csv", robot("five_bar"), columns={"q": ["q_left_shoulder"]})


def closed_states(result: sy.Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    q = result.assemble(0.1 * rng.normal(size=(20, result.n)))
    qd = result.consistent_velocity(q, rng.normal(size=q.shape))
    return q, qd, result.consistent_acceleration(q, qd, rng.normal(size=q.shape))


def test_a_simulated_delta_is_identified_from_its_log() -> None:
    described = robot("delta")
    true, driven = perturbed(described, seed=3), list(described.tree.driven)
    t = np.arange(0.0, SECONDS, 1e-3)
    expected = drive_motion(described, t, 0, 0.25)

    def follow(now: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        tau = np.zeros(described.n)
        tau[driven] = (
            400.0 * (expected[min(round(now * 1e3), len(t) - 1)] - q[driven]) - 20.0 * qd[driven]
        )
        return tau

    run = sy.simulate(true, follow, seconds=SECONDS, step=2e-3, every=5)
    rng, tau = np.random.default_rng(1), run.tau[:, driven]
    tau = tau + 0.005 * tau.std(axis=0) * rng.normal(size=tau.shape)
    log = sy.Log(
        t=run.t,
        q=run.q[:, driven] + 1e-5 * rng.normal(size=tau.shape),
        tau=tau,
        joint_names=described.driven_joints,
    )
    fit = sy.identify(described, log)
    validation = fit.validation
    assert validation.total_relative_error < 0.01 < 0.1 < validation.before.total_relative_error
    assert fit.verdict.trusted


def test_redundant_drives_are_identified_together() -> None:
    described = robot("planar_3rrr").with_gravity((0.0, -9.81, 0.0))
    true = perturbed(described, seed=4)
    names = true.driven_joints
    log = drive_log_of_independent(true)
    assert log.labels == names
    fit = sy.identify(described, log, "wls")
    assert fit.validate(log).total_relative_error < 0.01
    assert len(fit.validation.joint_names) == 3


def drive_log_of_independent(result: sy.Robot) -> sy.Log:
    """Three joints lead, four drives share the work by the smallest torques."""
    t, h = np.arange(0.0, SECONDS, 0.02), 1e-3
    lead = [result.joint_names[c] for c in result.loop_structure.independent]
    indices = list(result.loop_structure.independent)
    paths = [drive_motion(result, t + s, 0, 0.08)[:, :3] for s in (-h, 0.0, h)]
    q, qd, qdd = np.zeros((3, len(t), result.n))
    q[:, indices], qd[:, indices], qdd[:, indices] = (
        paths[1],
        (paths[2] - paths[0]) / (2 * h),
        (paths[2] - 2 * paths[1] + paths[0]) / h**2,
    )
    q = result.assemble(q, hold=lead)
    qd = result.consistent_velocity(q, qd, hold=lead)
    qdd = result.consistent_acceleration(q, qd, qdd, hold=lead)
    tau, driven = result.constrained_inverse_dynamics(q, qd, qdd).tau, list(result.tree.driven)
    return sy.Log(
        t=t,
        q=q[:, driven],
        qd=qd[:, driven],
        qdd=qdd[:, driven],
        tau=tau[:, driven],
        joint_names=result.driven_joints,
    )


def test_bad_logs_are_refused_by_name() -> None:
    described, true = five_bars()
    log = drive_log(true)
    with pytest.raises(
        LogError,
        match="the log has no joint 'right_shoulder'; expected left_shoulder, right_shoulder",
    ):
        sy.identify(described, log.select(["left_shoulder"]))
    with pytest.raises(
        LogError,
        match=r"cannot be closed .* are these the positions of left_shoulder, right_shoulder",
    ):
        sy.identify(described, log.replace(q=log.q + [1.19, -1.19]))
    with pytest.raises(
        LogError, match="3 joints without names; expected 2: left_shoulder, right_shoulder"
    ):
        sy.identify(described, sy.Log(t=log.t, q=np.zeros((log.N, 3)), tau=np.ones((log.N, 3))))
    with pytest.raises(CallError, match="known= cannot be combined with a robot that has loops"):
        sy.identify(described, log, known={"left_shoulder": "1.0 * q['left_shoulder']"})


@pytest.mark.parametrize("option", [{"delay": 0.01}, {"drive_gains": "all"}])
def test_options_that_would_be_ignored_are_refused(option: dict[str, object]) -> None:
    robot = sy.load("four_bar")
    t = np.arange(50) * 0.01
    log = sy.Log(t=t, q=np.zeros((50, 3)), tau=np.zeros((50, 3)), joint_names=robot.joint_names)
    with pytest.raises(
        sy.CallError, match=f"{next(iter(option))}= is not used for a robot with loops"
    ):
        sy.identify(robot, log, **option)  # type: ignore[arg-type]

"""Logs that show little: resting joints, one moving joint, inaccurate descriptions, friction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from benchmarks.faults import Planted
from benchmarks.true_robot import with_drives
from steelyard.identification.doctor.examined_samples import is_moving, samples_of
from steelyard.identification.doctor.fault_search.fault_correction import FaultCorrection
from steelyard.identification.doctor.fault_search.fault_hypothesis import FaultHypothesis
from steelyard.identification.doctor.fault_search.log_evidence import LogEvidence
from steelyard.identification.doctor.fault_search.search import Step, without_description
from steelyard.identification.doctor.fault_search.thinned_log import thin_log
from steelyard.identification.doctor.fault_search.unknowns import Unknowns
from steelyard.identification.model.linear_model import build_model
from steelyard.signals.log import Log
from tests import lugre_arm
from tests.laws.doctor.test_doctor import (
    described,
    moved,
    named,
    planted,
    positions_only,
    true,
)

T = np.arange(0.0, 24.0, 0.01)


def log_of(robot: sy.Robot, q: np.ndarray, friction: np.ndarray, seed: int) -> Log:
    """A log along positions (N, n), with noise of 2 % and an additional friction torque (N, n)."""
    rng = np.random.default_rng(seed)
    qd = np.gradient(q, T, axis=0)
    tau = robot.inverse_dynamics(q, qd, np.gradient(qd, T, axis=0)) + friction
    tau += 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    q = q + 1e-5 * rng.normal(size=q.shape)
    return Log(t=T, q=q, tau=tau, joint_names=robot.joint_names)


def between_postures(seed: int, move: float = 1.0, dwell: float = 1.0) -> tuple[np.ndarray, ...]:
    """Positions (N, 4) of moves between random postures, and whether the arm rests (N,)."""
    rng = np.random.default_rng(seed)
    postures = rng.uniform(-1.0, 1.0, (int(T[-1] / (move + dwell)) + 2, 4))
    number, phase = np.divmod(T, move + dwell)
    s = np.clip(phase / move, 0.0, 1.0)
    s = s**3 * (10 - 15 * s + 6 * s * s)
    k = number.astype(int)
    return postures[k] + s[:, None] * (postures[k + 1] - postures[k]), phase >= move


def static_friction(robot: sy.Robot, resting: np.ndarray, seed: int) -> np.ndarray:
    """Friction (N, n) of resting joints: any value up to twice the Coulomb friction."""
    rng = np.random.default_rng(seed)
    coulomb = robot.friction_torque(np.full(robot.n, 0.5))
    rests = np.cumsum(np.diff(resting.astype(int), prepend=0) == 1)
    sizes = rng.uniform(-2.0, 2.0, (int(rests[-1]) + 1, robot.n)) * coulomb
    return np.where(resting[:, None], sizes[rests], 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_static_friction_of_resting_joints_shows_no_fault(seed):
    q, resting = between_postures(seed)
    robot = true(seed=seed)
    log = log_of(robot, q, static_friction(robot, resting, seed), seed)
    findings = sy.doctor(described(), log)
    assert not findings.faults, str(findings)


def test_rows_at_rest_are_not_in_use_and_reversals_are():
    q, resting = between_postures(0)
    samples = samples_of(described(), log_of(true(), q, np.zeros_like(q), 0))
    used = is_moving(samples)
    middle = np.interp(samples.t, T, np.convolve(resting, np.ones(50) / 50, "same")) > 0.99
    assert not np.any(used[middle])
    assert np.mean(used[np.interp(samples.t, T, resting) == 0]) > 0.8, "the ends are slow"
    whole = samples_of(described(), positions_only(moved(true())))
    assert np.all(is_moving(whole)), "a joint that reverses does not rest"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("joint", range(3))
def test_motion_of_one_joint_is_a_poor_excitation_and_nothing_else(joint, seed):
    rng = np.random.default_rng(seed)
    q = np.tile(rng.uniform(-0.8, 0.8, 4), (len(T), 1))
    phase = rng.uniform(0, 6, 3)
    q[:, joint] += sum(
        0.5 / k * np.sin(2 * np.pi * 0.125 * k * T + phase[k - 1]) for k in (1, 2, 3)
    )
    findings = sy.doctor(described(), log_of(true(seed=seed), q, np.zeros_like(q), seed))
    assert list(named(findings)) == ["poor excitation"], str(findings)
    assert findings.usable


def test_a_single_joint_is_never_of_another_robot():
    """One joint has the same equation of motion in every robot."""
    robot = sy.load("planar_2r").freeze({"joint2": 0.3})
    pi = robot.parameters.copy()
    pi[:10] *= 4.0
    other = with_drives(robot.with_parameters(pi))
    log = moved(other, 3)
    assert "wrong robot" not in named(sy.doctor(robot, log))
    assert "wrong robot" not in named(sy.doctor(robot, positions_only(log)))


@pytest.mark.parametrize("seed", range(3))
def test_friction_with_memory_is_not_a_delay(seed):
    t, q, _, tau = lugre_arm.simulate(20.0, seed)
    robot = lugre_arm.described()
    log = Log(t=t, q=q, tau=tau, joint_names=robot.joint_names)
    assert "delay" not in named(sy.doctor(robot, log))


@pytest.mark.parametrize("velocities", [False, True])
def test_a_wall_mounting_is_surer_with_more_data(velocities):
    wall = described().with_gravity([9.81, 0.0, 0.0])
    probabilities = []
    for seconds in (8.0, 16.0, 48.0):
        log = moved(true(seed=1), 1, seconds=seconds)
        log = log.replace(qdd=None) if velocities else positions_only(log)
        findings = sy.doctor(wall, log)
        assert list(named(findings)) == ["gravity direction"], str(findings)
        probabilities.append(findings.findings[0].probability)
    assert probabilities == sorted(probabilities)
    assert min(probabilities) > 0.9


@pytest.mark.parametrize("seed", range(4))
def test_an_inaccurate_description_is_not_a_wrong_sensor(seed):
    """Links that are off by a third at random are not factors of torques."""
    wrong = sy.perturbed(described(), seed, 0.33)
    findings = sy.doctor(wrong, positions_only(moved(true(seed=seed), seed)))
    factors = {"gear ratio or torque constant", "torque scale", "currents", "position offset"}
    assert not factors & {each.fault for each in findings.faults}, str(findings)


def test_an_interpolated_log_is_judged_as_the_original():
    """Positions and torques with scattered stamps, interpolated to 2 kHz."""
    for fault in (None, Planted("torque sign", ("joint2",), -1)):
        log = positions_only(planted(fault)[1] if fault else moved(true(seed=2), 2))
        rng = np.random.default_rng(0)
        stamps = log.t + 0.1 * log.dt * np.clip(rng.normal(size=log.N), -0.4, 0.4)
        dense = np.arange(stamps[0], stamps[-1], log.dt / 20)
        q, tau = (
            np.stack([np.interp(dense, stamps, x) for x in signal.T], axis=1)
            for signal in (log.q, log.tau)
        )
        original = named(sy.doctor(described(), log))
        interpolated = named(sy.doctor(described(), log.replace(t=dense, q=q, tau=tau)))
        assert interpolated.keys() - {"repeated samples"} == original.keys()


def test_what_only_the_description_shows_must_be_likely_for_an_inaccurate_one():
    robot, log = planted(Planted("gear ratio or torque constant", ("joint3",), 1.3))
    unknowns = Unknowns(build_model(robot))
    evidence = LogEvidence(unknowns, thin_log([samples_of(robot, log)]))
    start = evidence.first_trial(FaultCorrection.none(robot.n))
    scaled = evidence.trial(start.correction.at("gain", 2, 1 / 1.3), start)
    gain = FaultHypothesis("gear ratio or torque constant", (2,), scaled, -6.0)
    (step,) = without_description(evidence, scaled, [Step(gain, start, (), start)])
    assert step.inaccurate < scaled.evidence - start.evidence, "less sure than a right description"
    unlikely = replace(step, size=2.0, alone=-5.0, inaccurate=1.0)
    assert not unlikely.matters
    assert replace(unlikely, inaccurate=10.0).matters
    assert replace(unlikely, alone=10.0).matters, "a log that shows it by itself needs no links"

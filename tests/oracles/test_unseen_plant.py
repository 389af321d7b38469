"""The plant and the plain candidates of `benchmarks.unseen`, against Pinocchio and closed forms."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import steelyard as sy
from benchmarks.unseen.draw import Sensors, loaded, measured, true_parameters
from benchmarks.unseen.motions import Reference, Region, reference
from benchmarks.unseen.plain import COULOMB_WIDTH, Candidate, banded, regression_rows
from benchmarks.unseen.plant import Drives, Friction, cascade, simulate
from benchmarks.unseen.robots import perturbed, random_chain

STEP = 1e-3
SPEEDS = np.array([-1.5, -0.1, -0.02, 0.01, 0.03, 0.2, 2.0])


@pytest.fixture(scope="module")
def arm():
    return random_chain(np.random.default_rng(5), 2)


def drives(friction: Friction | None = None, **options) -> Drives:
    zero = np.zeros(2)
    friction = friction or Friction(viscous=zero, coulomb=zero)
    return Drives(rotor=np.array([0.12, 0.05]), friction=friction, offset=zero, **options)


def motion(seed: int, seconds: float) -> Reference:
    region = Region(np.zeros(2), np.full(2, 1.0), np.full(2, 1.5), np.full(2, 6.0))
    t = np.arange(0, seconds, STEP)
    return reference("fourier", region, t, np.random.default_rng(seed))


def gains(steps: int, bandwidth: float = 6.0):
    return cascade(np.array([0.3, 0.1]), bandwidth, np.zeros((steps, 2)))


def test_lugre_in_steady_sliding_is_the_stribeck_curve():
    n = len(SPEEDS)
    friction = Friction(
        viscous=np.full(n, 0.7),
        coulomb=np.full(n, 2.0),
        bristles=True,
        static=np.full(n, 1.5),
        stribeck=np.full(n, 0.05),
        stiffness=np.full(n, 3000.0),
        damping=np.full(n, 5.0),
    )
    z = np.zeros(n)
    for _ in range(3000):
        f, _, z = friction.evaluate(friction.coulomb, SPEEDS, z, STEP, np.ones(n))
    curve = 2.0 * (1 + 0.5 * np.exp(-((SPEEDS / 0.05) ** 2))) * np.sign(SPEEDS) + 0.7 * SPEEDS
    np.testing.assert_allclose(f, curve, rtol=1e-5)


def test_presliding_is_a_spring():
    friction = Friction(
        viscous=np.zeros(1),
        coulomb=np.ones(1),
        bristles=True,
        static=np.ones(1),
        stribeck=np.ones(1),
        stiffness=np.full(1, 1e4),
    )
    z = np.zeros(1)
    for _ in range(10):  # 1 micrometre of 100 until it slides
        f, _, z = friction.evaluate(np.ones(1), np.full(1, 1e-4), z, STEP, np.ones(1))
    assert f[0] == pytest.approx(1e4 * 0.95e-6, rel=0.01)


def test_rigid_torque_is_inverse_dynamics(arm):
    friction = Friction(viscous=np.array([1.0, 0.4]), coulomb=np.array([0.8, 0.3]))
    plant, model, planned = drives(friction), arm.model(), motion(1, 2.0)
    run = simulate(model, plant, gains(len(planned.q)), planned, STEP)
    data = model.createData()
    states = zip(run.q, run.qd, run.qdd, strict=True)
    tau = np.array([pin.rnea(model, data, *state) for state in states]) + plant.rotor * run.qdd
    tau += friction.viscous * run.qd + friction.coulomb * np.tanh(run.qd / friction.width)
    assert np.linalg.norm(run.tau - tau) < 1e-4 * np.linalg.norm(tau)
    np.testing.assert_allclose(np.gradient(run.q, STEP, axis=0)[1:-1], run.qd[1:-1], atol=1e-9)


@pytest.mark.parametrize("elastic", [False, True])
def test_energy_is_conserved_without_friction_and_feedback(arm, elastic):
    """The torque is constant: it holds the weight of a pose from which the arm is displaced."""
    stiffness = np.array([400.0, 150.0])
    plant = drives(stiffness=stiffness) if elastic else drives()
    still = Reference(*(np.zeros((450, 2)) for _ in range(3)))
    push = np.tile([0.6, -0.2], (450, 1))
    push[0] = 0.0  # the controller adds the feed-forward to the torque that holds the first pose
    free = cascade(np.zeros(2), 1.0, push)
    run = simulate(arm.model(), plant, free, still, STEP)
    model, data = arm.model(), arm.model().createData()
    link_speed = np.gradient(run.link, STEP, axis=0)
    energy = []
    for k in range(2, 449):
        moving = pin.computeKineticEnergy(model, data, run.link[k], link_speed[k])
        weight = pin.computePotentialEnergy(model, data, run.link[k])
        rotors = 0.5 * plant.rotor @ run.qd[k] ** 2
        springs = 0.5 * stiffness @ (run.q[k] - run.link[k]) ** 2 if elastic else 0.0
        energy.append(moving + weight + rotors + springs - run.tau[k] @ run.q[k])
    swing = 0.5 * np.max(run.qd**2 @ plant.rotor)
    assert swing > 1e-3
    assert np.ptp(energy) < 0.01 * swing


def test_plain_least_squares_recovers_the_truth_without_noise(arm):
    friction = Friction(
        viscous=np.array([1.0, 0.4]), coulomb=np.array([0.8, 0.3]), width=COULOMB_WIDTH
    )
    plant = drives(friction)
    robot = loaded(perturbed(arm, np.random.default_rng(2), 0.3))
    zero = np.zeros(2)
    sensors = Sensors(
        rate=1000.0, scatter=0.0, encoder=1e-9, noise=zero, quantum=zero + 1e-9, velocity=None
    )
    rows = []
    for seed in (1, 2):
        planned = motion(seed, 6.0)
        run = simulate(arm.model(), plant, gains(len(planned.q)), planned, STEP)
        log = measured(run, sensors, robot.joint_names, np.random.default_rng(0))
        rows.append(regression_rows(robot, banded(log, 20.0)))
    values = true_parameters(arm, plant)
    base = sy.base_parameters(robot).values([values[name] for name in robot.parameter_names])
    terms = [values[f"{joint}.{key}"] for joint in robot.joint_names for key in SYMBOLS]
    truth = np.concatenate([base, terms])
    for method in ("ols", "wls"):
        error = Candidate(method, 20.0).fit(rows[0]) - truth
        assert np.linalg.norm(rows[1].Y @ error) < 3e-3 * np.linalg.norm(rows[1].tau)
    described = Candidate("description", 20.0)
    wrong = rows[1].tau - described.predict(rows[1], described.fit(rows[0]))
    assert np.linalg.norm(wrong) > 0.02 * np.linalg.norm(rows[1].tau)


SYMBOLS = ("Fv", "Fc", "F0", "Ia")

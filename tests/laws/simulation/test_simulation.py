"""Simulation: order and energy of the integrators, friction that holds, controllers with
closed-form errors, batches, and bad input.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.spatial import Inertia, Pose
from steelyard.algebra.vector import Symmetric
from steelyard.mechanism.joint_terms import Terms
from steelyard.mechanism.model import Joint, Limits, Link, Mechanism
from steelyard.simulation import PD, ComputedTorque, FeedForward, Sensors
from tests.laws.dynamics.law import close
from tests.zoo import ZOO, case, features

MASS = Inertia(2.0, (0.0, 0.0, 0.0), Symmetric(0.1, 0.0, 0.0, 0.1, 0.0, 0.1))


def block(friction: dict[str, float], derivative: float = 0.0) -> sy.Robot:
    """2 kg on a slide that descends by an angle [rad], with friction in N."""
    g = 9.81
    joint = Joint(
        "slide", "prismatic", "base", "block", Pose(), (1.0, 0.0, 0.0), terms=Terms.of(friction)
    )
    return sy.Robot(
        Mechanism(
            "block",
            (Link("base"), Link("block", MASS)),
            (joint,),
            (g * np.sin(derivative), 0.0, -g * np.cos(derivative)),
        )
    )


def pendulums() -> sy.Robot:
    """Two point masses of 1 kg on rods of 1 m that hang."""
    rod = Inertia(1.0, (0.0, 0.0, -1.0), Symmetric(1.0, 0.0, 0.0, 1.0, 0.0, 0.0))
    joints = [
        Joint("upper", "revolute", "base", "first", Pose(), (0.0, 1.0, 0.0)),
        Joint("lower", "revolute", "first", "second", Pose(p=(0.0, 0.0, -1.0)), (0.0, 1.0, 0.0)),
    ]
    return sy.Robot(
        Mechanism(
            "pendulums", (Link("base"), Link("first", rod), Link("second", rod)), tuple(joints)
        )
    )


@pytest.mark.parametrize(
    ("method", "order", "steps"),
    [("euler", 1, (200, 400)), ("rk4", 4, (40, 80)), ("rk8", 8, (10, 20))],
)
def test_errors_fall_with_the_order_of_the_method(
    method: str, order: int, steps: tuple[int, int]
) -> None:
    robot, start = pendulums(), {"q0": [1.0, 0.4], "qd0": [0.3, -1.0], "seconds": 1.0}
    exact = sy.simulate(robot, **start, step=1e-3, method="adaptive").q[-1]
    errors = [
        np.abs(sy.simulate(robot, **start, step=1 / n, method=method).q[-1] - exact).max()
        for n in steps
    ]
    assert 0.75 * order < np.log2(errors[0] / errors[1]) < 1.35 * order


def test_energy_stays_without_friction(example_robots: Path) -> None:
    """Order 8 at 2 ms over ten seconds."""
    ur5 = sy.load(example_robots / "ur_description/urdf/ur5_robot.urdf").without_friction()
    swung = sy.simulate(
        ur5, q0=[0.3, -0.7, 1.1, 0.4, -0.9, 0.2], seconds=10, step=2e-3, method="rk8", every=50
    )
    assert swung.drift < 1e-12
    assert (
        sy.simulate(pendulums(), q0=[1.2, -0.8], seconds=10, step=2e-3, method="rk8").drift < 1e-12
    )


@pytest.mark.parametrize("name", [name for name in ZOO if "no inertia" not in features(name)])
def test_work_is_energy_and_heat(name: str) -> None:
    """Over robots with every feature: rotors, couplings, mimic joints, all kinds of friction."""
    x = case(name)
    tau = np.random.default_rng(4).normal(size=x.robot.n) * 5
    run = sy.simulate(x.robot, tau, x.q[0], x.qd[0], seconds=2e-3, step=1e-4)
    assert run.finite
    assert np.abs(run.work).max() > 0
    assert run.drift < 1e-9


def test_a_block_slides_to_rest_and_stays() -> None:
    """v0 - mu t until it rests, at v0^2 / (2 mu); an oracle of one line."""
    robot, mu = block({"coulomb": 3.0}), 3.0 / 2.0
    for method in ("euler", "rk4", "adaptive"):
        run = sy.simulate(robot, qd0=[1.2], seconds=1.5, step=1e-3, method=method)
        stops = 1.2 / mu
        moving = run.t < stops - 1e-3
        np.testing.assert_allclose(run.qd[moving, 0], 1.2 - mu * run.t[moving], atol=1e-9)
        assert np.all(run.qd[run.t > stops + 1e-3] == 0.0)
        assert run.q[-1, 0] == pytest.approx(
            1.2**2 / (2 * mu), abs=2e-3 if method == "euler" else 1e-5
        )


@pytest.mark.parametrize("method", ["euler", "rk4", "rk8", "adaptive"])
@pytest.mark.parametrize(("push", "moves"), [(2.9, 0), (-2.9, 0), (3.2, 1), (-3.2, -1)])
def test_a_block_is_held_up_to_its_friction(method: str, push: float, moves: int) -> None:
    run = sy.simulate(block({"coulomb": 3.0}), [push], seconds=0.2, step=1e-3, method=method)
    assert np.sign(run.qd[-1, 0]) == moves
    if moves:
        assert run.qd[-1, 0] == pytest.approx(moves * (3.2 - 3.0) / 2.0 * 0.2, rel=1e-6)
    else:
        assert np.all(run.q == 0.0)


def test_stiction_holds_more_than_it_rubs() -> None:
    sticky = block({"coulomb": 2.0, "stiction": 4.0, "stribeck": 0.01})
    assert np.all(sy.simulate(sticky, [3.5], seconds=0.1).q == 0.0)
    slid = sy.simulate(sticky, [3.5], qd0=[0.2], seconds=0.5)
    assert slid.qd[-1, 0] > 0.2


def test_joints_that_hold_each_other_come_to_rest_together() -> None:
    robot = sy.load("planar_2r").without_friction().with_friction(0.5, 60.0, 0.0)
    run = sy.simulate(robot, q0=[1.0, 0.5], qd0=[2.0, -1.0], seconds=1.0)
    fine = sy.simulate(robot, q0=[1.0, 0.5], qd0=[2.0, -1.0], seconds=1.0, method="adaptive")
    assert np.all(run.qd[-300:] == 0.0)
    assert np.all(fine.qd[-300:] == 0.0)
    np.testing.assert_allclose(run.q[-1], fine.q[-1], atol=1e-4)
    assert max(run.drift, fine.drift) < 1e-8


def test_computed_torque_makes_errors_those_of_an_oscillator() -> None:
    """e'' + kd e' + kp e = 0 with kp = 100, kd = 20.

    E = e0 (1 + 10 t) exp(-10 t), whatever the robot.
    """
    robot = sy.load("spatial_3r").without_friction()
    goal, start = np.array([0.5, -0.3, 0.8]), np.array([0.1, 0.4, -0.2])
    run = sy.simulate(
        robot, ComputedTorque(goal, 100.0, 20.0), start, seconds=0.5, method="adaptive", step=5e-3
    )
    expected = (start - goal) * ((1 + 10 * run.t) * np.exp(-10 * run.t))[:, None]
    np.testing.assert_allclose(run.q - goal, expected, atol=1e-8)
    simulation = sy.simulate(
        robot, ComputedTorque(goal, 100.0, 20.0), start, seconds=0.5, step=1e-4
    )
    np.testing.assert_allclose(simulation.q[-1] - goal, expected[-1], atol=1e-4)


def test_a_law_in_the_kernel_is_the_law_in_python() -> None:
    robot, goal = sy.load("spatial_3r"), np.array([0.5, -0.3, 0.8])

    def law(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return robot.gravity_torque(q) + 40 * (goal - q) - 8 * qd

    q0 = np.random.default_rng(0).normal(size=(3, 3))
    a = sy.simulate(robot, PD(goal, 40.0, 8.0), q0, seconds=0.2)
    b = sy.simulate(robot, law, q0, seconds=0.2)
    close(a.q, b.q, 1e-10)
    close(a.tau, b.tau, 1e-9)


def test_feedforward_follows_its_motion() -> None:
    robot = sy.load("spatial_3r").without_friction()
    motion = wave(robot.n)
    run = sy.simulate(
        robot,
        FeedForward(motion),
        motion.q[0],
        motion.qd[0],
        seconds=1.0,
        step=1e-3,
        method="adaptive",
    )
    np.testing.assert_allclose(run.q, motion.motion(run.t).q, atol=1e-7)


def wave(n: int) -> sy.Trajectory:
    """Sines of different frequencies."""
    from steelyard.checks.states import States
    from steelyard.motion.trajectories.trajectory import trajectory

    w = 2.0 + np.arange(n)

    def motion(t: np.ndarray) -> States:
        s = np.asarray(t)[:, None] * w
        return States(0.5 * np.sin(s), 0.5 * w * np.cos(s), -0.5 * w**2 * np.sin(s))

    return trajectory(motion, 2.0, 1000.0)


def test_a_batch_is_its_runs_and_a_bad_one_leaves_the_others_alone() -> None:
    robot = pendulums()
    q0, qd0 = np.random.default_rng(1).normal(size=(2, 2, 3, 2))
    together = sy.simulate(robot, q0=q0, qd0=qd0, seconds=0.1)
    assert together.q.shape == (2, 3, 101, 2)
    alone = sy.simulate(robot, q0=q0[1, 2], qd0=qd0[1, 2], seconds=0.1)
    np.testing.assert_array_equal(together[1, 2].q, alone.q)
    qd0[0, 1] = 1e200
    broken = sy.simulate(robot, q0=q0, qd0=qd0, seconds=0.1)
    assert not broken.finite[0, 1]
    assert broken.finite.sum() == 5
    np.testing.assert_array_equal(broken[1, 2].q, alone.q)
    assert "1 diverged" in broken.status


def test_samples_are_kept_as_asked() -> None:
    run, all_ = (sy.simulate(pendulums(), q0=[1.0, 0.0], seconds=0.1, every=k) for k in (30, 1))
    np.testing.assert_allclose(run.t, [0.0, 0.03, 0.06, 0.09, 0.1])
    np.testing.assert_array_equal(run.q, all_.q[[0, 30, 60, 90, 100]])


def test_torques_stay_within_limits_where_asked() -> None:
    mechanism = block({}).mechanism
    robot = sy.Robot(
        replace(mechanism, joints=(replace(mechanism.joints[0], limits=Limits(effort=7.0)),))
    )
    for law in (PD([2.0], 1e6, 0.0), lambda t, q, qd: np.array([-20.0]), np.array([30.0])):
        free, selected = (
            sy.simulate(robot, law, seconds=0.01, saturate=saturate) for saturate in (False, True)
        )
        assert np.any(np.abs(free.tau) > 7.0)
        assert np.all(np.abs(selected.tau) == 7.0)


def test_a_run_is_a_log() -> None:
    robot = sy.load("spatial_3r")
    run = sy.simulate(robot, PD(np.ones(3), 40.0, 8.0), seconds=0.5)
    perfect = run.log(Sensors.perfect())
    np.testing.assert_array_equal(perfect.q, run.q)
    np.testing.assert_allclose(perfect.tau, run.tau, atol=1e-12)
    noisy = run.log(seed=3)
    assert np.abs(noisy.tau - run.tau).max() > 0
    np.testing.assert_array_equal(noisy.tau, run.log(seed=3).tau)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rk5"}, "no method is called 'rk5'"),
        ({"step": 0.0}, "step = 0.0; expected a positive time"),
        ({"step": None}, "step must be a number"),
        ({"seconds": 1e-5}, "seconds must be a number from 0.001"),
        ({"seconds": "2"}, "seconds must be a number"),
        *(({"every": bad}, "every must be a whole number") for bad in (0, 1.5, "a", None, np.inf)),
        ({"q0": "abc"}, "q0 must be an array of numbers"),
        ({"q0": [[1.0, 2.0], [3.0]]}, "q0 must be an array of numbers"),
        ({"controller": "computed torque"}, "torques must be an array of numbers"),
        ({"controller": lambda t, q, qd: "x"}, "torque at 0 s must be an array of numbers"),
        (
            {"controller": lambda t, q, qd: np.zeros((2, 2)), "q0": np.zeros((3, 2))},
            r"returned shape \(2, 2\); expected \(3, 2\)",
        ),
        ({"controller": PD("home")}, "the reference must be an array of numbers"),
        (
            {"controller": PD(model=sy.load("spatial_3r"))},
            "the controller's model has 3 joints, the robot has 2",
        ),
        ({"controller": PD(model="spatial_3r")}, "the controller's model must be a Robot"),
        ({"q0": [1.0]}, r"q0 has shape \(1,\); expected \(\.\.\., 2\)"),
        ({"q0": [np.nan, 0.0]}, "q0 is not finite"),
        ({"q0": np.zeros((3, 2)), "qd0": np.zeros((2, 2))}, "batch shapes cannot be broadcast"),
        ({"controller": np.zeros(3)}, r"torques have shape \(3,\)"),
        (
            {"controller": lambda t, q, qd: np.zeros(3)},
            r"at 0 s the controller returned shape \(3,\)",
        ),
        (
            {"controller": lambda t, q, qd: np.full(2, np.nan)},
            "at 0 s the controller returned a torque that is not finite",
        ),
        ({"controller": PD(np.zeros(3))}, r"reference has shape \(3,\)"),
        ({"controller": PD(kp=[1.0, 2.0, 3.0])}, "kp has 3 numbers"),
        ({"controller": PD(wave(3))}, "the reference moves 3 joints"),
    ],
)
def test_bad_input_is_named(options: dict, message: str) -> None:
    with pytest.raises(sy.CallError, match=message):
        sy.simulate(pendulums(), **options)


@dataclass(frozen=True, eq=False)
class Push:
    """A controller of somebody else's: a constant torque that is no gain."""

    force: float
    reference: None = None
    model: None = None

    def gains(self, n: int) -> np.ndarray:
        return np.ones(1)

    def law(self, tree: object, q: list, qd: list, expected: object, gains: list) -> list:
        return [self.force * gains[0] + 0.0 * x for x in q]


@pytest.mark.parametrize("method", ["rk4", "adaptive"])
def test_controllers_of_one_class_that_differ_are_told_apart(method: str) -> None:
    ends = [
        sy.simulate(block({}), Push(force), seconds=0.1, method=method).qd[-1, 0]
        for force in (1.0, 3.0)
    ]
    np.testing.assert_allclose(ends, [0.05, 0.15], rtol=1e-9)


def test_what_a_controller_keeps_stays() -> None:
    selected = []
    run = sy.simulate(
        pendulums(), lambda t, q, qd: (selected.append(q), 0 * q)[1], [1.0, 0.4], seconds=0.01
    )
    np.testing.assert_array_equal(selected, run.q[:-1])


def test_a_log_has_an_even_rate_whatever_was_kept() -> None:
    run = sy.simulate(block({}), [1.0], seconds=0.1, every=30)
    np.testing.assert_allclose(run.log(Sensors.perfect()).t, [0.0, 0.03, 0.06, 0.09])
    assert run.drift < 1e-12


def test_what_is_no_robot_is_named() -> None:
    with pytest.raises(sy.CallError, match="load it first"):
        sy.simulate("ur5")  # type: ignore[arg-type]
    with pytest.raises(sy.CallError, match="one finite number"):
        PD(kp=np.nan)
    run = sy.simulate(pendulums(), q0=np.zeros((2, 2)), seconds=0.01)
    with pytest.raises(sy.CallError, match="take one"):
        run.log()


def test_one_run_under_a_function_is_its_batch_of_one() -> None:
    """Whatever the function does to the arrays that it is given, and whatever it returns them
    as.
    """

    def law(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        tau = np.sin(9 * t) - 3 * q - qd
        q += 1.0
        qd[...] = 0.0
        return tau

    robot, options = pendulums(), {"seconds": 0.05, "every": 7}
    batch = sy.simulate(robot, law, np.array([[1.0, 0.4]]), **options)
    for function in (law, lambda t, q, qd: law(t, q, qd).tolist()):
        alone = sy.simulate(robot, function, [1.0, 0.4], **options)
        for name in ("q", "qd", "tau", "work", "heat"):
            np.testing.assert_array_equal(getattr(alone, name), getattr(batch[0], name))


def test_the_drift_is_measured_by_the_largest_of_the_books() -> None:
    """A link that is lowered against a motor that brakes it, with friction.

    Heat and work each take a part of what it loses.
    """
    robot = sy.load("planar_2r").with_friction(viscous=40.0)
    q0 = np.array([0.0, 0.0])
    run = sy.simulate(robot, lambda t, q, qd: -30.0 * qd, q0, seconds=1.0, step=0.02)
    change = np.max(np.abs(run.energy - run.energy[0]))
    assert change > 1.2 * max(
        np.max(run.heat), np.max(np.abs(run.work)), np.max(robot.kinetic_energy(run.q, run.qd))
    )
    assert run.drift == pytest.approx(np.max(np.abs(run.audit)) / change)
    assert run.drift > 0

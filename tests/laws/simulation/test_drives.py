"""Drives and stops: limits in which they vanish, closed forms, energy balance, and bad input."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.linalg import eigh

import steelyard as sy
from steelyard.algebra.spatial import Inertia, Pose
from steelyard.algebra.vector import Symmetric
from steelyard.mechanism.model import Joint, Limits, Link, Mechanism
from steelyard.simulation import PD, Elastic, Motor, Sensors, Stops
from tests.laws.dynamics.law import close
from tests.laws.simulation.test_simulation import block

TAU = np.array([1.0, 2.0, 0.5])


@cache
def arm(limit: float = np.inf) -> sy.Robot:
    mechanism = sy.load("spatial_3r").without_friction().with_rotors(0.5).mechanism
    joints = [
        replace(joint, kind="revolute", limits=Limits(-limit, limit)) for joint in mechanism.joints
    ]
    return sy.Robot(replace(mechanism, joints=tuple(joints)))


def test_stiff_gears_are_rigid() -> None:
    rigid = sy.simulate(arm(), TAU, seconds=0.3)
    errors = []
    for stiffness in (1e4, 1e5):
        run = sy.simulate(arm(), TAU, seconds=0.3, step=2e-4, drive=Elastic(stiffness, 5.0))
        errors.append(np.abs(run.q[-1] - rigid.q[-1]).max())
        assert run.drift < 1e-6
    assert 5 < errors[0] / errors[1] < 20


def test_an_elastic_joint_oscillates_at_its_frequency() -> None:
    """Two masses and a spring: w^2 = k (1/m + 1/B)."""
    m, B, k = 2.0, 0.5, 100.0
    robot, w = block({}).with_gravity((0.0, 0.0, 0.0)), np.sqrt(100.0 * (1 / 2.0 + 1 / 0.5))
    run = sy.simulate(robot, [1.0], seconds=1.0, method="rk8", drive=Elastic(k, 0.0, B))
    stretch = run.drive_state[:, 0] - run.q[:, 0]
    close(stretch, (1.0 / B) / w**2 * (1 - np.cos(w * run.t)), 1e-9)
    close(m * run.qd[:, 0] + B * run.drive_state[:, 1], run.t, 1e-9)
    assert run.drift < 1e-12


def test_friction_holds_behind_a_spring() -> None:
    """A block sticks until its spring is wound far enough.

    The energy balance counts spring, rotor, damper and rubbing.
    """
    run = sy.simulate(
        block({"coulomb": 5.0}),
        lambda t, q, qd: np.array([40.0 * t]),
        seconds=0.4,
        drive=Elastic(300.0, 40.0, 0.5),
    )
    stuck = run.t < 0.1
    assert not run.qd[stuck].any()
    assert run.qd[-1] > 0.1
    assert run.drift < 1e-4


def test_motors_lag_and_run_out_of_voltage() -> None:
    robot = block({}).with_gravity((0.0, 0.0, 0.0))
    run = sy.simulate(
        robot, [4.0], seconds=0.05, step=1e-4, drive=Motor(2.0, 1.0, 1e-3, bandwidth=200.0)
    )
    close(run.drive_state[:, 0], 2.0 * (1 - np.exp(-200.0 * run.t)), 1e-8)
    assert run.drift < 1e-8
    weak = Motor(2.0, 1.0, 1e-3, voltage=6.0)
    run = sy.simulate(robot, [100.0], seconds=8.0, every=100, drive=weak)
    close(run.qd[-1], [6.0 / 2.0], 1e-3)  # no-load speed: voltage over the constant
    slow = sy.simulate(robot, [100.0], qd0=[1.0], seconds=0.02, drive=weak)
    assert abs(slow.drive_state[-1, 0] - (6.0 - 2.0 * slow.qd[-1, 0])) < 0.1  # u = R i + k w


def test_joints_stay_within_their_stops_and_the_books_close() -> None:
    for stops in (True, Stops(0.5)):
        run = sy.simulate(arm(0.5), seconds=2.0, stops=stops)
        assert np.abs(run.q).max() < 0.5 + 1.2e-3 * np.abs(run.qd).max()  # the way of a step
        assert run.drift < 1e-8
        assert np.all(np.diff(run.heat) >= -1e-12)
    rest = sy.simulate(arm(0.5), seconds=6.0, stops=True, every=100)
    assert not rest.qd[-1].all()  # some rest at their stops, exactly
    again = sy.simulate(
        arm(0.5), PD(np.zeros(3), 300.0, 60.0), rest.q[-1], rest.qd[-1], seconds=3.0, stops=True
    )
    assert np.abs(again.q[-1]).max() < 0.01  # and leave them when they are pulled away


def test_a_bounce_has_its_restitution() -> None:
    """A block that slides against a stop without gravity.

    V, then -e v, and what is lost is heat.
    """
    free = block({}).with_gravity((0.0, 0.0, 0.0)).mechanism
    robot = sy.Robot(
        replace(
            free, joints=tuple(replace(joint, limits=Limits(-9.0, 0.1)) for joint in free.joints)
        )
    )
    for e in (0.0, 0.3, 1.0):
        run = sy.simulate(robot, qd0=[0.4], seconds=0.5, stops=Stops(e))
        close(run.qd[-1], [-0.4 * e], 1e-12)
        close(run.heat[-1], 0.5 * 2.0 * 0.4**2 * (1 - e**2), 1e-12)
    for speed, back in ((0.015, 0.0), (0.03, -0.03)):  # slow ones stay
        run = sy.simulate(robot, q0=[0.0999], qd0=[speed], seconds=0.05, stops=Stops(1.0))
        close(run.qd[-1], [back], 1e-12)


def test_the_adaptive_method_strikes_stops_when_they_are_reached() -> None:
    """A block that a force drives against a stop.

    X = a t^2 / 2, then bounces of e times the speed; an arm whose joints bounce and rest.
    """
    free = block({}).with_gravity((0.0, 0.0, 0.0)).mechanism
    robot = sy.Robot(
        replace(
            free, joints=tuple(replace(joint, limits=Limits(-9.0, 0.1)) for joint in free.joints)
        )
    )
    a, e, speed = 3.0 / 2.0, 0.6, np.sqrt(2 * 1.5 * 0.1)
    run = sy.simulate(robot, [3.0], seconds=0.9, step=1e-2, method="adaptive", stops=Stops(e))
    expected, since, v = 0.5 * a * run.t**2, speed / a, speed
    for _ in range(3):
        v, after = e * v, run.t >= since
        expected = np.where(
            after, 0.1 - v * (run.t - since) + 0.5 * a * (run.t - since) ** 2, expected
        )
        since = since + 2 * v / a
    close(run.q[run.t < since, 0], expected[run.t < since], 1e-10)
    assert run.drift < 1e-10
    rough = arm(0.5).with_friction(coulomb=0.5)
    for result in (arm(0.5), rough):
        exact = sy.simulate(
            result, TAU, seconds=0.7, step=1e-2, method="adaptive", stops=Stops(0.3)
        )
        assert np.abs(exact.q).max() <= 0.5 + 1e-11
        assert exact.drift < 1e-9
        close(
            exact.q,
            sy.simulate(result, TAU, seconds=0.7, step=1e-4, every=100, stops=Stops(0.3)).q,
            2e-3,
        )


def test_a_stop_is_left_when_it_is_pulled_away_from() -> None:
    """The adaptive method finds the instant at which the force turns, and friction is overcome."""
    steep = block({"coulomb": 5.0}).with_gravity((0.0, 0.0, -9.81)).mechanism
    robot = sy.Robot(
        replace(
            steep, joints=tuple(replace(joint, limits=Limits(-9.0, 0.1)) for joint in steep.joints)
        )
    )
    run = sy.simulate(
        robot,
        lambda t, q, qd: np.array([8.0 - 20.0 * t]),
        q0=[0.1],
        seconds=1.0,
        step=1e-2,
        method="adaptive",
        stops=True,
    )
    fixed = run.t < 0.65  # until the pull is 5 N
    assert not run.qd[fixed].any()
    assert np.abs(run.q[fixed] - 0.1).max() == 0.0
    late = run.t[~fixed] - 0.65
    close(run.q[~fixed, 0], 0.1 - 20.0 / 2.0 * late**3 / 6, 1e-9)


def test_friction_and_stops_hold_together() -> None:
    """A block pushed against its stop stays.

    Pulled back by less than its friction it stays; by more it goes.
    """
    steep = block({"coulomb": 5.0}).with_gravity((0.0, 0.0, -9.81)).mechanism
    robot = sy.Robot(
        replace(
            steep, joints=tuple(replace(joint, limits=Limits(-9.0, 0.1)) for joint in steep.joints)
        )
    )
    for force, moves in ((50.0, False), (-4.0, False), (-6.0, True)):
        run = sy.simulate(robot, [force], q0=[0.1], seconds=0.1, stops=True)
        assert bool(run.qd[-1, 0] < 0) == moves
        assert moves or not run.qd.any()


def test_a_flexible_link_is_a_chain_of_segments_with_springs() -> None:
    """A clamped beam in six rigid segments with springs between them.

    First frequency 3.516 sqrt(EI / (rho L^4)), Rao 2011, table 8.4.
    """
    N, L, EI, rho = 6, 1.0, 20.0, 1.5  # segments, m, N m2, kg/m
    a = L / N
    m, I = rho * a, rho * a**3 / 3  # noqa: E741
    bar = Inertia(m, (a / 2 * m, 0.0, 0.0), Symmetric(1e-4 * I, 0.0, 0.0, I, 0.0, I))
    names = ["base", *(f"bar{k}" for k in range(N))]
    joints = [
        Joint(
            f"bend{k}",
            "revolute",
            names[k],
            names[k + 1],
            Pose(p=(a if k else 0.0, 0.0, 0.0)),
            (0.0, 0.0, 1.0),
        )
        for k in range(N)
    ]
    rigid = sy.Robot(
        Mechanism(
            "beam",
            (Link("base"), *(Link(name, bar) for name in names[1:])),
            tuple(joints),
            (0.0, 0.0, 0.0),
        )
    )
    stiffness = np.array([2 * EI / a, *[EI / a] * (N - 1)])  # half an element bends at the clamp
    beam = rigid.with_known_torque(
        {f"bend{k}": f"{s!r} * q['bend{k}']" for k, s in enumerate(stiffness.tolist())}
    )
    squares, shapes = eigh(np.diag(stiffness), beam.mass_matrix(np.zeros(N)))
    w = np.sqrt(squares[0])
    np.testing.assert_allclose(w, 3.516 * np.sqrt(EI / (rho * L**4)), rtol=0.02)
    run = sy.simulate(
        beam, q0=1e-4 * shapes[:, 0] / np.abs(shapes[:, 0]).max(), seconds=0.5, step=2e-4, every=10
    )
    close(run.q, run.q[0] * np.cos(w * run.t)[:, None], 1e-3, "the swing of its first mode")


def test_logs_have_what_drives_measure() -> None:
    robot, perfect = block({}), Sensors.perfect()
    run = sy.simulate(robot, [1.0], seconds=0.05, drive=Elastic(300.0, 1.0, 0.5))
    close(run.log(perfect).motor_position, run.drive_state[:, :1], 1e-15)
    run = sy.simulate(robot, [1.0], seconds=0.05, drive=Motor(2.0, 1.0, 1e-3))
    close(run.log(perfect).current, run.drive_state, 1e-15)
    log = sy.simulate(robot, [1.0], seconds=0.05).log(replace(perfect, torque_constant=0.5))
    close(log.current, np.full((51, 1), 2.0), 1e-15)
    assert (log.effort, log.tau) == ("current", None)
    with pytest.raises(sy.CallError, match="torque_constant is zero for some joints"):
        sy.simulate(arm(), seconds=0.01).log(replace(perfect, torque_constant=[1.0, 0.0, 1.0]))


def test_bad_input() -> None:
    for options, message in (
        ({"drive": Elastic(0.0)}, "stiffness of 'joint1' must be above zero|Elastic: stiffness"),
        ({"drive": Elastic([1.0, 2.0])}, "Elastic: stiffness has 2 numbers"),
        ({"drive": Elastic({"wrist": 1.0})}, "no joint is called 'wrist'"),
        ({"drive": Motor(1.0, -1.0, 1.0)}, "Motor: resistance"),
        ({"drive": "belt"}, "drive must be None, Elastic"),
        ({"drive": Elastic}, "not the class Elastic"),
        ({"stops": "soft"}, "stops must be True, False or Stops"),
        ({"stops": Stops(2.0)}, "restitution of .* must be from 0 to 1"),
        (
            {"stops": True, "method": "adaptive", "drive": Elastic(1e3, 1.0)},
            "adaptive method does not support stops behind drives",
        ),
        ({"saturate": "yes"}, "saturate must be True or False"),
    ):
        with pytest.raises(sy.CallError, match=message):
            sy.simulate(arm(), seconds=0.01, **options)
    for options in ({"plate": "yes"}, {"encoder": "fine"}, {"plate_noise": -1.0}):
        with pytest.raises(sy.CallError, match=f"sensors: {next(iter(options))}"):
            Sensors(**options)
    with pytest.raises(sy.CallError, match="has no rotor inertia in the description"):
        sy.simulate(arm().without_rotors(), seconds=0.01, drive=Elastic(100.0))

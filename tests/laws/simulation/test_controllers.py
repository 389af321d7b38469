"""Controllers in space, adaptive control and played torques.

Errors that decay as they must, what redundancy leaves alone, bad input.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.spatial import Inertia, Pose
from steelyard.algebra.vector import Symmetric
from steelyard.mechanism.model import Joint, Link, Mechanism
from steelyard.motion import line, point_to_point
from steelyard.simulation import Impedance, OperationalSpace, SlotineLi, perturbed
from steelyard.simulation.controllers.joint_space import parameter_sizes
from tests.laws.dynamics.law import close

Q = np.array([0.4, 0.7, -0.9])


@cache
def arm() -> sy.Robot:
    """Three joints, with a tool that they move in as many directions."""
    mechanism = sy.load("spatial_3r").without_friction().mechanism
    tool = Joint("mount", "fixed", mechanism.links[-1].name, "tool", Pose(p=(0.5, 0.0, 0.0)))
    return sy.Robot(
        replace(mechanism, links=(*mechanism.links, Link("tool")), joints=(*mechanism.joints, tool))
    )


def tip(q: np.ndarray) -> np.ndarray:
    return np.asarray(arm().forward_kinematics(q))


def test_operational_space_errors_decay_as_a_linear_system() -> None:
    """Position errors of an arm with a perfect model.

    E'' + kd e' + kp e = 0, here critically damped.
    """
    goal = tip(Q)
    run = sy.simulate(
        arm(),
        OperationalSpace(goal, kp=100.0, kd=20.0),
        Q + [0.05, -0.03, 0.04],
        seconds=0.6,
        step=5e-4,
    )
    e = tip(run.q)[:, :3, 3] - goal[:3, 3]
    expected = e[0] * ((1 + 10 * run.t) * np.exp(-10 * run.t))[:, None]
    assert np.abs(e - expected).max() < 0.01 * np.abs(e[0]).max()  # torques are held over steps


def test_operational_space_follows_a_line() -> None:
    start, end = tip(Q), tip(Q)
    end[:3, 3] += [-0.1, -0.1, 0.05]
    path = line(start, end, 0.4)
    run = sy.simulate(arm(), OperationalSpace(path, kp=400.0, kd=40.0), Q, seconds=0.5, step=5e-4)
    pose = path.motion(np.minimum(run.t, 0.4)).pose
    assert np.abs(tip(run.q)[:, :3, 3] - pose[:, :3, 3]).max() < 2e-4


def four_in_a_plane() -> sy.Robot:
    """Four rods that turn about z: one joint more than directions."""
    rod = Inertia(1.0, (0.2, 0.0, 0.0), Symmetric(0.01, 0.0, 0.0, 0.06, 0.0, 0.06))
    names = ["base", *(f"rod{k}" for k in range(4))]
    joints = [
        Joint(
            f"turn{k}",
            "revolute",
            names[k],
            names[k + 1],
            Pose(p=(0.4 if k else 0.0, 0.0, 0.0)),
            (0.0, 0.0, 1.0),
        )
        for k in range(4)
    ]
    return sy.Robot(
        Mechanism("four", (Link("base"), *(Link(name, rod) for name in names[1:])), tuple(joints))
    )


def test_what_is_free_of_the_task_does_not_feel_it() -> None:
    """Damping of the joints stops their motion within the task, and leaves the frame alone."""
    robot, q0 = four_in_a_plane(), np.array([0.3, 0.8, -0.6, 0.9])
    within = robot.nullspace_projector(q0) @ np.ones(4)
    goal = robot.forward_kinematics(q0)
    paths = [
        sy.simulate(robot, OperationalSpace(goal, 400.0, 40.0, resting=d), q0, within, seconds=0.5)
        for d in (0.0, 5.0)
    ]
    for run in paths:
        assert np.abs(np.asarray(robot.forward_kinematics(run.q)) - goal).max() < 2e-3
    assert np.linalg.norm(paths[1].qd[-1]) < 0.01 * np.linalg.norm(paths[0].qd[-1])


def test_impedance_gives_way_like_a_spring() -> None:
    """A load that the controller does not know, at rest.

    The tip sags by f / stiffness; and energy and spring only lose.
    """
    goal, stiffness = tip(Q), 2000.0
    loaded = arm().with_payload(0.5, (0.0, 0.0, 0.0))
    law = Impedance(goal, stiffness, [300.0] * 3 + [0.0] * 3, model=arm())
    run = sy.simulate(loaded, law, Q, seconds=3.0, every=50)
    sag = tip(run.q[-1])[:3, 3] - goal[:3, 3]
    close(sag[2], -0.5 * 9.81 / stiffness, 0.03)
    weightless = arm().with_gravity((0.0, 0.0, 0.0))
    run = sy.simulate(
        weightless,
        Impedance(goal, [2000.0] * 3 + [0.0] * 3, [100.0] * 3 + [0.0] * 3),
        Q + 0.1,
        seconds=1.5,
        step=5e-4,
    )
    e = np.asarray(weightless.forward_kinematics(run.q))[:, :3, 3] - goal[:3, 3]
    V = run.energy + 0.5 * 2000.0 * np.sum(e**2, axis=1)
    assert np.diff(V).max() < 1e-3 * V[0]
    assert V[-1] < 0.01 * V[0]


def test_slotine_li_learns() -> None:
    """Its Lyapunov function falls, the tracking error goes to zero, and other parameters than the
    model's give the right torques.
    """
    true, path = (
        perturbed(arm(), seed=2, spread=0.3),
        point_to_point(np.zeros(3), np.array([1.0, -0.5, 0.8]), 1.0),
    )
    law = SlotineLi(path, rate=10.0, kd=30.0, gamma=0.5, model=arm())
    run = sy.simulate(true, law, np.full(3, 0.05), seconds=2.0, step=2e-4, every=20)
    q, qd, _ = path.motion(np.minimum(run.t, 1.0))
    s = run.qd - np.where(run.t[:, None] <= 1.0, qd, 0.0) + 10.0 * (run.q - q)
    wrong = (run.memory - true.parameters) / np.array(parameter_sizes(arm().tree))
    V = 0.5 * np.einsum("ti,tij,tj->t", s, true.mass_matrix(run.q), s) + 0.5 / 0.5 * np.sum(
        wrong**2, axis=1
    )
    assert np.diff(V).max() < 1e-4 * V[0]
    assert V[-1] < V[0]
    fixed = sy.simulate(
        true,
        SlotineLi(path, rate=10.0, kd=30.0, gamma=0.0, model=arm()),
        np.full(3, 0.05),
        seconds=2.0,
        step=2e-4,
        every=20,
    )
    assert np.abs(run.q[-1] - q[-1]).max() < 0.3 * np.abs(fixed.q[-1] - q[-1]).max()
    close(fixed.memory[-1], arm().parameters, 1e-15)


def test_a_log_is_played() -> None:
    run = sy.simulate(arm(), [1.0, -2.0, 0.5], Q, seconds=0.2)
    again = sy.simulate(arm(), run.log(sy.Sensors.perfect()), Q, seconds=0.2)
    close(again.q, run.q, 1e-12)


def test_bad_input() -> None:
    run = sy.simulate(arm(), [1.0, -2.0, 0.5], Q, seconds=0.02)
    log = run.log()
    for law, message in (
        (
            OperationalSpace(np.eye(3)),
            r"not a PoseTrajectory, has shape \(3, 3\); expected a finite pose",
        ),
        (OperationalSpace(np.full((4, 4), np.nan)), "expected a finite pose"),
        (OperationalSpace(2 * np.eye(4)), "is not a pose"),
        (OperationalSpace(frame=3), "frame must be a str"),
        (OperationalSpace, r"the class OperationalSpace; make an instance"),
        (
            OperationalSpace(kp=[1.0, 2.0]),
            "kp has 2 numbers; expected one, or one for each of 6 directions",
        ),
        (OperationalSpace(resting=[1.0, 2.0]), "one for each of 3 joints"),
        (OperationalSpace(frame="hand"), "no frame is called 'hand'"),
        (Impedance(stiffness=[1.0] * 5), "stiffness has 5"),
        (SlotineLi(rate=[1.0, 2.0]), "rate has 2"),
        (log.replace(tau=None), "no torque to play"),
        (log.replace(tau=np.full(log.q.shape, np.nan)), "torques to play must be finite"),
    ):
        with pytest.raises(sy.CallError, match=message):
            sy.simulate(arm(), law, seconds=0.01)
    for make, message in (
        (lambda: SlotineLi(gamma=-1.0), "gamma"),
        (lambda: Impedance(damping=np.inf), "damping must be one finite number"),
        (lambda: OperationalSpace(kp="stiff"), "kp must be an array of numbers"),
    ):
        with pytest.raises(sy.CallError, match=message):
            make()
    with pytest.raises(
        sy.CallError, match="adaptive method does not support a controller that learns"
    ):
        sy.simulate(arm(), SlotineLi(), seconds=0.01, method="adaptive")

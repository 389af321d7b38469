"""Kernels of one robot that differ in anything are different kernels.

Everything that a program depends on is in its key.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import steelyard as sy
from steelyard import kernels
from steelyard.kernels import kernel, program
from steelyard.motion.inverse_kinematics.analytic import analytic
from steelyard.motion.inverse_kinematics.numerical import ik_step_kernel
from tests import zoo
from tests.motions import rubbing

CHOICES = {  # two values of each option, and an algorithm that takes it
    "wrench": ("inverse_dynamics", [None, ("link_boom",), ("link_hook",), ()]),
    "base": ("inverse_dynamics", [False, True]),
    "parameters": ("inverse_dynamics", [False, True]),
    "frame": ("forward_kinematics", ["link_boom", "link_hook", "tool_hook"]),
    "columns": ("regressor", [None, (14, 15), (15, 14), (22,)]),
}


def test_every_option_of_a_kernel_is_tried_here() -> None:
    options = [
        name for name, p in inspect.signature(kernel).parameters.items() if p.kind is p.KEYWORD_ONLY
    ]
    assert options == list(CHOICES)


@pytest.mark.parametrize("option", CHOICES)
def test_kernels_that_differ_in_one_option_compute_different_things(option: str) -> None:
    robot, (name, values) = zoo.robot("crane"), CHOICES[option]
    results = [kernel(robot.tree, name, **{option: value}) for value in values]
    assert len({id(each) for each in results}) == len(values)
    assert [each.digest for each in results] == [
        program(robot.tree, name, **{option: value}).digest for value in values
    ]
    assert len({each.digest for each in results}) == len(values)


def test_kernels_differ_by_robot_and_by_algorithm() -> None:
    one, other = zoo.robot("crane"), zoo.robot("crusher")
    pairs = [(robot, name) for robot in (one, other) for name in ("mass_matrix", "gravity_torque")]
    assert len({kernel(robot.tree, name).digest for robot, name in pairs}) == 4


@pytest.mark.parametrize("option", CHOICES)
def test_what_is_recalled_from_disk_is_told_apart_by_the_same_options(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []
    monkeypatch.setattr(kernels, "_kernels", {})
    monkeypatch.setattr(
        kernels.Kernel, "from_cache", classmethod(lambda cls, key, make: seen.append(key))
    )
    robot, (name, values) = zoo.robot("crane"), CHOICES[option]
    for value in values:
        kernel(robot.tree, name, **{option: value})
    assert len(set(seen)) == len(values)
    assert None not in seen


@pytest.mark.parametrize("method", ["analytic", "numerical"])
def test_inverse_kinematics_of_two_frames_of_one_robot_reach_both(method: str) -> None:
    """Also one after the other, in one process.

    The steps towards one frame are not those towards the other.
    """
    robot = sy.load("elbow_6r")
    tips = [robot.body_names[-1], robot.body_names[-2]]
    q = np.random.default_rng(4).uniform(-1.0, 1.0, (3, robot.n))
    for frame in tips:
        pose = robot.forward_kinematics(q, frame=frame)
        solutions = sy.inverse_kinematics(
            robot,
            pose,
            frame=frame,
            q0=q + 0.05,
            method="numerical" if method == "numerical" else "auto",
        )
        assert solutions.valid.any(axis=-1).all()
        reached = robot.forward_kinematics(solutions.q, frame=frame)
        error = np.linalg.norm(
            np.where(solutions.valid[..., None, None], reached - pose[:, None], 0.0), axis=(-2, -1)
        )
        assert error.max() < 1e-6
    if method == "numerical":
        digests = {
            ik_step_kernel(robot, frame, fixed).digest for frame in tips for fixed in ((), (0,))
        }
        assert len(digests) == 4


def test_closed_forms_differ_by_frame_and_by_the_joint_that_is_held() -> None:
    robot = sy.load("elbow_6r").with_payload(1.0, (0.0, 0.0, 0.1))
    forms = [
        analytic(robot, frame, None, limited)
        for frame in robot.body_names[-1:]
        for limited in (True, False)
    ]
    digests = {form.kernel.digest for form in forms if form is not None}
    assert len(digests) == 2


def test_other_friction_and_other_rotors_are_other_robots() -> None:
    plain = sy.load("planar_2r")
    robots = [
        plain,
        rubbing(plain),
        plain.with_rotors([0.1, 0.2]),
        plain.with_gravity((0, 0, -1.6)),
        plain.with_friction(viscous=1.0),
    ]
    assert len({robot.fingerprint for robot in robots}) == len(robots)
    state = np.full((3, 2), 0.4)
    assert len({robot.inverse_dynamics(*state).tobytes() for robot in robots}) == len(robots)

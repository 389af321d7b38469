"""Small choices: what is counted, left out, refused or drawn, where a wrong one would be seen late."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from matplotlib import pyplot
from typer.testing import CliRunner

import steelyard as sy
from steelyard.apps.cli import app
from steelyard.drawing.figure import Points
from steelyard.drawing.skeleton import Skeleton, draw_skeleton
from steelyard.experiments.loads.static_poses import _candidates
from steelyard.experiments.online.watch import MISSES, JointStates, matched
from steelyard.identification.doctor.finding import Diagnosis
from steelyard.identification.estimators.errors_in_variables import maximum_likelihood
from steelyard.identification.figures.torque_figures import error_figure
from steelyard.identification.friction.residual_split import explained
from steelyard.mechanism import Joint, Limits
from steelyard.mechanism.formats.urdf.loop_elements import _numbers
from steelyard.signals.clean.faults import wrong_velocities
from steelyard.signals.log import Log
from steelyard.signals.read.joint_states import Message, per_time_stamp


def test_findings_as_data_have_every_field() -> None:
    finding = SimpleNamespace(
        fault="clock", severity=2, probability=0.9, sentence="Late.", fix="Wait.", joints=("a", "b"), hypotheses=("x", "y")
    )
    data = Diagnosis.table(SimpleNamespace(findings=(finding,))).data  # type: ignore[arg-type]
    assert {name: values[0] for name, values in data.items()} == {**vars(finding), "joints": "a, b", "hypotheses": "x; y"}


def test_velocities_with_holes_are_not_judged() -> None:
    t = np.arange(200) / 100.0
    q = np.sin(t)[:, None]
    wrong = Log(t=t, q=q, qd=3.0 * np.cos(t)[:, None])
    assert any("does not fit its position" in said for said in wrong_velocities(wrong))
    holes = 3.0 * np.cos(t)[:, None]
    holes[7] = np.nan
    assert list(wrong_velocities(wrong.replace(qd=holes))) == []


def test_a_residual_that_is_zero_now_and_then_is_explained_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    e = X @ [1.0, 2.0, 3.0]
    e[[0, 100]] = 0.0
    assert explained(X, e) > 0.9
    assert explained(X, np.zeros(400)) == 0.0


def states(names: tuple[str, ...], count: int) -> list[JointStates]:
    return [JointStates(0.01 * k, names, *(np.full(len(names), float(k)),) * 3) for k in range(count)]


def test_messages_about_other_joints_are_passed_over_up_to_a_hundred() -> None:
    robot = sy.load("planar_2r")
    others, own = states(("gripper",), MISSES - 1), states(("joint2", "joint1"), 2)
    assert len(list(matched(iter([*others, *own, *others, *own]), robot, "the topic"))) == 4
    with pytest.raises(sy.LogError, match="has no joint joint1, joint2"):
        list(matched(iter([*others, *states(("gripper",), 1)]), robot, "the topic"))


def test_a_robot_fills_its_picture() -> None:
    """A twentieth of its size is left on either side."""
    none = np.zeros((0, 3))
    line = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    figure = draw_skeleton([Skeleton([line], none, none, (), np.zeros(0, bool), none, np.zeros(0), {})])
    (axes,) = figure.axes
    low, high = axes.get_zlim()  # type: ignore[attr-defined]
    pyplot.close(figure)
    assert high - low == pytest.approx(2.2)
    assert low == pytest.approx(-0.1)


@pytest.mark.parametrize("sigma", [-1.0, 0.0, [0.1, -0.1], [0.1, np.inf], [0.1, np.nan], [0.1, 0.1, 0.1]])
def test_noise_of_static_poses_is_positive_at_every_joint(sigma: object) -> None:
    with pytest.raises(sy.CallError, match="sigma"):
        sy.static_poses(sy.load("planar_2r"), sigma=sigma)  # type: ignore[arg-type]


def test_errors_are_drawn_in_per_cent_where_they_are_positive() -> None:
    figure = error_figure(["a", "b", "c"], [("after", np.array([0.02, 0.5, 0.0]))])
    (points,) = figure.panels[0].of(Points)
    np.testing.assert_allclose(points.x, [2.0, 50.0, np.nan])


@pytest.mark.parametrize("name", ["pd", "computed-torque", "feedforward", "slotine-li"])
def test_every_controller_can_be_typed(name: str) -> None:
    asked = ["simulate", "planar_2r", "--to", "0.2,0.1", "--controller", name, "--kp", "100", "--kd", "20", "--seconds", "1"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output


def test_rows_of_one_joint_each_are_joined_by_their_time() -> None:
    rows = [Message(t, (name,), (t + k,), (0.0,), (1.0,)) for t in (0.0, 0.1) for k, name in enumerate("ab")]
    joined = per_time_stamp(rows)
    assert [message.name for message in joined] == [("a", "b")] * 2
    assert [message.position for message in joined] == [(0.0, 1.0), (0.1, 1.1)]
    assert per_time_stamp(joined) == joined


def test_the_torque_has_the_most_likely_noise_beside_that_of_the_positions() -> None:
    """sum (e^2 - v) / v^2 = 0 with v = sigma^2 + what positions bring to each row."""
    rng = np.random.default_rng(5)
    made = np.exp(rng.normal(size=(4000, 1)))
    tau = np.sqrt(0.5 + made) * rng.normal(size=(4000, 1))
    block = SimpleNamespace(tau=tau, rows=np.zeros((4000, 1, 1)), keep=None, log=0)
    model = SimpleNamespace(covariance=lambda *_: made[:, :, None])
    with (
        patch.object(maximum_likelihood, "blocks_with_states", lambda _: [(block, None)]),
        patch.object(maximum_likelihood, "noise", lambda *_: np.sqrt(np.mean(tau**2, axis=0))),
    ):
        sigma2, share = maximum_likelihood.torque_variance(SimpleNamespace(total=None), model, np.zeros(1), [None])  # type: ignore[arg-type,list-item]
    v = sigma2 + made
    assert abs(np.sum((tau**2 - v) / v**2)) < 1e-3 * np.sum(1 / v)
    assert share == pytest.approx(sigma2 / np.mean(tau**2))


def test_a_name_that_the_output_cannot_write_is_written_in_ascii(root: Path, tmp_path: Path) -> None:
    text = (root / "src/steelyard/mechanism/robots/planar_2r.toml").read_text(encoding="utf-8").replace("joint1", "h\u00fcfte")
    (tmp_path / "arm.toml").write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "steelyard", "info", str(tmp_path / "arm.toml")]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"h\\xfcfte" in done.stdout


def test_static_poses_are_within_a_turn_where_there_are_no_limits_and_within_them_where_there_are() -> None:
    mechanism = sy.load("planar_2r").mechanism

    def limited(joint: Joint, limits: Limits) -> Joint:
        return replace(joint, limits=limits) if joint.kind != "fixed" else joint

    first, second = (joint.name for joint in mechanism.joints if joint.kind != "fixed")
    ends = {first: Limits(), second: Limits(-1.0, 9.0)}
    robot = sy.Robot(replace(mechanism, joints=tuple(limited(joint, ends.get(joint.name, Limits())) for joint in mechanism.joints)))
    poses = _candidates(robot, 1.0, 0.0, np.random.default_rng(0))
    np.testing.assert_allclose([poses.min(axis=0), poses.max(axis=0)], [[-np.pi, -1.0], [np.pi, 2 * np.pi]], atol=0.3)
    assert np.all(np.abs(poses[:, 0]) <= np.pi)


@pytest.mark.parametrize(("text", "good"), [("0 1e3 -2", True), ("0 nan 0", False), ("0 0 1e99", False), ("0 0", False), ("a b c", False)])
def test_numbers_of_a_loop_are_numbers_all_of_them(text: str, good: bool) -> None:
    problems: list[str] = []
    found = _numbers(text, 3, SimpleNamespace(line=4, tag="loop"), "xyz", problems, "arm.urdf")  # type: ignore[arg-type]
    assert found == ([0.0, 1e3, -2.0] if good else [0.0] * 3)
    assert bool(problems) is not good


def test_the_heat_of_viscous_friction_alone_is_in_the_books() -> None:
    """No joint can stick, and no rotor turns: friction is all that the joints have."""
    run = sy.simulate(sy.load("planar_2r").with_friction(viscous=5.0), q0=[0.5, 0.0], seconds=1.0)
    assert run.heat[-1] > 1.0
    assert run.drift < 1e-6

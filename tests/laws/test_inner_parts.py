"""Inner parts whose mistakes whole answers would hide: a step, a threshold, a scale; each against a closed form."""

from __future__ import annotations

import pickle
import signal
from dataclasses import fields, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from matplotlib import pyplot

import steelyard as sy
from steelyard.drawing.figure import Curve, Figure, Panel
from steelyard.drawing.matplotlib_renderer import to_matplotlib
from steelyard.drawing.numbers import with_uncertainty
from steelyard.drawing.parameter_table import parameter_table
from steelyard.drawing.skeleton import Skeleton
from steelyard.experiments.excitation.barrier import LogBarrier
from steelyard.experiments.excitation.information import Information
from steelyard.experiments.excitation.interior_point import _solve, _updated
from steelyard.experiments.excitation.prior import inflation, known_information, translation
from steelyard.experiments.loads.dwells import SETTLING, dwells
from steelyard.identification.doctor.mechanics.candidate import others_and_description, torque_slope
from steelyard.identification.doctor.mechanics.view import view_of
from steelyard.identification.friction.term_search import Search
from steelyard.identification.model.joint_terms import with_shape
from steelyard.identification.result.expected_error import between_limits
from steelyard.identification.samples.samples import Samples
from steelyard.isolation.child import _ended
from steelyard.mechanism import Limits, edit, load
from steelyard.mechanism.formats.urdf.loop_elements import _with_z
from steelyard.motion.trajectories.reachability import Constraints, Lines, bounding_lines, speed_ranges
from steelyard.signals.log import Log
from steelyard.signals.read.joint_states import Series, on_one_clock
from tests.motions import coloured, fourier
from tests.statistics.test_autocorrelation import searches
from tests.thresholds.mechanics import first_trial


def test_the_cube_around_a_robot_leaves_out_points_that_are_nowhere() -> None:
    """A link of no mass has no centre: some of its coordinates may be numbers all the same."""
    none = np.zeros((0, 3))
    centres = np.array([[1.0, 0.0, 0.0], [np.nan, 50.0, 0.0]])
    skeleton = Skeleton([], none, none, (), np.zeros(0, bool), centres, np.array([1.0, 0.0]), {})
    middle, side = skeleton.corners
    np.testing.assert_allclose(middle, [0.5, 0.0, 0.0])
    assert side == 1.0


def test_a_step_within_limits_is_that_of_the_slack_that_shrinks_fastest() -> None:
    barrier = LogBarrier(np.zeros((4, 1, 1)), ())
    states = np.zeros((4, 1, 1))
    assert barrier.longest_step(states, states, np.array([-4.0, 0.5, -2.0])) == 0.25
    assert barrier.longest_step(states, states, np.array([0.5, 3.0])) == np.inf


def test_speeds_between_bounds_that_cross() -> None:
    """u between -1 + 2 x and 3 - 2 x, and x at least 0.25 by a line alone: x from 0.25 to 1."""
    slope, low, high = np.array([[2.0, -2.0]]), np.array([[-1.0, -9.0]]), np.array([[9.0, 3.0]])
    lines = Lines(slope, low, high, np.array([0.25]), np.array([9.0]))
    assert np.ravel(speed_ranges(lines)) == pytest.approx((0.25, 1.0))
    crossed = lines._replace(slope=np.zeros((1, 2)), high=np.array([[9.0, -2.0]]))
    least, largest = speed_ranges(crossed)
    assert largest < least, "parallel bounds that contradict each other"


def test_the_variances_of_a_fit_are_those_of_white_noise_times_what_its_memory_makes_of_them() -> None:
    robot = sy.load("planar_2r").with_friction(viscous=0.5)
    t, q, qd, qdd = fourier(2, 20.0, 100.0, seed=3)
    noise = coloured(q.shape, 0.9, np.random.default_rng(1))
    tau = robot.inverse_dynamics(q, qd, qdd) + 0.2 * noise
    fit = sy.identify(robot, Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau), "wls", smoothing=None, delay=0.0, decimate=1)
    R = fit.uncertainty.information[: fit.base.n_base, : fit.base.n_base]
    plain = np.diag(np.linalg.inv(R.T @ R))
    found = inflation(fit, R.T @ R)
    assert found == pytest.approx(float(np.median(fit.base_std**2 / plain)))
    assert found > 3.0, "rows that remember a tenth of a second"
    information = Information.of(robot, np.full(2, 0.2))
    base = information.base
    T = translation(base.matrix, base.parameter_names, fit.base.matrix, fit.base.parameter_names, R)
    assert T is not None
    np.testing.assert_allclose(known_information(information, fit), T.T @ (R.T @ R / found) @ T, rtol=1e-9)


def test_a_dwell_begins_when_the_robot_has_settled() -> None:
    """What the torque does in the first tenth of a second of a rest is no weight."""
    robot, rate = sy.load("planar_2r"), 200.0
    way = np.linspace(0.0, 0.5, 100)[:, None] * np.ones(2)
    still = np.zeros(2)
    q, tau = [], []
    for k in range(4):
        rest = 0.5 * (k + 1) * np.ones((200, 2))
        hold = robot.inverse_dynamics(rest[0], still, still)
        ringing = np.where(np.arange(200)[:, None] < 0.9 * (SETTLING + 0.1) * rate, 50.0, 0.0)
        q += [way + 0.5 * k, rest]
        tau += [np.tile(hold, (100, 1)), hold + ringing]
    log = Log(t=np.arange(1200) / rate, q=np.concatenate(q), tau=np.concatenate(tau), joint_names=robot.joint_names)
    found = dwells(robot, log)
    np.testing.assert_allclose(found.tau, robot.gravity_torque(found.q), atol=1e-6 * np.abs(found.tau).max())


def test_the_inertia_of_a_load_may_be_rounded_as_its_largest_entry_allows() -> None:
    mechanism = load("planar_2r")
    flat = [[1e-10, 1e-12, 0.0], [0.0, 1e-10, 0.0], [0.0, 0.0, 1.0]]
    assert edit.with_payload(mechanism, 1.0, (0.0, 0.0, 0.0), flat) == edit.with_payload(
        mechanism, 1.0, (0.0, 0.0, 0.0), [[1e-10, 1e-12, 0.0], [1e-12, 1e-10, 0.0], [0.0, 0.0, 1.0]]
    )
    with pytest.raises(sy.CallError, match="symmetric"):
        edit.with_payload(mechanism, 1.0, (0.0, 0.0, 0.0), [[1.0, 1e-6, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def test_friction_that_no_joint_has_wins_nothing() -> None:
    _, search = searches(0.0)
    candidate = next(each for each in search.candidates if each.positive)
    for sign, worth in ((1.0, np.isfinite), (-1.0, lambda x: x == -np.inf)):
        x = search.solve(candidate)
        x[search.b :] = sign
        with patch.object(Search, "solve", lambda *_, x=x: x):
            assert worth(search.information(candidate))


@pytest.mark.parametrize("factor", [1.0, 1.7, -0.4])
def test_the_slope_of_a_torque_over_that_of_the_bodies(factor: float) -> None:
    design = first_trial()[1].design
    u = np.random.default_rng(2).uniform(0.5, 1.5, design.K)
    for joint in range(2):
        E, A = design.to_u[joint], design.columns[joint]
        bodies = design.known[:, joint] + A @ (design.zero[joint] + E[:, : design.inner] @ u[: design.inner])
        rubs = A @ E[:, design.inner :] @ np.arange(1.0, design.K - design.inner + 1)
        tau = np.zeros((design.N, 2))
        tau[:, joint] = factor * bodies + rubs
        assert torque_slope(design, tau, u, joint) == pytest.approx(factor, rel=1e-6)


def test_a_reader_that_computes_too_long_is_told_from_one_that_crashes() -> None:
    assert "takes more than 5 s" in _ended(-signal.SIGXCPU, 5.0)
    assert "takes more than 5 s" in _ended(1, 5.0)
    assert "ended with SIGSEGV" in _ended(-signal.SIGSEGV, 5.0)
    assert "exit code 24" in _ended(int(signal.SIGXCPU), 5.0)


def test_positions_between_limits_are_within_a_turn_where_there_are_none() -> None:
    robot = sy.load("planar_2r")
    free = sy.Robot(replace(robot.mechanism, joints=tuple(replace(joint, limits=Limits()) for joint in robot.mechanism.joints)))
    spread = between_limits(free, np.zeros((2000, 2)))
    assert 0.98 * np.pi < np.abs(spread).max() < np.pi
    assert spread.min() < -0.9 * np.pi < 0.9 * np.pi < spread.max()


def test_a_step_of_the_search_is_finite_in_every_direction() -> None:
    """Where a direction has next to no curvature the gradient itself is the step."""
    assert np.isfinite(_solve(np.diag([1e-320, 1e-320]), np.array([1.0, 0.0]))).all()
    np.testing.assert_allclose(_solve(np.diag([2.0, 4.0]), np.array([1.0, 1.0])), [0.5, 0.25])


def test_what_the_other_joints_say_of_the_links_does_not_depend_on_the_one_that_is_asked_about() -> None:
    trial = first_trial()[1]
    design, tau = trial.design, trial.torque
    for joint in range(2):
        changed = tau.copy()
        changed[:, joint] *= 7.0
        found = [others_and_description(design, design.targets(each)[0], np.ones(2), np.full(2, 1e-3), joint) for each in (tau, changed)]
        np.testing.assert_allclose(found[1], found[0], atol=1e-9 * np.abs(found[0]).max())
        assert np.abs(found[0]).max() > 0


def test_base_parameters_are_printed_in_columns(example_robots: Path) -> None:
    base = sy.base_parameters(sy.load(example_robots / "ur_description/urdf/ur5_robot.urdf"))
    assert len({len(name) for name in base.names}) > 1
    rows = str(base).splitlines()[1:-1]
    assert len({row.index(text, 2 + len(name)) for row, name, text in zip(rows, base.names, base.expressions, strict=True)}) == 1


def test_a_view_has_fifty_rows_in_a_period_of_the_motion() -> None:
    t = np.arange(20_000) / 1000.0
    wave = np.sin(2 * np.pi * t)[:, None] * np.ones(2)
    samples = Samples(t, wave, wave, wave, wave)
    step = np.median(np.diff(view_of([samples], most=100).t))
    assert 1 / 55 < step < 1 / 45


def test_a_coefficient_that_is_rounding_beside_the_others_bounds_no_acceleration() -> None:
    a, b = np.tile([1e3, 1e-10], (2, 1)), np.tile([0.0, 4.0], (2, 1))
    lines = bounding_lines(Constraints(a, b, np.zeros((2, 2)), np.ones((2, 2)), np.ones(2)), np.array([0.0, 1e-12]))
    np.testing.assert_array_equal(np.isinf(lines.high), [[False, True, False, True]])
    np.testing.assert_allclose(lines.high[0, ::2], 1e-3)
    np.testing.assert_allclose(lines.low[0, ::2], -1e-3)
    np.testing.assert_allclose((lines.least[0], lines.largest[0]), (0.0, 0.25))


@pytest.mark.parametrize("name", sy.robots())
def test_a_tree_that_was_sent_to_another_process_is_the_same(name: str) -> None:
    tree = sy.load(name).tree
    there = pickle.loads(pickle.dumps(tree))
    for field in fields(tree):
        assert getattr(there, field.name) == getattr(tree, field.name), field.name
    closed = replace(tree, rows=(0, 1), independent=(0,))
    assert pickle.loads(pickle.dumps(closed)).independent == (0,)


def test_what_two_joints_share_is_as_smooth_as_the_smoother_of_them() -> None:
    robot = sy.load("planar_2r").with_friction(coulomb=1.0).with_coupling("joint1", "joint2", coulomb=0.5)
    for widths in ((0.02, 0.3), (0.3, 0.02)):
        (coupling,) = with_shape(robot, "width", widths).mechanism.couplings
        assert coupling.terms.get("width") == 0.3


def test_an_update_of_the_curvature_is_that_of_bfgs_or_as_much_of_it_as_stays_positive() -> None:
    """Nocedal and Wright, Numerical Optimization, 2006, procedure 18.2: where s y is too small, r s is a fifth of s B s."""
    rng = np.random.default_rng(3)
    half = rng.normal(size=(4, 4))
    B, s = half @ half.T + np.eye(4), rng.normal(size=4)
    right = B @ s + 0.1 * s
    made = _updated(B, s, right)
    np.testing.assert_allclose(made @ s, right, rtol=1e-9)
    damped = _updated(B, s, -right)
    assert s @ damped @ s == pytest.approx(0.2 * s @ B @ s)
    assert np.linalg.eigvalsh(damped).min() > 0


def test_a_figure_has_room_for_its_rows_and_three_quarters_of_an_inch_for_labels() -> None:
    panel = Panel(marks=(Curve(x=np.arange(3.0), y=np.arange(3.0)),))
    made = [to_matplotlib(Figure(name="f", rows=((panel,),) * rows), "page", row_height=2.0) for rows in (1, 3)]
    assert [figure.get_size_inches()[1] for figure in made] == [2.75, 6.75]
    for figure in made:
        pyplot.close(figure)


def test_joints_of_different_messages_are_put_on_the_clock_of_the_most() -> None:
    dense, sparse = np.linspace(0.0, 1.0, 101), np.linspace(0.0, 1.0, 11)
    series = [Series(t, np.column_stack([t, t, t])) for t in (sparse, dense)]
    t, values, remarks = on_one_clock(["a", "b"], series)
    np.testing.assert_array_equal(t, dense)
    np.testing.assert_allclose(values[:, 0, 0], dense, atol=1e-12)
    assert "a were interpolated" in remarks[0]


@pytest.mark.parametrize("axis", [(0.0, 0.0, 2.0), (0.0, 3.0, 0.0), (1.0, 0.0, 0.0), (0.3, -0.2, 0.9), (0.1, 0.99, 0.0)])
def test_a_loop_has_its_axis_as_z_of_a_rotation(axis: tuple[float, float, float]) -> None:
    R = np.array(_with_z(axis, "revolute"))
    np.testing.assert_allclose(R[:, 2], np.array(axis) / np.linalg.norm(axis), atol=1e-12)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)
    np.testing.assert_array_equal(_with_z(axis, "weld"), np.eye(3))


def test_a_parameter_is_given_with_two_standard_deviations() -> None:
    made = parameter_table("", ["a", "b"], np.array([10.0, -2.0]), np.array([0.15, 0.004]), ["a", "b"])
    assert [row[1:3] for row in made.rows] == [with_uncertainty(10.0, 0.3), with_uncertainty(-2.0, 0.008)]
    assert [row[3] for row in made.rows] == ["1.5", "0.2"]

"""Loops: closures and their derivatives, closed configurations, torques with multipliers, motion
that keeps loops closed.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import steelyard as sy
from steelyard.dynamics.loops.closure import closure
from steelyard.errors import CallError
from steelyard.kernels import LOOP_ALGORITHMS, program
from steelyard.mechanism.loops import FRAME_KINDS, JOINT_KINDS
from tests.interpret import run
from tests.loop_robots import CLOSED, every_kind, four_bar_with, motion, robot
from tests.random_robots import close

loops_of = pytest.mark.parametrize("name", CLOSED)


def dot(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", matrix, vector)


def states(result: sy.Robot, samples: int = 3) -> tuple[np.ndarray, np.ndarray]:
    q, qd = np.random.default_rng(2).uniform(-0.8, 0.8, (2, samples, result.n))
    return q, qd


def test_closure_jacobian_is_the_complex_step_of_the_closure() -> None:
    result = every_kind()
    (q, _), step = states(result), 1e-30
    for c in range(result.n):
        moved = [q[:, k] + (1j * step if k == c else 0.0) for k in range(result.n)]
        derivative = (
            np.array([np.broadcast_to(np.imag(x), len(q)) for x in closure(result.tree, moved)]).T
            / step
        )
        close(result.closure_jacobian(q)[..., c], derivative, 1e-12)
    assert {loop.kind for loop in result.mechanism.loops} == {*FRAME_KINDS, *JOINT_KINDS}


def test_closure_bias_is_the_rate_of_the_jacobian() -> None:
    result, h = every_kind(), 1e-5
    q, qd = states(result)
    rate = (result.closure_jacobian(q + h * qd) - result.closure_jacobian(q - h * qd)) / (2 * h)
    close(result.closure_bias(q, qd), dot(rate, qd), 1e-8)


def test_what_the_kinds_of_closures_mean() -> None:
    """Each residual from the poses of its frames, as matrices, by other formulas."""
    result = every_kind()
    q = states(result)[0][0]
    results = dict(zip(result.closure_names, result.closure(q), strict=True))
    for loop in result.mechanism.loops[: len(FRAME_KINDS)]:
        A, B = (
            result.forward_kinematics(q, link) @ homogeneous(point)
            for link, point in ((loop.a, loop.at_a), (loop.b, loop.at_b))
        )
        X = np.linalg.inv(A) @ B
        turn = Rotation.from_matrix(X[:3, :3]).as_rotvec()
        half = 2 * np.sin(np.linalg.norm(turn) / 2) * turn / np.linalg.norm(turn)
        tilt = np.arccos(X[2, 2])
        lean = 2 * np.sin(tilt / 2) / np.sin(tilt) * np.array([-X[1, 2], X[0, 2]])
        parallel = {"rx": lean[0], "ry": lean[1]}
        path = dict(zip("xyz", X[:3, 3], strict=True)) | {
            "d": (X[:3, 3] @ X[:3, 3] - 0.16) / 0.8,
            "r": X[0, 1],
        }
        full = (
            dict(zip(("rx", "ry", "rz"), half, strict=True))
            if loop.kind in ("weld", "slider")
            else parallel
        )
        for row in loop.rows:
            assert results[row] == pytest.approx((path | full)[row.split(".")[1]], abs=1e-12), row
    position = dict(zip(result.joint_names, q, strict=True))
    assert results["gear.q"] == pytest.approx(position["ja0"] + 2.0 * position["jb2"] - 0.3)
    assert results["rack.q"] == pytest.approx(position["jb1"] - 0.05 * position["ja1"])
    assert results["own.1"] == pytest.approx(position["ja0"] * np.sin(position["jb1"]) - 0.1)


def homogeneous(pose: object) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = pose.R, pose.p  # type: ignore[attr-defined]
    return X


def test_a_weld_after_half_a_turn_is_open() -> None:
    turned = four_bar_with("weld")
    gap = turned.closure([np.pi, 0.0, 0.0])[3:]
    assert np.linalg.norm(gap) == pytest.approx(2.0)


@pytest.mark.parametrize("name", LOOP_ALGORITHMS)
def test_kernels_compute_what_their_graphs_mean(name: str) -> None:
    """Node by node on Python numbers, against the compiled kernel with the independent closures."""
    x = motion("five_bar")
    values = {"q": x.q, "qd": x.qd, "qdd": x.qdd, "tau": x.tau, "weight": np.ones((len(x.q), 2))}
    arrays = [values[each][0] for each in LOOP_ALGORITHMS[name].inputs]
    meant = run(program(x.robot.closed_tree, name), arrays)
    result = x.robot._constrained(name, tuple(arrays))
    for a, b in zip(meant, result if isinstance(result, tuple) else (result,), strict=True):
        close(np.ravel(b), np.array(a, dtype=float), 1e-11)


@loops_of
def test_forward_dynamics_keeps_the_loops_closed_and_obeys_the_equations(name: str) -> None:
    x = motion(name)
    qdd, multipliers = x.robot.constrained_forward_dynamics(x.q, x.qd, x.tau)
    Phi = x.robot.closure_jacobian(x.q)
    close(dot(Phi, qdd), -x.robot.closure_bias(x.q, x.qd), 1e-10)
    close(
        x.robot.inverse_dynamics(x.q, x.qd, qdd),
        x.tau + dot(np.swapaxes(Phi, -1, -2), multipliers),
        1e-10,
    )


@loops_of
def test_inverse_dynamics_undoes_forward_dynamics(name: str) -> None:
    x = motion(name)
    a = x.robot.constrained_inverse_dynamics(x.q, x.qd, x.qdd)
    again, multipliers = x.robot.constrained_forward_dynamics(x.q, x.qd, a.tau)
    close(again, x.qdd, 1e-9)
    close(a.multipliers, multipliers, 1e-9)
    assert a.possible.all()
    if a.case == "exact":
        close(a.tau, x.tau, 1e-9)
    passive = [c for c in range(x.robot.n) if c not in x.robot.tree.driven]
    assert not np.any(a.tau[:, passive])


@loops_of
def test_power_of_the_drives_is_the_rate_of_energy(name: str) -> None:
    """Loops do no work; friction takes its share."""
    x, h = motion(name), 1e-6
    energy = [
        x.robot.kinetic_energy(q, qd) + x.robot.potential_energy(q)
        for s in (h, -h)
        for q, qd in [(x.q + s * x.qd + s * s / 2 * x.qdd, x.qd + s * x.qdd)]
    ]
    drives = np.sum((x.tau - x.robot.friction_torque(x.qd)) * x.qd, axis=-1)
    armature = np.array([terms.get("armature", 0.0) for terms in x.robot.tree.terms])
    assert np.all(armature >= 0.0)
    close((energy[0] - energy[1]) / (2 * h), drives, 1e-6)


@loops_of
def test_regressor_of_the_independent_coordinates(name: str) -> None:
    x = motion(name)
    N = x.robot.freedom_basis(x.q)
    assert np.abs(x.robot.closure_jacobian(x.q) @ N).max() < 1e-12
    close(
        N[:, list(x.robot.loop_structure.independent)],
        np.broadcast_to(np.eye(N.shape[-1]), (len(N), *[N.shape[-1]] * 2)),
        1e-15,
    )
    Y = x.robot.constrained_regressor(x.q, x.qd, x.qdd)
    close(Y @ x.robot.parameters, x.robot.independent_torque(x.q, x.tau), 1e-9)
    if x.robot.loop_structure.case == "exact":
        close(Y @ x.robot.parameters, x.tau[:, list(x.robot.tree.driven)], 1e-9)


def test_parameters_wrenches_and_bases_are_arguments_as_elsewhere() -> None:
    x, rng = motion("four_bar"), np.random.default_rng(1)
    wrench, base = (
        {"rocker_link": rng.normal(size=6)},
        np.concatenate([rng.normal(size=3), np.zeros(6)]),
    )
    options = {"wrench": wrench, "base": base, "parameters": x.robot.parameters * 1.1}
    a = x.robot.constrained_inverse_dynamics(x.q, x.qd, x.qdd, **options)
    force = x.robot.inverse_dynamics(x.q, x.qd, x.qdd, **options)
    close(
        force, a.tau + dot(np.swapaxes(x.robot.closure_jacobian(x.q), -1, -2), a.multipliers), 1e-10
    )
    close(x.robot.constrained_forward_dynamics(x.q, x.qd, a.tau, **options)[0], x.qdd, 1e-9)


def test_gears_racks_and_residuals_are_mimics_of_another_kind() -> None:
    """A gear as a loop and a mimic joint give the same motion."""
    arm = sy.load("planar_2r")
    geared = arm.with_loop(
        "wheels", "gear", "joint2", "joint1", ratio=-0.5, offset=0.2
    ).with_drives("joint1")
    own = arm.with_loop(
        "wheels", "residual", residual=lambda q: q[1] + 0.5 * q[0] - 0.2
    ).with_drives("joint1")
    q = np.array([0.4, 0.0])
    qd = np.array([1.0, -0.5])
    tau = np.array([3.0, 0.0])
    N = np.array([1.0, -0.5])
    for result in (geared, own):
        positions = result.assemble(q, hold=["joint1"])
        close(positions, [0.4, 0.0], 1e-15)
        qdd, _ = result.constrained_forward_dynamics(positions, qd, tau)
        one = (N @ (tau - arm.bias_torque(positions, qd))) / (N @ arm.mass_matrix(positions) @ N)
        close(qdd, one * N, 1e-12)
    assert geared.loop_structure.freedoms == 1


def test_bad_loops_are_refused_by_name() -> None:
    arm = robot("four_bar")
    for argument, sentence in (
        (("x", "pinn", "ground", "rocker_link"), "unknown kind 'pinn'; did you mean"),
        (("pin", "point", "ground", "rocker_link"), "2 loops are called 'pin'"),
        (
            ("x", "point", "ground", "rocker"),
            "b = 'rocker' is not a link of this robot; did you mean 'rocker_link'",
        ),
        (("x", "point", "ground", "ground"), "it joins 'ground' to itself"),
        (("x", "distance", "ground", "rocker_link"), "a distance is positive"),
        (
            ("x", "gear", "crank", "rockr"),
            "it names 'rockr', which is not a moving joint; did you mean 'rocker'",
        ),
        (
            ("x", "rack", "crank", "rocker"),
            "a gear couples two turns or two slides, a rack a slide and a turn",
        ),
        (("x", "residual"), "it has no expression"),
    ):
        with pytest.raises(CallError, match="loop") as caught:
            arm.with_loop(*argument)
        assert sentence in str(caught.value), argument
    for text, sentence in (
        ("qd['crank']", "reads a velocity"),
        ("q['no']", "'no', which is not a moving joint"),
        ("foo(1)", "a residual cannot contain"),
    ):
        with pytest.raises(CallError, match="loop 'x'") as caught:
            arm.with_loop("x", "residual", residual=text)
        assert sentence in str(caught.value)
    with pytest.raises(CallError, match="cannot be traced"):
        arm.with_loop("x", "residual", residual=lambda q: float(q[0]))
    with pytest.raises(CallError, match=r"^driven names 'crnk'"):
        arm.with_drives("crnk")
    with pytest.raises(CallError, match="no loop is called 'pn'; did you mean 'pin'"):
        arm.without_loops("pn")


def test_bad_calls_are_refused_by_name() -> None:
    result, q = robot("four_bar"), np.zeros(3)
    with pytest.raises(CallError, match="'planar_2r' has no loops"):
        sy.load("planar_2r").closure(np.zeros(2))
    with pytest.raises(
        CallError,
        match=r"assemble: q has shape \(2,\); expected \(\.\.\., 3\): crank, coupler, rocker",
    ):
        result.assemble(np.zeros(2))
    with pytest.raises(CallError, match="hold: no joint moves on its own that is called 'krank'"):
        result.assemble(q, hold=["krank"])
    with pytest.raises(CallError, match=r"weight has shape \(2,\); expected \(1,\)"):
        result.constrained_inverse_dynamics(q, q, q, weight=[1.0, 2.0])
    with pytest.raises(CallError, match="positive numbers"):
        result.constrained_inverse_dynamics(q, q, q, weight=[-1.0])


def test_the_fingerprint_tells_loops_apart_by_their_graph() -> None:
    arm = robot("four_bar")
    texts = [
        "q['crank'] - 2 * q['rocker']",
        "(q['crank'] - (2.0*q['rocker']))",
        "q['crank'] - 3 * q['rocker']",
    ]
    prints = [arm.with_loop("own", "residual", residual=text).fingerprint for text in texts]
    assert prints[0] == prints[1] != prints[2]
    others = {
        arm.fingerprint,
        arm.without_loops().fingerprint,
        arm.with_drives("rocker").fingerprint,
        four_bar_with("point").fingerprint,
    }
    assert len(others) == 4


def test_a_joint_that_is_held_leaves_its_loops() -> None:
    geared = sy.load("planar_2r").with_loop(
        "wheels", "gear", "joint2", "joint1", ratio=-0.5, offset=0.2
    )
    fixed = geared.freeze({"joint1": 0.4})
    assert fixed.closure([0.3])[0] == pytest.approx(0.3)
    assert not geared.freeze({"joint1": 0.0, "joint2": 0.0}).mechanism.loops

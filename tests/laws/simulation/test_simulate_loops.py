"""Simulated linkages and parallel robots.

Loops stay closed, energy stays, controllers act through the drives.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.spatial import Inertia
from steelyard.algebra.vector import Symmetric
from steelyard.errors import CallError, ProblemError
from steelyard.mechanism.model import Link
from steelyard.simulation import PD, ComputedTorque, Elastic, Motor, run_gradient, sensitivities
from tests.loop_robots import four_bar_with, robot
from tests.random_robots import close


@pytest.mark.parametrize(
    ("method", "gap", "drift"), [("rk4", 1e-12, 1e-7), ("rk8", 1e-12, 1e-9), ("euler", 1e-12, 0.1)]
)
def test_loops_stay_closed_and_energy_stays(method: str, gap: float, drift: float) -> None:
    """10 s at 1 ms of a four-bar that falls from rest."""
    arm = robot("four_bar")
    run = sy.simulate(arm, seconds=10.0, step=1e-3, method=method, every=10)
    assert np.abs(arm.closure(run.q)).max() <= gap
    rate = np.abs(np.einsum("...ij,...j->...i", arm.closure_jacobian(run.q), run.qd)).max()
    assert rate <= {"euler": 1e-9, "rk4": 1e-9, "rk8": 1e-12}[method]
    assert np.ptp(run.q[:, 0]) > 1.0, "it moves"
    assert run.drift <= drift


def test_a_batch_of_five_bars() -> None:
    arm = robot("five_bar")
    run = sy.simulate(
        arm, q0=0.05 * np.ones((3, arm.n)), seconds=0.2, step=1e-3, method="rk4", every=20
    )
    assert np.abs(arm.closure(run.q)).max() <= 1e-12
    assert run.drift <= 1e-6


def test_the_rates_of_a_run_are_the_constrained_accelerations() -> None:
    """A second route: DOP853 of SciPy on constrained forward dynamics."""
    from scipy.integrate import solve_ivp

    result, tau = robot("four_bar"), np.array([0.4, 0.0, 0.0])

    def rate(_t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[3:], result.constrained_forward_dynamics(y[:3], y[3:], tau)[0]])

    solved = solve_ivp(rate, (0.0, 0.5), np.zeros(6), "DOP853", rtol=1e-11, atol=1e-12)
    run = sy.simulate(result, tau, seconds=0.5, step=1e-3, method="rk8", every=500)
    close(run.q[-1], solved.y[:3, -1], 1e-8)
    close(run.qd[-1], solved.y[3:, -1], 1e-8)


def test_the_adaptive_method_keeps_loops_closed_too() -> None:
    result = robot("four_bar").with_friction(viscous={"crank": 0.05})
    run, fixed = (
        sy.simulate(result, seconds=0.3, step=5e-3, method=method) for method in ("adaptive", "rk8")
    )
    assert np.abs(result.closure(run.q)).max() <= 1e-12
    close(run.q, fixed.q, 1e-8)
    assert run.drift <= 1e-9


def test_controllers_act_through_the_drives() -> None:
    """A Delta holds a position by computed torque; nothing acts at passive joints."""
    arm = robot("delta")
    positions = arm.assemble(0.05 * np.random.default_rng(0).normal(size=arm.n))
    run = sy.simulate(arm, ComputedTorque(positions, kp=100.0, kd=20.0), seconds=1.0, step=2e-3)
    passive = [c for c in range(arm.n) if c not in arm.tree.driven]
    assert not np.any(run.tau[:, passive])
    assert np.abs(run.q[0] - positions).max() > 0.01
    close(run.q[-1], positions, 2e-3)


def test_a_drive_in_place_of_gravity_at_all_joints() -> None:
    result = robot("planar_3rrr").with_gravity((0.0, -9.81, 0.0))
    positions = result.assemble(np.zeros(result.n))
    run = sy.simulate(result, PD(positions, kp=0.0, kd=1.0), q0=positions, seconds=0.1, step=1e-3)
    assert np.abs(run.q - positions).max() < 1e-9, "gravity is carried by the drives alone"


def test_a_start_that_is_not_closed_is_closed_or_refused() -> None:
    result = four_bar_with("point")
    run = sy.simulate(result, q0=[0.3, 0.0, 0.0], seconds=0.01)
    assert np.abs(result.closure(run.q)).max() < 1e-12
    bent = result.freeze({"crank": 2.5, "coupler": 0.2})
    with pytest.raises((ProblemError, sy.SteelyardError), match="cannot be closed"):
        sy.simulate(bent, seconds=0.01)


def test_a_linkage_sticks_and_slides() -> None:
    """Dry friction at the crank.

    Held where it can bear the load, energy becomes heat else, and the loop stays closed.
    """
    arm = robot("four_bar")
    fixed = arm.with_friction(coulomb={"crank": 40.0})
    run = sy.simulate(fixed, seconds=0.2, step=1e-3)
    assert not np.any(run.qd), "a linkage that sticks, sticks"
    start = arm.assemble([1.0, 0.0, 0.0], hold=["crank"])
    run = sy.simulate(
        arm.with_friction(coulomb={"crank": 1.0}), q0=start, seconds=4.0, step=1e-3, every=5
    )
    assert np.abs(arm.closure(run.q)).max() <= 1e-12
    assert np.abs(np.einsum("...ij,...j->...i", arm.closure_jacobian(run.q), run.qd)).max() <= 1e-9
    assert run.drift <= 1e-7
    assert np.abs(run.qd).max() > 10.0
    assert not np.any(run.qd[-20:]), "it comes to rest"
    smooth = arm.with_friction(coulomb={"crank": 1.0}, width={"crank": 1e-3})
    close(run.q[60], sy.simulate(smooth, q0=start, seconds=0.3, step=1e-4, every=3000).q[-1], 1e-3)


def test_a_linkage_strikes_its_stop() -> None:
    from dataclasses import replace

    arm = robot("four_bar")
    joints = tuple(
        (
            replace(joint, kind="revolute", limits=replace(joint.limits, lower=-0.4, upper=0.4))
            if joint.name == "crank"
            else joint
        )
        for joint in arm.mechanism.joints
    )
    ended = sy.Robot(replace(arm.mechanism, joints=joints))
    run = sy.simulate(ended, seconds=2.0, step=1e-3, stops=True, every=10)
    assert np.abs(run.q[:, 0]).max() < 0.41
    assert np.abs(ended.closure(run.q)).max() <= 1e-12
    assert run.heat[-1] > 0.0
    assert run.drift <= 1e-3


def test_drives_of_linkages() -> None:
    """Stiff gears are rigid, fast motors give the torque at once, joints without a drive have
    neither; the energy balance closes.
    """
    result = robot("four_bar").without_friction().without_rotors()
    result = result.with_rotors(dict.fromkeys(result.driven_joints, 0.02))
    start, tau = result.assemble(np.full(result.n, 0.1)), np.zeros(result.n)
    tau[list(result.tree.driven)] = 0.3
    options = {"q0": start, "seconds": 0.1, "step": 2e-4, "every": 100}
    rigid = sy.simulate(result, tau, **options)
    errors = []
    for stiffness in (1e3, 1e4):
        run = sy.simulate(
            result,
            tau,
            **options,
            drive=Elastic(dict.fromkeys(result.driven_joints, stiffness), 0.5),
        )
        errors.append(np.abs(run.q[-1] - rigid.q[-1]).max())
        assert run.drift < 1e-8
        assert run.gap < 1e-12
    assert 5 < errors[0] / errors[1] < 20
    quick = sy.simulate(result, tau, **options, drive=Motor(0.5, 0.4, 1e-3, bandwidth=5e3))
    assert np.abs(quick.q[-1] - rigid.q[-1]).max() < 2e-4
    assert (
        np.abs(
            quick.drive_state[..., [c for c in range(result.n) if c not in result.tree.driven]]
        ).max()
        == 0.0
    )


def test_a_pendulum_behind_a_driven_joint_has_no_motor() -> None:
    """A joint without a drive gets the torque that it is given, and its rotor stays on the links'
    side.
    """
    arm = sy.load("planar_2r").without_friction().with_rotors([0.5, 0.3])
    half = arm.with_drives("joint1")
    options = {"q0": [0.4, -0.3], "seconds": 0.2, "step": 2e-4}
    run = sy.simulate(half, [1.0, 0.7], **options, drive=Elastic({"joint1": 1e6}, 50.0))
    rigid = sy.simulate(half, [1.0, 0.7], **options)
    close(run.q[-1], rigid.q[-1], 1e-4)
    assert run.drift < 1e-6


def test_a_linkage_on_a_free_base() -> None:
    """Momentum, energy and loops are kept.

    On a base of a thousand tonnes it moves as on the ground.
    """
    light, heavy = (on_a_body(robot("four_bar").without_friction(), mass) for mass in (40.0, 1e6))

    def law(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.where(np.isin(np.arange(light.n), light.tree.driven), 0.3 * np.sin(3 * t), 0.0)

    start = light.assemble(np.full(light.n, 0.1))
    options = {"q0": start, "seconds": 0.5, "every": 20}
    run = sy.simulate(light, law, **options, base_twist0=[0.1, 0.0, 0.05, 0.2, 0.1, -0.3])
    close(run.momentum, np.broadcast_to(run.momentum[0], run.momentum.shape), 1e-10)
    assert np.abs(run.base_twist[-1] - run.base_twist[0]).max() > 1e-3, "the base recoils"
    assert run.drift < 1e-10
    assert run.gap < 1e-12
    close(
        sy.simulate(heavy, law, **options, base_twist0=np.zeros(6)).q,
        sy.simulate(heavy, law, **options).q,
        1e-5,
    )


def on_a_body(result: sy.Robot, mass: float) -> sy.Robot:
    """The robot without weight, its base a ball."""
    ball = Inertia(
        mass, (0.0, 0.0, 0.0), Symmetric(0.1 * mass, 0.0, 0.0, 0.1 * mass, 0.0, 0.1 * mass)
    )
    mechanism = result.with_gravity((0.0, 0.0, 0.0)).mechanism
    links = tuple(
        Link(link.name, ball) if link.name == mechanism.root else link for link in mechanism.links
    )
    return sy.Robot(replace(mechanism, links=links))


def test_derivatives_of_a_run_with_loops() -> None:
    """Those to the start, of which only closed ones count, and to the parameters, against
    differences of runs; forward and backward.
    """
    result, tau, e = robot("four_bar"), np.array([0.4, 0.0, 0.0]), 1e-6
    q0 = result.assemble([0.3, 0.0, 0.0], hold=["crank"])
    qd0 = result.consistent_velocity(q0, [0.5, 0.0, 0.0])
    options = {"seconds": 0.05, "step": 2e-3, "every": 25}
    derivatives = sensitivities(result, tau, q0, qd0, **options)

    def final(which: sy.Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        run = sy.simulate(which, tau, q, qd, **options)
        return np.concatenate([run.q[-1], run.qd[-1]])

    steps = [*((e * x, 0.0) for x in np.eye(3)), *((0.0, e * x) for x in np.eye(3))]
    by_start = [
        (final(result, q0 + a, qd0 + b) - final(result, q0 - a, qd0 - b)) / (2 * e)
        for a, b in steps
    ]
    close(derivatives.state[-1], np.stack(by_start, axis=-1), 1e-6)
    k, pi = derivatives.parameter_names.index("coupler_link.mcy"), result.parameters
    ends = [
        final(result.with_parameters(pi + method * e * (np.arange(len(pi)) == k)), q0, qd0)
        for method in (-1, 1)
    ]
    close(derivatives.parameters[-1, :, k], (ends[1] - ends[0]) / (2 * e), 1e-7)
    weights = np.random.default_rng(0).normal(size=(2, 6))
    back = run_gradient(result, weights, tau, q0, qd0, **options)
    close(
        np.concatenate([back.q0, back.qd0]),
        np.einsum("ti,tij->j", weights, derivatives.state),
        1e-11,
    )
    close(back.parameters, np.einsum("ti,tij->j", weights, derivatives.parameters), 1e-11)


def test_what_is_not_there_is_said() -> None:
    arm = robot("four_bar")
    with pytest.raises(
        CallError,
        match=(
            "joint 'rocker' has dry friction, and with loops only independent joints can stick:"
            " crank; give"
        ),
    ):
        sy.simulate(arm.with_friction(coulomb={"rocker": 0.1}))
    with pytest.raises(
        CallError, match="the adaptive method does not support dry friction with loops"
    ):
        sy.simulate(arm.with_friction(coulomb={"crank": 0.1}), method="adaptive")
    with pytest.raises(
        CallError, match="cannot be combined with loops on a free base; give the friction a width"
    ):
        sy.simulate(arm.with_friction(coulomb={"crank": 0.1}), base_twist0=np.zeros(6))
    for more in ({"base_twist0": np.zeros(6)}, {"drive": Elastic(100.0, 1.0, 0.1)}):
        with pytest.raises(
            CallError,
            match=(
                "the adaptive method does not support drives or a free base with loops; use "
                "method='rk4'"
            ),
        ):
            sy.simulate(arm, method="adaptive", **more)
    with pytest.raises(
        CallError, match="friction that grows with the load cannot be combined with loops"
    ):
        sy.simulate(arm.with_friction(load={"crank": 0.1}))

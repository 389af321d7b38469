"""Derivatives of torques and accelerations against differences of eighth order."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.compiler.ir.program import Operand, trace
from steelyard.kernels import graph_derivatives as derived
from steelyard.kernels import on_moving_base
from tests.interpret import run
from tests.laws.dynamics.law import close, law
from tests.reference import finite_difference
from tests.zoo import ZOO, case


@law("inverse_dynamics_derivatives", "inverse_dynamics")
def test_derivatives_of_torques_match_differences(name: str) -> None:
    x = case(name)
    by_q, by_qd, by_qdd = x.robot.inverse_dynamics_derivatives(x.q, x.qd, x.qdd)
    tau = x.robot.inverse_dynamics
    close(by_q, finite_difference(lambda q: tau(q, x.qd, x.qdd), x.q), 1e-10)
    close(by_qd, finite_difference(lambda qd: tau(x.q, qd, x.qdd), x.qd), 1e-10)
    close(by_qdd, finite_difference(lambda qdd: tau(x.q, x.qd, qdd), x.qdd), 1e-10)


@law("forward_dynamics_derivatives", "forward_dynamics", without=("no inertia",))
def test_derivatives_of_accelerations_match_differences(name: str) -> None:
    x = case(name)
    by_q, by_qd, by_tau = x.robot.forward_dynamics_derivatives(x.q, x.qd, x.tau)
    qdd = x.robot.forward_dynamics
    close(by_q, finite_difference(lambda q: qdd(q, x.qd, x.tau), x.q), 1e-9)
    close(by_qd, finite_difference(lambda qd: qdd(x.q, qd, x.tau), x.qd), 1e-9)
    close(by_tau, finite_difference(lambda tau: qdd(x.q, x.qd, tau), x.tau), 1e-9)


@pytest.mark.parametrize("name", ZOO)
def test_derivatives_in_the_frame_of_a_base_that_moves(name: str) -> None:
    """Both ways, with wrenches: by composite bodies in their own frames, and in the base's."""
    x, base = case(name), [1.0, -2.0, 9.0, 0.4, -0.5, 0.6, 0.7, 0.8, -0.9]
    tree, n = on_moving_base(x.robot.tree, base), x.robot.n
    wrench = np.random.default_rng(1).normal(size=(len(tree.bodies), 6))
    inputs, outputs = (
        [Operand(name, (n,)) for name in ("q", "qd", "qdd")],
        [Operand(name, (n, n)) for name in ("by_q", "by_qd", "M")],
    )
    results = [
        run(
            trace(
                "derivatives",
                lambda *state, way=way: way(tree, *state, wrench=wrench.tolist()),
                inputs,
                outputs,
            ),
            [x.q.T, x.qd.T, x.qdd.T],
        )
        for way in (
            derived.inverse_dynamics_derivatives,
            derived.inverse_dynamics_derivatives_in_base,
        )
    ]
    for one, other in zip(*results, strict=True):
        for a, b in zip(one, other, strict=True):
            close(np.broadcast_to(b, len(x.q)), np.broadcast_to(a, len(x.q)), 1e-10)

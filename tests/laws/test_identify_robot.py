"""The robot that a fit hands back is the model that it found."""

from __future__ import annotations

import numpy as np

import steelyard as sy


def test_the_identified_robot_predicts_what_the_fit_predicts():
    """Also where Coulomb friction is smooth: the robot carries the width."""
    arm = sy.load("planar_2r").with_friction(viscous=1.0, coulomb=4.0, width=0.2)
    rng = np.random.default_rng(0)
    t = np.arange(4000) / 200.0
    w, phase = 2 * np.pi * np.array([0.1, 0.23, 0.41]), rng.uniform(0, 6, (3, 2))
    angle = t[:, None, None] * w[:, None] + phase
    q, qd = np.sin(angle).sum(1), (w[:, None] * np.cos(angle)).sum(1)
    qdd = (-(w[:, None] ** 2) * np.sin(angle)).sum(1)
    tau = arm.inverse_dynamics(q, qd, qdd) + rng.normal(size=q.shape) * 0.05
    fit = sy.identify(sy.load("planar_2r"), sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=arm.joint_names))
    assert all(0.1 < terms["width"] < 0.4 for terms in fit.robot.tree.terms)
    assert np.allclose(fit.robot.inverse_dynamics(q, qd, qdd), fit.torque(q, qd, qdd), atol=1e-9)

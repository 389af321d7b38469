"""The zoo's compiled robots against Pinocchio (every rotor a body) and MuJoCo."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from steelyard.algebra.spatial import Inertia, Pose, minus
from steelyard.algebra.vector import ZERO, Symmetric
from steelyard.mechanism.joint_terms import Terms
from steelyard.mechanism.model import Joint, Link, Mechanism, Mimic
from steelyard.mechanism.reduce import reduce
from steelyard.robot import Robot
from tests.laws.dynamics.law import close
from tests.laws.dynamics.test_parameters import others
from tests.oracles.test_dynamics_mujoco import model_of
from tests.oracles.test_dynamics_pinocchio import Oracle, from_tree
from tests.zoo import ZOO, case, features


def rotors_as_bodies(mechanism: Mechanism) -> Mechanism:
    """Each rotor as a link without mass that mimics its joint by the gear ratio.

    What it has while locked is taken from its carrier.

    All other joint terms are left out.
    """
    inertias = {link.name: link.inertia or Inertia() for link in mechanism.links}
    links, joints = [], [replace(joint, terms=Terms(), rotor=None) for joint in mechanism.joints]
    for joint in mechanism.joints:
        if joint.rotor is not None:
            (x, y, z), k, mount = joint.rotor.axis, joint.rotor.ratio, joint.rotor.mount
            own = Inertia(
                0.0,
                ZERO,
                Symmetric(
                    *(
                        joint.terms["armature"] / k**2 * v
                        for v in (x * x, x * y, x * z, y * y, y * z, z * z)
                    )
                ),
            )
            inertias[mount] = minus(inertias[mount], own)
            links.append(Link(f"rotor of {joint.name}", own))
            mimic = Mimic(joint.name, k)
            joints.append(
                Joint(
                    f"motor of {joint.name}",
                    "continuous",
                    mount,
                    links[-1].name,
                    Pose(),
                    joint.rotor.axis,
                    mimic=mimic,
                )
            )
    bare = [replace(link, inertia=inertias[link.name]) for link in mechanism.links]
    return replace(mechanism, links=(*bare, *links), joints=tuple(joints), couplings=())


def rigid(mechanism: Mechanism) -> Mechanism:
    """The mechanism with rotors, and without the joint terms that Pinocchio does not know."""
    joints = [
        replace(j, terms=Terms.of({"armature": j.terms["armature"]}) if j.rotor else Terms())
        for j in mechanism.joints
    ]
    return replace(mechanism, joints=tuple(joints), couplings=())


@pytest.mark.parametrize("name", ZOO)
def test_pinocchio_says_the_same(name: str) -> None:
    """Torques, mass matrix, Coriolis matrix and gravity, with mimic joints and spinning rotors.

    What carries a rotor needs an inertia.
    """
    x = case(name)
    heavy = x.robot.with_parameters(others(x)[0]).mechanism
    ours, oracle = Robot(rigid(heavy)), from_tree(reduce(rotors_as_bodies(heavy)))
    assert oracle.tree.coordinates == ours.joint_names
    theirs = [at(oracle, *state) for state in zip(x.q, x.qd, x.qdd, strict=True)]
    tau, M, C, g = (np.stack(values) for values in zip(*theirs, strict=True))
    close(ours.inverse_dynamics(x.q, x.qd, x.qdd), tau)
    close(ours.mass_matrix(x.q), M)
    close(ours.coriolis_matrix(x.q, x.qd), C)
    close(ours.gravity_torque(x.q), g)


def at(oracle: Oracle, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, ...]:
    """Pinocchio's tau, M, C and g at one state."""
    model, data, G, x = oracle.model, oracle.data, oracle.G, oracle.configuration(q)
    tau = G.T @ pin.rnea(model, data, x, G @ qd, G @ qdd)
    upper = np.triu(pin.crba(model, data, x))
    C = G.T @ pin.computeCoriolisMatrix(model, data, x, G @ qd) @ G
    return (
        tau,
        G.T @ (upper + np.triu(upper, 1).T) @ G,
        C,
        G.T @ pin.computeGeneralizedGravity(model, data, x),
    )


@pytest.mark.parametrize(
    "name", [name for name in ZOO if not {"mimic", "rotor on moving link"} & set(features(name))]
)
def test_mujoco_says_the_same(name: str) -> None:
    """Torques and accelerations with rotor inertia and viscous friction.

    MuJoCo wants a mass at every body.
    """
    x = case(name)
    heavy = x.robot.with_parameters(others(x)[0])
    selected = [
        replace(j, terms=Terms.of({k: j.terms.get(k) for k in ("armature", "viscous")}))
        for j in heavy.mechanism.joints
    ]
    ours = Robot(replace(heavy.mechanism, joints=tuple(selected), couplings=()))
    model = model_of(ours.tree)
    data = mujoco.MjData(model)
    paths = [model.joint(joint).dofadr[0] for joint in ours.joint_names]
    for q, qd, qdd in zip(x.q, x.qd, x.qdd, strict=True):
        data.qpos[paths], data.qvel[paths], data.qacc[paths] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        tau = data.qfrc_inverse[paths].copy()
        close(ours.inverse_dynamics(q, qd, qdd), tau, 1e-9)
        data.qfrc_applied[paths] = tau
        mujoco.mj_forward(model, data)
        close(ours.forward_dynamics(q, qd, tau), data.qacc[paths], 1e-8)

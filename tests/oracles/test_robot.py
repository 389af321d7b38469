"""The Robot's kernels against Pinocchio and MuJoCo, with derivatives and reactions."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import steelyard as sy
from tests.oracles.test_dynamics_pinocchio import ROBOTS, Oracle

pytestmark = pytest.mark.filterwarnings("ignore::steelyard.errors.SteelyardWarning")
SAMPLES = 9  # a full block and a tail


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-12))


def states(robot: sy.Robot, seed: int = 0) -> tuple[np.ndarray, ...]:
    return tuple(np.random.default_rng(seed).uniform(-1.0, 1.0, (3, SAMPLES, robot.n)))


def loaded(name: str, folder) -> tuple[sy.Robot, Oracle]:
    path = folder / ROBOTS[name]
    robot = sy.load(path).without_friction()
    model = pin.buildModelFromUrdf(str(path))
    return robot, Oracle(
        robot.tree, model, [model.getJointId(body.joint) for body in robot.tree.bodies]
    )


def each(oracle: Oracle, function, *arrays) -> np.ndarray:
    """Pinocchio's function at every sample, with q as it wants it and vectors in its order."""
    G = oracle.G
    rows = zip(*arrays, strict=True)
    return np.array(
        [
            function(oracle.model, oracle.data, oracle.configuration(q), *(G @ x for x in rest))
            for q, *rest in rows
        ]
    )


# talos has as many joints; icub is compared uncompiled
@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "icub"])
def test_dynamics_equal_pinocchio(name: str, example_robots) -> None:
    robot, oracle = loaded(name, example_robots)
    q, qd, qdd = states(robot)
    G = oracle.G
    tau = each(oracle, pin.rnea, q, qd, qdd) @ G
    assert relative(robot.inverse_dynamics(q, qd, qdd), tau) < 1e-9
    condition = np.linalg.cond(robot.mass_matrix(q)).max()
    assert relative(robot.forward_dynamics(q, qd, tau), qdd) < max(1e-9, 1e-15 * condition)
    M = np.array([np.triu(m) + np.triu(m, 1).T for m in each(oracle, pin.crba, q)])
    assert relative(robot.mass_matrix(q), G.T @ M @ G) < 1e-9
    assert (
        relative(
            robot.coriolis_matrix(q, qd), G.T @ each(oracle, pin.computeCoriolisMatrix, q, qd) @ G
        )
        < 1e-9
    )
    assert (
        relative(robot.gravity_torque(q), each(oracle, pin.computeGeneralizedGravity, q) @ G) < 1e-9
    )


@pytest.mark.parametrize("name", ["ur5", "xarm7", "allegro"])
def test_derivatives_equal_pinocchio(name: str, example_robots) -> None:
    robot, oracle = loaded(name, example_robots)
    q, qd, qdd = states(robot)
    theirs = every(oracle, pin.computeRNEADerivatives, q, qd, qdd)
    ours = robot.inverse_dynamics_derivatives(q, qd, qdd)
    for k in (0, 1):
        assert relative(ours[k], theirs[k]) < 1e-8
    tau = robot.inverse_dynamics(q, qd, qdd)
    theirs = every(oracle, pin.computeABADerivatives, q, qd, tau)
    for k, matrix in enumerate(robot.forward_dynamics_derivatives(q, qd, tau)):
        assert relative(matrix, theirs[k]) < 1e-8


def every(oracle: Oracle, function, *arrays) -> list[np.ndarray]:
    """The three matrices that Pinocchio's derivatives return, at every sample.

    It hands out its own memory, so they are copied.
    """
    G = oracle.G
    results = []
    for q, *rest in zip(*arrays, strict=True):
        matrices = function(
            oracle.model, oracle.data, oracle.configuration(q), *(G @ x for x in rest)
        )
        results.append([G.T @ np.array(m) @ G for m in matrices])
    return [np.array(m) for m in zip(*results, strict=True)]


@pytest.mark.parametrize("name", ["ur5", "z1", "xarm7"])
def test_reactions_equal_pinocchio(name: str, example_robots) -> None:
    """Pinocchio's data.f: the force that a joint passes on, in the joint's frame."""
    robot, oracle = loaded(name, example_robots)
    q, qd, qdd = states(robot)

    def reactions(model, data, *state):
        pin.rnea(model, data, *state)
        return np.array(
            [np.concatenate([data.f[j].linear, data.f[j].angular]) for j in oracle.order]
        )

    theirs = each(oracle, reactions, q, qd, qdd)
    assert relative(robot.joint_reactions(q, qd, qdd), theirs) < 1e-9
    assert (
        relative(robot.forward_reactions(q, qd, robot.inverse_dynamics(q, qd, qdd)), theirs) < 1e-9
    )


@pytest.mark.parametrize("name", ["z1", "xarm7"])
def test_wrenches_equal_pinocchio(name: str, example_robots) -> None:
    robot, oracle = loaded(name, example_robots)
    q, qd, qdd = states(robot)
    wrench = np.random.default_rng(3).normal(size=(SAMPLES, robot.n, 6)) * 20
    for k in range(SAMPLES):
        x = oracle.configuration(q[k])
        pin.forwardKinematics(oracle.model, oracle.data, x)
        forces = pin.StdVec_Force()
        forces.append(pin.Force.Zero())
        for body, joint in enumerate(oracle.order):
            Rt = oracle.data.oMi[joint].rotation.T
            forces.append(pin.Force(Rt @ wrench[k, body, :3], Rt @ wrench[k, body, 3:]))
        theirs = pin.rnea(oracle.model, oracle.data, x, qd[k], qdd[k], forces)
        assert relative(robot.inverse_dynamics(q[k], qd[k], qdd[k], wrench[k]), theirs) < 1e-9
        assert relative(robot.forward_dynamics(q[k], qd[k], theirs, wrench[k]), qdd[k]) < 1e-9
        assert (
            relative(
                robot.inverse_dynamics(q[k], qd[k], qdd[k]) - robot.wrench_torque(q[k], wrench[k]),
                theirs,
            )
            < 1e-9
        )


@pytest.mark.parametrize("name", ["ur5", "z1"])
def test_dynamics_equal_mujoco(name: str, example_robots, tmp_path) -> None:
    """mj_inverse of the same URDF, with damping, dry friction and armature set on both sides."""
    robot = sy.load(example_robots / ROBOTS[name]).without_friction()
    robot = robot.with_friction(viscous=0.3).with_rotors(0.2)
    model = mujoco.MjModel.from_xml_string(
        bare((example_robots / ROBOTS[name]).read_text(encoding="utf-8"))
    )
    data = mujoco.MjData(model)
    model.opt.gravity[:] = robot.gravity
    model.opt.disableflags |= (
        mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    )
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) for j in range(model.njnt)]
    order = [names.index(joint) for joint in robot.joint_names]
    model.dof_damping[:], model.dof_armature[:], model.dof_frictionloss[:] = 0.3, 0.2, 0.0
    q, qd, qdd = states(robot)
    for k in range(SAMPLES):
        data.qpos[order], data.qvel[order], data.qacc[order] = q[k], qd[k], qdd[k]
        mujoco.mj_inverse(model, data)
        assert (
            relative(robot.inverse_dynamics(q[k], qd[k], qdd[k]), data.qfrc_inverse[order]) < 1e-6
        )


def bare(urdf: str) -> str:
    """A URDF as MuJoCo takes it without its meshes, inertias untouched."""
    import xml.etree.ElementTree as ET

    root = ET.fromstring(urdf)
    for link in root.iter("link"):
        for part in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(part)
    extension = ET.SubElement(root, "mujoco")
    ET.SubElement(
        extension,
        "compiler",
        {"fusestatic": "true", "balanceinertia": "false", "discardvisual": "true"},
    )
    return ET.tostring(root, encoding="unicode")

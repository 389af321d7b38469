"""Loops against the four-bar's equation, Pinocchio's and MuJoCo's constraint dynamics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import steelyard as sy
from tests.loop_robots import Motion, motion, robot
from tests.random_robots import close

# The four-bar as complex numbers: vectors of its links at zero, centres of mass in their frames,
# masses and inertias.
CRANK, COUPLER, ROCKER, GROUND = 0.1 + 0.2j, 0.4 + 0.2j, -0.1 + 0.4j, 0.6
CENTRES, MASSES, MOMENTS = (
    (0.05 + 0.1j, 0.2 + 0.12j, -0.05 + 0.2j),
    (1.0, 2.0, 1.5),
    (0.004, 0.03, 0.02),
)


def four_bar(theta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotations of crank, coupler and rocker, and their derivatives by the crank's.

    The position is the meeting point of two circles, as at zero: CRANK e^(ia) + COUPLER e^(ib) =
    GROUND + ROCKER e^(ic).
    """
    B = CRANK * np.exp(1j * theta)
    reach = GROUND - B
    d, r1, r2 = abs(reach), abs(COUPLER), abs(ROCKER)
    x = (d * d + r1 * r1 - r2 * r2) / (2 * d)
    C = B + reach / d * (x + 1j * np.sqrt(r1 * r1 - x * x))
    a = np.array([theta, np.angle((C - B) / COUPLER), np.angle((C - GROUND) / ROCKER)])
    # the derivative of the loop by each turn
    arms = 1j * np.array([CRANK, COUPLER, -ROCKER]) * np.exp(1j * a)
    first = np.array([1.0, *solved(arms[1], arms[2], -arms[0])])
    second = np.array([0.0, *solved(arms[1], arms[2], -np.sum(1j * arms * first**2))])
    return a, first, second


def solved(u: complex, v: complex, w: complex) -> np.ndarray:
    """Real x, y with x u + y v = w."""
    return np.linalg.solve([[u.real, v.real], [u.imag, v.imag]], [w.real, w.imag])


def crank_torque(theta: float, rate: float, acceleration: float) -> float:
    """I(theta) theta'' + I'(theta) theta'^2 / 2 + V'(theta).

    Eksergian's equation of one freedom.
    """
    a, first, second = four_bar(theta)
    inertia = inertia_rate = gravity = 0.0
    for k, (mass, moment, centre) in enumerate(zip(MASSES, MOMENTS, CENTRES, strict=True)):
        arm = centre * np.exp(1j * a[k])
        # the coupler's joint moves
        joint, bend = (
            (1j * CRANK * np.exp(1j * a[0]), -CRANK * np.exp(1j * a[0])) if k == 1 else (0.0, 0.0)
        )
        speed = joint + 1j * arm * first[k]
        change = bend + 1j * arm * second[k] - arm * first[k] ** 2
        inertia += mass * abs(speed) ** 2 + moment * first[k] ** 2
        inertia_rate += (
            2 * mass * (np.conj(speed) * change).real + 2 * moment * first[k] * second[k]
        )
        gravity += mass * 9.81 * speed.imag
    return float(inertia * acceleration + inertia_rate * rate**2 / 2 + gravity)


def test_the_four_bar_obeys_its_equation_of_one_freedom() -> None:
    result, rng = robot("four_bar"), np.random.default_rng(0)
    theta = np.linspace(0.0, 2 * np.pi, 25)
    rate, acceleration = rng.normal(size=(2, 25))
    q, qd, qdd = np.zeros((3, 25, 3))
    for k, (t, v, a) in enumerate(zip(theta, rate, acceleration, strict=True)):
        turns, first, second = four_bar(t)
        for row, values in zip(
            (q, qd, qdd), (turns, first * v, first * a + second * v * v), strict=True
        ):
            row[k] = values[0], values[1] - values[0], values[2]
    assert np.abs(result.closure(q)).max() < 1e-14
    close(result.consistent_acceleration(q, qd, qdd), qdd, 1e-12)
    expected = np.array(
        [crank_torque(*each) for each in zip(theta, rate, acceleration, strict=True)]
    )
    torque = result.constrained_inverse_dynamics(q, qd, qdd)
    assert np.abs(torque.tau[:, 0] - expected).max() <= 1e-9 * np.abs(expected).max()
    tau = np.zeros_like(q)
    tau[:, 0] = expected
    assert (
        np.abs(result.constrained_forward_dynamics(q, qd, tau)[0] - qdd).max()
        <= 1e-9 * np.abs(qdd).max()
    )


class Pinocchio:
    """A robot with point loops as Pinocchio has it, read from our URDF."""

    def __init__(self, result: sy.Robot, path: Path) -> None:
        result.to_urdf(path)
        self.model = pin.buildModelFromUrdf(str(path))
        self.model.gravity.linear = np.array(result.gravity)
        self.order = [
            self.model.joints[self.model.getJointId(name)].idx_v for name in result.joint_names
        ]
        self.closures, self.data_of = (
            pin.StdVec_RigidConstraintModel(),
            pin.StdVec_RigidConstraintData(),
        )
        for loop in result.mechanism.loops:
            self.closures.append(self.closure(loop))
            self.data_of.append(self.closures[len(self.closures) - 1].createData())
        self.data = self.model.createData()
        pin.initConstraintDynamics(self.model, self.data, self.closures, self.data_of)

    def closure(self, loop: Any) -> pin.RigidConstraintModel:
        frames = [self.model.frames[self.model.getFrameId(name)] for name in (loop.a, loop.b)]
        places = [
            frame.placement * pin.SE3(np.eye(3), np.array(point.p))
            for frame, point in zip(frames, (loop.at_a, loop.at_b), strict=True)
        ]
        parents = [frame.parentJoint for frame in frames]
        return pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, self.model, parents[0], places[0], parents[1], places[1]
        )

    def accelerations(self, x: Motion, k: int) -> np.ndarray:
        """qdd under the torques of the motion.

        Friction and rotors are given as torques and as armature.
        """
        q, v, tau = np.zeros((3, self.model.nv))
        q[self.order], v[self.order], tau[self.order] = (
            x.q[k],
            x.qd[k],
            x.tau[k] - x.robot.friction_torque(x.qd[k]),
        )
        point = pin.integrate(self.model, pin.neutral(self.model), q)
        settings = pin.ProximalSettings(1e-14, 1e-10, 50)
        return pin.constraintDynamics(
            self.model, self.data, point, v, tau, self.closures, self.data_of, settings
        )[self.order]


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "planar_3rrr", "delta"])
def test_pinocchio_gives_the_same_accelerations(name: str, tmp_path: Path) -> None:
    x = motion(name)
    result = x.robot.without_rotors()
    peer = Pinocchio(result, tmp_path / f"{name}.urdf")
    y = Motion(
        result, x.q, x.qd, *([result.constrained_forward_dynamics(x.q, x.qd, x.tau)[0], x.tau])
    )
    for k in range(len(x.q)):
        close(peer.accelerations(y, k), y.qdd[k], 1e-7)


HARD = 'solref="0.002 1" solimp="0.99999 0.99999 0.001"'
LINK = '<inertial pos="{0}" mass="{1}" diaginertia="{2}"/>'
LINKAGE = f"""<mujoco model="linkage"><compiler angle="radian"/><option gravity="0 -9.81 0"/>
<worldbody>
<body name="crank">
<joint name="crank" axis="0 0 1"/>{LINK.format("0.05 0.1 0", 1, "0.002 0.002 0.004")}
<body name="coupler" pos="0.1 0.2 0">
<joint name="coupler" axis="0 0 1"/>{LINK.format("0.2 0.12 0", 2, "0.02 0.02 0.03")}</body></body>
<body name="rocker" pos="0.6 0 0">
<joint name="rocker" axis="0 0 1"/>{LINK.format("-0.05 0.2 0", 1.5, "0.01 0.01 0.02")}</body>
<body name="slide" pos="0 1 0">
<joint name="slide" type="slide" axis="1 0 0"/>{LINK.format("0 0.1 0", 1.2, "0.01 0.01 0.02")}
<body name="flap">
<joint name="flap" axis="0 0 1"/>{LINK.format("0.1 0 0", 0.7, "0.01 0.01 0.02")}</body></body>
<body name="post" pos="-1 0 0">
<joint name="post" axis="0 0 1" ref="0.1"/>{LINK.format("0.1 0 0", 0.7, "0.01 0.01 0.02")}</body>
</worldbody>
<tendon><fixed name="t"><joint joint="slide" coef="2"/><joint joint="flap" coef="0.5"/></fixed>
<fixed name="u"><joint joint="post" coef="1"/></fixed></tendon>
<equality>
<connect name="pin" body1="coupler" body2="rocker" anchor="0.4 0.2 0" {HARD}/>
<joint name="cam" joint1="slide" joint2="crank" polycoef="0 0.1 0.05 0 0" {HARD}/>
<tendon name="rope" tendon1="t" tendon2="u" polycoef="0 0.3 0 0 0" {HARD}/>
</equality>
<actuator><motor joint="crank"/><motor joint="flap"/></actuator></mujoco>"""


def in_mujoco(text: str, q: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """MuJoCo's accelerations from rest, and those of its matrices without softness."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.tolerance, model.opt.iterations = 1e-14, 200
    data = mujoco.MjData(model)
    data.qpos[:], data.qfrc_applied[:] = q, tau
    mujoco.mj_forward(model, data)
    M, J = np.zeros((model.nv, model.nv)), data.efc_J.reshape(-1, model.nv)
    mujoco.mj_fullM(model, data, M)
    X = np.linalg.solve(M, J.T)
    return (
        np.array(data.qacc),
        data.qacc_smooth - X @ np.linalg.pinv(J @ X, rcond=1e-10) @ J @ data.qacc_smooth,
    )


def compare(result: sy.Robot, text: str) -> None:
    rng = np.random.default_rng(4)
    zero = [joint == "post" and 0.1 for joint in result.joint_names]
    q = result.assemble(np.array(zero, dtype=float) + 0.1 * rng.normal(size=result.n))
    tau = rng.normal(size=result.n)
    ours, (soft, rigid) = (
        result.constrained_forward_dynamics(q, np.zeros(result.n), tau)[0],
        in_mujoco(text, q, tau),
    )
    close(ours, soft, 5e-3)
    close(ours, rigid, 1e-9)


def test_equalities_of_mjcf_are_loops(tmp_path: Path) -> None:
    """From rest, since MuJoCo leaves (dPhi/dt) qd to its stabilisation."""
    (tmp_path / "linkage.xml").write_text(LINKAGE)
    arm = sy.load(tmp_path / "linkage.xml")
    assert [loop.kind for loop in arm.mechanism.loops] == ["point", "residual", "residual"]
    assert arm.driven_joints == ("crank", "flap")
    assert not arm.mechanism.remarks
    structure = arm.loop_structure
    assert (structure.freedoms, structure.case) == (2, "exact")
    compare(arm, LINKAGE)


@pytest.mark.parametrize("sites", [False, True])
def test_welds_of_mjcf_are_loops(sites: bool, tmp_path: Path) -> None:
    """Two arms of three joints that hold each other firmly.

    Two freedoms less three rows of the plane, in both ways to say it.
    """
    hinge = '<body name="{0}{1}" pos="{2}" euler="0 0 {3}"><joint name="{0}{1}" axis="0 0 1"/>'
    site = '<site name="{0}" pos="{1} 0.2 0" euler="0 0 {2}"/></body></body></body>'
    body = LINK.format("0.05 0.1 0", 1, "0.02 0.02 0.04")
    text = '<mujoco><compiler angle="radian"/><worldbody>'
    for arm, foot, bend, point, turn in (
        ("a", "0 0 0", 0.3, 0.1, -0.3),
        ("b", "0.4 0 0", 0, -0.2, 0),
    ):
        for k, path, angle in ((1, foot, 0), (2, "0.1 0.4 0", 0), (3, "0 0.3 0", bend)):
            text += hinge.format(arm, k, path, angle) + body
        text += site.format(arm, point, turn)
    weld = '<weld site1="a" site2="b"' if sites else '<weld body1="a3" body2="b3" anchor="0.1 0 0"'
    text += f"</worldbody><equality>{weld} {HARD}/></equality></mujoco>"
    (tmp_path / "arms.xml").write_text(text)
    loaded = sy.load(tmp_path / "arms.xml")
    assert loaded.loop_structure.freedoms == 3
    assert loaded.mechanism.driven is None
    compare(loaded, text)


def test_loops_of_urdf_extensions_close(tmp_path: Path) -> None:
    """The four-bar with its pin as Isaac Sim and Drake write it, and as a Gazebo joint."""
    plain = tmp_path / "plain.urdf"
    robot("four_bar").without_loops().to_urdf(plain)
    loop = (
        '<loop_joint name="pin" type="{}"><link1 link="coupler_link" xyz="0.4 0.2 0" rpy="0 0 0"/>'
    )
    loop += (
        '<link2 link="rocker_link" xyz="-0.1 0.4 0" rpy="0 0 0"/><axis xyz="0 0 1"/></loop_joint>'
    )
    sdf = (
        '<gazebo><joint name="pin"'
        ' type="revolute"><parent>coupler_link</parent><child>rocker_link</child>'
    )
    sdf += "<pose>-0.1 0.4 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint></gazebo>"
    x = motion("four_bar")
    for text in (loop.format("revolute"), loop.format("spherical"), sdf):
        path = tmp_path / f"{len(text)}.urdf"
        path.write_text(plain.read_text().replace("</robot>", f"{text}</robot>"))
        arm = sy.load(path)
        assert arm.loop_structure.freedoms == 1
        close(arm.constrained_forward_dynamics(x.q, x.qd, x.tau)[0], x.qdd, 1e-10)

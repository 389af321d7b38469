"""Friction and rotors: their parameter names, their place in files, and errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.algebra.spatial import Pose, from_com
from steelyard.algebra.vector import Symmetric
from steelyard.dynamics.forward.aba import aba
from steelyard.mechanism.joint_terms import Terms
from steelyard.mechanism.model import Joint, Link, Mechanism, Mimic
from tests.laws.dynamics.law import close
from tests.reference import Reference
from tests.zoo import ALL_TERMS, RIPPLE, ZOO, case, robot

pytestmark = pytest.mark.filterwarnings("ignore:URDF has no element:steelyard.SteelyardWarning")
FORMS = {
    "linear": {"viscous": 2.0, "coulomb": 3.0, "offset": 0.5},
    "asymmetric": {"viscous": 2.0, "coulomb": 3.0, "negative": 4.0},
    "smooth": {"coulomb": 3.0, "width": 0.1},
    "stribeck": {"viscous": 1.0, "coulomb": 3.0, "stiction": 5.0, "stribeck": 0.2},
    "load": {"coulomb": 3.0, "load": 0.1},
    "losses": {"coulomb": 3.0, "driving": 0.1, "driven": 0.25},
    "presliding": {"coulomb": 3.0, "presliding": 1.5, "distance": 0.004},
    "ripple": RIPPLE,
    "all": ALL_TERMS,
}
LABELS = {
    "viscous": "Fv",
    "coulomb": "Fc",
    "offset": "F0",
    "negative": "Fn",
    "stiction": "Fs",
    "load": "Fl",
    "driving": "Fld",
    "driven": "Flb",
    "presliding": "Fp",
}
LABELS |= {f"{name}{h}": f"R{h}{name[0]}" for h in (1, 2, 6) for name in ("sine", "cosine")}


@pytest.mark.parametrize("form", FORMS)
def test_linear_terms_are_parameters_and_shapes_are_not(form: str) -> None:
    result = sy.load("spatial_3r").with_friction(**FORMS[form])
    results = {
        name.split(".")[1]: value
        for name, value in zip(result.parameter_names, result.parameters, strict=True)
        if name.startswith("joint1")
    }
    assert results == {LABELS[key]: value for key, value in FORMS[form].items() if key in LABELS}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("suffix", ["urdf", "toml"])
def test_files_keep_friction_and_rotors(form: str, suffix: str, tmp_path: Path) -> None:
    ratios = [50.0, -40.0, 7.5, 100.0, 101.0, 0.3]
    outcome = (
        sy.load("elbow_6r")
        .without_friction()
        .with_friction(**FORMS[form])
        .with_rotors(0.3, ratio=ratios)
    )
    path = tmp_path / f"robot.{suffix}"
    (outcome.to_urdf if suffix == "urdf" else outcome.to_toml)(path)
    for result, expected in zip(sy.load(path).tree.terms, outcome.tree.terms, strict=True):
        assert dict(result) == pytest.approx(dict(expected), rel=1e-12)
    assert [rotor.ratio for rotor in sy.load(path).tree.rotors] == ratios


@pytest.mark.parametrize("name", ["hand", "lift"])
def test_articulated_bodies_refuse_joints_that_move_together(name: str) -> None:
    x = case(name)
    with pytest.raises(
        sy.ModelError, match=r"knuckle, middle, tip move together|rotors that spin on moving bodies"
    ):
        aba(robot(name).tree, list(x.q[0]), list(x.qd[0]), list(x.tau[0]))


@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("suffix", ["urdf", "toml"])
def test_files_keep_the_zoo(name: str, suffix: str, tmp_path: Path) -> None:
    x, path = case(name), tmp_path / f"robot.{suffix}"
    (x.robot.to_urdf if suffix == "urdf" else x.robot.to_toml)(path)
    again = sy.load(path).with_gravity(x.robot.gravity)
    order = [again.joint_names.index(joint) for joint in x.robot.joint_names]
    there = type(x.reference)(again.mechanism, again.joint_names)
    close(
        there.torques(*(v[:, np.argsort(order)] for v in (x.q, x.qd, x.qdd)))[:, order],
        x.reference.torques(x.q, x.qd, x.qdd),
        1e-10,
    )


@pytest.mark.parametrize(
    ("change", "offender"),
    [
        ({"width": 0.0, "coulomb": 1.0}, "width = 0"),
        ({"stiction": 1.0}, "stribeck, the Stribeck velocity that it depends on"),
        ({"presliding": 1.0}, "distance, the presliding distance that it depends on"),
        ({"presliding": 1.0, "distance": 0.0}, "distance = 0; expected a positive presliding"),
        ({"sine2": 1.0}, "gear, the gear ratio that it depends on"),
        ({"sine2": 1.0, "gear": -100.0}, "gear = -100; expected a positive gear ratio"),
        ({"coulomb": [1.0, 2.0]}, "coulomb has 2 numbers"),
        ({"viscous": float("nan")}, "viscous"),
        (
            {"driving": {"joint2": 1.0}, "driven": {"joint2": 0.1}},
            r"joint2.*\(driving\) is 1; expected a number in \[0, 1\)",
        ),
        (
            {"driving": {"joint2": 0.1}, "driven": {"joint2": -0.1}},
            r"joint2.*\(driven\) is -0.1; expected a number in \[0, 1\)",
        ),
        ({"driving": {"joint3": 0.1}}, "joint3.* has driving but no driven, the gear loss per"),
        ({"viscous": {"joint9": 1.0}}, "joint9"),
    ],
)
def test_friction_that_makes_no_sense_is_named(change, offender):
    with pytest.raises(sy.CallError, match=offender):
        sy.load("spatial_3r").with_friction(**change)


@pytest.mark.parametrize(
    ("change", "offender"),
    [
        ({"ratio": 0.0}, "gear ratio of 0"),
        ({"ratio": 2.0, "axis": (0, 0, 2)}, "unit vector"),
        ({"ratio": 2.0, "mount": "link9"}, "link9"),
    ],
)
def test_rotors_that_make_no_sense_are_named(change, offender):
    with pytest.raises(sy.SteelyardError, match=offender):
        sy.load("spatial_3r").with_rotors(0.1, **change)


def test_a_rotor_on_the_link_that_it_moves_is_refused():
    with pytest.raises(sy.ModelError, match="which the joint itself moves"):
        sy.load("spatial_3r").with_rotors(0.1, ratio=10.0, mount="link3")


@pytest.mark.filterwarnings("error::steelyard.SteelyardWarning")
def test_a_urdf_that_others_read_differently_is_said_with_the_size_of_the_difference(
    tmp_path: Path,
) -> None:
    result = sy.load("planar_2r").with_rotors({"joint2": 0.4}).with_friction(viscous=1.0)
    with pytest.warns(
        sy.SteelyardWarning,
        match=r"no element for armature of joint2: .* differ by up to 0\.4 N m at joint2",
    ):
        result.to_urdf(tmp_path / "robot.urdf")
    sy.load("planar_2r").with_friction(viscous=1.0, coulomb=2.0).to_urdf(tmp_path / "plain.urdf")


def test_a_rotor_inertia_that_mimics_a_spinning_rotor_is_refused() -> None:
    hand = robot("hand").mechanism
    joints = tuple(
        replace(j, terms=j.terms.changed({"armature": 0.05})) if j.name == "middle" else j
        for j in hand.joints
    )
    with pytest.raises(sy.ModelError, match="'middle' mimics 'knuckle', whose rotor spins"):
        sy.Robot(replace(hand, joints=joints)).mass_matrix(np.zeros(robot("hand").n))


def pair(first: dict[str, float], second: dict[str, float], k: float) -> sy.Robot:
    """Two joints of which the second mimics the first k times as fast."""
    links = [
        Link("base"),
        *(
            Link(
                name, from_com(1.0, (0.1, 0.05, -0.02), Symmetric(0.02, 0.0, 0.0, 0.03, 0.0, 0.025))
            )
            for name in "xy"
        ),
    ]
    joints = (
        Joint(
            "a",
            "revolute",
            "base",
            "x",
            Pose(p=(0.0, 0.0, 0.2)),
            (0.0, 1.0, 0.0),
            terms=Terms.of(first),
        ),
        Joint(
            "b",
            "revolute",
            "x",
            "y",
            Pose(p=(0.3, 0.0, 0.0)),
            (0.0, 1.0, 0.0),
            terms=Terms.of(second),
            mimic=Mimic("a", k, 0.1),
        ),
    )
    return sy.Robot(Mechanism("pair", tuple(links), joints))


SIDES = [{}, {"coulomb": 1.0}, {"negative": 0.6}, {"coulomb": 0.5, "negative": 0.3}]


@pytest.mark.parametrize("k", [-2.0, -1.0, 0.5])
@pytest.mark.parametrize("second", SIDES)
@pytest.mark.parametrize("first", SIDES)
def test_friction_of_either_direction_folds_by_virtual_work(
    first: dict[str, float], second: dict[str, float], k: float
) -> None:
    result, rates = pair(first, second, k), np.array([[1.0], [-1.0]])
    close(
        result.friction_torque(rates),
        Reference(result.mechanism, result.joint_names).friction_torque(rates, 0 * rates),
    )


@pytest.mark.parametrize("k", [-2.0, -1.0, 0.5])
@pytest.mark.parametrize("second", SIDES)
@pytest.mark.parametrize("first", SIDES)
def test_an_edit_of_a_shared_coordinate_changes_what_is_asked_and_nothing_else(
    first: dict[str, float], second: dict[str, float], k: float
) -> None:
    result, rates = pair(first, second, k), np.array([[1.0], [-1.0]])
    for column, name in enumerate(result.parameter_names):
        if name in ("a.Fc", "a.Fn"):
            pi = result.parameters.copy()
            pi[column] = 0.05
            again = result.with_parameters(pi)
            assert again.parameter_names == result.parameter_names
            np.testing.assert_allclose(again.parameters, pi, atol=1e-15)
    for value in (0.05, 3.0):
        forward, backward = result.with_friction(coulomb=value).friction_torque(rates)[:, 0]
        assert forward == pytest.approx(value)
        assert backward == pytest.approx(
            result.friction_torque(rates)[1, 0] if "a.Fn" in result.parameter_names else -value
        )


def test_a_held_joint_leaves_the_friction_of_a_shared_motor_to_the_other() -> None:
    shared = sy.load("spatial_3r").with_coupling(
        "joint1", "joint2", armature=0.2, viscous=0.1, coulomb=0.5, width=0.1
    )
    whole = shared.inverse_dynamics([0.1] * 3, [0.5, 0.0, 0.5], [0.2, 0.0, 0.3])
    tau = shared.freeze({"joint2": 0.1}).inverse_dynamics([0.1] * 2, [0.5] * 2, [0.2, 0.3])
    close(tau, whole[[0, 2]])
    with pytest.raises(sy.CallError, match="'joint1' cannot take over"):
        shared.with_friction(coulomb=1.0).freeze({"joint2": 0.1})


def test_the_order_of_parameters_does_not_depend_on_the_order_of_edits(tmp_path: Path) -> None:
    plain = sy.load("elbow_6r")
    one = plain.with_coupling("joint2", "joint3", viscous=1.0).with_coupling(
        "joint1", "joint2", viscous=2.0
    )
    other = plain.with_coupling("joint1", "joint2", viscous=2.0).with_coupling(
        "joint2", "joint3", viscous=1.0
    )
    one.to_urdf(tmp_path / "one.urdf")
    assert (
        one.parameter_names
        == other.parameter_names
        == sy.load(tmp_path / "one.urdf").parameter_names
    )


def test_a_rigid_hand_has_several_tips_and_no_default_frame(example_robots: Path) -> None:
    panda = sy.load(example_robots / "panda_description/urdf/panda.urdf").freeze(
        {"panda_finger_joint1": 0.02}
    )
    with pytest.raises(sy.CallError, match="panda_leftfinger, panda_rightfinger"):
        panda.with_payload(2.0)
    assert sy.load(example_robots / "ur_description/urdf/ur5_robot.urdf").end_effector


def test_c_of_a_robot_with_several_tips_needs_no_frame_for_torques(tmp_path: Path) -> None:
    header, _ = robot("torso").to_c(tmp_path / "c", functions=["inverse_dynamics"])
    assert "inverse_dynamics" in header.read_text()
    with pytest.raises(sy.CallError, match="name the frame"):
        robot("torso").to_c(tmp_path / "d", functions=["jacobian"])


@pytest.mark.parametrize(
    ("wrench", "words"),
    [
        ({1: np.zeros(6)}, "not the name of a frame"),
        ({"link1": np.zeros((2, 6)), "link2": np.zeros((3, 6))}, "broadcast"),
    ],
)
def test_wrenches_that_make_no_sense_are_named(wrench: dict, words: str) -> None:
    with pytest.raises(sy.CallError, match=words):
        sy.load("spatial_3r").wrench_torque(np.zeros(3), wrench)


def test_no_wrench_is_no_torque() -> None:
    assert not sy.load("spatial_3r").wrench_torque(np.zeros((4, 3)), {}).any()


@pytest.mark.parametrize("terms", [{"load": 0.1}, {"driving": 0.1, "driven": 0.2}, RIPPLE])
def test_friction_of_position_or_load_belongs_to_a_joint_that_leads(
    terms: dict[str, float],
) -> None:
    result = pair(terms, {"coulomb": 1.0}, 1.0)
    assert set(terms) <= set(result.tree.terms[0])
    with pytest.raises(
        sy.ModelError,
        match=(
            r"joint 'b' mimics 'a' and has friction that depends on position or load .* give it"
            r" to 'a'"
        ),
    ):
        _ = pair({}, terms, 1.0).tree

"""Friction and rotors: their names among the parameters, their place in files, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.dynamics.aba import aba
from tests.laws.dynamics.law import close
from tests.zoo import ALL_TERMS, ZOO, case, robot

pytestmark = pytest.mark.filterwarnings("ignore:URDF has no place:steelyard.SteelyardWarning")
FORMS = {
    "linear": {"viscous": 2.0, "coulomb": 3.0, "offset": 0.5},
    "asymmetric": {"viscous": 2.0, "coulomb": 3.0, "negative": 4.0},
    "smooth": {"coulomb": 3.0, "width": 0.1},
    "stribeck": {"viscous": 1.0, "coulomb": 3.0, "stiction": 5.0, "stribeck": 0.2},
    "all": ALL_TERMS,
}
LABELS = {"viscous": "Fv", "coulomb": "Fc", "offset": "F0", "negative": "Fn", "stiction": "Fs"}


@pytest.mark.parametrize("form", FORMS)
def test_linear_terms_are_parameters_and_shapes_are_not(form: str) -> None:
    made = sy.load("spatial_3r").with_friction(**FORMS[form])
    found = {
        name.split(".")[1]: value for name, value in zip(made.parameter_names, made.parameters, strict=True) if name.startswith("joint1")
    }
    assert found == {LABELS[key]: value for key, value in FORMS[form].items() if key in LABELS}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("suffix", ["urdf", "toml"])
def test_files_keep_friction_and_rotors(form: str, suffix: str, tmp_path: Path) -> None:
    ratios = [50.0, -40.0, 7.5, 100.0, 101.0, 0.3]
    made = sy.load("elbow_6r").without_friction().with_friction(**FORMS[form]).with_rotors(0.3, ratio=ratios)
    path = tmp_path / f"robot.{suffix}"
    (made.to_urdf if suffix == "urdf" else made.to_toml)(path)
    for found, wanted in zip(sy.load(path).tree.terms, made.tree.terms, strict=True):
        assert dict(found) == pytest.approx(dict(wanted), rel=1e-12)
    assert [rotor.ratio for rotor in sy.load(path).tree.rotors] == ratios


@pytest.mark.parametrize("name", ["hand", "lift"])
def test_articulated_bodies_refuse_joints_that_move_together(name: str) -> None:
    x = case(name)
    with pytest.raises(sy.ModelError, match=r"knuckle, middle, tip move together|rotors that spin on moving bodies"):
        aba(robot(name).tree, list(x.q[0]), list(x.qd[0]), list(x.tau[0]))


@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("suffix", ["urdf", "toml"])
def test_files_keep_the_zoo(name: str, suffix: str, tmp_path: Path) -> None:
    x, path = case(name), tmp_path / f"robot.{suffix}"
    (x.robot.to_urdf if suffix == "urdf" else x.robot.to_toml)(path)
    again = sy.load(path).with_gravity(x.robot.gravity)
    order = [again.joint_names.index(joint) for joint in x.robot.joint_names]
    there = type(x.reference)(again.mechanism, again.joint_names)
    close(there.torques(*(v[:, np.argsort(order)] for v in (x.q, x.qd, x.qdd)))[:, order], x.reference.torques(x.q, x.qd, x.qdd), 1e-10)


@pytest.mark.parametrize(
    ("change", "offender"),
    [
        ({"width": 0.0, "coulomb": 1.0}, "width = 0"),
        ({"stiction": 1.0}, "stribeck"),
        ({"coulomb": [1.0, 2.0]}, "coulomb has 2 numbers"),
        ({"viscous": float("nan")}, "viscous"),
        ({"viscous": {"joint9": 1.0}}, "joint9"),
    ],
)
def test_friction_that_makes_no_sense_is_named(change, offender):
    with pytest.raises(sy.CallError, match=offender):
        sy.load("spatial_3r").with_friction(**change)


@pytest.mark.parametrize(
    ("change", "offender"),
    [({"ratio": 0.0}, "gear ratio of 0"), ({"ratio": 2.0, "axis": (0, 0, 2)}, "unit vector"), ({"ratio": 2.0, "mount": "link9"}, "link9")],
)
def test_rotors_that_make_no_sense_are_named(change, offender):
    with pytest.raises(sy.SteelyardError, match=offender):
        sy.load("spatial_3r").with_rotors(0.1, **change)


def test_a_rotor_on_the_link_that_it_moves_is_refused():
    with pytest.raises(sy.ModelError, match="which the joint itself moves"):
        sy.load("spatial_3r").with_rotors(0.1, ratio=10.0, mount="link3")


@pytest.mark.filterwarnings("error::steelyard.SteelyardWarning")
def test_a_urdf_that_others_read_differently_is_said_with_the_size_of_the_difference(tmp_path: Path) -> None:
    made = sy.load("planar_2r").with_rotors({"joint2": 0.4}).with_friction(viscous=1.0)
    with pytest.warns(sy.SteelyardWarning, match=r"no place for armature of joint2: .* differ by up to 0\.4 N m at joint2"):
        made.to_urdf(tmp_path / "robot.urdf")
    sy.load("planar_2r").with_friction(viscous=1.0, coulomb=2.0).to_urdf(tmp_path / "plain.urdf")


def test_a_rotor_inertia_that_mimics_a_spinning_rotor_is_refused() -> None:
    hand = robot("hand").mechanism
    joints = tuple(replace(j, terms=j.terms.changed({"armature": 0.05})) if j.name == "middle" else j for j in hand.joints)
    with pytest.raises(sy.ModelError, match="'middle' mimics 'knuckle', whose rotor spins"):
        sy.Robot(replace(hand, joints=joints)).mass_matrix(np.zeros(robot("hand").n))

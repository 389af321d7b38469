"""What is written reads back as exactly the same mechanism, bit for bit, through every writer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from steelyard.algebra.spatial import Inertia
from steelyard.algebra.vector import Symmetric
from steelyard.errors import CallError, ModelError
from steelyard.mechanism import Link, Mechanism, edit, load, reduce, robots
from steelyard.mechanism.fingerprint import fingerprint
from steelyard.mechanism.formats import decimals as exact
from steelyard.mechanism.formats.toml.read_toml import read_toml
from steelyard.mechanism.formats.toml.write_toml import toml, write_toml
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf
from steelyard.mechanism.formats.urdf.write_urdf import urdf, write_urdf
from steelyard.mechanism.parameter_vector import parameters
from tests.random_mechanisms import random_mechanism
from tests.random_robots import random_inertia, random_pose

pytestmark = pytest.mark.filterwarnings("ignore::steelyard.errors.SteelyardWarning")
FILES = [
    "ur_description/urdf/ur10_robot.urdf",
    "panda_description/urdf/panda.urdf",
    "kinova_description/robots/kinova.urdf",
    "romeo_description/urdf/romeo.urdf",
    "tiago_description/robots/tiago_no_hand.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
]


@pytest.mark.parametrize("seed", range(25))
def test_random_mechanisms_through_urdf_and_toml(seed: int) -> None:
    mechanism = random_mechanism(np.random.default_rng(seed))
    for back in (read_urdf(urdf(mechanism)), read_toml(toml(mechanism))):
        assert back == mechanism
        assert fingerprint(back) == fingerprint(mechanism)


@pytest.mark.parametrize("seed", range(10))
def test_from_one_format_to_the_other_and_back(seed: int) -> None:
    mechanism = random_mechanism(np.random.default_rng(100 + seed))
    assert read_urdf(urdf(read_toml(toml(read_urdf(urdf(mechanism)))))) == mechanism


@pytest.mark.parametrize("name", FILES)
def test_an_unchanged_file_comes_back_byte_for_byte(name: str, example_robots: Path, tmp_path: Path) -> None:
    source = example_robots / name
    write_urdf(load(source), tmp_path / "copy.urdf")
    assert (tmp_path / "copy.urdf").read_bytes() == source.read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_reads_back_exactly(name: str, example_robots: Path, rng: np.random.Generator) -> None:
    mechanism = changed(load(example_robots / name), rng)
    assert read_urdf(urdf(mechanism)) == mechanism
    assert read_toml(toml(mechanism)) == mechanism


@pytest.mark.parametrize("name", robots())
def test_built_in_robots(name: str, rng: np.random.Generator) -> None:
    mechanism = load(name)
    assert toml(mechanism) == mechanism.source.text
    assert read_urdf(urdf(mechanism)) == mechanism
    new = changed(mechanism, rng)
    assert read_toml(toml(new)) == new
    assert ("convention" in toml(new)) == ("convention" in mechanism.source.text), "a DH table stays one"


def changed(mechanism: Mechanism, rng: np.random.Generator) -> Mechanism:
    pi = np.array(parameters(reduce(mechanism))) * rng.uniform(0.99, 1.01)
    mechanism = edit.with_parameters(mechanism, pi)
    return edit.with_gravity(edit.with_rotors(edit.with_friction(mechanism, viscous=0.3, coulomb=0.0, offset=-0.01), 0.2), (0.1, 0.2, 9.0))


def test_held_joints_and_payloads_survive(example_robots: Path) -> None:
    mechanism = load(example_robots / FILES[1])
    held = edit.with_payload(
        edit.freeze(mechanism, {"panda_joint2": 0.3, "panda_finger_joint1": 0.02}), 1.5, (0, 0, 0.1), 0.01, "panda_hand"
    )
    assert read_urdf(urdf(held)) == held
    assert read_toml(toml(held)) == held
    assert reduce(held).n == 6


def test_a_dh_table_that_is_no_longer_one_is_written_in_general_form() -> None:
    held = edit.freeze(load("puma560"), {"joint3": 0.7})
    assert "convention" not in toml(held)
    assert read_toml(toml(held), warn=False) == held


@pytest.mark.parametrize("seed", range(200))
def test_decimals_of_an_inertia_are_exact_in_any_frame(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inertia, pose = random_inertia(rng), random_pose(rng) if seed % 2 else exact.HERE
    m, c, moments = exact.written(inertia, pose)
    given = exact.Given(Fraction(m), tuple(map(Fraction, c)), Symmetric(*map(Fraction, moments)))
    assert exact.read(given, pose) == inertia


def test_pinocchio_reads_what_we_write_into_a_file(example_robots: Path, rng: np.random.Generator) -> None:
    tree = reduce(mechanism := changed(load(example_robots / FILES[0]), rng))
    model = pin.buildModelFromXML(urdf(mechanism))
    for body in tree.bodies:
        assert model.inertias[model.getJointId(body.joint)].mass == body.inertia.m
    assert set(model.damping) == {0.3}


def test_a_body_without_a_centre_of_mass_goes_into_toml_only() -> None:
    mechanism = load("planar_rp")
    odd = Inertia(0.0, (0.1, 0.2, 0.3), Symmetric(1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    mechanism = replace(mechanism, links=(*mechanism.links[:-1], Link("link2", odd)))
    assert read_toml(toml(mechanism), warn=False) == mechanism
    with pytest.raises(ModelError, match=r"link 'link2' has mass 0 kg and first moment .* URDF can only hold"):
        urdf(mechanism)


@pytest.mark.parametrize("write", [write_urdf, write_toml])
def test_nothing_is_written_over_unasked(write, tmp_path: Path) -> None:
    path = tmp_path / "robot"
    path.write_text("precious")
    with pytest.raises(CallError, match="exists already; pass overwrite=True"):
        write(load("planar_2r"), path)
    assert path.read_text() == "precious"
    write(load("planar_2r"), path, overwrite=True)
    assert path.read_text() != "precious"
    assert [entry.name for entry in tmp_path.iterdir()] == ["robot"], "no temporary file stays behind"


@pytest.mark.parametrize("write", [write_urdf, write_toml])
def test_a_folder_that_is_not_there_or_a_folder_as_target(write, tmp_path: Path) -> None:
    with pytest.raises(CallError, match="there is no folder"):
        write(load("planar_2r"), tmp_path / "absent" / "robot")
    with pytest.raises(CallError, match="is a folder"):
        write(load("planar_2r"), tmp_path)


def test_a_link_to_a_file_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text("old")
    (tmp_path / "alias.toml").symlink_to("real.toml")
    write_toml(load("planar_2r"), tmp_path / "alias.toml", overwrite=True)
    assert (tmp_path / "alias.toml").is_symlink()
    assert load(tmp_path / "real.toml") == load("planar_2r")

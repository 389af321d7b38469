"""What is written reads back as the same mechanism.

Exactly from TOML; from URDF with inertias and rotations within 1e-12.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from steelyard.algebra.rotation import rotation_z
from steelyard.algebra.spatial import Inertia, Pose, from_com, moved
from steelyard.algebra.vector import ZERO, Symmetric, full
from steelyard.errors import CallError, ModelError
from steelyard.mechanism import Link, Mechanism, edit, load, reduce, robots
from steelyard.mechanism.formats.inertial import HERE, about_frame, changed_elements, com_form
from steelyard.mechanism.formats.toml.read_toml import read_toml
from steelyard.mechanism.formats.toml.write_toml import toml, write_toml
from steelyard.mechanism.formats.urdf.read_urdf import read_urdf
from steelyard.mechanism.formats.urdf.write_urdf import urdf, write_urdf
from steelyard.mechanism.model import fingerprint
from steelyard.mechanism.near_integers import snapped
from steelyard.mechanism.parameter_vector import parameters
from tests.loop_robots import every_kind
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


def assert_same(result: Mechanism, expected: Mechanism) -> None:
    """Equal but for rounding.

    Inertias to 1e-12 of mass times length and of the moments, rotations and joint terms to 1e-12.
    """
    for mine, theirs in zip(result.links, expected.links, strict=True):
        assert_same_inertia(mine.inertia, theirs.inertia)
    for mine, theirs in zip(result.joints, expected.joints, strict=True):
        np.testing.assert_allclose(mine.origin.R, theirs.origin.R, rtol=0, atol=1e-12)
        assert dict(mine.terms) == pytest.approx(dict(theirs.terms), rel=1e-12, abs=0)
        theirs = replace(theirs, terms=mine.terms)
        assert mine == replace(theirs, origin=theirs.origin._replace(R=mine.origin.R))
    assert result == replace(expected, links=result.links, joints=result.joints)
    assert [link.name for link in result.links] == [link.name for link in expected.links]


def assert_same_inertia(result: Inertia | None, expected: Inertia | None) -> None:
    if expected is None or result is None:
        assert result == expected
        return
    assert result.m == expected.m
    lever = np.linalg.norm(expected.h) / (expected.m or 1.0)
    np.testing.assert_allclose(result.h, expected.h, rtol=0, atol=1e-12 * expected.m * lever)
    moment = np.trace(full(expected.I)) + expected.m * lever**2
    np.testing.assert_allclose(result.I, expected.I, rtol=0, atol=1e-12 * moment)


@pytest.mark.parametrize("seed", range(25))
def test_random_mechanisms_through_urdf_and_toml(seed: int) -> None:
    mechanism = random_mechanism(np.random.default_rng(seed))
    assert_same(read_urdf(urdf(mechanism)), mechanism)
    back = read_toml(toml(mechanism))
    assert back == mechanism
    assert fingerprint(back) == fingerprint(mechanism)


@pytest.mark.parametrize("seed", range(10))
def test_from_one_format_to_the_other_and_back(seed: int) -> None:
    mechanism = random_mechanism(np.random.default_rng(100 + seed))
    back = read_urdf(urdf(mechanism))
    assert read_toml(toml(back)) == back
    assert_same(read_urdf(urdf(read_toml(toml(back)))), mechanism)


@pytest.mark.parametrize("name", FILES)
def test_an_unchanged_file_comes_back_byte_for_byte(
    name: str, example_robots: Path, tmp_path: Path
) -> None:
    source = example_robots / name
    write_urdf(load(source), tmp_path / "copy.urdf")
    assert (tmp_path / "copy.urdf").read_bytes() == source.read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_reads_back(
    name: str, example_robots: Path, rng: np.random.Generator
) -> None:
    mechanism = changed(load(example_robots / name), rng)
    assert_same(read_urdf(urdf(mechanism)), mechanism)
    assert read_toml(toml(mechanism)) == mechanism


@pytest.mark.parametrize("name", robots(installed=False))
def test_built_in_robots(name: str, rng: np.random.Generator) -> None:
    mechanism = load(name)
    assert toml(mechanism) == mechanism.source.text
    assert_same(read_urdf(urdf(mechanism)), mechanism)
    new = changed(mechanism, rng)
    assert_same(read_toml(toml(new)), new)
    assert read_toml(toml(replace(new, source=None))) == new
    assert ("convention" in toml(new)) == ("convention" in mechanism.source.text), (
        "a DH table stays one"
    )


def changed(mechanism: Mechanism, rng: np.random.Generator) -> Mechanism:
    pi = np.array(parameters(reduce(mechanism))) * rng.uniform(0.99, 1.01)
    mechanism = edit.with_parameters(mechanism, pi)
    return edit.with_gravity(
        edit.with_rotors(
            edit.with_friction(mechanism, viscous=0.3, coulomb=0.0, offset=-0.01), 0.2
        ),
        (0.1, 0.2, 9.0),
    )


def test_held_joints_and_payloads_survive(example_robots: Path) -> None:
    mechanism = load(example_robots / FILES[1])
    fixed = edit.with_payload(
        edit.freeze(mechanism, {"panda_joint2": 0.3, "panda_finger_joint1": 0.02}),
        1.5,
        (0, 0, 0.1),
        0.01,
        "panda_hand",
    )
    assert_same(read_urdf(urdf(fixed)), fixed)
    assert read_toml(toml(fixed)) == fixed
    assert reduce(fixed).n == 6


def test_a_dh_table_that_is_no_longer_one_is_written_in_general_form() -> None:
    fixed = edit.freeze(load("puma560"), {"joint3": 0.7})
    assert "convention" not in toml(fixed)
    assert read_toml(toml(fixed), warn=False) == fixed


@pytest.mark.parametrize("seed", range(200))
def test_an_inertia_converts_to_any_frame_and_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inertia, pose = random_inertia(rng), random_pose(rng) if seed % 2 else HERE
    result = about_frame(*com_form(inertia, pose), pose)
    lever = np.linalg.norm(inertia.h) / inertia.m + np.linalg.norm(pose.p)
    assert result.m == inertia.m
    np.testing.assert_allclose(result.h, inertia.h, rtol=0, atol=1e-12 * inertia.m * lever)
    np.testing.assert_allclose(
        result.I, inertia.I, rtol=0, atol=1e-12 * (np.trace(full(inertia.I)) + inertia.m * lever**2)
    )


def test_what_is_zero_but_for_rounding_is_written_as_zero() -> None:
    """A body that is turned once around in 48 steps."""
    step = Pose(rotation_z(np.pi / 24), ZERO)
    inertia = from_com(3.0, (0.25, 0.0, 0.5), Symmetric(0.02, 0.0, 0.0, 0.03, 0.0, 0.04))
    for _ in range(48):  # of 7.5 degrees
        inertia = moved(inertia, step)
    assert inertia.h[1] != 0.0
    assert inertia.I.xy != 0.0
    assert com_form(inertia) == (3.0, (0.25, 0.0, 0.5), Symmetric(0.02, 0.0, 0.0, 0.03, 0.0, 0.04))


@pytest.mark.parametrize("name", FILES)
def test_no_number_in_a_written_urdf_is_rounding(
    name: str, example_robots: Path, rng: np.random.Generator
) -> None:
    """No more digits than a float has, no entry below 1e-14 of the largest in its element."""
    for words in re.findall(
        r'<(?:inertia|origin) [^>]*="[^>]*>',
        urdf(replace(changed(load(example_robots / name), rng), source=None)),
    ):
        numbers = [float(x) for x in re.findall(r'[-+.\deE]+(?=[ "])', words) if x not in "-+.eE"]
        assert all(
            len(digits.lstrip("0.").replace(".", "")) <= 17
            for digits in re.findall(r"[\d.]+", words)
        )
        if words.startswith("<inertia"):
            assert all(x == 0 or abs(x) > 1e-14 * max(map(abs, numbers)) for x in numbers)


def test_pinocchio_reads_what_we_write_into_a_file(
    example_robots: Path, rng: np.random.Generator
) -> None:
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
    with pytest.raises(
        ModelError,
        match=r"odd.urdf: link 'link2' has mass 0 kg and first moment .* URDF can only hold",
    ):
        urdf(mechanism, "odd.urdf")


@pytest.mark.parametrize("write", [write_urdf, write_toml])
def test_nothing_is_written_over_unasked(write, tmp_path: Path) -> None:
    path = tmp_path / "robot"
    path.write_text("precious")
    with pytest.raises(CallError, match="exists already; pass overwrite=True"):
        write(load("planar_2r"), path)
    assert path.read_text() == "precious"
    write(load("planar_2r"), path, overwrite=True)
    assert path.read_text() != "precious"
    assert [entry.name for entry in tmp_path.iterdir()] == ["robot"], (
        "no temporary file stays behind"
    )


@pytest.mark.parametrize("write", [write_urdf, write_toml])
def test_a_folder_that_is_not_there_or_a_folder_as_target(write, tmp_path: Path) -> None:
    with pytest.raises(CallError, match="there is no folder"):
        write(load("planar_2r"), tmp_path / "absent" / "robot")
    with pytest.raises(CallError, match="is a folder"):
        write(load("planar_2r"), tmp_path)


def test_a_link_to_a_file_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text("old")
    (tmp_path / "alias.toml").symlink_to("real.toml")
    with pytest.raises(CallError, match=r"alias\.toml is a symbolic link"):
        write_toml(load("planar_2r"), tmp_path / "alias.toml", overwrite=True)
    assert (tmp_path / "alias.toml").is_symlink()
    assert (tmp_path / "real.toml").read_text() == "old"


def test_loops_and_drives_of_every_kind_read_back() -> None:
    mechanism = replace(snapped(every_kind().mechanism), driven=("ja0", "jb1"), remarks=())
    assert read_toml(toml(mechanism), warn=False) == mechanism
    again = read_urdf(urdf(mechanism), warn=False)
    assert not changed_elements(mechanism, again)
    changed_back = replace(again, loops=again.loops[3:], driven=())
    assert not changed_elements(changed_back, read_urdf(urdf(changed_back), warn=False))
    edited = replace(load("four_bar"), driven=("rocker",), loops=mechanism.loops[:0])
    assert read_toml(toml(edited)) == edited
    assert "description" in toml(edited), "its own text is kept"

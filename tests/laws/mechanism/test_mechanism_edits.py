"""Edits return new mechanisms that move and weigh as they should."""

from __future__ import annotations

import math
import pickle
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest

from steelyard.algebra.spatial import Inertia, Pose, from_com, moved
from steelyard.algebra.vector import Symmetric
from steelyard.errors import CallError
from steelyard.mechanism import Limits, Link, Mechanism, Mimic, Terms, edit, load, reduce, robots
from steelyard.mechanism.model import fingerprint
from steelyard.mechanism.parameter_vector import parameter_names, parameters
from tests.plain_recursion import frame_pose, torques
from tests.random_mechanisms import random_mechanism
from tests.random_robots import random_inertia, random_pose

pytestmark = pytest.mark.filterwarnings("ignore::steelyard.errors.SteelyardWarning")
SEEDS = range(12)


def state(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(-1, 1, (3, n))


@pytest.mark.parametrize("seed", SEEDS)
def test_parameters_put_back_change_nothing(seed: int) -> None:
    mechanism = random_mechanism(np.random.default_rng(seed))
    assert edit.with_parameters(mechanism, parameters(reduce(mechanism))) == mechanism


@pytest.mark.parametrize("seed", SEEDS)
def test_parameters_come_back_out(seed: int) -> None:
    """Also where fixed links and mimic joints hold a part of them."""
    rng = np.random.default_rng(seed)
    mechanism = random_mechanism(rng)
    pi = np.array(parameters(reduce(mechanism))) * 1.3 + 0.1
    np.testing.assert_allclose(
        parameters(reduce(edit.with_parameters(mechanism, pi))), pi, rtol=1e-12, atol=1e-12
    )


def test_fixed_links_keep_their_inertia_and_the_moving_link_takes_the_rest(
    example_robots: Path,
) -> None:
    mechanism = load(example_robots / "panda_description/urdf/panda.urdf")
    pi = np.array(parameters(reduce(mechanism)))
    pi[60] += 0.5  # the mass of panda_link7, which carries the hand
    new = edit.with_parameters(mechanism, pi)
    assert new.link("panda_hand") == mechanism.link("panda_hand")
    assert new.link("panda_link7").inertia.m == pytest.approx(
        mechanism.link("panda_link7").inertia.m + 0.5
    )


def test_a_rest_that_no_body_can_have_moves_everything_into_the_moving_link(
    example_robots: Path,
) -> None:
    mechanism = load(example_robots / "panda_description/urdf/panda.urdf")
    # lighter than the hand alone
    body = Inertia(0.1, (0.0, 0.0, 0.0), Symmetric(1e-4, 0.0, 0.0, 1e-4, 0.0, 1e-4))
    pi = np.array(parameters(reduce(mechanism)))
    pi[60:70] = [body.m, *body.h, *body.I]
    new = edit.with_parameters(mechanism, pi)
    assert new.link("panda_link7").inertia == body
    assert new.link("panda_hand").inertia == Inertia()
    assert "'panda_link7' now has the whole inertia" in new.remarks[-1]
    assert "panda_hand" in new.remarks[-1]


def test_names_of_parameters() -> None:
    names = parameter_names(reduce(load("puma560")))
    assert names[20:30] == tuple(
        f"link3.{x}" for x in ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
    )
    assert names[60:64] == ("joint1.Ia", "joint1.Fv", "joint1.Fc", "joint1.Fn")
    assert len(names) == len(parameters(reduce(load("puma560")))) == 84


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tied_joint_is_the_free_one_along_the_tie(seed: int) -> None:
    """tau of the coordinate is the sum of k tau of the joints.

    Inertia, friction and rotors alike.
    """
    rng = np.random.default_rng(seed)
    mechanism = random_mechanism(rng, 10)
    tied, free = (
        reduce(mechanism),
        reduce(
            replace(
                mechanism, joints=tuple(replace(joint, mimic=None) for joint in mechanism.joints)
            )
        ),
    )
    G, offset = np.zeros((free.n, tied.n)), np.zeros(free.n)
    for body in tied.bodies:
        row = free.coordinates.index(body.joint)
        G[row, body.coordinate], offset[row] = body.multiplier, body.offset
    q, qd, qdd = state(rng, tied.n)
    np.testing.assert_allclose(
        torques(tied, q, qd, qdd),
        G.T @ torques(free, G @ q + offset, G @ qd, G @ qdd),
        rtol=1e-9,
        atol=1e-9,
    )


def test_a_mimic_of_a_mimic_and_its_limits() -> None:
    base = load("planar_2r")
    first, second = (joint for joint in base.joints)
    third = replace(
        second,
        name="joint3",
        parent="link2",
        child="link3",
        mimic=Mimic("joint2", -2.0, 0.1),
        limits=Limits(-1.0, 0.5),
    )
    second = replace(second, mimic=Mimic("joint1", 3.0, 0.2), limits=Limits(-0.4, 3.2))
    tree = reduce(Mechanism("m", (*base.links, Link("link3")), (first, second, third)))
    assert tree.coordinates == ("joint1",)
    assert (tree.bodies[2].multiplier, tree.bodies[2].offset) == (
        -6.0,
        pytest.approx(-2.0 * 0.2 + 0.1),
    )
    assert tree.limits[0].lower == pytest.approx(max(-0.2, (0.5 + 0.3) / -6.0))
    assert tree.limits[0].upper == pytest.approx(min(1.0, (-1.0 + 0.3) / -6.0))


@pytest.mark.parametrize("seed", SEEDS)
def test_held_joints_leave_every_frame_where_it_was(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mechanism = random_mechanism(rng, 10)
    tree = reduce(mechanism)
    q = rng.uniform(-1, 1, tree.n)
    some = {name: q[i] for i, name in enumerate(tree.coordinates) if i % 2 == 0}
    fixed = reduce(edit.freeze(mechanism, some))
    rest = [q[i] for i, name in enumerate(tree.coordinates) if name not in some]
    assert fixed.coordinates == tuple(name for name in tree.coordinates if name not in some)
    for link in mechanism.links:
        np.testing.assert_allclose(
            frame_pose(fixed, rest, link.name), frame_pose(tree, q, link.name), atol=1e-12
        )
    zero = np.zeros(fixed.n)
    full = torques(reduce(edit.without_friction(mechanism)), q, np.zeros(tree.n), np.zeros(tree.n))
    part = torques(reduce(edit.without_friction(edit.freeze(mechanism, some))), rest, zero, zero)
    np.testing.assert_allclose(
        part,
        [full[tree.coordinates.index(name)] for name in fixed.coordinates],
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize("frame", [None, "link4", "tool"])
def test_a_payload_adds_its_inertia_to_the_body_it_hangs_on(frame: str | None) -> None:
    mechanism = load("elbow_6r")
    before, after = (
        reduce(mechanism),
        reduce(
            edit.with_payload(
                mechanism,
                3.0,
                (0.01, 0.02, 0.05),
                [[0.02, 0, 0], [0, 0.03, 0], [0, 0, 0.04]],
                frame,
            )
        ),
    )
    body, pose = before.frames[frame or "tool"]
    load_ = moved(
        from_com(3.0, (0.01, 0.02, 0.05), Symmetric(0.02, 0.0, 0.0, 0.03, 0.0, 0.04)), pose
    )
    expected = before.bodies[body].inertia + load_
    np.testing.assert_allclose(
        [*after.bodies[body].inertia.h, *after.bodies[body].inertia.I],
        [*expected.h, *expected.I],
        rtol=1e-12,
    )
    assert after.bodies[body].inertia.m == expected.m
    assert [b for i, b in enumerate(after.bodies) if i != body] == [
        b for i, b in enumerate(before.bodies) if i != body
    ]


@pytest.mark.parametrize(
    "value",
    [0.5, [0.5, 0.5], (0.5, 0.5), np.full(2, 0.5), np.float64(0.5), {"joint1": 0.5, "joint2": 0.5}],
)
def test_friction_as_a_number_a_sequence_or_a_mapping(value) -> None:
    tree = reduce(edit.with_friction(load("planar_2r"), viscous=value))
    assert tree.terms == (Terms.of({"viscous": 0.5}),) * 2


def test_friction_terms_are_set_one_by_one_and_taken_away_together() -> None:
    mechanism = edit.with_friction(
        edit.with_friction(load("planar_2r"), coulomb={"joint2": 2.0}), offset=0.1
    )
    assert reduce(mechanism).terms == (
        Terms.of({"offset": 0.1}),
        Terms.of({"coulomb": 2.0, "offset": 0.1}),
    )
    assert edit.without_friction(mechanism) == load("planar_2r")


def test_rotors() -> None:
    tree = reduce(edit.with_rotors(load("planar_2r"), [1.0, 2.0]))
    assert tree.terms == (Terms.of({"armature": 1.0}), Terms.of({"armature": 2.0}))


def test_a_reduced_tree_and_a_mechanism_can_be_pickled_and_not_altered() -> None:
    mechanism = load("puma560")
    tree = reduce(mechanism)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert pickle.loads(pickle.dumps(tree)) == tree
    with pytest.raises(FrozenInstanceError):
        mechanism.name = "other"
    with pytest.raises(FrozenInstanceError):
        mechanism.joints[0].axis = (1.0, 0.0, 0.0)
    with pytest.raises(TypeError):
        tree.frames["link1"] = tree.frames["link2"]


def test_the_fingerprint_tells_mechanisms_apart_and_nothing_else() -> None:
    mechanism = load("elbow_6r")
    edits = [
        edit.with_gravity(mechanism, (0, 0, -9.80)),
        edit.with_rotors(mechanism, {"joint3": 1.0}),
        edit.with_friction(mechanism, offset=0.0),
        edit.with_payload(mechanism, 1e-9),
        edit.freeze(mechanism, {"joint6": 0.0}),
        replace(mechanism, name="other"),
    ]
    assert len({fingerprint(m) for m in [mechanism, *edits]}) == 7
    assert fingerprint(replace(mechanism, source=None, remarks=("seen",))) == fingerprint(mechanism)
    assert fingerprint(edit.with_gravity(mechanism, (-0.0, 0, -9.81))) == fingerprint(
        edit.with_gravity(mechanism, (0, 0, -9.81))
    )
    names = robots(installed=False)
    assert len({fingerprint(load(name)) for name in names}) == len(names)


WRONG = [
    (lambda m: edit.with_gravity(m, (0, 0)), "gravity = .* expected 3 finite numbers"),
    (lambda m: edit.with_gravity(m, (0, 0, math.nan)), "gravity"),
    (
        lambda m: edit.with_friction(m, viscous=[1, 2, 3]),
        "viscous has 3 numbers; expected one, or 2: one for each of joint1, joint2",
    ),
    (
        lambda m: edit.with_friction(m, coulomb={"joint3": 1}),
        "'joint3' is not an independent moving joint.*did you mean",
    ),
    (lambda m: edit.with_friction(m, offset=math.inf), "offset = inf"),
    (lambda m: edit.with_rotors(m, "heavy"), "armature"),
    (lambda m: edit.with_payload(m, -1.0), "mass = -1.0"),
    (lambda m: edit.with_payload(m, 1.0, (0, 0)), "com = "),
    (
        lambda m: edit.with_payload(m, 1.0, inertia=[[1, 2, 3], [0, 1, 0], [0, 0, 1]]),
        "inertia must be symmetric",
    ),
    (lambda m: edit.with_payload(m, 1.0, inertia=[1, 2]), "inertia = "),
    (
        lambda m: edit.with_payload(m, 1.0, frame="lnk2"),
        "no link is called 'lnk2'; did you mean 'link2'",
    ),
    (lambda m: edit.with_payload(m, 1.0, frame="base"), "'base' does not move"),
    (lambda m: edit.freeze(m, {"joint9": 1.0}), "no joint is called 'joint9'; did you mean"),
    (lambda m: edit.freeze(m, {"joint1": math.nan}), "cannot be frozen at nan"),
    (
        lambda m: edit.freeze(edit.freeze(m, {"joint1": 0.0}), {"joint1": 0.0}),
        "'joint1' is fixed already",
    ),
    (
        lambda m: edit.with_parameters(m, [1.0]),
        "pi has 1 numbers; expected 20: ten for each of 2 bodies",
    ),
    (lambda m: edit.with_parameters(m, [math.nan] * 20), r"pi\[0\] is not finite"),
    (lambda m: reduce(m).frame("tip"), "no frame is called 'tip'; known: base, link1, link2"),
]


@pytest.mark.parametrize(("call", "sentence"), WRONG, ids=range(len(WRONG)))
def test_wrong_calls_are_told(call, sentence: str) -> None:
    with pytest.raises(CallError, match=sentence):
        call(load("planar_2r"))


def test_a_mimic_joint_cannot_be_held_and_a_branched_robot_has_no_tip(example_robots: Path) -> None:
    panda = load(example_robots / "panda_description/urdf/panda.urdf")
    with pytest.raises(CallError, match="mimics 'panda_finger_joint1': freeze that one"):
        edit.freeze(panda, {"panda_finger_joint2": 0.0})
    with pytest.raises(
        CallError,
        match=r"ends in 2 bodies: panda_leftfinger, panda_rightfinger; name the frame",
    ):
        edit.with_payload(panda, 1.0)
    with pytest.raises(CallError, match=r"ends in 2 bodies: panda_leftfinger, panda_rightfinger"):
        # a rigid hand is as open as one that moves
        edit.tip(edit.freeze(panda, {"panda_finger_joint1": 0.0}))


def test_moving_an_inertia_there_and_back(rng: np.random.Generator) -> None:
    inertia, pose = random_inertia(rng), random_pose(rng)
    back = moved(moved(inertia, pose), pose.inverse())
    np.testing.assert_allclose(
        [back.m, *back.h, *back.I], [inertia.m, *inertia.h, *inertia.I], rtol=1e-12, atol=1e-12
    )
    assert moved(inertia, Pose()) == inertia

"""Distances between links and to walls.

Against a library, with exact derivatives, and certified at every instant of a motion.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.experiments.excitation.information import FisherInformation
from steelyard.experiments.excitation.task import ExcitationSearch
from steelyard.motion.collision.capsules import Distances, capsule_distances
from steelyard.motion.collision.clearance import Clearance, coal_shape
from steelyard.motion.collision.distance_tables import TabulatedClearance, with_distance_tables
from steelyard.motion.collision.distances_to_keep import distances_to_keep
from steelyard.motion.collision.robot_shapes import robot_shapes
from steelyard.motion.collision.shapes import ConvexShape, link_capsules
from steelyard.motion.collision.sweep import narrowest
from steelyard.motion.collision.walls import HalfSpace, walls
from steelyard.motion.trajectories.fourier import FourierBasis
from steelyard.motion.trajectories.limits import motion_limits
from tests.folding_arm import folding_arm

coal = pytest.importorskip("coal")


def random_positions(robot: sy.Robot, rng: np.random.Generator, count: int = 40) -> np.ndarray:
    return rng.uniform(-2.5, 2.5, (count, robot.n))


def test_capsules_are_as_far_apart_as_the_library_says(rng: np.random.Generator) -> None:
    A, B = rng.normal(size=(2, 60, 1, 2, 3))
    B[:10] = A[:10] + rng.normal(size=(10, 1, 1, 3))  # parallel ones
    made = capsule_distances(A, B, np.array([0.1]), np.array([0.05]))
    pair = Clearance(
        sy.load("planar_2r"),
        (ConvexShape(-1, "a", A[0, 0], 0.1), ConvexShape(-1, "b", B[0, 0], 0.05)),
        ((0, 1),),
    )
    for k in range(60):
        shapes = ConvexShape(-1, "a", A[k, 0], 0.1), ConvexShape(-1, "b", B[k, 0], 0.05)
        ours = Clearance(pair.robot, shapes, pair.pairs).distances(np.zeros((1, 2))).distance[0, 0]
        assert ours == pytest.approx(float(made.distance[k, 0]))
        (one, R1, p1), (two, R2, p2) = (coal_shape(shape) for shape in shapes)
        found = coal.distance(
            one,
            coal.Transform3s(R1, p1),
            two,
            coal.Transform3s(R2, p2),
            coal.DistanceRequest(),
            coal.DistanceResult(),
        )
        if ours > 0:
            assert ours == pytest.approx(found, abs=1e-6)


def test_capsules_whose_axes_meet_have_a_normal() -> None:
    ends = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    made = capsule_distances(
        ends[None, None], ends[None, None, :, [1, 0, 2]], np.array([0.1]), np.array([0.05])
    )
    assert made.distance[0, 0] == pytest.approx(-0.15)
    assert np.linalg.norm(made.normal[0, 0]) == pytest.approx(1.0), (
        "a bound along a vector that is shorter would be too large"
    )


def test_tables_are_close_to_the_distances_and_have_their_own_derivatives(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    robot = folding_arm(tmp_path)
    exact = Clearance.of(robot, robot_shapes(robot), np.full(3, -2.9), np.full(3, 2.9), 0.02)
    quick, q, d = (
        with_distance_tables(exact),
        rng.uniform(-9.0, 9.0, (2000, 3)),
        1e-6 * rng.normal(size=3),
    )
    assert isinstance(quick, TabulatedClearance)
    assert {quick.labels[k] for k in quick.near} == {"one apart from three"}
    one, two = exact.distances(q), quick.distances(q)
    near = (one.distance > 0.01) & (one.distance < 0.05)
    assert near.sum() > 20
    assert np.abs(one.distance - two.distance)[near].max() < 5e-3, "at corners"
    assert np.quantile(np.abs(one.distance - two.distance)[near], 0.9) < 1e-3
    change = (quick.distances(q + d).distance - quick.distances(q - d).distance) / 2
    rate = quick.derivatives(q, two, near) @ d
    np.testing.assert_allclose(rate[near], change[near], atol=1e-10)
    assert not rate[~near].any()


@pytest.mark.parametrize("kind", ["shapes", "capsules"])
def test_derivatives_equal_finite_differences(
    kind: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    robot = folding_arm(tmp_path)
    shapes = robot_shapes(robot, kind)
    gaps = Clearance.of(robot, shapes, np.full(3, -2.9), np.full(3, 2.9))
    around = walls(
        robot,
        shapes,
        {"three": ((-1, -1, -0.5), (0.9, 1, np.inf))},
        [HalfSpace((1, 0, 1), 0.5)],
        ground=-1.0,
    )
    q, d = random_positions(robot, rng), 1e-6 * rng.normal(size=3)
    for each in (gaps, around):
        made = each.distances(q)
        rate = each.derivatives(q, made, np.ones_like(made.distance, bool)) @ d
        change = (each.distances(q + d).distance - each.distances(q - d).distance) / 2
        apart = made.distance > 1e-3
        assert np.quantile(np.abs(rate - change)[apart], 0.95) < 1e-11  # corners of hulls apart
        assert np.all(each.distances(q, 0.0).distance <= made.distance + 1e-9), (
            "what is not exact is not more"
        )


def test_shapes_hold_the_bodies_they_stand_for(tmp_path: Path) -> None:
    robot = folding_arm(tmp_path)
    shapes = {(shape.name, shape.capsule): shape for shape in robot_shapes(robot)}
    assert set(shapes) == {
        ("one", False),
        ("two", False),
        ("three", False),
        ("three", True),
    }, "an absent mesh is left out"
    np.testing.assert_allclose(
        np.abs(shapes["one", False].points - [0.2, 0, 0]).max(axis=0), [0.2, 0.03, 0.03]
    )
    assert np.linalg.norm(shapes["two", False].points[:, 1:], axis=1).min() >= 0.03, (
        "a prism around the cylinder"
    )
    for shape in shapes.values():
        ends, radius = shape.bounding
        along = np.clip(
            (shape.points - ends[0])
            @ (ends[1] - ends[0])
            / max(np.sum((ends[1] - ends[0]) ** 2), 1e-30),
            0,
            1,
        )
        gap = np.linalg.norm(shape.points - ends[0] - along[:, None] * (ends[1] - ends[0]), axis=1)
        assert np.all(gap + shape.radius <= radius + 1e-12)
    assert all(shape.capsule for shape in link_capsules(robot.tree))


def test_meshes_are_held_by_few_corners(tmp_path: Path, rng: np.random.Generator) -> None:
    """A ball of many triangles: fewer corners, and a radius that makes up for the rest."""
    points = rng.normal(size=(600, 3))
    points *= 0.1 / np.linalg.norm(points, axis=1, keepdims=True)
    from scipy.spatial import ConvexHull

    rows = [f"v {x} {y} {z}" for x, y, z in points] + [
        "f {} {} {}".format(*(face + 1)) for face in ConvexHull(points).simplices
    ]
    (tmp_path / "ball.obj").write_text("\n".join(rows) + "\n")
    text = (tmp_path / "folding.urdf", folding_arm(tmp_path))[0].read_text()
    path = tmp_path / "mesh.urdf"
    path.write_text(text.replace("package://arm/absent.stl", f"package://{tmp_path.name}/ball.obj"))
    (ball,) = (shape for shape in robot_shapes(sy.load(path)) if shape.body < 0)
    assert len(ball.points) < 100
    assert 0 < ball.radius < 0.01
    directions = rng.normal(size=(200, 3))
    reach = (directions @ ball.points.T).max(axis=1) + ball.radius * np.linalg.norm(
        directions, axis=1
    )
    assert np.all(reach >= (directions @ points.T).max(axis=1) - 1e-9)


def test_the_certificate_holds_between_samples(tmp_path: Path, rng: np.random.Generator) -> None:
    robot = folding_arm(tmp_path)
    gaps = Clearance.of(
        robot, robot_shapes(robot), np.full(3, -2.9), np.full(3, 2.9), clearance=0.01
    )
    kept = 0
    for seed in range(8):
        x = np.random.default_rng(seed).normal(size=(3, 7)) * np.array([0.4, 1.6, 1.6])[:, None]
        motion = FourierBasis(4, 0.2).motion(x)
        t = np.linspace(0, 5, 2001)
        seen = float((gaps.distances(motion(t).q).distance - gaps.least).min())
        found = narrowest(gaps, motion, motion.bounds())
        assert found.spare <= seen + 1e-9 or found.spare < 0
        assert (found.spare >= 0) == (seen > 0) or abs(seen) < 1e-3
        kept += found.spare >= 0
    assert 0 < kept < 8, "the motions are of both kinds"


class ThinWall:
    """A distance |q1 - 0.5| - 1 mm, which a moving joint passes between samples."""

    labels, least = ("q1 away from 0.5",), np.zeros(1)

    def levers(self, travel: np.ndarray) -> np.ndarray:
        return np.array([[1.0, 0.0]])

    def distances(self, q: np.ndarray, exact: object = None) -> Distances:
        return Distances(np.abs(q[:, :1] - 0.5) - 1e-3, *(np.zeros((len(q), 1, 3)),) * 3)


def test_what_is_passed_between_samples_is_found() -> None:
    motion = FourierBasis(3, 0.2).motion(
        np.array([[0.3, 1.0, 0.5, 0.3, 0.2], [0.0, 0.5, 0.5, 0.2, 0.1]])
    )
    q = motion(np.linspace(0, 5, 60)).q[:, 0]
    assert q.min() < 0.5 < q.max()
    assert np.abs(q - 0.5).min() > 1e-3
    found = narrowest(ThinWall(), motion, motion.bounds())  # type: ignore[arg-type]
    assert found.spare < 0
    assert found.where == "q1 away from 0.5"


def test_a_motion_without_a_certificate_is_no_result(tmp_path: Path) -> None:
    robot = folding_arm(tmp_path, lower=1.0)
    space = motion_limits(robot, 0.9)
    gaps = Clearance.of(robot, robot_shapes(robot), space.lower, space.upper, 0.02)
    task = ExcitationSearch(space, FourierBasis(3, 0.2), FisherInformation.of(robot), 0, (gaps,))
    folded, open_ = (
        task.basis.motion(np.column_stack([np.array(q), np.full((3, 4), 0.02)]))
        for q in ([0.0, 2.2, 2.2], [0.0, 1.3, 1.3])
    )
    assert gaps.distances(folded(0.0).q[None]).distance.min() < 0
    assert task.certified(folded) is None
    assert task.certified(open_) is not None


def test_walls_count_radii_and_the_farthest_point() -> None:
    robot = sy.load("planar_2r")
    capsule = ConvexShape(1, "arm", np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]), 0.1)
    made = walls(robot, (capsule,), {"arm": ((-9, -9, -9), (2, 9, 9))})
    q = np.array([[0.0, 0.0]])
    X = robot.forward_kinematics(q, "link2")[0]
    end = (X @ [0.5, 0.0, 0.0, 1.0])[:3]
    found = dict(zip(made.labels, made.distances(q).distance[0], strict=True))
    assert found["arm below x = 2 m"] == pytest.approx(2 - max(end[0], X[0, 3]) - 0.1)
    assert found["arm above z = -9 m"] == pytest.approx(9 + min(end[2], X[2, 3]) - 0.1)


@pytest.mark.parametrize("kind", ["auto", "capsules"])
def test_a_motion_that_folds_the_arm_onto_itself_is_not_returned(kind: str, tmp_path: Path) -> None:
    robot = folding_arm(tmp_path, lower=1.0)
    gaps = Clearance.of(
        robot, robot_shapes(robot, kind), np.array([-2.9, 1.0, 1.0]), np.full(3, 2.9), 0.02
    )
    for options in ({"starts": 2}, {"candidates": 20}):
        fast = {"speed": 1.0, "acceleration": np.inf, "ground": None, **options}
        free = sy.excite(robot, 5.0, 4, collision="none", **fast)  # type: ignore[arg-type]
        made = sy.excite(robot, 5.0, 4, collision=kind, **fast)  # type: ignore[arg-type]
        assert gaps.distances(free.sample(200).q).distance.min() < 0
        assert gaps.distances(made.sample(1000).q).distance.min() >= 0.02
        assert made.excitation is not None
        assert made.excitation.certificate is not None
        assert made.excitation.certificate.spare >= 0
        assert "apart from" in made.excitation.certificate.narrowest


def test_what_is_not_checked_is_said(tmp_path: Path) -> None:
    robot = folding_arm(tmp_path)
    options = {"candidates": 3, "ground": -2.0}
    said = {
        kind: sy.excite(robot, 5.0, 3, collision=kind, **options).excitation
        for kind in ("auto", "none")
    }  # type: ignore[arg-type]
    assert said["none"] is not None
    assert said["auto"] is not None
    unknown = "links of unknown shape: base"
    assert said["none"].unchecked == ("distances between links", unknown)
    assert not said["none"].checked
    assert said["auto"].unchecked == (unknown,)
    assert not said["auto"].checked
    assert "Links that a joint joins were not checked" in said["auto"].remarks
    assert "replaced by capsules" not in said["auto"].remarks
    close = Clearance.of(robot, robot_shapes(robot), np.full(3, -0.1), np.full(3, 0.1), 0.02)
    assert close.left_out == ()
    folded = Clearance.of(
        robot, robot_shapes(robot), np.array([0.0, 3.1, 3.1]), np.array([0.1, 3.14, 3.14]), 0.02
    )
    assert ("one", "three") in folded.left_out
    limits = motion_limits(robot)
    folding = replace(limits, lower=np.array([0.0, 3.1, 3.1]), upper=np.array([0.1, 3.14, 3.14]))
    assert "built close together: one and three." in distances_to_keep(robot, folding).remarks


def test_walls_are_kept_by_frames_and_links(tmp_path: Path) -> None:
    robot = folding_arm(tmp_path)
    made = sy.excite(
        robot,
        5.0,
        4,
        starts=1,
        collision="none",
        ground=None,
        workspace={"three": ((-2, -2, -0.4), (0.8, 2, 2))},
        half_spaces=[((-1, 0, 0), 0.7)],
    )
    q = made.sample(500).q
    X = robot.forward_kinematics(q, "three")
    corners = np.array(
        [[x, y, z, 1] for x in (0, 0.4) for y in (-0.03, 0.03) for z in (-0.03, 0.03)]
    )
    placed = np.einsum("tij,kj->tki", X, corners)[..., :3]
    assert placed[..., 2].min() >= -0.4
    assert placed[..., 0].max() <= 0.8
    assert placed[..., 0].min() >= -0.7
    grounded = sy.excite(robot, 5.0, 4, starts=1, ground=-0.3)
    assert robot.forward_kinematics(grounded.q, "three")[:, 2, 3].min() >= -0.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"workspace": {"hand": ((0, 0, 0), (1, 1, 1))}},
            "no frame or link is called 'hand'.*three",
        ),
        (
            {"workspace": {"three": ((5, 5, 5), (6, 6, 6))}},
            "none of 400 random positions of the joints keeps three above x = 5 m",
        ),
        ({"workspace": {"three": ((1, 0, 0), (0, 1, 1))}}, r"low \[1.0, 0.0, 0.0\] must be below"),
        ({"workspace": {"base": ((0, 0, 0), (1, 1, 1))}}, "'base' does not move"),
        ({"half_spaces": [((0, 0, 0), 1.0)]}, "expected a normal"),
        ({"ground": 0.5}, "none of 400 random positions.*one above the ground.*ground=None"),
        ({"collision": "mesh"}, "collision = 'mesh'.*shapes"),
        ({"clearance": -1.0}, "clearance"),
        ({"clearance": 5.0}, "within the limits"),
        ({"payload": [1.0, 2.0]}, "payload = .*expected a mass"),
        ({"gravity": [0.0, 9.81]}, "gravity = .*three numbers"),
    ],
)
def test_bad_calls(options: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(sy.SteelyardError, match=message):
        sy.excite(folding_arm(tmp_path), 5.0, 3, starts=1, **options)  # type: ignore[arg-type]


def test_a_mesh_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    text = (tmp_path / "folding.urdf", folding_arm(tmp_path))[0].read_text()
    (tmp_path / "broken.stl").write_bytes(b"solid nothing")
    (tmp_path / "broken.urdf").write_text(text.replace("package://arm/absent.stl", "broken.stl"))
    with pytest.raises(sy.ProblemError, match=r"broken.stl of link 'base'"):
        sy.excite(sy.load(tmp_path / "broken.urdf"), 5.0, 3, starts=1)


def test_shapes_are_asked_for_where_there_are_none(tmp_path: Path) -> None:
    with pytest.raises(sy.ProblemError, match="has no collision shapes"):
        sy.excite(folding_arm(tmp_path, shapes=False), collision="shapes")

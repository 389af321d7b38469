"""What the page draws and says, as data.

Solids, meshes, ellipsoids, poses, marks of findings, differences of fits, lines to copy.
"""

from __future__ import annotations

import base64
import shlex
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

import steelyard as sy
from steelyard.apps.cli import app
from steelyard.apps.page import code_snippets
from steelyard.apps.page.scene_content import content, frames_of, inertias, pose_rows
from steelyard.apps.page.server.exchange import mesh_of, take_upload
from steelyard.apps.page.server.folder import Folder
from steelyard.apps.page.window import MOST_WINDOWS, PageWindow, Windows
from steelyard.drawing.colours import hue
from steelyard.drawing.ellipsoid import inertia_ellipsoid, velocity_ellipsoid
from steelyard.identification.doctor import Finding
from steelyard.identification.doctor.channels import marked_samples
from steelyard.mechanism.formats.meshes import mesh_triangles
from steelyard.motion.solids import kinematic_solids, robot_solids, rotation_to_axis
from steelyard.reporting.compare import difference_table, standardised_differences
from steelyard.reporting.saved_fit import SavedFit

TRIANGLE = np.array([[[0, 0, 0], [1, 0, 0], [0, 2, 0]]], dtype=np.float32)


@pytest.fixture
def window(tmp_path: Path) -> PageWindow:
    result = Windows(Folder.of(tmp_path)).open()
    result.take_robot(sy.load("puma560"), "puma560")
    return result


def test_the_ellipsoid_of_a_body_has_its_inertia() -> None:
    rng = np.random.default_rng(1)
    axes, mass = np.array([0.1, 0.3, 0.2]), 4.0
    R = Rotation.random(random_state=rng).as_matrix()
    inertia = R @ np.diag(mass / 5 * (np.sum(axes**2) - axes**2)) @ R.T
    result = inertia_ellipsoid(mass, inertia)
    assert np.allclose(np.sort(result.axes), np.sort(axes))
    assert np.allclose(result.R @ np.diag(result.axes**2) @ result.R.T, R @ np.diag(axes**2) @ R.T)
    assert np.isclose(np.linalg.det(result.R), 1)
    # no body has this inertia
    assert np.all(inertia_ellipsoid(1.0, np.diag([1.0, 1.0, 5.0])).axes >= 0)
    assert np.all(inertia_ellipsoid(0.0, np.eye(3)).axes == 0)


def test_velocities_at_unit_speed_lie_on_the_ellipsoid() -> None:
    J = np.random.default_rng(2).normal(size=(3, 6))
    shape = velocity_ellipsoid(J)
    for qd in np.linalg.svd(J)[2][:3]:
        v = shape.R.T @ (J @ qd)
        assert np.isclose(np.sum((v / shape.axes) ** 2), 1.0)
    assert velocity_ellipsoid(J[:, :2]).axes[2] == 0


def test_capsules_join_the_joints() -> None:
    robot = sy.load("puma560")
    solids = kinematic_solids(robot.tree)
    assert {each.body for each in solids} >= set(range(robot.n))
    assert sum(each.part == "joint" for each in solids) == robot.n
    for each in solids:
        assert np.allclose(each.R @ each.R.T, np.eye(3))
        if each.kind == "capsule":
            ends = each.p + np.outer([-0.5, 0.5], each.R[:, 2] * each.sizes[1])
            # from the origin of its body
            assert np.isclose(min(np.linalg.norm(ends, axis=1)), 0.0, atol=1e-9)
    assert np.allclose(rotation_to_axis(np.array([0.0, 0.0, -2.0]))[:, 2], [0, 0, -1])
    assert np.allclose(rotation_to_axis(np.zeros(3)), np.eye(3))
    slides = [
        each
        for each in kinematic_solids(sy.load("planar_rp").tree)
        if each.part == "joint" and each.kind == "box"
    ]
    assert len(slides) == 1


def binary_stl(triangles: np.ndarray) -> bytes:
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *row.ravel(), 0) for row in triangles)
    return b"\0" * 80 + struct.pack("<I", len(triangles)) + rows


DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit meter="0.01"/>
<up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array>0 0 0 100 0 0 0 200 0 100 200 0</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>{part}</mesh></geometry>
</library_geometries>
<library_visual_scenes><visual_scene><node><translate>0 0 300</translate>
<instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes></COLLADA>"""
TRIANGLES = (
    '<triangles><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL"'
    ' offset="1"/><p>0 7 1 7 2 7</p></triangles>'
)
POLYGONS = (
    '<polylist><input semantic="VERTEX" source="#v" offset="0"/><vcount>4</vcount><p>0 1 3'
    " 2</p></polylist>"
)
MESHES = {
    "binary.stl": binary_stl(TRIANGLE),
    "text.stl": (
        b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 2"
        b" 0\nendloop\nendfacet\nendsolid x\n"
    ),
    "a.obj": b"v 0 0 0\nv 1 0 0\nv 0 2 0\nf 1/1 2/1 -1/1\n",
}


@pytest.mark.parametrize("name", MESHES)
def test_meshes_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(MESHES[name])
    assert np.array_equal(mesh_triangles(tmp_path / name), TRIANGLE)


def test_collada_is_placed_and_scaled(tmp_path: Path) -> None:
    (tmp_path / "a.dae").write_text(DAE.format(part=TRIANGLES))
    assert np.allclose(mesh_triangles(tmp_path / "a.dae"), TRIANGLE + [0, 0, 3])
    (tmp_path / "b.dae").write_text(DAE.format(part=POLYGONS).replace("Z_UP", "Y_UP"))
    result = mesh_triangles(tmp_path / "b.dae")
    assert result.shape == (2, 3, 3)
    assert np.allclose(result[..., 1], -3)  # what was upwards by 3 m along y's depth


@pytest.mark.parametrize(
    "content",
    [b"", b"solid", b"\0" * 100, b"<COLLADA/>", b"f 1 2 3", b"<!DOCTYPE a><COLLADA/>"],
    ids=["empty", "a word", "zeros", "no mesh", "no points", "doctype"],
)
@pytest.mark.parametrize("name", ["a.stl", "a.obj", "a.dae"])
def test_damaged_meshes_are_sentences(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(sy.ModelError, match="mesh"):
        mesh_triangles(tmp_path / name)
    with pytest.raises(sy.ModelError, match="are not read"):
        mesh_triangles(tmp_path / "a.glb")


URDF = """<robot name="r"><link name="base"><visual><geometry><box size="1 2 3"/></geometry>
</visual></link>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial>
<visual><origin xyz="0 0 1"/><geometry><mesh filename="a.{kind}" scale="2 2 2"/></geometry></visual>
<collision><geometry><sphere radius="0.5"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><origin xyz="1 0 0"/>
<axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def test_visual_shapes_come_first(tmp_path: Path) -> None:
    (tmp_path / "a.stl").write_bytes(binary_stl(TRIANGLE))
    (tmp_path / "r.urdf").write_text(URDF.format(kind="stl"))
    robot = sy.load(tmp_path / "r.urdf")
    box, mesh = robot_solids(robot)
    assert (box.kind, box.sizes, box.body) == ("box", (1, 2, 3), -1)
    assert (mesh.kind, mesh.sizes, mesh.file) == ("mesh", (2, 2, 2), tmp_path / "a.stl")
    assert np.allclose(mesh.p, [0, 0, 1])
    # its hull instead of a mesh
    assert [each.kind for each in robot_solids(robot, files=False)] == ["box", "sphere"]
    (tmp_path / "s.urdf").write_text(URDF.format(kind="glb"))
    assert [each.kind for each in robot_solids(sy.load(tmp_path / "s.urdf"))] == ["box", "sphere"]


def test_poses_are_those_of_the_kinematics(window: PageWindow) -> None:
    robot, rng = window.robot, np.random.default_rng(3)
    assert robot is not None
    q = rng.uniform(-1, 1, robot.n)
    result = pose_rows(robot, q)[0]
    for name, row in zip(robot.body_names, result[1:], strict=True):
        pose = robot.forward_kinematics(q, name)
        assert np.allclose(row[:3], pose[:3, 3])
        assert np.allclose(Rotation.from_quat(row[3:]).as_matrix(), pose[:3, :3])
    t = np.linspace(0, 2, 200)
    frames = frames_of(robot, t, np.outer(t, q))
    numbers = np.frombuffer(base64.b64decode(frames["poses"]), "<f4").reshape(
        frames["count"], -1, 7
    )
    assert np.allclose(numbers[-1], pose_rows(robot, 2 * q)[0], atol=1e-6)
    assert frames["count"] == 61


def test_the_scene_has_every_body(window: PageWindow) -> None:
    result = content(window)
    assert result["bodies"] == 7
    assert [each["mass"] for each in result["inertias"]] == [
        body.inertia.m for body in window.robot.tree.bodies if body.inertia.m > 0
    ]
    assert 0.5 < result["reach"] < 3


def test_everything_is_drawn_on_its_own_body(window: PageWindow) -> None:
    robot = window.robot
    assert robot is not None
    result, q = content(window), np.linspace(-1, 1, robot.n)
    drawn = pose_rows(robot, q)[0]
    for frame in result["frames"]:
        p, turn = drawn[frame["body"]][:3], Rotation.from_quat(drawn[frame["body"]][3:])
        pose = robot.forward_kinematics(q, frame["name"])
        assert np.allclose(p + turn.apply(frame["p"]), pose[:3, 3])
        assert np.allclose((turn * Rotation.from_quat(frame["q"])).as_matrix(), pose[:3, :3])
    assert all(robot.body_names[each["body"] - 1] == each["name"] for each in result["inertias"])
    assert {each["body"] for each in result["solids"] + result["ghost"]} <= set(
        range(result["bodies"])
    )
    assert [each["body"] - 1 for each in result["ghost"]] == [
        each.body for each in kinematic_solids(robot.tree)
    ]


def test_meshes_are_sent_by_number_and_never_of_an_upload(
    tmp_path: Path, window: PageWindow
) -> None:
    (tmp_path / "a.stl").write_bytes(binary_stl(TRIANGLE))
    (tmp_path / "r.urdf").write_text(URDF.format(kind="stl"))
    window.take_robot(sy.load(tmp_path / "r.urdf"), "r.urdf")
    box, mesh = content(window)["solids"]
    assert (box["body"], "mesh" in box, mesh["body"], mesh["mesh"]) == (
        0,
        False,
        1,
        f"/mesh/{window.key}/1",
    )
    assert np.array_equal(np.frombuffer(mesh_of(window, 1).body, "<f4").reshape(-1, 3, 3), TRIANGLE)
    for number in (-1, 0, 2):
        with pytest.raises(sy.CallError, match="no such mesh"):
            mesh_of(window, number)
    window.meshes = False  # as for an upload
    assert [each["kind"] for each in content(window)["solids"]] == ["box", "sphere"]
    with pytest.raises(sy.CallError, match="no such mesh"):
        mesh_of(window, 1)
    asked = SimpleNamespace(query_params={"name": "r.urdf"}, path_params={"kind": "robot"})
    window.meshes = True
    take_upload(window, asked, (tmp_path / "r.urdf").read_bytes())  # type: ignore[arg-type]
    assert not window.meshes
    asked.path_params["kind"] = "plan"
    with pytest.raises(sy.CallError, match="expected a robot, a log or a fit"):
        take_upload(window, asked, b"")  # type: ignore[arg-type]


def planar_fit() -> sy.Fit:
    robot = sy.load("planar_2r")
    log = sy.record(sy.perturbed(robot, 1), sy.excite(robot, seconds=3, starts=1), 100.0)
    return sy.identify(robot, log, "wls", known_mass={"link1": 20.0, "link2": 15.0}, diagnose=False)


def test_what_is_drawn_and_compared_of_a_fit() -> None:
    """Two standard deviations of the centres.

    Parameters by name in any order, those apart by more than three deviations counted.
    """
    fit = planar_fit()
    known = np.array([[0.01, 0.02, 0.03], [0.01, 0.02, np.inf]])
    shown = SimpleNamespace(
        robot=fit.robot, links=SimpleNamespace(names=fit.links.names, com_std=known)
    )
    first, second = inertias(fit.initial, shown)["inertias"]  # type: ignore[arg-type]
    assert np.allclose(first["sigma"], 2 * known[0])
    assert "sigma" not in second, "nothing is drawn of what is not known"
    assert first["mass"] == fit.robot.tree.bodies[0].inertia.m, "of the fit, not of the description"
    a = SavedFit.of(fit)
    seen = int(np.flatnonzero(np.isfinite(a.parameters_std) & (a.parameters_std > 0))[0])
    far = a.parameters + 10 * a.parameters_std[seen] * (np.arange(len(a.parameters)) == seen)
    b = replace(
        a,
        parameters=far[::-1],
        parameters_std=a.parameters_std[::-1],
        parameter_names=a.parameter_names[::-1],
        parameter_units=a.parameter_units[::-1],
    )
    result = difference_table(a, b, ("a", "b"))
    assert result.note.startswith("1 of ")
    apart = {row[0]: row[-2] for row in result.rows}
    assert apart[a.parameter_names[seen]] == "+7.1"  # 10 / sqrt(2)
    assert set(apart.values()) <= {"+7.1", "+0.0", "–"}
    assert difference_table(
        a, replace(b, parameters=a.parameters[::-1]), ("a", "b")
    ).note.startswith("0 of ")


def test_findings_are_marked_where_they_happen() -> None:
    rng = np.random.default_rng(4)
    t = np.arange(1000) / 100
    q, tau = np.sin(t)[:, None] * [1, 2], rng.normal(size=(1000, 2))
    tau[300:400, 1] = 9.0
    q[[500, 600, 700], 0] += 0.5
    gap = np.delete(np.arange(1000), slice(800, 810))
    log = sy.Log(t=t, q=q, tau=tau, joint_names=("a", "b"))
    assert np.array_equal(
        np.flatnonzero(marked_samples(log, Finding("saturation", ("b",), "", 1.0))),
        np.arange(300, 400),
    )
    assert not marked_samples(log, Finding("saturation", ("a",), "", 1.0)).any()
    assert np.flatnonzero(
        marked_samples(log, Finding("encoder spikes", ("a",), "", 1.0))
    ).tolist() == [500, 600, 700]
    assert np.flatnonzero(
        marked_samples(log[gap], Finding("dropped samples", (), "", 1.0))
    ).tolist() == [799, 800]
    assert marked_samples(log, Finding("torque sign", ("a",), "", 1.0)).all()


def test_differences_are_in_their_own_deviation() -> None:
    a, b = np.array([1.0, 1.0, 1.0, 1.0]), np.array([2.0, 2.0, 1.0, 2.0])
    sa, sb = np.array([0.3, np.inf, 0.0, 0.0]), np.array([0.4, 0.4, 0.0, 0.5])
    assert np.allclose(
        standardised_differences(a, b, sa, sb), [2.0, np.nan, np.nan, 2.0], equal_nan=True
    )


def test_colours_of_joints_differ() -> None:
    angles = [int(hue(j, 7).partition("(")[2].partition(",")[0]) for j in range(7)]
    assert all(0 <= angle < 360 for angle in angles)
    assert len(set(angles)) == 7


def test_the_lines_of_a_state_run_and_the_command_too(window: PageWindow) -> None:
    qd, qdd = np.full(6, 0.5), np.zeros(6)
    window.q = np.linspace(-0.5, 0.5, 6)
    messages: list[np.ndarray] = []
    exec(code_snippets.state_lines(window, qd, qdd), {"print": messages.append})
    robot = window.robot
    assert robot is not None
    assert np.allclose(messages[1], robot.inverse_dynamics(window.q, qd, qdd))
    assert np.allclose(messages[2], robot.mass_matrix(window.q))
    done = CliRunner().invoke(app, shlex.split(code_snippets.torque_command(window, qd, qdd))[1:])
    assert done.exit_code == 0, done.output


def test_names_are_quoted_in_lines(window: PageWindow) -> None:
    window.robot_name = "my arm; rm -rf ~/x'y.urdf"
    command = code_snippets.command_line(
        "identify",
        code_snippets.robot_file(window),
        "log.csv",
        prior="cad",
        validate=None,
        o="results",
    )
    assert shlex.split(command) == [
        "steelyard",
        "identify",
        window.robot_name,
        "log.csv",
        "--prior",
        "cad",
        "-o",
        "results",
    ]
    assert repr(window.robot_name) in code_snippets.python_lines(window)


def test_windows_are_apart_and_not_too_many(tmp_path: Path) -> None:
    windows = Windows(Folder.of(tmp_path))
    first, second = windows.open(), windows.open()
    first.take_robot(sy.load("planar_2r"), "planar_2r")
    assert second.robot is None
    assert windows.find(first.key) is first
    for _ in range(MOST_WINDOWS - 1):
        windows.open()
    assert windows.find(first.key) is first  # it was used last
    with pytest.raises(sy.CallError, match="no longer known"):
        windows.find(second.key)

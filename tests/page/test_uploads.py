"""What may be uploaded, where files may be, and where the page may listen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.apps.page.server.address import Address, check_host, host_names, listening_socket
from steelyard.apps.page.server.folder import Folder
from steelyard.apps.page.server.uploads import uploaded_fit, uploaded_log, uploaded_robot
from steelyard.apps.page.window import Windows
from steelyard.mechanism.formats.urdf.collision_shapes import collision_shapes
from steelyard.reporting.compare import difference_table
from steelyard.reporting.saved_fit import SavedFit

URDF = """<robot name="r"><link name="base"/>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial>
<collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture(scope="module")
def planar_fit() -> sy.Fit:
    robot = sy.load("planar_2r")
    return sy.identify(
        robot, sy.record(robot, sy.excite(robot, seconds=3, starts=1), 100.0), "wls", diagnose=False
    )


@pytest.mark.parametrize("spelled", ["{0}", "file://{0}", "{1}", "../../../../../../../..{0}"])
def test_paths_in_an_upload_mean_nothing(tmp_path: Path, spelled: str) -> None:
    mesh = tmp_path / "mesh.stl"
    mesh.write_bytes(b"solid")
    text = URDF.format(mesh=spelled.format(mesh, mesh.name))
    robot = uploaded_robot("../../x/arm.urdf", text.encode())
    assert robot.n == 1
    assert [shape.file for shape in collision_shapes(robot.mechanism)] == [None]
    (tmp_path / "arm.urdf").write_text(text)
    if ".." not in spelled:
        # of the user's own file it is read
        assert collision_shapes(sy.load(tmp_path / "arm.urdf").mechanism)[0].file == mesh


@pytest.mark.parametrize(
    "name",
    ["arm.xacro", "arm.urdf.xacro", "arm.xml", "arm.mjcf", "arm", "arm.exe", ".urdf", "x/..", ""],
)
def test_other_kinds_of_robots_are_not_taken(name: str) -> None:
    with pytest.raises(sy.ModelError, match="is not taken"):
        uploaded_robot(name, URDF.encode())


def test_a_xacro_that_is_called_urdf_is_not_taken() -> None:
    text = (
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include'
        ' filename="/etc/passwd"/></robot>'
    )
    with pytest.raises(sy.ModelError, match="expand it first"):
        uploaded_robot("arm.urdf", text.encode())


@pytest.mark.parametrize("name", ["log.toml", "log.pkl", "log.py", "log", "log.db3", "log.bag"])
def test_other_kinds_of_logs_are_not_taken(name: str) -> None:
    with pytest.raises(sy.LogError, match="is not taken"):
        uploaded_log(name, b"x", sy.load("planar_2r"))


def test_a_log_is_read_as_from_a_file(tmp_path: Path) -> None:
    t = np.arange(50) / 100
    rows = np.column_stack([t, np.sin(t), np.cos(t), t, t])
    text = "t,q1,q2,tau1,tau2\n" + "\n".join(",".join(f"{x:.9g}" for x in row) for row in rows)
    (tmp_path / "log.csv").write_text(text)
    robot = sy.load("planar_2r")
    ours, theirs = (
        uploaded_log("C:\\x\\a.CSV", text.encode(), robot)[0],
        sy.read_log(tmp_path / "log.csv", robot),
    )
    assert np.array_equal(ours.q, theirs.q)
    with pytest.raises(sy.LogError):
        uploaded_log("a.csv", b"\xff\xfe\0\1", robot)


def test_an_uploaded_fit_is_what_was_saved(planar_fit: sy.Fit, tmp_path: Path) -> None:
    planar_fit.to_json(tmp_path / "fit.json")
    text = (tmp_path / "fit.json").read_bytes()
    result, own = uploaded_fit("../x/Fit.JSON", text), SavedFit.of(planar_fit)
    for name, value in vars(own).items():
        assert np.array_equal(getattr(result, name), value), name
    assert np.array_equal(result.parameters, planar_fit.parameters)
    assert np.array_equal(result.parameters_std, planar_fit.parameters_std)
    assert np.array_equal(result.relative_error, planar_fit.relative_error)
    assert "0 of" in difference_table(result, own, ("a", "b")).note
    for name in ("fit.toml", "fit.pkl", "fit", ""):
        with pytest.raises(sy.ModelError, match=r"is not taken; upload one of \.json"):
            uploaded_fit(name, text)
    for content in (
        b"",
        b"[]",
        b"{}",
        b'{"joints": 1}',
        b"[" * 100_000,
        text[: len(text) // 2],
        text.replace(b'"rms"', b'"rns"'),
    ):
        with pytest.raises(sy.ModelError, match=r"is not a fit\.json|is not JSON"):
            uploaded_fit("fit.json", content)


def test_a_fit_of_another_robot_is_not_compared(planar_fit: sy.Fit, tmp_path: Path) -> None:
    window = Windows(Folder.of(tmp_path)).open()
    window.take_robot(sy.load("puma560"), "puma560")
    with pytest.raises(
        sy.CallError,
        match=(
            r"of another robot: its joints are joint1, joint2, but the open robot has joint1,"
            r" joint2, joint3"
        ),
    ):
        window.take_fit(SavedFit.of(planar_fit), "fit.json")
    window.take_robot(sy.load("planar_2r"), "planar_2r")
    window.take_fit(SavedFit.of(planar_fit), "fit.json")
    assert [each.name for each in window.saved] == ["fit.json"]
    window.take_robot(sy.load("puma560"), "puma560")
    assert not window.saved


def test_names_stay_within_the_folder(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    (inner / "sub").mkdir(parents=True)
    (tmp_path / "out.urdf").write_text("x")
    (inner / "in.urdf").write_text("x")
    (inner / ".hidden.urdf").write_text("x")
    (inner / "sub" / "deep.urdf").write_text("x")
    (inner / "link.urdf").symlink_to(tmp_path / "out.urdf")
    (inner / "up").symlink_to(tmp_path)
    folder = Folder.of(inner)
    assert folder.files([".urdf"]) == ("in.urdf", "sub/deep.urdf")
    assert folder.inside("sub/deep.urdf") == inner / "sub" / "deep.urdf"
    for name in (
        "../out.urdf",
        "sub/../../out.urdf",
        str(tmp_path / "out.urdf"),
        "link.urdf",
        "up/out.urdf",
        "",
        ".",
        "a\0b",
        "/",
    ):
        with pytest.raises(sy.CallError):
            folder.inside(name)
    assert folder.free("in.urdf").name == "in-2.urdf"
    with pytest.raises(sy.CallError, match="no folder"):
        Folder.of(inner / "absent")


def test_other_machines_need_a_word() -> None:
    assert check_host("127.0.0.1", False) == check_host("localhost", False) == "127.0.0.1"
    for host in ("0.0.0.0", "192.168.1.4", "::", "10.0.0.1"):
        with pytest.raises(sy.CallError, match="--expose"):
            check_host(host, False)
        assert check_host(host, True) == host
    for host in ("example.org", "", "127.0.0.1:80", "*"):
        with pytest.raises(sy.CallError, match="not an IP address"):
            check_host(host, True)
    for name in ("", "a/b", "*", "a b", "a,b", "ä", "x" * 300):
        with pytest.raises(sy.CallError, match="--name"):
            host_names([name])


def test_what_a_page_is_called() -> None:
    assert Address("127.0.0.1", 80).hosts == {
        "127.0.0.1:80",
        "localhost:80",
        "127.0.0.1",
        "localhost",
    }
    assert Address("10.0.0.1", 8080).hosts == {"10.0.0.1:8080"}
    assert Address("::1", 8080).hosts == {"[::1]:8080", "127.0.0.1:8080", "localhost:8080"}
    behind = Address("0.0.0.0", 8080, names=host_names(["Robot-PC:9000"]))
    assert behind.hosts == {"127.0.0.1:8080", "localhost:8080", "robot-pc:9000"}
    assert behind.origins >= {"https://robot-pc:9000", "http://robot-pc:9000"}
    assert behind.token not in repr(behind)
    assert behind.url == f"http://robot-pc:9000/?token={behind.token}"
    assert Address("127.0.0.1", 1).token != Address("127.0.0.1", 1).token


def test_a_taken_port_is_a_sentence() -> None:
    with (
        listening_socket("127.0.0.1", 0) as taken,
        pytest.raises(sy.CallError, match="another --port"),
    ):
        listening_socket("127.0.0.1", taken.getsockname()[1])

"""The command line: what it says, where it says it, and that bad input ends in one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import steelyard as sy
from steelyard.apps import cli
from tests.house.sources import ROOT


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.delenv("COLUMNS", raising=False)  # which pytest-xdist sets

    def call(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["steelyard", *map(str, arguments)])
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


def test_version_from_a_shell() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "steelyard", "--version"]
    ran = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == f"steelyard {sy.__version__}\n"


def test_help_lists_the_commands(run: Run) -> None:
    ran = run("--help")
    assert ran.code == 0
    for command in (
        "demo",
        "robots",
        "info",
        "torque",
        "ik",
        "excite",
        "doctor",
        "identify",
        "validate",
        "payload",
        "check",
        "export",
        "bench",
    ):
        assert command in ran.out


def test_robots_lists_every_built_in_robot(run: Run) -> None:
    ran = run("robots")
    assert ran.code == 0
    assert all(name in ran.out for name in sy.robots(installed=False))


@pytest.mark.parametrize("name", sy.robots(installed=False))
def test_info_names_every_joint_and_body(run: Run, name: str) -> None:
    ran, robot = run("info", name), sy.load(name)
    assert ran.code == 0
    assert all(
        word in ran.out for word in (*robot.joint_names, *(body.name for body in robot.tree.bodies))
    )


def test_torque_of_one_state(run: Run) -> None:
    """The first row of the planar arm in M. Macchia's report on recursive Newton-Euler."""
    ran = run("torque", "planar_2r", "--q", "20deg,40deg", "--qd", "0.2,0.15", "--qdd", "0.1,0.085")
    assert ran.code == 0
    assert "318.1937" in ran.out
    assert "38.6735" in ran.out


def test_torque_from_csv_to_csv(run: Run, tmp_path: Path, rng: np.random.Generator) -> None:
    robot, source, target = sy.load("spatial_3r"), tmp_path / "motion.csv", tmp_path / "torque.csv"
    t, states = np.arange(5.0), rng.normal(size=(5, 9))
    # any order: names decide
    names = [
        f"{quantity}.{joint}" for joint in robot.joint_names for quantity in ("qdd", "q", "qd")
    ]
    np.savetxt(
        source,
        np.column_stack([t, states]),
        delimiter=";",
        header=";".join(["t", *names]),
        comments="",
        fmt="%.17g",
    )
    assert run("torque", "spatial_3r", "--motion", source, "--out", target) == (
        0,
        f"wrote 5 samples to {target}\n",
        "",
    )
    written = np.genfromtxt(target, delimiter=",", names=True, deletechars="")
    assert written.dtype.names == ("t", *(f"tau.{joint}" for joint in robot.joint_names))
    tau = robot.inverse_dynamics(states[:, 1::3], states[:, 2::3], states[:, 0::3])
    assert np.array_equal(
        np.column_stack([written[name] for name in written.dtype.names]), np.column_stack([t, tau])
    )


def test_a_file_without_header_and_rates_says_what_it_assumed(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "still.csv"
    source.write_text("0.1,0.2\n0.3,0.4\n")
    ran = run("torque", "planar_2r", "--motion", source)
    assert ran.code == 0
    assert ran.err.count("taken as zero") == 2
    expected = sy.load("planar_2r").gravity_torque([[0.1, 0.2], [0.3, 0.4]])
    assert np.allclose(np.loadtxt(ran.out.splitlines()[1:], delimiter=","), expected)


def test_check_says_that_a_robot_obeys_physics(run: Run) -> None:
    ran = run("check", "spatial_3r")
    assert ran.code == 0
    assert "obeys all" in ran.out


@pytest.mark.parametrize("kind", ["urdf", "toml"])
def test_export_writes_a_robot_that_is_the_same(run: Run, tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"robot.{kind}"
    assert run("export", "planar_rp", f"--{kind}", path).code == 0
    state = [[0.3, 0.4], [0.5, -0.6], [0.7, 0.8]]
    assert np.allclose(
        sy.load(path).inverse_dynamics(*state),
        sy.load("planar_rp").inverse_dynamics(*state),
        rtol=1e-12,
    )


def test_nothing_is_written_over_unless_forced(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.urdf"
    path.write_text("precious")
    ran = run("export", "planar_2r", "--urdf", path)
    assert ran.code == 2
    assert "--force" in ran.err
    assert path.read_text() == "precious"
    assert run("export", "planar_2r", "--urdf", path, "--force").code == 0
    assert "<robot" in path.read_text()


def test_bench_times_one_robot(run: Run) -> None:
    ran = run("bench", "planar_2r", "--rounds", 1)
    assert ran.code == 0
    words = ("inverse_dynamics", "regressor", "rneaInParallel", "×")
    assert all(word in ran.out for word in words)


BAD = {
    "an unknown robot": (["info", "planar_2s"], ["'planar_2s'", "planar_2r", "puma560"]),
    "a missing file": (["info", "nowhere.urdf"], ["nowhere.urdf"]),
    "too few numbers": (["torque", "planar_2r", "--q", "1"], ["--q", "1 numbers", "2", "joint1"]),
    "a word for a number": (["torque", "planar_2r", "--q", "1,two"], ["--q", "joint2", "'two'"]),
    "not a number": (["torque", "planar_2r", "--q", "1,nan"], ["--q", "joint2", "'nan'"]),
    "degrees of a slide": (["torque", "planar_rp", "--q", "1,30deg"], ["joint2", "slides"]),
    "no state at all": (["torque", "planar_2r"], ["--q", "--motion"]),
    "both kinds of input": (
        ["torque", "planar_2r", "--q", "1,2", "--motion", "x.csv"],
        ["--q", "--motion"],
    ),
    "a missing motion": (["torque", "planar_2r", "--motion", "nowhere.csv"], ["nowhere.csv"]),
    "options of the C without it": (
        ["export", "planar_2r", "--toml", "x.toml", "--frame", "link1"],
        ["--frame", "--c DIR"],
    ),
    "a frame that is not there": (
        ["export", "planar_2r", "--c", "out", "--frame", "lnk1"],
        ["lnk1", "did you mean 'link1'"],
    ),
    "a wrench at no frame": (
        ["export", "planar_2r", "--c", "out", "--wrench", "lnk1"],
        ["lnk1", "did you mean 'link1'"],
    ),
    "nothing to export": (["export", "planar_2r"], ["--urdf", "--toml"]),
    "a file where a folder must be": (
        ["export", "planar_2r", "--urdf", f"{__file__}/such/x.urdf"],
        ["x.urdf", "is a file, not a folder"],
    ),
    "an unknown command": (["weigh"], ["weigh"]),
    "an unknown option": (["info", "planar_2r", "--colour"], ["--colour"]),
    "no samples": (["check", "planar_2r", "--samples", "0"], ["--samples"]),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_ends_in_a_sentence(
    run: Run, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, words = BAD[what]
    ran = run(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert all(word in ran.err for word in words), ran.err
    assert "Traceback" not in ran.err
    assert not list(tmp_path.iterdir()), "nothing may be half-written"


BAD_MOTIONS = {
    "empty": ("", "empty"),
    "only a header": ("q.joint1,q.joint2\n", "no samples"),
    "a missing joint": ("q.joint1,x\n1,2\n", "q.joint2"),
    "no positions": ("a,b\n1,2\n", "q.joint1, q.joint2"),
    "a hole": ("q.joint1,q.joint2\n1,2\n1,\n", "sample 2 (line 3), column q.joint2"),
    "a NaN": ("q.joint1,q.joint2\nnan,2\n", "column q.joint1"),
    "a short line": ("q.joint1,q.joint2\n1,2\n1\n", "sample 2 (line 3): 1 cells"),
    "a column twice": ("q.joint1,q.joint1\n1,2\n", "twice"),
    "too many columns": ("1,2,3,4,5,6,7,8,9\n", "9 columns"),
}


@pytest.mark.parametrize("what", BAD_MOTIONS)
def test_a_bad_motion_ends_in_a_sentence(run: Run, what: str, tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    text, words = BAD_MOTIONS[what]
    path.write_text(text)
    ran = run("torque", "planar_2r", "--motion", path, "--out", tmp_path / "out.csv")
    assert ran.code == 2
    assert words in ran.err
    assert str(path) in ran.err
    assert not (tmp_path / "out.csv").exists()


def test_a_defect_ends_in_a_sentence_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.apps.inputs.load_robot", lambda *_, **__: 1 / 0)
    ran = run("info", "planar_2r")
    assert ran.code == 70
    assert "ZeroDivisionError" in ran.err
    assert "STEELYARD_TRACEBACK" in ran.err


def test_a_reader_that_leaves_is_no_error() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "steelyard", "robots"]
    ran = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr


def test_export_to_c_takes_a_frame_and_wrenches(run: Run, tmp_path: Path) -> None:
    for folder in ("plain", "framed", "called"):
        (tmp_path / folder).mkdir()
    assert run("export", "spatial_3r", "--c", tmp_path / "plain").code == 0
    ran = run(
        "export",
        "spatial_3r",
        "--c",
        tmp_path / "framed",
        "--frame",
        "link2",
        "--wrench",
        "link2",
        "--wrench",
        "link3",
    )
    assert ran.code == 0, ran.err
    sy.load("spatial_3r").to_c(tmp_path / "called", frame="link2", wrench=["link2", "link3"])
    plain, framed, called = (
        (tmp_path / folder / "spatial_3r.h").read_text() for folder in ("plain", "framed", "called")
    )
    assert plain != framed == called

"""excite from a shell: files can be read back, and the defaults equal Python's."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.apps.commands.excite import excite as excite_command
from steelyard.apps.group_options import options_of_command
from steelyard.experiments import excite as excite_function
from steelyard.option_groups.excitation import ExcitationOptions
from tests.apps.test_cli import Run, run

__all__ = ["run"]  # the fixture

ROBOT = "spatial_3r"


def test_excite_writes_a_motion_that_torque_reads(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    ran = run("excite", ROBOT, "-o", path, "--seconds", 5, "--harmonics", 4, "--starts", 1)
    assert ran.code == 0, ran.err
    assert "condition" in ran.out
    assert run("torque", ROBOT, "--motion", path, "--out", tmp_path / "torque.csv").code == 0
    assert run("excite", ROBOT, "-o", path).code == 2, "nothing is written over"
    assert run("excite", ROBOT, "--seconds", 0).code == 2


def test_excite_says_what_to_expect_and_takes_all_options(run: Run, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.svg", "a.yaml", "a.txt")]
    few = ("--seconds", 5, "--harmonics", 3, "--starts", 1)
    ran = run(
        "excite",
        ROBOT,
        *(x for path in files for x in ("-o", path)),
        *few,
        "--velocity",
        "1.5",
        "--acceleration",
        "joint1=4,joint2=5",
        "--noise",
        "2,1,0.2",
        "--payload",
        "1,0,0,0.1",
        "--gravity",
        "0,0,-9.81",
        "--box",
        "link3=-2,-2,-2,2,2,inf",
        "--half-space",
        "0,0,1,2",
        "--prior",
        "0.3",
        "--basis",
        "bspline",
        "--full",
    )
    assert ran.code == 0, ran.err
    for word in (
        "To be expected of one recording",
        "± 2σ",
        "link3.mcx",
        "Torque of the identified model",
        "the stated level",
        "more than required",
        "▁",
    ):
        assert word in ran.out
    assert all(path.stat().st_size > 500 for path in files)
    assert files[0].read_text().startswith("<svg")
    assert run("excite", ROBOT, "-o", tmp_path / "a.pdf").code == 2
    for option, value, words in (
        ("--accuracy", "link3.mcx", "expected NAME=NUMBER"),
        ("--accuracy", "link9.m=0.02", "no parameter is called 'link9.m'"),
        ("--box", "link3=1,2", "FRAME=x0,y0,z0,x1,y1,z1"),
        ("--payload", "1,2", "expected 1 or 4"),
        ("--basis", "sines", "--basis 'sines'"),
    ):
        finished_run = run("excite", ROBOT, *few, option, value)
        assert finished_run.code == 2
        assert words in finished_run.err


def test_excite_has_the_defaults_of_python(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def note(robot: sy.Robot, **options: object) -> None:
        asked.update(options)
        raise sy.CallError("enough")

    monkeypatch.setattr(sy, "excite", note)
    assert run("excite", ROBOT).code == 2
    assert set(asked) == {"progress"}, "what is not given is left to sy.excite"
    offered = {
        *inspect.signature(excite_command).parameters,
        *options_of_command(excite_command),
    }
    in_python = {
        *inspect.signature(excite_function).parameters,
        *(field.name for field in fields(ExcitationOptions)),
    }
    remaining = {"robot", "candidates", "fit", "progress", "options", "keywords"}
    assert in_python - remaining <= offered


def test_the_first_line_says_what_was_checked_also_quietly(run: Run, tmp_path: Path) -> None:
    few = ("--seconds", 5, "--harmonics", 3, "--starts", 1)
    ran = run("excite", ROBOT, *few, "-o", tmp_path / "a.yaml")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("CHECKED (limits of position, velocity")
    quiet = run("excite", ROBOT, *few, "--quiet", "-o", tmp_path / "b.yaml")
    assert quiet.out.splitlines()[0].startswith("CHECKED (")
    assert (tmp_path / "b.yaml").read_text().splitlines()[0] == f"# {quiet.out.splitlines()[0]}"
    open_ = run(
        "excite",
        ROBOT,
        *few,
        "--quiet",
        "--ground",
        "none",
        "--collision",
        "none",
        "-o",
        tmp_path / "c.yaml",
    )
    assert open_.code == 2
    assert open_.out.startswith("NOT CHECKED (distances between links; ground)")
    assert "--unchecked" in open_.err
    assert not (tmp_path / "c.yaml").exists()
    written = run(
        "excite", ROBOT, *few, "--ground", "none", "--unchecked", "-o", tmp_path / "c.yaml"
    )
    assert written.code == 0, written.err
    assert (tmp_path / "c.yaml").read_text().startswith("# NOT CHECKED (ground)")
    assert run("excite", ROBOT, *few, "--ground", "floor").code == 2


def test_poses_say_what_was_checked(run: Run, tmp_path: Path) -> None:
    ran = run("payload", "elbow_6r", "--poses", 4, "--quiet", "-o", tmp_path / "poses.csv")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("CHECKED (")
    refused = run(
        "payload", "elbow_6r", "--poses", 4, "--ground", "none", "-o", tmp_path / "low.csv"
    )
    assert refused.code == 2
    assert refused.out.startswith("NOT CHECKED (ground)")
    assert "--unchecked" in refused.err
    assert (
        run(
            "payload",
            "elbow_6r",
            "--poses",
            4,
            "--ground",
            "none",
            "--unchecked",
            "-o",
            tmp_path / "low.csv",
        ).code
        == 0
    )


def test_files_of_a_motion_say_where_other_joints_are_held(run: Run, tmp_path: Path) -> None:
    """The distances of a motion hold at these positions alone."""
    few = ("--seconds", 4, "--harmonics", 3, "--starts", 1, "--quiet")
    frozen = ("--freeze", "joint4=0.5,joint5,joint6")
    motion, poses = tmp_path / "motion.yaml", tmp_path / "poses.csv"
    assert run("excite", "elbow_6r", *frozen, *few, "-o", motion).code == 0
    frozen = ("--freeze", "joint4=0.5,joint6")
    assert run("payload", "elbow_6r", *frozen, "--poses", 4, "--quiet", "-o", poses).code == 0
    for path, words in (
        (motion, "held: joint4 at 0.5, joint5 at 0, joint6 at 0"),
        (poses, "held: joint4 at 0.5, joint6 at 0"),
    ):
        assert words in path.read_text(encoding="utf-8").splitlines()[0]

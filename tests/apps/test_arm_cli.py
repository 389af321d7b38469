"""Logs of an arm that is part of a robot, the options of identify, and --config: from a shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError
from steelyard.signals.write import to_csv
from tests.apps.test_cli import Run, run

__all__ = ["run"]  # the fixture

pytestmark = pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
FINGER = "panda_finger_joint1"


@pytest.fixture(scope="module")
def panda(tmp_path_factory: pytest.TempPathFactory, example_robots: Path) -> tuple[Path, Path]:
    """The description of a Panda with its fingers, and a simulated log of its seven arm joints."""
    urdf, folder = (
        example_robots / "panda_description/urdf/panda.urdf",
        tmp_path_factory.mktemp("panda"),
    )
    arm = sy.load(urdf).freeze({FINGER: 0.02}).with_friction(viscous=1.0, coulomb=0.5)
    motion = sy.excite(arm, 8.0, 5, 0.125, 1, candidates=4)
    to_csv(sy.record(sy.perturbed(arm, 2), motion, 100.0, 1), folder / "arm.csv")
    return urdf, folder / "arm.csv"


def test_a_panda_is_identified_from_a_log_of_its_arm(
    run: Run, panda: tuple[Path, Path], tmp_path: Path
) -> None:
    urdf, log = panda
    out = tmp_path / "a" / "b"
    ran = run(
        "identify",
        urdf,
        log,
        "--joints",
        "panda_joint*",
        "--freeze",
        f"{FINGER}=0.02",
        "-o",
        out,
        "--no-report",
        "--estimator",
        "wls",
    )
    assert ran.code == 0, ran.err
    assert f"Joints that were held [rad|m]: {FINGER} at 0.02." in " ".join(ran.out.split())
    whole, back = sy.load(urdf), sy.load(out / "identified.urdf")
    assert back.joint_names == whole.joint_names
    for joint in (FINGER, "panda_finger_joint2"):
        assert back.mechanism.joint(joint) == whole.mechanism.joint(joint)
        text = f'<joint name="{joint}"'
        one, other = (
            path.read_text().split(text)[1].split("</joint>")[0]
            for path in (urdf, out / "identified.urdf")
        )
        assert one == other, "byte for byte"
    fit = json.loads((out / "fit.json").read_text())
    assert fit["provenance"]["held"] == {FINGER: 0.02}
    again = back.freeze({FINGER: 0.02})
    for row in fit["parameters"]:
        value = dict(zip(again.parameter_names, again.parameters, strict=True))[row["name"]]
        assert value == pytest.approx(row["value"], abs=1e-9), row
    ran = run("validate", out, log, "--against", urdf)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Trusted")
    assert "The validation log has" in ran.out


def test_a_log_of_some_joints_tells_what_to_type(run: Run, panda: tuple[Path, Path]) -> None:
    urdf, log = panda
    ran = run("doctor", urdf, log)
    assert ran.code == 2
    typed = (
        ran.err.rpartition("has 7 of the robot's 8 joints: ")[2]
        .removesuffix(" fixes the others\n")
        .split()
    )
    assert typed[0] == "--joints"
    assert run("doctor", urdf, log, *typed, "--quiet").code == 0
    assert run("check", urdf, *typed, "--quiet", "--samples", "4").code == 0


def test_a_motion_of_the_arm_alone(run: Run, panda: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text('joints = ["panda_joint6", "panda_joint7"]')
    quick = [
        "--seconds",
        "4",
        "--harmonics",
        "2",
        "--starts",
        "1",
        "--collision",
        "none",
        "-o",
        tmp_path / "new" / "motion.csv",
    ]
    ran = run("excite", panda[0], "--config", tmp_path / "two.toml", *quick)
    assert ran.code == 0, ran.err
    head = (tmp_path / "new" / "motion.csv").read_text().splitlines()[1]
    assert "q.panda_joint7" in head
    assert "panda_joint1" not in head


HELD = {  # what is typed, and where the joints are held
    "the others": (["--joints", "panda_joint*"], {}, {FINGER: 0.0}),
    "limits": (["--freeze", "panda_joint4"], {}, {"panda_joint4": -0.0698}),
    "degrees": (
        ["--freeze", "panda_joint1=90deg,panda_joint2"],
        {},
        {"panda_joint1": np.pi / 2, "panda_joint2": 0.0},
    ),
    "a file": ([], {"joints": ["panda_joint*"], "freeze": {FINGER: 0.01}}, {FINGER: 0.01}),
    "typed wins": (
        ["--freeze", f"{FINGER}=0.03"],
        {"joints": ["panda_joint*"], "freeze": {FINGER: 0.01}},
        {FINGER: 0.03},
    ),
    "typed joints win": (["--joints", "*"], {"freeze": {FINGER: 0.01}}, {}),
    "typed joints, positions of the file": (
        ["--joints", "panda_joint*"],
        {"freeze": {FINGER: 0.01}},
        {FINGER: 0.01},
    ),
    "one more than in the file": (
        ["--freeze", "panda_joint7"],
        {"joints": ["panda_joint*"]},
        {"panda_joint7": 0.0, FINGER: 0.0},
    ),
}


@pytest.mark.parametrize("name", HELD)
def test_where_joints_are_held(panda: tuple[Path, Path], name: str) -> None:
    from steelyard.apps.joint_selection import select_joints

    typed, file, expected = HELD[name]
    options = dict(zip(typed[::2], ([value] for value in typed[1::2]), strict=True))
    arm = select_joints(sy.load(panda[0]), options.get("--joints"), options.get("--freeze"), file)
    assert arm.fixed_positions == pytest.approx(expected)
    assert set(arm.robot.joint_names) == set(arm.whole.joint_names) - set(expected)


BAD = {
    "no such joint": (["--joints", "arm_*"], "--joints: no joint is called 'arm_*'; known: joint1"),
    "both": (
        ["--joints", "joint1", "--freeze", "joint1"],
        "'joint1' is to move by --joints and to be held by --freeze",
    ),
    "all": (
        ["--freeze", "*"],
        "all 3 joints are held; name joints that move with --joints: joint1, joint2, joint3",
    ),
    "no number": (
        ["--freeze", "joint1=up"],
        "--freeze, joint1: 'up' is not a number; write for example 0.5 or 30deg",
    ),
    "no names": (["--joints", ","], "--joints names no joint"),
    "one of a pair": (
        ["--coupling", "joint1"],
        "--coupling: 'joint1'; expected two joints that share a motor, such as joint5,joint6",
    ),
    "a coupling of no joint": (
        ["--coupling", "joint1,jont2"],
        "coupling: no joint is called 'jont2'; did you mean 'joint2'",
    ),
    "a mask for two": (
        ["--mask", "0.1,0.2"],
        "--mask has 2 numbers; expected one number, or 3: one for each of joint1, joint2, joint3",
    ),
    "a mask for nobody": (
        ["--mask", "jont1=0.1"],
        "--mask: no joint is called 'jont1'; did you mean 'joint1'",
    ),
    "a mass below zero": (
        ["--known-mass", "-1"],
        "--known-mass must be a positive number [kg] or link -> number, not -1.0",
    ),
    "a mass of nothing": (["--known-mass", "lnk1=2"], "'lnk1'"),
    "held nothing": (["--hold", "joint7"], "'joint7'"),
    "held words": (["--hold", "joint1.Fv=much"], "--hold: joint1.Fv: 'much' is not a number"),
    "no prior": (["--prior", "cda"], "--prior"),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short log of spatial_3r."""
    robot, path = (
        sy.load("spatial_3r").with_friction(viscous=4.0, coulomb=3.0),
        tmp_path_factory.mktemp("small") / "log.csv",
    )
    to_csv(
        sy.record(
            sy.perturbed(robot, 2), sy.excite(robot, 6.0, 3, 1 / 6, 1, candidates=4), 100.0, 1
        ),
        path,
    )
    return path


@pytest.mark.parametrize("name", BAD)
def test_bad_options_are_told_by_their_names(
    run: Run, small: Path, tmp_path: Path, name: str
) -> None:
    options, words = BAD[name]
    ran = run("identify", "spatial_3r", small, *options, "-o", tmp_path / "out", "--no-report")
    assert ran.code == 2, ran.out
    assert words in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


# of identify -> what is typed, and what the function gets
OPTIONS: dict[str, tuple[list[str], Any]] = {
    "friction": (["--friction", "viscous", "--friction", "coulomb"], ["viscous", "coulomb"]),
    "hold": (["--hold", "link1,joint2.Fv=2.5"], {"link1": None, "joint2.Fv": 2.5}),
    "known_mass": (["--known-mass", "link2=3.5"], {"link2": 3.5}),
    "coupling": (["--coupling", "joint2,joint3"], [("joint2", "joint3")]),
    "mask": (["--mask", "joint1=0.1"], {"joint1": 0.1}),
    "prior": (["--prior", "cad"], "cad"),
    "decimate": (["--decimate", "3"], 3),
    "gear_ratio": (["--gear-ratio", "100,50,25"], [100.0, 50.0, 25.0]),
    "elastic": (["--elastic"], True),
    "cutoff": (["--cutoff", "5"], 5.0),
}


class Called(CallError):
    """Raised instead of an identification."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What identify was called with."""
    results: dict[str, Any] = {}

    def identify(
        robot: sy.Robot,
        logs: list[sy.Log],
        estimator: str | None = None,
        *,
        progress: Any = None,
        **options: Any,
    ) -> None:
        results.update(options, estimator=estimator, joints=robot.joint_names)
        raise Called("called")

    monkeypatch.setattr(sy, "identify", identify)
    return results


def test_options_reach_identify_from_the_line_and_from_a_file(
    run: Run, small: Path, tmp_path: Path, asked: dict[str, Any]
) -> None:
    run(
        "identify",
        "spatial_3r",
        small,
        *(text for typed, _ in OPTIONS.values() for text in typed),
        "--estimator",
        "wls",
    )
    typed = dict(asked)
    assert {key: typed[key] for key in OPTIONS} == {
        key: value for key, (_, value) in OPTIONS.items()
    }
    assert (typed["smoothing"], typed["estimator"]) == ("butterworth", "wls")
    import tomlkit

    file = {key: value for key, (_, value) in OPTIONS.items()} | {
        "hold": {"joint2.Fv": 2.5},
        "estimator": "wls",
        "freeze": ["joint3"],
    }
    (tmp_path / "identify.toml").write_text(tomlkit.dumps(file))
    asked.clear()
    run(
        "identify",
        "spatial_3r",
        small,
        "--config",
        tmp_path / "identify.toml",
        "--decimate",
        "7",
        "--estimator",
        "ols",
    )
    assert asked["joints"] == ("joint1", "joint2")
    assert (asked["decimate"], asked["estimator"]) == (7, "ols"), "what is typed wins"
    same = set(OPTIONS) - {"decimate", "hold", "coupling"}
    assert {key: asked[key] for key in same} == {key: typed[key] for key in same}
    assert asked["coupling"] == [["joint2", "joint3"]]


def test_a_file_of_options_names_unknown_keys(run: Run, small: Path, tmp_path: Path) -> None:
    config = tmp_path / "options.toml"
    for text, words in {
        "frction = ['viscous']": "'frction' is not an option; did you mean 'friction'",
        "joints = [": "options.toml",
        "mapping = 3": "mapping = 3; expected a text",
        "freeze = 3": "--freeze of the file must be names of joints, not 3",
        "freeze = { joint1 = 'up' }": (
            "--freeze of the file, joint1: 'up' is not a position [rad|m]"
        ),
        "friction = ['sticky']": "friction 'sticky' is unknown",
        "mapping = 'absent.toml'": "absent.toml: no such mapping file",
    }.items():
        config.write_text(text)
        ran = run("identify", "spatial_3r", small, "--config", config)
        assert ran.code == 2, text
        assert words in ran.err, text
    assert (
        "there is no file"
        in run("identify", "spatial_3r", small, "--config", tmp_path / "absent.toml").err
    )


def test_where_to_write_is_checked_before_the_work(
    run: Run, small: Path, tmp_path: Path, asked: dict[str, Any]
) -> None:
    (tmp_path / "file").write_text("")
    for out, words in (
        (tmp_path / "file" / "a" / "b", "is a file, not a folder"),
        (tmp_path, "pass --force to replace it"),
    ):
        ran = run("identify", "spatial_3r", small, "-o", out)
        assert ran.code == 2
        assert words in ran.err
    assert not asked, "nothing was done"
    assert "called" in run("identify", "spatial_3r", small, "-o", tmp_path / "a" / "b" / "c").err
    assert not (tmp_path / "a").exists(), "no folder before there is something to put into it"

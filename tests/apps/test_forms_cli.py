"""Every command at 80, 100 and 160 columns loses nothing.

--json has the numbers, --quiet the verdict and paths, --verbose the steps.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steelyard as sy
from steelyard.apps import cli
from steelyard.apps.show import terminal
from steelyard.drawing.table import Column, Table
from steelyard.drawing.table_layout import LONG, display_width, lay_out
from steelyard.identification.validate import validate_robot
from steelyard.signals.write import to_csv
from tests.apps.test_cli import Run, run

__all__ = ["run"]  # the fixture

WIDTHS = (80, 100, 160)
LONG_NAMES = {
    f"joint{k}": f"left_manipulator_arm_{word}_actuated_joint"
    for k, word in ((1, "shoulder"), (2, "elbow"))
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with logs of a planar arm, URDFs, a motion and a file of poses."""
    path = tmp_path_factory.mktemp("forms")
    robot = sy.load("planar_2r").with_friction(viscous=4.0, coulomb=3.0)
    real = sy.perturbed(robot, 2)
    for name, seed in (("log", 1), ("other", 5)):
        motion = sy.excite(robot, 8.0, 4, 0.125, seed, candidates=10, starts=1)
        to_csv(sy.record(real, motion, 100.0, seed), path / f"{name}.csv")
    for k, name in enumerate("abc"):
        (path / "fleet" / f"robot={name}").mkdir(parents=True)
        motion = sy.excite(robot, 8.0, 4, 0.125, 10 + k, candidates=10, starts=1)
        to_csv(
            sy.record(sy.perturbed(robot, k), motion, 100.0, k),
            path / "fleet" / f"robot={name}" / "run.csv",
        )
    robot.to_toml(path / "arm.toml")
    text = (path / "arm.toml").read_text(encoding="utf-8")
    for short, long in LONG_NAMES.items():
        text = text.replace(f'"{short}"', f'"{long}"')
    (path / "long.toml").write_text(text, encoding="utf-8")
    log = (path / "log.csv").read_text(encoding="utf-8")
    for short, long in LONG_NAMES.items():
        log = log.replace(short, long)
    (path / "long.csv").write_text(log, encoding="utf-8")
    (path / "motion.csv").write_text("t,q.joint1,q.joint2\n0,0.1,0.2\n1,0.3,0.4\n2,0.2,0.1\n")
    (path / "poses.csv").write_text("x,y,z,roll,pitch,yaw\n0.3,0.3,0.3,0,0,0\n")
    return path


def commands(folder: Path, out: Path) -> dict[str, list[object]]:
    """Every command, by its name and what is special about it."""
    log, long, other = folder / "log.csv", folder / "long.csv", folder / "other.csv"
    robot, named = folder / "arm.toml", folder / "long.toml"
    wls = ["--estimator", "wls"]
    return {
        "robots": ["robots"],
        "info": ["info", "puma560"],
        "info, loops": ["info", "stewart"],
        "info, long names": ["info", named],
        "check": ["check", "planar_2r"],
        "torque": ["torque", "puma560", "--q", "0.1,1,2,0.3,0.4,0.5", "--qd", "1,1,1,1,1,1"],
        "torque, long names": ["torque", named, "--q", "0.123456,2", "--qd", "1000,-123.456"],
        "torque, file": ["torque", "planar_2r", "--motion", folder / "motion.csv"],
        "ik": ["ik", "puma560", "--xyz", "0.3,-0.4,0.2", "--rpy", "180deg,0,0"],
        "ik, file": ["ik", "puma560", "--poses", folder / "poses.csv", "--out", out / "ik.csv"],
        "simulate": ["simulate", "puma560", "--seconds", "0.01", "-o", out / "run.csv"],
        "excite": [
            "excite",
            "planar_2r",
            "--seconds",
            "5",
            "--harmonics",
            "2",
            "--starts",
            "1",
            "-o",
            out / "motion.csv",
        ],
        "doctor": ["doctor", robot, log],
        "identify": ["identify", named, long, *wls, "-o", out / "fit", "--no-report"],
        "fleet": ["fleet", robot, folder / "fleet", *wls, "--no-keep", "-o", out / "fleet"],
        "validate": ["validate", robot, other, "--against", "planar_2r"],
        "payload": ["payload", robot, log, "--empty", other],
        "payload, poses": ["payload", "puma560", "--poses", "4", "-o", out / "poses.csv"],
        "export": ["export", "planar_2r", "--toml", out / "mine.toml", "--urdf", out / "mine.urdf"],
        "bench": ["bench", "planar_2r", "--rounds", "1"],
        "demo": ["demo", "planar_2r", "-o", out / "demo"],
        "new": ["new", out / "project", "--robot", named, "--log", long],
    }


NAMES = tuple(commands(Path(), Path()))
SCREEN = 40  # lines
VERDICT = "Trusted|Doubtful|Refused"
FIRST_LINES = {  # of the output of each command: its result
    "robots": "Built-in robots",
    "info": "puma560$",
    "info, loops": "stewart$",
    "info, long names": "planar_2r$",
    "check": "planar_2r obeys all 1[12] laws",
    "torque": "Torques$",
    "torque, file": "t,tau.joint1",
    "ik": r"\d solutions? by closed form$",
    "ik, file": "wrote|$",
    "simulate": "1 run of 0.01 s",
    "excite": r"CHECKED \(",
    "doctor": "This log can identify the robot.$",
    "identify": VERDICT,
    "fleet": r"No outliers in the fleet|\d outlier",
    "validate": "Prediction errors$",
    "payload": VERDICT,
    "payload, poses": r"CHECKED \(",
    "export": "wrote",
    "bench": "steelyard ",
    "new": "• ",
    "demo": VERDICT,
}


def assert_whole(outcome: Table, width: int) -> None:
    """Every number and name of the table appears unbroken, and no line is too wide."""
    lines = [line.text for line in lay_out(outcome, width)]
    words = Counter(word for line in lines for word in line.split())
    expected = Counter(
        cell
        for row in outcome.rows
        for cell in row
        if display_width(cell) <= LONG or " " not in cell
    )
    text = "\n".join(lines)
    for cell, times in expected.items():
        if cell.strip():
            result = (
                len(re.findall(rf"(?<!\S){re.escape(cell)}(?!\S)", text))
                if " " in cell
                else words[cell]
            )
            assert result >= times, f"{cell!r} at {width} columns of\n{text}"
    for sentence in (
        outcome.title,
        outcome.note,
        *(cell for row in outcome.rows for cell in row),
        *(c.heading for c in outcome.columns),
    ):
        assert all(words[word] for word in sentence.split()), (
            f"{sentence!r} at {width} columns of\n{text}"
        )
    longest = max(display_width(cell) for cell in [*expected, *words])
    for line in lines:
        assert display_width(line) <= max(
            width, longest + max((display_width(c.heading) for c in outcome.columns), default=0) + 2
        ), line


@pytest.mark.parametrize("name", NAMES)
def test_no_table_of_a_command_loses_anything(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shown: list[Table] = []

    def recorded(result: Table, width: int) -> list[Any]:
        shown.append(result)
        return lay_out(result, width)

    monkeypatch.setattr(terminal, "lay_out", recorded)
    monkeypatch.setattr(terminal, "PIPE_WIDTH", 80)
    monkeypatch.chdir(tmp_path)
    ran = run(*commands(folder, tmp_path)[name])
    assert ran.code in (0, 1, 3, 4), ran.err
    wide = [
        line
        for line in ran.out.splitlines()
        if display_width(line) > 80 and not line.startswith(("tau", "t,"))
    ]
    assert all(" " not in line.strip() or line.startswith("  ") for line in wide), wide
    lines = ran.out.splitlines()
    first = FIRST_LINES.get(name, FIRST_LINES[name.partition(",")[0]])
    assert re.match(first, (lines or [""])[0]), lines[:1]
    assert len(lines) <= SCREEN or name in ("info, loops", "bench")
    for result in shown:
        for width in WIDTHS:
            assert_whole(result, width)
            if width == 80:
                assert all(line.text in ran.out for line in lay_out(result, 80))
    assert shown or name in (
        "torque, file",
        "ik, file",
        "doctor",
        "export",
        "new",
    ), "this command shows a table"


cells = st.text(st.sampled_from("ab1.−  τ漢"), max_size=50).map(lambda text: " ".join(text.split()))


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 7).flatmap(lambda n: st.lists(st.tuples(*[cells] * n), min_size=1, max_size=6)),
    st.integers(10, 170),
    st.booleans(),
)
def test_a_table_of_any_width_is_laid_out_whole(
    rows: list[tuple[str, ...]], width: int, named: bool
) -> None:
    columns = tuple(
        Column(f"column {j}" * (1 + 3 * named), "kg", numeric=bool(j % 2))
        for j in range(len(rows[0]))
    )
    assert_whole(
        Table(
            "A title of several words",
            columns,
            tuple(rows),
            "and a note",
            frozenset({0}),
            frozenset({1}),
        ),
        width,
    )


def test_a_wide_table_turns_on_its_side_and_a_narrow_one_stays() -> None:
    wide = Table(
        "T",
        tuple(Column(f"heading{j}") for j in range(12)),
        (tuple(f"{j}.123456" for j in range(12)),) * 3,
    )
    first = [line.text for line in lay_out(wide, 80) if line.part != "rule"]
    assert [line.split()[0] for line in first[1:]] == [f"heading{j}" for j in range(12)]
    assert all("1.123456" in line for line in first if line.startswith("heading1 "))
    upright = [line.text for line in lay_out(wide, 160)]
    assert upright[1].split() == [f"heading{j}" for j in range(12)]


@pytest.mark.parametrize("name", NAMES)
def test_json_is_one_object_with_the_numbers(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = commands(folder, tmp_path)[name]
    ran = run(*arguments, "--json")
    data = json.loads(ran.out, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))
    assert data["exit_code"] == ran.code
    assert data["command"] == arguments[0]
    CONTENT[name](data, folder)
    for path in data.get("written", ()):
        assert Path(path).exists()


def _torque(result: dict[str, Any], _: Path) -> None:
    tau = sy.load("puma560").inverse_dynamics([0.1, 1, 2, 0.3, 0.4, 0.5], [1.0] * 6, [0.0] * 6)
    assert [row["tau"] for row in result["torques"]] == tau.tolist(), "all digits"
    assert {row["unit"] for row in result["torques"]} == {"N m"}


def _identify(result: dict[str, Any], folder: Path) -> None:
    robot = sy.load(folder / "long.toml")
    fit = sy.identify(robot, sy.read_log(folder / "long.csv", robot), "wls")
    assert result["fit"]["total_relative_error"] == pytest.approx(
        fit.total_relative_error, rel=1e-9
    )
    assert [row["value"] for row in result["fit"]["parameters"]] == pytest.approx(
        fit.parameters.tolist(), rel=1e-6, abs=1e-9
    )
    assert result["verdict"]["word"] == fit.verdict.word


def _validate(result: dict[str, Any], folder: Path) -> None:
    robot = sy.load(folder / "arm.toml")
    outcome = validate_robot(robot, sy.read_log(folder / "other.csv", robot))
    assert result["model"]["total_relative_error"] == outcome.total_relative_error
    assert [row["rms"] for row in result["model"]["joints"]] == outcome.rms.tolist()
    assert result["other"]["joints"][0]["unit"] == "N m"


def _excite(result: dict[str, Any], _: Path) -> None:
    assert result["seconds"] == 5.0
    assert len(result["joints"]) == 2
    assert all(row["torque"] > 0 for row in result["torques"])
    assert all(isinstance(row["value"], float) for row in result["parameters"])


def _ik(result: dict[str, Any], _: Path) -> None:
    robot, pose = sy.load("puma560"), np.diag([1.0, -1.0, -1.0, 1.0])
    pose[:3, 3] = 0.3, -0.4, 0.2
    solved = sy.inverse_kinematics(robot, pose)
    assert np.allclose(
        [[row[name] for name in robot.joint_names] for row in result["solutions"]],
        solved.q[solved.valid],
        atol=1e-12,
    )


CONTENT: dict[str, Callable[[dict[str, Any], Path], None]] = {
    "robots": lambda data, _: _equal([row["name"] for row in data["robots"]], list(sy.robots())),
    "info": lambda data, _: _equal(
        data["joints"][0]["Fv"], float(sy.load("puma560").tree.terms[0]["viscous"])
    ),
    "info, loops": lambda data, _: _equal(len(data["loops"]), len(sy.load("stewart").tree.loops)),
    "info, long names": lambda data, _: _equal(data["joints"][1]["joint"], LONG_NAMES["joint2"]),
    "check": lambda data, _: _equal(
        data["verdict"]["good"]
        and all(0 <= row["violation"] <= row["bound"] for row in data["laws"]),
        True,
    ),
    "torque": _torque,
    "torque, long names": lambda data, _: _equal(data["torques"][0]["q"], 0.123456),
    "torque, file": lambda data, _: _equal(
        data["tau"]["joint1"],
        pytest.approx(
            sy.load("planar_2r").gravity_torque([[0.1, 0.2], [0.3, 0.4], [0.2, 0.1]])[:, 0],
            rel=1e-14,
        ),
    ),
    "ik": _ik,
    "ik, file": lambda data, _: _equal(data["poses"], 1),
    "simulate": lambda data, _: _equal((data["samples"], len(data["joints"])), (11, 6)),
    "excite": _excite,
    "doctor": lambda data, _: _equal(
        isinstance(data["findings"], list) and data["verdict"]["usable"], True
    ),
    "identify": _identify,
    "fleet": lambda data, _: _equal(
        [row["name"] for row in data["fleet"]["robots"]], ["a", "b", "c"]
    ),
    "validate": _validate,
    "payload": lambda data, _: _equal([row["unit"] for row in data["load"]][:2], ["kg", "m"]),
    "payload, poses": lambda data, _: _equal(len(data["poses"]), 4),
    "export": lambda data, _: _equal(len(data["written"]), 2),
    "bench": lambda data, _: _equal(
        all(row["ours"] > 0 for row in data["robots"]["planar_2r"]), True
    ),
    "new": lambda data, _: _equal(
        data["mapping"]["columns"]["q"][LONG_NAMES["joint1"]], f"q_{LONG_NAMES['joint1']}"
    ),
    "demo": lambda data, _: _equal(
        data["fit"]["total_relative_error"] < 0.05 and data["speed"][0]["ns"] > 0, True
    ),
}


def _equal(result: object, expected: object) -> None:
    assert result == expected


def test_json_of_an_error_says_it_and_the_code(run: Run) -> None:
    ran = run("info", "planar_2s", "--json")
    assert ran.code == 2
    data = json.loads(ran.out)
    assert "planar_2s" in data["error"]
    assert data["exit_code"] == 2
    assert "planar_2s" in ran.err
    assert "exclude each other" in run("robots", "--json", "--quiet").err


def test_quiet_prints_the_verdict_and_the_paths_alone(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    long = [
        folder / "long.toml",
        folder / "long.csv",
        "--estimator",
        "wls",
        "-o",
        tmp_path / "out",
        "--no-report",
    ]
    ran = run("identify", *long, "--quiet")
    assert ran.err == ""
    verdict, *paths = ran.out.splitlines()
    assert verdict.startswith(("Trusted", "Doubtful", "Refused"))
    assert [Path(path).exists() for path in paths] == [True] * len(paths)
    assert paths
    assert run("robots", "--quiet") == (0, "", "")


def test_verbose_tells_what_was_read_and_the_times_on_stderr(run: Run, folder: Path) -> None:
    plain, verbose = (
        run("identify", folder / "arm.toml", folder / "log.csv", "--estimator", "wls", *more)
        for more in ([], ["--verbose"])
    )
    assert plain.out == verbose.out
    assert re.search(r"\d\.\d\d s preparing the samples", verbose.err)
    assert re.search(r"log\.csv: \d+ samples at 100 Hz, .*tau.* of joint1, joint2", verbose.err)


def test_a_real_terminal_of_80_columns(folder: Path) -> None:
    """Through a pseudo-terminal: no line is wider, and the long names are whole."""
    ours, theirs = pty.openpty()
    environment = {
        **os.environ,
        "TERM": "dumb",
        "COLUMNS": "80",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "NO_COLOR": "1",
    }
    command = [sys.executable, "-m", "steelyard", "info", str(folder / "long.toml")]
    with subprocess.Popen(
        command, stdout=theirs, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        os.close(theirs)
        output = b""
        try:
            while part := os.read(ours, 65536):
                output += part
        except OSError:  # the other end is closed
            pass
        process.wait(60)
    os.close(ours)
    lines = output.decode().splitlines()
    assert all(name in " ".join(lines).split() for name in LONG_NAMES.values())
    assert max(len(line) for line in lines if not line.startswith("  steelyard ")) <= 80


def test_every_command_is_tried() -> None:
    """But for the page, which runs until it is ended."""
    assert {command.__name__ for command in cli.COMMANDS} - {"page"} == {
        str(arguments[0]) for arguments in commands(Path(), Path()).values()
    }
    assert set(CONTENT) == set(NAMES)

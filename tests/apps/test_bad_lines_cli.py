"""A table of bad command lines.

Each ends in a sentence that names the offender in words that can be typed, and in exit code 2.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.apps import cli
from steelyard.identification.model.model_options import ModelOptions
from steelyard.identification.samples.preparation import Preparation
from steelyard.option_groups.excitation import ExcitationOptions
from tests.apps.test_cli import Run, run

__all__ = ["run"]  # the fixture

ROBOT = "planar_2r"
WITH_ROBOT = (
    "info",
    "check",
    "torque",
    "ik",
    "simulate",
    "excite",
    "doctor",
    "identify",
    "validate",
    "payload",
    "export",
    "demo",
    "bench",
)
WITH_LOG = ("doctor", "identify", "validate", "payload")
WITH_JOINTS = ("doctor", "identify", "validate", "payload", "excite", "check")
NUMBERS = {  # options that take one number
    "check": ("--samples", "--seed"), "bench": ("--rounds",), "demo": ("--seed",),
    "new": ("--rate",), "simulate": ("--kp", "--kd", "--seconds", "--step", "--seed"),
    "excite": (
        "--seconds", "--harmonics", "--base-frequency", "--rate", "--margin", "--prior",
        "--torque-accuracy", "--clearance", "--ground", "--starts", "--seed",
    ),
    "identify": ("--decimate", "--cutoff"),
    "payload": ("--poses",),
}  # fmt: skip
LISTS = {  # options that take numbers with commas
    "torque": ("--q",), "ik": ("--xyz",), "simulate": ("--q0", "--qd0", "--to"),
    "excite": (
        "--velocity", "--acceleration", "--jerk", "--effort", "--noise", "--payload", "--gravity",
        "--half-space",
    ),
    "identify": ("--mask", "--known-mass", "--gear-ratio"),
}  # fmt: skip
GROUPS = (Preparation, ModelOptions, ExcitationOptions, sy.signals.Mapping)
FUNCTIONS = (sy.excite, sy.identify, sy.read_log, sy.simulate, sy.payload)
PYTHON = {
    *(field.name for group in GROUPS for field in fields(group)),
    *(name for each in FUNCTIONS for name in inspect.signature(each).parameters),
    "overwrite",
    "family",
    "what",
}
"""Arguments of Python, which nobody can type."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a good log and files that are bad in one way each."""
    folder = tmp_path_factory.mktemp("bad")
    head = "t,q_joint1,q_joint2,tau_joint1,tau_joint2"
    rows = [f"{k / 100},{0.1 * k % 1},{0.2 * k % 1},{k % 7},{k % 5}" for k in range(60)]
    text = {
        "log.csv": [head, *rows], "empty.csv": [], "header.csv": [head], "one.csv": [head, rows[0]],
        "two.csv": [head, *rows[:2]],
        "letters.csv": [head, *rows[:30], "0.3,a,0.1,1,1", *rows[31:]],
        "ragged.csv": [head, *rows[:30], "0.3,1,0.1", *rows[31:]],
        "no_q.csv": [head.replace("q_", "x_"), *rows],
        "no_time.csv": [head.replace("t,", "n,", 1), *rows],
        "effort.csv": [head.replace("tau", "effort"), *rows],
        "twice.csv": [head.replace("q_joint2", "q_joint1"), *rows],
        "no_tau.csv": [head.replace("tau", "note"), *rows],
        "currents.csv": [head.replace("tau", "current"), *rows],
        "motion.csv": ["t,q.joint1", "0,1", "1,2"], "headless.csv": rows,
        "poses.csv": ["a,b", "1,2"], "bad.toml": ["joints = ["], "odd.toml": ["colour = 3"],
        "map.toml": ["effort = 'force'"],
        "columns.toml": ["[columns]", "q = ['nowhere', 'q_joint2']"], "rate.toml": ["rate = -3"],
        "config.toml": ["estimator = 3"], "hold.toml": ["hold = 3"],
        "bad.urdf": ["<robot name='x'><link name='a'>"], "bad.json": ["{"], "robot.xyz": ["what"],
        "bad.npz": ["not a zip"], "bad.mat": ["no"], "bad.db3": ["no"], "bad.mcap": ["no"],
        "bad.parquet": ["no"], "unknown.abc": ["1"],
    }  # fmt: skip
    for name, lines in text.items():
        (folder / name).write_text("\n".join(lines) + "\n" if lines else "")
    (folder / "full").mkdir()
    (folder / "full" / "mine.txt").write_text("")
    return folder


def with_robot(command: str, robot: object) -> list[object]:
    """The fewest words of a command with a robot."""
    more = {"torque": ["--q", "0,0"], "ik": ["--xyz", "0,0,0"], "export": ["--toml", "out.toml"]}
    return [command, robot, *(["log.csv"] if command in WITH_LOG else []), *more.get(command, [])]


def lines() -> Iterator[tuple[list[object], str]]:
    """Bad command lines, and a word that the sentence must have; files are those of the folder."""
    for command in (*WITH_ROBOT, "new", "robots"):
        words = with_robot(command, ROBOT) if command in WITH_ROBOT else [command]
        yield [*words, "--colour", "red"], "--colour"
        yield [*words, "--json", "--quiet"], "--json and --quiet"
    for command in WITH_ROBOT:
        yield with_robot(command, "planar_3r"), "planar_3r"
        yield with_robot(command, "absent.urdf"), "absent.urdf"
        yield with_robot(command, "bad.urdf"), "bad.urdf"
        if command not in ("demo", "bench"):
            yield [command], "Missing argument"
    yield with_robot("info", "robot.xyz"), ".xyz"
    yield from (
        (with_robot(command, "bad.json"), "bad.json") for command in ("validate", "payload")
    )
    for command, options in NUMBERS.items():
        words = (
            with_robot(command, ROBOT)
            if command in WITH_ROBOT
            else [command, "out", "--robot", ROBOT, "--log", "log.csv"]
        )
        yield from (([*words, option, "many"], option) for option in options)
    yield from (
        ([*with_robot("excite", ROBOT), option, "-1"], option)
        for option in NUMBERS["excite"]
        if option != "--ground"
    )
    yield from (
        ([*with_robot("simulate", ROBOT), option, "nan"], option)
        for option in ("--seconds", "--step")
    )
    yield from ((["check", ROBOT, option, "-1"], option) for option in NUMBERS["check"])
    yield from (
        (["identify", ROBOT, "log.csv", option, "-1"], option)
        for option in ("--decimate", "--cutoff")
    )
    for command, options in LISTS.items():
        words = [
            word
            for word in with_robot(command, ROBOT)
            if word not in ("--q", "0,0", "--xyz", "0,0,0")
        ]
        yield from (([*words, option, "1,two"], option) for option in options)
    yield from bad_logs("doctor")
    yield ["fleet", ROBOT, "log.csv", "--by", "arm"], "log.csv: no folder says of which arm it is"
    yield ["fleet", ROBOT, "absent*.csv"], "no log matches the pattern"
    yield ["fleet", ROBOT, "log.csv", "--workers", "0"], "--workers"
    yield ["identify", ROBOT, "log.csv", "--workers", "2", "--dask", "tcp://nowhere:1"], "--dask"
    yield ["identify", ROBOT, "absent*.csv"], "no log matches the pattern"
    for command in ("identify", "validate", "payload"):
        yield from list(bad_logs(command))[::3]
    for command in WITH_JOINTS:
        words = with_robot(command, ROBOT)
        yield [*words, "--joints", "elbow"], "elbow"
        yield [*words, "--freeze", "joint1=up"], "joint1"
        yield [*words, "--freeze", "joint*"], "--joints"
        for file in ("absent.toml", "bad.toml", "odd.toml"):
            yield [*words, "--config", file], file
    yield from of_files()


def bad_logs(command: str) -> Iterator[tuple[list[object], str]]:
    """Logs that cannot be read, in every command that reads one."""
    for file, word in {
        "absent.csv": "absent.csv", "empty.csv": "empty", "header.csv": "no samples",
        "letters.csv": "line 32", "ragged.csv": "line 32", "no_q.csv": "positions",
        "no_time.csv": "--mapping", "effort.csv": "--effort", "twice.csv": "q_joint1",
        "headless.csv": "layout", "bad.npz": "bad.npz", "unknown.abc": ".abc", "full": "full",
    }.items():  # fmt: skip
        yield [command, ROBOT, file], word
    for file, word in {
        "absent.toml": "absent.toml",
        "map.toml": "'torque' or 'current'",
        "columns.toml": "nowhere",
        "rate.toml": "rate",
    }.items():
        yield [command, ROBOT, "log.csv", "--mapping", file], word
    yield [command, ROBOT, "log.csv", "--effort", "force"], "effort"


def of_files() -> Iterator[tuple[list[object], str]]:
    """What is special to one command: files to write, and what does not go together."""
    fit = ["identify", ROBOT, "log.csv"]
    yield from (
        (["identify", ROBOT, file], word)
        for file, word in (("one.csv", "sample"), ("two.csv", "sample"), ("no_tau.csv", "torque"))
    )
    yield ["identify", ROBOT, "currents.csv"], "torque_constant"
    yield from (
        (["doctor", ROBOT, file], file)
        for file in ("bad.mat", "bad.db3", "bad.mcap", "bad.parquet")
    )
    yield from (
        ([*fit, "-o", out], word)
        for out, word in (("full", "--force"), ("log.csv", "log.csv"), ("log.csv/a/b", "log.csv"))
    )
    yield from (([*fit, "--validate", file], file) for file in ("absent.csv", "empty.csv"))
    for option, value, word in (
        ("--estimator", "wsl", "wls"), ("--prior", "cda", "--prior"),
        ("--friction", "sticky", "sticky"), ("--hold", "joint9", "joint9"),
        ("--coupling", "joint1", "--coupling"), ("--coupling", "joint1,joint9", "joint9"),
        ("--known-mass", "-3", "--known-mass"), ("--mask", "1,2,3", "--mask"),
        ("--config", "config.toml", "estimator"), ("--config", "hold.toml", "hold"),
        ("--gear-ratio", "joint9=3", "joint9"),
    ):  # fmt: skip
        yield [*fit, option, value], word
    yield ["torque", ROBOT], "--motion"
    yield ["torque", ROBOT, "--q", "0,0", "--motion", "motion.csv"], "not both"
    yield ["torque", ROBOT, "--q", "0"], "--q has 1 numbers"
    yield ["torque", ROBOT, "--motion", "motion.csv"], "q.joint2"
    yield ["torque", ROBOT, "--motion", "absent.csv"], "absent.csv"
    yield ["torque", ROBOT, "--q", "0,0", "--out", "x.csv"], "--motion"
    yield ["ik", ROBOT], "--xyz"
    yield ["ik", ROBOT, "--xyz", "0,0"], "--xyz has 2 numbers"
    yield ["ik", ROBOT, "--xyz", "0,0,0", "--rpy", "0,0,0", "--quaternion", "0,0,0,1"], "not both"
    yield ["ik", ROBOT, "--xyz", "0,0,0", "--quaternion", "0,0,0,0"], "zeros"
    yield ["ik", ROBOT, "--poses", "poses.csv"], "poses.csv"
    yield ["ik", ROBOT, "--xyz", "0,0,0", "--frame", "hand"], "hand"
    yield ["ik", ROBOT, "--xyz", "0,0,0", "--method", "magic"], "magic"
    yield ["simulate", ROBOT, "--controller", "pid"], "pid"
    yield ["simulate", ROBOT, "--controller", "pd"], "--kp"
    yield ["simulate", ROBOT, "--to", "1,1"], "--controller"
    yield ["simulate", ROBOT, "--method", "rk5"], "rk5"
    yield ["simulate", ROBOT, "-o", "log.csv/x.csv"], "log.csv"
    yield ["excite", ROBOT, "-o", "motion.xyz"], ".xyz"
    yield ["excite", ROBOT, "-o", "log.csv"], "--force"
    yield ["excite", ROBOT, "--box", "hand=1,2"], "--box"
    yield ["excite", ROBOT, "--criterion", "Z"], "Z"
    yield ["excite", ROBOT, "--collision", "soft"], "soft"
    yield ["excite", ROBOT, "--accuracy", "link9.m=0.1"], "link9.m"
    yield ["excite", ROBOT, "--velocity", "joint9=1"], "joint9"
    yield ["payload", ROBOT], "--poses"
    yield ["payload", ROBOT, "log.csv", "--poses", "3"], "--poses"
    yield ["payload", ROBOT, "log.csv", "--flange", "link2"], "--controller"
    yield ["payload", ROBOT, "log.csv", "-o", "load.txt"], ".urdf or .toml"
    yield ["payload", ROBOT, "log.csv", "--link", "hand"], "hand"
    yield ["export", ROBOT], "--urdf"
    yield ["export", ROBOT, "--float", "--toml", "x.toml"], "--c"
    yield ["export", ROBOT, "--toml", "log.csv"], "--force"
    yield ["export", ROBOT, "--c", "log.csv"], "log.csv"
    yield ["demo", ROBOT, "-o", "full"], "--force"
    yield ["new", "x"], "--robot"
    yield ["new", "full", "--robot", ROBOT], "--force"
    yield ["new", "x", "--robot", ROBOT, "--log", "effort.csv"], "--effort"
    yield ["new", "x", "--robot", ROBOT, "--log", "no_time.csv"], "--rate"
    yield ["new", "x", "--robot", ROBOT, "--log", "log.csv", "--layout", "t x"], "layout"
    yield ["new", "x", "--robot", ROBOT, "--log", "log.csv", "--angle", "gon"], "angle"
    yield ["page", "--host", "0.0.0.0"], "--expose"
    yield ["page", "absent.urdf", "--no-open"], "absent.urdf"
    yield ["page", ROBOT, "absent.csv", "--no-open"], "absent.csv"
    yield ["page", "--folder", "absent", "--no-open"], "absent"
    yield ["weigh"], "weigh"
    yield ["--loud"], "--loud"


LINES = {" ".join(map(str, words)): (words, word) for words, word in lines()}


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
@pytest.mark.parametrize("command", [*(each.__name__ for each in cli.COMMANDS), "weigh", "--loud"])
def test_bad_lines_end_in_a_sentence(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(files)
    before = sorted(files.iterdir())
    wrong = []
    for line, (words, word) in LINES.items():
        if words[0] != command:
            continue
        ran = run(*words)
        last = ran.err.strip().splitlines()[-1] if ran.err.strip() else ""
        python = [
            name for name in re.findall(r"(?<![-\w.])([a-z_]+)=(?=\S|$|\s)", last) if name in PYTHON
        ]
        message = word in last and "defect" not in last and "Traceback" not in ran.err
        if ran.code != 2 or not message or python or len(last.split()) < 3:
            wrong.append(
                f"{line}\n    {ran.code}, expected {word!r}{f', has {python}' if python else ''}:"
                f" {last}"
            )
    assert not wrong, "\n".join(wrong)
    assert sorted(files.iterdir()) == before, "nothing was written"


def test_there_are_enough_of_them() -> None:
    assert len(LINES) >= 150
    assert {str(words[0]) for words, _ in LINES.values()} >= {
        command.__name__ for command in cli.COMMANDS
    }

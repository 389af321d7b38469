"""`steelyard simulate` as a user calls it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import steelyard as sy
from steelyard.apps.cli import app
from steelyard.errors import SteelyardError


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["simulate", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_a_robot_falls_and_the_table_shows_it(tmp_path: Path) -> None:
    code, text = run("planar_2r", "--seconds", "0.5", "-o", str(tmp_path / "run.csv"))
    assert code == 0
    assert "joint1" in text
    assert any(block in text for block in "▂▃▄▅▆▇")
    rows = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=2)
    assert rows.shape == (501, 1 + 3 * 2)
    expected = sy.simulate(sy.load("planar_2r"), seconds=0.5)
    np.testing.assert_array_equal(rows[:, 1:3], expected.q)


def test_a_goal_is_reached_and_logged(tmp_path: Path) -> None:
    goal = [
        "--to",
        "0.5,-30deg",
        "--controller",
        "computed-torque",
        "--kp",
        "100",
        "--kd",
        "20",
        "--log",
        str(tmp_path / "log.csv"),
    ]
    code, text = run("planar_2r", *goal)
    assert code == 0
    assert "0.500" in text
    log = sy.read_log(tmp_path / "log.csv", sy.load("planar_2r"))
    np.testing.assert_allclose(log.q[-1], [0.5, -np.pi / 6], atol=2e-3)


def test_a_file_is_followed(tmp_path: Path) -> None:
    t = np.linspace(0, 1, 11)
    rows = np.column_stack([t, 0.2 * np.sin(t), 0.1 * t**2])
    (tmp_path / "way.csv").write_text(
        "t,q.joint1,q.joint2\n"
        + "\n".join(",".join(map(repr, row)) for row in rows.tolist())
        + "\n"
    )
    files = ["--motion", str(tmp_path / "way.csv"), "-o", str(tmp_path / "run.csv")]
    code, _ = run(
        "planar_2r", *files, "--controller", "pd", "--kp", "100", "--kd", "20", "--seconds", "1"
    )
    assert code == 0
    followed = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=2)
    np.testing.assert_allclose(followed[-1, 1:3], rows[-1, 1:], atol=0.3)


def test_torques_of_a_log_are_played_and_stops_hold(tmp_path: Path) -> None:
    assert (
        run(
            "planar_2r",
            "--to",
            "0.2,0.1",
            "--controller",
            "feedforward",
            "--seconds",
            "0.3",
            "-o",
            str(tmp_path / "run.csv"),
        )[0]
        == 0
    )
    code, _ = run(
        "planar_2r",
        "--torques",
        str(tmp_path / "run.csv"),
        "--seconds",
        "0.3",
        "--stops",
        "-o",
        str(tmp_path / "again.csv"),
    )
    assert code == 0
    first, again = (
        np.loadtxt(tmp_path / name, delimiter=",", skiprows=2) for name in ("run.csv", "again.csv")
    )
    np.testing.assert_allclose(again[-1, 1:3], first[-1, 1:3], atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--torques", "x.csv", "--controller", "pd"], "--torques says what drives the robot"),
        (["--controller", "pdd"], "no controller is called 'pdd'"),
        (
            ["--controller", "pd"],
            "--controller pd gives no torque without gains: give --kp and --kd",
        ),
        (["--to", "1,1"], "need a controller"),
        (["--to", "1"], "--to has 1 numbers"),
        (["--to", "1,1", "--motion", "x.csv", "--controller", "pd"], "give one of them"),
        (["--motion", "nowhere.csv", "--controller", "pd"], "there is no file nowhere.csv"),
        (["--method", "rk5"], "no method is called"),
        (["--step", "-1"], "expected a positive time"),
    ],
)
def test_what_does_not_fit_is_a_sentence(arguments: list[str], message: str) -> None:
    with pytest.raises(SteelyardError, match=message):
        run("planar_2r", *arguments)

"""steelyard payload from a shell: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

import steelyard as sy
from steelyard.signals.write import to_csv
from tests.house.test_cli import Run, run
from tests.laws.test_payload import MASS, arm, log

__all__ = ["run"]  # the fixture


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("payload")
    arm().to_toml(path / "arm.toml")
    for name, load in (("loaded", 1.0), ("empty", 0.0), ("lighter", -1.0)):
        to_csv(log(load, 0.2, 1), path / f"{name}.csv")
    return path


def test_a_load_is_found_and_given_to_robot_and_controller(run: Run, folder: Path) -> None:
    out = folder / "with_load.toml"
    ran = run("payload", folder / "arm.toml", folder / "loaded.csv", "--controller", "ur", "-o", out)
    assert ran.code == 0, ran.out + ran.err
    assert "set_target_payload(2." in ran.out
    assert "mass" in ran.out
    added = sum(sy.load(out).parameters[:40:10]) - sum(arm().parameters[:40:10])
    assert added == pytest.approx(MASS, rel=0.02)
    again = run("payload", folder / "arm.toml", folder / "loaded.csv", "-o", out)
    assert again.code == 2
    assert "--force" in again.err


def test_a_lighter_robot_leaves_with_4(run: Run, folder: Path) -> None:
    ran = run("payload", folder / "arm.toml", folder / "lighter.csv")
    assert ran.code == 4
    assert "lighter with the load" in ran.out


def test_poses_are_written(run: Run, folder: Path) -> None:
    ran = run("payload", folder / "arm.toml", "--poses", 5, "-o", folder / "poses.csv")
    assert ran.code == 0
    assert "5 poses" in ran.out
    assert (folder / "poses.csv").read_text().splitlines()[1].startswith("pose,from.joint1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected a log with the load, or --poses"),
        (("loaded.csv", "--poses", "3"), "leave LOG out"),
        (("loaded.csv", "--flange", "tool"), "give --controller"),
        (("none.csv",), "there is no file"),
        (("loaded.csv", "--link", "link9"), "'link9' does not exist"),
        (("loaded.csv", "--controller", "fanuc"), "fanuc"),
    ],
)
def test_wrong_words_are_named(run: Run, folder: Path, arguments: tuple[str, ...], message: str) -> None:
    paths = [folder / word if word.endswith(".csv") else word for word in arguments]
    ran = run("payload", folder / "arm.toml", *paths)
    assert ran.code == 2
    assert message in ran.err

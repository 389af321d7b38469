"""steelyard payload from a shell: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.experiments.payload_identification.controller_load import CONTROLLERS
from steelyard.signals.write import to_csv
from tests.apps.test_cli import Run, run
from tests.laws.experiments.test_payload import MASS, arm, log

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
    ran = run(
        "payload", folder / "arm.toml", folder / "loaded.csv", "--controller", "ur", "-o", out
    )
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


@pytest.mark.parametrize("controller", sorted(CONTROLLERS))
def test_an_empty_hand_prints_one_mass_and_no_line(run: Run, folder: Path, controller: str) -> None:
    arguments = ("payload", folder / "arm.toml", folder / "empty.csv", "--controller", controller)
    ran, data = run(*arguments), json.loads(run(*arguments, "--json").out)
    assert ran.code == 3
    rows = {row["number"]: row for row in data["load"]}
    mass = rows["mass"]["value"]
    assert f"The mass, {mass:.5g} kg, is not above zero" in " ".join(ran.out.split())
    assert f"The mass, {mass:.5g} kg, is not above zero" in data["verdict"]["reasons"][0]
    assert data["controller"]["text"] is None
    assert f"No line for the controller ({controller}): the load is doubtful." in ran.out
    assert data["controller"]["notes"] == [
        f"No line for the controller ({controller}): the load is doubtful."
    ]
    assert not any(
        word in ran.out for word in ("set_target_payload", "setLoad", "LOAD_DATA", "inf")
    )
    assert rows["com z"] == {"number": "com z", "value": 0.0, "std": None, "unit": "m"}
    assert ran.out.count("not identified") >= 9


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
def test_wrong_words_are_named(
    run: Run, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    paths = [folder / word if word.endswith(".csv") else word for word in arguments]
    ran = run("payload", folder / "arm.toml", *paths)
    assert ran.code == 2
    assert message in ran.err

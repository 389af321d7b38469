"""Tables of the applications: commands, page views, controllers and formats of motions."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import steelyard as sy
from steelyard import simulation
from steelyard.apps import cli
from steelyard.apps.controllers import CONTROLLERS
from steelyard.motion import point_to_point
from steelyard.motion.trajectory_files.formats import FORMATS
from steelyard.simulation.drives import Elastic, Motor
from tests.apps.test_cli import Run, run

__all__ = ["run"]  # the fixture

ROOT = Path(__file__).parents[2]
COMMANDS = ROOT / "src" / "steelyard" / "apps" / "commands"
VIEWS = ROOT / "src" / "steelyard" / "apps" / "page" / "views"


def test_every_command_is_a_row_with_help_and_is_documented(run: Run) -> None:
    shown = run("--help").out
    pages = (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    docs = "".join(page.read_text(encoding="utf-8") for page in pages)
    modules = {each.__module__.rpartition(".")[2] for each in cli.COMMANDS}
    assert modules == {p.stem for p in COMMANDS.glob("*.py")} - {"__init__"}, "a command has no row"
    for command in cli.COMMANDS:
        name = command.__name__
        assert re.search(rf"^  {name} ", shown, re.M), name
        assert inspect.getdoc(command), name
        shows = re.search(rf"(?:^|`|\$ )steelyard {name}\b", docs, re.M)
        assert shows, f"no page of docs/ shows `steelyard {name}`"


def test_every_view_is_a_row_and_a_class() -> None:
    pytest.importorskip("nicegui")
    from steelyard.apps.page.views import layout

    assert {p.stem.removesuffix("_tab") for p in VIEWS.glob("*_tab.py")} == set(layout.VIEWS)
    for key, name in layout.VIEWS.items():
        view = layout.view_of(key)
        assert view.__name__ == name
        assert list(inspect.signature(view).parameters)[:2] == ["window", "robot_view"]
    page = (ROOT / "docs" / "page.md").read_text(encoding="utf-8")
    for key in layout.VIEWS:
        label = key.replace("_", " ").capitalize()
        assert re.search(rf"^\| {label} \| \w", page, re.M), f"docs/page.md has no row of {label}"
    assert f"Keys: 1 to {len(layout.VIEWS)} open the tabs" in page
    features = (ROOT / "tests" / "page" / "features.py").read_text(encoding="utf-8")
    tried = set(re.findall(r'\.tab\("(\w+)"\)', features))
    assert set(layout.VIEWS) - tried <= {"robot"}, "the browser tests open no such tab"


@pytest.mark.parametrize("name", CONTROLLERS)
def test_every_controller_follows_a_motion(name: str) -> None:
    from steelyard.apps.page.work import simulated

    robot = sy.load("planar_2r")
    goal = [0.4, -0.2]
    row = CONTROLLERS[name]
    law = row.make(point_to_point([0.0, 0.0], goal, 1.0), 100.0, 20.0)
    assert type(law) is getattr(simulation, row.class_name)
    gains = (100.0, 20.0)
    run = simulated(robot, name, robot.near_zero, goal, {"seconds": 0.2}, gains)
    assert run.finite


def test_every_controller_is_offered(run: Run) -> None:
    shown = run("simulate", "--help").out
    assert "|".join(("none", *CONTROLLERS)) in shown
    assert run("simulate", "planar_2r", "--controller", "pid").err.count("slotine-li") == 1
    joint_space = {
        name
        for name, each in vars(simulation).items()
        if inspect.isclass(each) and each.__module__.endswith("controllers.joint_space")
    }
    assert {row.class_name for row in CONTROLLERS.values()} == joint_space


@pytest.mark.parametrize("drive", [Elastic, Motor])
def test_every_drive_is_public_and_documented(drive: type) -> None:
    assert getattr(simulation, drive.__name__) is drive
    assert f"{drive.__name__}" in (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")


def test_every_format_of_motions_is_offered_and_documented(run: Run) -> None:
    shown = run("excite", "--help").out.split()
    page = (ROOT / "docs" / "excitation.md").read_text(encoding="utf-8")
    for row in FORMATS.values():
        for ending in row.endings:
            assert {ending, f"{ending}."} & set(shown), f"excite --help does not name {ending}"
            assert ending in page, f"docs/excitation.md does not name {ending}"
        assert row.endings or f"`{row.name}`" in page

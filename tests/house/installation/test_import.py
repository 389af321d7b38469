"""Importing steelyard stays light.

Nothing that plots, nothing symbolic, nothing from the web, no extra.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.signals import to_csv
from tests.house.sources import ROOT

HEAVY = {
    "matplotlib", "plotly", "bokeh", "sympy", "jinja2", "polars", "pandas", "pyarrow", "rosbags",
    "h5py", "mujoco", "pinocchio", "clarabel", "cvxpy", "xacrodoc", "typer", "click", "rich",
    "http.server", "asyncio", "ssl", "viser", "websockets", "roboticstoolbox", "casadi", "jax",
    "torch",
}  # fmt: skip
# Parts of SciPy that cost more to import than all of steelyard: they are imported where they are
# used.
HEAVY_SCIPY = {
    "scipy.stats",
    "scipy.optimize",
    "scipy.signal",
    "scipy.integrate",
    "scipy.interpolate",
}


def loaded_by(statement: str) -> set[str]:
    script = f"{statement}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    run = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "statement", ["import steelyard", "import steelyard as sy; sy.load('planar_2r')"]
)
def test_a_light_import(statement: str) -> None:
    # what numpy, or a start-up hook of this environment, brings is not ours to answer for
    before = loaded_by("import numpy")
    heavy = (HEAVY | HEAVY_SCIPY) & (loaded_by(statement) - before)
    assert not heavy, f"'{statement}' loads {sorted(heavy)}: import them where they are used"


def test_identify_loads_neither_experiments_nor_the_report() -> None:
    """What `steelyard identify` prints needs no excitation, fleet or HTML page."""
    parts = "steelyard.apps.commands.identify, steelyard.apps.show.identification"
    loaded = loaded_by(f"import steelyard as sy, {parts}, steelyard.reporting.results; sy.identify")
    needless = ("steelyard.experiments", "steelyard.reporting.page", "steelyard.reporting.content")
    assert not [name for name in loaded if name.startswith(needless)]


def test_options_of_all_commands_load_no_function_that_they_describe() -> None:
    """`--help` and completion read groups of options: these import no NumPy and no upper layer."""
    groups = "[options_of_command(command) for command in cli.COMMANDS]"
    imports = "from steelyard.apps import cli; from steelyard.apps.group_options import"
    loaded = loaded_by(f"{imports} options_of_command; {groups}") - loaded_by("pass")
    assert "steelyard.option_groups.identification" in loaded
    upper = ("numpy", "steelyard.identification", "steelyard.simulation", "steelyard.signals")
    assert not sorted(name for name in loaded if name.startswith(upper))


def test_identify_loads_what_it_uses(tmp_path: Path) -> None:
    """No readers of other files, no folded logs, no simulation, no pictures, no results folder."""
    robot = sy.load("planar_2r")
    robot.to_toml(tmp_path / "arm.toml")
    to_csv(sy.record(robot, sy.excite(robot, seconds=3, starts=1), 100.0, 1), tmp_path / "run.csv")
    words = ["steelyard", "identify", *(str(tmp_path / x) for x in ("arm.toml", "run.csv"))]
    run = f"import sys; sys.argv = {words!r}; from steelyard.apps.cli import main"
    loaded = loaded_by(f"{run}\ntry:\n    main()\nexcept SystemExit:\n    pass")
    assert "steelyard.identification.result.verdict" in loaded, "it ran"
    needless = {"polars", "matplotlib", "plotly"} | {
        f"steelyard.{name}"
        for name in (
            "drawing.skeleton",
            "experiments",
            "identification.elastic.elasticity",
            "identification.estimators.stepwise",
            "identification.out_of_core.archive",
            "identification.out_of_core.log_factor",
            "mechanism.formats.urdf.read_urdf",
            "motion",
            "reporting.results",
            "simulation",
        )
    }
    assert not needless & loaded

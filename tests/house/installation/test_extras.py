"""Without extras the demo runs, and every feature that needs one names it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.sources import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
# of pip and of those who work on the project: no function needs them
TOOLS = {"all", "docs", "test"}
USES = {
    "mujoco": ["sy.load('arm.mjcf')"],
    "xacro": ["sy.load('arm.xacro')"],
    "tables": [
        "sy.read_log('run.parquet')",
        "to_parquet(log, 'made.parquet')",
        "sy.base_parameters(robot).table().to_polars()",
    ],
    "pandas": ["sy.base_parameters(robot).table().to_pandas()"],
    "plot": ["robot.plot([0, 0])", "log.plot()"],
    "bags": ["sy.read_log('run.mcap')", "sy.read_log('run.bag')", "motion.write('made.mcap')"],
    "hdf5": ["from_hdf5(Path('new.mat'))"],
    "ur": ["sy.watch('rtde:host', robot, effort='torque')"],
    "symbolic": ["robot.symbolic()"],
    "collision": ["sy.excite(sy.load('meshed.urdf'), seconds=2, starts=1, collision='shapes')"],
    "casadi": ["robot.to_casadi()"],
    "jax": ["robot.to_jax()"],
    "torch": ["robot.to_torch()"],
    "fleet": ["sy.find_logs('memory://logs')", "dask_client('tcp://localhost:1')"],
    "datasets": ["sy.datasets.fetch('tx40')"],
    "report": [
        "sy.report(sy.identify(robot, log, 'wls', diagnose=False), 'report.html')",
        "require_report()",
    ],
    "page": ["require_page()"],
}
MODULE = {"ur-rtde": "rtde_receive"}  # where it is not the package's own name
MESHED = """<robot name="meshed"><link name="base"/><link name="arm">
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
<collision><geometry><mesh filename="ball.stl"/></geometry></collision></link>
<joint name="turn" type="revolute"><parent link="base"/>
<child link="arm"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="9"/></joint>
</robot>"""
BLOCK = """
import sys
from importlib.machinery import PathFinder

class Bare(PathFinder):
    @classmethod
    def find_spec(cls, name, *rest):
        return None if name.partition(".")[0] in {absent} else super().find_spec(name, *rest)

sys.meta_path[sys.meta_path.index(PathFinder)] = Bare
"""
PROGRAM = """
import json, sys
from pathlib import Path
import steelyard as sy
from steelyard.apps.page.server.serve import require_page
from steelyard.identification.out_of_core.run_tasks import dask_client
from steelyard.reporting.results import require_report
from steelyard.signals import to_parquet
from steelyard.signals.read.mat import from_hdf5

robot = sy.load("planar_2r").with_friction(viscous=1.0, coulomb=1.0)
motion = sy.excite(robot, seconds=2, starts=1)
log = sy.record(robot, motion, rate=100)
said = {}
for use in json.loads(sys.argv[1]):
    try:
        said[use] = f"no error: {eval(use)!r}"
    except Exception as error:
        said[use] = f"{type(error).__name__}: {error}"
print(json.dumps(said))
"""


def modules(requirements: list[str]) -> set[str]:
    """The names by which packages are imported."""
    return {
        MODULE.get(name, name) for name in (re.split(r"[^\w-]", each)[0] for each in requirements)
    }


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which Python and its child processes find no extra package."""
    absent = modules(
        [each for name, extra in EXTRAS.items() if name not in TOOLS for each in extra]
    ) - {"steelyard"}
    folder = tmp_path_factory.mktemp("bare")
    (folder / "sitecustomize.py").write_text(BLOCK.format(absent=absent), encoding="utf-8")
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT / 'src'}"}


@pytest.fixture(scope="module")
def said(bare: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each use says there."""
    folder = tmp_path_factory.mktemp("uses")
    for name, text in (
        ("arm.mjcf", b"<mujoco/>"),
        ("arm.xacro", b"<robot/>"),
        ("new.mat", b"\x89HDF\r\n\x1a\n"),
    ):
        (folder / name).write_bytes(text)
    for name in ("run.parquet", "run.mcap", "run.bag", "ball.stl"):
        (folder / name).write_bytes(b"x")
    (folder / "meshed.urdf").write_text(MESHED, encoding="utf-8")
    uses = json.dumps([use for each in USES.values() for use in each])
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, uses],
        cwd=folder,
        env=bare,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def test_every_extra_has_a_use() -> None:
    assert set(USES) == set(EXTRAS) - TOOLS


@pytest.mark.parametrize(
    ("extra", "use"), [(extra, use) for extra, uses in USES.items() for use in uses]
)
def test_a_missing_extra_is_named_with_the_line_that_installs_it(
    extra: str, use: str, said: dict[str, str]
) -> None:
    assert re.match(
        r"MissingExtra: .+ needs the package '[\w-]+', which is not installed: pip install"
        rf" 'steelyard\[{extra}\]'$",
        said[use],
    )


def test_the_demonstration_needs_no_extra(bare: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "steelyard", "demo", "planar_2r", "-o", "made"]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env=bare,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "pip install 'steelyard[report]'" in " ".join((ran.stdout + ran.stderr).split())
    assert {"fit.json", "identified.toml", "log.csv"} <= {
        path.name for path in (tmp_path / "made").iterdir()
    }
    assert not (tmp_path / "made" / "report.html").exists()

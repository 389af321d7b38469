"""The measured logs go from file to report in one command line each, nothing written by hand but
what `steelyard new` wrote.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from tests.apps.test_cli import Run, run
from tests.apps.test_new_cli import lines_of
from tests.real import measured

__all__ = ["run"]  # the fixture

pytestmark = pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
TIAGO = [
    "--ratio",
    "1,100,100,100,100,336,336,336",
    "--torque-constant",
    "1,.136,.136,-.087,-.087,-.0613,-.0613,-.0613",
]
PARTS = [f"tiago_{word}.csv" for word in ("position", "velocity", "effort")]
ROBOTS = {  # folder, description, files of the log, what must be said, exit code
    "tiago": ("tiago", "tiago_no_hand.urdf", PARTS, ["--effort", "current", *TIAGO], 4),
    "ur10": (
        "ur10",
        "ur10_robot.urdf",
        ["ur10_exciting_trajectory.db3"],
        ["--effort", "torque"],
        0,
    ),
    "tx40": ("staubli_tx40", "tx40_mdh_modified.urdf", ["tx40.npz"], [], 3),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_from_file_to_report(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path, urdf, files, message, code = ROBOTS[name]
    folder = measured.folder(path)
    logs = [word for file in files for word in ("--log", folder / file)]
    assert run("new", tmp_path / name, "--robot", folder / urdf, *logs, *message).code == 0
    monkeypatch.chdir(tmp_path / name)
    identify = lines_of(Path())[1]
    ran = run(*identify)
    assert ran.code == code, ran.err
    assert Path("results/report.html").stat().st_size > 1e5
    whole = sy.load(folder / urdf)
    back = sy.load(f"results/{'refused' if code == 4 else 'identified'}.urdf")
    assert back.joint_names == whole.joint_names, "joints that were held move again"
    arm, expected = getattr(measured, name)()
    fit = json.loads(Path("results/fit.json").read_text())
    assert [row["name"] for row in fit["joints"]] == list(arm.joint_names)
    log = sy.read_log(identify[2], arm, "mapping.toml")
    assert np.allclose(log.q, expected.q)
    assert np.allclose(log.tau, expected.tau, rtol=1e-4, atol=1e-4)

"""The examples run, from any folder, without a warning."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.sources import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SAYS = {
    "simulated_experiment": "true base parameters lie within",
    "identify_from_files": "identified.urdf",
    "tables_for_a_paper": r"\begin{tabular}",
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-W", "error", "-W", "default::UserWarning", str(example)]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert ran.returncode == 0, ran.stderr
    assert SAYS[example.stem] in ran.stdout

"""The programs of examples/bridges run and reach what they say.

So does the page of the documentation.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.documents import pages
from tests.house.sources import ROOT


def printed(example: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [
        sys.executable,
        "-W",
        "error",
        "-W",
        "default::UserWarning",
        str(ROOT / "examples" / "bridges" / f"{example}.py"),
    ]
    ran = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def numbers(pattern: str, text: str) -> list[float]:
    """The numbers in the places of `#`."""
    match = re.search(re.escape(pattern).replace(r"\#", r"(-?[\d.]+(?:e[+-]?\d+)?)"), text)
    assert match, text
    return [float(x) for x in match.groups()]


def test_optimal_control_in_casadi(tmp_path: Path) -> None:
    output = printed("swing_up_casadi", tmp_path)
    torque, limit = numbers("largest torque # of # N m", output)
    assert torque <= limit * 1.0001
    assert numbers("agree within # N m", output)[0] < 1e-9
    assert numbers("arrives within # deg", output)[0] < 1.0


def test_a_training_in_jax(tmp_path: Path) -> None:
    output = printed("friction_jax", tmp_path)
    first, last, before, after, _ = numbers(
        "loss # -> #; largest error of a friction parameter # -> # of #", output
    )
    assert last < 1e-4 * first
    assert after < 0.1 * before


def test_a_training_in_pytorch(tmp_path: Path) -> None:
    output = printed("payload_torch", tmp_path)
    first, last = numbers("loss # -> #", output)
    assert last < 0.1 * first
    mass, true, off = numbers("mass # of # kg, centre off by # mm", output)
    assert abs(mass - true) < 0.02
    assert off < 3.0


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")
def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert pages.run(ROOT / "docs" / "bridges.md", expensive=True) >= 4

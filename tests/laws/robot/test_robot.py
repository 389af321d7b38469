"""Robots: pickling, pictures and the process they live in."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy


def test_base_parameters_are_printed_in_columns(example_robots: Path) -> None:
    base = sy.base_parameters(sy.load(example_robots / "ur_description/urdf/ur5_robot.urdf"))
    assert len({len(name) for name in base.names}) > 1
    rows = str(base).splitlines()[1:-1]
    assert (
        len(
            {
                row.index(text, 2 + len(name))
                for row, name, text in zip(rows, base.names, base.expressions, strict=True)
            }
        )
        == 1
    )


@pytest.mark.parametrize("name", sy.robots(installed=False))
def test_a_tree_that_was_sent_to_another_process_is_the_same(name: str) -> None:
    tree = sy.load(name).tree
    there = pickle.loads(pickle.dumps(tree))
    for field in fields(tree):
        assert getattr(there, field.name) == getattr(tree, field.name), field.name
    closed = replace(tree, rows=(0, 1), independent=(0,))
    assert pickle.loads(pickle.dumps(closed)).independent == (0,)


@pytest.mark.parametrize(
    "sigma", [-1.0, 0.0, [0.1, -0.1], [0.1, np.inf], [0.1, np.nan], [0.1, 0.1, 0.1]]
)
def test_noise_of_static_poses_is_positive_at_every_joint(sigma: object) -> None:
    with pytest.raises(sy.CallError, match="sigma"):
        sy.static_poses(sy.load("planar_2r"), sigma=sigma)  # type: ignore[arg-type]


def test_a_name_that_the_output_cannot_write_is_written_in_ascii(
    root: Path, tmp_path: Path
) -> None:
    text = (
        (root / "src/steelyard/mechanism/robots/planar_2r.toml")
        .read_text(encoding="utf-8")
        .replace("joint1", "h\u00fcfte")
    )
    (tmp_path / "arm.toml").write_text(text, encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(root / "src"),
        "PYTHONIOENCODING": "ascii",
        "PYTHONUTF8": "0",
    }
    command = [sys.executable, "-m", "steelyard", "info", str(tmp_path / "arm.toml")]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"h\\xfcfte" in done.stdout


def test_the_heat_of_viscous_friction_alone_is_in_the_books() -> None:
    """No joint can stick, and no rotor turns: friction is all that the joints have."""
    run = sy.simulate(sy.load("planar_2r").with_friction(viscous=5.0), q0=[0.5, 0.0], seconds=1.0)
    assert run.heat[-1] > 1.0
    assert run.drift < 1e-6

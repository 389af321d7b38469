"""Command line: answers of single commands."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from steelyard.apps.cli import app


@pytest.mark.parametrize("name", ["pd", "computed-torque", "feedforward", "slotine-li"])
def test_every_controller_can_be_typed(name: str) -> None:
    asked = [
        "simulate",
        "planar_2r",
        "--to",
        "0.2,0.1",
        "--controller",
        name,
        "--kp",
        "100",
        "--kd",
        "20",
        "--seconds",
        "1",
    ]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output

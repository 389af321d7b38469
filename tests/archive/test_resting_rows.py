"""Rows of resting joints in many logs: left out of every fold as in one identification."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.out_of_core.out_of_core_thresholds import THRESHOLDS
from steelyard.signals import to_npz
from tests.laws.identification.selection.dwelling import dwelling_log


def test_every_log_is_folded_without_the_rows_of_resting_joints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(THRESHOLDS), "bytes_in_memory", 0)
    robot = sy.load("planar_2r").with_friction(viscous=5.0, coulomb=30.0)
    logs = [dwelling_log(robot, seed=k) for k in range(3)]
    for k, log in enumerate(logs):
        to_npz(log, tmp_path / f"{k}.npz")
    usual = ("viscous", "coulomb", "offset")
    folded = sy.identify(robot, tmp_path, keep=False, friction=usual, delay=0.0)
    together = sy.identify(robot, logs, friction=usual, delay=0.0)
    assert folded.archive is not None
    assert isinstance(folded.preparation.mask, dict)
    assert set(folded.preparation.mask) == set(robot.joint_names)
    error = np.abs(folded.base_values - together.base_values)
    assert np.all(error < 0.1 * together.base_std), "rows at rest bias the friction by far more"

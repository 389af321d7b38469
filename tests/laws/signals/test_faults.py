"""Faults: details of `faults`."""

from __future__ import annotations

import numpy as np

from steelyard.signals.clean.faults import wrong_velocities
from steelyard.signals.log import Log


def test_velocities_with_holes_are_not_judged() -> None:
    t = np.arange(200) / 100.0
    q = np.sin(t)[:, None]
    wrong = Log(t=t, q=q, qd=3.0 * np.cos(t)[:, None])
    assert any("does not fit its position" in message for message in wrong_velocities(wrong))
    holes = 3.0 * np.cos(t)[:, None]
    holes[7] = np.nan
    assert list(wrong_velocities(wrong.replace(qd=holes))) == []

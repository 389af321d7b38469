"""The default against plain least squares on measured logs: held out, same samples and band.

Plain least squares (benchmarks/unseen/plain.py) shares no code with the package but the regressor.
"""

from __future__ import annotations

import pytest

from benchmarks.unseen.judge import judge
from benchmarks.unseen.real import SETS, trials

NAMES = (
    "ur10 1 to 2",
    "ur10 2 to 1",
    "tx40 coupled 1 to 2",
    "tx40 coupled 2 to 1",
    "kr300 A to B",
    "kr300 B to A",
    "double pendulum A.0",
    "double pendulum C.0",
    "simple pendulum gravity_compensation 1 to 2",
    "simple pendulum energy_shaping 2 to 1",  # the training half has a push
    "simple pendulum energy_shaping_1kg 1 to 2",
    "simple pendulum energy_shaping_1kg 2 to 1",
    "simple pendulum ilqr 1 to 2",
    "simple pendulum ilqr 2 to 1",
    "simple pendulum sac 1 to 2",
)
PICKED, BEST = 1.02, 1.10  # over the candidate of cross-validation, and over the best in hindsight


@pytest.mark.parametrize("name", NAMES)
def test_the_default_is_not_worse_than_plain_least_squares(name: str) -> None:
    folder = next(each for each in SETS if name.split()[0] in each)
    trial = next(each for each in trials((folder,)) if each.name == name)
    judgement, _ = judge(trial)
    assert not judgement.failure
    assert judgement.over_picked <= PICKED, judgement.line()
    assert judgement.over_best <= BEST, judgement.line()

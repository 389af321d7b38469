"""What many logs would cost if each were treated by itself.

Recipes in workers, and sets of logs of the uncertainty.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from steelyard.identification.out_of_core.fold_spec import FoldSpec, shared_copy
from steelyard.identification.out_of_core.out_of_core_thresholds import THRESHOLDS
from tests.archive.archives import identified, wave_log, write_logs


@pytest.fixture(autouse=True)
def every_size_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(THRESHOLDS), "bytes_in_memory", 0)


def test_neighbours_are_left_out_together_where_logs_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The estimate is the same, the uncertainty about the same."""
    logs = [wave_log(k, 300, wobble=0.3) for k in range(60)]
    one_by_one = identified(logs, executor=1)
    monkeypatch.setitem(vars(THRESHOLDS), "most_motions", 20)
    together = identified(logs, executor=1)
    np.testing.assert_allclose(together.base_values, one_by_one.base_values, rtol=1e-9, atol=1e-9)
    ratio = together.base_std / one_by_one.base_std
    assert np.all((ratio > 0.6) & (ratio < 1.6))
    assert np.any(ratio != 1.0)


def test_a_recipe_is_made_once_in_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers get a copy of it with each log, with its key, and use the first of equal ones.

    Another recipe is another.
    """
    result, plain = list[FoldSpec](), FoldSpec.of
    monkeypatch.setattr(
        FoldSpec, "of", lambda *argument: result.append(plain(*argument)) or result[-1]
    )
    identified(write_logs(tmp_path, 4, 300))
    a, b = (pickle.loads(pickle.dumps(result[0])) for _ in range(2))
    assert "identity" in a.__dict__
    assert a is not b
    assert shared_copy(a) is shared_copy(b)
    assert shared_copy(replace(a, interval=2 * a.interval)) is not shared_copy(a)

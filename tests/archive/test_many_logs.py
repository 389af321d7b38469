"""What many logs would cost if each were treated by itself: recipes in workers, and sets of logs of the uncertainty."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from steelyard.identification.archive import identify_archive, sources
from steelyard.identification.archive.recipe import Recipe, first_of_equals
from tests.archive.archives import identified, wave_log, write_logs


@pytest.fixture(autouse=True)
def every_size_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "IN_MEMORY", 0)


def test_neighbours_are_left_out_together_where_logs_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate is the same, the uncertainty about the same."""
    logs = [wave_log(k, 300, wobble=0.3) for k in range(60)]
    one_by_one = identified(logs, executor=1)
    monkeypatch.setattr(identify_archive, "MOST_MOTIONS", 20)
    together = identified(logs, executor=1)
    np.testing.assert_allclose(together.base_values, one_by_one.base_values, rtol=1e-9, atol=1e-9)
    ratio = together.base_std / one_by_one.base_std
    assert np.all((ratio > 0.6) & (ratio < 1.6))
    assert np.any(ratio != 1.0)


def test_a_recipe_is_made_once_in_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers get a copy of it with each log, with its key, and use the first of equal ones; another recipe is another."""
    made, plain = list[Recipe](), Recipe.of
    monkeypatch.setattr(Recipe, "of", lambda *given: made.append(plain(*given)) or made[-1])
    identified(write_logs(tmp_path, 4, 300))
    a, b = (pickle.loads(pickle.dumps(made[0])) for _ in range(2))
    assert "identity" in a.__dict__
    assert a is not b
    assert first_of_equals(a) is first_of_equals(b)
    assert first_of_equals(replace(a, interval=2 * a.interval)) is not first_of_equals(a)

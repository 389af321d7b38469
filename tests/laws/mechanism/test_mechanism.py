"""Mechanism: details of `mechanism`."""

from __future__ import annotations

import pytest

import steelyard as sy
from steelyard.mechanism import edit, load


def test_the_inertia_of_a_load_may_be_rounded_as_its_largest_entry_allows() -> None:
    mechanism = load("planar_2r")
    flat = [[1e-10, 1e-12, 0.0], [0.0, 1e-10, 0.0], [0.0, 0.0, 1.0]]
    assert edit.with_payload(mechanism, 1.0, (0.0, 0.0, 0.0), flat) == edit.with_payload(
        mechanism, 1.0, (0.0, 0.0, 0.0), [[1e-10, 1e-12, 0.0], [1e-12, 1e-10, 0.0], [0.0, 0.0, 1.0]]
    )
    with pytest.raises(sy.CallError, match="symmetric"):
        edit.with_payload(
            mechanism, 1.0, (0.0, 0.0, 0.0), [[1.0, 1e-6, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        )

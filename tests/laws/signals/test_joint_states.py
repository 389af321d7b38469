"""Joint states: details of `joint_states`."""

from __future__ import annotations

import numpy as np

from steelyard.experiments.online.watch import JointStates
from steelyard.signals.read.joint_states import Message, Series, on_one_clock, per_time_stamp


def test_joints_of_different_messages_are_put_on_the_clock_of_the_most() -> None:
    dense, sparse = np.linspace(0.0, 1.0, 101), np.linspace(0.0, 1.0, 11)
    series = [Series(t, np.column_stack([t, t, t])) for t in (sparse, dense)]
    t, values, remarks = on_one_clock(["a", "b"], series)
    np.testing.assert_array_equal(t, dense)
    np.testing.assert_allclose(values[:, 0, 0], dense, atol=1e-12)
    assert "a were interpolated" in remarks[0]


def states(names: tuple[str, ...], count: int) -> list[JointStates]:
    return [
        JointStates(0.01 * k, names, *(np.full(len(names), float(k)),) * 3) for k in range(count)
    ]


def test_rows_of_one_joint_each_are_joined_by_their_time() -> None:
    rows = [
        Message(t, (name,), (t + k,), (0.0,), (1.0,))
        for t in (0.0, 0.1)
        for k, name in enumerate("ab")
    ]
    joined = per_time_stamp(rows)
    assert [message.name for message in joined] == [("a", "b")] * 2
    assert [message.position for message in joined] == [(0.0, 1.0), (0.1, 1.1)]
    assert per_time_stamp(joined) == joined

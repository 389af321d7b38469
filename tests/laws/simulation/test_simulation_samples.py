"""Which samples are kept changes nothing of the run: many steps in one call are as many steps."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy
from steelyard.motion import point_to_point
from steelyard.simulation import PD, SlotineLi

N = 3
CONTROLLERS = {
    "nothing": None,
    "torques that stay": [1.0, -2.0, 0.5],
    "torques of every step": np.sin(np.arange(69)[:, None] * 0.3 + np.arange(N)),
    "a position to hold": PD(np.full(N, 0.3), 20.0, 2.0),
    "a motion to follow": PD(
        point_to_point(np.zeros(N), np.full(N, 0.4), velocity=1.0, acceleration=4.0), 20.0, 2.0
    ),
    "a controller that learns": SlotineLi(np.full(N, 0.3), 5.0, 2.0, 0.5),
    "a function": lambda t, q, qd: -q - qd + t,
}


@pytest.mark.parametrize("what", CONTROLLERS)
def test_samples_of_few_and_of_many_steps_are_the_same(what: str) -> None:
    robot, q0 = sy.load("spatial_3r"), np.linspace(-1, 1, 5 * N).reshape(5, N)
    messages: list[float] = []
    options: dict = {"seconds": 0.069, "saturate": True}
    dense = sy.simulate(robot, CONTROLLERS[what], q0, **options)
    for every, progress in ((10, None), (7, messages.append), (100, None)):
        run = sy.simulate(robot, CONTROLLERS[what], q0, every=every, progress=progress, **options)
        point = [*range(0, 69, every), 69]
        for name in ("t", "q", "qd", "tau", "work", "heat"):
            all_of, some = getattr(dense, name), getattr(run, name)
            axis = 0 if name == "t" else 1
            np.testing.assert_array_equal(
                some, np.take(all_of, point, axis), err_msg=f"{name} of every {every}"
            )
    assert messages == sorted(messages)
    assert messages[-1] == 1.0

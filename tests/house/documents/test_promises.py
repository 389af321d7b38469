"""What docs/guarantees.md promises.

Results that repeat to the bit, robots that threads share, generators that are left alone.
"""

from __future__ import annotations

import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import steelyard as sy


def identified(seed: int) -> sy.Fit:
    robot = sy.load("planar_2r").with_friction(viscous=1.0, coulomb=0.5)
    motion = sy.excite(robot, seconds=4, harmonics=3, candidates=2, seed=seed)
    return sy.identify(
        robot, sy.record(sy.perturbed(robot, seed), motion, rate=100, seed=seed), diagnose=False
    )


def test_a_seed_gives_the_same_bits_and_another_one_does_not() -> None:
    first, again, other = identified(3), identified(3), identified(4)
    np.testing.assert_array_equal(first.parameters, again.parameters)
    np.testing.assert_array_equal(first.covariance, again.covariance)
    np.testing.assert_array_equal(first.predicted, again.predicted)
    assert not np.array_equal(first.parameters, other.parameters)


def test_the_global_generators_are_neither_read_nor_changed() -> None:
    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    state, selected = np.random.get_state(), random.getstate()  # noqa: NPY002
    first = identified(3)
    assert random.getstate() == selected
    np.testing.assert_array_equal(np.random.get_state()[1], state[1])  # noqa: NPY002
    np.random.seed(6)  # noqa: NPY002
    random.seed(6)
    np.testing.assert_array_equal(identified(3).parameters, first.parameters)


def test_threads_share_a_robot_and_their_number_changes_no_bit(rng: np.random.Generator) -> None:
    robot = sy.load("elbow_6r")
    q, qd, qdd = rng.normal(size=(3, 20_000, 6))
    with sy.threads(1):
        alone = robot.inverse_dynamics(q, qd, qdd)
    with sy.threads(2):
        np.testing.assert_array_equal(robot.inverse_dynamics(q, qd, qdd), alone)
    with ThreadPoolExecutor(4) as pool:
        parts = pool.map(robot.inverse_dynamics, *(np.array_split(x, 16) for x in (q, qd, qdd)))
    np.testing.assert_array_equal(np.concatenate(list(parts)), alone)


def test_results_can_be_pickled() -> None:
    fit = identified(3)
    back = pickle.loads(pickle.dumps(fit))
    np.testing.assert_array_equal(back.parameters, fit.parameters)
    assert back.verdict.word == fit.verdict.word

"""Changes of a robot at work.

A load, friction; when, how much and where; and how often nothing is taken for something.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.experiments.online.change import (
    friction_limits,
    friction_size,
    least_squares_size,
    load_limits,
)
from steelyard.experiments.online.change_detection import detection_thresholds, typical_size
from steelyard.experiments.online.estimate import with_description
from steelyard.experiments.online.online_thresholds import THRESHOLDS
from steelyard.identification.model.accumulator import Accumulator
from steelyard.identification.model.joint_gram import JointGram
from steelyard.simulation.controllers.joint_space import parameter_sizes
from tests.lugre_arm import described
from tests.motions import coloured, fourier

Array = NDArray[np.float64]
RATE, LEARN, SECONDS = 100.0, 20.0, 40.0
NOISE = np.array([0.4, 0.6, 0.3])  # [N m]


@cache
def robot() -> sy.Robot:
    return (
        sy.load("spatial_3r").with_friction(viscous=1.0, coulomb=0.8, offset=0.2).with_rotors(0.1)
    )


@cache
def motion() -> tuple[Array, ...]:
    return fourier(3, SECONDS, RATE, 4, base=0.08, harmonics=6, size=0.5)


def torque(
    after: sy.Robot, at: float, seed: int = 0, until: float = np.inf, rho: float = 0.6
) -> Array:
    """The torque of the robot, of another one between two times [s], with correlated
    noise.
    """
    t, q, qd, qdd = motion()
    tau = [r.inverse_dynamics(q, qd, qdd) for r in (robot(), after)]
    changed = ((t >= at) & (t < until))[:, None]
    return np.where(changed, tau[1], tau[0]) + NOISE * coloured(
        q.shape, rho, np.random.default_rng(seed)
    )


def watching(
    tau: Array, portion: int = 500, accelerations: bool = True, **options: float
) -> tuple[sy.OnlineIdentifier, list[str]]:
    _, q, qd, qdd = motion()
    o = sy.OnlineIdentifier(robot(), rate=RATE, **{"learn": LEARN, **options})
    said = []
    for k in range(0, len(q), portion):
        part = slice(k, k + portion)
        found = o.update(q[part], qd[part], qdd[part] if accelerations else None, tau[part])
        said += [] if found is None else [str(found)]
    return o, said


@pytest.mark.parametrize("accelerations", [True, False])
def test_a_load_is_noticed_and_weighed(accelerations: bool) -> None:
    o, said = watching(
        torque(robot().with_payload(1.0, com=(0.1, 0.0, 0.05)), 27.0), accelerations=accelerations
    )
    change = o.change
    assert change is not None
    assert (change.kind, change.where, len(said)) == ("load", robot().body_names[-1], 1)
    assert 26.9 < change.begun < 27.2
    assert 27.0 <= change.noticed < 27.3
    assert abs(change.values[0] - 1.0) < 4.0 * change.std[0] < 0.5
    assert "picked up" in str(change)
    assert str(change) == o.status


def test_friction_that_grows_is_told_from_a_load() -> None:
    o, _ = watching(
        torque(robot().with_friction(viscous=1.0, coulomb=[0.8, 2.6, 0.8], offset=0.2), 30.0)
    )
    change = o.change
    assert change is not None
    assert (change.kind, change.joints) == ("friction", (robot().joint_names[1],))
    assert 29.8 < change.begun < 31.0
    assert 1.2 < change.torque < 2.4
    assert f"friction of {robot().joint_names[1]}" in str(change)


def test_nothing_is_noticed_where_nothing_changes() -> None:
    for seed in range(3):
        o, said = watching(torque(robot(), 0.0, seed))
        assert o.change is None
        assert not said
        assert o.status.startswith("Monitoring")


def test_portions_make_no_difference_to_what_is_noticed() -> None:
    tau = torque(robot().with_payload(0.5, com=(0.1, 0.0, 0.0)), 27.0)
    changes = [watching(tau, portion)[0].change for portion in (37, 500, 4000)]
    noticed = {round(change.noticed, 9) for change in changes if change is not None}
    assert all(change is not None for change in changes)
    assert len(noticed) == 1
    _, q, qd, qdd = motion()
    o = sy.OnlineIdentifier(robot(), rate=RATE, learn=LEARN)
    o.update(*(x[:2600] for x in (q, qd, qdd, tau)))
    single = [o.update(q[k], qd[k], qdd[k], tau[k]) for k in range(2600, 2900)]
    assert [round(c.noticed, 9) for c in single if c is not None] == list(noticed)


def test_a_load_that_is_put_down_again_is_noticed_after_rearming() -> None:
    tau = torque(robot().with_payload(1.0, com=(0.1, 0.0, 0.05)), 25.0, until=35.0)
    _, q, qd, qdd = motion()
    o = sy.OnlineIdentifier(robot(), rate=RATE, learn=LEARN)
    signs = []
    for k in range(0, len(q), 50):
        part = slice(k, k + 50)
        o.update(q[part], qd[part], qdd[part], tau[part])
        if o.change is not None and o.samples / RATE > o.change.noticed + 2.0:
            signs.append((np.sign(o.change.values[0]), round(o.change.begun)))
            o.rearm()
            assert o.change is None
    assert signs == [(1.0, 25), (-1.0, 35)]


def test_false_alarms_come_no_more_often_than_is_said() -> None:
    """Watched for a hundred times the time between false alarms, no more than that many come.

    The sum over looks is a bound.
    """
    hours, alarms, watched = 1.0 / 3600.0, 0, 0.0
    for seed in range(5):
        tau = torque(robot(), 0.0, seed)
        _, q, qd, qdd = motion()
        o = sy.OnlineIdentifier(robot(), rate=RATE, learn=LEARN, hours=hours)
        for k in range(0, len(q), 100):
            part = slice(k, k + 100)
            alarms += o.update(q[part], qd[part], qdd[part], tau[part]) is not None
            o.rearm()
        watched += SECONDS - LEARN
    assert alarms <= watched


def test_thresholds_are_quantiles() -> None:
    """Halving the time between false alarms lowers them, few windows raise them, and many give
    those of chi squared.
    """
    from scipy.stats import chi2

    d = np.array([3.0, 4.0])
    np.testing.assert_allclose(detection_thresholds(d, 1e9, 1e6), chi2.isf(1e-6, d), rtol=1e-6)
    assert np.all(detection_thresholds(d, 20.0, 1e6) > detection_thresholds(d, 200.0, 1e6))
    assert np.all(detection_thresholds(d, 20.0, 1e6) > detection_thresholds(d, 20.0, 1e3))


def test_before_it_is_learnt_nothing_is_watched() -> None:
    _, q, qd, qdd = motion()
    o = sy.OnlineIdentifier(robot(), rate=RATE, learn=LEARN)
    o.update(q[:100], qd[:100], qdd[:100], torque(robot(), 0.0)[:100])
    assert o.status == "Learning the robot: 100 of 2000 samples."
    assert o.change is None
    o.rearm()
    never = sy.OnlineIdentifier(robot(), learn=0)
    assert "not looked for" in never.status
    assert never.change is None


def test_windows_are_predicted_from_the_other_parts() -> None:
    _, q, qd, qdd = motion()
    o = sy.OnlineIdentifier(robot(), rate=RATE, learn=LEARN)
    o.update(q[:2000], qd[:2000], qdd[:2000], torque(robot(), 0.0)[:2000])
    counts = []

    def estimate(total: Accumulator) -> Array:
        counts.append(total.counts[0])
        return o.base_values

    o._watch.detector.spread(estimate)  # type: ignore[union-attr]
    assert (
        counts
        == [2000.0 * (THRESHOLDS.learning_folds - 1) / THRESHOLDS.learning_folds]
        * THRESHOLDS.learning_folds
    )


def test_the_largest_window_counts() -> None:
    """A normal distribution has its standard deviation.

    One in a hundred that is far off counts as the largest of a normal one.
    """
    z = np.random.default_rng(0).normal(size=(1000, 3))
    np.testing.assert_allclose(typical_size(z), 1.0, rtol=0.25)
    z[17, 1] = 30.0
    assert typical_size(z)[1] > 8.0
    assert not typical_size(np.zeros((0, 2))).any()


def test_what_no_sample_shows_is_as_described() -> None:
    model = sy.OnlineIdentifier(robot()).model
    base, covariance = with_description(
        model,
        Accumulator.empty(model.reach, model.base.n_base),
        np.zeros((0, model.base.n_base + 1)),
        np.ones(3),
    )
    np.testing.assert_allclose(base, model.base.values(model.start), atol=1e-9)
    sizes = THRESHOLDS.prior_spread * np.array(parameter_sizes(model.robot.tree))
    np.testing.assert_allclose(np.diag(covariance), (model.base.matrix**2) @ sizes**2, rtol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_collinear_friction_terms_stay_within_the_torque_that_changed(seed: int) -> None:
    """At a nearly constant speed friction terms are collinear.

    Those of least squares cancel, and reach 142 N m s/rad.
    """
    rng = np.random.default_rng(seed)
    qd = 0.7 + 1e-3 * rng.normal(size=80)
    Z = np.column_stack([qd, np.tanh(qd / 0.2), np.ones(80)])
    e = 5.0 + 2.0 * rng.normal(size=80)
    rows = 0.5 * np.column_stack([Z, e])
    gram, modes = JointGram.fold(3, (np.arange(3),), [rows], np.full(1, 80.0)), np.zeros((3, 1))
    plain = least_squares_size(gram, modes)[0]
    values, covariance = friction_size(gram, modes)
    assert np.max(np.abs(plain)) > 15.0
    assert np.max(np.abs(values)) < 5.0
    np.testing.assert_allclose(np.sqrt(np.mean((Z @ values) ** 2)), 5.0, rtol=0.15)
    assert np.all(np.sqrt(np.diag(covariance)) > 1.0)


@pytest.mark.parametrize(("size", "kind"), [(8.0, "friction"), (120.0, "unexplained")])
def test_friction_beyond_the_effort_limit_is_unexplained(size: float, kind: str) -> None:
    """The elbow's drive has 60 N m: a Coulomb friction of 120 N m is none."""
    arm = described().with_friction(viscous=1.0, coulomb=0.8, offset=0.2)
    t, q, qd, qdd = fourier(2, 30.0, RATE, 4, base=0.08, harmonics=6, size=0.5)
    tau = arm.inverse_dynamics(q, qd, qdd) + 0.3 * np.random.default_rng(0).normal(size=q.shape)
    tau[t >= 25.0, 1] += size * np.sign(qd[t >= 25.0, 1])
    o = sy.OnlineIdentifier(arm, rate=RATE, learn=LEARN)
    o.update(q, qd, qdd, tau)
    change = o.change
    assert change is not None
    assert (change.kind, change.where) == (kind, "elbow")
    assert ("no possible load or friction explains it" in str(change)) == (kind == "unexplained")


def test_what_a_joint_and_an_arm_can_have() -> None:
    tree = described().tree
    np.testing.assert_allclose(friction_limits(tree, 1, ("Fv", "Fc", "F0")), [15.0, 60.0, 60.0])
    assert load_limits([1.0, 2.0, -1.0], ("m", "mcx")).tolist() == [3.0, np.inf]

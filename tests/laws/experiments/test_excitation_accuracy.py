"""What a motion promises.

Predicted standard deviations against simulated recordings, priors, recordings that are there,
targets.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.experiments.excitation.criteria import largest_ratio
from steelyard.experiments.excitation.expected_accuracy import RegionOfUse, covariance_of, targets
from steelyard.experiments.excitation.information import FisherInformation
from steelyard.experiments.excitation.prior import Prior, known_information
from steelyard.experiments.excitation.shortest import shortest_time
from steelyard.motion.trajectories.bspline import BSplineBasis
from steelyard.motion.trajectories.limits import motion_limits

ROBOT = sy.load("spatial_3r")
NOISE = [2.0, 1.0, 0.2]


@cache
def motion() -> sy.Trajectory:
    return sy.excite(
        ROBOT,
        5.0,
        3,
        candidates=5,
        noise=NOISE,
        rate=50.0,
        collision="none",
        speed=1.0,
        acceleration=np.inf,
        ground=None,
    )


def accuracy(result: sy.Trajectory) -> Any:
    assert result.excitation is not None
    assert result.excitation.accuracy is not None
    return result.excitation.accuracy


def test_predicted_deviations_are_those_of_simulated_recordings(rng: np.random.Generator) -> None:
    """Least squares on a thousand recordings with white noise."""
    outcome, result = motion(), accuracy(motion())
    whole = ROBOT.with_joint_terms(("armature", "viscous", "coulomb", "offset"))
    base = sy.base_parameters(whole)
    t = np.arange(250) / 50.0
    states = outcome.motion(t)
    W = np.tile(1 / np.array(NOISE), 250)
    Y = whole.regressor(*states)[..., list(base.columns)].reshape(-1, base.n_base) * W[:, None]
    values = base.values(whole.parameters)
    recorded = Y @ values + rng.normal(size=(4000, len(Y)))
    fitted = np.linalg.lstsq(Y, recorded.T, rcond=None)[0].T
    np.testing.assert_allclose(fitted.std(axis=0), result.std, rtol=0.1)
    assert outcome.excitation is not None
    np.testing.assert_array_equal(outcome.excitation.sigma, result.std)
    Z = RegionOfUse.of(FisherInformation.of(ROBOT), motion_limits(ROBOT, 0.9)).rows
    spread = np.sqrt(np.mean(np.var(np.einsum("tja,ka->ktj", Z, fitted), axis=0), axis=0))
    np.testing.assert_allclose(spread, result.torque_std, rtol=0.05)


def test_tables_have_a_row_for_each_parameter_and_joint() -> None:
    result = accuracy(motion())
    text = str(result)
    for name in (*result.names, *result.joint_names):
        assert name in text
    assert "the stated level" in text
    alone = result.parameter_names.index("link3.mcx")
    assert result.parameters_std[alone] == result.std[result.names.index("link3.mcx")]
    assert np.isinf(result.parameters_std[result.parameter_names.index("link2.m")])


def test_a_prior_and_a_motion_tell_together_what_all_parameters_say() -> None:
    """Against the whole problem: prior and log of all parameters in one information matrix."""
    information = FisherInformation.of(ROBOT, np.array(NOISE), samples=100.0)
    prior = Prior.of(information, 0.3)
    q, qd, qdd = motion().motion(np.linspace(0, 5, 100, endpoint=False))
    Y = (information.robot.regressor(q, qd, qdd) / np.array(NOISE)[:, None]).reshape(
        -1, len(information.base.parameter_names)
    )
    whole = np.linalg.inv(np.linalg.inv(prior.covariance) + Y.T @ Y)
    B = information.base.matrix
    after = covariance_of(information.gram((q, qd, qdd)) + prior.information)
    np.testing.assert_allclose(after, B @ whole @ B.T, rtol=1e-5, atol=1e-9 * np.abs(after).max())
    np.testing.assert_allclose(prior.physical_std(after), np.sqrt(np.diag(whole)), rtol=1e-5)
    c, remaining = prior.seen(10)
    assert remaining + c @ after @ c == pytest.approx(whole[10, 10], rel=1e-6)


def test_a_recording_that_is_there_counts_as_much_as_it_tells(rng: np.random.Generator) -> None:
    moving = ROBOT.with_friction(viscous=0.5, coulomb=0.5)
    t = np.arange(2500) / 500.0
    q, qd, qdd = motion().motion(t)
    tau = moving.inverse_dynamics(q, qd, qdd) + rng.normal(size=q.shape) * NOISE
    log = sy.Log(t=t, q=q, qd=qd, qdd=qdd, tau=tau, joint_names=ROBOT.joint_names)
    information = FisherInformation.of(ROBOT, np.array(NOISE))
    known = known_information(information, sy.identify(information.robot, log, estimator="wls"))
    expected = information.gram((q, qd, qdd))
    ratio = np.sqrt(np.diag(np.linalg.inv(known)) / np.diag(np.linalg.inv(expected)))
    assert 0.8 < np.median(ratio) < 2.0, (
        "the fit's own variances, which allow for what five seconds can hide"
    )
    again = sy.excite(
        ROBOT, 5.0, 3, candidates=5, noise=NOISE, rate=50.0, log=log, collision="none"
    )
    assert np.all(accuracy(again).std < accuracy(motion()).std)


def test_what_a_log_lacks_is_what_a_motion_adds() -> None:
    """The first joint was recorded a hundred times.

    The motion chosen for the rest differs, and is better for it.
    """
    information = FisherInformation.of(ROBOT, np.array(NOISE))
    parts = information.gram(motion().motion(np.linspace(0, 5, 250)))
    target = targets(
        information,
        RegionOfUse.of(information, motion_limits(ROBOT, 0.9)),
        {"link3.mcx": 0.01},
        None,
    )
    assert target is not None
    assert target.ratios(parts)[0] == pytest.approx(
        np.sqrt(np.linalg.inv(parts)[8, 8]) / (0.01 * 1.05), rel=1e-6
    )
    assert information.base.names[8] == "link3.mcx"
    assert target.ratios(4 * parts)[0] == pytest.approx(target.ratios(parts)[0] / 2)


def test_the_criterion_of_targets_has_the_derivative_of_finite_differences(
    rng: np.random.Generator,
) -> None:
    half, roots, d = rng.normal(size=(6, 12)), rng.normal(size=(3, 6, 2)), rng.normal(size=(6, 6))
    A, M, d = half @ half.T, roots @ roots.transpose(0, 2, 1), d + d.T
    criterion = largest_ratio(M)
    value, F = criterion.gradient(A, np.ones(6))
    change = (
        criterion.value(A + 1e-6 * d, np.ones(6)) - criterion.value(A - 1e-6 * d, np.ones(6))
    ) / 2e-6
    assert np.sum(F * d) == pytest.approx(change, rel=1e-6)
    v = np.einsum("ab,kba->k", np.linalg.inv(A), M)
    assert value == pytest.approx(-6 * np.log(np.mean(v**4) ** 0.25))


@pytest.mark.parametrize("power", [0.5, 1.5])
def test_the_shortest_time_is_found(power: float) -> None:
    tried: list[float] = []

    def ratio(time: float) -> tuple[float, str]:
        tried.append(time)
        return (47.0 / time) ** power, "x"

    result = shortest_time(ratio, 600.0)
    assert 47.0 <= result <= 47.0 * 1.07
    assert len(tried) <= 10
    with pytest.raises(sy.ProblemError, match=r"x cannot be reached in 30 s.*would take about"):
        shortest_time(ratio, 30.0)


def test_a_target_is_reached() -> None:
    robot = sy.load("planar_2r")
    trajectory = sy.excite(
        robot,
        starts=1,
        torque_accuracy=0.01,
        harmonics=2,
        collision="none",
        region={"joint2": (-1.0, 1.0)},
    )
    assert np.all(accuracy(trajectory).torque_relative_std <= 0.01)
    assert trajectory.duration < 60


def test_splines_are_at_rest_and_within_their_bounds(rng: np.random.Generator) -> None:
    basis = BSplineBasis(7, 0.2)
    x = rng.normal(size=(3, basis.size))
    trajectory = basis.motion(x)
    t = np.linspace(0, 5, 20_001)
    q, qd, qdd = trajectory(t)
    for rows, expected in zip(
        basis.rows(t[:50]), (*trajectory(t[:50]), trajectory.jerk(t[:50])), strict=True
    ):
        np.testing.assert_allclose(rows @ x.T, expected, atol=1e-9)
    np.testing.assert_allclose(basis.coefficients(trajectory), x)
    for end in (0.0, 5.0, 10.0):
        state = trajectory(end)
        np.testing.assert_allclose(state.q, x[:, 0])
        np.testing.assert_allclose([state.qd, state.qdd], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.gradient(q, t, axis=0)[2:-2], qd[2:-2], atol=1e-5)
    np.testing.assert_allclose(
        np.gradient(qdd, t, axis=0)[2:-2],
        trajectory.jerk(t)[2:-2],
        atol=1e-3 * np.abs(trajectory.jerk(t)).max(),
    )
    for fine, wide in ((True, 0.003), (False, 0.05)):
        b = trajectory.bounds(fine)
        span = np.ptp(q, axis=0)
        assert np.all((b.lower <= q.min(0) + 1e-12) & (b.lower >= q.min(0) - wide * span))
        assert np.all((b.upper >= q.max(0) - 1e-12) & (b.upper <= q.max(0) + wide * span))
        for bound, rate in ((b.velocity, qd), (b.acceleration, qdd), (b.jerk, trajectory.jerk(t))):
            assert np.all(bound >= np.abs(rate).max(0) * (1 - 1e-9))
            assert np.all(bound <= np.abs(rate).max(0) * (1 + wide))


def test_splines_are_optimised_within_limits() -> None:
    trajectory = sy.excite(
        ROBOT,
        5.0,
        4,
        basis="bspline",
        starts=1,
        acceleration=6.0,
        jerk=60.0,
        effort=[40.0, 90.0, 40.0],
    )
    assert trajectory.excitation is not None
    assert trajectory.excitation.certificate is not None
    assert trajectory.excitation.certificate.holds
    fine = trajectory.sample(2000)
    assert np.abs(fine.qdd).max() <= 0.9 * 6.0
    np.testing.assert_allclose([fine.qd[0], fine.qdd[0], fine.qd[-1], fine.qdd[-1]], 0.0, atol=1e-9)


def test_payload_and_mounting_are_those_of_the_robot() -> None:
    options: Any = {"seconds": 5.0, "harmonics": 3, "candidates": 2, "collision": "none"}
    by_options = sy.excite(ROBOT, **options, payload=[2.0, 0.0, 0.0, 0.1], gravity=[0.0, 9.81, 0.0])
    by_robot = sy.excite(
        ROBOT.with_gravity((0.0, 9.81, 0.0)).with_payload(2.0, (0.0, 0.0, 0.1)), **options
    )
    np.testing.assert_array_equal(by_options.q, by_robot.q)
    assert by_options.excitation is not None
    assert by_robot.excitation is not None
    assert by_options.excitation.log_det == by_robot.excitation.log_det


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"accuracy": {"link1.m": 0.01}},
            "no motion identifies link1.m, torques do not depend on it",
        ),
        ({"accuracy": {"link2.m": 0.01}}, "link2.m by itself, only within.*m2"),
        (
            {"accuracy": {"link3.mx": 0.01}},
            "no parameter is called 'link3.mx'; did you mean 'link3.mcx'",
        ),
        ({"accuracy": {"joint1.Fv": 0.01}}, "joint1.Fv is 0"),
        ({"accuracy": {"link3.mcx": -1.0}}, "positive fraction"),
        (
            {"accuracy": {"link3.m": 1e-4}, "prior": 0.2},
            "link3.m cannot be known to 0.01 %, however long",
        ),
        ({"torque_accuracy": 0.0}, "torque_accuracy = 0.0"),
        ({"torque_accuracy": 1e-5, "seconds": 5.0}, "cannot be reached in 5 s"),
        ({"region": {"elbow": (0, 1)}}, "region: no joint is called 'elbow'"),
        ({"region": {"joint1": (1, 0)}}, "region.*the lower first"),
        ({"prior": 0.0}, "prior = 0.0"),
        ({"torque_accuracy": 0.01, "candidates": 3}, "leave candidates out"),
        ({"basis": "chebyshev"}, "basis = 'chebyshev'.*fourier"),
        ({"fit": "fit.json"}, "fit = str; expected what sy.identify returns"),
    ],
)
def test_bad_calls(options: dict[str, object], message: str) -> None:
    with pytest.raises(sy.SteelyardError, match=message):
        sy.excite(ROBOT, harmonics=3, starts=1, **options)  # type: ignore[arg-type]

"""The verdict: every threshold that decides a word decides it where it stands, and not at twice or
half of that.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.doctor.finding import Finding
from steelyard.identification.result.collect_inputs import excitation_inputs, mass_inputs
from steelyard.identification.result.verdict import WORDS, ValidationErrors, Verdict, decide
from tests.motions import recorded
from tests.verdicts import errors


@pytest.fixture(scope="module")
def fit() -> sy.Fit:
    robot = sy.load("spatial_3r")
    return sy.identify(robot, recorded(sy.perturbed(robot, 1, 0.05), noise=0.01))


def judged(fit: sy.Fit, others: tuple[ValidationErrors, ...] = (), **changes: object) -> Verdict:
    """The verdict with groups of its inputs replaced, or some of their fields."""
    inputs = fit.verdict_inputs
    for name, change in changes.items():
        new = replace(getattr(inputs, name), **change) if isinstance(change, dict) else change
        inputs = replace(inputs, **{name: new})
    return decide(inputs, others)


def expecting(
    within: float, anywhere: float | None = None, worst_part: float = 0.0
) -> dict[str, object]:
    """Expected errors within the region, on average too, and anywhere; no part of the log is
    worse.
    """
    values = {"within": within, "mean": within, "anywhere": anywhere or within}
    return {"errors": values | {"worst_part": worst_part}}


def test_a_good_log_of_a_good_robot_is_trusted(fit: sy.Fit) -> None:
    assert fit.verdict.word == "trusted"
    assert fit.verdict.trusted
    assert fit.verdict.error < 0.05
    assert str(fit.verdict).startswith("Trusted")
    assert fit.check() == (str(fit.verdict), *fit.verdict.reasons)
    assert fit.region.share >= 0.8
    assert set(WORDS) >= {fit.verdict.word}


@pytest.mark.parametrize(
    ("within", "word"),
    [
        (0.07, "trusted"),
        (0.14, "trusted within"),
        (0.18, "trusted within"),
        (0.35, "doubtful"),
        (0.36, "doubtful"),
        (0.7, "refused"),
    ],
)
def test_the_expected_error_decides(fit: sy.Fit, within: float, word: str) -> None:
    """GOOD 0.1, POOR 0.25, USELESS 0.5."""
    assert judged(fit, **expecting(within)).word == word


def test_the_average_error_decides_and_the_largest_is_stated(fit: sy.Fit) -> None:
    judgement = judged(fit, errors={"within": 0.4, "mean": 0.07, "anywhere": 0.4, "worst_part": 0})
    assert (judgement.word, judgement.error) == ("trusted", 0.4)


@pytest.mark.parametrize(("anywhere", "word"), [(0.028, "trusted"), (0.042, "trusted within")])
def test_the_error_elsewhere_decides_whether_it_holds_there(
    fit: sy.Fit, anywhere: float, word: str
) -> None:
    """ALIKE 1.5: 1.4 and 2.1 times the 0.02 within the region."""
    assert judged(fit, **expecting(0.02, anywhere)).word == word


@pytest.mark.parametrize(("worst", "word"), [(0.028, "trusted"), (0.057, "trusted within")])
def test_an_uneven_log_does_not_speak_for_elsewhere(fit: sy.Fit, worst: float, word: str) -> None:
    """UNEVEN 2."""
    assert judged(fit, **expecting(0.02, worst_part=worst)).word == word


@pytest.mark.parametrize(("probability", "word"), [(0.36, "trusted"), (0.7, "doubtful")])
def test_a_likely_fault_makes_it_doubtful(fit: sy.Fit, probability: float, word: str) -> None:
    """LIKELY 0.5."""
    finding = Finding(
        "delay", ("joint1",), "The torque of joint1 is late.", probability, "delay = 0.02"
    )
    judgement = judged(fit, log={"findings": (finding,)})
    assert judgement.word == word
    assert any("joint1 is late" in reason for reason in judgement.reasons)
    assert judgement.findings == (finding,)


def test_a_remark_does_not(fit: sy.Fit) -> None:
    judgement = judged(
        fit, log={"findings": (Finding("jitter", (), "Stamps jitter.", 1.0, severity="remark"),)}
    )
    assert judgement.word == "trusted"
    assert "Stamps jitter." in judgement.reasons


@pytest.mark.parametrize(("factor", "word"), [(1.4, "trusted"), (2.8, "doubtful")])
def test_an_error_inside_the_region_on_another_log_must_be_as_expected(
    fit: sy.Fit, factor: float, word: str
) -> None:
    """BROKEN 2."""
    assert judged(fit, (errors(0.02 * factor, None),), **expecting(0.02)).word == word


@pytest.mark.parametrize(
    ("outside", "word"),
    [(0.028, "trusted"), (0.042, "trusted within"), (0.09, "doubtful"), (0.7, "refused")],
)
def test_an_error_outside_the_region_limits_the_fit_or_contradicts_it(
    fit: sy.Fit, outside: float, word: str
) -> None:
    """ALIKE 1.5 times the 0.02 expected within, BROKEN 2 times the 0.03 expected anywhere, USELESS
    0.5.
    """
    judgement = judged(fit, (errors(None, outside),), **expecting(0.02, 0.03))
    assert judgement.word == word
    assert judgement.error == (np.inf if word == "refused" else 0.02), (
        "what is measured outside says nothing about inside"
    )
    assert judgement.outside_error == pytest.approx(outside)


def test_torques_times_minus_three_refuse_it(fit: sy.Fit) -> None:
    for others in (errors(1.33, None), errors(None, 1.33), errors(1.33, 0.01)):
        judgement = judged(fit, (others,))
        assert judgement.word == "refused"
        assert judgement.error == np.inf
        assert "133" in judgement.reasons[0]


def test_a_joint_without_a_sample_in_use_is_not_trusted() -> None:
    robot = sy.load("spatial_3r")
    fit = sy.identify(
        robot, recorded(sy.perturbed(robot, 1, 0.05), noise=0.01), mask={"joint1": 1e3}
    )
    assert fit.verdict.word == "doubtful"
    assert "No sample of joint1 is in use" in " ".join(fit.verdict.reasons)
    for values in (fit.rms, fit.relative_error, fit.r2, fit.before.relative_error):
        assert np.isnan(values).tolist() == [True, False, False]
    assert "joint1  no rows in use" in str(fit.validation)
    assert fit.to_dict()["joints"][0]["r2"] is None
    assert np.isfinite(fit.total_relative_error)


@pytest.mark.parametrize(
    ("factor", "word"),
    [(1.4, "trusted"), (2.8, "doubtful"), (1 / 1.4, "trusted"), (1 / 2.8, "doubtful")],
)
def test_another_total_mass_puts_the_scale_in_question(
    fit: sy.Fit, factor: float, word: str
) -> None:
    """MASSES 2."""
    pi = fit.robot.parameters.copy()
    inner = 10 * len(fit.robot.tree.bodies)
    pi[:inner] *= factor
    described = fit.robot.with_parameters(pi)
    assert judged(fit, masses=mass_inputs(fit.robot, described, False, False, ())).word == word
    assert judged(fit, masses=mass_inputs(fit.robot, described, True, False, ())).word == "trusted"


@pytest.mark.parametrize(("r2", "word"), [(0.8, "trusted"), (0.55, "refused")])
@pytest.mark.parametrize("joints", [1, 3])
def test_unexplained_torque_refuses_it(fit: sy.Fit, r2: float, word: str, joints: int) -> None:
    """UNEXPLAINED 0.7 as a share of the variance.

    TOO_MANY 0.3 of the joints: one of three is more than that.
    """
    measured = fit.validation.measured
    centred = measured - measured.mean(axis=0)
    share = np.where(np.arange(3) < joints, np.sqrt(1 - r2), 0.0)
    bad = replace(fit.validation, predicted=measured - share * centred, before=None)
    assert (
        judged(
            fit,
            joints=tuple(
                replace(j, r2=float(x))
                for j, x in zip(fit.verdict_inputs.joints, bad.r2, strict=True)
            ),
        ).word
        == word
    )


@pytest.mark.parametrize(("lost", "word"), [(0.35, "trusted"), (0.7, "doubtful")])
def test_little_excitation_makes_it_doubtful(fit: sy.Fit, lost: float, word: str) -> None:
    """UNSEEN 0.5 of the base parameters."""
    R = fit.uncertainty.information.copy()
    R[:-1, : round(lost * len(fit.base_values))] = 0.0
    assert (
        judged(fit, excitation=excitation_inputs(replace(fit.uncertainty, information=R))).word
        == word
    )


def test_without_a_description_nothing_tells_the_scale(fit: sy.Fit) -> None:
    judgement = judged(fit, masses={"descriptions_not_used": ("link1", "link2", "link3")})
    assert judgement.word == "trusted within"
    assert any("known_mass" in reason for reason in judgement.reasons)
    assert (
        judged(fit, masses={"descriptions_not_used": ("link1",), "known": True}).word == "trusted"
    )


def test_a_verdict_is_plain_data(fit: sy.Fit) -> None:
    data = fit.to_dict()["verdict"]
    assert data["word"] == fit.verdict.word
    assert data["error"] == pytest.approx(fit.verdict.error)
    assert data["reasons"] == list(fit.verdict.reasons)


def test_a_refused_fit_has_no_expected_error(fit: sy.Fit) -> None:
    judgement = judged(fit, **expecting(0.7))
    assert (judgement.word, judgement.error) == ("refused", np.inf)
    assert "inf" not in str(judgement)


@pytest.mark.parametrize("estimator", [None, "wls"])
def test_the_mass_of_placeholders_does_not_decide(estimator: str | None) -> None:
    true = sy.load("spatial_3r")
    pi = true.parameters.copy()
    pi[:30] = np.tile([0.1, 0, 0, 0, 1e-3, 0, 0, 1e-3, 0, 1e-3], 3)
    verdict = sy.identify(true.with_parameters(pi), recorded(true, noise=0.01), estimator).verdict
    assert verdict.word == "trusted within"
    assert "known_mass" in verdict.reasons[0]


def test_equal_links_of_about_the_described_mass_are_no_limit(fit: sy.Fit) -> None:
    assert judged(fit, masses={"placeholder": True}).word == "trusted"


def test_one_log_of_another_robot_is_named() -> None:
    """Of three logs the second is of a robot with other links.

    The verdict says which, and that the others fit without it.
    """
    robot, other = sy.load("planar_2r"), sy.load("planar_rp")
    logs = [recorded(robot, 6.0, 50.0, 0.01, seed) for seed in (1, 2)]
    logs.insert(
        1,
        recorded(other, 6.0, 50.0, 0.01, 3).replace(
            joint_names=robot.joint_names, source="stranger.csv"
        ),
    )
    verdict = sy.identify(robot, logs, diagnose=False).verdict
    assert verdict.word in ("doubtful", "refused")
    assert any(
        "Log 2 of 3 (stranger.csv) does not belong to the others" in reason
        for reason in verdict.reasons
    )
    assert not any(
        "belong" in reason
        for reason in sy.identify(robot, logs[::2], diagnose=False).verdict.reasons
    )


def test_a_log_near_rest_leaves_the_joints_as_described() -> None:
    """60 samples of a robot that hardly moves.

    Friction and rotors stay what they were, and the fit is not trusted.
    """
    robot = (
        sy.load("spatial_3r").with_friction(viscous=2.0, coulomb=3.0).with_rotors([0.5, 0.5, 0.5])
    )
    rng = np.random.default_rng(0)
    q = 0.4 + 1e-5 * np.cumsum(rng.normal(size=(60, 3)), axis=0)
    tau = robot.gravity_torque(q) + 0.2 * rng.normal(size=(60, 3))
    new_fit = sy.identify(
        robot,
        sy.Log(t=np.arange(60) * 0.01, q=q, tau=tau, joint_names=robot.joint_names),
        diagnose=False,
    )
    assert not new_fit.verdict.trusted
    arguments = dict(zip(robot.parameter_names, robot.parameters, strict=True))
    for name, value in zip(new_fit.parameter_names, new_fit.parameters, strict=True):
        if name.endswith((".Fv", ".Fc", ".Ia")):
            assert abs(value - arguments[name]) < arguments[name] + 0.1, name

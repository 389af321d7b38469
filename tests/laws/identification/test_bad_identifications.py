"""Bad calls and bad logs of an identification give one error that names the offender."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification import (
    ESTIMATORS,
    IRLS,
    SDP,
    WLS,
    ElasticNet,
    Ridge,
    Sequential,
    validate_robot,
)
from tests.motions import recorded, rubbing


@cache
def case() -> tuple[sy.Robot, sy.Log]:
    robot = rubbing(sy.load("spatial_3r"))
    return robot, recorded(robot, noise=0.05)


def positions_only(log: sy.Log) -> sy.Log:
    return log.replace(qd=None, qdd=None)


TAKING_A_ROBOT = {
    "identify": lambda robot: sy.identify(robot, case()[1]),
    "doctor": lambda robot: sy.doctor(robot, case()[1]),
    "validate_robot": lambda robot: validate_robot(robot, case()[1]),
    "check": sy.check,
    "excite": sy.excite,
    "base_parameters": sy.base_parameters,
    "perturbed": sy.perturbed,
    "record": lambda robot: sy.record(robot, None),
}


@pytest.mark.parametrize("name", TAKING_A_ROBOT)
def test_a_path_where_a_robot_is_expected_says_to_load_it(name):
    for path in ("ur10.urdf", Path("ur10.urdf")):
        with pytest.raises(
            sy.CallError, match=rf"{name} takes a robot.*load it first, sy.load\('ur10.urdf'\)"
        ):
            TAKING_A_ROBOT[name](path)
    with pytest.raises(
        sy.CallError, match=f"{name} takes a robot first, not Log; .*sy.identify.robot, log"
    ):
        TAKING_A_ROBOT[name](case()[1])


def test_a_path_where_a_log_is_expected_says_to_read_it():
    with pytest.raises(sy.LogError, match="expected a Log, not str; read one with read_log"):
        sy.doctor(case()[0], "run.csv")


@pytest.mark.parametrize("smoothing", ["auto", "kalman", None])
def test_a_cutoff_that_would_be_ignored_is_refused(smoothing):
    with pytest.raises(
        sy.CallError, match=r"cutoff=5 would be ignored: smoothing=.* give smoothing='butterworth'"
    ):
        sy.identify(*case(), smoothing=smoothing, cutoff=5)


@pytest.mark.parametrize("cutoff", [50, 51.0])
def test_a_cutoff_from_half_the_sampling_rate_on_is_refused(cutoff):
    with pytest.raises(
        sy.CallError, match=rf"{cutoff:g} Hz is not below half the sampling rate, 50 Hz"
    ):
        sy.identify(*case(), smoothing="butterworth", cutoff=cutoff)


def test_a_cutoff_that_is_not_a_number_is_refused():
    with pytest.raises(sy.CallError, match="positive number, not '5' Hz"):
        sy.identify(*case(), smoothing="butterworth", cutoff="5")


@pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
@pytest.mark.parametrize("count", [1, 9, 10, 60])
def test_few_samples_end_in_a_fit_or_in_a_sentence(count, estimator):
    robot, log = case()
    for part in (log[:count], positions_only(log)[:count]):
        if count < 10 or (count == 10 and part.qd is None):
            with pytest.raises(sy.LogError, match=r"too few|too short"):
                sy.identify(robot, part, estimator)
            assert "cannot be used" in sy.doctor(robot, part).verdict
        # their windows do not fit into the log
        elif estimator in ("momentum", "energy") and part.N < 60:
            with pytest.raises(sy.ProblemError, match="rows of windows"):
                sy.identify(robot, part, estimator, diagnose=False)
        else:
            # examined once: the doctor knows no estimator
            fit = sy.identify(robot, part, estimator, diagnose=estimator == "sdp")
            assert np.all(np.isfinite(fit.parameters))


@pytest.mark.parametrize("signal", ["q", "tau"])
def test_a_log_without_numbers_is_named_among_ten(signal):
    robot, log = case()
    empty = positions_only(log).replace(**{signal: np.full_like(log.q, np.nan)})
    with pytest.raises(
        sy.LogError,
        match=(
            f"^log 5 of 10: {signal} has no number in any of the 2000 samples of joint1, joint2,"
            " joint3"
        ),
    ):
        sy.identify(robot, [log] * 4 + [empty] + [log] * 5)
    assert f"{signal} has no number" in sy.doctor(robot, empty).verdict


def test_a_log_that_is_too_short_is_named_among_ten_with_its_file():
    robot, log = case()
    with pytest.raises(sy.LogError, match=r"^log 10 of 10: run\.csv: 3 samples are too few"):
        sy.identify(robot, [log] * 9 + [log[:3].replace(source="run.csv")])


@pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
@pytest.mark.parametrize("joints", [(1,), (0, 1), (1, 2)])
def test_with_several_standing_joints_the_rest_is_identified(joints, estimator):
    robot, log = case()
    q, qd, qdd = (np.array(x) for x in (log.q, log.qd, log.qdd))
    q[:, joints], qd[:, joints], qdd[:, joints] = 0.3, 0.0, 0.0
    tau = robot.inverse_dynamics(q, qd, qdd) + 0.05 * np.random.default_rng(1).normal(size=q.shape)
    moved, described = (
        log.replace(q=q, qd=qd, qdd=qdd, tau=tau),
        robot.with_parameters(1.2 * robot.parameters),
    )
    # examined once: the doctor knows no estimator
    fit = sy.identify(described, moved, estimator, diagnose=estimator == "sdp")
    # a joint that stands takes no power: the balance says nothing about what holds it
    if estimator == "energy":
        assert np.delete(fit.relative_error, joints).max() < 0.03
    else:
        assert fit.total_relative_error < 0.03
    assert {f"{robot.joint_names[j]}.Fv" for j in joints} <= set(fit.unseen)
    assert not {f"{name}.Fv" for j, name in enumerate(robot.joint_names) if j not in joints} & set(
        fit.unseen
    )


BAD_OPTIONS = {
    "coulomb_width": {
        (
            "coulomb_width has 2 numbers; expected one number, or 3: one for each of "
            "joint1, joint2, joint3"
        ): [
            0.1,
            0.2,
        ],
        "coulomb_width must be a number from 0 on .*, not -1": -1,
        "coulomb_width of 'joint2' must be a number from 0 on .*, not nan": [0.1, np.nan, 0.1],
        "coulomb_width must be an array of numbers, not None": None,
    },
    "delay": {
        "delay has 2 numbers; expected one number, or 3": [0.0, 0.01],
        "delay must be a number .*, not nan": np.nan,
        r"delay must be an array of numbers, not \['a', 'b', 'c'\]": ["a", "b", "c"],
        "delay: no joint is called 'jiont1'; did you mean 'joint1'": {"jiont1": 0.01},
        "a delay of 15 s is not below half the length of the log": 15.0,
    },
    "mask": {
        "mask must be a number from 0 on .*, not nan": np.nan,
        "mask of 'joint1' must be a number from 0 on .*, not 'x'": {"joint1": "x"},
        "mask must be an array of numbers, not 'slow'": "slow",
    },
    "known": {
        r"known must be a torque, not 3.0; expected a function \(q, qd, qdd\)": 3.0,
        "known torque of 'joint1': expected an expression as text, not int": {"joint1": 1},
        r"the function must return torques of the shape of q, here .*; it returned \(\d+, 2\)": (
            lambda q, qd, qdd: q[:, :2]
        ),
        "the function failed with ZeroDivisionError": lambda q, qd, qdd: 1 / 0,
        "the function returned NaN or infinity at finite states": lambda q, qd, qdd: np.full_like(
            q, np.nan, dtype=float
        ),
        "must be an array of numbers, not None": lambda q, qd, qdd: None,
    },
    "hold": {
        "hold: the value of 'link1.m' must be a number, not nan": {"link1.m": np.nan},
        "hold: the value of 'link1.m' must be a number, not 'x'": {"link1.m": "x"},
        "hold must be a name or a sequence of names, not 3": 3,
        r"hold must be a name or a sequence of names, not \[1\]": [1],
    },
    "coupling": {
        "coupling must be a Coupling, not 3; or a pair of joint names": 3,
        "coupling: no joint is called 'jiont1'; did you mean 'joint1'": ("jiont1", "joint2"),
        "a joint that is not given by name must be a whole number from 0 to 2, not 9": [
            sy.Coupling(0, 9)
        ],
    },
    "friction": {
        "friction must be a name or a sequence of names, not None": None,
        "friction 'viscos' is unknown; did you mean 'viscous'": "viscos",
    },
    "rotor": {"rotor must be True or False, not 'no'": "no"},
    "decimate": {
        "decimate must be a whole number from 1 to .*, not True": True,
        "decimate must be a whole number from 1 to .*, not nan": np.nan,
        "decimate must be a whole number from 1 to .*, not 10000000000": 10**10,
        "decimate must be a whole number from 1 to .*, not '2'": "2",
    },
    "estimator": {
        r"not the class SDP; make one: SDP\(\)": SDP,
        "estimator must be a name or an object with a fit": 3,
        "no estimator is called ''": "",
    },
    "bounds": {
        r"bounds must be a mapping such as .*, not 3": 3,
        "bounds must be a mapping": {1: (1, 2)},
        "bounds: a side of 'link1.m' must be a number, not nan": {"link1.m": (np.nan, 1)},
        "bounds: a side of 'link1.m' must be a number, not 'a'": {"link1.m": ("a", "b")},
        "bounds: a corner of 'link1.com' must be three numbers": {"link1.com": ((0, 0), (1, 1))},
        r"bounds: link1.com in .* is empty": {"link1.com": ((1, 1, 1), (0, 0, 0))},
        "bounds: 'link1.com_hull' needs at least four points": {"link1.com_hull": [["a"]]},
    },
    "smoothing": {"smoothing ndarray of shape .* is unknown; known: auto, kalman": np.zeros(3)},
    "prior": {"prior 3 is unknown; known: cad, None": 3},
    "drive_gains": {"drive_gains must be a name or a sequence of names, not 1.3": 1.3},
    "preparation": {"preparation must be a Preparation, not {}": {}},
    "model": {"model must be a ModelOptions, not 'sdp'": "sdp"},
    "progress": {"progress must be a function .* or None, not 3": 3},
}


@pytest.mark.parametrize(
    ("option", "words"),
    [(option, words) for option, cases in BAD_OPTIONS.items() for words in cases],
)
def test_a_bad_option_ends_in_a_sentence(option, words):
    with pytest.raises(sy.CallError, match=words):
        sy.identify(*case(), **{option: BAD_OPTIONS[option][words]})


@pytest.mark.parametrize(
    "make",
    [
        lambda: SDP(np.nan), lambda: SDP(-1.0), lambda: SDP(bounds=3), lambda: WLS(0),
        lambda: WLS("x"), lambda: IRLS(0.0), lambda: IRLS(1.3, -2), lambda: Ridge(-1.0),
        lambda: Ridge(towards="cat"), lambda: ElasticNet(2.0), lambda: ElasticNet(0.5, 0.0),
        lambda: Sequential("x"),
    ],
)  # fmt: skip
def test_an_estimator_with_nonsense_cannot_be_made(make):
    with pytest.raises(sy.CallError, match=r"must be|is unknown"):
        make()


@cache
def fitted() -> sy.Fit:
    return sy.identify(*case(), "wls")


@pytest.mark.parametrize("method", ["predict", "torque"])
@pytest.mark.parametrize(
    "bad",
    [None, "x", [1, 2], [[1, 2], [3]], {"joint1": 1}, [1j, 2, 3], ["a", "b", "c"], [None, 1, 2]],
)
def test_states_that_are_not_numbers_are_refused(method, bad):
    with pytest.raises(sy.CallError, match=r"must be an array of numbers|must all be \(..., 3\)"):
        getattr(fitted(), method)(np.zeros(3), bad, np.zeros(3))


BAD_CALLS = {
    "other must be a Robot or a Fit, not str": lambda: fitted().validate(case()[1], "ur10.urdf"),
    "the limit of the residual's growth must be a number from 1 on, not 0.5": (
        lambda: fitted().reduced_parameters(0.5)
    ),
    "the limit of the residual's growth must be a number from 1 on, not 'x'": (
        lambda: fitted().reduced_parameters("x")
    ),
    "report: fit must be a Fit or Fleet, not Robot; sy.identify returns one": lambda: sy.report(
        case()[0], "x.html"
    ),
    "report: validation must be a Validation or Log, not 'run.csv'": lambda: sy.report(
        fitted(), "x.html", "run.csv"
    ),
    "report: true_robot must be a Robot, not Log": lambda: sy.report(
        fitted(), "x.html", None, case()[1]
    ),
    "expected the path to write to, not NoneType": lambda: sy.report(fitted(), None),
    "expected the path to write to, not list": lambda: fitted().to_json(["x.json"]),
    "check: samples must be a whole number from 1 on, not 0": lambda: sy.check(case()[0], 0),
    "check: seed must be a whole number from 0 on, not 'x'": lambda: sy.check(case()[0], 4, "x"),
}


@pytest.mark.parametrize("words", BAD_CALLS)
def test_a_bad_call_ends_in_a_sentence(words):
    with pytest.raises(sy.CallError, match=words):
        BAD_CALLS[words]()


BAD_SIGNALS = {
    r"run.csv: tau reaches .*e\+1\d; expected less than 1e\+12 N m|N: in which unit is it\?": (
        lambda log: {"tau": 1e11 * log.tau}
    ),
    "run.csv: q reaches": lambda log: {"q": 1e13 * log.q},
    "run.csv: the time step is 1e-10 s; expected at least 1e-09 s": lambda log: {"t": 1e-8 * log.t},
    "run.csv: the torque is zero throughout for every joint": lambda log: {"tau": 1e-16 * log.tau},
}


@pytest.mark.parametrize("words", BAD_SIGNALS)
def test_numbers_that_no_robot_has_are_refused(words):
    robot, log = case()
    spoilt = log.replace(source="run.csv", **BAD_SIGNALS[words](log))
    with pytest.raises(sy.LogError, match=words):
        sy.identify(robot, spoilt)
    assert not sy.doctor(robot, spoilt).usable
    fit = sy.identify(robot, log.replace(tau=1e7 * log.tau), "wls")
    assert np.all(np.isfinite(fit.parameters)), "large, but not absurd"


@pytest.mark.parametrize("diagnose", [True, False])
def test_a_mask_above_every_speed_says_that_no_rows_are_left(diagnose):
    with pytest.raises(sy.ProblemError, match=r"0 rows are left for .* a lower mask is needed"):
        sy.identify(*case(), mask=5.0, diagnose=diagnose)

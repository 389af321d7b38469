"""The trust benchmark counts what it says it counts.

Cases, names of faults, errors on unseen motion, rates and the page.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pytest

import steelyard as sy
from benchmarks.arms import ARMS, arm
from benchmarks.channel_faults import CHANNEL_FAULTS
from benchmarks.experiments import Experiment, experiment
from benchmarks.faults import FAULTS, Planted
from benchmarks.trust import cases as planning
from benchmarks.trust import judge as judging
from benchmarks.trust import page as paging
from benchmarks.trust.__main__ import from_plain
from benchmarks.trust.cases import SEED, Case, cases, go_together
from benchmarks.trust.judge import Judgement, is_named, judge, true_error
from benchmarks.trust.page import page, rates
from steelyard.identification.doctor.finding import FAULTS as KNOWN
from steelyard.identification.doctor.finding import Finding

COLUMNS = (*ARMS, "ur10 log", "tx40 log")


@pytest.fixture
def anywhere(monkeypatch):
    """Plan as if every fault could show on every robot, without trying."""
    for module in (planning, paging):
        monkeypatch.setattr(
            module,
            "hidden",
            lambda robot, key: (
                "nothing to couple" if (robot, key) == ("ur10 log", "coupling") else ""
            ),
        )
        monkeypatch.setattr(module, "robots", lambda: COLUMNS)
    monkeypatch.setattr(planning, "_both_fit", lambda robot, one, other: True)


def test_the_doctor_knows_the_faults_that_are_planted():
    assert set(KNOWN) == set(FAULTS) | set(CHANNEL_FAULTS)


def test_half_of_the_cases_are_healthy_and_every_fault_meets_every_robot(anywhere):
    plan = cases()
    assert len(plan) == len({case.seed for case in plan}) == 400
    assert Counter(len(case.faults) for case in plan) == {0: 200, 1: 140, 2: 60}
    met = Counter((case.robot, key) for case in plan for key in case.faults)
    assert set(met) == {(robot, key) for robot in COLUMNS for key in FAULTS} - {
        ("ur10 log", "coupling")
    }
    assert max(met.values()) <= 2
    assert plan == cases(400, SEED)
    assert {case.seed for case in plan}.isdisjoint(case.seed for case in cases(400, 1))


def test_a_part_of_the_benchmark_is_balanced_and_can_be_chosen(anywhere):
    part = cases(40, 1)
    assert Counter(len(case.faults) for case in part) == {0: 20, 1: 14, 2: 6}
    assert {key for case in part for key in case.faults} == set(FAULTS)
    delayed = cases(10, 1, ["delay"])
    assert {case.faults for case in delayed} == {("delay",)}
    assert {case.robot for case in delayed} == set(COLUMNS)
    assert {case.robot for case in cases(30, 1, columns=["ur5"])} == {"ur5"}


def test_faults_go_together_where_they_stay_two():
    assert go_together("torque scale", "delay")
    assert go_together("position sign", "torque sign")
    assert not go_together("torque scale", "currents")
    assert not go_together("delay", "clock")
    assert not go_together("delay", "delay")


def test_a_case_is_its_id():
    for case in (
        Case("ur5", 1017),
        Case("tx40 log", 3, ("delay", "gear ratio or torque constant")),
    ):
        assert Case.of(case.id) == case
    with pytest.raises(sy.CallError, match="no 'ur55' in the benchmark"):
        Case.of("ur55/1/delay")
    with pytest.raises(sy.CallError, match="no 'delai'"):
        Case.of("ur5/1/delai")
    with pytest.raises(sy.CallError, match="expected robot/seed/faults"):
        Case.of("ur5")


def made(*planted, name="spatial_3r"):
    return Experiment(name, 0, arm(name), None, planted=planted)


def finding(fault, *joints, probability=0.9):
    return (fault, joints, probability, "fault", "because")


@pytest.mark.parametrize(
    ("findings", "named"),
    [
        ([finding("delay", "joint2")], True),
        ([finding("delay", "joint2", probability=0.4)], False),
        ([finding("delay", "joint2", "joint3")], False),
        ([finding("delay")], False),
        ([finding("saturation", "joint2")], False),
        ([], False),
        ([finding("saturation", "joint1"), finding("delay", "joint2")], True),
    ],
)
def test_a_fault_is_named_by_key_and_joints(findings, named):
    planted = Planted("delay", ("joint2",), 20)
    assert is_named(made(planted), planted, findings) is named


def test_faults_of_several_joints_may_be_named_one_by_one_or_at_once():
    planted = Planted("delay", ("joint1", "joint2", "joint3"), 20)
    for findings in (
        [finding("delay")],
        [finding("delay", f"joint{j}") for j in (1, 2, 3)],
        [finding("delay", "joint1", "joint2", "joint3")],
    ):
        assert is_named(made(planted), planted, findings)
    whole = Planted("clock", ("joint1", "joint2", "joint3"), 2)
    assert is_named(made(whole), whole, [finding("clock")])
    assert is_named(made(whole), whole, [finding("clock", "joint1")])


def test_a_fault_that_undoes_another_names_it():
    about_the_vertical, other = (
        Planted("position sign", (joint,), -1) for joint in ("joint1", "joint2")
    )
    assert is_named(
        made(about_the_vertical), about_the_vertical, [finding("torque sign", "joint1")]
    )
    assert not is_named(made(other), other, [finding("torque sign", "joint2")])


def test_joints_of_a_wrong_robot_are_named_its_own_way():
    planted = Planted("delay", ("joint2",), 20)
    case = replace(
        made(planted, name="planar_2r"),
        described=SimpleNamespace(joint_names=("shoulder", "elbow")),
    )
    assert is_named(case, planted, [finding("delay", "elbow")])
    assert not is_named(case, planted, [finding("delay", "shoulder")])


def fit_of(robot, scale, word="trusted", error=0.1):
    """A fit that predicts scale times the torque of a robot, trusted within half a radian and half
    a radian a second.
    """
    wide = np.full(robot.n, 0.5)
    region = SimpleNamespace(
        q_low=-wide,
        q_high=wide,
        qd_most=wide,
        qdd_most=wide,
        contains=lambda q, qd, qdd: np.all(abs(q) <= 0.5, axis=-1),
    )
    verdict = SimpleNamespace(word=word, reasons=("so it is",), error=error, region=region)
    return SimpleNamespace(
        verdict=verdict,
        predict=lambda q, qd, qdd: SimpleNamespace(
            torque=scale * robot.inverse_dynamics(q, qd, qdd)
        ),
    )


def test_the_error_on_unseen_motion_is_that_of_the_true_robot():
    case = experiment("planar_2r", 3)
    assert true_error(case, fit_of(case.true, 1.0)) == pytest.approx(0.0, abs=1e-12)
    assert true_error(case, fit_of(case.true, 1.07)) == pytest.approx(0.07)
    states, *_ = judging.simulated_motion(case, fit_of(case.true, 1.0))
    assert all(np.max(np.abs(x)) <= 0.5 for x in states)


def judged(monkeypatch, findings, scale=1.0, word="trusted", error=0.1, faults=()):
    made = experiment("planar_2r", 3, faults)
    monkeypatch.setattr(sy, "doctor", lambda robot, log: SimpleNamespace(findings=findings))
    monkeypatch.setattr(sy, "identify", lambda robot, log: fit_of(made.true, scale, word, error))
    return judge(Case("planar_2r", 3, faults))


def test_a_judgement_of_a_healthy_log(monkeypatch):
    good = judged(monkeypatch, ())
    assert good.silent
    assert good.trusted
    assert good.kept
    assert not list(good.failures())
    wrong = judged(monkeypatch, (Finding("delay", (), "It is late.", 0.6),), scale=1.3)
    assert not wrong.silent
    assert wrong.beside == 1
    assert not wrong.kept
    assert len(list(wrong.failures())) == 2
    assert judged(monkeypatch, (), scale=1.19).kept  # twice the expected error
    assert not judged(monkeypatch, (), scale=1.21).kept


def test_an_error_in_words_is_a_refusal_and_any_other_a_crash(monkeypatch):
    def refuse(robot, log):
        raise sy.LogError("nothing to be done")

    def crash(robot, log):
        raise IndexError("out of bounds")

    monkeypatch.setattr(sy, "doctor", lambda robot, log: SimpleNamespace(findings=()))
    monkeypatch.setattr(sy, "identify", refuse)
    assert judge(Case("planar_2r", 3)).word == "refused"
    monkeypatch.setattr(sy, "identify", crash)
    broken = judge(Case("planar_2r", 3))
    assert "out of bounds" in broken.crash
    assert not broken.trusted
    assert not broken.silent
    assert from_plain(json.loads(json.dumps(asdict(broken)))) == broken


def results():
    """A healthy log, one that is not trusted, a named and an unnamed single fault, doubles with one
    and two names.
    """
    fault = ("delay", ("joint1",), 20.0)
    other = ("clock", ("joint1", "joint2"), 2.0)
    selected = {"word": "trusted", "expected_error": 0.1, "true_error": 0.15}
    return (
        Judgement("planar_2r/1/healthy", (), **selected),
        Judgement("planar_2r/2/healthy", (), findings=(finding("delay"),), word="doubtful"),
        Judgement(
            "ur5/3/delay",
            (fault,),
            named=(True,),
            word="trusted within",
            expected_error=0.1,
            true_error=0.25,
        ),
        Judgement("ur5/4/delay", (fault,), named=(False,), word="refused"),
        Judgement("ur5/5/delay+clock", (fault, other), named=(True, True), word="refused"),
        Judgement("ur5/6/delay+clock", (fault, other), named=(True, False), word="refused"),
        Judgement("ur5/7/delay+clock", (fault, other), crash="IndexError"),
    )


def test_rates():
    counted = [(each.good, each.of, each.target) for each in rates(results())]
    assert counted == [(1, 2, 0.99), (1, 2, 0.95), (1, 2, 0.95), (1, 3, 0.85), (1, 2, 0.95)]
    assert not any(each.met for each in rates(results()))
    assert all(each.met for each in rates(results()[:1]))


def test_the_page_has_a_row_a_fault_and_a_column_a_robot_and_no_empty_cell(anywhere):
    full = [
        Judgement(
            Case(robot, i, (key,)).id, ((key, ("joint1",), 1.0),), named=(True,), word="refused"
        )
        for i, (robot, key) in enumerate(
            (robot, key)
            for robot in COLUMNS
            for key in FAULTS
            if (robot, key) != ("ur10 log", "coupling")
        )
    ]
    text = page([*full, *results()[:1]], SEED, 50.0)
    lines = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in text.splitlines()
        if line[:1] == "|"
    }
    assert list(lines["fault"])[1:] == list(COLUMNS)
    for key in FAULTS:
        assert all(cell in ("1 of 1", "cannot show (1)") for cell in lines[key][1:])
    assert "1. nothing to couple" in text
    assert lines["delay"][0] == "20 ms"
    assert "not planted" not in text
    assert "not planted" in page(results(), SEED, 1.0)


def test_the_command_runs_and_keeps_its_results(tmp_path, root):
    """On two processes; whether targets are met is not asked of two logs."""
    out = tmp_path / "kept" / "trust.json"
    command = [
        sys.executable,
        "-m",
        "benchmarks.trust",
        "--logs",
        "2",
        "--seed",
        "1",
        "--out",
        str(out),
    ]
    command += ["--robot", "planar_2r", "--fault", "delay"]
    path = os.pathsep.join([str(root / "src"), str(root)])
    done = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert "2 of 2" in done.stderr
    assert "single faults are named" in done.stdout
    selected = json.loads(out.read_text())
    assert [from_plain(data).case.seed for data in selected["results"]] in (
        [1000, 1001],
        [1001, 1000],
    )

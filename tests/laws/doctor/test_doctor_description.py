"""A description never outvotes a sensor.

Where both disagree, both are named, and nothing is corrected.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.doctor import FAULTS, Diagnosis
from steelyard.identification.doctor.finding import THIRD_SOURCE
from steelyard.parameters.pseudo_inertia import from_pseudo_inertia, pseudo_inertia
from tests.laws.doctor.test_doctor import described, moved, with_drives
from tests.motions import fourier

PANDA = Path(__file__).parents[3] / "docs" / "formats" / "panda.toml"
POSTURE = np.array([0, 0, 0, -1.8, 0, 1.8, 0])


@cache
def panda_log(urdf: Path, seed: int) -> sy.Log:
    """Two thirds of a log of the Panda of example-robot-data, with drives.

    Its torques are right.
    """
    whole = sy.load(urdf)
    arm = whole.freeze(dict.fromkeys(whole.joint_names[7:], 0.0))
    true = arm.with_friction(
        viscous=[0.5, 0.5, 0.4, 0.4, 0.3, 0.2, 0.1], coulomb=[0.6, 0.8, 0.6, 0.6, 0.5, 0.3, 0.3]
    )
    true = true.with_rotors([0.2, 0.2, 0.15, 0.15, 0.1, 0.1, 0.05])
    t, q, qd, qdd = fourier(7, 30.0, 100.0, seed, base=0.05, size=0.25)
    rng = np.random.default_rng(seed)
    q = q + POSTURE
    tau = true.inverse_dynamics(q, qd, qdd)
    tau = tau + 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    log = sy.Log(t=t, q=q + 1e-5 * rng.normal(size=q.shape), tau=tau, joint_names=arm.joint_names)
    return log[: 2 * log.N // 3]


def round_masses(factor: float) -> sy.Robot:
    """The Panda of the documentation, with round masses, all links `factor` times as heavy."""
    robot = sy.load(PANDA)
    pi = robot.parameters.copy()
    pi[: 10 * robot.n] *= factor
    return robot.with_parameters(pi)


def has_only_signs(diagnosis: Diagnosis) -> bool:
    return diagnosis.correction is None or all(
        abs(gain) == 1.0 for gain in diagnosis.correction.gain
    )


@pytest.mark.parametrize("factor", [0.4, 0.7, 1.0, 1.5, 2.0])
def test_round_masses_correct_no_torque_of_a_panda(example_robots: Path, factor: float) -> None:
    for seed in (0, 1):
        findings = sy.doctor(
            round_masses(factor),
            panda_log(example_robots / "panda_description/urdf/panda.urdf", seed),
        )
        assert findings.correction is None, str(findings)
        assert all(each.hypotheses for each in findings.faults), str(findings)


def test_a_heavy_description_of_a_panda_is_named_beside_the_torques(example_robots: Path) -> None:
    findings = sy.doctor(
        round_masses(1.6), panda_log(example_robots / "panda_description/urdf/panda.urdf", 0)
    )
    (finding,) = findings.findings
    assert finding.fault == "torque scale"
    assert finding.probability <= 0.5 < 0.95 < finding.certainty
    torques, links = finding.hypotheses
    assert "all torques lack a factor of 1." in torques
    assert "the described links are 1." in links
    assert torques in finding.sentence
    assert links in finding.sentence
    assert "known_mass" in finding.fix
    assert findings.verdict.startswith("Torques and description disagree: torque scale.")


@pytest.mark.parametrize(("name", "joints"), [("elbow_6r", 4), ("spatial_3r", 3), ("puma560", 6)])
@pytest.mark.parametrize("factor", [0.25, 0.6, 1.6, 4.0])
def test_links_that_are_described_too_heavy_or_too_light_correct_no_torque(
    name: str, joints: int, factor: float
) -> None:
    robot = described(name, joints)
    pi = robot.parameters.copy()
    pi[: 10 * joints] *= factor
    findings = sy.doctor(robot.with_parameters(pi), moved(with_drives(robot), 1))
    assert findings.correction is None, str(findings)
    assert all(each.hypotheses for each in findings.faults if each.fault != "wrong robot"), str(
        findings
    )


@pytest.mark.parametrize("seed", range(6))
def test_descriptions_that_are_wrong_link_by_link_correct_no_torque(seed: int) -> None:
    """Masses wrong by random factors up to two and a half.

    Gains of single joints, or currents, would explain them.
    """
    robot = described()
    factors = np.exp(np.random.default_rng(seed).uniform(-0.9, 0.9, robot.n))
    pi = robot.parameters.copy()
    pi[: 10 * robot.n] *= np.repeat(factors, 10)
    findings = sy.doctor(robot.with_parameters(pi), moved(with_drives(robot), seed))
    assert has_only_signs(findings), str(findings)
    assert all(
        each.hypotheses
        for each in findings.findings
        if FAULTS[each.fault].corrected_by == THIRD_SOURCE
    )


def test_a_described_centre_that_is_turned_moves_no_zero() -> None:
    """To turn the last link about its axis is to move the zero of the last joint.

    Torques cannot tell it from the description.
    """
    robot = described("spatial_3r", 3)
    R, (c, s) = np.eye(4), (np.cos(np.radians(40.0)), np.sin(np.radians(40.0)))
    R[:2, :2] = [[c, -s], [s, c]]
    pi = robot.parameters.copy()
    pi[20:30] = from_pseudo_inertia(R @ pseudo_inertia(pi[20:30]) @ R.T)
    findings = sy.doctor(robot.with_parameters(pi), moved(with_drives(robot)))
    (finding,) = findings.findings
    assert (finding.fault, finding.joints) == ("position offset", ("joint3",))
    assert findings.correction is None
    assert len(finding.hypotheses) == 2
    assert "the links differ from the description" in finding.sentence

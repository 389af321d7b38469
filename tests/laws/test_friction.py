"""Friction in every form: its formula, its columns, its place in forward dynamics, in the energy balance and in files."""

from __future__ import annotations

import numpy as np
import pytest

import steelyard as sy

FORMS = {
    "linear": {"viscous": 2.0, "coulomb": 3.0, "offset": 0.5},
    "asymmetric": {"viscous": 2.0, "coulomb": 3.0, "negative": 4.0},
    "smooth": {"coulomb": 3.0, "width": 0.1},
    "stribeck": {"viscous": 1.0, "coulomb": 3.0, "stiction": 5.0, "stribeck": 0.2},
    "smooth stribeck": {"viscous": 1.0, "coulomb": 3.0, "offset": -0.2, "negative": 2.5, "stiction": 5.0, "stribeck": 0.2, "width": 0.05},
}


def by_hand(qd: np.ndarray, viscous=0.0, coulomb=0.0, offset=0.0, negative=None, stiction=0.0, stribeck=None, width=None) -> np.ndarray:
    direction = np.sign(qd) if width is None else np.tanh(qd / width)
    fading = 0.0 if stribeck is None else np.exp(-((qd / stribeck) ** 2))
    level = coulomb if negative is None else np.where(qd > 0, coulomb, negative)
    return viscous * qd + direction * (level * (1 - fading) + stiction * fading) + offset


@pytest.fixture
def state(rng):
    q, qd, qdd = rng.uniform(-1, 1, (3, 40, 3))
    qd[0] = 0.0
    return q, qd, qdd


@pytest.mark.parametrize("form", FORMS)
def test_friction_follows_its_formula(form, state):
    """Lecture "Dynamic parameter identification", friction contributions; sign(0) = 0."""
    robot = sy.load("spatial_3r").with_friction(**FORMS[form])
    np.testing.assert_allclose(robot.friction_torque(state[1]), by_hand(state[1], **FORMS[form]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_friction_is_part_of_inverse_and_forward_dynamics(form, state):
    q, qd, qdd = state
    plain = sy.load("spatial_3r")
    robot = plain.with_friction(**FORMS[form])
    tau = robot.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(tau, plain.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd), atol=1e-10)
    np.testing.assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_the_linear_terms_have_columns(form, state):
    """The lecture's twelve parameters a joint, and those of the further forms; shapes have none."""
    q, qd, qdd = state
    robot = sy.load("spatial_3r").with_friction(**FORMS[form])
    np.testing.assert_allclose(robot.regressor(q, qd, qdd) @ robot.parameters, robot.inverse_dynamics(q, qd, qdd), atol=1e-10)
    labels = {name.split(".")[1] for name in robot.parameter_names if name.startswith("joint1")}
    terms = {"viscous": "Fv", "coulomb": "Fc", "offset": "F0", "negative": "Fn", "stiction": "Fs"}
    assert labels == {terms[key] for key in FORMS[form] if key in terms}
    assert robot.tree.friction[0].linear == ("width" not in FORMS[form] and "stribeck" not in FORMS[form])


@pytest.mark.parametrize("form", FORMS)
def test_friction_is_what_the_energy_loses(form, state):
    """Lecture "Properties of the dynamic model": d/dt (T + U) = qd . (tau - friction)."""
    q, qd, qdd = state
    robot = sy.load("spatial_3r").with_friction(**FORMS[form]).with_rotors(0.3, ratio=50.0)
    tau, h = robot.inverse_dynamics(q, qd, qdd), 1e-6

    def energy(s: float) -> np.ndarray:
        qs, qds = q + s * qd + s * s / 2 * qdd, qd + s * qdd
        return robot.kinetic_energy(qs, qds) + robot.potential_energy(qs)

    power = np.sum(qd * (tau - robot.friction_torque(qd)), axis=-1)
    np.testing.assert_allclose((energy(h) - energy(-h)) / (2 * h), power, atol=1e-6)


@pytest.mark.parametrize("form", ["linear", "smooth", "smooth stribeck"])
def test_derivatives_hold_friction_and_drives(form, state):
    q, qd, qdd = state
    qd = np.where(np.abs(qd) < 0.05, 0.5, qd)
    robot = sy.load("spatial_3r").with_friction(**FORMS[form]).with_rotors(0.3, ratio=50.0)
    by_q, by_qd, M = robot.inverse_dynamics_derivatives(q, qd, qdd)
    h = 1e-6
    for k in range(3):
        e = h * np.eye(3)[k]
        np.testing.assert_allclose(
            (robot.inverse_dynamics(q + e, qd, qdd) - robot.inverse_dynamics(q - e, qd, qdd)) / (2 * h), by_q[..., k], atol=1e-6
        )
        np.testing.assert_allclose(
            (robot.inverse_dynamics(q, qd + e, qdd) - robot.inverse_dynamics(q, qd - e, qdd)) / (2 * h), by_qd[..., k], atol=1e-6
        )
    np.testing.assert_allclose(M, robot.mass_matrix(q), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("suffix", ["urdf", "toml"])
def test_files_keep_friction_and_rotors(form, suffix, tmp_path):
    ratios = [50.0, -40.0, 7.5, 100.0, 101.0, 0.3]
    robot = sy.load("elbow_6r").without_friction().with_friction(**FORMS[form]).with_rotors(0.3, ratio=ratios)
    path = tmp_path / f"robot.{suffix}"
    (robot.to_urdf if suffix == "urdf" else robot.to_toml)(path)
    assert sy.load(path).tree.friction == robot.tree.friction
    assert [g.ratio for g in sy.load(path).tree.gears] == ratios


@pytest.mark.parametrize(
    ("change", "offender"),
    [
        ({"width": 0.0, "coulomb": 1.0}, "width = 0"),
        ({"stiction": 1.0}, "stribeck"),
        ({"coulomb": [1.0, 2.0]}, "coulomb has 2 numbers"),
        ({"viscous": float("nan")}, "viscous"),
        ({"viscous": {"joint9": 1.0}}, "joint9"),
    ],
)
def test_friction_that_makes_no_sense_is_named(change, offender):
    with pytest.raises(sy.CallError, match=offender):
        sy.load("spatial_3r").with_friction(**change)


@pytest.mark.parametrize(
    ("change", "offender"),
    [({"ratio": 0.0}, "gear ratio of 0"), ({"ratio": 2.0, "axis": (0, 0, 2)}, "unit vector"), ({"ratio": 2.0, "mount": "link9"}, "link9")],
)
def test_rotors_that_make_no_sense_are_named(change, offender):
    with pytest.raises(sy.SteelyardError, match=offender):
        sy.load("spatial_3r").with_rotors(0.1, **change)


def test_a_rotor_on_the_link_that_it_moves_is_refused():
    with pytest.raises(sy.ModelError, match="which the joint itself moves"):
        sy.load("spatial_3r").with_rotors(0.1, ratio=10.0, mount="link3")

"""Bounds as inequalities: a box, a hull, and what is wrong with one, in sentences."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.model.bounds import inequalities, physical_limits
from tests import zoo
from tests.motions import recorded

NAMES = sy.load("planar_2r").parameter_names
CORNERS = np.array(list(product((-0.1, 0.3), (-0.2, 0.2), (0.0, 0.5))))


def holds(bounds, mass: float, com) -> bool:
    pi = np.zeros(len(NAMES))
    pi[10], pi[11:14] = mass, mass * np.asarray(com)
    return inequalities(bounds, NAMES).violation(pi) <= 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_the_hull_of_a_box_is_the_box(seed):
    com = np.random.default_rng(seed).uniform(-0.6, 0.8, 3)
    box = {"link2.com": (CORNERS.min(0), CORNERS.max(0))}
    assert holds({"link2.com_hull": CORNERS}, 2.0, com) == holds(box, 2.0, com)


def test_inside_and_outside_of_a_tetrahedron():
    corners = {"link2.com_hull": np.vstack([np.zeros(3), np.eye(3)])}
    assert holds(corners, 3.0, (0.2, 0.2, 0.2))
    assert not holds(corners, 3.0, (0.5, 0.5, 0.5))


@pytest.mark.parametrize(
    ("bounds", "offender"),
    [
        ({"link2.com_hull": np.eye(3)}, "four points"),
        ({"link9.com_hull": CORNERS}, "link9"),
        ({"link2.com": 3}, "lowest, highest"),
    ],
)
def test_a_bound_that_makes_no_sense_is_named(bounds, offender):
    with pytest.raises(sy.CallError, match=offender):
        inequalities(bounds, NAMES)


def test_a_real_joint_has_no_negative_friction_and_no_stiction_below_sliding_friction():
    robot = sy.load("planar_2r").with_friction(
        viscous=1.0, coulomb=2.0, offset=0.5, negative=1.5, stiction=3.0, stribeck=0.1, load=0.1
    )
    names, pi = robot.parameter_names, robot.parameters.copy()
    limits = physical_limits(names, range(len(names)))
    assert limits.violation(pi) <= 0
    for name, value in (
        ("joint1.Fv", -0.1),
        ("joint2.Fc", 3.5),
        ("joint1.Fn", 3.5),
        ("joint1.Fs", 1.9),
        ("joint2.Fl", -0.01),
    ):
        changed = pi.copy()
        changed[names.index(name)] = value
        assert limits.violation(changed) > 0, name
    changed = pi.copy()
    changed[names.index("joint1.F0")] = -5.0
    assert limits.violation(changed) <= 0, "an offset has any sign"
    fixed = physical_limits(names, [i for i, name in enumerate(names) if name != "joint1.Fs"])
    assert "joint1.Fs >= joint1.Fc" in fixed.names, "also against stiction that is held"
    assert "joint1.Fs >= 0" not in fixed.names


def test_an_identified_joint_has_no_stiction_below_sliding_friction():
    """Friction that rises with speed looks like stiction below Coulomb friction."""
    true = sy.load("planar_2r").with_friction(viscous=0.5, coulomb=1.0)
    log = recorded(true)
    tau = log.tau - 0.5 * np.sign(log.qd) * np.exp(-((log.qd / 0.2) ** 2))
    fit = sy.identify(
        true,
        log.replace(tau=tau),
        friction=("viscous", "coulomb", "stribeck"),
        delay=0,
        coulomb_width=0,
    )
    values = dict(zip(fit.parameter_names, fit.parameters, strict=True))
    for joint in ("joint1", "joint2"):
        assert values[f"{joint}.Fs"] >= values[f"{joint}.Fc"] - 1e-9
        assert values[f"{joint}.Fc"] >= 0


@pytest.mark.parametrize("width", [0.0, 0.1])
def test_stiction_that_seems_less_than_coulomb_friction_is_as_much(width):
    """Least squares with a wrong width breaks only inequalities of two terms, Fs >= Fc and Fs >=
    Fn; there is a robot that meets them. The width has no effect on stiction with memory.
    """
    true = without_memory(zoo.robot("pendulum"))
    log = recorded(true, seconds=10, rate=40, noise=0.2, size=0.5)
    fit = sy.identify(
        true,
        log,
        "wls",
        delay=0,
        coulomb_width=width,
        friction=("viscous", "coulomb", "offset"),
        diagnose=False,
    )
    free, result = (
        dict(zip(names, values, strict=True))
        for names, values in ((fit.base.names, fit.base_values), named(fit))
    )
    assert free["swing.Fs"] < free["swing.Fc"]
    assert result["swing.Fs"] >= max(result["swing.Fc"], result["swing.Fn"]) - 1e-9
    assert fit.total_relative_error < 0.02


def without_memory(robot):
    """Return a robot without friction with memory."""
    memory = {"presliding": None, "distance": None}
    joints = tuple(replace(j, terms=j.terms.changed(memory)) for j in robot.mechanism.joints)
    return sy.Robot(replace(robot.mechanism, joints=joints))


def named(fit):
    return fit.parameter_names, fit.parameters

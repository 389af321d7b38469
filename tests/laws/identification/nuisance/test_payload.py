"""What a log carries and what is known of the mass.

The result excludes a payload and includes a known mass.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, LogError, ProblemError
from steelyard.identification import validate_robot
from steelyard.signals.schema import Payload
from tests.motions import recorded, rubbing

LOAD = Payload(4.0, (0.1, 0.02, 0.05), (0.02, 0.03, 0.04))
FIXED = {"delay": 0, "coulomb_width": 0, "diagnose": False}


@cache
def arm() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


def carrying(payload: Payload, **more) -> sy.Log:
    loaded = arm().with_payload(payload.mass, payload.com, payload.inertia, payload.frame)
    return recorded(loaded, **more).replace(payload=payload)


@pytest.mark.parametrize("estimator", ["wls", "sdp"])
@pytest.mark.parametrize("frame", [None, "link2"])
def test_a_payload_is_not_given_to_a_link(estimator, frame):
    logs = [
        carrying(Payload(4.0, LOAD.com, LOAD.inertia, frame)),
        carrying(Payload(9.0, (0.0, 0.1, 0.0), 0.0, frame), seed=1),
    ]
    fit = sy.identify(arm().with_parameters(1.2 * arm().parameters), logs, estimator)
    assert np.allclose(fit.base_values, fit.base.values(arm().parameters), rtol=1e-4, atol=1e-4)
    assert fit.total_relative_error < 1e-4
    assert any("its payload, 9 kg, was taken out" in note for note in fit.status)


def test_a_log_without_its_payload_gives_it_to_the_last_link():
    fit = sy.identify(arm(), carrying(LOAD).replace(payload=None), **FIXED)
    loaded = arm().with_payload(LOAD.mass, LOAD.com, LOAD.inertia)
    assert np.allclose(fit.base_values, fit.base.values(loaded.parameters), rtol=1e-5, atol=1e-5)


def test_a_validation_knows_what_its_log_carries():
    fit = sy.identify(arm(), recorded(arm()), **FIXED)
    other = carrying(LOAD, seed=2)
    assert fit.validate(other).total_relative_error < 1e-5
    assert fit.validate(other).before.total_relative_error < 1e-9
    assert fit.validate(other, fit.robot).other.total_relative_error < 1e-5
    assert fit.validate(other.replace(payload=None)).total_relative_error > 0.05
    assert validate_robot(arm(), other).total_relative_error < 1e-9


def test_the_fit_of_a_log_with_a_payload_judges_itself_with_it():
    fit = sy.identify(arm(), carrying(LOAD, noise=0.3), "wls", **FIXED)
    assert fit.total_relative_error < 0.01
    assert fit.before.total_relative_error < 0.01
    assert np.allclose(fit.sigma, 0.3 / np.sqrt(2), rtol=0.3), "decimated by two"
    assert np.allclose(fit.uncertainty.noise.sigma[-1], 0.3, rtol=0.1)


def test_a_payload_on_a_frame_that_does_not_exist_is_named():
    log = carrying(LOAD).replace(payload=Payload(1.0, frame="link9"), source="run.csv")
    with pytest.raises(LogError, match=r"run.csv: its payload: .*'link9'.*link3"):
        sy.identify(arm(), log)
    with pytest.raises(LogError, match=r"log 2 of 2: .*does not move"):
        sy.identify(
            arm(),
            [
                recorded(arm()),
                recorded(arm()).replace(payload=Payload(1.0, frame=arm().mechanism.root)),
            ],
        )


@pytest.mark.parametrize("estimator", ["wls", "sdp"])
def test_the_known_mass_of_a_link_is_kept(estimator):
    fit = sy.identify(arm(), recorded(arm(), noise=0.3), estimator, known_mass={"link3": 7.0})
    assert fit.parameters[fit.parameter_names.index("link3.m")] == pytest.approx(7.0, rel=1e-9)
    assert fit.parameters_std[fit.parameter_names.index("link3.m")] == 0
    assert fit.total_relative_error < 0.01


@pytest.mark.parametrize("estimator", ["wls", "sdp"])
@pytest.mark.parametrize("total", [46.0, 60.0])
def test_the_known_mass_of_all_links_is_kept(estimator, total):
    fit = sy.identify(arm(), recorded(arm(), noise=0.3), estimator, known_mass=total)
    assert sum(body.inertia.m for body in fit.robot.tree.bodies) == pytest.approx(total, rel=1e-6)
    assert fit.total_relative_error < 0.01


def test_a_mass_that_cannot_be_is_refused():
    log = recorded(arm())
    for wrong in (0, -3.0, float("nan"), {"link3": "heavy"}, "46"):
        with pytest.raises(CallError, match="known_mass must be a positive number"):
            sy.identify(arm(), log, known_mass=wrong)
    with pytest.raises(
        CallError, match="known_mass: no moving link is called 'lnik3'; did you mean 'link3'"
    ):
        sy.identify(arm(), log, known_mass={"lnik3": 3.0})
    with pytest.raises(ProblemError, match="total_mass"):
        sy.identify(arm(), log, known_mass=3.0, bounds={"link2.m": (10.0, 20.0)})

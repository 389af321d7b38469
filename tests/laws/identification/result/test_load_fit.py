"""A fit that was written and loaded predicts, validates and decides as before."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.errors import CallError, ModelError
from tests.motions import recorded, rubbing

FAST = {"diagnose": False, "delay": 0}


@cache
def arm() -> sy.Robot:
    return rubbing(sy.load("spatial_3r"))


@cache
def fitted(case: str) -> sy.Fit:
    log = recorded(arm(), noise=0.3)
    if case == "held":
        return sy.identify(arm(), log, "sdp", hold={"link3.m": 5.5}, torque_scale_std=0.02, **FAST)
    if case == "gains":
        log = log.replace(tau=log.tau / np.array([1.3, 1.0, 1.0]))
        return sy.identify(arm(), log, "wls", drive_gains="joint1", **FAST)
    friction = ("viscous", "coulomb", "offset", "load", "stribeck")
    options = {"friction": friction} if case == "load" else {}
    return sy.identify(sy.load("spatial_3r"), log, "sdp", mask=0.02, **options, **FAST)


@pytest.mark.parametrize("case", ["plain", "held", "gains", "load"])
def test_a_loaded_fit_is_the_fit(case: str, tmp_path: Path) -> None:
    fit = fitted(case)
    fit.to_json(tmp_path / "fit.json")
    loaded = sy.Fit.load(tmp_path)
    for name in ("parameters", "parameters_std", "base_values", "base_std", "covariance", "sigma"):
        np.testing.assert_allclose(getattr(loaded, name), getattr(fit, name), err_msg=name)
    for name in ("parameter_names", "drive_gains", "rank", "torque_scale_std", "estimator"):
        assert np.all(getattr(loaded, name) == getattr(fit, name)), name
    assert str(loaded.verdict) == str(fit.verdict)
    assert loaded.verdict.reasons == fit.verdict.reasons
    np.testing.assert_allclose(loaded.links.mass_std, fit.links.mass_std)
    other = recorded(arm(), seed=5, noise=0.3)
    ours, theirs = loaded.validate(other), fit.validate(other)
    np.testing.assert_allclose(ours.relative_error, theirs.relative_error, rtol=1e-6)
    assert ours.verdict.word == theirs.verdict.word
    states = other.q[::40], other.qd[::40], other.qdd[::40]
    for name in ("torque", "std", "inside"):
        np.testing.assert_allclose(
            getattr(loaded.predict(*states), name), getattr(fit.predict(*states), name), rtol=1e-6
        )
    assert loaded.summary().splitlines()[-3:] == fit.summary().splitlines()[-3:]
    again = loaded.to_dict()
    assert {k: again[k] for k in ("parameters", "joints")} == {
        k: fit.to_dict()[k] for k in ("parameters", "joints")
    }


def test_what_needs_samples_is_refused(tmp_path: Path) -> None:
    fitted("plain").to_json(tmp_path / "fit.json")
    loaded = sy.Fit.load(tmp_path / "fit.json")
    for call in (loaded.regressor, loaded.bootstrap):
        with pytest.raises(CallError, match="was loaded from a file"):
            call()


def test_files_that_are_no_fit_are_named(tmp_path: Path) -> None:
    file = tmp_path / "fit.json"
    with pytest.raises(ModelError, match=r"fit\.json"):
        sy.Fit.load(file)
    for text in ("no json", "[1, 2]", '{"verdict_inputs": {}}', '{"robot": "x"}'):
        file.write_text(text)
        with pytest.raises(ModelError, match=r"fit\.json"):
            sy.Fit.load(file)
    content = fitted("plain").to_dict()
    content["parameters"][0]["name"] = "other.m"
    file.write_text(json.dumps(content))
    with pytest.raises(ModelError, match="its robot has other parameters"):
        sy.Fit.load(file)

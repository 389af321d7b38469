"""Robots, logs and fits of the metamorphic laws, and when two fits are the same.

Robots of the zoo have what matters: tree, sliding joints, mimic joints, rotors, couplings, links
without mass, tilted gravity.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import steelyard as sy
from tests import zoo
from tests.motions import recorded, rubbing
from tests.statistics.problems import TERMS

FIXED = {"delay": 0, "decimate": 1, "friction": TERMS, "coulomb_width": 0.3, "diagnose": False}
ROBOTS = ("crane", "hand", "lift")
LINEAR = ("ols", "wls", "irls")
FREE = (*LINEAR, "sequential", "ridge")  # no description has a part in them
EVERY_ROBOT = pytest.mark.parametrize("name", ROBOTS)


# in which torques are linear, so that nothing is searched for
KEYS = ("armature", "viscous", "coulomb", "offset")


@cache
def robot(name):
    """A robot of the zoo with plain friction, or a built-in one with friction and rotors."""
    if name not in zoo.ZOO:
        return rubbing(sy.load(name))
    m = zoo.mechanism(name)
    joints = (
        replace(j, terms=type(j.terms).of({key: j.terms[key] for key in KEYS if key in j.terms}))
        for j in m.joints
    )
    return sy.Robot(replace(m, joints=tuple(joints)))


@cache
def log(name, seed=0):
    return recorded(robot(name), seconds=6, rate=40, noise=0.3, seed=seed, size=0.5)


@cache
def fit(name, estimator):
    return sy.identify(robot(name), log(name), estimator, **FIXED)


def close(result, expected, rtol=1e-6):
    """Equal up to a part of the value or of the largest one; infinite in the same places."""
    result, expected = np.asarray(result), np.asarray(expected)
    np.testing.assert_allclose(
        result, expected, rtol=rtol, atol=rtol * np.abs(expected[np.isfinite(expected)]).max()
    )


def same(one, other, rtol=1e-6, std=1e-4):
    """Estimates, errors, deviations and the verdict are the same."""
    close(one.base_values, other.base_values, rtol)
    close(one.rms, other.rms, 1e-5)
    close(one.base_std, other.base_std, std)
    assert one.rank == other.rank
    assert one.verdict.word == other.verdict.word


def changed(log, **signals):
    return log.replace(**signals)

"""Stäubli TX40: coupled wrist, the mask of the source, held-out blocks of one second."""

from __future__ import annotations

import re

import numpy as np
import pytest

import steelyard as sy
from tests.real.measured import folder, held_out, tx40

COUPLING = sy.Coupling("joint_5", "joint_6")
MASK = {f"joint_{j}": v for j, v in enumerate([0.050, 0.050, 0.075, 0.072, 0.056, 0.122], 1)}

CLASSICAL = {
    "coupling": COUPLING,
    "mask": MASK,
    "smoothing": "butterworth",
    "cutoff": 50,
    "decimate": 100,
    "delay": 0,
    "coulomb_width": 0,
}


@pytest.fixture(scope="module")
def case():
    return tx40()


def test_sixty_one_base_parameters_with_the_coupled_wrist(case):
    robot, log = case
    fit = sy.identify(robot, log, "ols", **CLASSICAL, diagnose=False)
    assert fit.base.n_base == fit.rank == 61
    assert fit.total_relative_error <= 0.0515


def test_in_sample_with_the_source_mask(case):
    robot, log = case
    fit = sy.identify(robot, log, coupling=COUPLING, mask=MASK, diagnose=False)
    assert fit.total_relative_error <= 0.047  # plain least squares 5.10 to 5.14 %
    free = sy.identify(robot, log, "wls", coupling=COUPLING, mask=MASK, diagnose=False)
    assert fit.total_relative_error - free.total_relative_error <= 0.002


def test_without_a_mask_low_speed_friction_is_modelled(case):
    robot, log = case
    # plain least squares 7.4 to 9.3 %
    assert sy.identify(robot, log, coupling=COUPLING, diagnose=False).total_relative_error <= 0.070


def test_held_out_on_alternating_seconds(case):
    robot, log = case
    blocks = log.blocks(1.0)
    for train, test in ((blocks[::2], blocks[1::2]), (blocks[1::2], blocks[::2])):
        assert (
            held_out(sy.identify(robot, train, coupling=COUPLING, mask=MASK, diagnose=False), test)
            <= 0.062
        )  # plain weighted least squares 6.82 %


def published():
    """Return the published base parameters by short names: value, relative std [%]."""
    ours = {"mx": "mcx", "my": "mcy", "mz": "mcz", "fv": "Fv", "fs": "Fc", "off": "F0"}
    coupled = {"Iam6": "Iam6", "fvm6": "Fvm6", "fsm6": "Fcm6"}
    table = {}
    for line in (folder("staubli_tx40") / "TX40_bp_5.csv").read_text().strip().splitlines():
        name, value, std = line.split(",")[:3]
        first = name.split(" ")[0]
        term, number = re.fullmatch(r"([A-Za-z]+)(\d)", first).groups()
        table[coupled.get(first, ours.get(term, term) + number)] = (float(value), float(std))
    return table


def test_well_identified_parameters_agree_with_the_source(case):
    robot, log = case
    fit = sy.identify(robot, log, "ols", **CLASSICAL, diagnose=False)
    ours = {}
    for name, value in zip(fit.base.names, fit.base_values, strict=True):
        owner, _, term = name.rpartition(".")
        ours[term + owner[-1]] = value
    seen = {name: value for name, (value, std) in published().items() if std < 1.0}
    assert set(seen) == {"Izz1", "Fv1", "Izz2", "Fv2"}
    for name, value in seen.items():
        assert abs(ours[name] / value - 1) < 0.02, name
    others = {name: value for name, (value, std) in published().items() if 1.0 <= std < 3.0}
    assert np.median([abs(ours[name] / value - 1) for name, value in others.items()]) < 0.02

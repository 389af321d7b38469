"""Mass and centre of mass of each link.

Values with the uncertainty of what the samples show, words where they do not.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification.result.links import link_estimates
from tests.motions import recorded, rubbing


@cache
def fitted(estimator: str | None = None, seed: int = 0, **options) -> tuple[sy.Fit, sy.Robot]:
    robot = rubbing(sy.load("spatial_3r"))
    true = sy.perturbed(robot, seed + 1)
    # known rotors would tell the inertia of the first link, and by that its mass
    described = robot.with_rotors([0.0] * 3)
    return sy.identify(described, recorded(true, noise=0.2, seed=seed), estimator, **options), true


def centres(parameters: np.ndarray, links: int = 3) -> np.ndarray:
    bodies = parameters[..., : 10 * links].reshape(*parameters.shape[:-1], links, 10)
    return bodies[..., 1:4] / bodies[..., :1]


def test_values_are_those_of_the_parameters():
    fit, _ = fitted()
    assert fit.links.names == ("link1", "link2", "link3")
    np.testing.assert_array_equal(fit.links.mass, fit.parameters[:30:10])
    np.testing.assert_allclose(fit.links.com, centres(fit.parameters))
    np.testing.assert_array_equal(fit.links.mass_std, fit.parameters_std[:30:10])


def test_the_spread_of_a_centre_is_that_of_drawn_parameters(rng):
    """By a second route: parameters drawn with a hundredth of their covariance, so that mc / m is
    linear over it.
    """
    fit, _ = fitted()
    drawn = rng.multivariate_normal(
        fit.parameters, 1e-4 * fit.uncertainty.parameters, size=20_000, method="eigh"
    )
    spread = 100 * centres(drawn).std(axis=0)
    shown = np.isfinite(fit.links.com_std)
    assert shown.sum() >= 4
    np.testing.assert_allclose(fit.links.com_std[shown], spread[shown], rtol=0.05)


def test_true_masses_lie_within_two_standard_deviations():
    away = []
    for seed in range(8):
        fit, true = fitted(seed=seed)
        shown = np.isfinite(fit.links.mass_std)
        away.append((fit.links.mass - true.parameters[:30:10])[shown] / fit.links.mass_std[shown])
    z = np.abs(np.concatenate(away))
    assert len(z) >= 12
    assert np.mean(z < 2) > 0.8


def test_what_the_log_does_not_show_is_given_by_the_description():
    fit, _ = fitted()
    table = fit.links.table()
    assert np.isinf(fit.links.mass_std[0]), (
        "link1 turns about a vertical axis: its mass acts on nothing"
    )
    assert fit.links.mass[0] == pytest.approx(fit.initial.parameters[0], rel=0.2)
    assert table.rows[0][2] == "described"
    assert table.rows[0] in [table.rows[k] for k in table.faint]
    assert "from the description, the log does not show it" in table.note
    assert all(cell not in table.rows[2] for cell in ("described",))


def test_what_is_held_says_so():
    fit, _ = fitted(hold="link3")
    assert fit.links.mass_std[2] == 0
    assert np.all(fit.links.com_std[2] == 0)
    assert fit.links.table().rows[2][2::2] == ("held",) * 4


def test_an_estimator_without_a_description_shows_what_stands_alone():
    fit, _ = fitted("wls")
    assert not fit.links.described
    assert np.all(np.isinf(fit.links.mass_std))
    assert "not shown" in fit.links.table().to_text()
    gantry = sy.load("planar_rp")
    slide = sy.identify(gantry, recorded(gantry, noise=0.05), "wls")
    alone = [name for name in slide.base.alone if name.endswith(".m")]
    if alone:  # the mass of a slide acts by itself
        assert np.isfinite(slide.links.mass_std[slide.links.names.index(alone[0][:-2])])


def test_without_a_covariance_mass_and_moment_spread_by_themselves():
    """c = mc / m: with m = 2 +- 0.1 and mc = 1 +- 0.3 the centre is 0.5 +- sqrt(0.3^2 + (0.5
    0.1)^2) / 2.
    """
    fit, _ = fitted()
    pi, std = fit.parameters.copy(), np.zeros(len(fit.parameters))
    pi[:4], std[:4] = [2.0, 1.0, 0.0, 0.0], [0.1, 0.3, 0.0, 0.0]
    links = link_estimates(fit.model, pi, std, None, None)
    np.testing.assert_allclose(links.com[0], [0.5, 0.0, 0.0])
    np.testing.assert_allclose(links.com_std[0], [np.hypot(0.3, 0.05) / 2, 0.0, 0.0])


def test_a_link_without_mass_has_no_centre():
    """Its centre is NaN, and nothing fails."""
    fit, _ = fitted()
    pi = fit.parameters.copy()
    pi[10:20] = 0.0
    links = link_estimates(
        fit.model, pi, fit.parameters_std, fit.uncertainty.parameters, fit.estimate.posterior
    )
    assert np.all(np.isnan(links.com[1]))
    assert np.all(np.isinf(links.com_std[1]))
    assert np.all(np.isfinite(links.com[2]))


def test_masses_and_centres_are_in_summary_and_json():
    fit, _ = fitted()
    assert fit.links.table().to_text() in fit.summary()
    first, *_, last = fit.to_dict()["links"]
    assert first["name"] == "link1"
    assert first["mass_standard_deviation"] is None
    assert last["mass"] == pytest.approx(fit.links.mass[2])
    assert last["com"] == pytest.approx(fit.links.com[2].tolist())

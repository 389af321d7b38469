"""Every figure of the report has the numbers of the fit, and the page loses none."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.drawing.colours import DARK, hue
from steelyard.drawing.figure import Curve, Figure, Panel, Rule
from steelyard.drawing.plotly_renderer import to_plotly
from steelyard.identification.figures import residual_figures, state_figures
from steelyard.identification.figures.fit_figures import speed_friction
from steelyard.identification.friction.residual_split import CAUSES
from steelyard.mechanism.model import Limits
from steelyard.reporting.compress_figures import compress_figures, letters
from steelyard.reporting.content import all_grids, gather
from steelyard.reporting.page import palette, render
from tests.packed_figures import bytes_of, unpacked


@cache
def made() -> tuple[sy.Fit, sy.Validation]:
    """A fit of a simulated robot that turns and slides, and its validation on another motion."""
    described = sy.load("planar_rp").mechanism
    joints = tuple(replace(joint, limits=Limits(-0.5, 2.5, 4.0)) for joint in described.joints)
    robot = sy.Robot(replace(described, joints=joints)).with_friction(viscous=2.0, coulomb=1.5)
    real = sy.perturbed(robot, 3)
    fit = sy.identify(
        robot,
        sy.record(real, sy.excite(robot, seconds=8, harmonics=5, candidates=5), rate=100),
        "wls",
    )
    return fit, fit.validate(
        sy.record(real, sy.excite(robot, seconds=6, harmonics=5, candidates=1, seed=5), rate=100)
    )


@cache
def drawn() -> dict[str, Any]:
    content = gather(*made())
    several = [
        *content.figures.values(),
        *(figure for grid in content.grids.values() for figure in grid.figures),
    ]
    return unpacked(letters(compress_figures(several)))


def traces(name: str) -> list[dict[str, Any]]:
    return list(drawn()[name]["data"])


def near(result: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    np.testing.assert_allclose(result, expected, atol=1.3e-4 * np.ptp(expected) + 1e-9)


def left(fit: sy.Fit) -> NDArray[np.float64]:
    return np.where(fit.validation.keep, fit.measured - fit.predicted, np.nan)


def test_the_states_of_a_validation_are_those_at_its_times() -> None:
    fit, validation = made()
    for each in (fit.validation, validation, validation.before):
        q, qd, qdd = each.states
        assert q.shape == qd.shape == qdd.shape == (len(each.t), fit.robot.n)
        np.testing.assert_allclose(
            np.gradient(q[:, 0], each.t)[5:-5], qd[5:-5, 0], atol=0.05 * np.abs(qd[:, 0]).max()
        )
        np.testing.assert_array_equal(
            each.inside if each.inside is not None else fit.region.contains(q, qd, qdd),
            fit.region.contains(q, qd, qdd),
        )


def test_the_band_is_that_of_the_fit_and_says_what_it_holds() -> None:
    fit, validation = made()
    for name, each in (("torques", fit.validation), ("validation", validation)):
        bands = [trace for trace in traces(name) if trace["name"] == "95 % band"]
        middle = [trace for trace in traces(name) if trace["name"] == "predicted"]
        for j, line in enumerate(middle):
            for edge, sign in zip(bands[2 * j : 2 * j + 2], (-1, 1), strict=True):
                away = edge["y"] - sign * 1.96 * fit.sigma[j] - line["y"]
                assert np.max(np.abs(away)) < 3e-4 * np.ptp(line["y"])
                assert fit.sigma[j] > 30 * np.mean(np.abs(away))
        mean = np.mean(np.abs(each.residuals) <= 1.96 * fit.sigma)
        assert (
            f"it contains {100 * mean:.0f} % of these"
            in gather(fit, validation).figures[name].caption
        )


def test_hovering_gives_time_measured_and_predicted_with_units_and_every_strip_has_its_times() -> (
    None
):
    fit, _ = made()
    shown = drawn()["torques"]["layout"]
    assert shown["hovermode"] == "x unified"
    assert shown["hoversubplots"] == "axis"
    for j, unit in enumerate(fit.model.row_units):
        own = [
            trace
            for trace in traces("torques")
            if trace.get("xaxis") == f"x{j + 1 if j else ''}" and trace["name"] != "95 % band"
        ]
        assert [trace["name"] for trace in own] == [
            "measured",
            "predicted",
            "before",
            "residual",
        ]
        assert all(trace["hovertemplate"].startswith("%{y:.4g} " + unit) for trace in own)
        time = shown[f"xaxis{j + 1 if j else ''}"]
        assert time["anchor"] == f"y{2 * j + 2}"
        assert "%{x" in time["unifiedhovertitle"]["text"]
        assert time.get("matches", "x") == "x"
        assert time.get("showticklabels", True)


def test_masses_have_two_standard_deviations() -> None:
    fit, _ = made()
    before, *own = traces("masses")
    assert before["x"] == [body.inertia.m for body in fit.initial.tree.bodies]
    results = {
        name: (x, spread)
        for trace in own
        for name, x, spread in zip(trace["y"], trace["x"], trace["error_x"]["array"], strict=True)
    }
    for name, mass, std in zip(fit.links.names, fit.links.mass, fit.links.mass_std, strict=True):
        assert results[name] == (mass, 2 * std if np.isfinite(std) else 0.0)


def test_the_budget_has_the_shares_of_the_causes() -> None:
    fit, _ = made()
    bars = traces("budget")
    assert [bar["name"] for bar in bars] == list(CAUSES)
    np.testing.assert_allclose(
        np.array([bar["x"] for bar in bars]).T, 100 * fit.residual_split.shares
    )
    np.testing.assert_allclose(np.sum([bar["x"] for bar in bars], axis=0), 100)
    assert drawn()["budget"]["layout"]["barmode"] == "stack"


def test_correlations_are_those_of_the_covariance() -> None:
    fit, _ = made()
    (square,) = traces("correlation")
    size = np.sqrt(np.diag(fit.covariance))
    np.testing.assert_allclose(square["z"], fit.covariance / np.outer(size, size), atol=0.0051)
    assert square["x"] == square["y"] == list(fit.base.names)


def test_coverage_shows_states_limits_and_region() -> None:
    fit, _ = made()
    q, qd, _ = fit.validation.states
    for j in range(fit.robot.n):
        (dots,), shapes = traces(f"coverage-{j}"), drawn()[f"coverage-{j}"]["layout"]["shapes"]
        index = residual_figures.evenly_spread(np.ones(len(q), bool))
        near(dots["x"], q[index, j])
        near(dots["y"], qd[index, j])
        limits = fit.robot.tree.limits[j]
        expected = [
            (fit.region.q_low[j], fit.region.q_high[j], fit.region.qd_most[j]),
            (limits.lower, limits.upper, limits.velocity),
        ]
        assert np.isfinite(expected).all()
        assert [(shape["x0"], shape["x1"], shape["y1"]) for shape in shapes] == expected


def test_shares_of_range_and_speed() -> None:
    q, qd = np.array([-1.0, 0.5]), np.array([-0.2, 0.1])
    assert state_figures.covered_shares(q, qd, (-2.0, 1.0, 0.4)) == ((0.5, "range"), (0.5, "speed"))
    unlimited = state_figures.covered_shares(q, qd, (-np.inf, np.inf, np.inf))
    assert all(np.isnan(share) for share, _ in unlimited)
    free = state_figures.coverage_panel("j", "rad", q, qd, (-np.inf, np.inf, 0.4), (-1.0, 1.0, 0.4))
    assert [(rule.position, rule.along) for rule in free.of(Rule)] == [(-0.4, "y"), (0.4, "y")]


def test_friction_has_the_fitted_curve_and_the_samples_behind_it() -> None:
    fit, _ = made()
    q, qd, qdd = fit.validation.states
    rigid = fit.robot.inverse_dynamics(q, qd, qdd) - fit.robot.friction_torque(qd)
    for j in range(fit.robot.n):
        dots, curve = traces(f"friction-{j}")
        speeds = np.zeros((len(curve["x"]), fit.robot.n))
        speeds[:, j] = np.asarray(curve["x"])
        smooth = np.abs(speeds[:, j]) > 1e-3
        np.testing.assert_allclose(
            curve["y"][smooth],
            fit.robot.friction_torque(speeds)[smooth, j],
            atol=1e-3 * np.ptp(curve["y"]),
        )
        index = residual_figures.evenly_spread(fit.validation.keep[:, j])
        near(dots["x"], qd[index, j])
        # the torque has passed a low-pass, the state has not
        away = np.abs(dots["y"] - (fit.measured - rigid)[index, j])
        assert np.median(away) < 0.02 * np.ptp(dots["y"])


def test_friction_that_depends_on_load_is_drawn_by_its_part_of_speed() -> None:
    robot = sy.load("planar_2r").with_friction(viscous=1.0, load=0.1)
    rub = speed_friction(robot)
    q, qd = np.array([[0.3, -0.4]]), np.array([[0.5, -0.7]])
    np.testing.assert_allclose(rub(qd, q), robot.friction_torque(qd, q))
    np.testing.assert_array_equal(rub(0 * qd, q), 0.0)


def test_residuals_against_speed_and_position_with_their_mean() -> None:
    fit, _ = made()
    q, qd, _ = fit.validation.states
    for what, x in (("speed", qd), ("position", q)):
        for j in range(fit.robot.n):
            dots, mean = traces(f"{what}-{j}")
            index = residual_figures.evenly_spread(fit.validation.keep[:, j])
            near(dots["x"], x[index, j])
            near(dots["y"], left(fit)[index, j])
            near(mean["y"], residual_figures.piecewise_mean(x[:, j], left(fit)[:, j])[1])
    x = np.arange(10.0)[::-1]
    np.testing.assert_array_equal(
        residual_figures.piecewise_mean(x, 2 * x, 5), [[0.5, 2.5, 4.5, 6.5, 8.5], [1, 5, 9, 13, 17]]
    )


def test_a_spectrum_holds_the_variance_and_finds_a_tone(rng: np.random.Generator) -> None:
    t = np.arange(4096) / 100
    noise = rng.normal(size=(4096, 1)) * 0.3
    frequency, density = residual_figures.residual_spectra(
        t, noise + 0.5 * np.sin(2 * np.pi * 12.5 * t)[:, None]
    )
    step = frequency[1] - frequency[0]
    np.testing.assert_allclose(density.sum() * step, 0.09 + 0.125, rtol=0.08)
    assert frequency[np.argmax(density[:, 0])] == pytest.approx(12.5)
    np.testing.assert_allclose(np.median(density), 2 * 0.09 / 100, rtol=0.15)
    fit, _ = made()
    own = residual_figures.residual_spectra(fit.t, left(fit))
    for j, trace in enumerate(traces("spectra")):
        np.testing.assert_allclose(trace["x"], own[0], rtol=1e-5)
        np.testing.assert_allclose(
            trace["y"], np.sqrt(own[1][:, j]), atol=1e-4 * np.sqrt(own[1][:, j].max())
        )
    short = residual_figures.residual_spectra(t[:4], noise[:4])
    assert np.all(short[1] == 0)


def test_fits_without_rows_of_joints_have_only_the_coverage() -> None:
    fit, _ = made()
    assert set(all_grids(fit)) == {"coverage", "friction", "speed", "position"}
    assert all_grids(replace(fit, validation=replace(fit.validation, states=None))) == {}
    assert (
        "friction"
        not in render(
            gather(replace(fit, validation=replace(fit.validation, states=None)))
        ).partition("<main>")[0]
    )


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_series_survive_packing(rng: np.random.Generator, scale: float) -> None:
    cases = {
        "noise": scale * rng.normal(size=3000),
        "holes": np.where(np.arange(500) % 7, scale * rng.normal(size=500), np.nan),
        "times": scale * (3.0 + 0.004 * np.arange(5000)[rng.random(5000) < 0.5]),
        "constant": np.full(9, scale),
        "nothing": np.full(4, np.nan),
        "empty": np.zeros(0),
        "decades": scale * 10.0 ** rng.uniform(-6, 3, 50),
    }
    figures = [
        Figure(name=name, rows=((Panel(marks=(Curve(x=x, y=np.zeros(len(x))),)),),))
        for name, x in cases.items()
    ]
    result = unpacked(letters(compress_figures(figures)))
    for name, x in cases.items():
        tolerance = {"times": 1e-6, "decades": 0.0}.get(name, 1.3e-4)
        span = np.ptp(x[np.isfinite(x)]) if np.isfinite(x).any() else 0.0
        np.testing.assert_allclose(
            result[name]["data"][0]["x"], x, rtol=1e-6, atol=tolerance * span, equal_nan=True
        )


def test_letters_hold_every_byte(rng: np.random.Generator) -> None:
    for length in (*range(15), 1000):
        data = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
        text = letters(data)
        assert bytes_of(text)[:length] == data
        assert "<" not in text
    assert len(letters(bytes(13_000))) == 16_000


def test_every_colour_of_the_figures_is_known_in_the_dark() -> None:
    content = gather(*made())
    known = {**palette(content)}
    several = [
        *content.figures.values(),
        *(figure for grid in content.grids.values() for figure in grid.figures),
    ]
    used = set(
        re.findall(
            r"#[0-9a-fA-F]{3,8}\b|hsl\([^)]*\)", str([to_plotly(figure) for figure in several])
        )
    )
    assert used <= set(known), used - set(known)
    assert len(used) > 8
    assert len(set(DARK.values())) == len(DARK)
    assert hue(1, 3) != hue(1, 3, dark=True)


def test_sections_are_linked_and_in_order() -> None:
    text = render(gather(*made()))
    targets = re.findall(r'href="#([\w-]+)"', text)
    places = [text.index(f'id="{target}"') for target in targets]
    assert places == sorted(places)
    assert {
        "links",
        "errors",
        "motion",
        "torques",
        "validation",
        "friction",
        "residuals",
        "parameters",
        "next",
    } <= set(targets)
    alone = render(gather(made()[0]))
    assert 'href="#validation"' not in alone
    assert "DecompressionStream" in alone
    assert "too old to unpack" in alone
    assert "<noscript>" in alone


def test_the_picture_shows_every_joint_without_matplotlib() -> None:
    fit, _ = made()
    picture = gather(fit).picture
    assert picture in render(gather(fit))
    for name in fit.robot.joint_names:
        assert f">{name}</text>" in picture
    assert picture.count('class="sk-mass"') == sum(
        body.inertia.m > 0 for body in fit.robot.tree.bodies
    )

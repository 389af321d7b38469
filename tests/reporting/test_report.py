"""The report: one file, whole, that asks nobody for anything and shows the numbers it was given."""

from __future__ import annotations

import builtins
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.drawing.downsample import min_max_indices, running_time
from steelyard.drawing.figure import Intervals
from steelyard.drawing.numbers import percent, short, with_uncertainty
from steelyard.drawing.signal_figures import marked_intervals
from steelyard.drawing.table import Column, Table
from steelyard.identification.figures.residual_figures import correlogram
from steelyard.reporting import accuracy_table, base_table, report
from steelyard.reporting.content import gather
from steelyard.reporting.tables import combinations
from tests.packed_figures import unpacked

URL_ATTRIBUTES = {"src", "href", "srcset", "data", "action", "poster", "background", "xlink:href"}


class Elements(HTMLParser):
    """Every element with its attributes, the text of scripts apart, and all visible text."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.scripts:
            self.scripts[-1] += data
        else:
            self.text.append(data)


@pytest.fixture(scope="module")
def fit_and_robot() -> tuple[sy.Fit, sy.Robot]:
    """A fit of a simulated robot, and that robot."""
    robot = sy.load("spatial_3r").with_friction(viscous=4.0, coulomb=3.0)
    real = sy.perturbed(robot, 7)
    log = sy.record(real, sy.excite(robot, seconds=10, harmonics=6, candidates=10), rate=100)
    fit = sy.identify(robot, log, "wls")
    estimate = replace(fit.estimate, notes=(*fit.estimate.notes, "Noted by <b>R & D</b>."))
    return replace(fit, estimate=estimate), real


@pytest.fixture(scope="module")
def page(
    fit_and_robot: tuple[sy.Fit, sy.Robot], tmp_path_factory: pytest.TempPathFactory
) -> Elements:
    fit, real = fit_and_robot
    other = sy.record(
        real, sy.excite(fit.initial, seconds=10, harmonics=6, candidates=1, seed=3), rate=100
    )
    path = report(
        fit, tmp_path_factory.mktemp("report") / "report.html", validation=other, true_robot=real
    )
    assert path.stat().st_size < 2e6
    elements = Elements()
    elements.feed(path.read_text(encoding="utf-8"))
    return elements


def figures(page: Elements) -> dict[str, Any]:
    """The figures of the page, unpacked as its script does it."""
    ids = [attributes.get("id") for tag, attributes in page.elements if tag == "script"]
    return unpacked(page.scripts[ids.index("packed-figures")].strip())


def test_nothing_is_asked_of_the_network(page: Elements) -> None:
    policies = [
        a.get("content") or ""
        for tag, a in page.elements
        if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policies) == 1
    rules = dict(rule.strip().split(" ", 1) for rule in policies[0].split(";"))
    assert rules.pop("default-src") == "'none'", "the browser itself refuses every request"
    assert not re.search(r"https?:|\*|'self'", " ".join(rules.values()))
    for tag, attributes in page.elements:
        assert tag not in {"link", "iframe", "object", "embed", "base"}
        asked = {name: value for name, value in attributes.items() if name in URL_ATTRIBUTES}
        assert all(str(value).startswith("#") for value in asked.values()), (
            f"<{tag}> asks for {asked}"
        )
    style = "".join(page.text[: page.text.index("\n\n") if "\n\n" in page.text else 3])
    assert "@import" not in style
    assert "url(" not in style


def test_what_the_fit_says_is_on_the_page_as_text(
    page: Elements, fit_and_robot: tuple[sy.Fit, sy.Robot]
) -> None:
    fit, _ = fit_and_robot
    text = "".join(page.text)
    assert "Noted by <b>R & D</b>." in text, "escaped, not read as markup"
    assert all(sentence in text for sentence in fit.verdict.reasons)
    assert fit.verdict.word in text
    for name in (*fit.base.names, *fit.parameter_names, *fit.robot.joint_names):
        assert name in text
    for word in (
        "Next step",
        "Provenance",
        "before",
        "validation",
        percent(fit.total_relative_error, 2),
    ):
        assert word in text


def test_the_torques_drawn_are_those_of_the_fit(
    page: Elements, fit_and_robot: tuple[sy.Fit, sy.Robot]
) -> None:
    fit, _ = fit_and_robot
    drawn = figures(page)
    traces = drawn["torques"]["data"]
    keep = fit.validation.keep  # rows at rest are gaps of what is compared
    for label, signal in (
        ("measured", np.where(keep, fit.measured, np.nan)),
        ("predicted", fit.predicted),
        ("residual", np.where(keep, fit.residuals, np.nan)),
    ):
        matching_traces = [trace for trace in traces if trace["name"] == label]
        assert len(matching_traces) == fit.robot.n
        for j, trace in enumerate(matching_traces):
            x, y = trace["x"], trace["y"]
            assert len(x) == len(y) <= 4000
            index = np.searchsorted(fit.t, x - 1e-3)
            np.testing.assert_allclose(x, fit.t[index], atol=1e-5)
            spread = np.nanmax(signal[:, j]) - np.nanmin(signal[:, j])
            np.testing.assert_allclose(y, signal[index, j], atol=1.3e-4 * spread)
    errors = {trace["name"]: trace["x"] for trace in drawn["errors"]["data"] if "name" in trace}
    np.testing.assert_allclose(errors["after"], 100 * fit.relative_error)


def test_the_verdict_comes_first_and_takes_the_other_log_into_account(
    page: Elements, fit_and_robot: tuple[sy.Fit, sy.Robot]
) -> None:
    fit, _ = fit_and_robot
    text = "".join(page.text)
    content = gather(fit, fit.validation)
    assert content.verdict == str(fit.judged(fit.validation))
    worse = replace(fit.validation, predicted=-fit.validation.predicted)
    assert gather(fit, worse).word == "refused"
    message = text[text.index("Dynamic identification") :]
    headings = (
        "Links",
        "Errors",
        "Region of the motion",
        "Torques",
        "Validation on another motion",
        "Friction",
        "Residuals",
        "Parameters",
    )
    places = [
        message.index(word) for word in (content.word, *(f"\n{heading}\n" for heading in headings))
    ]
    assert places == sorted(places)


def test_the_region_is_given_in_numbers(
    page: Elements, fit_and_robot: tuple[sy.Fit, sy.Robot]
) -> None:
    fit, _ = fit_and_robot
    rows = gather(fit).tables["region"].rows
    region = fit.region
    for j, row in enumerate(rows):
        numbers = (region.q_low[j], region.q_high[j], region.qd_most[j], region.qdd_most[j])
        assert row == (fit.robot.joint_names[j], *(short(float(x)) for x in numbers), "rad")
        assert all(cell in "".join(page.text) for cell in row)


def test_states_outside_the_region_are_shaded(
    page: Elements, fit_and_robot: tuple[sy.Fit, sy.Robot]
) -> None:
    fit, _ = fit_and_robot
    bands = [
        shape for shape in figures(page)["torques"]["layout"]["shapes"] if shape["yref"] == "paper"
    ]
    inside = fit.validation.inside
    assert 0 < np.mean(~inside) < 0.11
    within = np.any([(fit.t >= band["x0"]) & (fit.t <= band["x1"]) for band in bands], axis=0)
    assert np.all(within[~inside]), "every sample outside is in a band"
    assert np.mean(within) < 2 * np.mean(~inside) + 0.01
    whole = replace(fit, validation=replace(fit.validation, inside=np.ones_like(inside)))
    marks = [
        mark for panel in gather(whole).figures["torques"].panels for mark in panel.of(Intervals)
    ]
    assert sum(len(mark.spans) for mark in marks) == 0
    assert "Shaded" not in gather(whole).figures["torques"].caption


def test_bands_over_marked_stretches() -> None:
    time = np.arange(1000) / 100
    outside = np.zeros(1000, bool)
    outside[[0, *range(100, 150), 500, 999]] = True
    spans = marked_intervals(time, outside)
    np.testing.assert_allclose(
        spans, [[-0.005, 0.005], [0.995, 1.495], [4.995, 5.005], [9.985, 9.995]]
    )
    assert len(marked_intervals(time, np.zeros(1000, bool))) == 0
    every_other = np.arange(100_000) % 2 == 0
    assert len(marked_intervals(np.arange(100_000) / 1e3, every_other)) == 1, (
        "what is close is drawn as one"
    )


def test_the_combination_behind_each_base_parameter_is_wherever_one_is_shown(
    page: Elements, fit_and_robot: tuple[sy.Fit, sy.Robot]
) -> None:
    fit, real = fit_and_robot
    shown = combinations(fit)
    for made_table in (base_table(fit), base_table(fit, real), accuracy_table(fit, real)):
        for row, text in zip(made_table.rows, shown, strict=True):
            assert text in row
    hovered = figures(page)["uncertainty"]["data"][0]["text"]
    assert sorted(text.partition(": ")[0] for text in hovered) == sorted(
        f"{name} = {text}" for name, text in zip(fit.base.names, shown, strict=True)
    )
    assert all(text in fit.summary() for text in fit.base.expressions)


def test_a_long_log_keeps_every_peak_in_few_points(rng: np.random.Generator) -> None:
    signal = rng.normal(size=200_000)
    signal[[777, 150_001]] = 50.0, -50.0
    other = rng.normal(size=200_000)
    other[4242] = 99.0
    selected = min_max_indices((signal, other), 4000)
    assert len(selected) <= 4000
    assert {0, 777, 4242, 150_001, 199_999} <= set(selected.tolist())
    assert np.all(np.diff(selected) > 0)
    np.testing.assert_array_equal(min_max_indices((signal[:100],), 4000), np.arange(100))


def test_the_times_of_several_logs_follow_each_other() -> None:
    t = np.concatenate([np.arange(5) * 0.1, np.arange(4) * 0.1])
    np.testing.assert_allclose(running_time(t), np.arange(9) * 0.1)


def test_the_correlogram_is_that_of_the_definition(rng: np.random.Generator) -> None:
    x = rng.normal(size=400)
    lags, r = correlogram(x, 0.01)
    d = x - x.mean()
    np.testing.assert_allclose(
        r[:5], [d[: 400 - k] @ d[k:] / (d @ d) for k in range(5)], atol=1e-12
    )
    np.testing.assert_allclose(lags[:3], [0, 0.01, 0.02])


def test_nothing_is_written_over_and_nothing_half(
    fit_and_robot: tuple[sy.Fit, sy.Robot], tmp_path: Path
) -> None:
    fit, _ = fit_and_robot
    path = tmp_path / "report.html"
    path.write_text("mine")
    with pytest.raises(sy.CallError, match="exists already"):
        report(fit, path)
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    report(fit, path, overwrite=True)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_missing_package_names_the_extra(
    fit_and_robot: tuple[sy.Fit, sy.Robot], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, _ = fit_and_robot
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "jinja2":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(sy.MissingExtra, match=r"steelyard\[report\]"):
        report(fit, tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_the_table_of_parameters_counts_what_is_true(
    fit_and_robot: tuple[sy.Fit, sy.Robot],
) -> None:
    fit, real = fit_and_robot
    content = gather(fit, true_robot=real)
    true = fit.base.values(real.with_friction(offset=0.0).with_rotors(0.0).parameters)
    value, sigma = fit.base_values, fit.base_standard_deviation
    inside = int(np.sum(np.abs(value - true) <= 2 * sigma))
    assert f"{inside} of {fit.base.n_base} true values" in content.tables["base"].note
    assert content.advice == (fit.verdict.next_step,)


def test_the_old_name_of_the_true_robot_still_works(
    fit_and_robot: tuple[sy.Fit, sy.Robot], tmp_path: Path
) -> None:
    fit, real = fit_and_robot
    with pytest.warns(DeprecationWarning, match="true_robot"):
        path = report(fit, tmp_path / "old.html", truth=real)
    assert "true values lie within" in path.read_text(encoding="utf-8")


def test_every_parameter_has_a_unit(fit_and_robot: tuple[sy.Fit, sy.Robot]) -> None:
    fit, _ = fit_and_robot
    tables = gather(fit).tables
    units = {
        row[0].rpartition(".")[2]: row[-1] for name in ("base", "all") for row in tables[name].rows
    }
    expected = {
        "m": "kg",
        "mcx": "kg m",
        "Ixx": "kg m²",
        "Ia": "kg m²",
        "Fv": "N m s/rad",
        "Fc": "N m",
    }
    assert {term: units[term] for term in expected} == expected
    assert all(units.values())


TABLE = Table(
    "Masses & more",
    (Column("link", numeric=False), Column("mass", "kg", group="new")),
    (("link_1", "12.5"), ("link_2", "−3")),
    "A note.",
)


def test_a_table_in_every_form() -> None:
    lines = TABLE.to_text().splitlines()
    assert lines[0] == "Masses & more"
    assert lines[1].split() == ["link", "new", "mass", "[kg]"]
    assert len({len(line) for line in lines[1:5]}) == 1
    assert "| link_1 | 12.5 |" in TABLE.to_markdown()
    assert "| :--- | ---: |" in TABLE.to_markdown()
    latex = TABLE.to_latex()
    assert r"link\_1 & 12.5 \\" in latex
    assert r"\caption{Masses \& more. A note.}" in latex
    assert r"link\_2 & $-$3 \\" in latex
    assert TABLE.groups == (("", 1), ("new", 1))


@pytest.mark.parametrize(
    ("value", "spread", "text"),
    [
        (12.3456, 0.0123, ("12.346", "0.012")),
        (-0.5, 0.049, ("−0.500", "0.049")),
        (1234.5, 56.0, ("1234", "56")),
        (1.0, 0.0, ("1", "–")),
        (2.5, float("nan"), ("2.5", "–")),
        (0.0014, 0.0999, ("0.001", "0.100")),
    ],
)
def test_digits_follow_the_uncertainty(value: float, spread: float, text: tuple[str, str]) -> None:
    assert with_uncertainty(value, spread) == text


def test_short_numbers() -> None:
    assert [short(x) for x in (0.0, -1.5, 123456.0, -2.5e-7, None, float("inf"))] == [
        "0",
        "−1.5",
        "1.23·10⁵",
        "−2.50·10⁻⁷",
        "–",
        "–",
    ]
    assert [percent(x) for x in (0.0514, 1.5, 99.0, float("nan"))] == ["5.1", "150", "> 999", "–"]

"""Figures and notebook cards.

What they show is what the arrays and tables say, at the size of a paper's column.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_hex

import steelyard as sy
from steelyard.drawing.colours import BLUE, ORANGE, SILVER, WINE
from steelyard.drawing.numbers import with_uncertainty
from steelyard.drawing.table import Column, Table
from steelyard.identification.figures.fit_figures import FIGURES, JOINT_PANELS
from steelyard.motion.trajectories.certificate import Certificate
from steelyard.simulation import ComputedTorque, Sensors
from tests import zoo

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    pyplot.close("all")


@cache
def arm() -> sy.Robot:
    return sy.load("planar_2r")


@cache
def motion() -> sy.motion.Trajectory:
    return sy.excite(arm(), seconds=4.0, starts=1, seed=3)


@cache
def run() -> Any:
    return sy.simulate(
        arm(), ComputedTorque(motion(), kp=100.0, kd=20.0), motion().q[0], seconds=4.0
    )


@cache
def log() -> sy.Log:
    return run().log(Sensors(), 1)


@cache
def fit() -> sy.Fit:
    return sy.identify(arm(), log())


def lines(axes: Any, colour: str) -> list[Any]:
    return [line for line in axes.lines if to_hex(line.get_color()) == colour]


def test_a_figure_has_the_width_of_a_column_or_a_page(tmp_path: Path) -> None:
    for width, inches in (("column", 3.45), ("page", 7.1), (5, 5.0)):
        assert motion().plot(width=width).get_size_inches()[0] == inches
    for ending in ("png", "pdf", "svg"):
        log().plot().savefig(tmp_path / f"log.{ending}")
        assert (tmp_path / f"log.{ending}").stat().st_size > 1000
    assert "joint torque" in (tmp_path / "log.svg").read_text(encoding="utf-8"), "text stays text"


def test_a_motion_is_drawn_joint_by_joint() -> None:
    result = motion().plot()
    assert len(result.axes) == 3 * arm().n
    for k, x in enumerate((motion().q, motion().qd, motion().qdd)):
        for j in range(arm().n):
            drawn = lines(result.axes[3 * j + k], BLUE)[0]
            np.testing.assert_array_equal(drawn.get_ydata(), x[:, j])
            np.testing.assert_array_equal(drawn.get_xdata(), motion().t)


def test_a_log_and_a_run_show_what_was_commanded() -> None:
    for shown in (log().plot("q"), run().plot()):
        first = shown.axes[0]
        assert [text.get_text() for text in shown.legends[0].get_texts()] == [
            "commanded",
            "measured",
        ]
        np.testing.assert_allclose(
            lines(first, ORANGE)[0].get_ydata().max(), run().reference[:, 0].max(), rtol=1e-9
        )
    assert log().plot("q", "tau").axes[1].get_title(loc="left") == "joint torque"


def test_a_batch_of_runs_is_drawn_whole() -> None:
    batch = sy.simulate(arm(), None, np.zeros((3, 2)), seconds=0.1, step=1e-2)
    assert len(lines(batch.plot().axes[0], BLUE)) == 3


@pytest.mark.parametrize("name", zoo.ZOO)
def test_a_robot_is_drawn_where_its_kinematics_say(name: str) -> None:
    robot = zoo.robot(name)
    q = np.linspace(-0.4, 0.5, robot.n)
    result = robot._skeleton(q, robot.frame_names)
    for frame, pose in result.frames.items():
        np.testing.assert_allclose(pose, robot.forward_kinematics(q, frame), atol=1e-12)
    if result.masses.sum() > 0:
        centre = result.masses @ result.centres / result.masses.sum()
        np.testing.assert_allclose(centre, robot.center_of_mass(q), atol=1e-12)
    for link in result.links:
        assert np.linalg.norm(link[0] - link[1]) > 0


def test_robots_in_several_positions_and_frames() -> None:
    robot = sy.load("puma560")
    result = robot.plot(np.zeros((3, 6)), frames=("frame3",), width=4)
    texts = [text.get_text().strip() for text in result.axes[0].texts]
    assert "frame3" in texts
    assert "joint6" in texts
    assert result.get_suptitle() == "puma560"
    for name in sy.robots(installed=False):
        pyplot.close(sy.load(name).plot())


def test_a_fit_shows_torques_with_their_band() -> None:
    result = fit().plot()
    assert len(result.axes) == 2 * arm().n
    np.testing.assert_array_equal(
        lines(result.axes[0], SILVER)[0].get_ydata(), fit().measured[:, 0]
    )
    np.testing.assert_array_equal(lines(result.axes[0], BLUE)[0].get_ydata(), fit().predicted[:, 0])
    remaining = lines(result.axes[1], WINE)[0].get_ydata()
    np.testing.assert_array_equal(remaining, fit().residuals[:, 0])
    (band,) = result.axes[1].patches
    limits = {band.get_y(), band.get_y() + band.get_height()}
    assert limits == {1.96 * float(fit().sigma[0]), -1.96 * float(fit().sigma[0])}
    inside = np.mean(np.abs(remaining) <= max(limits))
    assert 0.9 < inside <= 1.0, "a band of 95 %"


def test_every_figure_of_a_fit() -> None:
    for what in (*FIGURES, *JOINT_PANELS):
        assert fit().plot(what).axes[0].has_data(), what
    drawn = fit().plot("masses").axes[0].lines
    heights = {round(float(y), 9) for line in drawn for y in np.atleast_1d(line.get_xdata())}
    assert {round(float(m), 9) for m in fit().links.mass} <= heights
    shown = fit().plot("correlation").axes[0].images[0].get_array()
    np.testing.assert_allclose(np.diag(shown), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: arm().plot([1.0]),
            r"q must be \(2,\) or up to 50 positions \(k, 2\), not \(1, 1\)",
        ),
        (lambda: arm().plot([np.nan, 0.0]), "q must be finite"),
        (lambda: arm().plot(frames=("hand",)), "hand"),
        (lambda: arm().plot(width="wide"), "width must be 'column', 'page' or inches, not 'wide'"),
        (lambda: motion().plot(width=1000), "inches"),
        (lambda: log().plot("torque"), "no signal 'torque' of its joints"),
        (lambda: fit().plot("residual"), "there is no figure 'residual'"),
    ],
)
def test_what_cannot_be_drawn_is_said(call: Any, message: str) -> None:
    with pytest.raises(sy.CallError, match=message):
        call()


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.split(".")[0] in ("matplotlib", "pandas", "polars"):
            raise ImportError(name)
        return whole(name, *rest)

    table = fit().links.table()
    monkeypatch.setattr(builtins, "__import__", without)
    for call, extra in (
        (arm().plot, "plot"),
        (table.to_pandas, "pandas"),
        (table.to_polars, "tables"),
    ):
        with pytest.raises(sy.MissingExtra, match=rf"pip install 'steelyard\[{extra}\]'"):
            call()


class Reader(HTMLParser):
    """Checks that tags are closed, and keeps the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def texts_of(html: str) -> list[str]:
    reader = Reader()
    reader.feed(html)
    assert not reader.open
    return reader.texts


def test_notebooks_show_cards() -> None:
    shown = {
        "planar_2r": arm(),
        "joint torque": log(),
        "link2": fit(),
        "total": fit().validation,
        "holds": sy.check(arm(), samples=4),
        "parameter": sy.base_parameters(arm()),
        "Links": fit().links.table(),
    }
    for word, thing in shown.items():
        assert word in texts_of(thing._repr_html_()), word
    assert str(fit().verdict) in texts_of(fit()._repr_html_())
    assert texts_of(sy.doctor(arm(), log())._repr_html_())


def test_motions_limits_and_payloads_have_cards() -> None:
    robot = sy.load("spatial_3r")
    motion = sy.excite(robot, seconds=4, starts=1)
    texts = texts_of(motion._repr_html_())
    assert motion.safety.line in texts
    assert f"{np.abs(motion.qd[:, 0]).max():.3g} rad/s" in texts
    shares = np.array([0.5, 1.25, 0.25])
    certificate = Certificate(shares, shares, shares, shares, np.full(3, np.nan))
    texts = texts_of(certificate._repr_html_())
    assert {"A limit is not kept.", "125", "–"} <= set(texts)
    p = sy.payload(robot, sy.record(robot.with_payload(1.5), motion, rate=50))
    texts = texts_of(p._repr_html_())
    assert str(p.verdict) in texts
    assert with_uncertainty(p.mass, 2 * p.std.mass)[0] in texts


def test_names_are_text_in_cards() -> None:
    table = Table("<b>", (Column("x"),), (("<script>alert(1)</script>",), ("\x1b[31m",)), "a & b")
    assert "<script>" not in table.to_html()
    assert {"<b>", "<script>alert(1)</script>", "\\x1b[31m", "a & b"} <= set(
        texts_of(table.to_html())
    )
    long = Table("", (Column("x"),), tuple((str(k),) for k in range(100)))
    assert "40 more rows." in texts_of(long.to_html())


def test_tables_become_data_frames_with_all_digits() -> None:
    links = fit().links
    for frame in (links.table().to_pandas(), links.table().to_polars()):
        assert list(frame["link"]) == list(links.names)
        np.testing.assert_array_equal(frame["mass"], links.mass)
        np.testing.assert_array_equal(frame["com_x_std"], links.com_std[:, 0])
    errors = fit().validation.table().to_polars()
    np.testing.assert_array_equal(errors["relative_error"], fit().relative_error)
    np.testing.assert_array_equal(errors["before"], fit().before.relative_error)
    whole = sy.signals.to_pandas(log())
    np.testing.assert_array_equal(whole[f"tau_{log().labels[1]}"], log().tau[:, 1])
    np.testing.assert_array_equal(sy.signals.to_polars(log())["t"], log().t)
    from steelyard.robot.tables import body_table, joint_table

    np.testing.assert_array_equal(
        joint_table(arm()).to_polars()["upper"], [limits.upper for limits in arm().tree.limits]
    )
    np.testing.assert_allclose(
        body_table(arm()).to_pandas()["mass"], [body.inertia.m for body in arm().tree.bodies]
    )
    plain = Table("", (Column("a"),), (("1",), ("2",))).to_pandas()
    assert list(plain["a"]) == ["1", "2"]

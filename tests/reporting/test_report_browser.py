"""The report in a real browser.

Every figure is drawn, nothing is clipped or too wide, colours follow the theme, nothing is fetched.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium"
)
WIDTHS = (1100, 390)
# series over decades stay base64 of float32, which the plotting library decodes by itself
NUMBERS = (
    "(v) => v.bdata ? Array.from(new Float32Array(Uint8Array.from(atob(v.bdata), (c) =>"
    " c.charCodeAt(0)).buffer)) : Array.from(v)"
)


@pytest.fixture(scope="module")
def fit() -> sy.Fit:
    robot = sy.load("planar_2r").with_friction(viscous=2.0, coulomb=1.5)
    log = sy.record(
        sy.perturbed(robot, 3), sy.excite(robot, seconds=8, harmonics=5, candidates=1), rate=100
    )
    return sy.identify(robot, log, "wls", diagnose=False)


@pytest.fixture(scope="module")
def page(fit: sy.Fit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sy.report(fit, tmp_path_factory.mktemp("report") / "report.html", fit.validation)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield chromium
        chromium.close()


def opened(
    browser: Any, path: Path, width: int, scheme: str, before: str = "", height: int = 9000
) -> tuple[Any, list[str]]:
    """Return the page at a width, the addresses that it requested, and its errors."""
    shown, met = (
        browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        ).new_page(),
        list[str](),
    )
    shown.on("request", lambda request: met.append(request.url))
    shown.on("pageerror", lambda error: met.append(str(error)))
    shown.on(
        "console", lambda message: met.append(message.text) if message.type == "error" else None
    )
    if before:
        shown.add_init_script(before)
    shown.goto(path.as_uri())
    return shown, met


def until(shown: Any, condition: str) -> None:
    """Wait for a condition; the page's policy lets nobody wait by a script of text inside it."""
    for _ in range(300):
        if shown.evaluate(condition):
            return
        shown.wait_for_timeout(100)
    raise AssertionError(condition)


CUT_OFF = """[...document.querySelectorAll('.plot')].flatMap((plot) => {
    const box = plot.getBoundingClientRect();
    const words = '.xtick text, .ytick text, .xtitle, .ytitle, .annotation text, .legend';
    return [...plot.querySelectorAll(words)].filter((text) => {
        const own = text.getBoundingClientRect();
        const wide = own.left < box.left - 1 || own.right > box.right + 1;
        const high = own.top < box.top - 1 || own.bottom > box.bottom + 1;
        return own.width && (wide || high);
    }).map((text) => plot.dataset.figure + ": " + text.textContent);
})"""
GROUNDS = (
    "[getComputedStyle(document.body).backgroundColor, document.querySelector('.plot"
    " .main-svg').style.background]"
)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_figure_is_drawn_within_the_window(browser: Any, page: Path, width: int) -> None:
    shown, met = opened(browser, page, width, "light")
    until(
        shown,
        "[...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('.main-svg'))",
    )
    assert met == [page.as_uri()], "nothing is asked for but the page"
    assert shown.evaluate("document.documentElement.scrollWidth") == width
    assert shown.evaluate(CUT_OFF) == [], "no text of a figure is cut off"
    white, paper = shown.evaluate(GROUNDS)
    assert white == paper == "rgb(255, 255, 255)"
    shown.emulate_media(color_scheme="dark")
    until(shown, f"(([page, paper]) => page === paper && page !== '{white}')({GROUNDS})")
    shown.set_viewport_size({"width": width, "height": 800})
    shown.click("nav a[href='#residuals']")
    until(shown, "Math.abs(document.getElementById('residuals').getBoundingClientRect().top) < 120")
    shown.context.close()


def test_the_page_has_the_numbers_and_tells_them_on_hovering(
    browser: Any, page: Path, fit: sy.Fit
) -> None:
    shown, _ = opened(browser, page, 1100, "dark", height=700)
    path = shown.locator(".plot[data-figure=torques]")
    path.scroll_into_view_if_needed()
    path.locator(".main-svg").first.wait_for()
    own = (
        "document.querySelector('.plot[data-figure=torques]').data.filter((trace) => trace.name ==="
        " 'measured')"
    )
    for j, trace in enumerate(
        shown.evaluate(own + f".map((trace) => [({NUMBERS})(trace.x), ({NUMBERS})(trace.y)])")
    ):
        index = np.searchsorted(fit.t, np.array(trace[0]) - 1e-3)
        np.testing.assert_allclose(
            trace[1], fit.measured[index, j], atol=1.3e-4 * np.ptp(fit.measured[:, j])
        )
    box = path.bounding_box()
    shown.mouse.move(box["x"] + 400, box["y"] + 100)
    until(
        shown,
        "document.querySelector('.plot[data-figure=torques]"
        " .hoverlayer').textContent.includes('measured')",
    )
    message = path.locator(".hoverlayer").text_content()
    for word in (" s", "measured", "predicted", "residual", "N m"):
        assert word in message
    shown.context.close()


def test_an_old_browser_is_told_and_keeps_the_tables(browser: Any, page: Path) -> None:
    shown, met = opened(browser, page, 1100, "light", "delete window.DecompressionStream")
    shown.locator("#notice").wait_for()
    assert "too old to unpack the figures" in shown.locator("#notice").text_content()
    assert shown.locator("table").first.is_visible()
    assert met == [page.as_uri()]
    shown.context.close()

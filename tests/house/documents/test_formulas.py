"""Formulas of the site, drawn by a browser without a network.

Every dot is above its symbol, every index below and to the right.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.house.sources import ROOT

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium"
)
SCALE = 4  # pixels of the screenshot for one of the page: a dot then has about 100
DARK = 128


@dataclass(frozen=True)
class Formula:
    """LaTeX, how many symbols have one dot and two dots, and how many have an index."""

    latex: str
    dots: int = 0
    double_dots: int = 0
    indices: int = 0


FORMULAS = (
    Formula(r"\dot q", 1),
    Formula(r"\ddot q", 0, 1),
    Formula(r"\dot q_i", 1, 0, 1),
    Formula(r"\ddot q_{12}", 0, 1, 1),
    Formula(
        r"\frac{d}{dt}\frac{\partial L}{\partial \dot q_i} - \frac{\partial L}{\partial q_i} ="
        r" \tau_i",
        1,
        0,
        3,
    ),
    Formula(r"T = \tfrac12\, \dot q^T M(q)\, \dot q", 2),
    Formula(r"\tau = M(q)\,\ddot q + C(q, \dot q)\,\dot q + g(q)", 2, 1),
    Formula(r"v_i = v_{i-1} + S_i\,\dot q_i", 1, 0, 4),
    Formula(
        r"\dot\omega_i = R_i\,\dot\omega_{i-1} + z\,\ddot q_i + \omega_i \times z\,\dot q_i",
        3,
        1,
        6,
    ),
    Formula(r"\dot E = \sum_j \dot q_j\,\tau_j - \hat F_{v,j}\,\dot q_j^2", 3, 0, 4),
)

BOXES = r"""formula => {
    const box = e => {
        const r = e.getBoundingClientRect();
        return [r.left, r.top, r.right, r.bottom];
    };
    const glyph = e => {
        const first = e.querySelector('mjx-c');
        return first ? [...first.classList].join() : '';
    };
    const movers = [...formula.querySelectorAll('mjx-mover')]
        .filter(e => e.closest('mjx-assistive-mml') === null);
    const accents = movers.map(e => ({
        accent: glyph(e.querySelector('mjx-over')),
        over: box(e.querySelector('mjx-over')),
        base: box(e.querySelector('mjx-base'))}));
    const scripts = [...formula.querySelectorAll('mjx-msub, mjx-msubsup')].map(e => {
        const script = e.querySelector(':scope > mjx-script');
        const parts = script.querySelectorAll(':scope > *');
        return {base: box(e.children[0]), index: box(parts[parts.length - 1])};
    });
    return {
        accents,
        scripts,
        drawn: formula.querySelectorAll('mjx-c').length,
        errors: formula.querySelectorAll('mjx-merror').length};
}"""


@dataclass(frozen=True)
class Drawing:
    """The boxes of a formula's parts, and the picture of the page that it is on."""

    formula: Formula
    boxes: dict[str, Any]
    picture: NDArray[np.uint8]

    def ink(self, left: float, top: float, right: float, bottom: float) -> NDArray[np.bool_]:
        """Return which pixels of a part of the page are dark."""
        a, b, c, d = (round(SCALE * x) for x in (left, top, right, bottom))
        return self.picture[b:d, a:c] < DARK


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of the formulas, built with the configuration of the documentation."""
    folder = tmp_path_factory.mktemp("formulas")
    (folder / "source").mkdir()
    text = "# Formulas\n\n" + "\n\n".join(f"$$\n{formula.latex}\n$$" for formula in FORMULAS)
    (folder / "source" / "index.md").write_text(text)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-b",
        "html",
        "-c",
        str(ROOT / "docs"),
        str(folder / "source"),
        str(folder / "site"),
    ]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, check=True)
    return folder / "site" / "index.html"


@pytest.fixture(scope="module")
def drawings(site: Path) -> list[Drawing]:
    """The formulas as a browser without a network draws them."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        context = chromium.new_context(
            offline=True,
            device_scale_factor=SCALE,
            color_scheme="light",
            viewport={"width": 1100, "height": 1600},
        )
        page = context.new_page()
        failed: list[str] = []
        page.on("requestfailed", lambda request: failed.append(request.url))
        page.goto(site.as_uri())
        page.wait_for_function(
            "window.MathJax && window.MathJax.startup && window.MathJax.startup.promise",
            timeout=60_000,
        )
        page.evaluate(
            "async () => { await window.MathJax.startup.promise; await document.fonts.ready; }"
        )
        boxes = [element.evaluate(BOXES) for element in page.query_selector_all("div.math")]
        picture = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("L"))
        chromium.close()
    assert not failed
    return [Drawing(formula, each, picture) for formula, each in zip(FORMULAS, boxes, strict=True)]


def blobs(ink: NDArray[np.bool_]) -> int:
    """Return how many groups of columns with ink there are, side by side."""
    columns = np.concatenate([[False], ink.any(axis=0)])
    return int(np.sum(columns[1:] & ~columns[:-1]))


@pytest.mark.parametrize(
    "number", range(len(FORMULAS)), ids=[formula.latex for formula in FORMULAS]
)
def test_dots_are_above_and_indices_beside(number: int, drawings: list[Drawing]) -> None:
    drawing = drawings[number]
    formula, boxes = drawing.formula, drawing.boxes
    assert boxes["drawn"] > 0
    assert not boxes["errors"]
    dots = {"mjx-c2D9": 1, "mjx-cA8": 2}
    seen = [(dots[each["accent"]], each) for each in boxes["accents"] if each["accent"] in dots]
    assert [sum(count == k for count, _ in seen) for k in (1, 2)] == [
        formula.dots,
        formula.double_dots,
    ]
    for count, each in seen:
        left, top, right, bottom = each["base"]
        em = max(bottom - top, right - left)
        assert blobs(drawing.ink(left, top - 0.45 * em, right, top - 0.1 * em)) == count, (
            "dots above the symbol"
        )
        assert drawing.ink(left, top, right, bottom).any(), "the symbol itself"
    assert len(boxes["scripts"]) == formula.indices
    for each in boxes["scripts"]:
        base, index = each["base"], each["index"]
        assert index[0] > base[2] - 0.35 * (base[2] - base[0]), "right of the symbol"
        assert base[1] < (index[1] + index[3]) / 2, "lower than its top"
        assert index[3] > base[3] - 0.4 * (base[3] - base[1]), "at its foot"
        assert drawing.ink(*index).any(), "the index is drawn"

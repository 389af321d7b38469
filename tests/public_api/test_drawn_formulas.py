"""Formulas of the site as pixels: symbols, dots and indices are counted, whatever draws them."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from tests.house.sources import ROOT

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
Pictures = dict[str, NDArray[np.bool_]]
SCALE, DARK = 4, 128  # pixels of the picture for one of the page; grey value of ink
PARTS = {
    r"q": 1,
    r"\dot q": 2,
    r"\ddot q": 3,
    r"q_a": 2,
    r"\dot q_a": 3,
    r"\ddot q_a": 4,
    r"\dot q\,\ddot q": 5,
}
READY = """async () => {
    if (window.MathJax && window.MathJax.startup) await window.MathJax.startup.promise;
    await document.fonts.ready;
}"""
ALONE = "h1, footer, header, .content-icon-container, .back-to-top { display: none !important; }"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Pictures:
    """Return the dark pixels of each formula, on a page that has nothing else."""
    from playwright.sync_api import sync_playwright

    folder = tmp_path_factory.mktemp("drawn")
    (folder / "source").mkdir()
    for number, latex in enumerate(PARTS):
        name = f"page{number}.md" if number else "index.md"
        text = f"---\norphan: true\n---\n# Formula\n\n$$\n{latex}\n$$\n"
        (folder / "source" / name).write_text(text)
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-c", str(ROOT / "docs")]
    command += [str(folder / "source"), str(folder / "site")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run(command, env=environment, check=True)
    drawn = {}
    with sync_playwright() as play:
        options = ["--no-sandbox", "--disable-gpu"]
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=options)
        context = chromium.new_context(
            offline=True, device_scale_factor=SCALE, color_scheme="light"
        )
        page = context.new_page()
        for number, latex in enumerate(PARTS):
            name = f"page{number}.html" if number else "index.html"
            page.goto((folder / "site" / name).as_uri())
            page.wait_for_load_state("load")
            page.evaluate(READY)
            page.add_style_tag(content=ALONE)
            picture = page.locator("article section").first.screenshot()
            drawn[latex] = np.asarray(Image.open(io.BytesIO(picture)).convert("L")) < DARK
        chromium.close()
    return drawn


def boxes(ink: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return left, top, right and bottom (K, 4) of connected parts, the tallest first."""
    parts = ndimage.find_objects(ndimage.label(ink, np.ones((3, 3)))[0])
    rows = [(x.start, y.start, x.stop, y.stop) for y, x in parts]
    return np.array(sorted(rows, key=lambda row: row[1] - row[3]), float).reshape(-1, 4)


@pytest.mark.parametrize("latex", PARTS)
def test_every_symbol_dot_and_index_is_drawn(latex: str, pictures: Pictures) -> None:
    assert len(boxes(pictures[latex])) == PARTS[latex]


@pytest.mark.parametrize("latex", [r"\dot q", r"\ddot q", r"\dot q_a", r"\ddot q_a"])
def test_dots_are_above_and_indices_beside_the_symbol(latex: str, pictures: Pictures) -> None:
    symbol, *others = boxes(pictures[latex])
    dots = [box for box in others if box[3] <= symbol[1]]
    assert len(dots) == (2 if "ddot" in latex else 1)
    width = symbol[2] - symbol[0]
    low, high = symbol[0] - 0.2 * width, symbol[2] + 0.2 * width
    assert all(low < (box[0] + box[2]) / 2 < high for box in dots)
    indices = [box for box in others if box[3] > symbol[1]]
    assert len(indices) == latex.count("_")
    assert all(box[0] > symbol[2] - 0.35 * width for box in indices)

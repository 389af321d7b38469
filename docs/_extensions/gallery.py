"""The figures of the gallery, drawn when the site is built.

Each block of Python on the page makes a `figure`, which becomes made/N.svg.

The folder is not tracked. Figures are replaced whole, so that two builds at a time do not disturb
each other.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def draw(app: Sphinx) -> None:
    """Run the blocks of gallery/index.md as one session and write their figures."""
    page = Path(app.srcdir) / "gallery" / "index.md"
    if not page.exists():
        return
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "steelyard"
    folder = page.parent / "made"
    folder.mkdir(exist_ok=True)
    space: dict[str, object] = {}
    for number, code in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), start=1):
        exec(code, space)
        temporary = folder / f".{number}-{os.getpid()}.svg"
        space["figure"].savefig(temporary, metadata={"Date": None})  # type: ignore[attr-defined]
        temporary.replace(folder / f"{number}.svg")


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw before pages are read."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

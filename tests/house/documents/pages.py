"""The Python of a page, run as one session.

A ```python block is run, and must print what a ```text block right after it says. What an example
takes for granted (a robot, a log) is made by a comment `<!-- setup ... -->` before it, which
readers do not see; there `pages` is the folder of the documentation. After `<!-- expensive -->` a
block, and all that follow on the page, are run only by `python -m benchmarks.tutorials`; after
`<!-- not run: reason -->` a block is not run at all.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from steelyard import SteelyardWarning
from tests.house.sources import ROOT

PAGES = ROOT / "docs"
PART = re.compile(
    r"^(?:```(?P<kind>python|text)\n(?P<code>.*?)^```|<!-- setup\n(?P<setup>.*?)^-->|<!--"
    r" (?P<mark>expensive|not run: [^>]+) -->)",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Example:
    """Code of a page from a line on, and what it says that it prints (None: nothing is said)."""

    line: int
    code: str
    says: str | None = None
    cheap: bool = True


def cells(path: Path) -> Iterator[Example]:
    """The cells of code of a notebook, in their order; the line is the number of the cell."""
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], start=1):
        if cell["cell_type"] == "code":
            yield Example(number, "".join(cell["source"]))


def examples(text: str) -> Iterator[Example]:
    """The setups and examples of a page, in their order."""
    parts, cheap, skipped = list(PART.finditer(text)), True, False
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        mark, code = (
            part["mark"] or "",
            part["setup"] or (part["code"] if part["kind"] == "python" else None),
        )
        if code is not None and not skipped:
            adjacent = (
                after is not None
                and after["kind"] == "text"
                and not text[part.end() : after.start()].strip()
            )
            line = text.count("\n", 0, part.start()) + 2
            yield Example(
                line, code, after["code"] if adjacent and after is not None else None, cheap
            )
        cheap, skipped = cheap and mark != "expensive", mark.startswith("not run")


def run(path: Path, expensive: bool = False) -> int:
    """Run the examples of a page in the current folder and return how many.

    An AssertionError names page and line.
    """
    space: dict[str, object] = {"__name__": "__page__", "pages": PAGES}
    exec("import numpy as np\nimport steelyard as sy", space)
    count = 0
    for example in (
        cells(path) if path.suffix == ".ipynb" else examples(path.read_text(encoding="utf-8"))
    ):
        if not (example.cheap or expensive):
            break
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                warnings.simplefilter("ignore", SteelyardWarning)
                exec(compile("\n" * (example.line - 1) + example.code, str(path), "exec"), space)
        except Exception as error:
            raise AssertionError(
                f"{path.name}: the example at line {example.line} fails: {type(error).__name__}:"
                f" {error}"
            ) from error
        if example.says is not None:
            text, message = printed.getvalue().strip(), example.says.strip()
            assert text == message, (
                f"{path.name}, line {example.line} prints\n{text}\nand not\n{message}"
            )
        count += 1
    return count

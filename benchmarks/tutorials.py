"""Every page of the documentation and every notebook, run as a reader would run it, with the examples that tests leave out.

`python -m benchmarks.tutorials [part of a path ...]` prints for each page how many examples ran and how long they took [s]; it ends with
an error if one fails.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from tests.house.pages import PAGES, run


def pages(parts: list[str]) -> list[Path]:
    """Pages with Python, and notebooks, whose path has one of the parts."""
    found = [path for path in sorted(PAGES.rglob("*.md")) if "```python" in path.read_text(encoding="utf-8")]
    found += sorted(PAGES.rglob("*.ipynb"))
    return [path for path in found if not parts or any(part in path.as_posix() for part in parts)]


def main(parts: list[str]) -> int:
    """Run the pages, each in an empty folder; return how many failed."""
    failed = 0
    for path in pages(parts):
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                told = f"{run(path, expensive=True)} examples"
            except AssertionError as error:
                failed, told = failed + 1, f"FAILED: {error}"
            os.chdir(PAGES)
        print(f"{path.relative_to(PAGES).as_posix()}: {told}, {time.perf_counter() - began:.1f} s", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

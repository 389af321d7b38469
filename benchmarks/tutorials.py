"""Run every page of the documentation and every notebook, expensive examples included.

`python -m benchmarks.tutorials [--fresh] [part of a path ...]` prints for each page how many
examples ran and how long they took [s]; it ends with an error if one fails. With `--fresh` the
README and the tutorials are pasted, line by line, into an interpreter of a new environment in which
nothing but the wheel is installed, with the extras that the tutorials name. Public logs that lie
beside the project are not fetched.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.fresh_install import make_environment, paste
from steelyard.experiments.datasets import DATASETS
from tests.house.documents.pages import PAGES, run
from tests.real.measured import DATA


def pages(parts: list[str], fresh: bool) -> list[Path]:
    """Pages with Python, and notebooks, whose path has one of the parts."""
    results = [
        path
        for path in sorted(PAGES.rglob("*.md"))
        if "```python" in path.read_text(encoding="utf-8")
    ]
    results += sorted(PAGES.rglob("*.ipynb"))
    if fresh:
        results = [
            PAGES.parent / "README.md",
            *(path for path in results if "tutorials" in path.parts),
        ]
    return [path for path in results if not parts or any(part in path.as_posix() for part in parts)]


def public_logs(folder: Path) -> None:
    """Copy the public logs that lie beside the project to where `sy.datasets.fetch` looks first."""
    for name, dataset in DATASETS.items():
        for source in (path for file in dataset.files for path in DATA.rglob(file)):
            (folder / name).mkdir(exist_ok=True)
            shutil.copy(source, folder / name)


def run_here(path: Path) -> int:
    """Run a page in this interpreter, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return run(path, expensive=True)
        finally:
            os.chdir(PAGES)


def main(words: list[str]) -> int:
    """Run the pages, each in an empty folder; return how many failed."""
    fresh, failed = "--fresh" in words, 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("STEELYARD_DATA", folder)
        public_logs(Path(folder))
        python = make_environment(PAGES.parent, Path(folder)) if fresh else None
        for path in pages([word for word in words if word != "--fresh"], fresh):
            began = time.perf_counter()
            try:
                message = f"{paste(path, python) if python else run_here(path)} examples"
            except AssertionError as error:
                failed, message = failed + 1, f"FAILED: {error}"
            print(
                f"{path.relative_to(PAGES.parent).as_posix()}: {message},"
                f" {time.perf_counter() - began:.1f} s",
                flush=True,
            )
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

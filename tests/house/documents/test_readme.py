"""README is true: its Python runs and prints what it says, its commands are the ones that exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.sources import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(README)


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language]


def test_readme_has_the_two_commands() -> None:
    main, test = (text.strip() for text in blocks("sh")[:2])
    assert main.startswith(
        "python3 -m venv .venv && .venv/bin/pip install --upgrade pip"
        ' && .venv/bin/pip install ".[all]" && .venv/bin/steelyard '
    )
    assert test == "bash scripts/test.sh"
    assert (ROOT / "scripts" / "test.sh").exists()


def test_continuous_integration_runs_the_readme_test_command() -> None:
    ci = ROOT / ".ci" / "run"
    assert os.access(ci, os.X_OK), f"{ci} must be executable"
    assert blocks("sh")[1].strip() in ci.read_text(encoding="utf-8")


def test_readme_python_prints_what_it_says(tmp_path: Path) -> None:
    """All blocks together, as one session.

    A `text` block right after a `python` block is what that block prints.
    """
    pairs = [
        (text, BLOCKS[i + 1][1] if i + 1 < len(BLOCKS) and BLOCKS[i + 1][0] == "text" else "")
        for i, (kind, text) in enumerate(BLOCKS)
        if kind == "python"
    ]
    assert pairs, "README shows a first use in Python"
    marker = "-- next block --"
    script = f"\nprint({marker!r})\n".join(text for text, _ in pairs)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    printed = [part.strip() for part in ran.stdout.split(marker)]
    assert printed == [text.strip() for _, text in pairs]


LINKS = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize(
    "page",
    sorted(
        path.relative_to(ROOT).as_posix()
        for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    ),
)
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    broken = [
        link
        for link in LINKS.findall(path.read_text(encoding="utf-8"))
        if not (path.parent / link).exists() and not link.startswith("made/")
    ]
    assert not broken, f"{page} links to {broken}"


def test_every_folder_of_the_package_is_in_the_layout() -> None:
    layout = (ROOT / "docs" / "layout.md").read_text(encoding="utf-8")
    package = ROOT / "src" / "steelyard"
    parts = [
        f"{path.name}/" if path.is_dir() else path.name
        for path in package.iterdir()
        if not path.name.startswith("__")
    ]
    missing = [part for part in parts if f"`{part}`" not in layout and part != "py.typed"]
    assert not missing, f"docs/layout.md does not say what {missing} is"

"""What the pages on the closed form, on C and on loops show is what the code prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["closed_form.md", "c.md", "loops.md"])
def test_a_page_prints_what_it_says(page: str, root: Path, tmp_path: Path) -> None:
    """All blocks as one session.

    A `text` block after a `python` block is what that block prints.
    """
    blocks = BLOCK.findall((root / "docs" / page).read_text(encoding="utf-8"))
    pairs = [
        (text, blocks[i + 1 : i + 2]) for i, (kind, text) in enumerate(blocks) if kind == "python"
    ]
    expected = [
        after[0][1].strip() if after and after[0][0] == "text" else "" for _, after in pairs
    ]
    script = "\nprint('-- next --')\n".join(text for text, _ in pairs)
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    command = [sys.executable, "-W", "error", "-c", script]
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert [part.strip() for part in ran.stdout.split("-- next --")] == expected

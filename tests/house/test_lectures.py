"""docs/lectures.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path


def test_every_test_that_the_page_names_exists(root: Path) -> None:
    page = (root / "docs" / "lectures.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:laws|oracles|golden|contracts|backends|real)/[\w/]+\.py)(?:::(\w+))?`", page)
    assert len(named) > 40
    missing = []
    for file, test in named:
        path = root / "tests" / file
        if not path.is_file() or (test and f"def {test}(" not in path.read_text(encoding="utf-8")):
            missing.append(f"{file}::{test}")
    assert not missing, f"docs/lectures.md names what is not there: {missing}"

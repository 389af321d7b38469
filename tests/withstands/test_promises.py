"""Tests that SECURITY.md and the table of bugs that once survived name are there."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.mutants.once import ONCE

TEST = re.compile(r"`(?:(tests/[\w/]+\.py)::)?(test_\w+)`")


def test_every_guarantee_names_tests_that_exist(root: Path) -> None:
    rows = [
        line
        for line in (root / "SECURITY.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    guarantees = [row for row in rows if not row.startswith("| guarantee |")]
    assert len(guarantees) > 15
    for row in guarantees:
        matches = TEST.findall(row.split("|")[2])
        assert matches, row
        file = ""
        for named, test in matches:
            file = named or file
            assert f"def {test}(" in (root / file).read_text(encoding="utf-8"), f"{file}::{test}"


def test_every_bug_that_lived_once_names_a_test_that_exists(root: Path) -> None:
    for named in ONCE.values():
        file, test = named.split("::")
        assert f"def {test}(" in (root / file).read_text(encoding="utf-8"), named

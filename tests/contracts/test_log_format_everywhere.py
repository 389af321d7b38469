"""Formats of logs: a row of LOG_FORMATS is read, found, uploaded, offered and documented."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.apps.page.server.folder import Folder
from steelyard.apps.page.server.uploads import NOT_UPLOADED, upload_endings, uploaded_log
from steelyard.signals.read.column_table import ColumnTable
from steelyard.signals.read.log_formats import LOG_FORMATS, LogFormat
from tests.apps.test_cli import Run, run

__all__ = ["run"]  # the fixture

DOCS = Path(__file__).parents[2] / "docs"


def read_fake(path: Path, **_: Any) -> ColumnTable:
    """A log of a planar arm, whatever the file holds."""
    t = np.arange(50) / 50
    names = ("q_joint1", "q_joint2", "tau_joint1", "tau_joint2")
    columns = {"t": t, **{name: np.sin((k + 1) * t) for k, name in enumerate(names)}}
    return ColumnTable(columns=columns, source=str(path))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A file of a format that only a row knows."""
    monkeypatch.setitem(
        LOG_FORMATS,
        ".fake",
        LogFormat("fake", (".fake",), read_fake, "A fake format.", "a fake that can be read"),
    )
    (tmp_path / "run.fake").write_text("fake")
    return tmp_path / "run.fake"


def test_a_row_is_read_found_and_uploaded(fake: Path) -> None:
    robot = sy.load("planar_2r")
    assert sy.read_log(fake, robot).N == 50
    assert [Path(each.path).name for each in sy.find_logs(fake.parent)] == ["run.fake"]
    assert ".fake" in upload_endings()
    assert uploaded_log("any.fake", b"fake", robot)[0].N == 50
    with pytest.raises(sy.LogError, match=r"\.fake"):
        sy.read_log(fake.with_suffix(".unknown"), robot)


@pytest.mark.parametrize("command", ["doctor", "identify", "validate", "payload", "page", "fleet"])
def test_a_row_is_in_the_help(run: Run, fake: Path, command: str) -> None:
    shown = run(command, "--help").out
    assert set(LOG_FORMATS) <= set(re.findall(r"\.\w+", shown))


def test_a_row_is_read_by_a_command(run: Run, fake: Path) -> None:
    ran = run("doctor", "planar_2r", fake, "--quiet")
    assert ran.code in (0, 1), ran.err


def test_the_page_lists_the_files_of_a_row(fake: Path) -> None:
    from steelyard.apps.table_words import log_endings

    assert Folder.of(fake.parent).files(log_endings()) == ("run.fake",)


def test_the_documentation_names_every_ending() -> None:
    logs, page = ((DOCS / name).read_text(encoding="utf-8") for name in ("logs.md", "page.md"))
    assert not [ending for ending in LOG_FORMATS if f"`{ending}`" not in logs]
    line = next(line for line in page.splitlines() if line.startswith("- Uploads are"))
    assert not [ending for ending in upload_endings() if f"`{ending}`" not in line]
    assert not [ending for ending in NOT_UPLOADED if f"`{ending}`" in line]

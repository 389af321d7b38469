"""Many logs on a command line.

Patterns and folders, workers, a damaged one, and what the next run finds.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.apps.inputs import is_one_log
from steelyard.apps.many_logs import address
from steelyard.identification.out_of_core.out_of_core_thresholds import THRESHOLDS
from tests.apps.test_cli import Run, run
from tests.archive.archives import small_arm, write_logs

__all__ = ["run"]  # the fixture


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(vars(THRESHOLDS), "bytes_in_memory", 0)
    small_arm().to_toml(tmp_path / "arm.toml")
    write_logs(tmp_path / "logs", 9)
    return tmp_path


def test_a_pattern_is_folded_by_workers_and_found_again(place: Path, run: Run) -> None:
    arm, pattern = str(place / "arm.toml"), str(place / "logs" / "*.parquet")
    first = run("identify", arm, pattern, "--workers", "2", "--json")
    assert first.code in (0, 3), first
    archive = json.loads(first.out)["fit"]["archive"]
    assert len(archive["logs"]) == 9
    assert archive["reused"] == 0
    again = run("identify", arm, str(place / "logs"), "--json")
    assert json.loads(again.out)["fit"]["archive"]["reused"] == 9
    assert json.loads(again.out)["fit"]["parameters"] == json.loads(first.out)["fit"]["parameters"]
    shown = run("identify", arm, pattern, "--no-keep", "-o", place / "out", "--full")
    assert "<b>Logs.</b>" in (place / "out" / "report.html").read_text(encoding="utf-8")
    assert "9 logs were folded" in shown.out
    assert "run00.parquet" in shown.out


def test_a_damaged_log_ends_the_work_or_is_left_out(place: Path, run: Run) -> None:
    arm, logs = str(place / "arm.toml"), str(place / "logs")
    (place / "logs" / "torn.parquet").write_bytes(b"PAR1")
    refused = run("identify", arm, logs)
    assert refused.code == 2
    assert "torn.parquet" in refused.err
    left_out = run("identify", arm, logs, "--skip-damaged", "--json")
    assert left_out.code in (0, 3)
    assert "torn.parquet" in json.loads(left_out.out)["fit"]["archive"]["left_out"][0]["log"]


def test_options_that_do_not_go_together(place: Path, run: Run) -> None:
    finished_run = run(
        "identify",
        str(place / "arm.toml"),
        str(place / "logs"),
        "--workers",
        "2",
        "--dask",
        "tcp://localhost:1",
    )
    assert finished_run.code == 2
    assert "give one of them" in finished_run.err


def test_addresses_and_patterns_are_told_from_files(tmp_path: Path) -> None:
    assert address(Path("s3://bucket/logs")) == "s3://bucket/logs"
    assert address(Path("logs/run.csv")) == str(Path("logs/run.csv"))
    assert not is_one_log(Path("s3://bucket/logs"))
    assert not is_one_log(Path("logs/*.csv"))
    assert not is_one_log(tmp_path)
    assert is_one_log(tmp_path / "missing.csv")
    (tmp_path / "odd[1].csv").write_text("", encoding="utf-8")
    assert is_one_log(tmp_path / "odd[1].csv")

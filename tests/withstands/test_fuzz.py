"""A sample of benchmarks/fuzz.

Damaged files and command lines are answered; and the benchmark notices what is no answer.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("resource")  # limits of processes are POSIX's

from benchmarks.fuzz import __main__ as fuzz
from benchmarks.fuzz.case import answer, outcome
from benchmarks.fuzz.command_lines import _judged, run_command_line
from benchmarks.fuzz.damage import damaged
from benchmarks.fuzz.good_files import GoodFile, good_files

SEED = 5


@pytest.fixture(scope="module")
def files() -> list[GoodFile]:
    return good_files()


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
def test_every_good_file_is_read(files: list[GoodFile], tmp_path: Path) -> None:
    for file in files:
        (tmp_path / file.name).write_bytes(file.content)
        answer(file, tmp_path / file.name, 1)


@pytest.mark.parametrize("part", range(4))
def test_damaged_files_are_answered(part: int, files: list[GoodFile], tmp_path: Path) -> None:
    rows = [outcome(number, SEED, files, tmp_path) for number in range(60 * part, 60 * (part + 1))]
    assert [row for row in rows if row["outcome"] not in fuzz.GOOD] == []
    assert {row["outcome"] for row in rows} == set(fuzz.GOOD)


@pytest.mark.parametrize("number", [3, 10, 14])
def test_damaged_command_lines_are_answered(
    number: int, files: list[GoodFile], tmp_path: Path
) -> None:
    assert run_command_line(number, SEED, files, tmp_path, 120.0)["outcome"] in fuzz.GOOD


def test_the_same_seed_gives_the_same_damage(files: list[GoodFile]) -> None:
    for file in files:
        first, again, other = (
            damaged(file.content, file.text, [b"other"], np.random.default_rng(seed))
            for seed in (1, 1, 2)
        )
        assert first == again
        assert file.content not in (first, other) or first != other


def test_what_is_no_answer_is_noticed() -> None:
    def asked(script: str, seconds: float = 120.0) -> str:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen([sys.executable, "-c", script], text=True, **pipes) as worker:
            row = fuzz._asked(worker, 0, seconds)
            worker.kill()
        return str(row["outcome"])

    message = (
        """print('{{"number": 0, "file": "a", "outcome": "{}", "megabytes": {}}}', flush=True)"""
    )
    assert asked("import os; os.abort()") == "crash"
    assert asked("import time; time.sleep(60)", 0.5) == "hang"
    assert asked(message.format("result", 3000)) == "memory"
    assert asked(message.format("exception", 3)) == "exception"
    assert [_judged(code, "") for code in (0, 1, 2, 4, 70, -11)] == [
        "result",
        "result",
        "sentence",
        "result",
        "exception",
        "crash",
    ]
    assert _judged(0, "Traceback (most recent call last)") == "traceback"


def test_a_run_is_kept_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[int] = []

    def run_files(numbers: list[int], seed: int) -> Iterator[dict[str, object]]:
        asked.extend(numbers)
        for number in numbers:
            yield {
                "number": number,
                "file": "a.mat",
                "outcome": "crash" if number == 4 else "result",
                "words": "",
                "megabytes": 1,
            }

    monkeypatch.setattr(fuzz, "run_files", run_files)
    for count, code in ((3, 0), (5, 1)):
        monkeypatch.setattr(
            sys,
            "argv",
            [
                "fuzz",
                "--files",
                str(count),
                "--commands",
                "0",
                "--out",
                str(tmp_path / "kept.jsonl"),
            ],
        )
        assert fuzz.main() == code
    assert asked == [0, 1, 2, 3, 4]
    assert "| `.mat` | 5 | 4 | 0 | 0 | 0 | 1 | 0 | 0 |" in capsys.readouterr().out

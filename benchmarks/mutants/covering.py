"""Which tests run a line, and how long each takes.

One run of all tests with coverage, kept in a file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

SETTINGS = """[run]
source = src/steelyard
dynamic_context = none
relative_files = true
"""
USUAL = 1.0  # [s] of a test whose time is unknown


@dataclass(frozen=True)
class Covering:
    """Tests by file and line, and the seconds that each takes."""

    lines: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    @cached_property
    def breadth(self) -> Counter[str]:
        """How many files a test runs something of."""
        return Counter(
            test
            for of_file in self.lines.values()
            for test in {each for tests in of_file.values() for each in tests}
        )

    def tests(self, path: str, line: int, most: float) -> list[str]:
        """Return the tests that run a line, quick and specific ones first; `most` seconds in all.

        What one test of a file prepares, others may use: a fixture, or a result that is kept. A
        line that runs when its file is imported belongs to all tests that run something of the
        file, or of all there are.
        """
        of_file = self.lines.get(path, {})
        result = (
            set(of_file.get(line, ()))
            or {test for tests in of_file.values() for test in tests}
            or set(self.seconds)
        )
        beside = {
            test for file in {file_of(test) for test in result} for test in self.by_file[file]
        } - result
        chosen, spent = list[str](), 0.0
        for test in (*self.sorted(result), *self.sorted(beside)):
            spent += self.seconds.get(test, USUAL)
            if spent > most and chosen:
                break
            chosen.append(test)
        return chosen

    def sorted(self, tests: Iterable[str]) -> list[str]:
        """The quick ones that run little first."""
        return sorted(
            tests,
            key=lambda test: ((0.2 + self.seconds.get(test, USUAL)) * self.breadth[test], test),
        )

    @cached_property
    def by_file(self) -> dict[str, list[str]]:
        """All tests by their file."""
        result = defaultdict[str, list[str]](list)
        for test in self.seconds:
            result[file_of(test)].append(test)
        return result


def file_of(test: str) -> str:
    """The file of a test."""
    return test.split("::")[0]


def covering(
    clone: Path, selected: Path, environment: dict[str, str], tests: Sequence[str] = ()
) -> Covering:
    """Return the result of an earlier run, else of a run of all or some tests in a clone."""
    if not selected.is_file():
        measured(clone, selected, environment, tests)
    data = json.loads(selected.read_text(encoding="utf-8"))
    lines = {
        path: {int(line): [data["tests"][k] for k in tests] for line, tests in of.items()}
        for path, of in data["lines"].items()
    }
    return Covering(lines, data["seconds"])


def measured(
    clone: Path, selected: Path, environment: dict[str, str], tests: Sequence[str]
) -> None:
    """Run tests with coverage, and keep which test runs which line."""
    settings, report = clone / "coverage.ini", clone / "tests.xml"
    settings.write_text(SETTINGS, encoding="utf-8")
    command = [
        sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count() or 1),
        f"--junitxml={report}", "-o", "junit_family=xunit1",
        "--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report=",
    ]  # fmt: skip
    subprocess.run([*command, *tests], cwd=clone, env=environment, check=False)
    from coverage import CoverageData

    seconds = {
        test_id(case): float(case.get("time", USUAL))
        for case in ElementTree.parse(report).iter("testcase")
        if passed(case)
    }
    result = CoverageData(str(clone / ".coverage"))
    result.read()
    numbers: dict[str, int] = {}
    lines: dict[str, dict[int, list[int]]] = {}
    for file in result.measured_files():
        of_file: dict[int, list[int]] = defaultdict(list)
        for line, contexts in result.contexts_by_lineno(file).items():
            names = {context.rsplit("|", 1)[0] for context in contexts if context}
            of_file[line] = sorted(
                numbers.setdefault(name, len(numbers)) for name in names & seconds.keys()
            )
        lines[str(Path(file).as_posix())] = of_file
    selected.parent.mkdir(parents=True, exist_ok=True)
    selected.write_text(
        json.dumps({"tests": list(numbers), "lines": lines, "seconds": seconds}), encoding="utf-8"
    )


def passed(case: Any) -> bool:
    """Whether a test passed in the clone as it is: one that fails there would kill everything."""
    return not any(case.find(word) is not None for word in ("failure", "error", "skipped"))


def test_id(case: Any) -> str:
    """The name by which pytest runs a test again."""
    parts = [case.get("file"), *case.get("classname", "").rsplit(".", 1)[1:]]
    within = parts[1] if len(parts) > 1 and parts[1][:1].isupper() else None
    return "::".join(part for part in (parts[0], within, case.get("name")) if part)

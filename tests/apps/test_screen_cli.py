"""Normal output fits one screen, begins with the result, and has the numbers of the result."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.apps.output import Output
from steelyard.apps.show.identification import (
    REASONS,
    ROWS,
    joint_errors,
    screen_reasons,
    shortened,
)
from steelyard.drawing.numbers import percent, short
from tests.apps.test_cli import Run, run
from tests.house.sources import ROOT

__all__ = ["run"]  # the fixture

ROBOT = "planar_2r"
SCREEN = 40  # lines


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two logs of a planar arm whose parameters are perturbed."""
    from steelyard.signals.write import to_csv

    folder = tmp_path_factory.mktemp("logs")
    robot = sy.load(ROBOT)
    for name, seed in (("log", 1), ("other", 5)):
        motion = sy.excite(robot, 8.0, 4, 0.125, seed, candidates=10, starts=1)
        to_csv(sy.record(sy.perturbed(robot, 2), motion, 100.0, seed), folder / f"{name}.csv")
    return folder


@pytest.mark.parametrize("columns", [80, 120])
def test_identify_has_one_screen_with_the_numbers_of_the_fit(
    run: Run, logs: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    words = ["identify", ROBOT, logs / "log.csv", "--estimator", "wls"]
    screen, data = run(*words).out, json.loads(run(*words, "--json").out)
    robot = sy.load(ROBOT)
    fit = sy.identify(robot, sy.read_log(logs / "log.csv", robot), "wls")
    lines = screen.splitlines()
    assert len(lines) <= SCREEN
    assert max(len(line) for line in lines if not line.startswith("  steelyard")) <= columns
    assert " ".join(screen.split()).startswith(str(fit.verdict))
    assert data["verdict"]["sentence"] == str(fit.verdict), "--json is the same"
    residuals = np.abs(fit.residuals)
    for j, joint in enumerate(fit.verdict.joints):
        row = next(line.split() for line in lines if line.startswith(joint.name))
        assert joint.inside is not None
        assert row[1:3] == [short(joint.inside.error), short(joint.inside.percent_of_rated)]
        worst = int(residuals[:, j].argmax())
        assert row[5:] == [short(float(residuals[worst, j])), f"{fit.t[worst]:.2f}"]
    assert f"{percent(fit.total_relative_error, 2)} % after" in screen
    friction = screen.partition("\nfriction of ")[2]
    for j, name in enumerate(robot.joint_names):
        row = next(line.split() for line in friction.splitlines() if line.startswith(name))
        value = fit.parameters[fit.parameter_names.index(f"{name}.Fv")]
        assert float(row[1].replace("−", "-")) == pytest.approx(value, abs=float(row[2])), j
    assert lines[-3:] == [
        "Nothing was saved: add -o DIR.",
        f"Next: {fit.verdict.next_step.partition(': steelyard')[0].partition(': fit')[0]}:",
        f"  steelyard identify {ROBOT} {logs / 'log.csv'} --validate other.csv",
    ]
    full = run(*words, "--full").out
    assert "Base parameters" in full
    assert "Base parameters" not in screen
    assert len(full.splitlines()) > len(lines)


def test_a_validated_fit_says_so_and_where_its_files_are(
    run: Run, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = ["identify", ROBOT, logs / "log.csv", "--estimator", "wls", "--no-report"]
    ran = run(*words, "--validate", logs / "other.csv", "--output", tmp_path / "results")
    assert len(ran.out.splitlines()) <= SCREEN
    assert "measured on the validation log" in ran.out
    assert "wrote fit.json" in ran.out
    assert "Nothing was saved" not in ran.out
    again = run("validate", tmp_path / "results", logs / "other.csv").out
    assert len(again.splitlines()) <= SCREEN
    assert again.splitlines()[:2] == ran.out.splitlines()[:2], "the verdict comes first"


def test_excite_has_one_screen_that_ends_in_the_next_command(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = ["excite", ROBOT, "--seconds", "5s", "--harmonics", "2", "--starts", "1"]
    lines = run(*words).out.splitlines()
    assert len(lines) <= SCREEN
    assert lines[0].startswith("CHECKED (")
    assert any(line.startswith("Motion of 5 s") for line in lines)
    assert "Limits: 0.9 of every limit (--margin), 0.5 of the velocity limits (--speed)." in lines
    assert any(re.match(r"Expected: \d+ of 13 base parameters", line) for line in lines)
    assert lines[-1] == f"  steelyard identify {ROBOT} LOG.csv -o results"
    assert "Nothing was saved: add -o motion.csv." in lines
    one = run(*words, "--joints", "joint1").out.splitlines()
    assert one[-1] == f"{lines[-1]} --joints joint1", "the log is read as the motion was designed"
    saved = run(*words, "-o", tmp_path / "motion.csv").out
    assert "Nothing was saved" not in saved


def test_long_lists_of_names_are_shortened_and_sentences_are_not() -> None:
    sentence = "3 of 9 are weak: link1.mcx, link2.Izz, joint1.F0, joint2.F0."
    assert shortened(sentence) == "3 of 9 are weak: link1.mcx, link2.Izz and 2 more."
    for whole in ("Friction, elasticity or temperature; they vary.", "a.b, c.d, and the rest."):
        assert shortened(whole) == whole


def test_reasons_of_a_doubtful_verdict_are_all_shown(logs: Path) -> None:
    from dataclasses import replace

    robot = sy.load(ROBOT)
    verdict = sy.identify(robot, sy.read_log(logs / "log.csv", robot), "wls").verdict
    reasons = tuple(f"Reason {k}." for k in range(REASONS + 2))
    trusted, doubtful = (
        replace(verdict, word=word, reasons=reasons) for word in ("trusted", "doubtful")
    )
    assert screen_reasons(doubtful) == list(reasons)
    assert screen_reasons(trusted) == [*reasons[:2], f"{reasons[2]} (2 more reasons: --full)"]
    many = tuple(replace(verdict.joints[0], name=f"joint{k}") for k in range(3 * ROWS))
    table = joint_errors(replace(verdict, joints=many))
    assert len(table.rows) == ROWS
    assert f"{2 * ROWS} better joints: --full" in table.note


@pytest.mark.parametrize("words", [["identify", ROBOT, "no.csv"], ["excite", "no.urdf"]])
def test_an_absent_file_is_reported_before_slow_imports(words: list[str], tmp_path: Path) -> None:
    script = (
        "import atexit, sys; from steelyard.apps.cli import main;"
        "atexit.register(lambda: print(*sys.modules)); main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert f"there is no file {words[-1]}" in ran.stderr
    slow = {"scipy", "steelyard.identification", "steelyard.kernels", "rich.console"}
    assert slow & set(ran.stdout.split()) == set()


def test_a_terminal_shows_at_once_that_a_command_works(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "__stderr__", sys.stderr)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    screen = Output("identify")
    screen.begin()
    assert capsys.readouterr().err.endswith("loading …")
    screen.clear()
    screen.clear()
    assert capsys.readouterr().err == "\r\x1b[K"
    quiet = Output("identify", quiet=True)
    quiet.begin()
    assert capsys.readouterr().err == ""

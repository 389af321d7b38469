"""Help of the command line: every command is in one group, and its examples can be typed."""

from __future__ import annotations

import shlex
from itertools import chain

import pytest
import typer.main

from steelyard.apps import cli
from steelyard.apps.help_text import EXAMPLES, PANELS
from steelyard.option_values import UNITS
from tests.apps.test_cli import Run, run

__all__ = ["run"]  # the fixture

COMMANDS = {command.__name__ for command in cli.COMMANDS}
SUMMARY = 55  # characters


def test_every_command_has_a_group_and_examples() -> None:
    assert sorted(chain.from_iterable(PANELS.values())) == sorted(COMMANDS)
    assert set(EXAMPLES) == COMMANDS


def test_summaries_are_whole_at_80_columns(run: Run) -> None:
    lines = run("--help").out.splitlines()
    assert max(map(len, lines)) <= 80
    for command in cli.COMMANDS:
        summary = (command.__doc__ or "").partition("\n")[0]
        assert len(summary) < SUMMARY, command.__name__
        assert summary.endswith("."), command.__name__
        assert any(line.split() == [command.__name__, *summary.split()] for line in lines)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_examples_can_be_typed_and_are_shown(run: Run, name: str) -> None:
    group = typer.main.get_command(cli.app)
    shown = run(name, "--help").out
    for line in EXAMPLES[name]:
        program, *words = shlex.split(line)
        assert (program, words[0]) == ("steelyard", name)
        with group.make_context("steelyard", words, resilient_parsing=False) as context:
            _, command, rest = group.resolve_command(context, words)  # type: ignore[attr-defined]
            command.make_context(name, list(rest), parent=context)
        assert f"  {line}\n" in shown
        assert len(line) <= 98
    assert max(len(line) for line in shown.splitlines() if "  steelyard " not in line) <= 80
    assert "<str>" not in shown
    assert "{" not in shown


def test_every_output_option_has_the_same_spellings(run: Run) -> None:
    writers = {"demo", "excite", "identify", "payload", "fleet", "torque", "ik", "simulate"}
    for name in sorted(COMMANDS):
        assert ("-o, --out, --output " in run(name, "--help").out) == (name in writers), name


def test_short_option_of_the_version(run: Run) -> None:
    assert run("-V") == run("--version")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["torque", "planar_2r", "--q", "1,2", "-o", "x.csv"], "-o goes with --motion"),
        (["torque", "planar_2r", "--q", "1,2", "--output=x.csv"], "--output goes with --motion"),
        (["torque", "planar_2r", "--q", "1,2", "--out", "x.csv"], "--out goes with --motion"),
    ],
)
def test_errors_name_the_spelling_that_was_typed(run: Run, words: list[str], error: str) -> None:
    assert error in run(*words).err


@pytest.mark.parametrize("q", ["30deg,0", "[30°, 0]", "30deg 0", "0.5235987755982988 0rad"])
def test_numbers_may_have_units_and_brackets(run: Run, q: str) -> None:
    assert (
        run("torque", "planar_2r", "--q", q).out == run("torque", "planar_2r", "--q", "30deg,0").out
    )


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["excite", "planar_2r", "--seconds", "20kg"], "'20kg' is in kg; expected s"),
        (["excite", "planar_2r", "--payload", "2m"], "--payload: '2m' is in m; expected kg"),
        (["excite", "planar_2r", "--velocity", "1m"], "'1m' is in m; expected rad/s or m/s"),
        (["torque", "planar_2r", "--q", "1m,2"], "'1m' is a length, but this joint turns"),
        (["torque", "planar_rp", "--q", "1,2deg"], "'2deg' is an angle, but this joint slides"),
    ],
)
def test_units_of_another_kind_are_refused(run: Run, words: list[str], error: str) -> None:
    ran = run(*words)
    assert ran.code == 2
    assert error in " ".join(ran.err.split())


def test_units_are_in_si() -> None:
    for name, (unit, factor) in UNITS.items():
        assert UNITS[unit] == (unit, 1.0), name
        assert factor > 0

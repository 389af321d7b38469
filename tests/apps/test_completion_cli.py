"""Completion in bash, zsh and fish.

Commands, options, robots, the joints and links of the robot on the line; files by the shell.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.apps import cli
from tests.house.sources import ROOT


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with a command `steelyard`, in a folder with a description."""
    folder = tmp_path_factory.mktemp("shell")
    command = folder / "steelyard"
    program = "import sys; sys.argv[0] = 'steelyard'; from steelyard.apps.cli import main; main()"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{program}" "$@"\n')
    command.chmod(0o755)
    sy.load("planar_2r").to_urdf(folder / "planar_mine.urdf")
    return {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "HERE": str(folder),
    }


def called(
    environment: dict[str, str], *words: str, **more: str
) -> subprocess.CompletedProcess[str]:
    there = environment["HERE"]
    return subprocess.run(
        words,
        env=environment | more,
        cwd=there,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def in_bash(environment: dict[str, str], *words: str) -> list[str]:
    """What bash offers for the last of the words, by the script that steelyard gives it."""
    if shutil.which("bash") is None:
        pytest.skip("no bash here")
    line = " ".join(f"'{word}'" for word in words)
    script = 'eval "$(_STEELYARD_COMPLETE=source_bash steelyard)"'
    ask = (
        f"{script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _steelyard_completion"
        " steelyard"
    )
    return called(
        environment, "bash", "-c", f'{ask}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    ).stdout.split("\n")[:-1]


LINES = {  # the words so far, and what is offered
    "commands": (["ide"], ["identify"]),
    "robots": (["info", "planar_"], ["planar_2r", "planar_3rrr", "planar_rp", "planar_mine.urdf"]),
    "joints": (["identify", "planar_mine.urdf", "log.csv", "--joints", "jo"], ["joint1", "joint2"]),
    "the next joint": (
        ["excite", "puma560", "--freeze", "joint1,joint"],
        [f"joint1,joint{k}" for k in range(2, 7)],
    ),
    "links": (["ik", "puma560", "--frame", "link"], [f"link{k}" for k in range(1, 7)]),
    "parameters": (
        ["identify", "puma560", "x", "--hold", "link6.I"],
        [f"link6.I{k}" for k in ("xx", "xy", "xz", "yy", "yz", "zz")],
    ),
    "words": (["doctor", "puma560", "x", "--effort", "c"], ["current"]),
    "options": (["check", "puma560", "--sam"], ["--samples"]),
}


@pytest.mark.parametrize("name", ["joints", "robots"])
def test_in_bash(environment: dict[str, str], name: str) -> None:
    words, offered = LINES[name]
    assert in_bash(environment, "steelyard", *words) == offered


@pytest.mark.parametrize("name", LINES)
def test_what_is_offered(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the protocol of all shells, in this process."""
    import typer.main
    from typer._completion_classes import BashComplete

    monkeypatch.chdir(tmp_path)
    sy.load("planar_2r").to_urdf("planar_mine.urdf")
    words, offered = LINES[name]
    shell = BashComplete(typer.main.get_command(cli.app), {}, "steelyard", "_STEELYARD_COMPLETE")
    assert [item.value for item in shell.get_completions(words[:-1], words[-1])] == offered


LEFT = [
    "info nothing_like_",
    "identify puma560 ",
    "identify absent.urdf x --joints j",
    "doctor puma560 x --config ",
]


@pytest.mark.parametrize("line", LEFT)
def test_files_and_what_cannot_be_told_are_left_to_the_shell(line: str) -> None:
    import typer.main
    from typer._completion_classes import BashComplete

    shell = BashComplete(typer.main.get_command(cli.app), {}, "steelyard", "_STEELYARD_COMPLETE")
    *words, last = line.split(" ")
    assert shell.get_completions(words, last) == []


def test_in_zsh_and_fish(environment: dict[str, str]) -> None:
    line = {"_TYPER_COMPLETE_ARGS": "steelyard check puma560 --joints joint"}
    zsh = called(environment, "steelyard", **line, _STEELYARD_COMPLETE="complete_zsh").stdout
    assert zsh.startswith("_arguments")
    assert all(f'"joint{k}"' in zsh for k in range(1, 7))
    fish = called(
        environment,
        "steelyard",
        **line,
        _STEELYARD_COMPLETE="complete_fish",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
    ).stdout
    assert fish.split() == [f"joint{k}" for k in range(1, 7)]
    for shell in ("zsh", "fish"):
        script = called(environment, "steelyard", _STEELYARD_COMPLETE=f"source_{shell}").stdout
        assert f"_STEELYARD_COMPLETE=complete_{shell}" in script
        if shutil.which(shell):
            assert called(environment, shell, "-n", "-c", script).returncode == 0

"""Damaged command lines.

Words exchanged, dropped, doubled or made nasty, and files that are damaged.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz.damage import NASTY, Random, damaged
from benchmarks.fuzz.good_files import GoodFile

BAD_INPUT, DEFECT = 2, 70  # exit codes of an error of the family and of any other exception
BUSY = 6.0  # other processes may take so much of the machine
GOOD_LINES = [
    "robots",
    "info ROBOT",
    "check ROBOT --samples 4 --seed 1",
    "torque ROBOT --q 0.1,30deg --qd 1,2 --qdd 0,0",
    "torque planar_2r --motion log.csv --out new.csv",
    "ik ROBOT --xyz 0.4,0.1,0 --rpy 0,0,90deg --method numerical",
    "simulate planar_2r --q0 0.1,0.2 --seconds 0.1 --step 0.001 --method rk4 -o run.csv",
    (
        "simulate ROBOT --to 1,1 --controller pd --kp 10 --kd 2 --seconds 0.05 --log sensed.csv"
        " --seed 3"
    ),
    "simulate planar_2r --torques LOG --seconds 0.1",
    (
        "excite planar_2r --seconds 2 --harmonics 2 --starts 1 --seed 1 --velocity 2 --acceleration"
        " 5,5 -o motion.csv"
    ),
    "doctor planar_2r LOG --effort torque --mapping map.toml --fix",
    "identify planar_2r LOG --estimator wls --cutoff 10 -o result --no-report",
    "identify ROBOT log.csv --validate LOG --friction viscous --force",
    "validate ROBOT LOG --effort torque",
    "payload planar_2r LOG --controller ur --static",
    "payload planar_2r --poses 4 -o poses.csv",
    "export ROBOT --urdf out.urdf --toml out.toml",
    "validate planar_2r log.csv --against ROBOT",
    "demo --help",
    "--version",
]


def run_command_line(
    number: int, seed: int, files: list[GoodFile], folder: Path, seconds: float
) -> dict[str, Any]:
    """Return the outcome of a case, by its exit code and what was printed.

    It may compute for so long, and take BUSY times as long.
    """
    words = command_line(np.random.default_rng([seed, number, 1]), number, files, folder)
    name = (
        words[0] if words and words[0] in {line.split()[0] for line in GOOD_LINES} else "steelyard"
    )
    row: dict[str, Any] = {
        "number": number,
        "file": name,
        "words": " ".join(words)[:300],
        "megabytes": 0.0,
    }
    environment = os.environ | {"STEELYARD_CACHE": f"{folder.parent}/steelyard-fuzz-cache"}
    command, before = [sys.executable, "-m", "steelyard", *words], _spent()[0]
    try:
        run = subprocess.run(  # noqa: PLW1510
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=BUSY * seconds,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return row | {"outcome": "hang", "seconds": BUSY * seconds}
    except (ValueError, OSError):  # the system does not start such a command line
        return row | {"outcome": "sentence"}
    spent, megabytes = _spent()
    message = (run.stdout + run.stderr).decode("utf-8", errors="replace")
    result = "hang" if spent - before > seconds else _judged(run.returncode, message)
    return row | {"outcome": result, "seconds": round(spent - before, 3), "megabytes": megabytes}


def _spent() -> tuple[float, float]:
    """Return the computing time of all command lines [s], and the peak memory of one [MB]."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime, round(usage.ru_maxrss / 1000)


def _judged(code: int, message: str) -> str:
    if "Traceback" in message:
        return "traceback"
    if code < 0:
        return "crash"
    return "exception" if code == DEFECT else "sentence" if code == BAD_INPUT else "result"


def command_line(random: Random, number: int, files: list[GoodFile], folder: Path) -> list[str]:
    """Write the files of a case and return its words."""
    for file in files:
        (folder / file.name).write_bytes(file.content)
    words = GOOD_LINES[number % len(GOOD_LINES)].split()
    names = {kind: [file for file in files if file.kind == kind] for kind in ("robot", "log")}
    for word, kind in (("ROBOT", "robot"), ("LOG", "log")):
        chosen = names[kind][random.integers(len(names[kind]))]
        if random.random() < 0.4:
            (folder / chosen.name).write_bytes(
                damaged(chosen.content, chosen.text, [f.content for f in files], random)
            )
        words = [chosen.name if w == word else w for w in words]
    for _ in range(random.integers(0, 4)):
        words = _damaged_words(words, random)
    return words


def _damaged_words(words: list[str], random: Random) -> list[str]:
    i = int(random.integers(len(words) + 1))
    nasty = NASTY[random.integers(len(NASTY))].replace("\0", "")
    other = GOOD_LINES[random.integers(len(GOOD_LINES))].split()
    ways = [
        words[:i] + words[i + 1 :],
        words[:i] + [nasty] + words[i + 1 :],
        words[:i] + [nasty] + words[i:],
        words[:i] + other[-2:] + words[i:],
        words[:i] + [word + nasty for word in words[i : i + 1]] + words[i + 1 :],
        words[:i] + words[i : i + 2] * 2 + words[i + 2 :],
    ]
    return ways[random.integers(len(ways))]

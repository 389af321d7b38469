"""One case: a good file, damaged by the generator of its number, and what steelyard answers."""

from __future__ import annotations

import json
import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import steelyard as sy
from benchmarks.fuzz.damage import damaged
from benchmarks.fuzz.good_files import JOINTS, GoodFile, good_files, good_log
from steelyard.errors import SteelyardError
from steelyard.isolation import child
from steelyard.reporting.results import identified_robot, saved_decision
from steelyard.signals import find_faults, to_csv

COMPUTE = 40  # of so many robots and logs that can be read one is also computed with


def write_case(
    number: int, seed: int, files: list[GoodFile], folder: Path
) -> tuple[GoodFile, Path]:
    """Write the damaged file of a case; return the good one and the path."""
    random = np.random.default_rng([seed, number])
    good = files[number % len(files)]
    others = [file.content for file in files if file.text == good.text]
    path = folder / good.name
    path.write_bytes(damaged(good.content, good.text, others, random))
    return good, path


def answer(good: GoodFile, path: Path, number: int) -> None:
    """Do with a file what a user does; an error of the family is an answer too."""
    if good.kind == "robot":
        robot = sy.load(path)
        assert len(robot.parameter_names) == len(robot.parameters)
        assert robot.fingerprint
        if number % COMPUTE == 0 and robot.n and not robot.tree.loops:
            robot.inverse_dynamics(*np.zeros((3, robot.n)))
    elif good.kind == "mapping":
        sy.read_log(
            to_csv(good_log(), path.with_suffix(".csv"), overwrite=True), JOINTS, mapping=path
        )
    elif good.kind == "fit":
        sy.load("planar_2r").to_toml(path.with_name("identified.toml"), overwrite=True)
        saved_decision(str(path), identified_robot(str(path)))
    else:
        log = sy.read_log(path, JOINTS if number % 3 else None, effort="torque")
        find_faults(log)
        if number % COMPUTE == 0:
            sy.doctor(sy.load("planar_2r"), log)


def outcome(number: int, seed: int, files: list[GoodFile], folder: Path) -> dict[str, Any]:
    """Return the outcome of a case.

    A result, an error of the family or another exception; its words, and the memory it took [MB].
    """
    good, path = write_case(number, seed, files, folder)
    kind, words = "result", ""
    _reset_peak()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer(good, path, number)
    except SteelyardError as error:
        kind, words = "sentence", str(error)
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        kind, words = "exception", f"{type(error).__name__}: {error}"
    return {
        "number": number,
        "file": good.name,
        "outcome": kind,
        "words": words[:300],
        "megabytes": _peak(),
    }


def _reset_peak() -> None:
    for process in _processes():
        with suppress(OSError):
            Path(f"/proc/{process}/clear_refs").write_text("5")


def _peak() -> float:
    """Return the peak resident memory of this process and its reader since the last reset [MB]."""
    total = 0.0
    for process in _processes():
        with suppress(OSError):
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
            total += sum(
                float(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM")
            )
    return round(total)


def _processes() -> list[int]:
    return [os.getpid(), *(process.pid for process in child._running.values())]


def main() -> None:
    """Answer numbers of cases on standard input by outcomes, a line each.

    Python -m benchmarks.fuzz.case FOLDER SEED.
    """
    folder, seed = Path(sys.argv[1]), int(sys.argv[2])
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the output of libraries is not an outcome
    files = good_files()
    for line in sys.stdin:
        print(json.dumps(outcome(int(line), seed, files, folder)), file=out, flush=True)


if __name__ == "__main__":
    main()

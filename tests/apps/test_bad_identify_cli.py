"""Bad files and logs from a shell are one sentence.

Doctor names them; folders are written whole or not at all.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.files import TEMPORARY, whole_folder
from steelyard.signals.write import to_csv
from tests.apps.test_cli import Run, run
from tests.apps.test_identify_cli import ROBOT, logs

__all__ = ["logs", "run"]  # fixtures


def test_doctor_names_what_is_wrong(run: Run, logs: Path, tmp_path: Path) -> None:
    assert run("doctor", ROBOT, logs / "log.csv").code == 0
    head, *rows = [
        line for line in (logs / "log.csv").read_text().splitlines() if not line.startswith("#")
    ]
    still = tmp_path / "still.csv"
    still.write_text(
        "\n".join(
            [
                head,
                *(
                    row.replace(row, rows[0].replace("0,", f"{k / 200},", 1))
                    for k, row in enumerate(rows)
                ),
            ]
        )
    )
    ran = run("doctor", ROBOT, still)
    assert ran.code == 1, ran.err
    assert "never moved" in ran.out.lower()
    assert run("doctor", ROBOT, tmp_path / "absent.csv").code == 2
    assert "1 if it has a fault or does not identify the robot" in " ".join(
        run("doctor", "--help").out.split()
    )


def test_doctor_leaves_with_1_where_torques_are_noise(run: Run, logs: Path, tmp_path: Path) -> None:
    log = sy.read_log(logs / "log.csv", sy.load(ROBOT))
    noise = log.replace(tau=np.random.default_rng(0).normal(size=log.q.shape))
    to_csv(noise, tmp_path / "noise.csv")
    ran = run("doctor", ROBOT, tmp_path / "noise.csv")
    assert ran.code == 1, ran.out
    assert "does not identify the robot" in ran.out


def test_a_folder_with_something_in_it_is_left_alone(run: Run, logs: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    ran = run("identify", ROBOT, logs / "log.csv", "-o", tmp_path)
    assert ran.code == 2
    assert "--force" in ran.err
    assert [part.name for part in tmp_path.iterdir()] == ["mine.txt"]
    ran = run(
        "identify",
        ROBOT,
        logs / "log.csv",
        "-o",
        tmp_path,
        "--force",
        "--no-report",
        "--estimator",
        "wls",
    )
    assert ran.code == 0, ran.err
    assert sorted(part.name for part in tmp_path.iterdir()) == [
        "fit.json",
        "identified.toml",
        "mine.txt",
    ]


def test_nothing_is_left_when_it_fails_halfway(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half.txt").write_text("half")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk"), whole_folder(tmp_path / "out") as folder:
        fail(folder)
    assert not list(tmp_path.iterdir())


def bad_logs(logs: Path, folder: Path) -> dict[str, tuple[list[object], list[str]]]:
    """Bad input by what is wrong with it: arguments, and words that the sentence must have."""
    lines = [
        line for line in (logs / "log.csv").read_text().splitlines() if not line.startswith("#")
    ]
    (folder / "two.csv").write_text("\n".join(lines[:3]))
    head = lines[0].replace("joint1", "hip").replace("joint2", "knee").replace("joint3", "heel")
    (folder / "names.csv").write_text("\n".join([head, *lines[1:]]))
    (folder / "empty.csv").write_text("")
    table = np.loadtxt(lines[1:], delimiter=",")
    degrees = table.copy()
    degrees[:, 1:4] = np.degrees(degrees[:, 1:4])
    zero = table.copy()
    zero[:, 4:] = 0.0
    still = table.copy()
    still[:, 1:] = still[0, 1:]
    for name, data in (("degrees", degrees), ("zero", zero), ("still", still)):
        np.savetxt(folder / f"{name}.csv", data, delimiter=",", header=lines[0], comments="")
    shutil.copy(logs / "log.csv", folder / "log.csv")
    return {
        "two samples": (["identify", ROBOT, folder / "two.csv"], ["sample"]),
        "names that match nothing": (["identify", ROBOT, folder / "names.csv"], ["joint1", "hip"]),
        "an empty file": (["identify", ROBOT, folder / "empty.csv"], ["empty.csv"]),
        "no such log": (["identify", ROBOT, folder / "nowhere.csv"], ["nowhere.csv"]),
        "no such robot": (["identify", "spatial_4r", folder / "log.csv"], ["spatial_3r"]),
        "another robot": (["identify", "puma560", folder / "log.csv"], ["joint"]),
        "torques of zeros": (["identify", ROBOT, folder / "zero.csv"], ["zero"]),
        "degrees": (
            ["identify", ROBOT, folder / "degrees.csv"],
            ["degrees.csv", "degrees", "radians"],
        ),
        "a robot that never moved": (["identify", ROBOT, folder / "still.csv"], ["never moved"]),
        "an unknown estimator": (
            ["identify", ROBOT, folder / "log.csv", "--estimator", "wsl"],
            ["'wsl'", "wls"],
        ),
        "an unknown effort": (
            ["identify", ROBOT, folder / "log.csv", "--effort", "volts"],
            ["volts"],
        ),
        "no such mapping": (
            ["identify", ROBOT, folder / "log.csv", "--mapping", folder / "no.toml"],
            ["no.toml"],
        ),
        "a fit without its robot": (
            ["validate", folder / "fit.json", folder / "log.csv"],
            ["identified.urdf"],
        ),
    }


BAD = (
    "two samples", "names that match nothing", "an empty file", "no such log", "no such robot",
    "another robot", "torques of zeros", "degrees", "a robot that never moved",
    "an unknown estimator", "an unknown effort", "no such mapping", "a fit without its robot",
)  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_sentence_and_exit_code_2(
    run: Run, logs: Path, tmp_path: Path, what: str
) -> None:
    arguments, words = bad_logs(logs, tmp_path)[what]
    out = tmp_path / "out"
    ran = run(*arguments, *(["-o", out] if arguments[0] == "identify" else []))
    assert ran.code == 2, f"{what}: {ran}"
    assert all(word in ran.err for word in words), ran.err
    assert "Traceback" not in ran.err
    assert not out.exists()
    assert not [part for part in tmp_path.iterdir() if part.name.startswith(TEMPORARY)]

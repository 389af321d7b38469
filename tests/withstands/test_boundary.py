"""Foreign libraries: whatever they throw on a damaged file or an impossible problem is a sentence
that names the file.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import polars
import pytest
from scipy.io import savemat

from steelyard.errors import LogError, ModelError, ProblemError, SteelyardError, translate_errors
from steelyard.mechanism import load
from steelyard.signals import read_log
from steelyard.signals.read.mapping import read_mapping

T = np.arange(50) / 10
Q = np.sin(T)


class Panic(BaseException):
    """What a library written in Rust throws."""


@pytest.mark.parametrize(
    "thrown",
    [
        Panic("Eigen\nstack"),
        ZeroDivisionError(),
        KeyError("a"),
        MemoryError(),
        RecursionError("deep"),
    ],
)
def test_whatever_a_library_throws_is_an_error_of_the_family(thrown: BaseException) -> None:
    with (
        pytest.raises(
            LogError, match=rf"run\.mat: bad \(.*({type(thrown).__name__}|memory)"
        ) as caught,
        translate_errors("run.mat: bad", LogError),
    ):
        raise thrown
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "thrown",
    [KeyboardInterrupt(), SystemExit(), GeneratorExit(), ProblemError("mine"), ModelError("mine")],
)
def test_interrupts_exits_and_our_own_errors_pass(thrown: BaseException) -> None:
    with pytest.raises(type(thrown)) as caught, translate_errors("run.mat: bad", LogError):
        raise thrown
    assert caught.value is thrown


def write_npz(path: Path) -> None:
    np.savez_compressed(path, t=T, q=Q)


def write_parquet(path: Path) -> None:
    polars.DataFrame({"t": T, "q1": Q}).write_parquet(path)


def write_mat(path: Path) -> None:
    savemat(path, {"t": T, "q": Q}, do_compression=True)


def write_hdf5(path: Path) -> None:
    with h5py.File(path, "w", userblock_size=512) as file:
        file["t"], file["q"] = T[None], Q[None]


WRITERS = {"a.npz": write_npz, "a.parquet": write_parquet, "a.mat": write_mat, "b.mat": write_hdf5}


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_logs_are_answered_by_a_log_or_a_sentence_that_names_them(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    whole = np.frombuffer(path.read_bytes(), np.uint8)
    assert read_log(path).N == 50
    for _ in range(12):
        damaged = whole.copy()
        damaged[rng.integers(0, len(whole), 6)] = rng.integers(0, 256, 6)
        path.write_bytes(damaged[: rng.integers(len(whole) // 2, len(whole) + 1)].tobytes())
        try:
            read_log(path)
        except SteelyardError as error:
            assert name in str(error)  # noqa: PT017 - a log will do as well


TEXTS: dict[str, tuple[bytes, type[SteelyardError]]] = {
    "nul.csv": (b"t,q1\n0,1\n" * 1000 + b"\0,\0\n1,2\n", LogError),
    "odd_utf16.csv": (b"\xff\xfet", LogError),
    "quote.csv": (b't,q1\n"' + b"1" * 200_000, LogError),
    "half.xacro": (b"<robot", ModelError),
    "zero.mjcf": (
        b"<mujoco><worldbody><body><joint axis='0 0 0'/></body></worldbody></mujoco>",
        ModelError,
    ),
    "surrogate.toml": (b'name = "\\ud800"', ModelError),
    "nested.toml": (b"a = " + b"[" * 5000, ModelError),
    "utf7.urdf": (b'<?xml version="1.0" encoding="idna"?><robot/>', ModelError),
}


@pytest.mark.parametrize("name", TEXTS)
def test_damaged_texts_are_a_sentence_that_names_them(name: str, tmp_path: Path) -> None:
    content, family = TEXTS[name]
    (tmp_path / name).write_bytes(content)
    read: Any = load if family is ModelError else read_log
    with pytest.raises(family, match=name):
        read(tmp_path / name)


def test_text_of_numbers_that_are_no_characters_is_a_sentence(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "a.npz",
        t=T,
        q=Q[:, None],
        joint_names=np.array([0x7FFFFFFF], np.uint32).view("<U1"),
    )
    with pytest.raises(
        LogError, match=r"a\.npz: .*joint_names holds numbers that are not characters"
    ):
        read_log(tmp_path / "a.npz", ["elbow"])


def test_a_damaged_mapping_is_a_sentence(tmp_path: Path) -> None:
    for content in (b"\xff\xff", b"a = " + b"[" * 5000):
        (tmp_path / "map.toml").write_bytes(content)
        with pytest.raises(LogError, match=r"map\.toml: not a TOML file"):
            read_mapping(tmp_path / "map.toml")


def test_libraries_print_nothing(tmp_path: Path, root: Path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(path)
    path.write_bytes(path.read_bytes()[:-40] + b"\xff" * 32 + path.read_bytes()[-8:])
    script = f"import steelyard as sy\ntry: sy.read_log({str(path)!r})\nexcept sy.LogError: pass"
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(root / "src")},
    )
    assert run.stdout + run.stderr == ""

"""Files through public functions: writers follow no link, and changed factors are not used."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard.motion import spline
from steelyard.signals import to_csv, to_npz, to_parquet
from tests.archive.archives import small_arm, wave_log, write_logs

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")


@cache
def fit() -> sy.Fit:
    return sy.identify(small_arm(), wave_log(1), "ols", diagnose=False, delay=0.0, decimate=1)


@cache
def motion() -> sy.Trajectory:
    t = np.linspace(0, 1, 5)
    return spline(t, np.sin(t)[:, None] * np.arange(1, 3), 50.0, ("joint1", "joint2"))


WRITERS: dict[str, Callable[[Path], object]] = {
    "log.csv": lambda path: to_csv(wave_log(1, 50), path, overwrite=True),
    "log.npz": lambda path: to_npz(wave_log(1, 50), path, overwrite=True),
    "log.parquet": lambda path: to_parquet(wave_log(1, 50), path, overwrite=True),
    "arm.toml": lambda path: small_arm().to_toml(path, overwrite=True),
    "arm.urdf": lambda path: small_arm().to_urdf(path, overwrite=True),
    "motion.csv": lambda path: motion().write(path, overwrite=True),
    "motion.svg": lambda path: motion().write(path, overwrite=True),
    "report.html": lambda path: sy.report(fit(), path, overwrite=True),
}


@pytest.mark.filterwarnings("ignore::steelyard.SteelyardWarning")
@pytest.mark.parametrize("target", ["file", "absent", "missing/absent"])
@pytest.mark.parametrize("name", WRITERS)
def test_no_writer_follows_a_link(name: str, target: str, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "file").write_text("precious")
    (inside / name).symlink_to(outside / target)
    with pytest.raises(sy.SteelyardError, match="link"):
        WRITERS[name](inside / name)
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "precious"
    assert [path.name for path in inside.iterdir()] == [name]


OPTIONS = {
    "estimator": "wls",
    "friction": ("viscous", "coulomb", "offset"),
    "delay": 0.0,
    "coulomb_width": 0.0,
    "decimate": 1,
    "diagnose": False,
}


def fleet_values(folder: Path, keep: bool) -> np.ndarray:
    """Return the base parameters of all robots of a folder of logs."""
    return np.asarray(sy.identify_fleet(small_arm(), folder, keep=keep, **OPTIONS).base_values)


def kept_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob(".steelyard/*") if path.is_file())


def forge(path: Path, factor: float) -> None:
    """Multiply the numbers of a kept factor, whose arrays follow a header; the header stays."""
    header, start, arrays = path.read_bytes().partition(b"PK\x03\x04")
    assert start, "a kept factor is an archive of arrays"
    with np.load(io.BytesIO(start + arrays), allow_pickle=False) as stored:
        forged = {name: factor * x if x.dtype == float else x for name, x in stored.items()}
    buffer = io.BytesIO()
    np.savez(buffer, **forged)
    path.write_bytes(header + buffer.getvalue())


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Three robots with two logs each."""
    for name in ("a", "b", "c"):
        write_logs(tmp_path / "fleet" / f"robot={name}", 2, 300)
    return tmp_path / "fleet"


@pytest.mark.parametrize("factor", [0.0, 0.99, 1.5, -1.0])
def test_forged_factors_of_a_fleet_are_not_used(factor: float, fleet: Path) -> None:
    expected = fleet_values(fleet, keep=False)
    np.testing.assert_allclose(fleet_values(fleet, keep=True), expected, rtol=1e-12)
    files = kept_files(fleet)
    assert files
    for path in files:
        forge(path, factor)
    np.testing.assert_allclose(fleet_values(fleet, keep=True), expected, rtol=1e-12)


def test_exchanged_factors_of_a_fleet_are_not_used(fleet: Path) -> None:
    expected = fleet_values(fleet, keep=True)
    files = kept_files(fleet)
    contents = [path.read_bytes() for path in files]
    for path, content in zip(files, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)
    np.testing.assert_allclose(fleet_values(fleet, keep=True), expected, rtol=1e-12)


def test_factors_are_not_written_through_links(fleet: Path, tmp_path: Path) -> None:
    expected = fleet_values(fleet, keep=True)
    (tmp_path / "precious").write_text("precious")
    for path in kept_files(fleet):
        path.unlink()
        path.symlink_to(tmp_path / "precious")
    np.testing.assert_allclose(fleet_values(fleet, keep=True), expected, rtol=1e-12)
    assert (tmp_path / "precious").read_text() == "precious"

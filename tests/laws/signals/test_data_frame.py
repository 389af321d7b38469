"""Tables in memory are read as files with the same columns are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import steelyard as sy
from steelyard.errors import CallError, LogError
from steelyard.signals.read.data_frame import is_table
from tests.motions import recorded

NAMES = ("joint1", "joint2")


@pytest.fixture(scope="module")
def log() -> sy.Log:
    return recorded(sy.load("planar_2r"), seconds=4.0, noise=0.1).replace(qd=None, qdd=None)


def columns(log: sy.Log) -> dict[str, np.ndarray]:
    """Columns as a controller writes them: other names, in another order."""
    assert log.tau is not None
    table = {f"effort_{name}": log.tau[:, j] for j, name in enumerate(NAMES)}
    table |= {f"position_{name}": log.q[:, 1 - j] for j, name in enumerate(reversed(NAMES))}
    return {"time": log.t, **table}


def same(one: sy.Log, other: sy.Log) -> bool:
    return all(np.array_equal(getattr(one, x), getattr(other, x)) for x in ("t", "q", "tau"))


FRAMES = {
    "dict": lambda table: table,
    "lists": lambda table: {name: column.tolist() for name, column in table.items()},
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "time as index": lambda table: pd.DataFrame(table).set_index("time"),
    "nullable": lambda table: pd.DataFrame(table).convert_dtypes(),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_table_is_the_log_of_the_file(kind: str, log: sy.Log, tmp_path: Path) -> None:
    robot = sy.load("planar_2r")
    path = tmp_path / "run.csv"
    pl.DataFrame(columns(log)).write_csv(path)
    from_file = sy.read_log(path, robot, effort="torque")
    frame = FRAMES[kind](columns(log))
    from_table = sy.read_log(frame, robot, effort="torque")
    assert from_table.joint_names == from_file.joint_names == NAMES
    assert same(from_table, from_file)
    assert same(sy.Log.from_table(frame, robot, effort="torque"), from_file)


def test_written_frames_are_read_again(log: sy.Log, tmp_path: Path) -> None:
    robot = sy.load("planar_2r")
    frames = (log.to_pandas(), log.to_polars())
    files = (
        log.to_csv(tmp_path / "a.csv"),
        log.to_npz(tmp_path / "a.npz"),
        log.to_parquet(tmp_path / "a.parquet"),
    )
    for each in (*frames, *files):
        assert same(sy.read_log(each, robot), log)
    with pytest.raises(CallError, match="exists already"):
        log.to_csv(tmp_path / "a.csv")
    assert log.to_csv(tmp_path / "a.csv", overwrite=True).exists()


@pytest.mark.parametrize("blocks", ["dict", "polars"])
def test_blocks_of_joints_are_matched_by_number(blocks: str, log: sy.Log) -> None:
    table = {"t": log.t, "q": log.q, "tau": log.tau}
    frame = table if blocks == "dict" else pl.DataFrame(table)
    assert same(sy.read_log(frame, sy.load("planar_2r")), log)


@pytest.mark.parametrize("index", ["dates", "durations"])
def test_an_index_of_times_is_the_time(index: str, log: sy.Log) -> None:
    table = pd.DataFrame({name: x for name, x in columns(log).items() if name != "time"})
    times = pd.to_timedelta(np.round(log.t, 6), unit="s")
    table.index = times if index == "durations" else pd.Timestamp("2026-01-01") + times
    read = sy.read_log(table, sy.load("planar_2r"), effort="torque")
    np.testing.assert_allclose(read.t - read.t[0], log.t - log.t[0], atol=1e-6)


def test_a_table_of_durations_is_in_seconds(log: sy.Log, tmp_path: Path) -> None:
    frame = pl.DataFrame(columns(log)).with_columns(
        time=pl.Series((log.t * 1e6).round().astype(np.int64)).cast(pl.Duration("us"))
    )
    frame.write_parquet(tmp_path / "run.parquet")
    robot = sy.load("planar_2r")
    for each in (frame, tmp_path / "run.parquet"):
        np.testing.assert_allclose(sy.read_log(each, robot, effort="torque").t, log.t, atol=1e-6)


def test_other_values_are_errors_that_name_what_is_expected(log: sy.Log) -> None:
    robot = sy.load("planar_2r")
    with pytest.raises(LogError, match="different numbers of rows: t 400, q1 3"):
        sy.read_log({"t": np.arange(400.0), "q1": np.zeros(3)}, robot)
    with pytest.raises(LogError, match=r"LazyFrame is not a DataFrame.*collect\(\)"):
        sy.read_log(pl.DataFrame(columns(log)).lazy(), robot)
    with pytest.raises(LogError, match="it has no rows"):
        sy.read_log(pd.DataFrame({"t": [], "q1": []}), robot)
    with pytest.raises(LogError, match="is not a log; expected a file"):
        sy.read_log(3.0, robot)
    with pytest.raises(LogError, match="rows= is for a Parquet file"):
        sy.read_log(pd.DataFrame(columns(log)), robot, rows=(0, 5))
    assert not is_table({"q": "positions.csv", "tau": Path("torques.csv")})
    assert not is_table("run.csv")


def test_a_dictionary_of_parameters_is_answered_with_the_line_to_write() -> None:
    robot = sy.load("planar_2r")
    with pytest.raises(CallError, match="expected all parameters as an array") as error:
        robot.with_parameters({"link1.m": 5.0})
    line = str(error.value).split("link1.m: ", 1)[1]
    assert eval(line, {"robot": robot}).parameters[0] == 5.0

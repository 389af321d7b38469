"""Bad logs: one sentence that names the offender, says what was expected and what there is.

Never a silent wrong number.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import CallError, LogError, MissingExtra, SteelyardError
from steelyard.signals import (
    Log,
    Transmission,
    butterworth,
    decimate,
    estimate_delay,
    lowpass,
    read_log,
    read_mapping,
    to_csv,
    to_npz,
)
from steelyard.signals.clean import clean, find_faults
from steelyard.signals.read import csv
from steelyard.signals.smooth import smooth

JOINTS = ("shoulder_pan_joint", "elbow_joint")
T = np.arange(30) / 10
Q = np.stack([np.sin(T), np.cos(T)], axis=1)


def fails(message: str, call: Callable[[], object], kind: type[SteelyardError] = LogError) -> None:
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "Traceback" not in str(caught.value)


def write(folder: Path, name: str, content: str) -> Path:
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


def table(header: str, *columns: np.ndarray) -> str:
    return (
        "\n".join(
            [header] + [",".join(repr(float(x)) for x in row) for row in np.column_stack(columns)]
        )
        + "\n"
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"t": T, "q": Q[:-1]}, r"q must be \(30, 2\)"),
        ({"t": T, "q": Q[:, 0]}, r"q must be \(N, n\), found shape \(30,\)"),
        ({"t": Q, "q": Q}, "t must be one-dimensional"),
        ({"t": [], "q": np.zeros((0, 2))}, "at least one sample"),
        ({"t": T, "q": Q, "tau": Q[:, :1]}, r"tau must be \(30, 2\).*found \(30, 1\)"),
        ({"t": T, "q": Q, "joint_names": ("a",)}, "1 joint names"),
        ({"t": T, "q": Q, "joint_names": ("a", "a")}, "named twice"),
        ({"t": T, "q": Q, "effort": "amperes"}, "'torque' or 'current', not 'amperes'"),
        ({"t": T, "q": [["a", "b"]] * 30}, "q is not an array of numbers"),
        ({"t": T, "q": None}, "q must be"),
    ],
)
def test_shapes_that_do_not_fit(fields: dict[str, object], message: str) -> None:
    fails(message, lambda: Log(**fields))


def test_joints_that_do_not_fit() -> None:
    log = Log(t=T, q=Q, joint_names=JOINTS)
    fails("no joint 'elbow'.*did you mean 'elbow_joint'", lambda: log.select(["elbow"]))
    fails(
        "no joint 'elbow_jiont'.*did you mean 'elbow_joint'",
        lambda: log.reordered(("elbow_jiont",)),
    )
    fails("2 joints without names, the robot 3", lambda: Log(t=T, q=Q).reordered(("a", "b", "c")))
    fails("sequence of names", lambda: log.reordered(7), CallError)
    with pytest.raises(TypeError, match="blocks"):
        iter(log)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no rows"),
        ("# only a comment\n", "holds no rows"),
        ("t,q1,q2\n", "a header and no rows"),
        (
            table("t,a,b", T, Q),
            r"no column holds positions.*q_shoulder_pan_joint.*Columns found: t, a, b",
        ),
        (table("t,q1,q2,q3", T, Q, T), "3 columns of q .*for 2 joints"),
        (table("t,q1", T, T), "1 columns of q .*for 2 joints"),
        (
            table("t,q_shoulder_pan_joint,q_elbow_jont", T, Q),
            "no column of q for joint 'elbow_joint': did you mean 'elbow_jont'",
        ),
        (table("q1,q2", Q), "no column of time.*rate="),
        (
            table("t,q1,q2,q1b,q2b", T, Q, Q).replace("q1b,q2b", "q1,q2"),
            "4 columns of q .*for 2 joints",
        ),
        (
            table("t,actual_q_1,q_1,q_2", T, Q, T),
            "several columns could be q of '1': actual_q_1, q_1",
        ),
        (
            table("time_a,time_b,q1,q2", T, T + 1, Q),
            "several columns could be the time: time_a, time_b",
        ),
        (
            table("t,q1,q2,effort1,effort2", T, Q, Q),
            "torque.*or motor current.*effort='torque' or effort='current'",
        ),
        (table("t,q1 [Nm],q2 [Nm]", T, Q), "is in 'nm', which is not a unit of q"),
        (table("t,q1,q2", T, Q) + "3.0,oops,1\n", "column 'q1' holds text: 'oops' in row 31"),
        (
            table("t,q1,q2", T, Q) + "3.0,1\n",
            r"sample 31 \(line 32\): 2 cells where 3 columns were expected",
        ),
        (table("0.1,0.2,0.3", T, Q), r"layout='t q tau'"),
        (table("t,q1,q2", T, Q).replace("\n", "\n\n"), None),
    ],
)
def test_csv_that_cannot_be_a_log(content: str, message: str | None, tmp_path: Path) -> None:
    path = write(tmp_path, "run.csv", content)
    if message is None:
        assert read_log(path, JOINTS).N == 30
        return
    fails(message, lambda: read_log(path, JOINTS))
    with pytest.raises(LogError, match=r"run\.csv"):
        read_log(path, JOINTS)


def test_files_that_are_not_what_they_say(tmp_path: Path) -> None:
    good = write(tmp_path, "run.csv", table("t,q1,q2", T, Q))
    fails("no such file.*did you mean 'run.csv'", lambda: read_log(tmp_path / "rum.csv"))
    fails("no such file", lambda: read_log(tmp_path / "nowhere" / "run.csv"))
    fails("no reader for '.xls'.*csv", lambda: read_log(write(tmp_path, "run.xls", "")))
    for name in ("a.npz", "a.mat", "a.parquet", "a.db3", "a.mcap", "a.csv"):
        (tmp_path / name).write_bytes(b"PK\x03\x04\0 this is nothing that it says it is \0\1\2")
        fails(name.replace(".", r"\."), lambda name=name: read_log(tmp_path / name))
    (tmp_path / "folder").mkdir()
    fails("not a bag that can be read", lambda: read_log(tmp_path / "folder"))
    fails("an empty list", lambda: read_log([]))
    fails("no option 'rat'.*did you mean 'rate'", lambda: read_log(good, rat=5))
    fails(
        "different numbers of samples",
        lambda: read_log([good, write(tmp_path, "b.csv", table("tau1,tau2", Q[:-1]))]),
    )
    fails(
        "both have a column 'q1', and they differ",
        lambda: read_log([good, write(tmp_path, "c.csv", table("q1", T + 9))]),
    )
    fails(
        "layout 't q tau' with 2 joints needs 5 columns, found 3",
        lambda: read_log(good, JOINTS, layout="t q tau"),
    )
    fails("no column 'q9': known: t, q1, q2", lambda: read_log(good, columns={"q": ["q1", "q9"]}))
    fails("1 columns of q for 2 joints", lambda: read_log(good, JOINTS, columns={"q": ["q1"]}))


def test_pickles_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", t=T, q=np.array([{"a": 1}], dtype=object))
    fails("not an npz file of plain arrays", lambda: read_log(tmp_path / "a.npz"))
    np.savez(tmp_path / "b.npz", names=np.array(["a"]))
    fails("no arrays of numbers", lambda: read_log(tmp_path / "b.npz"))
    np.savez(tmp_path / "c.npz", t=T, q=Q, joint_names=np.array(["a", "b"]))
    fails("no joint 'shoulder_pan_joint'", lambda: read_log(tmp_path / "c.npz", JOINTS))


def test_a_mapping_file_reports_all_its_errors_at_once(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "map.toml",
        """
        effort = "amps"
        rate = -5
        angel = "deg"
        columns = { positon = "a" }
        [transmission]
        ratio = { elbow = 3 }
        sgn = [1, 1]
        offset = "none"
        """,
    )
    with pytest.raises(LogError) as caught:
        read_mapping(path, JOINTS)
    for part in (
        "map.toml",
        "'torque' or 'current'",
        "a positive number",
        "angel",
        "did you mean 'angle'",
        "columns.positon",
        "ratio.elbow",
        "did you mean 'elbow_joint'",
        "transmission.sgn",
        "offset",
    ):
        assert part in str(caught.value), part
    fails("not a TOML file", lambda: read_mapping(write(tmp_path, "b.toml", "a = [")))
    fails("no such mapping", lambda: read_mapping(tmp_path / "none.toml"))
    fails("names no files", lambda: read_log(write(tmp_path, "c.toml", "rate = 5.0")))
    fails(
        "joints are not known",
        lambda: read_mapping(write(tmp_path, "d.toml", "[transmission]\nratio = {a = 1}")),
    )
    fails(
        "sign must be 1 or -1",
        lambda: read_mapping(write(tmp_path, "e.toml", "[transmission]\nsign = [1, 2]")),
    )


def test_transmissions_that_cannot_be() -> None:
    fails(
        "ratio has 2 numbers, offset has 3",
        lambda: Transmission.of(ratio=[1, 2], offset=[0, 0, 0]),
        CallError,
    )
    fails("singular", lambda: Transmission.of(ratio=[1, 0]), CallError)
    fails("'motor' or 'joint'", lambda: Transmission.of(ratio=[1, 1], position="gear"), CallError)
    fails(
        "coupling must be", lambda: Transmission.of(ratio=[1, 1], coupling=[(3, 1, 5)]), CallError
    )
    fails("at least one of", lambda: Transmission.of(), CallError)
    fails("3 joints, the log 2", lambda: Transmission.of(ratio=[1, 1, 1]).apply(Log(t=T, q=Q)))


@pytest.mark.parametrize("method", ["kalman", "butterworth"])
def test_logs_that_cannot_be_smoothed(method: str) -> None:
    more = {"cutoff": 2.0} if method == "butterworth" else {}
    fails(
        "2 samples: smoothing needs at least 12",
        lambda: smooth(Log(t=T[:2], q=Q[:2]), method, **more),
    )
    fails("same time stamp", lambda: smooth(Log(t=0 * T, q=Q), method, **more))
    nan = Q.copy()
    nan[:, 1] = np.nan
    fails(
        "q of elbow_joint holds no numbers",
        lambda: smooth(Log(t=T, q=nan, joint_names=JOINTS), method, **more),
    )
    hole = Q.copy()
    hole[14:16] = np.inf
    assert np.all(np.isfinite(smooth(Log(t=T, q=hole), method, **more).qdd))


def test_calls_that_do_not_fit() -> None:
    log = Log(t=T, q=Q)
    fails("no method 'kalmann'.*did you mean 'kalman'", lambda: smooth(log, "kalmann"), CallError)
    fails("needs a cutoff", lambda: smooth(log, "butterworth"), CallError)
    fails("takes no cutoff", lambda: smooth(log, cutoff=3.0), CallError)
    fails("order is 3 .* or 4", lambda: smooth(log, order=2), CallError)
    fails("no qd", lambda: smooth(log, velocity=True))
    fails(
        "cut-off of 5 Hz is not below half the sampling rate, 5 Hz",
        lambda: butterworth(log, 5.0),
        CallError,
    )
    fails("must be positive", lambda: lowpass(Q, T, -1.0), CallError)
    fails("whole number", lambda: decimate(Q, T, 0), CallError)
    fails("must be positive", lambda: log.blocks(0), CallError)
    fails("must be positive", lambda: log.resampled(0.0), CallError)
    fails("clean", lambda: Log(t=T[::-1], q=Q).resampled(5.0))
    fails("too few", lambda: estimate_delay(Q, Q, 0.1, 5.0), CallError)
    fails("one shape", lambda: estimate_delay(Q, Q[:-1], 0.1), CallError)


def test_nothing_is_written_over_and_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(t=T, q=Q)
    path = write(tmp_path, "run.csv", "mine")
    fails("exists already", lambda: to_csv(log, path), CallError)
    assert path.read_text(encoding="utf-8") == "mine"
    to_csv(log, path, overwrite=True)
    assert read_log(path).N == 30
    fails("no folder", lambda: to_npz(log, tmp_path / "none" / "a.npz"), CallError)

    def broken(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(CallError, match=r"a\.npz cannot be written: disk full"):
        to_npz(log, tmp_path / "a.npz")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.csv"]


@pytest.mark.parametrize(
    ("package", "name", "extra"),
    [("polars", "a.parquet", "tables"), ("rosbags.highlevel", "a.mcap", "bags")],
)
def test_an_absent_extra_is_named(
    package: str, name: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    (tmp_path / name).write_bytes(b"x")
    fails(rf"steelyard\[{extra}\]", lambda: read_log(tmp_path / name), MissingExtra)
    path = write(tmp_path, "run.csv", table("t,q1,q2", T, Q))
    assert csv.by_numpy(["1,2"], csv.Dialect(",", False, None)) is not None
    assert read_log(path, JOINTS).N == 30


@pytest.mark.parametrize("count", [1, 2, 3, 12, 60])
@pytest.mark.parametrize(
    "fault", ["t nan", "q nan", "q zero", "tau nan", "gap", "reversed", "q inf", "stuck clock"]
)
def test_whatever_is_in_a_log_it_is_answered_by_a_log_or_a_sentence(
    count: int, fault: str, tmp_path: Path
) -> None:
    t = np.arange(count) / 50
    q = np.sin(3 * t)[:, None] * [1.0, 0.5]
    tau = 2 * q
    if fault in ("t nan", "gap"):
        t[count // 2 :] = np.nan if fault == "t nan" else t[count // 2 :] + 100
    if fault in ("q nan", "q zero", "q inf"):
        q[count // 2 :] = {"q nan": np.nan, "q zero": 0.0, "q inf": np.inf}[fault]
    tau = np.full_like(tau, np.nan) if fault == "tau nan" else tau
    t = t[::-1] if fault == "reversed" else 0 * t if fault == "stuck clock" else t
    log = Log(t=t, q=q, qd=q, tau=tau)
    ways: list[Callable[[], object]] = [
        lambda: clean(log),
        lambda: smooth(log),
        lambda: smooth(log, "butterworth", cutoff=5.0),
    ]
    ways += [
        lambda: log.resampled(30.0),
        lambda: log.blocks(0.1),
        lambda: read_log(to_csv(log, tmp_path / "a.csv", overwrite=True)),
    ]
    for method in ways:
        answered(method)
    assert all(sentence.endswith((".", "?")) for sentence in find_faults(log))


def answered(method: Callable[[], object]) -> None:
    """Either a sentence or a log whose numbers can be used."""
    try:
        result = method()
    except SteelyardError as error:
        assert len(str(error)) > 20  # noqa: PT017 - a log will do as well
    else:
        assert not isinstance(result, Log) or result.qdd is None or np.all(np.isfinite(result.qdd))

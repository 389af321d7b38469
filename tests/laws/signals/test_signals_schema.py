"""Laws of the schema: each row of it is checked, cut, selected, cleaned, resampled, written, read
and documented.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import CallError, LogError
from steelyard.signals import (
    Log,
    Payload,
    Smoothed,
    Transmission,
    read_log,
    to_csv,
    to_npz,
    to_parquet,
)
from steelyard.signals.clean import clean
from steelyard.signals.schema import rows
from steelyard.signals.smooth import smooth
from steelyard.signals.units import UNITS

NAMES = ("base", "shoulder", "elbow")
SCHEMA = rows(Log)
OPTIONAL = [name for name in SCHEMA if name not in ("t", "q")]
PAYLOAD = Payload(1.5, com=(0.0, 0.1, 0.2), inertia=(0.1, 0.2, 0.3), frame="tool0")
T = np.arange(300) / 100


def values(name: str, joints: int = 3) -> list[np.ndarray]:
    """One array per allowed shape of a signal: slow sines that differ in every column."""
    results = []
    for shape in SCHEMA[name].shapes:
        sizes = tuple(joints if size == "n" else int(size) for size in shape)
        phase = np.arange(np.prod(sizes, dtype=int)).reshape(sizes) / 7 + len(name)
        results.append(np.sin(2 * T.reshape(-1, *[1] * len(sizes)) + phase))
    return results


def full(joints: int = 3, scalar: bool = False, **more: object) -> Log:
    """A log with every signal of the schema."""
    signals = {name: values(name, joints)[-1 if scalar else 0] for name in SCHEMA if name != "t"}
    fields = {
        "joint_names": NAMES[:joints],
        "effort": "current",
        "payload": PAYLOAD,
        "units": {"q": "deg"},
    }
    return Log(**{"t": T, **signals, **fields, **more})


def same(a: Log, b: Log, tolerance: float = 0.0) -> None:
    for name in SCHEMA:
        np.testing.assert_allclose(
            getattr(a, name), getattr(b, name), rtol=0, atol=tolerance, err_msg=name
        )
    assert (a.joint_names, a.effort, a.payload, a.units) == (
        b.joint_names,
        b.effort,
        b.payload,
        b.units,
    )


@pytest.mark.parametrize("scalar", [False, True])
@pytest.mark.parametrize(
    ("write", "name"), [(to_csv, "a.csv"), (to_npz, "a.npz"), (to_parquet, "a.parquet")]
)
def test_every_signal_is_written_and_read_back(
    write, name: str, scalar: bool, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    for joints in (3, 1):
        log = full(joints, scalar)
        path = write(log, tmp_path / name, overwrite=True)
        for robot in (None, NAMES[:joints]):
            same(read_log(path, robot), log)
    turned = read_log(write(full(), tmp_path / name, overwrite=True), NAMES[::-1])
    same(turned, full().select(NAMES[::-1]))


@pytest.mark.parametrize("name", OPTIONAL)
def test_a_signal_of_a_wrong_shape_is_named(name: str) -> None:
    for value in values(name):
        with pytest.raises(LogError, match=rf"{name} must be \(300,"):
            Log(t=T, q=values("q")[0], **{name: value[:-1]})
        wide = np.stack([value, value], axis=-1)
        with pytest.raises(
            LogError, match=rf"{name} must be .*found \({', '.join(map(str, wide.shape))}\)"
        ):
            Log(t=T, q=values("q")[0], **{name: wide})


@pytest.mark.parametrize("scalar", [False, True])
def test_every_signal_is_cut_and_selected(scalar: bool) -> None:
    log = full(scalar=scalar)
    part, chosen = log[10:20], log.select(["elbow", "base"])
    for name, row in SCHEMA.items():
        value = getattr(log, name)
        np.testing.assert_array_equal(getattr(part, name), value[10:20])
        expected = value[:, [2, 0]] if row.per_joint and value.ndim > 1 else value
        np.testing.assert_array_equal(getattr(chosen, name), expected)
    assert (part.payload, part.units) == (PAYLOAD, {"q": "deg"})


@pytest.mark.parametrize("scalar", [False, True])
def test_every_signal_is_resampled_cleaned_and_kept_by_the_smoother(scalar: bool) -> None:
    log = full(scalar=scalar)
    fast = log.resampled(200.0)
    for name in SCHEMA:
        np.testing.assert_allclose(
            getattr(fast, name)[::2], getattr(log, name), atol=1e-9, err_msg=name
        )
    keep = np.delete(np.arange(300), [50, 51, 120])
    same(clean(log[keep]), log, 2e-3)
    smoothed = smooth(log, velocity=False)
    assert isinstance(smoothed, Smoothed)
    for name in SCHEMA:
        if name not in ("q", "qd", "qdd"):
            np.testing.assert_array_equal(getattr(smoothed, name), getattr(log, name))


@pytest.mark.parametrize("name", [name for name in SCHEMA if name != "t"])
def test_holes_of_every_signal_are_filled(name: str) -> None:
    log = full()
    holed = getattr(log, name).copy()
    first = holed.reshape(300, -1)[:, 0]  # a view: holes in it are holes in the signal
    first[100:104] = np.nan
    same(clean(log.replace(**{name: holed})), log, 2e-3)
    first[100:200] = np.nan
    remaining = 300 if SCHEMA[name].slow else 200
    assert len(clean(log.replace(**{name: holed}))) == remaining


def test_every_signal_has_units_and_words_of_its_own() -> None:
    words = [word for row in SCHEMA.values() for word in row.words]
    assert len(words) == len(set(words))
    for row in SCHEMA.values():
        assert row.words or row.components, row.name
        for unit in (*row.components.values(), *([] if row.components else row.unit.split("|"))):
            assert unit in UNITS, row.name


def test_the_documentation_lists_the_schema() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "logs.md").read_text(encoding="utf-8")
    for name, row in SCHEMA.items():
        shape = " or ".join(
            f"({', '.join(map(str, ('N', *shape)))}{'' if shape else ','})" for shape in row.shapes
        )
        names = ", ".join(f"`{name}_{ending}`" for ending in row.components)
        words = names or " ".join(f"`{word}`" for word in row.words) + (
            f" beside a word of `{row.beside}`" if row.beside else ""
        )
        line = f"| `{name}` | {shape} | {row.unit.replace('|', ' or ')} | {row.meaning} | {words} |"
        assert line in text, f"docs/logs.md lacks the row\n{line}"


def test_positions_of_motors_and_links_have_their_own_signals(tmp_path: Path) -> None:
    q = values("q")[0]
    header = "t," + ",".join(
        f"{kind}_{joint}" for kind in ("q", "motor_position", "q_link") for joint in (1, 2, 3)
    )
    np.savetxt(
        tmp_path / "a.csv",
        np.column_stack([T, q, 100 * q, q + 0.01]),
        delimiter=",",
        header=header,
        comments="",
    )
    log = read_log(tmp_path / "a.csv", NAMES)
    np.testing.assert_allclose(log.q, q)
    np.testing.assert_allclose(log.motor_position, 100 * q)
    np.testing.assert_allclose(log.link_position, q + 0.01)
    only_motors = "t," + ",".join(f"motor_position_{joint}" for joint in (1, 2, 3))
    np.savetxt(
        tmp_path / "b.csv",
        np.column_stack([T, 100 * q]),
        delimiter=",",
        header=only_motors,
        comments="",
    )
    log = read_log(tmp_path / "b.csv", NAMES, mapping=Transmission.of(ratio=[100, 100, 100]))
    np.testing.assert_allclose(log.q, q)
    np.testing.assert_allclose(log.motor_position, 100 * q)


def test_signals_that_do_not_fit_are_left_out_with_a_remark(tmp_path: Path) -> None:
    q = values("q")[0]
    header = "t,q1,q2,q3,temperature_controller,base_ax"
    np.savetxt(
        tmp_path / "a.csv", np.column_stack([T, q, T, T]), delimiter=",", header=header, comments=""
    )
    log = read_log(tmp_path / "a.csv", NAMES)
    assert (log.temperature, log.base) == (None, None)
    remarks = " ".join(log.remarks)
    assert "temperature was left out: no column of temperature for joint 'base'" in remarks
    assert "base was left out: no column base_ay, base_az" in remarks
    with pytest.raises(LogError, match="1 columns of base for 9 components: ax, ay"):
        read_log(tmp_path / "a.csv", NAMES, columns={"base": ["base_ax"]})


def test_units_are_converted_and_remembered(tmp_path: Path) -> None:
    q = values("q")[0]
    header = (
        "time_ms,q1 [deg],q2 [deg],q3 [deg],temperature [degC],reference_1 [deg],reference_2"
        " [deg],reference_3 [deg]"
    )
    np.savetxt(
        tmp_path / "a.csv",
        np.column_stack([1e3 * T, np.rad2deg(q), T, np.rad2deg(q)]),
        delimiter=",",
        header=header,
        comments="",
    )
    log = read_log(tmp_path / "a.csv", NAMES)
    np.testing.assert_allclose(log.reference, q)
    np.testing.assert_allclose(log.temperature, T)
    assert log.units == {"t": "ms", "q": "deg", "reference": "deg"}


def test_one_file_or_layout_for_the_motion_of_the_base(tmp_path: Path) -> None:
    q, base = values("q")[0], values("base")[0]
    np.savetxt(tmp_path / "q.csv", np.column_stack([T, q]), delimiter=",")
    np.savetxt(tmp_path / "base.csv", np.column_stack([T, base]), delimiter=",")
    np.testing.assert_allclose(
        read_log({"q": tmp_path / "q.csv", "base": tmp_path / "base.csv"}, NAMES).base, base
    )
    np.savetxt(tmp_path / "both.csv", np.column_stack([T, q, base]), delimiter=",")
    np.testing.assert_allclose(read_log(tmp_path / "both.csv", layout="t q base").base, base)


def test_a_payload_is_what_with_payload_takes() -> None:
    assert PAYLOAD.inertia == ((0.1, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.3))
    assert Payload(2, (0, 0, 0), 0).inertia == ((0.0,) * 3,) * 3
    assert Payload(2).com is None
    assert Payload(2).inertia is None
    assert not Payload(2, (0, 0, 0)).is_known
    assert PAYLOAD.is_known
    for bad in (
        {"mass": -1},
        {"mass": float("nan")},
        {"mass": "2 kg"},
        {"mass": 1, "com": "tip"},
        {"mass": 1, "inertia": 0.1},
        {"mass": 1, "com": (0, 0)},
        {"mass": 1, "com": (0, 0, 0), "inertia": [1, 2]},
    ):
        with pytest.raises(CallError, match="payload: "):
            Payload(**bad)
    with pytest.raises(LogError, match="payload must be a Payload or None, not int"):
        full(payload=3)


def test_a_log_can_be_sent_to_another_process() -> None:
    same(pickle.loads(pickle.dumps(full())), full())

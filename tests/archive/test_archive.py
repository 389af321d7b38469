"""Logs that are folded one by one.

The same bits in any process, and the numbers of all of them in one problem.
"""

from __future__ import annotations

import shutil
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard.identification import Accumulator
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.out_of_core import log_factor
from steelyard.identification.out_of_core.archive_problem import merge_tree
from steelyard.identification.out_of_core.fold_spec import FoldSpec
from steelyard.identification.out_of_core.out_of_core_thresholds import THRESHOLDS
from steelyard.identification.result.uncertainty import Uncertainty
from steelyard.identification.samples.preparation import Preparation
from steelyard.signals import to_npz
from tests.archive.archives import identified, small_arm, wave_log, write_logs


@pytest.fixture(autouse=True)
def every_size_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(THRESHOLDS), "bytes_in_memory", 0)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_logs(tmp_path_factory.mktemp("logs"), 10)


def bits(fit: sy.Fit) -> bytes:
    """All numbers of a fit that its logs decide."""
    known: Uncertainty = fit.uncertainty
    return b"".join(
        np.asarray(x).tobytes()
        for x in (fit.parameters, fit.base_values, known.covariance, known.sigma, fit.region.q_low)
    )


@pytest.fixture(scope="module")
def serial(files: list[Path]) -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(THRESHOLDS), "bytes_in_memory", 0)
        return bits(identified(files))


def test_neither_order_nor_names_nor_threads_count(
    files: list[Path], serial: bytes, tmp_path: Path
) -> None:
    assert bits(identified(files[::-1])) == serial
    renamed = [
        Path(shutil.copy(file, tmp_path / f"{k}.parquet")) for k, file in enumerate(reversed(files))
    ]
    assert bits(identified(tmp_path)) == serial
    assert len(renamed) == len(files)
    with sy.threads(1):
        assert bits(identified(str(files[0].parent / "run*.parquet"))) == serial


def test_no_executor_changes_a_bit(files: list[Path], serial: bytes) -> None:
    with ThreadPoolExecutor(3) as pool:
        assert bits(identified(files, executor=pool)) == serial
    with ProcessPoolExecutor(2) as pool:
        assert bits(identified(files, executor=pool)) == serial
    assert bits(identified(files, executor=3)) == serial


def test_dask_changes_no_bit(files: list[Path], serial: bytes) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        assert bits(identified(files, executor=client)) == serial


@pytest.mark.parametrize(
    "options",
    [{}, {"delay": 0.03, "decimate": 3}, {"drive_gains": ("joint2",)}],
    ids=["plain", "rate", "gains"],
)
def test_one_by_one_is_all_at_once(files: list[Path], options: dict[str, Any]) -> None:
    """Least squares of everything in memory, with what a pilot would settle given, or settled by
    all of them.
    """
    argument: dict[str, Any] = {
        "friction": ("viscous", "coulomb", "offset"),
        "delay": 0.0,
        "coulomb_width": 0.0,
        "decimate": 1,
    } | options
    files = files[: THRESHOLDS.pilot_logs]
    apart = identified(files, estimator="wls", **argument)
    logs = [sy.read_log(file, small_arm()) for file in files]
    together = sy.identify(small_arm(), logs, "wls", diagnose=False, **argument)
    assert apart.archive is not None
    assert together.archive is None
    assert np.max(np.abs(apart.base_values - together.base_values) / together.base_std) < 1e-6
    whole = np.linalg.norm(together.residuals) / np.linalg.norm(together.measured)
    assert np.isclose(whole, total_error(apart), rtol=0.02 if options else 1e-9)
    assert np.all(np.abs(np.log(apart.base_std / together.base_std)) < np.log(2.5)), (
        "two ways to cut the motion into blocks"
    )


def test_logs_of_another_rate_are_brought_to_the_common_one() -> None:
    """One sample in 0.04 s is kept, whatever the rate of a log."""
    arm, log = small_arm(), wave_log(0)
    fold_spec = FoldSpec(arm, build_model(arm), Preparation(), np.zeros(2), np.ones(2), 0.04)
    selected = [fold_spec.problem(each) for each in (log, log[::2], log[::4], log[::8])]
    assert [problem.decimate for problem in selected] == [4, 2, 1, 1]
    assert [problem.N for problem in selected] == [200, 200, 200, 100]
    assert replace(fold_spec, preparation=Preparation(decimate=3)).problem(log).decimate == 3


def test_one_file_that_cannot_be_divided_is_held_in_memory(tmp_path: Path) -> None:
    to_npz(wave_log(0), tmp_path / "run.npz")
    assert identified(tmp_path / "run.npz").archive is None


def total_error(fit: sy.Fit) -> float:
    """|e| / |tau| of all logs, from the errors of each and their torques."""
    assert fit.archive is not None
    torque = [
        np.linalg.norm(np.asarray(sy.read_log(name, small_arm()).tau)) for name in fit.archive.names
    ]
    return float(np.linalg.norm(fit.archive.errors * torque) / np.linalg.norm(torque))


def test_deviations_are_those_that_are_told() -> None:
    """Deviations from the truth over their standard deviation, of many archives, have about the
    spread of one.
    """
    true = small_arm()
    arguments: dict[str, Any] = {
        "friction": ("viscous", "coulomb", "offset"),
        "delay": 0.0,
        "coulomb_width": 0.0,
        "decimate": 1,
    }
    scores = []
    for k in range(12):
        fit = identified(
            [wave_log(1000 * k + i, 400) for i in range(12)],
            estimator="wls",
            executor=ThreadPoolExecutor(1),
            **arguments,
        )
        scores.append((fit.base_values - fit.base.values(true.parameters)) / fit.base_std)
    assert 0.8 < np.sqrt(np.mean(np.square(scores))) < 1.35


def test_a_motion_that_is_repeated_tells_no_more_of_an_error_of_the_model() -> None:
    arguments: dict[str, Any] = {
        "friction": ("viscous", "coulomb", "offset"),
        "delay": 0.0,
        "coulomb_width": 0.0,
        "decimate": 1,
    }

    def sizes(count: int, same: bool) -> np.ndarray[Any, Any]:
        logs = [wave_log(k, 1600, motion=3 if same else k, wobble=0.5) for k in range(count)]
        return np.asarray(
            identified(logs, estimator="wls", executor=ThreadPoolExecutor(1), **arguments).base_std
        )

    other = np.median(sizes(32, same=False) / sizes(8, same=False))
    again = np.median(sizes(32, same=True) / sizes(8, same=True))
    assert 0.2 < other < 0.7, "four times as many motions halve it"
    assert again > 0.85, "the same motion four times as often does not"


def test_a_large_file_is_folded_in_parts(
    files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_logs(tmp_path, 1, 4000)[0]
    monkeypatch.setitem(vars(THRESHOLDS), "rows_per_task", 900)
    fit = identified(file)
    assert fit.archive is not None
    assert fit.archive.samples.sum() == 4000
    assert len(fit.archive.names) == 5
    assert any("rows 800 to 1600" in name for name in fit.archive.names)


def test_what_was_folded_is_not_folded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = write_logs(tmp_path, 9)
    first = identified(files, keep=True)
    selected = sorted((tmp_path / ".steelyard").iterdir())
    assert first.archive is not None
    assert first.archive.reused == 0
    assert len(selected) == 9
    again = identified(files, keep=True)
    assert again.archive is not None
    assert again.archive.reused == 9
    assert bits(again) == bits(first)
    selected[0].unlink()
    selected[1].write_bytes(selected[1].read_bytes()[:100])
    calls: list[str] = []
    folded = log_factor.some_states
    monkeypatch.setattr(
        log_factor, "some_states", lambda samples: (calls.append("folded"), folded(samples))[1]
    )
    third = identified(files, keep=True)
    assert third.archive is not None
    assert third.archive.reused == 7
    assert len(calls) == 2
    assert bits(third) == bits(first)
    assert identified(files, keep=True, mask=0.01).archive.reused == 0, "other options"
    other = sy.identify(small_arm().with_gravity((0, -9.0, 0)), files, diagnose=False)
    assert other.archive is not None
    assert other.archive.reused == 0, "another robot"


def test_factors_are_kept_elsewhere_if_asked(files: list[Path], tmp_path: Path) -> None:
    identified(files, keep=tmp_path / "kept")
    again = identified(
        [sy.read_log(file, small_arm()) for file in files[:9]] + files[9:],
        keep=tmp_path / "kept",
        executor=1,
    )
    assert again.archive is not None
    assert again.archive.reused == 1, "logs in memory have their own digests"


def test_copies_count_once(files: list[Path], serial: bytes, tmp_path: Path) -> None:
    copy = shutil.copy(files[3], tmp_path / "copy.parquet")
    fit = identified([*files, copy])
    assert fit.archive is not None
    assert fit.archive.copies == (str(copy),)
    assert bits(fit) == serial
    assert "count once" in " ".join(fit.status)


def test_a_damaged_log_is_named(files: list[Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(files[0].read_bytes()[:2000])
    torn = tmp_path / "torn.csv"
    torn.write_text("t,q1,q2\n0,1,2\n", encoding="utf-8")
    with pytest.raises(
        sy.LogError,
        match=r"2 of 12 logs cannot be used: .*bad\.parquet.*torn\.csv|torn\.csv.*bad\.parquet",
    ):
        identified([*files, bad, torn])
    with pytest.warns(sy.SteelyardWarning, match=r"2 of 12 logs .*left out"):
        fit = identified([*files, bad, torn], damaged="leave out", executor=2)
    assert fit.archive is not None
    assert {Path(name).name for name, _ in fit.archive.left_out} == {"bad.parquet", "torn.csv"}
    assert bits(fit) == bits(identified(files))
    with pytest.raises(sy.LogError, match=r"none|cannot"):
        identified([bad, torn], damaged="leave out")


def test_a_log_that_does_not_belong_stands_out(files: list[Path]) -> None:
    other = wave_log(77)
    wrong = sy.Log(
        t=other.t,
        q=other.q,
        qd=other.qd,
        qdd=other.qdd,
        tau=1.4 * np.asarray(other.tau),
        joint_names=other.joint_names,
    )
    logs = [sy.read_log(file, small_arm()) for file in files]
    fit = identified([*logs, wrong], executor=ThreadPoolExecutor(1))
    assert fit.archive is not None
    assert np.flatnonzero(fit.archive.outliers).tolist() == [int(np.argmax(fit.archive.errors))]
    assert not identified(files).archive.outliers.any()
    assert fit.archive.table().rows[0][0] == fit.archive.names[int(np.argmax(fit.archive.errors))]


def test_small_logs_are_held_in_memory_whoever_reads_them(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(THRESHOLDS), "bytes_in_memory", 256e6)
    logs = [sy.read_log(file, small_arm()) for file in files[:4]]
    plain = sy.identify(small_arm(), logs, diagnose=False)
    for argument, executor in ((logs, 2), (files[:4], None), (files[:4], 2)):
        fit = sy.identify(small_arm(), argument, diagnose=False, executor=executor)
        assert fit.archive is None
        assert bits(fit) == bits(plain)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"estimator": "didim"}, r"'didim' needs all samples in memory; .* auto, sdp, ols, wls"),
        ({"estimator": "irls"}, r"'irls' needs all samples in memory"),
        ({"elastic": True}, r"elastic|two sides|motor"),
        ({"executor": "two"}, r"executor must be a number of processes, .* not 'two'"),
        ({"executor": 0}, r"executor must be a number of processes"),
        ({"executor": True}, r"executor must be a number of processes"),
        ({"damaged": "skip"}, r"damaged 'skip' is unknown; .*refuse, leave out"),
        ({"keep": 3}, r"keep must be True, beside the logs, False, or a folder, not 3"),
    ],
)
def test_what_cannot_be_is_said(files: list[Path], options: dict[str, Any], words: str) -> None:
    with pytest.raises(sy.SteelyardError, match=words):
        identified(files, **options)


def test_a_tree_merges_everything() -> None:
    rng = np.random.default_rng(0)
    Y, tau = rng.normal(size=(70, 2, 3)), rng.normal(size=(70, 2))
    empty = Accumulator.empty(((0, 1, 2), (1, 2)), 3)
    for count in (1, 2, 3, 7):
        parts = [empty.fold(Y[k::count], tau[k::count]) for k in range(count)]
        whole = merge_tree(parts)
        for R, own in zip(whole.factors, empty.fold(Y, tau).factors, strict=True):
            assert np.allclose(R.T @ R, own.T @ own, atol=1e-10)
        assert whole.counts == (70.0, 70.0)


def test_the_region_is_that_of_all_logs_and_the_pilot_is_a_few(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A motion that goes farther counts, whether or not it is looked at to build the model."""
    monkeypatch.setitem(vars(THRESHOLDS), "pilot_logs", 2)
    monkeypatch.setitem(vars(THRESHOLDS), "pilot_samples", 300)
    logs = [sy.read_log(file, small_arm()) for file in files]
    fit = identified(logs, executor=ThreadPoolExecutor(1))
    assert len(fit.residuals) <= 600
    low, high = (np.array([f(log.q, axis=0) for log in logs]) for f in (np.min, np.max))
    assert np.all(fit.region.q_low < np.median(low, axis=0))
    assert np.all(fit.region.q_high > np.median(high, axis=0))


def test_noise_of_the_regressor_counts_for_all_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the pilot is scaled up: as many times as there are more rows."""
    monkeypatch.setitem(vars(THRESHOLDS), "pilot_logs", 2)
    same = [wave_log(k, motion=3) for k in range(8)]
    few, many = (
        identified(same[:count], estimator="ols", executor=ThreadPoolExecutor(1), decimate=1)
        for count in (2, 8)
    )
    ratio = np.linalg.norm(many.uncertainty.errors) / np.linalg.norm(few.uncertainty.errors)
    assert ratio == pytest.approx(2.0, rel=0.1)


def test_a_log_that_cannot_be_used_is_left_out_of_the_pilot_too() -> None:
    """Of four logs all are the pilot; one of them can be read, and never moves."""
    still = sy.Log(t=np.arange(50.0), q=np.zeros((50, 2)), tau=np.ones((50, 2)), source="still")
    logs = [replace(wave_log(k, 300), source=f"run{k}") for k in range(3)]
    with pytest.raises(sy.LogError, match=r"1 of 4 logs cannot be used: still: "):
        identified([*logs, still], executor=ThreadPoolExecutor(1))
    with pytest.warns(sy.SteelyardWarning, match=r"1 of 4 logs .*left out"):
        fit = identified([*logs, still], executor=ThreadPoolExecutor(1), damaged="leave out")
    assert fit.archive is not None
    assert [name for name, _ in fit.archive.left_out] == ["still"]
    assert bits(fit) == bits(identified(logs, executor=ThreadPoolExecutor(1)))

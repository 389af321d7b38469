"""Estimators: a row of ESTIMATORS is offered, run, saved, folded, public and documented."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import steelyard as sy
from steelyard import identification
from steelyard.apps.completions import estimators
from steelyard.apps.table_words import estimator_names
from steelyard.errors import CallError
from steelyard.identification import ESTIMATORS
from steelyard.identification.estimators.least_squares import OLS
from steelyard.identification.estimators.registry import EstimatorRow
from steelyard.identification.out_of_core.out_of_core_thresholds import THRESHOLDS
from steelyard.signals import to_csv, to_npz
from tests.apps.test_cli import Run, run
from tests.archive.archives import identified, small_arm, wave_log

__all__ = ["run"]  # the fixture

DOCS = Path(__file__).parents[2] / "docs"
FOLDED = [name for name, row in ESTIMATORS.items() if not row.reads_samples]
EVERY = pytest.mark.parametrize("name", ESTIMATORS)


@dataclass(frozen=True)
class Fake(OLS):
    """Ordinary least squares by another name."""

    name = "fake"


@dataclass(frozen=True)
class FakeRow(EstimatorRow):
    """A row that makes a fake."""

    def __call__(self, cad: bool) -> Fake:
        return Fake()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an estimator that only a row knows."""
    monkeypatch.setitem(ESTIMATORS, "fake", FakeRow("", "Fake", reads_samples=False))
    return "fake"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Six logs of an arm, every other one with more friction."""
    folder = tmp_path_factory.mktemp("logs")
    paths = [folder / f"run{k}.npz" for k in range(6)]
    for k, path in enumerate(paths):
        arm = small_arm().with_friction(viscous=0.6 + 2.0 * (k % 2))
        to_npz(wave_log(k, robot=arm), path)
    return paths


@pytest.fixture
def folding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of any size are folded one by one; the samples in memory are of one of them."""
    for name, value in (("bytes_in_memory", 0), ("pilot_logs", 1)):
        monkeypatch.setitem(vars(THRESHOLDS), name, value)


def test_a_row_is_offered(run: Run, fake: str) -> None:
    assert fake in estimator_names()
    assert estimators("fa") == [fake]
    for command in ("identify", "fleet"):
        shown = set(re.findall(r"\w+", run(command, "--help").out))
        assert set(ESTIMATORS) <= shown, f"steelyard {command} --help"
    with pytest.raises(CallError, match="did you mean 'fake'"):
        identified(wave_log(0), estimator="fakee")


def test_a_row_runs_and_is_saved(run: Run, fake: str, tmp_path: Path) -> None:
    to_csv(wave_log(0), tmp_path / "run.csv")
    small_arm().to_toml(tmp_path / "arm.toml")
    arm, log, out = (tmp_path / name for name in ("arm.toml", "run.csv", "out"))
    ran = run("identify", arm, log, "--estimator", fake, "-o", out, "--quiet")
    assert ran.code == 0, ran.err
    assert json.loads((out / "fit.json").read_text())["estimator"] == fake
    assert "estimator fake" in (out / "report.html").read_text(encoding="utf-8")
    assert run("validate", out, log, "--quiet").code == 0


@pytest.mark.usefixtures("folding")
def test_a_row_reads_factors(fake: str, files: list[Path]) -> None:
    fit = identified(files, estimator=fake)
    assert fit.pipeline.archive is not None
    np.testing.assert_array_equal(fit.base_values, identified(files, estimator="ols").base_values)


@pytest.mark.usefixtures("folding")
@EVERY
def test_many_logs_are_folded_or_refused(name: str, files: list[Path]) -> None:
    fixed = {"delay": 0, "coulomb_width": 0, "smoothing": None, "decimate": 1}
    options = {"estimator": name, "friction": ("viscous", "coulomb", "offset"), **fixed}
    if name not in FOLDED:
        with pytest.raises(CallError, match=f"{name!r} needs all samples") as caught:
            identified(files, **options)
        assert str(caught.value).endswith(", ".join(FOLDED))
        return
    folded = identified(files, **options)
    logs = [sy.read_log(file, small_arm()) for file in files]
    together, *alone = (identified(some, **options) for some in (logs, logs[0], logs[1]))
    assert folded.pipeline.archive is not None
    assert together.pipeline.archive is None
    distance = [np.linalg.norm(fit.base_values - together.base_values) for fit in (folded, *alone)]
    assert distance[0] < 0.5 * min(distance[1:]), "the estimate follows all logs, not one"


@EVERY
def test_its_class_is_public(name: str) -> None:
    row = ESTIMATORS[name]
    assert row.class_name in identification.__all__
    result = getattr(identification, row.class_name)()
    assert type(result) is type(row(False))
    assert result.name == name


@EVERY
def test_the_documentation_names_it(name: str) -> None:
    options, page = (
        (DOCS / file).read_text(encoding="utf-8") for file in ("identification.md", "estimators.md")
    )
    row = next(line for line in options.splitlines() if line.startswith("| `estimator=` |"))
    assert f'`"{name}"`' in row, "docs/identification.md, row of estimator="
    assert f'**`"{name}"`**' in page, "docs/estimators.md says when to use it"

"""Work in a child process: how far it is, its result, its errors, and its end at any moment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.apps.page.job import Job
from steelyard.apps.page.server.folder import Folder
from steelyard.apps.page.window import Windows


def counts(top: int, progress: Callable[[str, float], None]) -> int:
    for k in range(top):
        progress(f"step {k}", k / top)
        time.sleep(0.06)
    return os.getpid()


def sleeps(progress: Callable[[str, float], None]) -> None:
    progress("asleep", 0.5)
    time.sleep(60)


def fails(kind: str, progress: Callable[[str, float], None]) -> None:
    if kind == "sentence":
        raise sy.LogError("the log has\n no torque")
    if kind == "defect":
        raise ZeroDivisionError("1/0")
    os._exit(3)


def wait(job: Job[object], until: Callable[[], bool], seconds: float = 30) -> None:
    began = time.monotonic()
    while not until():
        assert time.monotonic() - began < seconds, (job.state, job.sentence)
        time.sleep(0.01)
        job.look()


def test_progress_and_result() -> None:
    job: Job[object] = Job(counts, (3,))
    seen = set()
    wait(job, lambda: bool(seen.add((job.sentence, job.share))) or job.state != "running")
    assert (job.state, job.share) == ("done", 1.0)
    assert job.result not in (None, os.getpid())
    assert {"step 1", "step 2"} <= {sentence for sentence, _ in seen}


def test_cancel_ends_the_work_at_once() -> None:
    job: Job[object] = Job(sleeps, ())
    wait(job, lambda: job.share > 0)
    began = time.monotonic()
    job.cancel()
    assert time.monotonic() - began < 2
    assert (job.look(), job.result) == ("cancelled", None)
    assert not job._child.is_alive()


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("sentence", "the log has no torque"),
        ("defect", "a defect in steelyard, ZeroDivisionError: 1/0; please report it"),
        ("crash", "ended without a result"),
    ],
)
def test_errors_are_sentences(kind: str, sentence: str) -> None:
    job: Job[object] = Job(fails, (kind,))
    wait(job, lambda: job.state != "running")
    assert job.state == "failed"
    assert sentence in job.error


def test_another_log_ends_the_work_about_the_first(tmp_path: Path) -> None:
    """What is found in a log is never shown as another one's."""
    window = Windows(Folder.of(tmp_path)).open()
    window.take_robot(sy.load("planar_2r"), "planar_2r")
    begun = window.jobs = {name: Job(sleeps, ()) for name in ("doctor", "design")}
    doctor, design = begun["doctor"], begun["design"]
    t = [0.0, 0.1, 0.2]
    window.take_log(
        sy.Log(t=t, q=[[0, 0]] * 3, tau=[[0, 0]] * 3, joint_names=("joint1", "joint2")), "log.csv"
    )
    assert (doctor.state, design.look()) == ("cancelled", "running")
    assert list(window.jobs) == ["design"]
    window.end()
    assert design.state == "cancelled"

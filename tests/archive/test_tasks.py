"""Calls that are shared between workers: each is answered once, whatever happens to a worker."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.identification.out_of_core.run_tasks import (
    LocalWorkers,
    dask_client,
    run_tasks,
    workers_of,
)
from tests.archive.tasks import broken, deadly, killed_once, refused, slow_square, square

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by a signal")
CALLS = [(x,) for x in range(12)]


def answers(function: Any, calls: Any, executor: Any) -> dict[int, Any]:
    """The answers by number; none comes twice."""
    pairs = list(run_tasks(function, calls, executor))
    assert len({number for number, _ in pairs}) == len(pairs)
    return dict(pairs)


def test_every_call_is_answered() -> None:
    right = {x: x * x for x in range(12)}
    assert answers(square, CALLS, None) == right
    with (
        ThreadPoolExecutor(2) as threads,
        ProcessPoolExecutor(2) as processes,
        workers_of(2) as own,
    ):
        assert all(answers(square, CALLS, each) == right for each in (threads, processes, own))
    assert answers(square, [], None) == {}


def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    calls = [(x, str(tmp_path)) for x in range(12)]
    with workers_of(2) as own:
        assert answers(killed_once, calls, own) == {x: x * x for x in range(12)}
    assert (tmp_path / "killed").exists()
    (tmp_path / "killed").unlink()
    with (
        ProcessPoolExecutor(2) as processes,
        pytest.warns(sy.SteelyardWarning, match="worker of the executor was killed"),
    ):
        assert answers(killed_once, calls, processes) == {x: x * x for x in range(12)}
    assert (tmp_path / "killed").exists()


def test_a_call_that_kills_every_process_is_the_only_one_that_is_lost() -> None:
    with workers_of(2) as own:
        answer_list = answers(deadly, CALLS, own)
    assert isinstance(answer_list.pop(5), sy.ProblemError)
    assert answer_list == {x: x * x for x in range(12) if x != 5}


def test_dask_loses_nothing_and_names_what_kills(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        assert answers(killed_once, [(x, str(tmp_path)) for x in range(12)], client) == {
            x: x * x for x in range(12)
        }
        assert (tmp_path / "killed").exists()
        assert isinstance(answers(refused, CALLS, client)[5], sy.LogError)


def test_an_error_of_the_family_is_an_answer_and_a_fault_is_not() -> None:
    for executor in (None, 2):
        with workers_of(executor) as own:
            answer_list = answers(refused, CALLS, own)
            assert str(answer_list[5]) == "run5.csv: 5 is not taken"
            assert answer_list[6] == 36
    with (
        workers_of(2) as own,
        pytest.raises(sy.CallError, match=r"could not run a task .ZeroDivisionError"),
    ):
        answers(broken, CALLS, own)


def test_processes_end_with_the_block() -> None:
    with workers_of(2) as own:
        assert isinstance(own, LocalWorkers)
        answers(square, CALLS, own)
        assert own.pool is not None
        running = list(own.pool._processes)
    assert running
    for number in running:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_no_cluster_is_said() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(
        sy.CallError, match=r"no Dask cluster answers at nowhere|no Dask cluster answers at tcp"
    ):
        dask_client("nowhere:::")


@contextmanager
def dask_cluster() -> Iterator[tuple[Any, Any]]:
    """A scheduler with one worker in this process, and its client."""
    distributed = pytest.importorskip("distributed")
    options = {
        "n_workers": 1,
        "threads_per_worker": 1,
        "processes": False,
        "dashboard_address": None,
        "silence_logs": 50,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(**options)
        client = distributed.Client(cluster.scheduler_address)
        try:
            yield cluster, client
        finally:
            client.close(timeout=1)
            cluster.close()


def test_a_lost_dask_scheduler_is_an_error_of_the_family_with_a_remedy() -> None:
    with dask_cluster() as (cluster, client):
        results = run_tasks(slow_square, CALLS, client)
        next(results)
        cluster.close()
        with pytest.raises(
            sy.ProblemError, match=r"Dask scheduler at \S+ was lost .*start it again.*new Client"
        ):
            list(results)


def test_a_fault_of_a_dask_worker_is_an_error_of_the_family_with_a_remedy() -> None:
    with (
        dask_cluster() as (_, client),
        pytest.raises(
            sy.CallError,
            match=r"could not run a task .ZeroDivisionError.*same version of steelyard",
        ),
    ):
        answers(broken, CALLS, client)

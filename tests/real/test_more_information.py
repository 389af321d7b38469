"""More information about a measured robot does not make its predictions worse.

Velocities, more samples, more logs and a second motion: errors on a separate log, paired by blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest

import steelyard as sy
from benchmarks.unseen.judge import Trial
from benchmarks.unseen.real import SETS, trials
from tests.paired_errors import loss, new_faults
from tests.real.measured import folder

Logs = tuple[sy.Log, ...]


class Pair(NamedTuple):
    """Less and more training logs for one trial."""

    name: str
    trial: Trial
    less: Logs
    more: Logs


def named(name: str) -> Trial:
    data_folder = next((each for each in SETS if name.split()[0] in each), "")
    trial = next((each for each in trials((data_folder,)) if each.name == name), None)
    if trial is None:
        pytest.skip(f"the measured log of {name} is not beside the project")
    return trial


def with_velocities(log: sy.Log) -> sy.Log:
    """A run of the KR300 with the velocities of its motors."""
    for run in "AB":
        data = np.load(folder("kuka_kr300") / f"kr300_{run}.npz")
        if log.N == len(data["t"]) and np.array_equal(log.q, data["q_mot"]):
            return log.replace(qd=data["qd_mot"])
    raise AssertionError("no such run")


def velocity(name: str) -> Pair:
    trial = named(name)
    logs = trial.training
    if logs[0].qd is None:
        logs = tuple(map(with_velocities, logs))
    return Pair(name, trial, tuple(log.replace(qd=None) for log in logs), logs)


def samples(name: str) -> Pair:
    trial = named(name)
    (log,) = trial.training
    return Pair(name, trial, (log[: log.N // 2],), (log,))


def logs(name: str) -> Pair:
    trial = named(name)
    return Pair(name, trial, trial.training[:2], trial.training)


def second_motion(name: str) -> Pair:
    """The first half of the held-out log joins the training; the second half is predicted."""
    trial = named(name)
    (log,) = trial.held_out
    first, second = log[: log.N // 2], log[log.N // 2 :]
    judged = replace(trial, held_out=(second,))
    return Pair(name, judged, trial.training, (*trial.training, first))


PAIRS = [
    *((velocity, name) for name in ("ur10 1 to 2", "ur10 2 to 1", "kr300 A to B", "kr300 B to A")),
    *((velocity, f"double pendulum {design}") for design in ("A.0", "C.0")),
    *((samples, name) for name in ("ur10 1 to 2", "ur10 2 to 1")),
    *((samples, name) for name in ("tx40 coupled 1 to 2", "tx40 coupled 2 to 1")),
    *((samples, name) for name in ("kr300 A to B", "kr300 B to A")),
    *((logs, f"double pendulum {design}") for design in ("A.0", "C.0")),
    *((second_motion, name) for name in ("kr300 A to B", "kr300 B to A")),
]


@pytest.mark.parametrize(("kind", "name"), PAIRS, ids=lambda x: getattr(x, "__name__", x))
def test_more_information_is_never_worse(kind: Any, name: str) -> None:
    pair = kind(name)
    less, more = fits(pair)
    before, after, worse = loss(less, more, pair.trial.held_out, pair.trial.band)
    assert not worse, f"{after:.2%} in place of {before:.2%}"
    assert not new_faults(less, more)


def fits(pair: Pair) -> Iterator[sy.Fit]:
    """The default with less and with more information."""
    known: dict[str, Any] = {} if pair.trial.known is None else {"known": pair.trial.known}
    for training in (pair.less, pair.more):
        source = training if len(training) > 1 else training[0]
        yield sy.identify(pair.trial.robot, source, **known, **pair.trial.options)

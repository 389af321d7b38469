"""python -m benchmarks.friction.reversals.

Held-out torque errors near reversals of measured robots, with and without friction with memory.

One half of a log, or one run, is identified and predicts the other, both ways. An error is the RMS
of the rows of a joint within `NEAR` s of a change of sign of its velocity.

python -m benchmarks.friction.reversals             TX40, UR10 and KR300; the exit code says
                                                    whether errors fall by a fifth where chosen
python -m benchmarks.friction.reversals dfki tiago  other sets of ../shared/data
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.trust.page import markdown
from benchmarks.unseen.judge import Trial
from benchmarks.unseen.real import trials
from steelyard.identification.friction import choice
from steelyard.identification.result.validation import Validation

Bools = NDArray[np.bool_]
SETS = ("staubli_tx40", "ur10", "kuka_kr300")
NEAR = 0.1  # [s]
LEAST_FALL = 0.2


@dataclass(frozen=True)
class JointErrors:
    """RMS errors [N m|N] of a joint near reversals and everywhere, without and with memory.

    `chosen` is whether the joint has friction with memory, `seconds` the length of the rows near
    reversals.
    """

    trial: str
    joint: str
    chosen: bool
    seconds: float
    near: tuple[float, float]
    every: tuple[float, float]

    @property
    def fall(self) -> float:
        """Relative fall of the error near reversals."""
        return 1.0 - self.near[1] / self.near[0]


def near_reversals(t: NDArray[np.float64], qd: NDArray[np.float64]) -> Bools:
    """Return which samples (N, n) are near a change of sign of their joint's velocity."""
    near = np.zeros(qd.shape, bool)
    for j, speeds in enumerate(qd.T):
        moving = np.flatnonzero(speeds)
        turns = moving[1:][np.diff(np.sign(speeds[moving])) != 0]
        for k in turns:
            near[:, j] |= np.abs(t - t[k]) <= NEAR
    return near


def fitted(trial: Trial, memory: bool) -> sy.Fit:
    """Return the fit of the training logs, with friction with memory as a candidate or without."""
    options = {**trial.options, **({} if trial.known is None else {"known": trial.known})}
    if memory:
        return sy.identify(trial.robot, list(trial.training), diagnose=False, **options)
    with patch.object(choice, "choose_memory", lambda model, *_: (model, [])):
        return sy.identify(trial.robot, list(trial.training), diagnose=False, **options)


def errors(trial: Trial) -> Iterator[JointErrors]:
    """Yield the errors of each joint of a trial."""
    fits = [fitted(trial, memory) for memory in (False, True)]
    results = [[fit.validate(log) for log in trial.held_out] for fit in fits]
    near = [near_reversals(v.t, v.states[1]) & v.keep for v in results[0] if v.states is not None]
    for j, name in enumerate(fits[0].robot.joint_names):
        if any(each[:, j].any() for each in near):
            yield JointErrors(
                trial=trial.name,
                joint=name,
                chosen="presliding" in fits[1].robot.tree.terms[j],
                seconds=sum(
                    float(each[:, j].sum() * np.median(np.diff(v.t)))
                    for v, each in zip(results[0], near, strict=True)
                ),
                near=(rms(results[0], near, j), rms(results[1], near, j)),
                every=(
                    rms(results[0], [v.keep for v in results[0]], j),
                    rms(results[1], [v.keep for v in results[0]], j),
                ),
            )


def rms(results: list[Validation], rows: list[Bools], joint: int) -> float:
    """Return the RMS error [N m|N] of a joint over some rows (N, n) of each log."""
    pairs = zip(results, rows, strict=True)
    residuals = [(v.predicted - v.measured)[keep[:, joint], joint] for v, keep in pairs]
    return float(np.sqrt(np.mean(np.concatenate(residuals) ** 2)))


def table(rows: list[JointErrors]) -> str:
    """Return the joints that have memory in some fit, in Markdown."""
    head = ["trial", "joint", "near reversals [s]", "without", "with", "fall", "all rows"]
    return markdown(
        head,
        [
            [
                row.trial,
                row.joint,
                f"{row.seconds:.1f}",
                f"{row.near[0]:.3g}",
                f"{row.near[1]:.3g}",
                f"{row.fall:.0%}",
                f"{1.0 - row.every[1] / row.every[0]:.0%}",
            ]
            for row in rows
        ],
    )


def main() -> int:
    """Print the joints with memory; 1 if their errors near reversals fall by too little."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[2])
    parser.add_argument("sets", nargs="*", default=SETS, help="folders of ../shared/data")
    names = tuple(parser.parse_args().sets)
    rows: list[JointErrors] = []
    for trial in trials(names):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows += errors(trial)
        print(trial.name, file=sys.stderr, flush=True)
    chosen = [row for row in rows if row.chosen]
    print(table(chosen))
    falls = [row.fall for row in chosen]
    print(f"median fall {np.median(falls):.0%}, least {min(falls):.0%}" if falls else "none chosen")
    return 0 if all(fall >= LEAST_FALL for fall in falls) else 1


if __name__ == "__main__":
    sys.exit(main())

"""Leave one robot out: thresholds chosen on all other measured robots judge each robot.

Every threshold of a choice is halved and doubled by itself, on every robot. The others of a robot
then choose its factor for each threshold, by the default's error over the best plain candidate's,
and the robot is identified with these thresholds. Comparisons of held-out errors are recorded, and
a log is identified again only where a changed threshold decides one of them otherwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

import steelyard as sy
from benchmarks.unseen.judge import Trial, held_out_errors
from benchmarks.unseen.plain import PlainResult, compare
from benchmarks.unseen.tables import BEST, PICKED
from steelyard.identification.selection import choose_smoothing
from steelyard.identification.selection.choose_smoothing import widest_band
from steelyard.identification.selection.held_out_torque import HeldOutError
from steelyard.identification.selection.selection_thresholds import THRESHOLDS

FACTORS = (0.5, 1.0, 2.0)
FIELDS = (
    "least_gain",
    "gain_deviations",
    "least_smoothing_gain",
    "band_error",
    "least_rest_gain",
    "least_consistency_gain",
)
"""Fields of `SelectionThresholds` that decide on choices."""
Change = tuple[str, float]  # field, factor
FAILED = 1e3  # error of an identification that raises


@dataclass(frozen=True, eq=False)
class Comparison:
    """A recorded comparison: its method or function, arguments, gain by value, and outcome."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    gain: float | None
    outcome: Any

    def is_decided_otherwise(self, changes: frozenset[Change]) -> bool:
        """Return whether changed thresholds have another outcome.

        A gain is changed with every threshold of its value.
        """
        if self.gain is None:
            return bool(self.function(*self.arguments) != self.outcome)
        gains = {self.gain}
        for name, factor in changes:
            if getattr(THRESHOLDS, name) == scaled(self.gain, factor):
                gains.add(scaled(self.gain, factor))
        return any(self.function(*self.arguments, gain) != self.outcome for gain in gains)


@dataclass(frozen=True, eq=False)
class Case:
    """A trial, and the errors of the plain candidates, which no threshold changes."""

    robot: str
    trial: Trial
    plain: PlainResult
    comparisons: list[Comparison] = field(default_factory=list)
    errors: dict[frozenset[Change], float] = field(default_factory=dict)

    def error(self, changes: frozenset[Change]) -> float:
        """Return the default's held-out error with some thresholds changed; computed once."""
        if not self.errors:
            with recorded(self.comparisons):
                self.errors[frozenset()] = default_error(self.trial)
        if changes not in self.errors:
            with changed(changes):
                same = not any(each.is_decided_otherwise(changes) for each in self.comparisons)
                self.errors[changes] = (
                    self.errors[frozenset()] if same else default_error(self.trial)
                )
        return self.errors[changes]

    def over_best(self, changes: frozenset[Change]) -> float:
        """Return the default's error over the best candidate's in hindsight."""
        return self.error(changes) / self.plain.held_out[self.plain.best]

    def over_picked(self, changes: frozenset[Change]) -> float:
        """Return the default's error over the error of the candidate that was picked."""
        return self.error(changes) / self.plain.held_out[self.plain.picked]


@contextmanager
def recorded(comparisons: list[Comparison]) -> Iterator[None]:
    """Record the comparisons of held-out errors and of bands."""
    is_less, is_better, widest = HeldOutError.is_less, HeldOutError.is_better, widest_band

    def recording(function: Callable[..., Any]) -> Callable[..., Any]:
        def record(*arguments: Any, gain: float | None = None) -> Any:
            if len(arguments) == 3:
                *arguments, gain = arguments  # type: ignore[assignment]
            last = () if gain is None else (gain,)
            outcome = function(*arguments, *last)
            comparisons.append(Comparison(function, tuple(arguments), gain, outcome))
            return outcome

        return record

    with (
        patch.object(HeldOutError, "is_less", recording(is_less)),
        patch.object(HeldOutError, "is_better", recording(is_better)),
        patch.object(choose_smoothing, "widest_band", recording(widest)),
    ):
        yield


def robot_of(name: str) -> str:
    """Return the robot of a trial: the words of its name before the log or the half."""
    if name.startswith(("simple pendulum", "double pendulum A.0", "double pendulum C.0")):
        return " ".join(name.split()[: 2 if name.startswith("simple") else 3])
    return name.split()[0]


def scaled(value: float, factor: float) -> float:
    """Return a threshold times a factor; of a ratio above one, its excess times the factor."""
    return 1.0 + factor * (value - 1.0) if value > 1.0 else factor * value


@contextmanager
def changed(changes: frozenset[Change]) -> Iterator[None]:
    """Multiply fields of thresholds by factors."""
    with ExitStack() as stack:
        for name, factor in changes:
            value = scaled(getattr(THRESHOLDS, name), factor)
            stack.enter_context(patch.dict(vars(THRESHOLDS), {name: value}))
        yield


def default_error(trial: Trial) -> float:
    """Return the held-out error of the default identification, FAILED where it raises."""
    known: dict[str, Any] = {} if trial.known is None else {"known": trial.known}
    logs = trial.training if len(trial.training) > 1 else trial.training[0]
    with warnings.catch_warnings(), sy.threads(1):
        warnings.simplefilter("ignore")
        try:
            fit = sy.identify(trial.robot, logs, diagnose=False, **known, **trial.options)
        except sy.SteelyardError:
            return FAILED
        errors = held_out_errors(fit, trial.held_out, trial.band, trial.pushed)
    return float(errors["default"])


def prepared_cases(trials: Iterator[Trial]) -> list[Case]:
    """Return the cases of trials, with the errors of their plain candidates."""
    cases = []
    for trial in trials:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = compare(
                trial.robot,
                trial.training,
                trial.held_out,
                trial.band,
                trial.known,
                trial.terms,
                trial.pushed,
            )
        cases.append(Case(robot_of(trial.name), trial, plain))
    return cases


def score(cases: Sequence[Case], changes: frozenset[Change], without: str) -> float:
    """Return the mean log ratio to the best candidate, each robot but one counted equally."""
    by_robot: dict[str, list[float]] = {}
    for case in cases:
        if case.robot != without:
            by_robot.setdefault(case.robot, []).append(np.log(case.over_best(changes)))
    return float(np.mean([np.mean(logs) for logs in by_robot.values()]))


def chosen_without(cases: Sequence[Case], robot: str, fields: Sequence[str]) -> frozenset[Change]:
    """Return the factors other than 1 that the other robots choose, each threshold by itself."""
    chosen = set()
    for name in fields:
        by_factor = {factor: score(cases, single(name, factor), robot) for factor in FACTORS}
        best = min(by_factor, key=lambda factor: (round(by_factor[factor], 4), factor != 1.0))
        if best != 1.0:
            chosen.add((name, best))
    return frozenset(chosen)


def single(name: str, factor: float) -> frozenset[Change]:
    """Return one change, none for the factor 1."""
    return frozenset() if factor == 1.0 else frozenset({(name, factor)})


def leave_one_out(
    trials: Iterator[Trial], fields: Sequence[str], tell: Callable[[str], None]
) -> str:
    """Return the page: each robot judged with thresholds that the other robots chose."""
    cases = prepared_cases(trials)
    for name in fields:
        for factor in FACTORS:
            changes = single(name, factor)
            tell(f"{name} x {factor:g}: {score(cases, changes, ''):+.4f}")
    chosen = {
        robot: chosen_without(cases, robot, fields)
        for robot in dict.fromkeys(case.robot for case in cases)
    }
    for case in cases:
        tell(f"{case.trial.name}: {case.over_best(chosen[case.robot]):.2f}")
    return page(cases, chosen, fields)


def page(
    cases: Sequence[Case],
    chosen: Mapping[str, frozenset[Change]],
    fields: Sequence[str],
) -> str:
    """Return the page of results in Markdown."""
    none: frozenset[Change] = frozenset()
    rows = [
        f"| {case.trial.name} | {100 * case.error(none):.2f} |"
        f" {100 * case.error(chosen[case.robot]):.2f} |"
        f" {case.over_picked(none):.2f} | {case.over_picked(chosen[case.robot]):.2f} |"
        f" {case.over_best(none):.2f} | {case.over_best(chosen[case.robot]):.2f} |"
        for case in cases
    ]
    others = [
        f"| {robot} | {', '.join(f'{name} x {f:g}' for name, f in sorted(changes)) or 'none'} |"
        for robot, changes in chosen.items()
    ]
    grid = [
        f"| {name} | "
        + " | ".join(f"{score(cases, single(name, f), ''):+.4f}" for f in FACTORS)
        + " |"
        for name in fields
    ]
    return HEAD.format(
        rows="\n".join(rows),
        others="\n".join(others),
        grid="\n".join(grid),
        today=shares(cases, dict.fromkeys(chosen, none)),
        left_out=shares(cases, chosen),
        picked=PICKED,
        best=BEST,
    )


def shares(cases: Sequence[Case], chosen: Mapping[str, frozenset[Change]]) -> str:
    """Return how many trials are within both bars."""
    within = [
        (c.over_picked(chosen[c.robot]) <= PICKED, c.over_best(chosen[c.robot]) <= BEST)
        for c in cases
    ]
    picked, best = (sum(x) for x in zip(*within, strict=True))
    return f"{picked} and {best} of {len(cases)}"


HEAD = """# Leave one robot out

`python -m benchmarks.unseen loro` writes this page.

Thresholds that decide on choices were set while looking at measured logs.
This page tests whether a robot that was not looked at would be identified as well.
Each threshold is halved and doubled on every measured robot; of `band_error` the excess over one.
For each robot, the other robots choose the factor of every threshold: the one with the least mean \
logarithm of the default's held-out error over the error of the best plain candidate.
The robot is then identified with the thresholds of the others.
All robots of this page were looked at while rules were developed.

`d/p` is the default's error over the error of the plain candidate that cross-validation picks, \
wanted at most {picked}; `d/b` over the best candidate in hindsight, wanted at most {best}.
With today's thresholds {today} trials are within these bars, with the thresholds of the other \
robots {left_out}.

| trial | error [%] | left out | d/p | left out | d/b | left out |
|---|---|---|---|---|---|---|
{rows}

Factors that the other robots choose:

| left-out robot | thresholds that differ from today's |
|---|---|
{others}

Mean logarithm of `d/b` over all robots, by factor:

| threshold | 0.5 | 1 | 2 |
|---|---|---|---|
{grid}
"""

"""The page of results: five rates with their targets, and one row a fault, one column a robot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from benchmarks.faults import FAULTS, Fault
from benchmarks.trust.cases import SEED, hidden, robots
from benchmarks.trust.judge import Judgement

HEAD = """# Trust

`python -m benchmarks.trust` plants faults into logs whose truth is known and tests two things: \
whether `sy.doctor` names the planted faults and nothing else, and whether *trusted* and \
*trusted within* fits predict unseen motion.
`python -m benchmarks.trust --update` writes this page.

{count} logs: {healthy} healthy, {single} with one fault, {double} with two; {measured} of them \
are parts of measured logs.
Simulated robots are within 20 % of their description, in the mass of every link and in torque; \
friction, rotors, sensor noise, ripple and delay are not described.
Everything follows from the seed.
The published seed is {published}, and nothing is tuned on it: use another seed for tuning \
(`--seed 1`).
These results have seed {seed}; they took {minutes:.0f} minutes on two processes.
"""
RULES = """
- An error is as expected if |e|/|tau| on unseen motion inside `verdict.region` is at most twice \
`verdict.error`.
  For simulated robots, unseen motion is three random Fourier motions that fill the region, \
compared with the noiseless torque of the true robot.
  For measured logs, it is the held-out quarter, its torque low-passed as by `fit.validate`, \
since no model predicts noise.
  Where fewer than 20 samples of it lie inside the region, the error is not tested and not \
counted ({untested} here).
- A fault is named if findings of its key with a certainty of at least one half concern \
exactly its joints; for faults of the whole log the joints do not matter.
  The certainty of a finding is the sum of the probabilities of its hypotheses, such as wrong \
torques and a wrong description, which no log can distinguish.
  Two faults are named if both are.
  A healthy log passes if the diagnosis has no finding.
- Faults have at least the size of the table; each log draws its own, up to several times that.
  A fault is planted where it is observable: where no robot within 10 % (standard deviation) of \
the description, with any friction, explains the log (`benchmarks/visibility.py`).
  For a measured log this is tested along its own motion with its own friction: the wrist of the \
UR10 hardly moves its links, so that neither its gains nor its zeros are observable.
  Beside a poor excitation of a measured log, which is one second of it, only faults of signals \
are planted: so short a log has fewer independent postures than a robot has unknowns, and some \
robot explains any torques.
  No clock fault is planted beside a wrong robot: time scaled by c is equivalent to a robot c^2 \
times as large (dynamic similarity of bodies under gravity).
  Faults that cancel each other on a robot may replace each other, such as the signs of position \
and of torque about a vertical axis.
"""


class Rate(NamedTuple):
    """A rate of the benchmark.

    What is counted, how many of how many, and the least that is asked for.
    """

    what: str
    good: int
    of: int
    target: float

    @property
    def met(self) -> bool:
        return self.good >= self.target * self.of

    @property
    def share(self) -> str:
        return f"{self.good / self.of:.1%}" if self.of else "none"


def rates(results: Sequence[Judgement]) -> tuple[Rate, ...]:
    """The five rates that decide."""
    healthy = [r for r in results if not r.planted]
    single, double = ([r for r in results if len(r.planted) == k] for k in (1, 2))
    trusted = [r for r in results if r.tested]
    return (
        rate(
            "trusted fits have the expected error on unseen motion", trusted, lambda r: r.kept, 0.99
        ),
        rate("healthy logs are trusted", healthy, lambda r: r.trusted, 0.95),
        rate("single faults are named", single, all_named, 0.95),
        rate("double faults are named, both", double, all_named, 0.85),
        rate("the doctor has no finding on healthy logs", healthy, lambda r: r.silent, 0.95),
    )


def rate(
    what: str, results: Sequence[Judgement], good: Callable[[Judgement], bool], target: float
) -> Rate:
    return Rate(what, sum(map(good, results)), len(results), target)


def all_named(result: Judgement) -> bool:
    return bool(result.named) and all(result.named)


def page(results: Sequence[Judgement], seed: int, minutes: float) -> str:
    """The whole page in Markdown."""
    faults = [len(r.planted) for r in results]
    measured = sum(r.case.robot.endswith(" log") for r in results)
    counts = {
        "count": len(results),
        "healthy": faults.count(0),
        "single": faults.count(1),
        "double": faults.count(2),
        "measured": measured,
    }
    head = HEAD.format(**counts, published=SEED, seed=seed, minutes=minutes)
    cells = [
        [
            each.what,
            f"{each.good} of {each.of}",
            each.share,
            f"{each.target:.0%}",
            "yes" if each.met else "no",
        ]
        for each in rates(results)
    ]
    table = markdown(["rate", "logs", "share", "at least", "met"], cells)
    rules = RULES.format(untested=sum(r.trusted and not r.tested for r in results))
    return "\n".join([head, table, rules, fault_table(results), "", beside(results), ""])


def fault_table(results: Sequence[Judgement]) -> str:
    """One row a fault, one column a robot, of those that occur.

    How many were named; then what became of healthy logs.
    """
    planted, used, reasons = (
        {key for r in results for key, *_ in r.planted},
        {r.case.robot for r in results},
        list[str](),
    )
    columns = [robot for robot in robots() if robot in used]
    rows = [
        [key, size(row), *(_cell(results, robot, key, reasons) for robot in columns)]
        for key, row in FAULTS.items()
        if key in planted
    ]
    healthy = {
        robot: [r for r in results if not r.planted and r.case.robot == robot] for robot in columns
    }
    rows.append(
        ["*healthy: trusted*", "", *(_of(r.trusted for r in healthy[robot]) for robot in columns)]
    )
    rows.append(
        ["*healthy: silent*", "", *(_of(r.silent for r in healthy[robot]) for robot in columns)]
    )
    trusted = {
        robot: [r for r in results if r.tested and r.case.robot == robot] for robot in columns
    }
    rows.append(
        [
            "*trusted: error as expected*",
            "",
            *(_of(r.kept for r in trusted[robot]) for robot in columns),
        ]
    )
    notes = [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    return "\n".join([markdown(["fault", "least size", *columns], rows), "", *notes])


def size(row: Fault) -> str:
    """The least size of a fault with its unit."""
    return f"{abs(row.least):.3g} {row.unit}" if row.unit not in ("x",) or row.least > 0 else "sign"


def _cell(results: Sequence[Judgement], robot: str, key: str, reasons: list[str]) -> str:
    """'named of planted', or 'cannot show' with the number of its reason."""
    outcomes = [
        ok
        for r in results
        if r.case.robot == robot
        for (k, *_), ok in zip(r.planted, r.named, strict=False)
        if k == key
    ]
    if outcomes:
        return _of(outcomes)
    reason = hidden(robot, key)
    if not reason:
        return "not planted"
    if reason not in reasons:
        reasons.append(reason)
    return f"cannot show ({reasons.index(reason) + 1})"


def beside(results: Sequence[Judgement]) -> str:
    """How many findings on faulty logs are about something else, and how long a log takes."""
    faulty = [r for r in results if r.planted]
    extra, crashes = sum(r.beside for r in faulty), sum(bool(r.crash) for r in results)
    doctor, fit = (
        sum(x) / max(len(results), 1)
        for x in ([r.doctor_time for r in results], [r.identify_time for r in results])
    )
    return (
        f"On faulty logs {extra} findings ({extra / max(len(faulty), 1):.2f} a log) are about none"
        f" of the planted faults. {crashes} runs ended in an error that is none of steelyard's own."
        f" On average a diagnosis takes {doctor:.1f} s, an identification {fit:.1f} s."
    )


def _of(good: Iterable[bool]) -> str:
    counted = list(good)
    return f"{sum(counted)} of {len(counted)}"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)

"""The cases of the trust benchmark.

Robot, seed and faults, half of them healthy, spread so that every fault meets every robot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np

from benchmarks.arms import ARMS, MEASURED, arm, available
from benchmarks.experiments import drawn
from benchmarks.faults import FAULTS
from steelyard.errors import CallError, SteelyardError, suggest

SEED = 6173  # of the published figures. Nothing is tuned on it: for tuning, take another
MEASURED_SHARE = 0.1  # of the healthy logs
DOUBLE = 0.3  # of the faulty logs have two faults

TIME = ("clock", "jitter", "dropped samples", "duplicated stamps", "delay")
CHANNEL = ("saturation", "dead channel", "encoder spikes", "poor excitation")
IN_THE_SIGNALS = (
    "jitter",
    "dropped samples",
    "duplicated stamps",
    "saturation",
    "dead channel",
    "encoder spikes",
    "degrees",
    "motor side",
)
"""Faults that a log shows without the mechanics."""
OF_ONE_JOINT = ("position sign", "torque sign", "gear ratio or torque constant", "position offset")


@dataclass(frozen=True)
class Case:
    """One log: `id` is all that is needed to make it again, such as 'ur5/2026017/delay+clock'."""

    robot: str
    seed: int
    faults: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """robot/seed/faults, 'healthy' for none."""
        return f"{self.robot}/{self.seed}/{'+'.join(self.faults) or 'healthy'}"

    @classmethod
    def of(cls, text: str) -> Case:
        """The case of an id."""
        robot, _, rest = text.partition("/")
        seed, _, faults = rest.partition("/")
        keys = () if faults in ("", "healthy") else tuple(faults.split("+"))
        for name, known in ((robot, (*ARMS, *MEASURED)), *((key, tuple(FAULTS)) for key in keys)):
            if name not in known:
                raise CallError(f"{text!r}: no {name!r} in the benchmark; {suggest(name, known)}")
        if not seed.isdigit():
            raise CallError(
                f"{text!r} is not a case; expected robot/seed/faults, such as"
                " 'ur5/2026017/delay+clock'"
            )
        return cls(robot, int(seed), keys)


def robots() -> tuple[str, ...]:
    """The columns of the table.

    Simulated robots, and measured logs where they are beside the project.
    """
    return (*ARMS, *available())


@cache
def hidden(robot: str, key: str) -> str:
    """Why a fault cannot show on a robot; empty if it can."""
    if key == "coupling" and robot in MEASURED and not arm(robot).mechanism.couplings:
        return "no two joints of the measured robot share a motor"
    try:
        drawn(arm(robot), 0, (key,))
    except SteelyardError as error:
        return str(error)
    return ""


def cases(
    logs: int = 400, seed: int = SEED, faults: Sequence[str] = (), columns: Sequence[str] = ()
) -> tuple[Case, ...]:
    """The benchmark's cases.

    Half healthy, seven in ten of the others with one fault, the rest with two.

    `faults` and `columns` keep those faults (and no healthy logs) and those robots. Seeds are 1000
    seed + number.
    """
    columns = tuple(columns) or robots()
    count = 0 if faults else logs // 2
    plan: list[tuple[str, tuple[str, ...]]] = [(robot, ()) for robot in _healthy(columns, count)]
    doubles = 0 if len(faults) == 1 else round(DOUBLE * (logs - count))
    rng = np.random.default_rng(seed)
    plan += _faulty(columns, tuple(faults) or tuple(FAULTS), logs - count - doubles, doubles, rng)
    return tuple(Case(robot, 1000 * seed + i, keys) for i, (robot, keys) in enumerate(plan))


def _healthy(columns: Sequence[str], count: int) -> list[str]:
    """Robots in turn; measured logs are fewer, for they are few."""
    simulated, measured = [x for x in columns if x in ARMS], [x for x in columns if x not in ARMS]
    few = round(MEASURED_SHARE * count) if simulated and measured else count if measured else 0
    return [simulated[i % len(simulated)] for i in range(count - few)] + [
        measured[i % len(measured)] for i in range(few)
    ]


def _faulty(
    columns: Sequence[str],
    keys: Sequence[str],
    singles: int,
    doubles: int,
    rng: np.random.Generator,
) -> list[tuple[str, tuple[str, ...]]]:
    """Fault by fault and robot by robot, those first that had fewest so far."""
    met: Counter[tuple[str, str]] = Counter()
    by_robot: Counter[str] = Counter()
    cells = [(robot, key) for robot in columns for key in keys if not hidden(robot, key)]
    plan: list[tuple[str, tuple[str, ...]]] = []
    for i in range(singles + doubles):
        order = [cells[k] for k in rng.permutation(len(cells))]
        by_fault = Counter(key for (_, key), times in met.items() for _ in range(times))
        robot, key = min(order, key=lambda cell: (met[cell], by_fault[cell[1]], by_robot[cell[0]]))
        second = (
            _second(robot, key, [other for where, other in order if where == robot], met)
            if i < doubles
            else ()
        )
        plan.append((robot, (key, *second)))
        met.update((robot, each) for each in (key, *second))
        by_robot[robot] += 1
    return plan


def _second(
    robot: str, key: str, others: Iterable[str], met: Counter[tuple[str, str]]
) -> tuple[str, ...]:
    """A fault that goes with another one, of those that this robot had least often.

    None if there is none.
    """
    fitting = sorted(
        (other for other in others if go_together(key, other)), key=lambda other: met[robot, other]
    )
    return next(((other,) for other in fitting if _both_fit(robot, key, other)), ())


def go_together(one: str, other: str) -> bool:
    """Whether two faults are planted into one log.

    Of the three kinds, what numbers mean, when they were taken, and channels that fail, two
    different ones go together; of the first kind also two faults of single joints. Others would
    make one of what are two, such as two scales of the same torque; or a wrong clock of an unknown
    robot: time that runs c times as fast belongs to a robot c^2 times as large (dynamic similarity
    of bodies under gravity).
    """
    if {one, other} == {"wrong robot", "clock"}:
        return False
    kinds = [
        "time" if key in TIME else "channel" if key in CHANNEL else "meaning"
        for key in (one, other)
    ]
    return kinds[0] != kinds[1] or any(
        {one, other} == set(pair) for pair in permutations(OF_ONE_JOINT, 2)
    )


def _both_fit(robot: str, one: str, other: str) -> bool:
    """Whether both faults find a place.

    A second of a measured log shows its own signals only: it holds fewer independent postures than
    there are unknowns, so that some robot explains any torques.
    """
    if (
        robot in MEASURED
        and "poor excitation" in (one, other)
        and not {one, other} - {"poor excitation"} <= set(IN_THE_SIGNALS)
    ):
        return False
    try:
        drawn(arm(robot), 0, (one, other))
    except SteelyardError:
        return False
    return True

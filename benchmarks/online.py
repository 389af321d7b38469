"""A robot watched while it works.

The time of an update, what is noticed and how soon, and what is taken for something in an hour.

python -m benchmarks.online               about ten minutes; the exit code states the outcome
python -m benchmarks.online --minutes 5   a shorter hour, to work with
python -m benchmarks.online --update      write the table of docs/online.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.arms import arm
from benchmarks.work import Noise, Work, measured, work
from steelyard.files import write_atomic
from steelyard.identification.estimators.least_squares import weighted
from steelyard.identification.model.accumulator import Accumulator

Array = NDArray[np.float64]
PAGE = Path(__file__).resolve().parents[1] / "docs" / "online.md"
START, END = "<!-- benchmark -->\n", "<!-- end of benchmark -->\n"
RATE = 500.0  # [Hz]
LEARN = 60.0  # [s]
MASK = 0.005  # [rad/s]
REST = 0.003  # [rad/s]
MASS = 1.0  # [kg]
PUSH = 5.0  # [N m]
TRIALS = 40
PLAIN = Noise()
POOR = Noise(ripple=0.02, fading=0.05)  # with what no model here has
FORMS = (
    ("with accelerations", True, PLAIN, 1),
    ("without accelerations", False, PLAIN, 2),
    ("with errors of the model", False, POOR, 3),
)
# of the largest singular value, columns of unit norm: below it a direction is known by rounding
# alone
WEAK = 1e-4


@dataclass(frozen=True)
class Row:
    """A figure with its target: what was measured, its value, the target, and whether it is met."""

    name: str
    value: str
    target: str
    met: bool

    def __str__(self) -> str:
        return f"| {self.name} | {self.value} | {self.target} | {'met' if self.met else 'missed'} |"


@cache
def described() -> sy.Robot:
    """The arm as described, without friction."""
    return arm("xarm7")


@cache
def true() -> sy.Robot:
    """The arm that works: other inertias than described, with friction and rotors."""
    return sy.perturbed(
        described().with_friction(viscous=2.0, coulomb=1.5, offset=0.3).with_rotors(0.2), 3
    )


@cache
def size() -> Array:
    """Root mean square torque of the work, (n,)."""
    return np.asarray(np.sqrt(np.mean(work(true(), 60.0, 100.0, 99).torque(true()) ** 2, axis=0)))


def shift(
    minutes: int, seed: int, noise: Noise = PLAIN
) -> Iterator[tuple[Work, tuple[Array, ...]]]:
    """Yield a minute of work after the other, with what is measured of it."""
    for k in range(minutes):
        motion = work(true(), 60.0, RATE, 1000 * seed + k)
        yield motion, measured(motion, motion.torque(true()), size(), noise, RATE, 1000 * seed + k)


@cache
def learnt(seed: int, noise: Noise = PLAIN) -> tuple[Array, ...]:
    """A first minute of work, as measured."""
    return next(shift(1, seed, noise))[1]


def identifier(seed: int, accelerations: bool, noise: Noise = PLAIN) -> sy.OnlineIdentifier:
    """An identifier that has learnt the arm from a minute of work."""
    o = sy.OnlineIdentifier(described(), rate=RATE, learn=LEARN, mask=MASK)
    feed(o, learnt(seed, noise), accelerations)
    return o


def feed(o: sy.OnlineIdentifier, data: tuple[Array, ...], accelerations: bool) -> None:
    q, qd, qdd, tau = data
    for k in range(0, len(q), 500):
        part = slice(k, k + 500)
        o.update(q[part], qd[part], qdd[part] if accelerations else None, tau[part])


def best(run: Callable[[], object], times: int) -> float:
    """Least time of a call [s]."""
    least = np.inf
    for _ in range(times):
        start = perf_counter()
        run()
        least = min(least, perf_counter() - start)
    return float(least)


def rolling(
    update: Callable[..., object], data: tuple[Array | None, ...], portion: int
) -> Callable[[], object]:
    """An update with the next samples of a minute, which begins again at its end."""
    starts = cycle(range(0, 20000, portion))

    def run() -> None:
        k = next(starts)
        update(*(None if x is None else x[k] if portion == 1 else x[k : k + portion] for x in data))

    return run


def pace(update: Callable[..., object], data: tuple[Array | None, ...]) -> tuple[float, float]:
    """The time of a sample [µs] in blocks of 100 and one by one."""
    return (
        best(rolling(update, data, 100), 1000) / 100 * 1e6,
        best(rolling(update, data, 1), 4000) * 1e6,
    )


def speed() -> Iterator[Row]:
    """Measure the time of an update, of the plain fold, and of the collision observer."""
    o, (q, qd, qdd, tau) = identifier(0, True), learnt(0)
    model = o.model
    block, single = pace(o.update, (q, qd, qdd, tau))
    assert o.change is None  # after a change there would be less to do
    empty = Accumulator.empty(model.reach, model.base.n_base)
    fold = best(lambda: empty.fold(model.rows(q[:1], qd[:1], qdd[:1]), tau[:1]), 200) * 1e6
    columns, faster = (
        f"{model.base.n_base} columns",
        f"{fold / single:.0f} times as fast as the fold of a batch",
    )
    yield Row(
        f"update in blocks of 100 ({columns}), a sample",
        f"{block:.1f} µs",
        "10 µs",
        block <= 10.0,
    )
    yield Row(
        f"update one by one ({columns})", f"{single:.0f} µs ({faster})", "60 µs", single <= 60.0
    )
    others = {
        "the same without accelerations": pace(identifier(0, False).update, (q, qd, None, tau)),
        "collision observer": pace(
            sy.CollisionObserver(o, rate=RATE, rest=REST).update, (q, qd, tau)
        ),
    }
    for name, (together, alone) in others.items():
        yield Row(
            f"{name}, in blocks and one by one",
            f"{together:.1f} µs and {alone:.0f} µs",
            "-",
            True,
        )


def equality() -> Iterator[Row]:
    """Compare estimates sample by sample with the batch, and the batch with reordered rows."""
    o, data = sy.OnlineIdentifier(described(), learn=0), learnt(1)
    for k in range(len(data[0])):
        o.update(*(x[k] for x in data))
    Y, tau, empty = (
        o.model.rows(*data[:3]),
        data[3],
        Accumulator.empty(o.model.reach, o.model.base.n_base),
    )
    moving = np.abs(data[1]) > 0.0
    totals = [
        empty.fold(Y[way], tau[way], moving[way]) for way in (slice(None), slice(None, None, -1))
    ]
    (expected, weights), (turned, _) = (
        weighted(total, o.model.base.values(o.model.start)) for total in totals
    )
    torque = float(np.max(np.abs(Y @ (o.base_values - expected))) / np.max(np.abs(tau)))
    yield Row("one by one against the batch, in torque", f"{torque:.1e}", "1e-9", torque <= 1e-9)
    R = totals[0].triangle(weights)[:-1, :-1]
    scale = np.linalg.norm(R, axis=0)
    _, values, Vt = np.linalg.svd(R / scale)
    excited = Vt[values > WEAK * values[0]]
    off, own, whole = (
        float(np.linalg.norm(P @ (x * scale)) / np.linalg.norm(expected * scale))
        for P, x in (
            (excited, o.base_values - expected),
            (np.eye(len(R)), turned - expected),
            (np.eye(len(R)), o.base_values - expected),
        )
    )
    hidden = len(R) - len(excited)
    yield Row(
        f"the same, in the {len(excited)} of {len(R)} base parameters that the work shows",
        f"{off:.1e}",
        "1e-9",
        off <= 1e-9,
    )
    text = f"{whole:.1e}; the batch against itself with its rows turned round: {own:.1e}"
    yield Row(
        f"the same with the {hidden} below {WEAK:g} of the largest singular value", text, "-", True
    )


def loads(form: str, accelerations: bool, noise: Noise, seed: int) -> Iterator[Row]:
    """How late 1 kg is noticed after it was picked up in motion, at random times."""
    loaded, rng, late, errors = (
        true().with_payload(MASS, com=(0.0, 0.0, 0.08)),
        np.random.default_rng(0),
        [],
        [],
    )
    for trial in range(TRIALS):
        o = identifier(seed + 20 + trial % 4, accelerations, noise)
        motion = work(true(), 20.0, RATE, 100 * seed + 5000 + trial)
        moving = np.flatnonzero(np.max(np.abs(motion.qd), axis=1) > 0.1)
        at = int(rng.choice(moving[(moving > 500) & (moving < len(motion.t) - 1000)]))
        tau = np.where(
            np.arange(len(motion.t))[:, None] < at, motion.torque(true()), motion.torque(loaded)
        )
        begin = o.samples
        feed(o, measured(motion, tau, size(), noise, RATE, trial), accelerations)
        change = o.change
        late.append(np.inf if change is None else round(change.noticed - (begin + at) / RATE, 9))
        errors.append(
            np.inf if change is None or change.kind != "load" else abs(change.values[0] - MASS)
        )
    found = np.array(late)
    worst, early = float(found.max()), int(np.sum(found < 0))
    weighed = f"; weighed within {np.quantile(errors, 0.9):.2g} kg in 9 of 10"
    text = f"{np.median(found) * 1e3:.0f} ms, at worst {worst * 1e3:.0f} ms of {TRIALS}{weighed}"
    yield Row(f"1 kg noticed after, {form}", text, "300 ms", worst <= 0.3 and early == 0)


def quiet(minutes: int, form: str, accelerations: bool, noise: Noise, seed: int) -> Iterator[Row]:
    """Changes that are noticed where nothing changes."""
    o, alarms, watched = identifier(seed + 40, accelerations, noise), 0, 0.0
    for motion, data in shift(minutes, seed + 50, noise):
        feed(o, data, accelerations)
        watched += len(motion.t) / RATE
        if o.change is not None:
            alarms += 1
            print(f"\n{o.change}")
            o.rearm()
    yield Row(
        f"false changes in {watched / 60:.0f} min of work, {form}", str(alarms), "0", alarms == 0
    )


@cache
def fitted() -> sy.Fit:
    """The arm identified from two minutes of its work."""
    parts = list(shift(2, 7))
    q, qd, qdd, tau = (np.concatenate([data[k] for _, data in parts]) for k in range(4))
    log = sy.Log(
        t=np.arange(len(q)) / RATE,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=tau,
        joint_names=described().joint_names,
    )
    return sy.identify(
        described(),
        log,
        friction=("viscous", "coulomb", "offset"),
        delay=0,
        coulomb_width=0,
        diagnose=False,
    )


def collisions(minutes: int) -> Iterator[Row]:
    """Measure the detection delay of a push, and false detections, for a fit and an identifier."""
    models: dict[str, sy.Fit | sy.OnlineIdentifier] = {
        "a fit's model": fitted(),
        "an identifier's model": identifier(7, True),
    }
    for name, model in models.items():
        alarms, watched, o = 0, 0.0, sy.CollisionObserver(model, rate=RATE, rest=REST)
        for motion, (q, qd, _, tau) in shift(minutes, 8):
            for k in range(0, len(q), 500):
                alarms += o.update(q[k : k + 500], qd[k : k + 500], tau[k : k + 500]) is not None
                o.clear()
            watched += len(motion.t) / RATE
        worst, middle, count = pushes(model)
        yield Row(
            f"5 N m noticed after, {name}",
            f"{middle * 1e3:.0f} ms, at worst {worst * 1e3:.0f} ms of {count}; {TRIALS - count} of"
            f" {TRIALS} where the joint is not monitored",
            "30 ms",
            worst <= 0.03,
        )
        yield Row(
            f"false collisions in {watched / 60:.0f} min of work, {name}",
            str(alarms),
            "0",
            alarms == 0,
        )


def pushes(model: sy.Fit | sy.OnlineIdentifier) -> tuple[float, float, int]:
    """The longest and the median time [s] until a push at a random joint and time is noticed.

    Of the pushes, whose number is the third value, of joints that are monitored during 40 ms.
    """
    rng, late = np.random.default_rng(1), []
    for trial in range(TRIALS):
        motion = work(true(), 10.0, RATE, 7000 + trial)
        push, at = np.zeros_like(motion.q), int(rng.integers(500, len(motion.t) - 200))
        joint = int(rng.integers(true().n))
        push[at:, joint] = PUSH * rng.choice([-1.0, 1.0])
        q, qd, _, tau = measured(motion, motion.torque(true()) - push, size(), PLAIN, RATE, trial)
        o = sy.CollisionObserver(model, rate=RATE, rest=REST)
        found = o.update(q, qd, tau)
        if o.monitored[at : at + int(0.04 * RATE), joint].all():
            late.append(np.inf if found is None else round(found.time - at / RATE, 9))
    times = np.array(late)
    longest = float(times.max()) if np.all(times >= 0) else np.inf
    return longest, float(np.median(times)), len(times)


def rows(minutes: int) -> Iterator[Row]:
    yield from speed()
    yield from equality()
    for form, accelerations, noise, seed in FORMS:
        yield from loads(form, accelerations, noise, seed)
        yield from quiet(minutes, form, accelerations, noise, seed)
    yield from collisions(minutes)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--update", action="store_true", help="write docs/online.md")
    options = parser.parse_args()
    made, lines = [], ["| figure | measured | target | |", "|---|---|---|---|"]
    for row in rows(options.minutes):
        made.append(row)
        lines.append(str(row))
        print(row, flush=True)
    if options.update:
        text = PAGE.read_text(encoding="utf-8")
        before, rest = text.split(START)
        write_atomic(
            PAGE,
            (before + START + "\n".join(lines) + "\n" + END + rest.split(END)[1]).encode(),
            overwrite=True,
        )
    sys.exit(0 if all(row.met for row in made) else 1)


if __name__ == "__main__":
    main()

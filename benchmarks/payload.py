"""How well a load is found, and how often its intervals hold the truth.

A Monte-Carlo with the noise of a measured UR10.

python -m benchmarks.payload              about half an hour; the exit code states the outcome
python -m benchmarks.payload --runs 10    fewer draws of each row, to work with
python -m benchmarks.payload --update     write the table of docs/payload.md
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

import steelyard as sy
from benchmarks.arms import installed
from steelyard.files import write_atomic
from steelyard.parameters.pseudo_inertia import pseudo_inertia

Array = NDArray[np.float64]
PAGE = Path(__file__).resolve().parents[1] / "docs" / "payload.md"
START, END = "<!-- benchmark -->\n", "<!-- end of benchmark -->\n"
NOISE = np.array([1.15, 1.54, 1.82, 0.44, 0.38, 2.29])  # [N m]
"""What a fit of the measured UR10 log leaves: 95 % of it lies within 1.96 of these."""
COULOMB = np.array([17.0, 13.6, 9.5, 3.3, 2.6, 2.9])  # [N m] of the same fit
VISCOUS = np.array([12.7, 18.5, 7.7, 2.9, 2.8, 3.0])  # [N m s/rad]
OFFSET = np.array([0.4, -0.2, 0.1, 0.7, 0.9, 0.4])  # [N m]
MEMORY = 0.25  # [s] after which the residuals of that fit have forgotten themselves
RATE = 125.0  # [Hz]
SECONDS = 40.0
PLAIN: dict[str, Any] = {
    "friction": ("viscous", "coulomb", "offset"),
    "delay": 0,
    "coulomb_width": 0,
    "diagnose": False,
}
"""Options of the arm's identification: no search for absent effects, four times as fast."""
MASS = 2.8  # [kg]
DWELL = 1.0  # [s]


@dataclass(frozen=True)
class Row:
    """A way to weigh a load.

    Its name, a draw (rng) -> estimate and truth (10,), and the targets: mass [%] and centre [mm],
    or none.
    """

    name: str
    draw: Callable[[np.random.Generator], tuple[sy.PayloadEstimate, Array]]
    mass: float = np.inf
    centre: float = np.inf


@cache
def ur10() -> sy.Robot:
    """The UR10 as described, without friction."""
    return installed("ur_description/urdf/ur10_robot.urdf")


@cache
def motion() -> sy.Trajectory:
    """The motion of all moving rows.

    What `excite` finds for the description with such a load, and the noise that is expected.
    """
    return sy.excite(
        ur10(),
        SECONDS,
        rate=RATE,
        noise=NOISE.tolist(),
        payload=MASS,
        speed=1.0,
        acceleration=np.inf,
        ground=None,
    )


@cache
def rubbing() -> sy.Robot:
    """The UR10 with friction like the measured one's, to compute torques with."""
    return (
        ur10()
        .with_friction(viscous=VISCOUS.tolist(), coulomb=COULOMB.tolist(), offset=OFFSET.tolist())
        .with_rotors(0.5)
    )


@cache
def moving_rows() -> Array:
    """The regressor along the motion, (N, n, p)."""
    trajectory = motion()
    return np.asarray(rubbing().regressor(trajectory.q, trajectory.qd, trajectory.qdd))


@cache
def poses() -> sy.experiments.StaticPoses:
    """The dozen poses of the resting rows."""
    return sy.static_poses(ur10(), 12, sigma=NOISE, ground=None, collision="none")


def true_arm(rng: np.random.Generator) -> Array:
    """The parameters of a UR10 that differs from its description by about 10 %."""
    seed = int(rng.integers(1 << 30))
    return np.array(sy.perturbed(rubbing(), seed, 0.1).parameters)


def true_load(rng: np.random.Generator) -> Array:
    """Mass [kg], centre [m] and inertia about it [kg m2] of a load, (10,).

    A solid brick turned at random, its centre up to 5 cm aside.
    """
    sides = rng.uniform(0.08, 0.25, 3)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    inertia = turn @ np.diag(MASS / 12.0 * (np.sum(sides**2) - sides**2)) @ turn.T
    centre = np.array([*rng.uniform(-0.05, 0.05, 2), rng.uniform(0.02, 0.15)])
    return np.array([MASS, *centre, *inertia[np.triu_indices(3)]])


def carrying(arm: Array, load: Array) -> Array:
    """The parameters of the arm with a load on its tool."""
    own = rubbing().with_payload(load[0], load[1:4].tolist(), symmetric(load[4:]).tolist())
    return arm + own.parameters - rubbing().parameters


def symmetric(six: Array) -> Array:
    """The matrix of Ixx Ixy Ixz Iyy Iyz Izz."""
    return six[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]]


def moving_log(
    pi: Array, rng: np.random.Generator, memory: float = 0.0, repeated: Array | float = 0.0
) -> sy.Log:
    """The log of the motion.

    Torques of these parameters, noise of the UR10 with a memory [s], and errors that every run
    repeats.
    """
    trajectory = motion()
    noise = rng.normal(size=(len(trajectory.t) + 500, 6))
    if memory:
        rho = np.exp(-1.0 / (memory * RATE))
        noise = lfilter([np.sqrt(1 - rho**2)], [1.0, -rho], noise, axis=0)
    tau = moving_rows() @ pi + repeated + NOISE * noise[500:]
    q = trajectory.q + 1e-5 * rng.normal(size=trajectory.q.shape)
    return sy.Log(t=trajectory.t, q=q, tau=tau, joint_names=ur10().joint_names)


def unmodelled(rng: np.random.Generator) -> Array:
    """Torques (N, n) of the size of the UR10's residuals that depend on the state alone.

    Ripple of the gears and friction that fades.
    """
    trajectory = motion()
    ripple = np.sin(100.0 * trajectory.q + rng.uniform(0.0, 2 * np.pi, 6)) + np.sin(
        7.0 * trajectory.q + rng.uniform(0.0, 2 * np.pi, 6)
    )
    fading = np.sign(trajectory.qd) * np.exp(-np.abs(trajectory.qd) / 0.1)
    return NOISE * (0.7 * ripple + 0.7 * fading)


def resting_log(pi: Array, rng: np.random.Generator, anywhere: bool = False) -> sy.Log:
    """The log of all poses, each from both sides.

    Friction at rest is what was left of sliding, to 2 %, or any part of it.
    """
    still = np.zeros(6)
    q, tau = [], []
    for start, pose in poses().waypoints:
        rest = rubbing().regressor(pose, still, still) @ pi
        side = np.sign(pose - start)
        part = rng.uniform(0.0, 1.0, 6) if anywhere else 1.0 - 0.02 * np.abs(rng.normal(size=6))
        method = np.linspace(0.0, 1.0, int(0.5 * RATE))[:, None]
        q += [start + (pose - start) * method, np.tile(pose, (int(DWELL * RATE), 1))]
        tau += [
            np.tile(rest + side * COULOMB, (len(method), 1)),
            np.tile(rest + side * COULOMB * part, (int(DWELL * RATE), 1)),
        ]
    result, torque = np.concatenate(q), np.concatenate(tau)
    torque = torque + NOISE * rng.normal(size=torque.shape)
    return sy.Log(
        t=np.arange(len(result)) / RATE,
        q=result + 1e-5 * rng.normal(size=result.shape),
        tau=torque,
        joint_names=ur10().joint_names,
    )


def two_runs(
    rng: np.random.Generator, memory: float = 0.0, errors: bool = False
) -> tuple[sy.PayloadEstimate, Array]:
    """With and without the load along the same motion."""
    arm, load = true_arm(rng), true_load(rng)
    repeated = unmodelled(rng) if errors else 0.0
    logs = [moving_log(pi, rng, memory, repeated) for pi in (carrying(arm, load), arm)]
    return sy.payload(ur10(), *logs, **PLAIN), load


@cache
def earlier() -> tuple[Array, sy.Fit]:
    """An arm, and its identification from a run without load."""
    rng = np.random.default_rng(12345)
    arm = true_arm(rng)
    return arm, sy.identify(ur10(), moving_log(arm, rng), **PLAIN)


def one_run(rng: np.random.Generator) -> tuple[sy.PayloadEstimate, Array]:
    """With the load alone, by an arm that was identified before.

    Its error is drawn from its covariance in every call.
    """
    arm, fit = earlier()
    load = true_load(rng)
    base = fit.base.values(
        np.array(
            [
                dict(zip(rubbing().parameter_names, arm, strict=True)).get(n, 0.0)
                for n in fit.parameter_names
            ]
        )
    )
    drawn = base + np.linalg.cholesky(fit.covariance + 1e-18 * np.eye(len(base))) @ rng.normal(
        size=len(base)
    )
    from dataclasses import replace

    other = replace(fit, estimate=replace(fit.estimate, base=drawn))
    return sy.payload(other, moving_log(carrying(arm, load), rng)), load


def at_rest(
    rng: np.random.Generator, anywhere: bool = False, known: bool = False
) -> tuple[sy.PayloadEstimate, Array]:
    """Return a row of static poses with and without the load, or with it and a known arm."""
    arm, load = (np.array(rubbing().parameters) if known else true_arm(rng)), true_load(rng)
    with_load = resting_log(carrying(arm, load), rng, anywhere)
    if known:
        return sy.payload(rubbing(), with_load, static=True), load
    return sy.payload(ur10(), with_load, resting_log(arm, rng, anywhere), static=True), load


ROWS = (
    Row("two runs, white noise", two_runs, 0.2, 2.0),
    Row("two runs, errors of the model repeat", lambda rng: two_runs(rng, errors=True), 0.2, 2.0),
    Row("two runs, noise with a correlation time of 0.25 s", lambda rng: two_runs(rng, MEMORY)),
    Row("one run, arm identified before", one_run, 0.2, 2.0),
    Row("12 static poses, two runs", at_rest, 0.5, 5.0),
    Row("12 static poses, known arm", lambda rng: at_rest(rng, known=True), 0.5, 5.0),
    Row("12 static poses, any friction at rest", lambda rng: at_rest(rng, anywhere=True)),
)


@dataclass(frozen=True)
class Score:
    """Errors of the mass [%] and of the centre [mm], rms and 95 % quantile.

    Coverage of 95 % intervals [%]; impossible inertias.
    """

    row: Row
    draws: int
    mass: tuple[float, float]
    centre: tuple[float, float]
    held: tuple[float, float, float]
    impossible: int
    words: dict[str, int]
    seconds: float

    @property
    def met(self) -> bool:
        """Whether 95 % of the errors meet their targets and coverage is within its tolerance."""
        slack = 2 * 100 * np.sqrt(0.05 * 0.95 / self.draws)
        fixed = [h for h in self.held if np.isfinite(h)]
        covered = all(92.0 - slack < h < 98.0 + slack for h in fixed)
        return (
            self.mass[1] <= self.row.mass
            and self.centre[1] <= self.row.centre
            and covered
            and not self.impossible
        )

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        percent = ["-" if not np.isfinite(h) else f"{h:.0f}" for h in self.held]
        words = ", ".join(f"{word} {count}" for word, count in sorted(self.words.items()))
        pairs = (
            f"{self.mass[0]:.2f} / {self.mass[1]:.2f}",
            f"{self.centre[0]:.2f} / {self.centre[1]:.2f}",
        )
        return (
            self.row.name,
            *pairs,
            *percent,
            str(self.impossible),
            words,
            "" if self.met else "missed",
        )


def score(row: Row, draws: int) -> Score:
    """Draw a row."""
    result, start = [], perf_counter()
    for k in range(draws):
        result.append(row.draw(np.random.default_rng([k, len(row.name)])))
        print(f"\r{row.name}: {k + 1} of {draws}", end="", file=sys.stderr, flush=True)
    mass = np.array([100 * (p.mass / load[0] - 1) for p, load in result])
    centre = np.array([1e3 * np.linalg.norm(p.com - load[1:4]) for p, load in result])
    z = np.array(
        [(p.fit.numbers - load) / np.sqrt(np.diag(p.fit.covariance)) for p, load in result]
    )
    z = np.where([p.fit.seen for p, _ in result], z, np.nan)
    fixed = [
        (
            100 * float(np.mean(np.abs(part[np.isfinite(part)]) < 1.96))
            if np.isfinite(part).any()
            else np.nan
        )
        for part in (z[:, 0], z[:, 1:4], z[:, 4:])
    ]
    words = [p.verdict.word for p, _ in result]
    impossible = sum(
        np.linalg.eigvalsh(pseudo_inertia(p.fit.parameters))[0] <= 0 for p, _ in result
    )
    off, aside = (
        (float(np.sqrt(np.mean(e**2))), float(np.quantile(np.abs(e), 0.95))) for e in (mass, centre)
    )
    print("\r", end="", file=sys.stderr)
    return Score(
        row,
        draws,
        off,
        aside,
        (fixed[0], fixed[1], fixed[2]),
        impossible,
        {w: words.count(w) for w in set(words)},
        perf_counter() - start,
    )


HEADINGS = (
    "how",
    "mass: rms / 95 % [%]",
    "centre: rms / 95 % [mm]",
    "mass held [%]",
    "centre held [%]",
    "inertia held [%]",
    "impossible",
    "verdicts",
    "",
)


def table(scores: list[Score]) -> str:
    """The table of docs/payload.md."""
    lines = [HEADINGS, ("---",) * len(HEADINGS), *(each.cells for each in scores)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> int:
    """Run the rows, print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rows", default="", help="part of the names of the rows to run")
    parser.add_argument("--update", action="store_true", help="write docs/payload.md")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", sy.SteelyardWarning)
    scores = []
    for row in (row for row in ROWS if chosen.rows in row.name):
        scores.append(score(row, chosen.runs))
        print(
            " | ".join(scores[-1].cells),
            f"{scores[-1].seconds / chosen.runs:.2f} s a draw",
            flush=True,
        )
    if chosen.update:
        text = PAGE.read_text(encoding="utf-8")
        head, rest = text.split(START)
        result = (
            f"Generated by `python -m benchmarks.payload --update`, {chosen.runs} draws a"
            f" row.\n\n{table(scores)}"
        )
        write_atomic(
            PAGE, f"{head}{START}{result}{END}{rest.split(END)[1]}".encode(), overwrite=True
        )
    return 0 if all(each.met for each in scores) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sy.SteelyardError as error:
        sys.exit(f"benchmarks: {error}")

"""python -m benchmarks.friction.

Does friction="auto" find what a joint has, and nothing where there is nothing more to find?

python -m benchmarks.friction                everything; the exit code states the outcome
python -m benchmarks.friction --logs 8  fewer logs; also --seed, --kind
python -m benchmarks.friction --update       write docs/measured/friction.md

Everything follows from the seed.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

import steelyard as sy
from benchmarks.arms import ARMS, arm
from benchmarks.friction.cases import GEAR, KINDS, Case, make_case
from benchmarks.trust.page import markdown
from steelyard.files import write_atomic
from steelyard.identification.model.linear_model import build_model
from steelyard.identification.model.problem import Problem
from steelyard.identification.nuisance.nuisance_estimates import (
    estimate_shape_and_delay,
    select_friction,
)
from steelyard.identification.observations.prepare import prepare_all
from steelyard.identification.options import make_options
from steelyard.identification.samples.decimation import common_decimation

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measured" / "friction.md"
SEED = 2026  # the published one: for tuning, take another
PLAIN, FEATURE = 104, 16  # logs of a kind
FALSE, FOUND, SIGMAS = 0.05, 0.9, 3.0
VALUES = {
    "stribeck": ("Fs", "Fc"),
    "load": ("Fl",),
    "losses": ("Fld", "Flb"),
    "ripple": ("R2s", "R2c"),
}

HEAD = """# Automatic friction terms

`python -m benchmarks.friction` tests whether `friction="auto"` finds the friction terms of a \
joint, and adds none where there is only viscous and Coulomb friction and an offset.
`python -m benchmarks.friction --update` writes this page.

Simulated robots of 2 to 7 joints ({robots}), whose links differ from their description by about \
10 %, are recorded for 8 to 20 s at 100 to 500 Hz.
Torque noise is 0.5 to 2 % of each joint's rms torque; every other log has velocities; gear \
ratios are given.
In part of the logs one joint, drawn at random, has one more term.
Nothing is tuned on seed {seed}, the seed of this table.
Fewer than {false:.0%} of the logs may have a term that was not planted; {found:.0%} must have \
the planted one, with values within {sigmas:g} standard deviations.
"""
RULES = """
- *not planted* counts logs in which a term was added that the joint does not have, at any joint.
- *within 3 σ* are the found logs in which all values of the term (`Fs`, `Fc`, `Fn`, `Fl`, `Fld`, \
`Flb`, the sine and cosine of a ripple) lie within three standard deviations.
  A drift has no standard deviation: its median error relative to the rms of the removed torque \
is given.
- Coulomb friction that differs by direction equals, where the step is sharp, Coulomb friction \
and an offset, which every joint has.
  The term replaces the offset only where slow samples distinguish the two.
  *found* counts the term, *within 3 σ* the difference of the two directions, from `Fc` and `Fn` \
or from the offset, in all logs.
"""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a log: added terms, as (joint, word), and the errors of the planted one.

    In standard deviations, the farthest; relative, of the rms torque, for a drift.
    """

    kind: str
    robot: str
    planted: Sequence[str]
    added: Sequence[Sequence[str]]
    off: float

    @property
    def found(self) -> bool:
        return tuple(self.planted) in map(tuple, self.added)

    @property
    def wrong(self) -> bool:
        return any(tuple(each) != tuple(self.planted) for each in self.added)


def outcome(kind: str, name: str, seed: int) -> Outcome:
    """Identify the robot of a log, and compare with what is true."""
    row, robot, case = KINDS[kind], arm(name), make_case(kind, name, seed)
    if not row.word:
        return Outcome(kind, name, ("", ""), terms_alone(robot, case.log), np.nan)
    fit = sy.identify(robot, case.log, diagnose=False, gear_ratio=GEAR)
    return Outcome(
        kind,
        name,
        (case.joint, row.word),
        fit.friction_terms,
        drift_error(fit, case) if row.drifts else sigmas(fit, case, row.word),
    )


def drift_error(fit: sy.Fit, case: Case) -> float:
    """The relative error of the rms torque that drifts."""
    return float(
        fit.drift[case.true.joint_names.index(case.joint)] / np.sqrt(np.mean(case.drift**2)) - 1
    )


def terms_alone(robot: sy.Robot, log: sy.Log) -> tuple[tuple[str, str], ...]:
    """The terms that `identify` adds, without the fit that follows."""
    options = make_options(None, None, None, gear_ratio=GEAR)
    samples = prepare_all(robot, [log], options.preparation)
    model, delay, _ = estimate_shape_and_delay(build_model(robot, options.model), samples, options)
    samples = tuple(s.advanced(delay) for s in samples)
    return select_friction(Problem(model, samples, common_decimation(samples)), options).added


def sigmas(fit: sy.Fit, case: Case, word: str) -> float:
    """By how many standard deviations the values of a feature are off, the farthest.

    Nan where they were not identified.
    """
    true, joint = case.true, case.joint
    truth = dict(zip(true.parameter_names, true.parameters, strict=True))
    results = dict(zip(fit.parameter_names, fit.parameters, strict=True))
    std = dict(zip(fit.parameter_names, fit.parameters_std, strict=True))
    if word == "negative":
        return asymmetry(truth, results, std, joint)
    names = [f"{joint}.{symbol}" for symbol in VALUES[word]]
    return max(
        (abs(results[name] - truth[name]) / std[name] for name in names if name in results),
        default=np.nan,
    )


def asymmetry(
    truth: dict[str, float], found: dict[str, float], std: dict[str, float], joint: str
) -> float:
    """Return the error of half the difference between both directions of Coulomb friction."""
    Fc, Fn, F0 = (f"{joint}.{symbol}" for symbol in ("Fc", "Fn", "F0"))
    expected = (truth[Fc] - truth[Fn]) / 2 + truth.get(F0, 0.0)
    if Fn in found:
        return abs((found[Fc] - found[Fn]) / 2 - expected) / (float(np.hypot(std[Fc], std[Fn])) / 2)
    return abs(found[F0] - expected) / std[F0]


def run(kinds: Sequence[str], logs: int, seed: int, selected: Path | None) -> Iterator[Outcome]:
    """Go through the logs of these kinds, with a line about the progress.

    What is kept in a file is not done again.
    """
    cases = [
        (kind, i)
        for i in range(logs or PLAIN)
        for kind in kinds
        if i < (logs or FEATURE) or not KINDS[kind].word
    ]
    done = (
        {
            tuple(key): Outcome(*result)
            for key, result in map(json.loads, selected.read_text().splitlines())
        }
        if selected and selected.exists()
        else {}
    )
    start = perf_counter()
    for count, (kind, i) in enumerate(cases, 1):
        name, key = tuple(ARMS)[i % len(ARMS)], (kind, 1000 * seed + i)
        result = done.get(key) or outcome(kind, name, key[1])
        if selected and key not in done:
            with selected.open("a") as file:
                file.write(json.dumps([key, astuple(result)]) + "\n")
        remaining = (perf_counter() - start) / count * (len(cases) - count) / 60
        line = (
            f"{count} of {len(cases)}, about {remaining:.0f} min left: {kind}, {name}:"
            f" {', '.join(map(' '.join, result.added)) or 'nothing'}"
        )
        sys.stderr.write(
            f"\r\033[K{line[:140]}" if sys.stderr.isatty() else f"{line} {result.off:.2f}\n"
        )
        yield result


def row_of(kind: str, results: Sequence[Outcome]) -> tuple[list[str], bool]:
    """The cells of a kind, and whether it meets its targets."""
    row, N = KINDS[kind], len(results)
    wrong, result = sum(r.wrong for r in results), [r for r in results if r.found]
    cells = [kind, row.size, f"{N}", f"{wrong} of {N}"]
    if not row.word:
        return [*cells, "", ""], wrong < FALSE * N
    cells.append(f"{len(result)} of {N}")
    if row.drifts:
        off = float(np.median([abs(r.off) for r in result])) if result else np.nan
        return [*cells, f"{off:.1%} off"], len(result) >= FOUND * N
    judged = results if row.word == "negative" else result
    within = sum(r.off <= SIGMAS for r in judged)
    return [*cells, f"{within} of {len(judged)}"], len(
        result
    ) >= FOUND * N and within >= FOUND * len(judged)


def table(results: Sequence[Outcome]) -> tuple[str, bool]:
    """One row a kind, and whether all meet their targets."""
    rows = [row_of(kind, own) for kind in KINDS if (own := [r for r in results if r.kind == kind])]
    head = ["logs whose joint has", "size", "logs", "not planted", "found", "within 3 σ", "met"]
    return markdown(head, [[*cells, "yes" if met else "no"] for cells, met in rows]), all(
        met for _, met in rows
    )


def page(results: Sequence[Outcome], seed: int) -> str:
    """The page in Markdown."""
    head = HEAD.format(robots=", ".join(ARMS), seed=seed, false=FALSE, found=FOUND, sigmas=SIGMAS)
    return f"{head}\n{table(results)[0]}\n{RULES}"


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument(
        "--logs", type=int, default=0, help=f"of each kind; {PLAIN} and {FEATURE} by default"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--kept",
        type=Path,
        help="a file of results: what is there is not done again, what is done is added",
    )
    parser.add_argument("--update", action="store_true", help="write docs/measured/friction.md")
    options = parser.parse_args()
    with warnings.catch_warnings(), sy.threads(1):
        warnings.simplefilter("ignore")
        results = tuple(run(options.kind or tuple(KINDS), options.logs, options.seed, options.kept))
    text, met = table(results)
    if options.update:
        write_atomic(PAGE, page(results, options.seed), overwrite=True)
    print(text)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

"""The judgement of one case.

What the doctor found, the expected error of the verdict, and the error on unseen motion.

A fault counts as named if findings of its key with a certainty of at least one half concern exactly
the joints at which it was planted, taken together; for a fault of the whole log (`Fault.whole`) the
joints do not matter, and a finding without joints concerns all. Faults that undo each other on that
robot (`benchmarks.visibility.names`) may stand for each other. A healthy log must have no finding
at all.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from traceback import format_exc
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.arms import arm
from benchmarks.experiments import Experiment, experiment
from benchmarks.faults import FAULTS, Planted
from benchmarks.trust.cases import Case
from benchmarks.visibility import Name, names
from steelyard.experiments.excitation.random_motions import scale_to_limits
from steelyard.identification.observations.prepare import prepare
from steelyard.identification.result.validation import kept_states
from steelyard.identification.samples.decimation import low_passed, natural_factor
from steelyard.identification.samples.preparation import Preparation
from steelyard.motion.trajectories.fourier import Fourier, at_rest
from steelyard.motion.trajectories.limits import TrajectoryLimits

Array = NDArray[np.float64]
TRUSTED = ("trusted", "trusted within")
PROBABLE = 0.5  # least probability of a finding that names a fault
STANDING = 5e-3  # [rad/s|m/s] up to which friction has no definite value: such rows do not count
MOTIONS, SECONDS, HARMONICS, POINTS = 3, 10.0, 5, 200  # unseen motions of a simulated robot


@dataclass(frozen=True)
class Judgement:
    """What became of a case.

    `findings` are (fault, joints, probability, severity, sentence); `named` says of each planted
    fault whether it was; `expected_error` and `true_error` are |e|/|tau|, by the verdict and on
    unseen motion of its region (None where the fit is not trusted). `crash` is the traceback of an
    error that is none of steelyard's own, `beside` the number of findings that are about none of
    the planted faults. Times in seconds.
    """

    id: str
    planted: tuple[tuple[str, tuple[str, ...], float], ...]
    findings: tuple[tuple[str, tuple[str, ...], float, str, str], ...] = ()
    named: tuple[bool, ...] = ()
    word: str = ""
    reasons: tuple[str, ...] = ()
    expected_error: float | None = None
    true_error: float | None = None
    crash: str = ""
    beside: int = 0
    doctor_time: float = 0.0
    identify_time: float = 0.0

    @property
    def case(self) -> Case:
        return Case.of(self.id)

    @property
    def trusted(self) -> bool:
        return self.word in TRUSTED

    @property
    def tested(self) -> bool:
        """Whether a trusted fit met unseen motion of its region."""
        return self.trusted and self.true_error is not None

    @property
    def kept(self) -> bool:
        """Whether a trusted fit predicts unseen motion within twice the expected error."""
        return (
            self.true_error is not None
            and self.expected_error is not None
            and self.true_error <= 2 * self.expected_error
        )

    @property
    def silent(self) -> bool:
        """Whether the doctor ran and found nothing."""
        return not self.findings and not self.crash

    def failures(self) -> Iterator[str]:
        """What went wrong, in words."""
        if self.crash:
            yield f"crashed: {self.crash.strip().splitlines()[-1]}"
        if not self.planted and self.findings:
            yield (
                "findings on a healthy log:"
                f" {'; '.join(f'{f[0]} {list(f[1])}' for f in self.findings)}"
            )
        if not self.planted and not self.trusted:
            yield f"a healthy log is {self.word or 'not judged'}: {' '.join(self.reasons[:2])}"
        for (key, joints, size), result in zip(
            self.planted, self.named or [False] * len(self.planted), strict=True
        ):
            if not result:
                others = (
                    "; ".join(f"{f[0]} {list(f[1])} {f[2]:.2f}" for f in self.findings) or "nothing"
                )
                yield f"{key} of {', '.join(joints)} (size {size:.3g}) not named, found: {others}"
        if self.tested and not self.kept:
            yield (
                f"{self.word} with {self.expected_error} expected, but {self.true_error} on unseen"
                " motion"
            )


def quietly(case: Case) -> Judgement:
    """Judge a case on one core; warnings about its data are not printed."""
    with warnings.catch_warnings(), sy.threads(1):
        warnings.simplefilter("ignore")
        return judge(case)


def judge(case: Case) -> Judgement:
    """Make the log of a case, run doctor and identification, and compare with the truth."""
    result = Judgement(case.id, tuple((key, (), 0.0) for key in case.faults))
    try:
        trial = experiment(case.robot, case.seed, case.faults)
        result = Judgement(
            case.id, tuple((each.key, each.joints, each.size) for each in trial.planted)
        )
        start = perf_counter()
        outcome = findings_of(sy.doctor(trial.described, trial.log))
        named = tuple(is_named(trial, each, outcome) for each in trial.planted)
        about = {key for each in trial.planted for key, _ in names(arm(trial.name), each)}
        beside = sum(finding[0] not in about for finding in outcome)
        result = replace(
            result, findings=outcome, named=named, beside=beside, doctor_time=perf_counter() - start
        )
        start = perf_counter()
        word, reasons, expected, error = verdict_of(trial)
        return replace(
            result,
            word=word,
            reasons=reasons,
            expected_error=expected,
            true_error=error,
            identify_time=perf_counter() - start,
        )
    except Exception:  # noqa: BLE001
        return replace(result, crash=format_exc())


def findings_of(diagnosis: Any) -> tuple[tuple[str, tuple[str, ...], float, str, str], ...]:
    """The findings as plain data.

    A fault that the log cannot tell from a wrong description counts as named: both are.
    """
    return tuple(
        (f.fault, tuple(f.joints), float(f.certainty), f.severity, str(f))
        for f in diagnosis.findings
    )


def is_named(result: Experiment, planted: Planted, findings: Iterable[Sequence[Any]]) -> bool:
    """Whether the findings name a fault, or one that undoes it as well.

    See the head of this file.
    """
    probable = [(finding[0], finding[1]) for finding in findings if finding[2] >= PROBABLE]
    beside = [each for each in result.planted if each is not planted]
    return any(_stands(result, name, probable, beside) for name in names(arm(result.name), planted))


def _stands(
    outcome: Experiment, name: Name, findings: Sequence[Name], beside: Sequence[Planted]
) -> bool:
    """Whether findings of one key concern the joints it should.

    Those of another planted fault of that key do not count.
    """
    key, joints = name
    concerned = [result for fault, result in findings if fault == key]
    # of a measured log a short stretch: that concerns all joints
    short = key == "poor excitation" and outcome.true is None
    if FAULTS[key].whole or short or not concerned:
        return bool(concerned)
    everywhere = outcome.described.joint_names
    indices = {everywhere.index(joint) for result in concerned for joint in result or everywhere}
    joint_names = arm(
        outcome.name
    ).joint_names  # another robot's description names them its own way
    elsewhere = {
        joint_names.index(joint) for each in beside if each.key == key for joint in each.joints
    }
    return indices - elsewhere == {joint_names.index(joint) for joint in joints}


def verdict_of(result: Experiment) -> tuple[str, tuple[str, ...], float | None, float | None]:
    """The verdict's word and reasons, the expected error, and the error on unseen motion.

    An error in words is a refusal.
    """
    try:
        fit: Any = sy.identify(result.described, result.log)
    except sy.SteelyardError as error:
        return "refused", (str(error),), None, None
    verdict = fit.verdict
    if verdict.word not in TRUSTED:
        return verdict.word, tuple(verdict.reasons), None, None
    return verdict.word, tuple(verdict.reasons), float(verdict.error), true_error(result, fit)


def true_error(result: Experiment, fit: Any) -> float | None:
    """|tau - predicted| / |tau| over all joints on unseen motion within the region.

    None where there is no such motion.
    """
    states, truth, predicted = (
        measured_rest(result, fit) if result.true is None else simulated_motion(result, fit)
    )
    inside = fit.verdict.region.contains(*states)
    if np.count_nonzero(inside) < 20:
        return None
    counted = (np.abs(states[1]) > STANDING) & inside[:, None]
    return float(np.linalg.norm((truth - predicted) * counted) / np.linalg.norm(truth * counted))


def simulated_motion(result: Experiment, fit: Any) -> tuple[tuple[Array, ...], Array, Array]:
    """Return random motions that fill the region, the true torque, and the predicted torque."""
    assert result.true is not None
    region = fit.verdict.region
    limits = TrajectoryLimits(
        region.q_low,
        region.q_high,
        region.qd_most,
        region.qdd_most,
        *np.full((2, result.true.n), np.inf),
    )
    t = np.linspace(0.0, SECONDS, POINTS, endpoint=False)
    parts = []
    for number in range(MOTIONS):
        rng = np.random.default_rng([result.seed, 99, number])
        a, b = at_rest(*rng.normal(size=(2, result.true.n, HARMONICS)))
        shape = Fourier(np.zeros(result.true.n), a, b, 1 / SECONDS)
        parts.append(scale_to_limits(shape, limits, rng.uniform(-1, 1, result.true.n))(t))
    states = tuple(np.concatenate(x) for x in zip(*parts, strict=True))
    return states, result.true.inverse_dynamics(*states), fit.predict(*states).torque


def measured_rest(result: Experiment, fit: Any) -> tuple[tuple[Array, ...], Array, Array]:
    """Return states, measured and predicted torque of the held-out part of a measured log."""
    logs = [log.replace(joint_names=result.described.joint_names) for log in result.rest]
    parts = []
    for samples, factor in (
        (s, natural_factor(s.t, s.qd))
        for s in (prepare(result.described, log, Preparation()) for log in logs)
    ):
        torques = (
            low_passed(tau, samples, factor)
            for tau in (
                samples.tau,
                fit.predict(samples.q, samples.qd, samples.qdd, t=samples.t).torque,
            )
        )
        parts.append((*kept_states([samples], factor), *torques))
    q, qd, qdd, tau, predicted = (np.concatenate(x) for x in zip(*parts, strict=True))
    return (q, qd, qdd), tau, predicted

"""The outcome of a draw: the judge's errors, and what the truth says about the fit and verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from traceback import format_exc
from typing import Any

import numpy as np
from numpy.typing import NDArray

import steelyard as sy
from benchmarks.unseen.draw import Draw, draw
from benchmarks.unseen.faults import FAULTS
from benchmarks.unseen.judge import LEAST_SAMPLES, Judgement, Trial, is_moving, judge
from benchmarks.unseen.plain import is_inertial, relative, zero_phase

Array = NDArray[np.float64]
PROBABLE = 0.5  # least certainty of a finding that counts
WRONG = 1.5  # true error over the stated one, above which a trusted fit is wrong
FAR, CHANGED = 3.0, 0.25  # standard deviations; share of base parameters further off
TRUTH_RATE = 500.0  # [Hz] at which the true run is compared


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a draw.

    `true_error` is |e| / |tau| of the prediction against the noiseless torque of the held-out
    motion, moving joints inside the region. `z` are deviations of base parameters over their
    standard deviations, where the truth is known. `named` says whether the planted fault was.
    """

    id: str
    seed: int
    kind: str
    fault: str
    robot: str
    n: int
    rate: float
    motion: tuple[str, str]
    judgement: Judgement | None = None
    true_error: float = float("nan")
    z: tuple[float, ...] = ()
    z_names: tuple[str, ...] = ()
    crash: str = ""
    simulation_seconds: float = 0.0

    @property
    def claimed(self) -> tuple[str, ...]:
        """Faults that the verdict's findings claim; remarks do not count."""
        if self.judgement is None:
            return ()
        return tuple(f[0] for f in self.judgement.findings if f[3] == "fault" and f[2] >= PROBABLE)

    @property
    def named(self) -> bool | None:
        """Whether the planted fault is named, as a fault or as a handled remark.

        A harmless one need not be if the fit is right.
        """
        if not self.fault or self.judgement is None:
            return None
        fault = FAULTS[self.fault]
        probable = {f[0] for f in self.judgement.findings if f[2] >= PROBABLE}
        doubted = fault.doubt and not self.judgement.trusted
        right = fault.harmless and not self.wrong_trust
        return bool(probable & set(fault.names)) or doubted or right

    @property
    def kept(self) -> bool | None:
        """Whether the true error keeps to the verdict's; None without a finite pair of them."""
        if self.judgement is None or not np.isfinite(self.true_error):
            return None
        stated = self.judgement.expected
        return bool(self.true_error <= stated) if np.isfinite(stated) else None

    @property
    def wrong_trust(self) -> bool:
        """Whether a fit is trusted although it is wrong.

        Its true error is more than WRONG times the stated one, or a fault changed its parameters.
        """
        judged = self.judgement
        if judged is None or not judged.trusted:
            return False
        errs = np.isfinite(self.true_error) and self.true_error > WRONG * judged.expected
        return bool(errs) or self.changed

    @property
    def changed(self) -> bool:
        """Whether a fault that is not harmless changed many of the identified parameters."""
        faulty = bool(self.fault) and not FAULTS[self.fault].harmless
        far = np.abs(np.array(self.z)) > FAR
        return faulty and len(far) > 0 and bool(np.mean(far) > CHANGED)

    def line(self) -> str:
        """Return the outcome in one line."""
        if self.judgement is None:
            return f"{self.id:58} CRASH {self.crash.strip().splitlines()[-1][:90]}"
        z = np.array(self.z)
        known = ""
        if len(z):
            worst = int(np.argmax(np.abs(z)))
            known = (
                f"  2 sigma {np.mean(np.abs(z) <= 2):.0%} rms z {rms(z):.2f}"
                f" ({self.z_names[worst]} {z[worst]:.1f})"
            )
        named = {None: "", True: "  named", False: "  NOT NAMED"}[self.named]
        findings = [
            f"{f[0]}{'' if f[3] == 'fault' else ' (remark)'}" for f in self.judgement.findings
        ]
        wrong = "  WRONG TRUST" if self.wrong_trust else ""
        return (
            f"{self.id:58} {self.judgement.line()} true {100 * self.true_error:6.2f}{known}"
            f"{named}{wrong}  {findings or ''} {self.judgement.failure[:80]}"
        )


def rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def run(seed: int, faulty: bool, kind: str = "") -> Outcome:
    """Simulate a draw and judge it; an unexpected error is part of the outcome."""
    start = perf_counter()
    common: dict[str, Any] = {"seed": seed, "kind": kind, "fault": "faulty" if faulty else ""}
    try:
        sample = draw(seed, faulty, kind)
        spent = perf_counter() - start
        common = {
            "id": sample.id,
            "seed": seed,
            "kind": sample.kind,
            "fault": sample.fault,
            "robot": sample.robot,
            "n": sample.n,
            "rate": sample.sensors.rate,
            "motion": sample.motion,
            "simulation_seconds": spent,
        }
        trial = Trial(sample.id, sample.description, (sample.training,), (sample.held_out,))
        judgement, fit = judge(trial)
    except Exception:  # noqa: BLE001
        unknown: dict[str, Any] = {
            "id": f"{seed}",
            "robot": "",
            "n": 0,
            "rate": 0.0,
            "motion": ("", ""),
        }
        return Outcome(**(unknown | common), crash=format_exc())
    if fit is None:
        return Outcome(**common, judgement=judgement)
    return Outcome(
        **common,
        judgement=judgement,
        true_error=true_error(sample, fit, trial.band),
        **deviations(sample, fit),
    )


def true_error(sample: Draw, fit: sy.Fit, band: float) -> float:
    """Return |e| / |tau| against the noiseless torque, for moving joints inside the region.

    Torques are predicted from the true states, so that a right model has no error at all; then
    both are low-passed.
    """
    truth = sample.truth
    step = truth.t[1] - truth.t[0]
    every = max(round(1 / (step * TRUTH_RATE)), 1)
    q, qd, qdd, tau = (x[::every] for x in (truth.q, truth.qd, truth.qdd, truth.tau))
    rate = 1 / (step * every)
    predicted = np.asarray(fit.predict(q, qd, qdd).torque)
    error, torque = (zero_phase(x, rate, band) for x in (tau - predicted, tau))
    inside = np.asarray(fit.verdict.region.contains(q, qd, qdd))
    counted = is_moving(qd) & inside[:, None]
    edge = int(rate / band)
    counted[:edge] = counted[-edge:] = False
    if counted.sum() < LEAST_SAMPLES:
        return float("nan")
    return relative(error * counted, torque * counted)


def deviations(sample: Draw, fit: sy.Fit) -> dict[str, Any]:
    """Return (estimate - truth) / std of the base parameters with a finite std, and their names.

    With a fault, or friction beyond the estimator's model, of links and rotors only.
    """
    values = np.array([sample.parameters.get(name, 0.0) for name in fit.parameter_names])
    truth = np.asarray(fit.base.values(values))
    std = np.asarray(fit.base_std)
    finite = np.isfinite(std) & (std > 0)
    if f"{fit.robot.joint_names[0]}.Fc" not in sample.parameters:  # links and rotors alone
        finite &= np.array([is_inertial(x) or x.endswith(".Ia") for x in fit.base.names])
    z = (np.asarray(fit.base_values) - truth)[finite] / std[finite]
    names = tuple(name for name, is_finite in zip(fit.base.names, finite, strict=True) if is_finite)
    return {"z": tuple(float(x) for x in z), "z_names": names}


def plain_data(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain data, for JSON."""
    judged = outcome.judgement
    extra = {
        "named": outcome.named,
        "wrong_trust": outcome.wrong_trust,
        "kept_true": outcome.kept,
    }
    ratios = (
        {}
        if judged is None
        else {"over_picked": judged.over_picked, "over_best": judged.over_best, "kept": judged.kept}
    )
    return asdict(outcome) | extra | ratios

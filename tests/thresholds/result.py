"""Thresholds of the verdict, of uncertainty, of the description's weight and of friction terms."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace as Stub
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import chi2

import steelyard as sy
from steelyard.identification.doctor.finding import Finding
from steelyard.identification.estimators import prior_weight
from steelyard.identification.estimators.least_squares import excitation, least_squares
from steelyard.identification.friction.candidates import joint_candidates
from steelyard.identification.friction.memory_choice import (
    is_improvement,
    raises_error,
    sharp_joints,
)
from steelyard.identification.friction.residual_split import noise_share, predicted_share
from steelyard.identification.friction.shape_grid import MemoryChoice
from steelyard.identification.friction.term_search import Gain, in_use
from steelyard.identification.model.accumulator import Accumulator
from steelyard.identification.model.linear_model import Model, build_model
from steelyard.identification.model.rows import Rows
from steelyard.identification.nuisance.delay_gain import away_from_reversals, confirmed_delay
from steelyard.identification.nuisance.drive_gains import is_unidentifiable
from steelyard.identification.nuisance.friction_shape import CANDIDATES, best_of
from steelyard.identification.nuisance.torque_delay import longest_window, significant
from steelyard.identification.result import held_out
from steelyard.identification.result.expected_error import expected_error, friction_drift
from steelyard.identification.result.prediction import Prediction, covered_region
from steelyard.identification.result.state_coverage import CoveredStates
from steelyard.identification.result.torque_noise import spread
from steelyard.identification.result.uncertainty import Uncertainty, involved
from steelyard.identification.result.verdict import WORDS, decide
from steelyard.identification.samples.samples import Samples
from tests.thresholds.threshold import Threshold, sides
from tests.verdicts import errors, inputs, joint

# -- the verdict
# --------------------------------------------------------------------------------------------------


def word(**changes: Any) -> str:
    """The word on a fit with some of its inputs replaced."""
    return decide(inputs(**changes)).word


def with_fault(probability: float) -> str:
    finding = Finding("delay", (), "It is late.", probability)
    return word(log={"findings": (finding,)})


def expecting(within: float = 0.02, anywhere: float = 0.02, worst: float = 0.02) -> str:
    return word(
        errors={
            "within": within,
            "anywhere": max(anywhere, within),
            "worst_part": max(worst, within),
        }
    )


def unexplained(r2: float, count: int = 1) -> str:
    """The word on ten joints, some of them with this R2, and on the first of them."""
    verdict = decide(
        inputs(tuple(joint(f"joint{k}", r2=r2 if k < count else 0.99) for k in range(10)))
    )
    return f"{verdict.word}, {verdict.joints[0].word}"


def on_joint(**changes: Any) -> str:
    """The word on one joint of several."""
    return (
        decide(inputs((joint("joint1", **changes), joint("joint2"), joint("joint3"))))
        .joints[0]
        .word
    )


def on_another_log(inside: Any = None, outside: Any = None, samples: int = 100) -> str:
    return decide(inputs(), (errors(inside, outside, samples=samples),)).word


def notes(**changes: Any) -> str:
    return " ".join(decide(inputs((joint(**changes),))).reasons)


T, W, D, R = WORDS
VERDICT = [
    Threshold(
        "result.result_thresholds:slow_correlation",
        lambda: ("vary slowly" in notes(whiteness=0.7), "vary slowly" in notes(whiteness=0.9)),
    ),
    Threshold("result.result_thresholds:likely_fault", sides(with_fault, 0.5), (T, D)),
    Threshold(
        "result.result_thresholds:refused_error",
        sides(lambda x: on_joint(rated=None, expected_inside=10 * x), 0.5),
        (D, R),
    ),
    Threshold(
        "result.result_thresholds:doubtful_error",
        sides(lambda x: on_joint(rated=None, expected_inside=10 * x), 0.25),
        (T, D),
    ),
    Threshold(
        "result.result_thresholds:small_rated_share",
        sides(lambda x: on_joint(expected_inside=100 * x), 0.05),
        (W, R),
    ),
    Threshold(
        "result.result_thresholds:explained_r2",
        lambda: (unexplained(0.5), unexplained(0.9)),
        (f"{W}, {D}", f"{T}, {T}"),
    ),
    Threshold(
        "result.result_thresholds:unexplained_joints",
        lambda: (unexplained(0.5, 2), unexplained(0.5, 4)),
        (f"{W}, {D}", f"{R}, {R}"),
    ),
    Threshold(
        "result.result_thresholds:unexcited_share",
        sides(lambda x: word(excitation={"rank": round(100 * (1 - x))}), 0.5),
        (T, D),
    ),
    Threshold(
        "result.result_thresholds:contradicted_ratio",
        sides(lambda x: on_another_log(inside=x), 2 * 0.02),
        (T, D),
    ),
    Threshold(
        "result.result_thresholds:least_validation_samples",
        lambda: (on_another_log(0.1, samples=15), on_another_log(0.1, samples=25)),
        (T, D),
    ),
    Threshold(
        "result.result_thresholds:uneven_ratio",
        sides(lambda x: expecting(worst=x), 2 * 0.02),
        (T, W),
    ),
    Threshold("result.result_thresholds:good_error", sides(expecting, 0.1), (T, W)),
    Threshold(
        "result.result_thresholds:outside_ratio",
        sides(lambda x: expecting(anywhere=x), 1.5 * 0.02),
        (T, W),
    ),
    Threshold(
        "result.result_thresholds:consistency_ratio",
        lambda: tuple(word(errors={"predicted": 0.1, "consistent": 0.1 * x}) for x in (1.15, 1.5)),
        (T, D),
    ),
    Threshold(
        "result.result_thresholds:consistency_cost",
        sides(lambda x: word(errors={"predicted": 0.01, "consistent": 0.01 + x}), 0.005),
        (T, D),
    ),
    Threshold(
        "result.result_thresholds:mass_ratio",
        sides(lambda x: word(masses={"identified": 10 * x}), 2.0),
        (T, D),
    ),
]


def stranger(times: float = 100.0, count: int = 3, noise: float = 0.0) -> str:
    """What is said of logs of one joint with tau = x.

    The last has `times` as much, all have noise.
    """
    rng = np.random.default_rng(0)
    result = Accumulator.empty([(0,)], 1)
    blocks = []
    for k in range(count):
        x = rng.normal(size=(400, 1))
        tau = (times if k == count - 1 else 1.0) * x + noise * rng.normal(size=(400, 1))
        blocks.append(Stub(log=k, rows=Rows.of(x[:, :, None]), tau=tau, keep=None))
        result = result.fold(x[:, :, None], tau)
    problem = Stub(
        samples=[Stub(source="")] * count,
        model=Stub(reach=[(0,)]),
        base=Stub(n_base=1),
        blocks=lambda: blocks,
        prior=np.zeros(1),
    )
    base = least_squares(result.triangle(), np.zeros(1))
    return held_out.odd_log(
        problem, Stub(posterior=None, weights=np.ones(1)), held_out.relative(result, base)
    )


ODD = [
    Threshold(
        "result.result_thresholds:least_logs",
        lambda: (bool(stranger(count=2)), bool(stranger(count=3))),
    ),
    Threshold(
        "result.result_thresholds:odd_log_ratio",
        lambda: (bool(stranger(2.0, noise=0.2)), bool(stranger(2.0, noise=0.1))),
    ),
    Threshold(
        "result.result_thresholds:usual_error", lambda: (bool(stranger(1.3)), bool(stranger(1.7)))
    ),
]


# -- what the samples show
# --------------------------------------------------------------------------------------------------


def hidden(share: float) -> bool:
    nothing = Stub(scale=np.ones(1), unexcited=np.zeros((1, 0)))
    return "a" in Uncertainty.unexcited.function(
        Stub(share=np.array([share]), excitation=nothing, base=Stub(names=("a",)))
    )


def weak(std: float) -> bool:
    one = np.ones(1)
    return "a" in Uncertainty.weak.function(
        Stub(relative_std=2 * one, std=std * one, sizes=one, base=Stub(names=("a",)))
    )


def visits(distance: float) -> bool:
    return bool(
        CoveredStates(np.ones(2), np.zeros((1, 2)), np.zeros(1, bool)).contains(
            np.array([distance]), np.array([distance])
        )
    )


def takes_part(component: float) -> bool:
    return bool(involved(Stub(scale=np.ones(2), unexcited=np.array([[component], [1.0]])))[0])


def excited(times: float) -> bool:
    """Whether a direction counts that has so many times the information of the regressor's
    errors.
    """
    return excitation(np.eye(3), np.diag([0.0, 1.0 / np.sqrt(times)])).rank == 2


def moved(delay: float, common: float = 0.0) -> bool:
    """Whether the torque of the first of three joints is late by so many standard deviations, or
    all by so many of the common one.
    """
    std = np.array([1.0, 1e-3, 1e-3]) * 1e-3
    return bool(
        significant(np.array([delay, 0.0, 0.0]) * 1e-3 + common * 1e-6 / np.sqrt(2.0), std, 1e-6)[0]
    )


def shifted(samples: float) -> bool:
    """Whether a common delay of so many samples of 1 ms is taken out."""
    return bool(significant(np.full(3, samples * 1e-3), np.full(3, 1e-9), 1e-3)[0])


def agreed(probability: float) -> bool:
    """Whether a common delay of 4.2 standard deviations counts, if six joints differ as such a part
    of all logs makes them by chance.
    """
    apart = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    result = 4.2 / np.sqrt(6.0) + apart * np.sqrt(chi2.isf(probability, 5) / 6.0)
    return bool(significant(result * 1e-3, np.full(6, 1e-3), 1e-6)[0])


def confirmed(least: bool, gain: float = 0.2, share: float = 1.0, error: float = 0.05) -> bool:
    """Whether a delay of all joints (`least`), or of one, counts that gains so much in held-out
    blocks, in such a share of them, to such an error over the torque.
    """
    before = error * np.exp(np.where(np.arange(40) < 40 * share, gain, -0.001))
    table = {"measured": before, "common": before, "own": np.full(40, error)}
    table["common"] = table["own"] if least else before
    names = iter(["measured", "common"] if least else ["measured", "own"])
    rows = Stub(block_errors=lambda tau: np.tile(table[next(names)][:, None], 3))
    delay = np.full(3, 0.02) if least else np.array([0.0, 0.0, 0.02])
    torques = dict.fromkeys(("measured", "common", "own"), np.ones((10, 3)))
    return bool(confirmed_delay(rows, delay, torques)[2])


def far_from_reversals(seconds: float = 0.3, share: float = 0.5) -> bool:
    """Whether the sample so long after a reversal counts as away from it, in a log of which such a
    share is away.
    """
    rest = 0.1 / (1.0 - share) if share < 1 else 10.0
    t = np.linspace(0.0, 2 * rest, 2001)
    qd = np.where(t < rest, 1.0, -1.0)[:, None]
    i = int(np.searchsorted(t, rest + seconds))
    return bool(away_from_reversals(t, qd)[min(i, 2000), 0])


def long_enough(N: int) -> bool:
    """Whether a stretch of so many samples is looked at for a delay."""
    result = Stub(t=1e-3 * np.arange(N), part=lambda rows: rows)
    return longest_window((result,)) is not None


def inside(joints: int, q: float) -> bool:
    """Whether a position of the first joint counts as covered by samples spread evenly from 0 to 1.

    The last joint stands at 0.5.
    """
    even = np.linspace(0.0, 1.0, 10_001)[:, None] * np.ones(joints)
    even[:, -1] = 0.5
    robot = Stub(
        n=joints,
        joint_names=tuple(map(str, range(joints))),
        mechanism=Stub(joint=lambda name: Stub(kind="revolute")),
    )
    result = Stub(q=even, qd=even, qdd=even, N=len(even), part=lambda rows: result)
    region = covered_region(robot, [result])
    state = np.full((3, joints), 0.5)
    state[0, 0] = q
    return bool(region.contains(*state))


def told(share: float = 1.0, std: float = 0.0) -> bool:
    return not is_unidentifiable(np.array([share]), np.array([std]))[0]


SAMPLES = [
    Threshold(
        "result.result_thresholds:range_share",
        lambda: (inside(2, 0.9956), inside(2, 0.9966)),
        (True, False),
    ),
    Threshold(
        "result.result_thresholds:region_share",
        lambda: (inside(6, 0.9977), inside(6, 0.9987)),
        (True, False),
    ),
    Threshold(
        "result.result_thresholds:region_slack",
        sides(lambda x: inside(1, 0.5 + x), 1e-3),
        (True, False),
    ),
    Threshold(
        "result.result_thresholds:band_deviations",
        lambda: float(Prediction(np.zeros(1), np.ones(1), np.ones(1, bool)).high[0]),
        1.96,
    ),
    Threshold(
        "nuisance.nuisance_thresholds:least_gain_share", sides(lambda x: told(share=x), 1e-6)
    ),
    Threshold(
        "nuisance.nuisance_thresholds:largest_gain_deviation",
        sides(lambda x: told(std=x), 0.5),
        (True, False),
    ),
    Threshold(
        "result.result_thresholds:least_information_share", sides(hidden, 0.01), (True, False)
    ),
    Threshold("result.result_thresholds:weak_share", sides(weak, 0.1)),
    Threshold("result.result_thresholds:covered_distance", sides(visits, 0.05), (True, False)),
    Threshold("result.result_thresholds:direction_component", sides(takes_part, 0.03)),
    Threshold(
        "result.result_thresholds:noise_quantile",
        lambda: round(
            float(1.96 * spread([(np.arange(101.0)[:, None], np.ones((101, 1), bool))])[0])
        ),
        95,
    ),
    Threshold("estimators.estimator_thresholds:excited_ratio", sides(excited, 4.0)),
    Threshold("nuisance.nuisance_thresholds:joint_delay_deviations", sides(moved, 5.0)),
    Threshold("nuisance.nuisance_thresholds:least_delay", sides(shifted, 0.05)),
    Threshold(
        "nuisance.nuisance_thresholds:common_delay_gain", sides(lambda x: confirmed(True, x), 0.02)
    ),
    Threshold(
        "nuisance.nuisance_thresholds:common_delay_share",
        sides(lambda x: confirmed(True, share=x), 0.75),
    ),
    Threshold(
        "nuisance.nuisance_thresholds:joint_delay_gain", sides(lambda x: confirmed(False, x), 0.05)
    ),
    Threshold(
        "nuisance.nuisance_thresholds:joint_delay_share",
        sides(lambda x: confirmed(False, share=x), 0.85),
    ),
    Threshold(
        "nuisance.nuisance_thresholds:delay_error",
        sides(lambda x: confirmed(True, error=x), 0.3),
        (True, False),
    ),
    Threshold(
        "nuisance.nuisance_thresholds:reversal_time",
        sides(lambda x: far_from_reversals(x, 0.8), 0.1),
    ),
    Threshold(
        "nuisance.nuisance_thresholds:least_away_share",
        lambda: (far_from_reversals(0.0, 0.3), far_from_reversals(0.0, 0.13)),
    ),
    Threshold("nuisance.nuisance_thresholds:disagreement_probability", sides(agreed, 0.1)),
    Threshold(
        "nuisance.nuisance_thresholds:least_delay_samples",
        sides(lambda N: long_enough(round(N)), 200),
    ),
    Threshold(
        "nuisance.nuisance_thresholds:common_delay_deviations", sides(lambda x: moved(0.0, x), 4.0)
    ),
]


# -- the weight of the description
# -------------------------------------------------------------------------------------------------


@cache
def model() -> Model:
    return build_model(sy.load("planar_2r"))


def chosen(gain: float = 0.0, derivative: float = 0.0) -> prior_weight.PriorWeight:
    """The choice if the first discarded link wins `gain` nats, the second loses many, and each
    decade of the weight wins `derivative`.
    """

    def evidence(prior: Any, A: Any, z: Any, weights: np.ndarray, vague: Any) -> Any:
        first, second = prior.described
        return Stub(
            log_evidence=gain * (not first)
            - 100.0 * (not second)
            + derivative * float(np.log10(np.max(weights)))
        )

    fakes = {
        "posterior_of": evidence,
        "coordinates": lambda model, prior: prior,
        "projected": lambda *args: (None, None),
    }
    with patch.multiple(prior_weight, **fakes):
        return prior_weight.choose_prior_weight(model(), np.zeros((1, 1)))


def sentence(weight: float) -> bool:
    return "within its noise" in prior_weight.PriorWeight(weight).sentences(model())[0]


def decades() -> tuple[float, ...]:
    """The weight, as a decade, that derivatives of the evidence lead to."""
    return tuple(
        round(float(np.log10(chosen(derivative=derivative).weight)), 1)
        for derivative in (-0.5, -0.25, 0.0, 0.25, 0.5)
    )


PRIOR = [
    Threshold(
        "estimators.estimator_thresholds:discard_odds",
        sides(lambda gain: chosen(gain).aside == (0,), 7.0),
    ),
    Threshold("estimators.estimator_thresholds:exact_weight", sides(sentence, 1e5)),
    Threshold("estimators.estimator_thresholds:prior_weight", decades, (0.3, 1.0, 1.3, 2.0, 2.7)),
    Threshold(
        "estimators.estimator_thresholds:prior_weight_decades", decades, (0.3, 1.0, 1.3, 2.0, 2.7)
    ),
]


# -- friction
# --------------------------------------------------------------------------------------------------


def term(share: float = 1.0, consistency: float = 1.0, information: float = 100.0) -> bool:
    return Gain(joint_candidates(0, False, None)[0], share, consistency, information, (1.0,)).passes


def tone(frequency: float) -> bool:
    """Whether residuals that vary at a part of the Nyquist frequency count as noise."""
    return bool(noise_share([np.sin(np.pi * frequency * np.arange(512.0))[:, None]])[0] > 0.5)


def shrunk() -> float:
    """What two columns explain that differ by a part in a million of their squares only, of a
    torque along that difference.
    """
    a, b = (np.tile(x, 400) / np.sqrt(800.0) for x in ([1.0, 1.0], [1.0, -1.0]))
    X = np.stack([a, a + np.sqrt(8e-6 / 3.5) * b], axis=1)
    return round(predicted_share(X, b), 2)


def improves(share: float, parts: int = 8, consistency: float = 0.0) -> bool:
    """Whether squared errors of eight equal parts that fall in some of them are an improvement."""
    after = np.where(np.arange(8) < parts, 1.0, 1.0 + 1e-9) * (1.0 - share) ** 2
    before = np.where(np.arange(8) < parts, 1.0, after)
    after = after * before.sum() / 8.0 if parts == 8 else after
    return is_improvement(before, after, consistency)


def memory(share: float = 1.0, near: float = 1.0) -> tuple[bool, bool]:
    """Whether friction with memory is worth a closer look, and promising."""
    choice = MemoryChoice(distance=1e-3, width=0.1, value=1.0, share=share, reversal_share=near)
    return choice.is_worth_a_look, choice.is_promising


def sharp(distance: float) -> bool:
    """Whether memory over a distance [rad] is a sharp step."""
    tree = Stub(memory_distances=(None, distance))
    return sharp_joints(Stub(robot=Stub(tree=tree))) == [1]


FRICTION = [
    Threshold(
        "friction.friction_thresholds:sharp_distance",
        sides(lambda x: not sharp(x * CANDIDATES["distance"][0]), 1.1),
    ),
    Threshold(
        "friction.friction_thresholds:largest_moving_loss",
        sides(lambda x: bool(raises_error(np.ones(1), np.array([(1 + x) ** 2]))[0]), 0.05),
    ),
    Threshold("friction.friction_thresholds:least_memory_gain", sides(improves, 0.2)),
    Threshold(
        "friction.friction_thresholds:least_memory_parts",
        lambda: (improves(0.9, parts=5), improves(0.9, parts=7)),
    ),
    Threshold(
        "friction.friction_thresholds:least_reversal_gain",
        sides(lambda x: memory(near=x)[1], 0.1),
    ),
    Threshold(
        "friction.friction_thresholds:first_reversal_gain",
        sides(lambda x: memory(near=x)[0], 0.01),
    ),
    Threshold("friction.friction_thresholds:least_gain", sides(lambda x: term(share=x), 0.02)),
    Threshold(
        "friction.friction_thresholds:least_consistency",
        lambda: (term(consistency=0.6), term(consistency=1.0)),
    ),
    Threshold(
        "friction.friction_thresholds:least_information", sides(lambda x: term(information=x), 6.0)
    ),
    Threshold(
        "friction.friction_thresholds:standing_speed",
        sides(lambda x: bool(in_use(np.array([[-x]]), None)[0, 0]), 5e-3),
    ),
    Threshold(
        "friction.friction_thresholds:noise_band",
        lambda: tuple(map(tone, (0.3, 0.5, 0.7, 0.9))),
        (False, True, True, False),
    ),
    Threshold("friction.friction_thresholds:ridge", shrunk, 0.75),
    Threshold(
        "nuisance.nuisance_thresholds:least_shape_gain",
        sides(lambda gain: best_of((0.0, 0.1), (1.0, 1.0 - gain)) > 0, 0.005),
    ),
]
# -- the error that unseen motion hardly exceeds
# --------------------------------------------------------------------------------------------------


def counts_part(share: float) -> bool:
    """Whether a bad part with a share of the rows of the others counts."""
    counts = np.array([[100.0], [100.0], [100.0], [0.0]])
    counts[3] = share * counts[:3].sum() / (4.0 - share)  # a share of the mean of all
    parts = held_out.HeldOut(counts * [[1.0], [1.0], [1.0], [9.0]], counts, counts)
    return float(parts.largest[0]) > 2.0 and parts.largest_total > 2.0


def exceeds(ratio: float) -> bool:
    """Whether the error of a fit is stated as more than so many times its largest part."""
    model = build_model(sy.load("planar_2r"))
    parts = held_out.HeldOut(np.ones((4, 2)), np.ones((4, 2)), np.ones((4, 2)))
    rng = np.random.default_rng(0)
    t, q = np.arange(50) / 50.0, rng.uniform(-1, 1, (50, 2))
    samples = [Samples(t=t, q=q, qd=q, qdd=q, tau=q)]
    count = model.base.n_base
    stated = expected_error(
        model,
        samples,
        lambda *states: np.ones((len(states[0]), 2)),
        np.zeros((count, count)),
        parts,
    )
    return float(stated.rms[0]) < ratio


def drift(rms: float, seconds: float) -> float:
    """By what share of its friction a joint may drift, which drifted by an rms in so long a log."""
    robot = sy.load("planar_2r").with_friction(coulomb=1.0)
    t = np.linspace(0.0, seconds, 9)
    motion = Stub(t=t, q=np.zeros((9, 2)), qd=np.ones((9, 2)), N=9)
    motion.part = lambda index: motion
    return float(friction_drift(robot, [motion], np.array([rms, 0.0]))[1])


def drifts_for(seconds: float) -> bool:
    """Whether a drift goes on for so long."""
    return drift(0.001, 100.0) < 2.0 * np.sqrt(3.0) * 0.001 / 100.0 * seconds


def drifts_as_long(lengths: float) -> bool:
    """Whether a drift goes on for so many lengths of the log."""
    return drift(0.001, 1.0) < 2.0 * np.sqrt(3.0) * 0.001 * lengths


def drifts_by(share: float) -> bool:
    """Whether friction drifts by less than a share."""
    return drift(10.0, 1.0) < share


RESULT = [
    Threshold("result.result_thresholds:unseen_ratio", sides(exceeds, 1.3)),
    Threshold("result.result_thresholds:least_part", sides(counts_part, 0.2)),
    Threshold("result.result_thresholds:drift_seconds", sides(drifts_for, 120.0)),
    Threshold("result.result_thresholds:drift_lengths", sides(drifts_as_long, 8.0)),
    Threshold("result.result_thresholds:largest_drift", sides(drifts_by, 0.3)),
    *VERDICT,
    *ODD,
    *SAMPLES,
    *PRIOR,
    *FRICTION,
]

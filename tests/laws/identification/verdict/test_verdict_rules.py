"""Laws of the rules of verdicts.

More evidence against a fit never raises a word, and a decision cannot be altered.
"""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.identification.doctor.finding import Finding
from steelyard.identification.result.provenance import plain
from steelyard.identification.result.verdict import (
    WORDS,
    ValidationErrors,
    Verdict,
    VerdictInputs,
    decide,
)
from steelyard.identification.result.verdict.torque_errors import TorqueErrors
from tests.verdicts import errors, inputs, joint, side

N = 3
relative = st.one_of(st.floats(0.0, 0.1), st.floats(0.0, 0.6), st.floats(0.0, 3.0))
error = st.one_of(st.floats(1e-4, 0.1), st.floats(0.1, 0.6), st.floats(1e-4, 2.0))


@st.composite
def fits(draw: st.DrawFn) -> VerdictInputs:
    """Inputs of any kind of fit.

    Half of them have nothing against them but their errors: else most would be refused for another
    reason, and a validation could not raise their word.
    """
    good = draw(st.booleans())
    rows = tuple(
        joint(
            f"joint{k}",
            rated=draw(st.sampled_from([None, 20.0, 100.0, 1000.0])),
            expected_inside=draw(error),
            expected_outside=draw(st.one_of(error, st.floats(1e-4, 20.0))),
            r2=draw(st.floats(0.9, 1.0) if good else st.floats(-1.0, 1.0)),
            used=good or draw(st.booleans()),
        )
        for k in range(N)
    )
    within = draw(error)
    factors = {"anywhere": draw(st.floats(1.0, 5.0)), "worst_part": draw(st.floats(0.5, 5.0))}
    chosen = {"within": within} | {name: within * factor for name, factor in factors.items()}
    if good:
        return inputs(rows, errors=chosen)
    probability = draw(st.floats(0.0, 1.0))
    findings = (Finding("delay", ("joint1",), "It is late.", probability),)
    masses = {
        "identified": draw(st.floats(1.0, 50.0)),
        "known": draw(st.booleans()),
        "placeholder": draw(st.booleans()),
    }
    log = {"findings": findings if draw(st.booleans()) else ()}
    excitation = {"rank": draw(st.integers(0, 100))}
    return inputs(rows, errors=chosen, log=log, masses=masses, excitation=excitation)


@st.composite
def validations(draw: st.DrawFn, inside: bool = True, outside: bool = True) -> ValidationErrors:
    """Errors on any log, with or without samples on each side of the region."""

    def one(expected: bool) -> TorqueErrors:
        samples = draw(st.sampled_from([0, 5, 19, 20, 500])) if expected else 0
        return side(
            [draw(relative) for _ in range(N)] if samples else None,
            N,
            samples,
            draw(st.floats(0.1, 100.0)),
        )

    return ValidationErrors(one(inside), one(outside))


def levels(verdict: Verdict) -> np.ndarray:
    """Places of all words, the fit's first: 0 for trusted, 3 for refused."""
    return np.array(
        [WORDS.index(word) for word in (verdict.word, *(each.word for each in verdict.joints))]
    )


def no_better(after: Verdict, before: Verdict) -> bool:
    """Whether no word is better than before."""
    return bool(np.all(levels(after) >= levels(before)))


def test_fits_of_every_word_are_drawn() -> None:
    words = []

    @settings(max_examples=600, deadline=None, database=None)
    @given(fits())
    def collect(fit: VerdictInputs) -> None:
        words.append(decide(fit).word)

    collect()
    assert all(words.count(word) >= 5 for word in WORDS), {
        word: words.count(word) for word in WORDS
    }


@settings(max_examples=200, deadline=None)
@given(fits(), validations(), validations())
def test_a_validation_never_raises_a_word(
    fit: VerdictInputs, one: ValidationErrors, other: ValidationErrors
) -> None:
    plain_fit, once, twice = decide(fit), decide(fit, (one,)), decide(fit, (one, other))
    assert no_better(once, plain_fit)
    assert no_better(twice, once)
    assert twice.error >= once.error >= plain_fit.error


@settings(max_examples=200, deadline=None)
@given(fits(), validations(inside=False))
def test_a_validation_outside_the_region_lowers_confidence_and_states_nothing_inside(
    fit: VerdictInputs, other: ValidationErrors
) -> None:
    before, after = decide(fit), decide(fit, (other,))
    assert no_better(after, before)
    assert all(each.inside is None for each in after.joints)
    assert after.error == (np.inf if after.word == "refused" else before.error)
    stated = [each.outside.error for each in after.joints if each.outside is not None]
    np.testing.assert_allclose(stated, other.outside.rms[other.outside.rows > 0])
    if other.outside.samples:
        assert after.outside_error == pytest.approx(other.outside.relative)
    else:
        assert after.outside_error is None


@settings(max_examples=200, deadline=None)
@given(fits(), validations(), st.floats(1.0, 100.0), st.sampled_from(["inside", "outside"]))
def test_a_larger_error_on_another_log_never_raises_a_word(
    fit: VerdictInputs, one: ValidationErrors, factor: float, where: str
) -> None:
    errors_there = getattr(one, where)
    worse = replace(
        one,
        **{where: replace(errors_there, residual_squares=factor * errors_there.residual_squares)},
    )
    assert no_better(decide(fit, (worse,)), decide(fit, (one,)))


@settings(max_examples=200, deadline=None)
@given(fits(), st.floats(1.0, 10.0), st.integers(0, N - 1))
def test_worse_inputs_never_raise_a_word(fit: VerdictInputs, factor: float, j: int) -> None:
    """A larger error of a joint, a smaller R2, larger errors elsewhere, one more fault, less
    excitation.
    """
    row = fit.joints[j]

    def with_joint(**changes: float) -> VerdictInputs:
        return replace(fit, joints=(*fit.joints[:j], replace(row, **changes), *fit.joints[j + 1 :]))

    fault = Finding("clock", (), "Time is scaled.", 0.9)
    e, x = fit.errors, fit.excitation
    worse = [
        with_joint(expected_inside=factor * row.expected_inside),
        with_joint(r2=row.r2 - factor),
        replace(fit, errors=replace(e, anywhere=factor * e.anywhere)),
        replace(
            fit,
            errors=replace(
                e,
                within=factor * e.within,
                anywhere=factor * e.anywhere,
                worst_part=factor * e.worst_part,
            ),
        ),
        replace(fit, log=replace(fit.log, findings=(*fit.log.findings, fault))),
        replace(fit, excitation=replace(x, rank=int(x.rank / factor))),
    ]
    before = decide(fit)
    assert all(no_better(decide(each), before) for each in worse)


@settings(max_examples=200, deadline=None)
@given(fits(), st.lists(validations(), max_size=2))
def test_the_word_of_the_fit_follows_from_joints_and_reasons(
    fit: VerdictInputs, others: list[ValidationErrors]
) -> None:
    """A trusted fit has trusted joints alone, the joints of a refused one are refused.

    The next step is one sentence with a line.
    """
    verdict = decide(fit, others)
    words = {each.word for each in verdict.joints}
    if verdict.word == "trusted":
        assert words == {"trusted"}
    if verdict.word == "refused":
        assert words == {"refused"}
    assert ": " in verdict.next_step
    assert "\n" not in verdict.next_step
    assert verdict.next_step[0].isupper()


@settings(max_examples=100, deadline=None)
@given(fits(), validations())
def test_inputs_that_were_stored_decide_the_same(fit: VerdictInputs, one: ValidationErrors) -> None:
    stored = json.loads(json.dumps(plain({"inputs": fit.to_dict(), "errors": one.to_dict()})))
    again = decide(
        VerdictInputs.from_dict(stored["inputs"]),
        (ValidationErrors.from_dict(stored["errors"], N),),
    )
    assert plain(again.to_dict()) == plain(decide(fit, (one,)).to_dict())


def test_a_verdict_cannot_be_altered() -> None:
    verdict = decide(inputs(), (errors(0.02, 0.02),))
    for each in fields(verdict):
        with pytest.raises(FrozenInstanceError):
            setattr(verdict, each.name, None)
    with pytest.raises(FrozenInstanceError):
        verdict.joints[0].word = "trusted"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        verdict.region.q_low[0] = -9.0
    for name in ("joints", "reasons", "findings", "validations"):
        assert isinstance(getattr(verdict, name), tuple)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({}, "trusted"),
        # 57 % of its torque, 2.9 % of its rated torque
        ({"expected_inside": 5.7, "rated": 200.0}, "trusted within"),
        ({"expected_inside": 3.0, "rated": 40.0}, "doubtful"),  # 30 %, 7.5 %
        ({"expected_inside": 3.0, "rated": None}, "doubtful"),
        ({"expected_inside": 5.7, "rated": 100.0}, "refused"),
        ({"r2": 0.6}, "doubtful"),  # an unexplained torque whose error is small
        ({"r2": 0.6, "rated": None}, "refused"),
        ({"used": False}, "doubtful"),
    ],
)
def test_a_joint_has_its_own_word(changes: dict[str, object], word: str) -> None:
    """One joint of six; the whole fit is trusted within its region at best, and says for which
    joints it is not.
    """
    others = tuple(joint(f"joint{k}") for k in range(2, 7))
    verdict = decide(inputs((joint("joint1", **changes), *others)))
    assert verdict.joints[0].word == word
    expected = (
        "trusted"
        if word == "trusted"
        else "doubtful"
        if not changes.get("used", True)
        else "trusted within"
    )
    assert verdict.word == expected
    assert (f"except joint1 ({word})" in str(verdict)) == (
        verdict.word == "trusted within" and word in ("doubtful", "refused")
    )


def test_errors_are_in_newton_metres_and_in_percent_of_two_torques() -> None:
    verdict = decide(
        inputs(
            (joint(rated=50.0), joint("joint2", rated=None, expected_outside=1.0), joint("joint3"))
        )
    )
    first, second = verdict.joints[0].inside, verdict.joints[1].outside
    assert (first.error, first.percent_of_torque, first.percent_of_rated) == pytest.approx(
        (0.2, 2.0, 0.4)
    )
    assert (second.error, second.percent_of_torque, second.percent_of_rated) == (1.0, 10.0, None)
    measured = decide(inputs(), (errors([0.1, 0.2, 0.3], None),)).joints
    assert [each.inside.error for each in measured] == pytest.approx([1.0, 2.0, 3.0])
    assert [each.inside.percent_of_rated for each in measured] == pytest.approx([1.0, 2.0, 3.0])
    assert all(each.outside is None for each in measured)

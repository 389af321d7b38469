"""Rules of the verdict on single joints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..result_thresholds import THRESHOLDS
from .inputs import JointInputs, VerdictInputs
from .torque_errors import TorqueErrors, ValidationErrors, pooled
from .verdict import DOUBTFUL, REFUSED, WITHIN, WORDS, JointError, JointVerdict, Reason


def joint_verdicts(
    inputs: VerdictInputs, validations: Sequence[ValidationErrors], reasons: Sequence[Reason]
) -> tuple[JointVerdict, ...]:
    """Return the word and the errors of every joint.

    The word of a joint is the worst that a reason leaves for it. Errors are those expected by the
    fit or, with validations, those measured inside and outside the region.

    Parameters
    ----------
    inputs : what is known of the fit
    validations : errors on other logs
    reasons : all reasons of the verdict
    """
    inside = pooled([each.inside for each in validations])
    outside = pooled([each.outside for each in validations])
    verdicts = []
    for j, joint in enumerate(inputs.joints):
        level = max((reason.level_of(joint.name) for reason in reasons), default=0)
        if validations:
            within, beyond = measured_error(inside, joint, j), measured_error(outside, joint, j)
        else:
            within, beyond = expected_errors(joint)
        resting = (
            None if joint.resting is None else joint_error(joint.resting, joint.torque, joint.rated)
        )
        verdicts.append(
            JointVerdict(
                name=joint.name,
                word=WORDS[level],
                unit=joint.unit,
                inside=within,
                outside=beyond,
                resting=resting,
            )
        )
    return tuple(verdicts)


def expected_errors(joint: JointInputs) -> tuple[JointError | None, JointError | None]:
    """Return the expected errors of a joint inside and outside the region."""
    if not joint.used:
        return None, None
    expected = joint.expected_inside, joint.expected_outside
    return (
        joint_error(expected[0], joint.torque, joint.rated),
        joint_error(expected[1], joint.torque, joint.rated),
    )


def measured_error(errors: TorqueErrors | None, joint: JointInputs, j: int) -> JointError | None:
    """Return the error of joint j over samples; None without a row in use."""
    if errors is None or not errors.rows[j]:
        return None
    return joint_error(float(errors.rms[j]), float(errors.torque_rms[j]), joint.rated)


def joint_error(error: float, torque: float, rated: float | None) -> JointError:
    """Return an error [N m|N] with its shares of the torque and of the rated torque."""
    of_rated = None if rated is None else 100 * error / rated
    return JointError(error, 100 * error / torque if torque > 0 else None, of_rated)


def joint_reasons(
    inputs: VerdictInputs, validations: Sequence[ValidationErrors]
) -> Iterator[Reason]:
    """Yield the reasons that concern single joints.

    A joint is refused if its torque is not explained (R2 below `explained_r2`) or its error inside
    the region exceeds `refused_error` of its torque, doubtful from `doubtful_error` of its torque
    on, or if another log has `contradicted_ratio` times the expected error there. An error of less
    than `small_rated_share` of the rated torque leaves 'trusted within', or 'doubtful' where the
    torque is not explained. Each of these leaves at most 'trusted within' for the whole fit.
    """
    for j, joint in enumerate(inputs.joints):
        if not joint.used:
            continue
        yield from unexplained(joint)
        yield from large_error(joint, worst_inside(joint, j, validations))
        for each in validations:
            yield from contradicted_inside(joint, j, each.inside)
            yield from large_outside(joint, j, each.outside)


def unexplained(joint: JointInputs) -> Iterator[Reason]:
    """Refuse a joint whose torque does not follow from the motion."""
    if joint.r2 < THRESHOLDS.explained_r2:
        small = is_small(joint, joint.expected_inside)
        numbers = f"relative error {joint.relative_error:.0%}, R2 {joint.r2:.2f}"
        text = (
            f"What was measured of {joint.name} is not explained: {numbers}. Check its unit and"
            " sign."
        )
        yield Reason(WITHIN, text, "", (joint.name,), DOUBTFUL if small else REFUSED)


def worst_inside(
    joint: JointInputs, j: int, validations: Sequence[ValidationErrors]
) -> tuple[float, float]:
    """Return the largest relative error of a joint inside the region, and that error [N m|N]."""
    pairs = [(ratio(joint.usual_inside, joint.torque), joint.usual_inside)]
    for each in validations:
        if enough(each.inside, j):
            error = float(each.inside.rms[j])
            pairs.append((ratio(error, float(each.inside.torque_rms[j])), error))
    return max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)


def large_error(joint: JointInputs, worst: tuple[float, float]) -> Iterator[Reason]:
    """Refuse or doubt a joint whose error inside the region is a large part of its torque."""
    relative, error = worst
    if relative > THRESHOLDS.doubtful_error:
        level = (
            WITHIN
            if is_small(joint, error)
            else REFUSED
            if relative > THRESHOLDS.refused_error
            else DOUBTFUL
        )
        word = "trusted within the region only" if level == WITHIN else WORDS[level]
        measured = error > joint.usual_inside or relative > ratio(error, joint.torque)
        average = "error on the validation log" if measured else "average error"
        text = f"{joint.name} is {word}: its {average} is {shares(joint, error, relative)}."
        yield Reason(WITHIN, text, "", (joint.name,), level)


def contradicted_inside(joint: JointInputs, j: int, errors: TorqueErrors) -> Iterator[Reason]:
    """Doubt a joint whose error inside the region is larger on another log than expected."""
    if not enough(errors, j):
        return
    error, expected = float(errors.rms[j]), joint.expected_inside
    relative = ratio(error, float(errors.torque_rms[j]))
    if (
        error > THRESHOLDS.contradicted_ratio * expected
        and relative > THRESHOLDS.good_error
        and not is_small(joint, error)
    ):
        numbers = f"{error:.3g} {joint.unit} inside the region, expected {expected:.3g}"
        text = f"{joint.name} is doubtful: on the validation log its error is {numbers}."
        yield Reason(WITHIN, text, "", (joint.name,), DOUBTFUL)


def large_outside(joint: JointInputs, j: int, errors: TorqueErrors) -> Iterator[Reason]:
    """Limit a joint to the region if its error outside is large."""
    if not enough(errors, j):
        return
    error, expected = float(errors.rms[j]), joint.expected_outside
    relative = ratio(error, float(errors.torque_rms[j]))
    contradicted = (
        error > THRESHOLDS.contradicted_ratio * expected and relative > THRESHOLDS.good_error
    )
    if (relative > THRESHOLDS.doubtful_error or contradicted) and not is_small(joint, error):
        text = f"Outside the region {joint.name} has an error of {shares(joint, error, relative)}."
        yield Reason(WITHIN, text, "", (joint.name,))


def shares(joint: JointInputs, error: float, relative: float) -> str:
    """Return an error in words: in N m or N, of the torque and of the rated torque."""
    rated = "" if joint.rated is None else f" and {error / joint.rated:.1%} of its rated torque"
    return f"{error:.3g} {joint.unit}, {relative:.0%} of its torque{rated}"


def is_small(joint: JointInputs, error: float) -> bool:
    """Return whether an error [N m|N] is small compared with the rated torque, if that is known."""
    return joint.rated is not None and error <= THRESHOLDS.small_rated_share * joint.rated


def enough(errors: TorqueErrors, j: int) -> bool:
    """Return whether a joint has enough rows in use to decide something."""
    return bool(errors.rows[j] >= THRESHOLDS.least_validation_samples)


def ratio(error: float, torque: float) -> float:
    """Return error / torque; infinite for a torque of zero."""
    return error / torque if torque > 0 else float(np.inf if error > 0 else 0.0)

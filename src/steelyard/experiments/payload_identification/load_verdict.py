"""The verdict on a load: one of four words, with the reasons for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .arm import LoadedArm
from .load_fit import LoadFit
from .payload_thresholds import THRESHOLDS

MEANINGS = {
    "trusted": "Trusted: mass, centre and inertia follow from the torques.",
    "trusted within": "Trusted within limits: {limits}.",
    "doubtful": "Doubtful: do not use this load before the reasons below are resolved.",
    "refused": "Refused: the torques do not fit this robot with a load.",
}
NUMBERS = ("mass", "com x", "com y", "com z", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


@dataclass(frozen=True)
class LoadVerdict:
    """The verdict on a load: 'trusted', 'trusted within', 'doubtful' or 'refused', with reasons.

    `seen` and `unseen` name the numbers that are identified and those that are not.
    """

    word: str
    reasons: tuple[str, ...]
    seen: tuple[str, ...]
    unseen: tuple[str, ...]

    @property
    def trusted(self) -> bool:
        """True for 'trusted' and 'trusted within'."""
        return self.word in ("trusted", "trusted within")

    def __str__(self) -> str:
        shown = (
            f"for {', '.join(self.seen)}; not for {', '.join(self.unseen)}"
            if self.unseen
            else "if the arm is as described"
        )
        return MEANINGS[self.word].format(limits=shown)


def judge_load(arm: LoadedArm, fit: LoadFit) -> LoadVerdict:
    """Return the verdict on a load."""
    seen, unseen = (
        tuple(
            name for name, is_seen in zip(NUMBERS, fit.seen, strict=True) if bool(is_seen) is want
        )
        for want in (True, False)
    )
    refusals = [*_lighter(fit), *_useless(fit), *_arm_refused(arm)]
    doubts = [*_nothing(fit), *_coarse(fit), *_unlike(arm, fit), *_arm_doubtful(arm)]
    word = (
        "refused"
        if refusals
        else "doubtful"
        if doubts
        else "trusted within"
        if unseen or arm.as_described
        else "trusted"
    )
    return LoadVerdict(
        word, (*refusals, *doubts, *_visible(seen, unseen), *_notes(arm)), seen, unseen
    )


def _lighter(fit: LoadFit) -> Iterator[str]:
    mass, std = float(fit.free[0]), float(fit.free_std[0])
    if fit.seen[0] and mass < -THRESHOLDS.lighter_deviations * std:
        yield (
            f"The robot is lighter with the load than without, by {-mass / std:.0f} standard"
            " deviations of the mass: were the two logs exchanged, or do torques have the other"
            " sign?"
        )


def _useless(fit: LoadFit) -> Iterator[str]:
    if not fit.residual.loaded < THRESHOLDS.refused_error:
        yield (
            f"{fit.residual.loaded:.0%} of the torque with the load is unexplained: is it the log"
            " of another robot?"
        )


def _arm_refused(arm: LoadedArm) -> Iterator[str]:
    if arm.fit is not None and arm.fit.verdict.word == "refused":
        yield f"The arm itself could not be identified. {_first(arm.fit.verdict.reasons)}"


def _nothing(fit: LoadFit) -> Iterator[str]:
    mass, std = float(fit.free[0]), float(fit.free_std[0])
    if (
        fit.seen[0]
        and -THRESHOLDS.lighter_deviations * std <= mass < THRESHOLDS.load_deviations * std
    ):
        shown = float(fit.numbers[0])
        yield (
            f"The mass, {shown:.5g} kg, is not above zero by {THRESHOLDS.load_deviations:g}"
            f" standard deviations of {std:.2g}: there may be no load."
        )


def _coarse(fit: LoadFit) -> Iterator[str]:
    mass, std = float(fit.numbers[0]), float(np.sqrt(fit.covariance[0, 0]))
    if not fit.seen[0]:
        yield (
            "The mass is not identified: lift and lower the load with joints whose axes are not"
            " vertical."
        )
    elif (
        fit.free[0] >= THRESHOLDS.load_deviations * fit.free_std[0]
        and std > THRESHOLDS.doubtful_mass_deviation * mass
    ):
        yield (
            f"The standard deviation of the mass is {std / mass:.0%}: a longer log, faster motion "
            "or more poses reduce it."
        )


def _unlike(arm: LoadedArm, fit: LoadFit) -> Iterator[str]:
    before = (
        fit.residual.empty
        if arm.empty
        else arm.fit.verdict.error
        if arm.fit is not None
        else np.nan
    )
    if fit.residual.loaded > max(THRESHOLDS.doubtful_error_ratio * before, THRESHOLDS.small_error):
        yield (
            f"With the load {fit.residual.loaded:.1%} of the torque is unexplained, without it"
            f" {before:.1%}: does the load slip or swing, or is the second log from another robot?"
        )


def _arm_doubtful(arm: LoadedArm) -> Iterator[str]:
    if arm.fit is not None and arm.fit.verdict.word == "doubtful":
        yield f"The identification of the arm is doubtful itself. {_first(arm.fit.verdict.reasons)}"


def _visible(seen: tuple[str, ...], unseen: tuple[str, ...]) -> Iterator[str]:
    if not unseen:
        yield "The motion shows all ten numbers of the load."
    elif seen:
        yield (
            f"Identified: {', '.join(seen)}. Not identified:"
            f" {', '.join(unseen)}.{_assumed(seen, unseen)}"
        )
    else:
        yield "The motion shows none of the ten numbers of the load."


def _assumed(seen: tuple[str, ...], unseen: tuple[str, ...]) -> str:
    """Return a sentence on the values of what is not identified."""
    values = (
        [f"{', '.join(centre)} 0, the frame's origin"]
        if (centre := [name for name in unseen if "com" in name])
        else []
    )
    if inertia := [name for name in unseen if name.startswith("I")]:
        free = not any(name.startswith("I") for name in seen)
        values += [
            (
                "the inertia of a solid ball of the mass"
                if free
                else f"{', '.join(inertia)} near the values of a solid ball"
            )
        ]
    return f" The model of the load assumes {' and '.join(values)}." if values else ""


def _notes(arm: LoadedArm) -> Iterator[str]:
    yield f"The arm is {arm.known}."
    if arm.scale_std:
        yield (
            f"The torque scale is known to ± {200 * arm.scale_std:.2g} % (two standard"
            " deviations); the standard deviations of mass and inertia include it."
        )
    if arm.resting and not arm.sides:
        yield (
            "The joints did not come to their poses from both sides: friction at rest counts as"
            " noise."
        )
    elif arm.sides:
        yield "Friction at rest was taken out by the sides from which the joints came."
    if arm.model.reads_load:
        yield (
            "Friction that grows with the load was taken as it is without it; what it adds may"
            " count as mass."
        )
    yield from (remark for s in arm.loaded for remark in s.remarks if "payload" in remark)


def _first(reasons: tuple[str, ...]) -> str:
    return reasons[0] if reasons else ""

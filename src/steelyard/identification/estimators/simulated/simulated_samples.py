"""Samples with the states of a simulated motion, and when a motion can be simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...model.linear_model import Model
from ...model.problem import Problem
from ...samples.decimation import common_decimation
from ...samples.samples import Samples

if TYPE_CHECKING:
    from ....simulation.controllers.controller import Controller

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SimulatedSamples:
    """Samples with simulated states, the parameters (p,) of the simulation, and notes.

    `simulated` is False where there was nothing to simulate: the samples are as they were.
    """

    samples: tuple[Samples, ...]
    parameters: Array
    notes: tuple[str, ...] = ()
    simulated: bool = True


def with_simulated_samples(problem: Problem, simulated: SimulatedSamples) -> Problem:
    """Return a problem with other samples, at the rate that their motion needs."""
    samples = simulated.samples
    return replace(
        problem,
        samples=samples,
        decimate=common_decimation(samples) if problem.automatic_rate else problem.decimate,
        notes=problem.notes + simulated.notes,
    )


def why_not_simulated(
    model: Model, samples: Sequence[Samples], controller: Controller | None
) -> str:
    """Return why nothing is simulated, in a sentence; empty if it can be."""
    if (
        model.known is not None
        or model.moving
        or model.robot.tree.has_memory
        or any(s.payload_torque is not None for s in samples)
    ):
        return (
            "The motion was not simulated: a known torque that cannot be traced, a payload, a"
            " moving base or friction with memory is not part of the simulated loop."
        )
    if controller is None and all(s.command is None or s.command[1] is None for s in samples):
        return (
            "The motion was not simulated: there is no controller= and the log has no commanded"
            " positions; the smoothed motion was used."
        )
    return ""

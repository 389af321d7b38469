"""Recipe: what is done to every log of an archive, so that their factors can be merged."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...cached import cached_property
from ...compiler.runtime.jit import host
from ...errors import LogError
from ...robot import Robot
from ...signals.log import Log
from ...version import __version__
from ..model.linear_model import Model
from ..model.problem import Problem
from ..samples.preparation import Preparation
from ..samples.samples import Samples, prepare
from ..settle import Settled

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Recipe:
    """The model whose columns are folded, and what is done to the samples before: preparation, delay (n,) [s], drive gains (n,), rate.

    `interval` [s] is the time between kept samples; logs of another rate are thinned to the same one.
    """

    robot: Robot
    model: Model
    preparation: Preparation
    delay: Array
    gains: Array
    interval: float

    @classmethod
    def of(cls, robot: Robot, settled: Settled, preparation: Preparation) -> Recipe:
        """Return the recipe that some logs have settled, with its key, which then need not be computed by those that it is sent to."""
        made = cls(robot, settled.problem.model, preparation, settled.delay, settled.gains.values, settled.interval)
        hash(made)
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def key(self) -> str:
        """A digest of all that the factor of a log depends on beside its content: robots, options, versions and the kind of processor."""
        model = self.model
        robots = self.robot.fingerprint, model.robot.fingerprint
        held = model.held, model.load, model.moving, model.base.columns, model.reach
        numbers = [x.tobytes().hex() for x in (self.delay, self.gains)]
        whole = (__version__, np.__version__, host().key, robots, held, repr(self.preparation), numbers, self.interval)
        return hashlib.sha256(repr(whole).encode()).hexdigest()

    def problem(self, log: Log) -> Problem:
        """Return the problem of one log; LogError if it cannot be identified from, or moves its base where the others do not."""
        samples = prepare(self.robot, log, self.preparation)
        if (samples.base is not None) != self.model.moving:
            moves, others = ("moves", "rest") if samples.base is not None else ("rests", "move")
            raise LogError(f"{log.where}its base {moves} while those of the others {others}: identify from it by itself")
        samples = samples.advanced(self.delay)
        samples = samples if np.all(self.gains == 1.0) else replace(samples, tau=samples.tau * self.gains)
        return Problem(self.model, (samples,), self.factor(samples))

    def factor(self, samples: Samples) -> int:
        """Return the decimation of some samples: what is asked for, or what brings them to the common rate."""
        return self.preparation.decimate or max(1, round(self.interval / float(np.median(np.diff(samples.t)))))


@lru_cache(maxsize=2)
def first_of_equals(recipe: Recipe) -> Recipe:
    """Return the first recipe equal to this one that a process got: what it has derived from its robot takes longer than a short log."""
    return recipe

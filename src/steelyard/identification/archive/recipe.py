"""Recipe: what is done to every log of an archive, so that their factors can be merged."""

from __future__ import annotations

import hashlib
import platform
import secrets
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray

from ...cached import cached_property
from ...compiler.runtime.cache import sources
from ...compiler.runtime.jit import host
from ...content_digest import NoDigest, content_digest
from ...errors import LogError, ProblemError
from ...robot import Robot
from ...signals.log import Log
from ...signals.read.log_formats import LOG_FORMATS
from ..model.linear_model import Model
from ..model.problem import Problem
from ..model.rows import Reach
from ..samples.preparation import Preparation
from ..samples.samples import Samples, prepare
from ..settle import Settled

Array = NDArray[np.float64]
PACKAGE = Path(__file__).parents[2]
PARTS = 4  # consecutive parts of a log that are folded apart, so that its uncertainty can be told
POINTS = 2048  # states of a log that are kept, evenly spread


@dataclass(frozen=True, eq=False)
class Recipe:
    """The model whose columns are folded, and what is done to the samples before: preparation, delay (n,) [s], drive gains (n,), rate.

    `interval` [s] is the time between kept samples; logs of another rate are thinned to the same one. `token` is random: copies of a
    recipe that are sent to workers are equal, and no other recipes are.
    """

    robot: Robot
    model: Model
    preparation: Preparation
    delay: Array
    gains: Array
    interval: float

    token: str = field(init=False, compare=False, repr=False, default_factory=lambda: secrets.token_hex(16))

    @classmethod
    def of(cls, robot: Robot, settled: Settled, preparation: Preparation) -> Recipe:
        """Return the recipe that some logs have settled, with its key, which then need not be computed by those that it is sent to.

        Bounds and the total mass do not count for factors: the model comes without them, so that other bounds fold nothing again.
        """
        given = settled.problem.model
        model = replace(given, bounds=None, total_mass=None)
        model.__dict__.update({"base": given.base, "reach": given.reach})
        made = cls(robot, model, preparation, settled.delay, settled.gains.values, settled.interval)
        _ = made.key, made.columns, made.reach
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe) and self.token == other.token

    def __hash__(self) -> int:
        return hash(self.token)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The parameters whose columns are folded."""
        return self.model.base.columns

    @cached_property
    def reach(self) -> Reach:
        """For each joint the columns that its torque depends on."""
        return self.model.reach

    @cached_property
    def identity(self) -> tuple[str | None, str]:
        """A digest of all that the factor of a log depends on beside its content; None with the reason if something has no digest.

        It has every field, the columns, the source code, the versions of what computes and reads, and the kind of processor.
        """
        code = sources(PACKAGE)
        if code is None:
            return None, "source files have changed since the start"
        computing = platform.python_version(), np.__version__, scipy.__version__, host().key, reader_versions()
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.compare}
        try:
            return content_digest((code, computing, own, self.columns, self.reach), hashlib.sha256), ""
        except NoDigest as error:
            return None, f"they depend on something that cannot be compared between runs ({error})"

    @property
    def key(self) -> str | None:
        """The digest of `identity`; None for a recipe whose factors cannot be kept."""
        return self.identity[0]

    @property
    def most_bytes(self) -> int:
        """How many bytes a factor has at most."""
        triangles = sum((len(columns) + 1) ** 2 for columns in self.reach)
        return 8 * PARTS * triangles + 8 * 3 * POINTS * self.robot.n + (1 << 20)

    def problem(self, log: Log) -> Problem:
        """Return the problem of one log; LogError if it cannot be identified from, or moves its base where the others do not."""
        if self.model.base.columns != self.columns:
            raise ProblemError(f"{log.where}this process finds other base parameters than the one that asked: install the same versions")
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


def reader_versions() -> tuple[tuple[str, str], ...]:
    """Return the versions of the packages that read logs, by the table of formats."""
    names = {package.partition(".")[0] for row in LOG_FORMATS.values() for package in row.packages}
    found = []
    for name in sorted(names):
        with suppress(PackageNotFoundError):
            found.append((name, version(name)))
    return tuple(found)


@lru_cache(maxsize=2)
def first_of_equals(recipe: Recipe) -> Recipe:
    """Return the first copy of this recipe that a process got: what it has derived from its robot takes longer than a short log."""
    return recipe

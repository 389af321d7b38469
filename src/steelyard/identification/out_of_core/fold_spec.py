"""FoldSpec: how every log of an archive is processed, so that their factors can be merged."""

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
from ..build_problem import PreparedProblem
from ..model.linear_model import Model
from ..model.problem import Problem
from ..model.rows import ColumnSupport
from ..observations.prepare import prepare
from ..samples.preparation import Preparation
from ..samples.samples import Samples
from .out_of_core_thresholds import THRESHOLDS

Array = NDArray[np.float64]
PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True, eq=False)
class FoldSpec:
    """The model whose columns are folded, and how samples are prepared before.

    Preparation, delay (n,) [s], drive gains (n,) and rate are fixed. `interval` [s] is the time
    between decimated samples; logs of another rate are decimated to it. `token` is random: copies
    of a specification on workers are equal, and no others are.
    """

    robot: Robot
    model: Model
    preparation: Preparation
    delay: Array
    gains: Array
    interval: float

    token: str = field(
        init=False, compare=False, repr=False, default_factory=lambda: secrets.token_hex(16)
    )

    @classmethod
    def of(cls, robot: Robot, prepared: PreparedProblem, preparation: Preparation) -> FoldSpec:
        """Return the fold specification of a prepared problem, with its key computed.

        Bounds and the total mass do not affect factors: the model comes without them, so that other
        bounds need no new factors.
        """
        full_model = prepared.problem.model
        model = replace(full_model, bounds=None, total_mass=None)
        model.__dict__.update({"base": full_model.base, "reach": full_model.reach})
        spec = cls(
            robot=robot,
            model=model,
            preparation=preparation,
            delay=prepared.nuisance.delay,
            gains=prepared.nuisance.gains.values,
            interval=prepared.interval,
        )
        _ = spec.key, spec.columns, spec.reach
        return spec

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FoldSpec) and self.token == other.token

    def __hash__(self) -> int:
        return hash(self.token)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The parameters whose columns are folded."""
        return self.model.base.columns

    @cached_property
    def reach(self) -> ColumnSupport:
        """For each joint the columns that its torque depends on."""
        return self.model.reach

    @cached_property
    def identity(self) -> tuple[str | None, str]:
        """A digest of everything that a log's factor depends on beside its content.

        It covers every field, the columns, the source code, the versions of the packages that
        compute and read, and the kind of processor. None, with the reason, if something has no
        digest.
        """
        code = sources(PACKAGE)
        if code is None:
            return None, "source files have changed since the start"
        computing = (
            platform.python_version(),
            np.__version__,
            scipy.__version__,
            host().key,
            reader_versions(),
        )
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.compare}
        try:
            return (
                content_digest((code, computing, values, self.columns, self.reach), hashlib.sha256),
                "",
            )
        except NoDigest as error:
            return None, f"they depend on something that cannot be compared between runs ({error})"

    @property
    def key(self) -> str | None:
        """The digest of `identity`; None for a spec whose factors cannot be kept."""
        return self.identity[0]

    @property
    def most_bytes(self) -> int:
        """How many bytes a factor has at most."""
        triangles = sum((len(columns) + 1) ** 2 for columns in self.reach)
        return (
            8 * THRESHOLDS.parts_per_log * triangles
            + 8 * 3 * THRESHOLDS.states_per_log * self.robot.n
            + (1 << 20)
        )

    def problem(self, log: Log) -> Problem:
        """Return the problem of one log.

        Raises LogError if it cannot be identified from, or if only its base moves or rests.
        """
        if self.model.base.columns != self.columns:
            raise ProblemError(
                f"{log.where}this process finds other base parameters than the one that asked:"
                " install the same versions"
            )
        samples = prepare(self.robot, log, self.preparation)
        if (samples.base is not None) != self.model.moving:
            moves, others = ("moves", "rest") if samples.base is not None else ("rests", "move")
            raise LogError(
                f"{log.where}its base {moves} while the bases of the others {others}: identify "
                "from it by itself"
            )
        if samples.payload is not None:
            raise LogError(
                f"{log.where}the centre or inertia of its payload is not known, and it is estimated"
                " only from logs that fit into memory: give com= and inertia= of its Payload"
            )
        samples = samples.advanced(self.delay)
        samples = (
            samples if np.all(self.gains == 1.0) else replace(samples, tau=samples.tau * self.gains)
        )
        return Problem(self.model, (samples,), self.factor(samples))

    def factor(self, samples: Samples) -> int:
        """Return the decimation of samples: as requested, or to the common rate."""
        return self.preparation.decimate or max(
            1, round(self.interval / float(np.median(np.diff(samples.t))))
        )


def reader_versions() -> tuple[tuple[str, str], ...]:
    """Return the versions of the packages that read logs, by the table of formats."""
    names = {package.partition(".")[0] for row in LOG_FORMATS.values() for package in row.packages}
    versions = []
    for name in sorted(names):
        with suppress(PackageNotFoundError):
            versions.append((name, version(name)))
    return tuple(versions)


@lru_cache(maxsize=2)
def shared_copy(spec: FoldSpec) -> FoldSpec:
    """Return the first copy of this specification in the process, with its cached properties."""
    return spec

"""LogFactor: all that is kept of a log: its triangular factors, and where it has been."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiler.runtime.threads import threads
from ..model.accumulator import Accumulator, on_one_core
from ..result.validation import kept_states
from .factor_store import FactorStore
from .recipe import Recipe, first_of_equals
from .sources import Source, name_of, read_source

Array = NDArray[np.float64]
PARTS = 4  # consecutive parts of a log that are folded apart, so that its uncertainty can be told
POINTS = 2048  # states of a log that are kept, evenly spread


@dataclass(frozen=True, eq=False)
class LogFactor:
    """The factors of the consecutive parts of a log, how many samples it has, and some of its states: q, qd and qdd (3, K, n).

    `digest` is that of the log's content. `reused` says that the factor was found beside the log.
    """

    name: str
    digest: str
    samples: int
    parts: tuple[Accumulator, ...]
    states: Array
    remarks: tuple[str, ...] = ()
    reused: bool = False

    def to_bytes(self) -> bytes:
        """Return everything as the bytes of an npz file."""
        first = self.parts[0]
        told = {"name": self.name, "digest": self.digest, "samples": self.samples, "remarks": self.remarks, "width": first.width}
        told |= {"reach": [list(map(int, columns)) for columns in first.reach], "counts": [part.counts for part in self.parts]}
        factors: dict[str, Any] = {f"part{k}joint{j}": R for k, part in enumerate(self.parts) for j, R in enumerate(part.factors)}
        target = io.BytesIO()
        np.savez(target, told=np.frombuffer(json.dumps(told).encode(), np.uint8), states=self.states, **factors)
        return target.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> LogFactor:
        """Return what `to_bytes` wrote; it raises whatever comes for other bytes."""
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            told: dict[str, Any] = json.loads(arrays["told"].tobytes())
            reach = tuple(tuple(columns) for columns in told["reach"])
            parts = tuple(
                Accumulator(reach, told["width"], tuple(arrays[f"part{k}joint{j}"] for j in range(len(reach))), tuple(counts))
                for k, counts in enumerate(told["counts"])
            )
            return cls(told["name"], told["digest"], told["samples"], parts, arrays["states"], tuple(told["remarks"]), reused=True)


@on_one_core
def fold_log(source: Source, content: str, recipe: Recipe, store: FactorStore, cores: int) -> LogFactor:
    """Return the factor of one log: found where factors are kept, or made and kept there.

    `content` is the digest of the log. The factor depends on the log and the recipe alone: neither on the process that makes it, nor on how
    many cores it uses.
    """
    recipe = first_of_equals(recipe)
    kept = store.find(source, content, recipe.key)
    if kept is not None:
        with suppress(Exception):  # a damaged file that is kept beside a log is made anew
            return LogFactor.from_bytes(kept)
    with threads(cores):
        problem = recipe.problem(read_source(source, recipe.robot))
        parts = problem.accumulate(PARTS)
        made = LogFactor(name_of(source), content, problem.samples[0].N, parts, some_states(problem.samples), problem.samples[0].remarks)
    store.keep(source, content, recipe.key, made.to_bytes())
    return made


def some_states(samples: Sequence[Any]) -> Array:
    """Return q, qd and qdd (3, K, n) of at most POINTS samples, evenly spread."""
    states = np.stack(kept_states(samples, 1))
    at = np.linspace(0, states.shape[1] - 1, min(POINTS, states.shape[1])).astype(int)
    return np.asarray(states[:, at])

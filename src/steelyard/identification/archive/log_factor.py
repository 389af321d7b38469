"""LogFactor: all that is kept of a log: its triangular factors, and where it has been."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compiler.runtime.threads import threads
from ..model.accumulator import Accumulator, on_one_core
from ..result.validation import kept_states
from .factor_store import FactorStore, Kept
from .recipe import PARTS, POINTS, Recipe, first_of_equals
from .sources import Source, name_of, read_source

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LogFactor:
    """The factors of the consecutive parts of a log, how many samples it has, and some of its states: q, qd and qdd (3, K, n).

    `digest` is that of the log's content. `reused` says that the factor was found beside the log, `rejected` why one that was there
    was not used.
    """

    name: str
    digest: str
    samples: int
    parts: tuple[Accumulator, ...]
    states: Array
    remarks: tuple[str, ...] = ()
    reused: bool = False
    rejected: str = ""

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
    def from_bytes(cls, content: bytes, digest: str, reach: Sequence[Sequence[int]]) -> LogFactor:
        """Return what `to_bytes` wrote of the log with that digest, for columns in reach; it raises whatever comes for other bytes."""
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            told: dict[str, Any] = json.loads(arrays["told"].tobytes())
            columns = tuple(tuple(each) for each in told["reach"])
            if told["digest"] != digest or columns != tuple(map(tuple, reach)):
                raise ValueError("it is of another log or of another model")
            parts = tuple(
                Accumulator(columns, int(told["width"]), tuple(arrays[f"part{k}joint{j}"] for j in range(len(columns))), tuple(counts))
                for k, counts in enumerate(told["counts"])
            )
            made = cls(str(told["name"]), digest, int(told["samples"]), parts, arrays["states"], tuple(told["remarks"]), reused=True)
        made.check()
        return made

    def check(self) -> None:
        """Raise ValueError unless shapes and numbers are those of a factor."""
        if len(self.parts) != PARTS or self.samples < 1:
            raise ValueError("it has another number of parts, or no samples")
        for part in self.parts:
            shapes = [(len(columns) + 1, len(columns) + 1) for columns in part.reach]
            if [R.shape for R in part.factors] != shapes or len(part.counts) != len(shapes):
                raise ValueError("its factors have other shapes")
        n = len(self.parts[0].reach)
        if self.states.ndim != 3 or self.states.shape[::2] != (3, n) or not 1 <= self.states.shape[1] <= POINTS:
            raise ValueError("its states have another shape")
        numbers = [self.states, *(np.asarray(x) for part in self.parts for x in (*part.factors, part.counts))]
        if not all(x.dtype.kind in "fi" and np.all(np.isfinite(x)) for x in numbers):
            raise ValueError("its numbers are not finite")


@on_one_core
def fold_log(source: Source, content: str, recipe: Recipe, store: FactorStore, cores: int) -> LogFactor:
    """Return the factor of one log: found where factors are kept, or made and kept there.

    `content` is the digest of the log. The factor depends on the log and the recipe alone: neither on the process that makes it, nor on how
    many cores it uses. A kept one that cannot be trusted is made anew, and `rejected` says why.
    """
    recipe = first_of_equals(recipe)
    kept = store.find(source, content, recipe.most_bytes)
    if kept.content is not None:
        try:
            return LogFactor.from_bytes(kept.content, content, recipe.reach)
        except Exception as error:  # noqa: BLE001 whatever a damaged file makes of a reader
            kept = Kept(None, f"its content cannot be used: {error}")
    with threads(cores):
        problem = recipe.problem(read_source(source, recipe.robot))
        parts = problem.accumulate(PARTS)
        made = LogFactor(name_of(source), content, problem.samples[0].N, parts, some_states(problem.samples), problem.samples[0].remarks)
    store.keep(source, content, made.to_bytes())
    return replace(made, rejected=kept.reason)


def some_states(samples: Sequence[Any]) -> Array:
    """Return q, qd and qdd (3, K, n) of at most POINTS samples, evenly spread."""
    states = np.stack(kept_states(samples, 1))
    at = np.linspace(0, states.shape[1] - 1, min(POINTS, states.shape[1])).astype(int)
    return np.asarray(states[:, at])

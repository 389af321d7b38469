"""LogFactor: the triangular factors and some states of a log."""

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
from .factor_store import FactorStore, StoredFactor
from .fold_spec import FoldSpec, shared_copy
from .out_of_core_thresholds import THRESHOLDS
from .sources import Source, name_of, read_source

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LogFactor:
    """The factors of consecutive parts of a log, its samples and some states (3, K, n).

    States are q, qd and qdd. `digest` is the digest of the log's content. `reused` is True for a
    stored factor; `rejected` says why a stored one was not used.
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
        header = {
            "name": self.name,
            "digest": self.digest,
            "samples": self.samples,
            "remarks": self.remarks,
            "width": first.width,
        }
        header |= {
            "reach": [list(map(int, columns)) for columns in first.reach],
            "counts": [part.counts for part in self.parts],
        }
        factors: dict[str, Any] = {
            f"part{k}joint{j}": R
            for k, part in enumerate(self.parts)
            for j, R in enumerate(part.factors)
        }
        target = io.BytesIO()
        np.savez(
            target,
            told=np.frombuffer(json.dumps(header).encode(), np.uint8),
            states=self.states,
            **factors,
        )
        return target.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, digest: str, reach: Sequence[Sequence[int]]) -> LogFactor:
        """Return the factor that `to_bytes` wrote, for the log with that digest and these columns.

        It raises any exception for other bytes.
        """
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            header: dict[str, Any] = json.loads(arrays["told"].tobytes())
            columns = tuple(tuple(each) for each in header["reach"])
            if header["digest"] != digest or columns != tuple(map(tuple, reach)):
                raise ValueError("it is of another log or of another model")
            parts = tuple(
                Accumulator(
                    columns,
                    int(header["width"]),
                    tuple(arrays[f"part{k}joint{j}"] for j in range(len(columns))),
                    tuple(counts),
                )
                for k, counts in enumerate(header["counts"])
            )
            factor = cls(
                name=str(header["name"]),
                digest=digest,
                samples=int(header["samples"]),
                parts=parts,
                states=arrays["states"],
                remarks=tuple(header["remarks"]),
                reused=True,
            )
        factor.check()
        return factor

    def check(self) -> None:
        """Raise ValueError unless shapes and numbers are valid."""
        if len(self.parts) != THRESHOLDS.parts_per_log or self.samples < 1:
            raise ValueError("it has another number of parts, or no samples")
        for part in self.parts:
            shapes = [(len(columns) + 1, len(columns) + 1) for columns in part.reach]
            if [R.shape for R in part.factors] != shapes or len(part.counts) != len(shapes):
                raise ValueError("its factors have other shapes")
        n = len(self.parts[0].reach)
        if (
            self.states.ndim != 3
            or self.states.shape[::2] != (3, n)
            or not 1 <= self.states.shape[1] <= THRESHOLDS.states_per_log
        ):
            raise ValueError("its states have another shape")
        numbers = [
            self.states,
            *(np.asarray(x) for part in self.parts for x in (*part.factors, part.counts)),
        ]
        if not all(x.dtype.kind in "fi" and np.all(np.isfinite(x)) for x in numbers):
            raise ValueError("its numbers are not finite")


@on_one_core
def fold_log(
    source: Source, content: str, spec: FoldSpec, store: FactorStore, cores: int
) -> LogFactor:
    """Return the factor of one log, from the store or computed and stored.

    `content` is the digest of the log. The factor depends on the log and the specification alone,
    neither on the process nor on the number of cores. A stored factor that cannot be trusted is
    computed again, and `rejected` says why.
    """
    spec = shared_copy(spec)
    stored = store.find(source, content, spec.most_bytes)
    if stored.content is not None:
        try:
            return LogFactor.from_bytes(stored.content, content, spec.reach)
        except Exception as error:  # noqa: BLE001 a damaged file can raise any error
            stored = StoredFactor(None, f"its content cannot be used: {error}")
    with threads(cores):
        problem = spec.problem(read_source(source, spec.robot))
        parts = problem.accumulate(THRESHOLDS.parts_per_log)
        factor = LogFactor(
            name=name_of(source),
            digest=content,
            samples=problem.samples[0].N,
            parts=parts,
            states=some_states(problem.samples),
            remarks=problem.samples[0].remarks,
        )
    store.keep(source, content, factor.to_bytes())
    return replace(factor, rejected=stored.reason)


def some_states(samples: Sequence[Any]) -> Array:
    """Return q, qd and qdd (3, K, n) of at most `states_per_log` samples, evenly spread."""
    states = np.stack(kept_states(samples, 1))
    indices = np.linspace(
        0, states.shape[1] - 1, min(THRESHOLDS.states_per_log, states.shape[1])
    ).astype(int)
    return np.asarray(states[:, indices])

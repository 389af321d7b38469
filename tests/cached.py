"""A small program, a kernel cache of its own, and a record of what is compiled, for the tests of
the cache.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from steelyard.compiler.ir.program import Operand, Program, trace
from steelyard.compiler.runtime import cache, jit
from steelyard.compiler.runtime.kernel import Kernel


def program(factor: float = 3.0) -> Program:
    return trace(
        "scaled",
        lambda x: [factor * x[0], x[1].sin()],
        [Operand("x", (2,), "[m]")],
        [Operand("z", (2,), "[N]")],
    )


def works(result: Kernel, factor: float = 3.0) -> bool:
    return bool(np.allclose(result([[2.0, 0.5]]), [[2.0 * factor, np.sin(0.5)]], rtol=1e-15))


def refused() -> Program:
    raise AssertionError("this was on disk and needed no tracing")


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "deep" / "cache"
    monkeypatch.setenv("STEELYARD_CACHE", str(folder))
    monkeypatch.setattr(cache, "SELDOM", 1)
    return folder


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What has been compiled, in order: one text per compilation."""
    seen: list[str] = []
    compile_object = jit.compile_object
    monkeypatch.setattr(
        jit, "compile_object", lambda text, *rest: seen.append(text) or compile_object(text, *rest)
    )
    return seen


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir())

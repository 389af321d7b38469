"""Where a measurement was made: processor, cores, versions, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..version import __version__


@dataclass(frozen=True, slots=True)
class Machine:
    """What a number in a table depends on besides the code."""

    cpu: str
    cores: int
    python: str
    packages: tuple[tuple[str, str], ...]
    commit: str
    load: float = 0.0

    @property
    def busy(self) -> str:
        """A sentence where so much else runs that times mean little, else nothing."""
        return (
            f"The machine is busy (load {self.load:.1f} on {self.cores} cores): run this again when it is not."
            if self.load > 0.6 * self.cores
            else ""
        )

    def __str__(self) -> str:
        listed = ", ".join(f"{name} {number}" for name, number in self.packages)
        return f"steelyard {__version__} ({self.commit}) on {self.cpu}, {self.cores} cores; Python {self.python}, {listed}"


def this_machine() -> Machine:
    """The machine and the checkout this runs in; the commit is 'installed' outside a checkout."""
    names = ("numpy", "llvmlite", "pin")
    packages = tuple((name, number) for name in names if (number := _version(name)))
    return Machine(_cpu(), os.cpu_count() or 1, platform.python_version(), packages, _commit(), _load())


def _load() -> float:
    """How many processes wanted to run in the last minute, where the system tells."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _commit() -> str:
    """Short hash of the checkout that holds this file, with a + where files differ from it."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return "installed"
    try:
        short = _git(root, "rev-parse", "--short", "HEAD")
        return short + ("+" if _git(root, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown commit"


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout.strip()

"""Where a measurement was made: processor, cores, versions, commit, and how busy the machine is."""

from __future__ import annotations

import os
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from steelyard.checks.timing import machine_summary

ROOT = Path(__file__).resolve().parents[1]


def this_machine() -> str:
    """The machine, the packages and the commit of this checkout.

    A warning where so much else runs that times mean little.
    """
    packages = ", ".join(f"{name} {_version(name)}" for name in ("llvmlite", "pin"))
    cores, load = os.cpu_count() or 1, os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    busy = (
        f" The machine is busy (load {load:.1f} on {cores} cores): run this again when it is not."
        if load > 0.6 * cores
        else ""
    )
    return f"{machine_summary()}, {packages}; commit {_commit()}.{busy}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _commit() -> str:
    """Short hash of the checkout, with a + if files differ from it."""
    try:
        short = _git("rev-parse", "--short", "HEAD")
        return short + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True
    ).stdout.strip()

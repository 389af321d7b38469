"""Robots that come with the package: TOML files in the folder `robots`."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from typing import Any

from ..errors import ModelError, choices
from .mechanism import Mechanism, Source
from .toml import read_toml


def robots() -> list[str]:
    """Names of the built-in robots, sorted."""
    return sorted(entry.name.removesuffix(".toml") for entry in _folder().iterdir() if entry.name.endswith(".toml"))


def builtin(name: str) -> Mechanism:
    """The built-in robot of that name, in upper or lower case."""
    found = name.lower()
    if found not in robots():
        raise ModelError(f"no built-in robot is called {name!r}; {choices(found, robots())}")
    text = (_folder() / f"{found}.toml").read_text(encoding="utf-8")
    return replace(read_toml(text, f"{found}.toml", warn=False), source=Source("builtin", text))


def _folder() -> Any:
    return resources.files(__package__) / "robots"

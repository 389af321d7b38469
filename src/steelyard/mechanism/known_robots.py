"""Robots that are loaded by name: built-in ones and ones of installed packages.

A name means the built-in robot where there is one, otherwise the robot of example-robot-data.
`built-in/NAME`, `example-robot-data/NAME` and `robot_descriptions/NAME` name one of them alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from ..errors import MissingExtra, ModelError, suggest, translate_errors

BUILT_IN, EXAMPLES, DESCRIPTIONS = "built-in", "example-robot-data", "robot_descriptions"
_MODULE = re.compile(r"[a-z0-9_]+")
_PATHS = ("URDF_PATH", "MJCF_PATH")


class RobotNames(list[str]):
    """Names of robots, with their sources; printed as one line per robot.

    Parameters
    ----------
    sources : package of each robot by its name.

    Examples
    --------
    >>> sy.robots().sources["ur5e"]
    'built-in'
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        super().__init__(sources)
        self.sources = dict(sources)

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:{width}}  {source}" for name, source in self.sources.items())


def robots(installed: bool = True) -> RobotNames:
    """Return the names of the robots that `load` knows, built-in ones first.

    Robots of the package example-robot-data are among them where it is installed. Robots of
    robot_descriptions, which downloads them, are not: "robot_descriptions/ur5e_description".

    Parameters
    ----------
    installed : whether robots of installed packages are among them.

    Returns
    -------
    A list of names, whose `sources` has the package of each.

    Examples
    --------
    >>> "puma560" in sy.robots()
    True
    """
    others = example_files() if installed else {}
    names = built_in_names()
    return RobotNames(
        dict.fromkeys(names, BUILT_IN)
        | {name: EXAMPLES for name in sorted(others) if name not in names}
    )


def built_in_names() -> list[str]:
    """Return the names of the built-in robots, sorted."""
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in _folder().iterdir()
        if entry.name.endswith(".toml")
    )


def built_in_text(name: str) -> str:
    """Return the TOML of a built-in robot."""
    return str((_folder() / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def example_files() -> dict[str, Path]:
    """Return the URDF files of example-robot-data by name; empty where it is not installed.

    A robot is called like its file, in lower case; like its folder where files share a name.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        package = distribution(EXAMPLES)
    except PackageNotFoundError:
        return {}
    folder = Path(str(package.locate_file(f"cmeel.prefix/share/{EXAMPLES}/robots")))
    files = sorted(folder.glob("*/*/*.urdf"))
    count = Counter(path.stem.lower() for path in files)
    return {
        path.stem.lower() if count[path.stem.lower()] == 1 else _folder_name(path): path
        for path in files
    }


def _folder_name(path: Path) -> str:
    return path.parts[-3].lower().removesuffix("_description").removesuffix("_data")


def in_package(name: str) -> tuple[str, str] | None:
    """Return the package and the name in it of a name such as "built-in/panda"; None for others."""
    package, slash, robot = name.partition("/")
    known = package in (BUILT_IN, EXAMPLES, DESCRIPTIONS) and slash and "/" not in robot
    return (package, robot.lower()) if known else None


def require_name(name: str, names: Iterable[str], package: str) -> str:
    """Return a name of a package in lower case."""
    known = list(names)
    if name.lower() not in known:
        raise ModelError(f"{package} has no robot {name!r}; {suggest(name.lower(), known)}")
    return name.lower()


def description_path(name: str) -> Path:
    """Return the URDF or MJCF file of a robot of robot_descriptions, which may download it."""
    where = f"{DESCRIPTIONS}/{name}"
    if importlib.util.find_spec(DESCRIPTIONS) is None:
        raise MissingExtra(
            f"{where} needs the package '{DESCRIPTIONS}', which is not installed: pip install"
            f" {DESCRIPTIONS}"
        )
    names = [name, f"{name}_description", f"{name}_mj_description"]
    modules = [f"{DESCRIPTIONS}.{each}" for each in names if _MODULE.fullmatch(each)]
    existing = next((each for each in modules if importlib.util.find_spec(each)), None)
    if existing is None or name.startswith("_"):
        raise ModelError(
            f"{DESCRIPTIONS} has no robot {name!r}; `python -m {DESCRIPTIONS} list` names them"
        )
    with translate_errors(f"{where}: it could not be downloaded", ModelError):
        module = importlib.import_module(existing)
    path = next((getattr(module, each) for each in _PATHS if hasattr(module, each)), None)
    if path is None:
        raise ModelError(f"{where}: it has neither a URDF nor an MJCF file")
    return Path(path)


def _folder() -> Any:
    return resources.files(__package__) / "robots"

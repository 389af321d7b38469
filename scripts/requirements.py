"""Print the dependencies of pyproject.toml for the core and the report, one in a line.

With --oldest, each at its lower bound.

Usage: python scripts/requirements.py [--oldest]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
EXTRAS = ("report",)


def requirements(oldest: bool) -> Iterator[str]:
    """Yield the requirements, as pip takes them.

    An assertion fails where one has no lower bound.
    """
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    for line in (
        *project["dependencies"],
        *(each for extra in EXTRAS for each in project["optional-dependencies"][extra]),
    ):
        assert re.match(r"[\w.-]+>=[\w.]+", line), (
            f"{line}: a lower bound is expected, such as numpy>=2.0"
        )
        yield re.sub(r">=([\w.]+)(,[^;]*)?", r"==\1", line) if oldest else line


if __name__ == "__main__":
    print("\n".join(requirements("--oldest" in sys.argv[1:])))

"""Pages from the templates of the assets."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from ..drawing.visible import escape_control_chars
from ..errors import needs_extra
from ..version import __version__


def from_template(name: str, **values: Any) -> str:
    """Return a page of the assets with its values filled in."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise needs_extra("jinja2", "report", "writing a report") from None
    shown = {
        "autoescape": True,
        "finalize": lambda value: escape_control_chars(value) if type(value) is str else value,
    }
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, **shown
    )
    return environment.from_string(asset("macros.html") + asset(name)).render(
        version=__version__, **values
    )


def asset(name: str) -> str:
    """Return a file of the assets."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")

"""The report: one HTML file that needs no network, now or in ten years."""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..drawing.figure import Figure
from ..errors import needs_extra
from ..files import write_whole
from ..version import __version__
from .content import Content, gather

if TYPE_CHECKING:
    from ..robot import Robot


def report(fit: Any, path: str | os.PathLike[str], validation: Any = None, truth: Robot | None = None, overwrite: bool = False) -> Path:
    """Write what a fit says into one offline HTML file, and return its path.

    `validation` is another log, or fit.validate(log) of it; `truth` is the true robot where it is known, as in a simulation.
    Verdict, measured against predicted torque [N m|N], residuals, base parameters with two standard deviations, errors before and
    after, singular values, what to do next, provenance. An existing file is left alone unless `overwrite`.
    """
    validation = validation if validation is None or hasattr(validation, "total_relative_error") else fit.validate(validation)
    text = render(gather(fit, validation, truth))
    write_whole(path, text, overwrite)
    return Path(path)


def render(content: Content) -> str:
    """The page as text."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise needs_extra("jinja2", "report", "writing a report") from None
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["figure"] = figure_json
    style = _part("style.css")
    template = environment.from_string(_part("report.html"))
    return template.render(content=content, style=style, script=_part("charts.js"), library=plotting_library(), version=__version__)


def figure_json(figure: Figure) -> str:
    """A figure as JSON that is safe inside a script element."""
    text = json.dumps({"data": figure.traces, "layout": figure.layout | {"height": figure.height}}, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def plotting_library() -> str:
    """The JavaScript of the installed plotly, to be put into the page as it is."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise needs_extra("plotly", "report", "writing a report") from None
    return str(get_plotlyjs()).replace("</script", "<\\/script")


def _part(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")

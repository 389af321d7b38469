"""Two fits beside each other: of this window, or saved before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ....identification.figures.torque_figures import error_figure
from ....reporting.compare import compared_fits, difference_table
from ....reporting.saved_fit import SavedFit, saved_fit
from .. import code_snippets
from ..server.uploads import FIT_KINDS
from ..window import NamedFit, NamedSavedFit, PageWindow
from .controls import Snippet, choice, field, guarded, part, table_element
from .opening import upload_field
from .plots import plot
from .robot_view import RobotView

NONE = ""
IMPORTS = (
    "from pathlib import Path",
    "from steelyard.reporting.compare import difference_table",
    "from steelyard.reporting.saved_fit import SavedFit, saved_fit",
)


@dataclass(frozen=True, eq=False)
class Side:
    """A fit that can be compared, what it is called, and the lines that make it."""

    name: str
    fit: SavedFit
    lines: tuple[str, ...]


class CompareTab:
    """The tab that compares."""

    def __init__(self, window: PageWindow, robot_view: RobotView) -> None:
        self.window = window
        part("h2", "Compare two fits")
        files = {NONE: "choose …"} | {name: name for name in window.folder.files(FIT_KINDS)}
        with part("div", classes="fields"):
            with field("A saved fit"):
                choice("A fit.json of the folder", files, NONE, self._open, id="choose-fit")
            upload_field(window, "fit", "Upload a fit.json", FIT_KINDS)
        self.place = part("div")
        self._build()

    def _build(self) -> None:
        """Show the sides to choose from, and the latest two of them."""
        fits: list[NamedFit | NamedSavedFit] = [*self.window.fits, *self.window.saved]
        self.sides = [side_of(each) for each in fits]
        self.chosen = [len(self.sides) - 2, len(self.sides) - 1]
        self.place.clear()
        with self.place:
            if len(self.sides) < 2:
                part(
                    "p",
                    "Identify twice, with another log or another estimator, or open a fit.json that"
                    " was saved.",
                    "note",
                )
                return
            with part("div", classes="fields"):
                for side, text in enumerate(("First", "Second")):
                    with field(text):
                        names = {str(k): each.name for k, each in enumerate(self.sides)}
                        choice(
                            f"{text} fit",
                            names,
                            str(self.chosen[side]),
                            partial(self._choose, side),
                        )
            self.shown = part("div")
        self._show()

    def _open(self, name: str) -> None:
        def opened() -> bool:
            self.window.take_fit(saved_fit(self.window.folder.inside(name)), name)
            return True

        if name != NONE and guarded(opened):
            self._build()

    def _choose(self, side: int, value: str) -> None:
        if value.isdecimal() and int(value) < len(self.sides):
            self.chosen[side] = int(value)
            self._show()

    def _show(self) -> None:
        a, b = (self.sides[k] for k in self.chosen)
        names = (a.name, b.name) if a.name != b.name else (a.name, f"{b.name} again")
        self.shown.clear()
        with self.shown:
            part("p", f"{a.name}: {a.fit.word}. {b.name}: {b.fit.word}.", "lead")
            both = zip(names, (a, b), strict=True)
            plot(
                error_figure(
                    a.fit.joint_names, [(name, each.fit.relative_error) for name, each in both]
                ),
                "Errors of both",
            )
            table_element(compared_fits(a.fit, b.fit, names))
            table_element(difference_table(a.fit, b.fit, names))
            lines = [
                line.replace("fit = ", f"{letter} = ")
                for letter, each in (("a", a), ("b", b))
                for line in each.lines
            ]
            Snippet(
                code_snippets.python_lines(
                    self.window,
                    *IMPORTS,
                    *lines,
                    'print(difference_table(a, b, ("a", "b")).to_text())',
                )
            )


def side_of(each: NamedFit | NamedSavedFit) -> Side:
    """Return a fit as one side of a comparison."""
    if isinstance(each, NamedSavedFit):
        return Side(each.name, each.fit, (each.python,))
    lines = [line for line in each.python.splitlines() if line.startswith(("log = ", "fit = "))]
    return Side(each.name, SavedFit.of(each.fit), (*lines, "fit = SavedFit.of(fit)"))

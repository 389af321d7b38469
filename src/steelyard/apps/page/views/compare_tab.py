"""Two fits beside each other."""

from __future__ import annotations

from functools import partial

from ....reporting.compare import compared_fits, difference_table
from ....reporting.figures import errors
from .. import recipes
from ..window import Window
from .controls import Recipe, choice, field, part, table
from .plots import plot
from .stage import Stage


class CompareTab:
    """The tab that compares."""

    def __init__(self, window: Window, stage: Stage) -> None:
        self.window = window
        part("h2", "Compare two fits")
        if len(window.fits) < 2:
            part("p", "Identify twice first: with another log, or with another estimator. The fits of this window are listed here.", "note")
            return
        self.chosen = [len(window.fits) - 2, len(window.fits) - 1]
        with part("div", classes="fields"):
            for side, text in enumerate(("First", "Second")):
                with field(text):
                    names = {str(k): each.name for k, each in enumerate(window.fits)}
                    choice(f"{text} fit", names, str(self.chosen[side]), partial(self._choose, side))
        self.place = part("div")
        self._show()

    def _choose(self, side: int, value: str) -> None:
        if value.isdecimal() and int(value) < len(self.window.fits):
            self.chosen[side] = int(value)
            self._show()

    def _show(self) -> None:
        a, b = (self.window.fits[k] for k in self.chosen)
        names = (a.name, b.name) if a.name != b.name else (a.name, f"{b.name} again")
        self.place.clear()
        with self.place:
            part("p", f"{a.name}: {a.fit.verdict.word}. {b.name}: {b.fit.verdict.word}.", "lead")
            plot(
                errors(a.fit.model.row_names, [(name, each.fit.relative_error) for name, each in zip(names, (a, b), strict=True)]),
                "Errors of both",
            )
            table(compared_fits(a.fit, b.fit, names))
            table(difference_table(a.fit, b.fit, names))
            lines = [each.python.splitlines()[-2].replace("fit = ", f"{name} = ") for name, each in (("a", a), ("b", b))]
            more = ("from steelyard.reporting.compare import difference_table", 'print(difference_table(a, b, ("a", "b")))')
            Recipe(recipes.python_lines(self.window, *lines, *more, log=True))

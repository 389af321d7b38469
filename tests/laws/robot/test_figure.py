"""Figure: details of `figure`."""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot

from steelyard.drawing.figure import Curve, Figure, Panel
from steelyard.drawing.matplotlib_renderer import to_matplotlib


def test_a_figure_has_room_for_its_rows_and_three_quarters_of_an_inch_for_labels() -> None:
    panel = Panel(marks=(Curve(x=np.arange(3.0), y=np.arange(3.0)),))
    results = [
        to_matplotlib(Figure(name="f", rows=((panel,),) * rows), "page", row_height=2.0)
        for rows in (1, 3)
    ]
    assert [figure.get_size_inches()[1] for figure in results] == [2.75, 6.75]
    for figure in results:
        pyplot.close(figure)

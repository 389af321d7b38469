"""A mechanism in space as a Matplotlib figure.

Links as lines, joints with their axes, centres of mass by their weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .colours import BLUE, GREEN, GREY, INK, ORANGE, WINE
from .matplotlib_renderer import STYLE, figure_width, plotting_library
from .visible import escape_control_chars

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
AXIS = 0.09  # length of the drawn axes, of the size of the mechanism
FRAME_COLOURS = (WINE, GREEN, BLUE)  # x, y, z


@dataclass(frozen=True, eq=False)
class Skeleton:
    """What is drawn, in the base frame [m].

    `links` are lines (k, 3), joints have points, unit axes (n, 3) and names.

    Those that slide are squares. `centres` (b, 3) have masses (b,) [kg]; `frames` are poses (4, 4)
    by name.
    """

    links: Sequence[Array]
    points: Array
    axes: Array
    names: Sequence[str]
    sliding: NDArray[np.bool_]
    centres: Array
    masses: Array
    frames: dict[str, Array]

    @property
    def corners(self) -> tuple[Array, float]:
        """The middle (3,) of a cube that holds everything, and its side [m]."""
        everything = np.concatenate([*self.links, self.points, self.centres, np.zeros((1, 3))])
        everything = everything[np.all(np.isfinite(everything), axis=1)]
        low, high = everything.min(axis=0), everything.max(axis=0)
        return (low + high) / 2, max(float(np.max(high - low)), 1e-3)


def draw_skeleton(
    ghosts: Sequence[Skeleton], width: str | float = "column", title: str = ""
) -> Figure:
    """Return the figure of a mechanism in one position or in several, the last one in full."""
    inches = figure_width(width)
    pyplot = plotting_library()
    with pyplot.rc_context(STYLE):
        canvas = pyplot.figure(figsize=(inches, inches))
        axes = canvas.add_axes((0.0, 0.04, 0.92, 0.9), projection="3d")
        for shown in ghosts[:-1]:
            _lines(axes, shown, 0.25)
        _body(axes, ghosts[-1])
        _view(axes, ghosts)
        if title:
            canvas.suptitle(
                escape_control_chars(title), fontsize=9, fontweight="bold", x=0.02, ha="left"
            )
    return canvas


def _lines(axes: Any, shown: Skeleton, opacity: float = 1.0) -> None:
    for link in shown.links:
        axes.plot(*link.T, color=INK, linewidth=2.4, solid_capstyle="round", alpha=opacity)


def _body(axes: Any, shown: Skeleton) -> None:
    _lines(axes, shown)
    side = AXIS * shown.corners[1]
    for point, axis, name, slides in zip(
        shown.points, shown.axes, shown.names, shown.sliding, strict=True
    ):
        ends = np.stack([point - side * axis, point + side * axis])
        axes.plot(*ends.T, color=ORANGE, linewidth=1.2)
        axes.plot(*point[:, None], "s" if slides else "o", color=ORANGE, markersize=3.5)
        axes.text(*(point + 1.15 * side * axis), escape_control_chars(name), fontsize=6, color=GREY)
    heavy = shown.masses > 0
    if heavy.any():
        # areas of balls of one density
        size = 60.0 * (shown.masses[heavy] / shown.masses.max()) ** (2 / 3)
        axes.scatter(
            *shown.centres[heavy].T, s=size, color=BLUE, alpha=0.55, linewidths=0, depthshade=False
        )
    for pose in ({"base": np.eye(4)} | shown.frames).values():
        for colour, direction in zip(FRAME_COLOURS, pose[:3, :3].T, strict=True):
            axes.plot(
                *np.stack([pose[:3, 3], pose[:3, 3] + side * direction]).T,
                color=colour,
                linewidth=1.0,
            )
    for name, pose in shown.frames.items():
        axes.text(*pose[:3, 3], f" {escape_control_chars(name)}", fontsize=6, color=INK)


def _view(axes: Any, ghosts: Sequence[Skeleton]) -> None:
    """Set equal scales, metres, and a view from the front and a little above."""
    middles, sides = zip(*(each.corners for each in ghosts), strict=True)
    low = np.min([m - s / 2 for m, s in zip(middles, sides, strict=True)], axis=0)
    high = np.max([m + s / 2 for m, s in zip(middles, sides, strict=True)], axis=0)
    middle, half = (low + high) / 2, 0.55 * float(np.max(high - low))
    axes.set(
        xlim=(middle[0] - half, middle[0] + half),
        ylim=(middle[1] - half, middle[1] + half),
        zlim=(middle[2] - half, middle[2] + half),
    )
    axes.set_box_aspect((1, 1, 1), zoom=1.05)
    for name in "xyz":
        getattr(axes, f"set_{name}label")(f"{name} [m]", labelpad=-2)
        axes.tick_params(axis=name, pad=-1)
    axes.view_init(elev=20, azim=-50)
    for each in (axes.xaxis, axes.yaxis, axes.zaxis):
        each.set_pane_color((1, 1, 1, 1))
        each.set_major_locator(_few_ticks())


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)

"""A mechanism in space as an SVG picture without a plotting library.

Links as tubes, joints as drums about their axes, masses as balls.

Colours are CSS variables of the surrounding page, with defaults for white paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from .colours import BLUE, FAMILY, GREEN, GREY, INK, ORANGE, RULE, WINE
from .numbers import short
from .skeleton import Skeleton
from .visible import escape_control_chars

Array = NDArray[np.float64]
AZIMUTH, ELEVATION = np.radians(-50.0), np.radians(20.0)  # of the viewer
TOWARDS = np.array(
    [np.cos(ELEVATION) * np.cos(AZIMUTH), np.cos(ELEVATION) * np.sin(AZIMUTH), np.sin(ELEVATION)]
)
ACROSS = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
UPWARDS = np.cross(TOWARDS, ACROSS)
# px: the drawing, its margin, the names beside it, the height of one
SIDE, MARGIN, COLUMN, LINE = 420.0, 22.0, 120.0, 17.0
MOST_NAMED = 24  # joints; the names of more would hide each other
# widths, radius, half height and lengths, of the size of the mechanism
TUBE, DRUM, HEIGHT, BALL, FRAME = 0.028, 0.034, 0.04, 0.05, 0.09
CIRCLE = np.linspace(0.0, 2 * np.pi, 24, endpoint=False)
STYLE = (
    f".sk-tube{{stroke:var(--ink,{INK});stroke-linecap:round}}"
    f".sk-core{{stroke:var(--steel,#77808e);stroke-linecap:round}}"
    f".sk-ghost{{stroke:var(--soft,{GREY});stroke-linecap:round;opacity:.22}}"
    f".sk-floor{{stroke:var(--rule,{RULE})}}"
    f".sk-side{{fill:var(--drum,#b5631d)}}"
    f".sk-cap{{fill:var(--orange,{ORANGE})}}"
    f".sk-mass{{fill:var(--blue,{BLUE});opacity:.5}}"
    f".sk-lead{{stroke:var(--soft,{GREY});fill:none;stroke-width:.7}}"
    f".sk-name{{fill:var(--soft,#5b6370)}}"
    f".sk-x{{stroke:var(--wine,{WINE})}}"
    f".sk-y{{stroke:var(--green,{GREEN})}}"
    f".sk-z{{stroke:var(--blue,{BLUE})}}"
)


class Camera:
    """Where points of space [m] are on the paper [px].

    Parallel projection, seen from the front and a little above.
    """

    def __init__(self, ghosts: Sequence[Skeleton]) -> None:
        everything = np.concatenate(
            [
                np.concatenate([*each.links, each.points, each.centres, np.zeros((1, 3))])
                for each in ghosts
            ]
        )
        everything = everything[np.all(np.isfinite(everything), axis=1)]
        self.size = max(float(np.max(np.ptp(everything, axis=0))), 1e-3)
        self.grid = _round_length(0.22 * self.size)  # sides of the floor's squares [m]
        corners = 2 * self.grid * np.array([(a, b, 0.0) for a in (-1, 1) for b in (-1, 1)])
        reach = (
            1.1
            * FRAME
            * self.size
            * np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)])
        )
        corners_shown = np.concatenate(
            [(everything[:, None] + 0.6 * reach).reshape(-1, 3), corners]
        )
        flat = np.stack([corners_shown @ ACROSS, corners_shown @ UPWARDS], axis=1)
        self.low, self.high = flat.min(axis=0), flat.max(axis=0)
        self.scale = (SIDE - 2 * MARGIN) / float(np.max(self.high - self.low))

    @property
    def extent(self) -> tuple[float, float]:
        """Width and height [px] of what is drawn."""
        width, height = (self.high - self.low) * self.scale + 2 * MARGIN
        return float(width), float(height)

    def __call__(self, points: Array) -> Array:
        """Return points (..., 3) [m] on the paper, (..., 2) [px]."""
        x = (points @ ACROSS - self.low[0]) * self.scale + MARGIN
        y = (self.high[1] - points @ UPWARDS) * self.scale + MARGIN
        return np.stack([x, y], axis=-1)


def skeleton_svg(ghosts: Sequence[Skeleton], title: str = "") -> str:
    """Return the picture of a mechanism in several positions, all but the last one faint."""
    camera, shown = Camera(ghosts), ghosts[-1]
    named = len(shown.names) <= MOST_NAMED
    (width, height), about = (
        camera.extent,
        escape(escape_control_chars(title or "mechanism"), quote=True),
    )
    height = max(height, LINE * (len(shown.names) + 2)) if named else height
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + COLUMN * named:.0f}'
            f' {height:.0f}" role="img" aria-label="{about}"'
            f' font-family="{escape(FAMILY, quote=True)}"'
            f' font-size="12"><title>{about}</title><style>{STYLE}</style>'
        ),
        *_floor(camera),
        *(
            _line(camera(link), "sk-ghost", TUBE * camera.size * camera.scale)
            for each in ghosts[:-1]
            for link in each.links
        ),
        *_body(camera, shown),
        *_frames(camera, shown),
        *(_names(camera, shown, width, height) if named else ()),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _floor(camera: Camera) -> list[str]:
    """Return a grid in the plane of the base and the length of its sides."""
    step = camera.grid
    ends = 2 * step * np.array([-1.0, 1.0])
    lines = [[(k * step, e, 0.0) for e in ends] for k in range(-2, 3)] + [
        [(e, k * step, 0.0) for e in ends] for k in range(-2, 3)
    ]
    parts = [_line(camera(np.array(line)), "sk-floor", 1.0) for line in lines]
    x, y = camera(np.array([2 * step, -2 * step, 0.0]))
    width, height = camera.extent
    x, y = min(max(float(x), 4.0), width - 90.0), min(float(y) + 14.0, height - 6.0)
    return [
        *parts,
        f'<text class="sk-name" x="{x:.0f}" y="{y:.0f}" font-size="11">grid {short(step)} m</text>',
    ]


def _round_length(about: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is not above."""
    power = 10.0 ** np.floor(np.log10(about))
    return float(max(k * power for k in (1, 2, 5) if k * power <= about * (1 + 1e-9)))


def _body(camera: Camera, shown: Skeleton) -> list[str]:
    """Return links, joints and masses, the farthest first."""
    pixel, drawn = camera.size * camera.scale, list[tuple[float, str]]()
    for link in shown.links:
        tube = _line(camera(link), "sk-tube", TUBE * pixel) + _line(
            camera(link), "sk-core", 0.55 * TUBE * pixel
        )
        drawn.append((float(np.mean(link @ TOWARDS)), tube))
    for point, axis, slides in zip(shown.points, shown.axes, shown.sliding, strict=True):
        drawn.append(
            (float(point @ TOWARDS) + DRUM * camera.size, _drum(camera, point, axis, bool(slides)))
        )
    heaviest = float(np.max(shown.masses, initial=0.0))
    for centre, mass in zip(shown.centres, shown.masses, strict=True):
        if mass > 0:
            x, y = camera(centre)
            radius = max(1.5, BALL * pixel * (mass / heaviest) ** (1 / 3))  # balls of one density
            ball = f'<circle class="sk-mass" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
            drawn.append((np.inf, ball))
    return [text for _, text in sorted(drawn, key=lambda item: item[0])]


def _drum(camera: Camera, point: Array, axis: Array, slides: bool) -> str:
    """Return a cylinder about the axis of a joint; a box for one that slides."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, helper)
    first /= np.linalg.norm(first)
    angles = np.pi / 4 + np.arange(4) * np.pi / 2 if slides else CIRCLE
    rim = (
        DRUM
        * camera.size
        * (np.outer(np.cos(angles), first) + np.outer(np.sin(angles), np.cross(axis, first)))
    )
    near = axis if axis @ TOWARDS >= 0 else -axis
    caps = [camera(point + side * HEIGHT * camera.size * near + rim) for side in (-1.0, 1.0)]
    return (
        f"<g>{_polygon(_outline(np.concatenate(caps)), 'sk-side')}{_polygon(caps[1], 'sk-cap')}</g>"
    )


def _outline(points: Array) -> Array:
    """Return the convex outline of points (N, 2) in order.

    Andrew, Information Processing Letters 9 (1979), p. 216.
    """
    ordered = sorted(map(tuple, points.tolist()))

    def half(several: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
        chain: list[tuple[float, ...]] = []
        for p in several:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def _turn(a: Sequence[float], b: Sequence[float], c: Sequence[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _frames(camera: Camera, shown: Skeleton) -> list[str]:
    parts = []
    for pose in (np.eye(4), *shown.frames.values()):
        for name, direction in zip("xyz", pose[:3, :3].T, strict=True):
            ends = np.stack([pose[:3, 3], pose[:3, 3] + FRAME * camera.size * direction])
            parts.append(_line(camera(ends), f"sk-{name}", 1.6))
    return parts


def _names(camera: Camera, shown: Skeleton, margin: float, height: float) -> list[str]:
    """Return the joint names in a column beside the picture, each with a line to its joint."""
    points = camera(shown.points)
    order = np.argsort(points[:, 1], kind="stable")
    y = points[order, 1].copy()
    for k in range(1, len(y)):
        y[k] = max(y[k], y[k - 1] + LINE)
    for k in range(len(y) - 1, -1, -1):
        y[k] = min(y[k], height - LINE * (len(y) - k))
    parts = []
    for k, level in zip(order, y, strict=True):
        x, height_there = points[k]
        parts.append(
            f'<path class="sk-lead" d="M{x:.1f} {height_there:.1f}L{margin - 8:.1f}'
            f' {level:.1f}H{margin - 2:.1f}"/>'
        )
        parts.append(
            f'<text class="sk-name" x="{margin + 2:.1f}"'
            f' y="{level + 4:.1f}">{escape(escape_control_chars(shown.names[int(k)]))}</text>'
        )
    return parts


def _line(ends: Array, kind: str, width: float) -> str:
    (a, b), (c, d) = ends[0], ends[-1]
    return (
        f'<line class="{kind}" x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}"'
        f' stroke-width="{width:.1f}"/>'
    )


def _polygon(points: Array, kind: str) -> str:
    return f'<polygon class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'

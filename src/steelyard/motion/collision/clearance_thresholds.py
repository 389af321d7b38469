"""Thresholds of distances between links and to walls."""

from __future__ import annotations

from dataclasses import dataclass

from ...threshold import threshold


@dataclass(frozen=True)
class ClearanceThresholds:
    """Thresholds of distances; the metadata `chosen` says how each was chosen."""

    # -- Pairs of links
    # distance [m] beyond the clearance from which a pair is left to the last level of a search
    rare_distance: float = threshold(0.005, "computing time")
    # random positions at which pairs are compared
    pair_positions: int = threshold(1000, "computing time")
    # share of them from which a near pair is built so, and left out
    built_close_share: float = threshold(0.95, "no record of a measurement")
    # distance [m] of such a pair
    built_close_distance: float = threshold(0.03, "no record of a measurement")
    # share of the random positions in which a near pair of capsules is compared as thinner ones
    often_close_share: float = threshold(0.25, "Panda, 20 motions: one of 0.5 is refused")
    # radii over their own of these capsules, the first that is apart in the other positions
    thinner_radii: tuple[float, ...] = threshold((0.85, 0.7, 0.58, 0.47), "convention: steps")
    # radius over their own with which capsules built close together are compared
    thin_radius: float = threshold(0.28, "convention: 2.4 % of the reach")
    # distance [m] beyond the clearance up to which pairs are compared
    farthest_distance: float = threshold(0.2, "computing time")

    # -- Shapes
    # sides of the prism around a cylinder
    prism_sides: int = threshold(16, "convention: its radius is 2 % too large")
    # directions in which the corners of a mesh are looked for
    corner_directions: int = threshold(80, "computing time")
    # radius of capsules around links of unknown shape over the robot's reach
    capsule_thickness: float = threshold(
        0.085,
        "meshes of a Panda touched in 11 of 20 motions with 0.04; with this they keep 9.9 mm",
    )
    # length [m] up to which a segment is a point
    point_length: float = threshold(1e-12, "numerical tolerance")
    # length [m] up to which a link has no extent
    least_link_length: float = threshold(1e-6, "numerical tolerance")

    # -- Tables of distances
    # points of a turn
    table_points: int = threshold(64, "nine in ten distances of links of 40 cm are within 1 mm")
    # distance [m] beyond the clearance, larger ones count as that
    table_distance: float = threshold(0.06, "convention: not measured")

    # -- Ground
    # random positions
    ground_positions: int = threshold(200, "computing time")
    # variation [m] of a height up to which a point cannot leave it
    level_height: float = threshold(1e-3, "convention: a millimetre")
    # distance from its joint over its size up to which a part of a shape may be unable to leave the
    # ground
    grounded_size: float = threshold(0.5, "convention: half")

    # -- Whole motions
    # intervals of a period per detail of the motion, before any is halved
    sweep_intervals: int = threshold(16, "computing time")
    # times that an interval is halved
    sweep_halvings: int = threshold(16, "computing time")


THRESHOLDS = ClearanceThresholds()

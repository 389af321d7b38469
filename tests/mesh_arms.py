"""Arms with the meshes of their URDF, read by Pinocchio and compared by coal."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
POSITIONS, MOSTLY, CLOSE = 150, 0.95, 0.03


@dataclass(frozen=True, eq=False)
class MeshArm:
    """An arm of the package example-robot-data, for joints in the order of `names`."""

    path: str
    names: tuple[str, ...]

    @cached_property
    def model(self) -> tuple[Any, Any]:
        """The model, and the geometry with all pairs but those of adjacent bodies."""
        import pinocchio as pin

        folder = distribution("example-robot-data").locate_file(
            "cmeel.prefix/share/example-robot-data/robots"
        )
        file = Path(str(folder)) / self.path
        model = pin.buildModelFromUrdf(str(file))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            geometry = pin.buildGeomFromUrdf(
                model, str(file), pin.GeometryType.COLLISION, [str(file.parents[k]) for k in (3, 4)]
            )
        geometry.addAllCollisionPairs()
        bodies = [each.parentJoint for each in geometry.geometryObjects]
        for pair in list(geometry.collisionPairs):
            a, b = bodies[pair.first], bodies[pair.second]
            if a == b or model.parents[a] == b or model.parents[b] == a:
                geometry.removeCollisionPair(pair)
        return model, geometry

    def distances(self, q: Array) -> Array:
        """Return the distances (N, k) [m] of all pairs at positions q (N, n)."""
        import pinocchio as pin

        model, geometry = self.model
        data, found = model.createData(), geometry.createData()
        joints = [model.joints[model.getJointId(name)] for name in self.names]
        rows = []
        for position in q:
            x = pin.neutral(model)
            for joint, value in zip(joints, position, strict=True):
                turns = (np.cos(value), np.sin(value)) if joint.nq == 2 else (value,)
                x[joint.idx_q : joint.idx_q + joint.nq] = turns
            pin.computeDistances(model, data, geometry, found, x)
            rows.append([each.min_distance for each in found.distanceResults])
        return np.array(rows)

    def nearest(self, lower: Array, upper: Array, q: Array) -> tuple[float, tuple[str, str]]:
        """Return the smallest distance [m] and its pair, of pairs that can be apart."""
        lower, upper = np.maximum(lower, -np.pi), np.minimum(upper, np.pi)
        draws = np.random.default_rng(7).uniform(lower, upper, (POSITIONS, len(lower)))
        counted = np.quantile(self.distances(draws), MOSTLY, axis=0) > CLOSE
        least = np.where(counted, self.distances(q).min(axis=0), np.inf)
        _, geometry = self.model
        pair = geometry.collisionPairs[int(np.argmin(least))]
        first, second = (geometry.geometryObjects[k].name for k in (pair.first, pair.second))
        return float(least.min()), (first, second)

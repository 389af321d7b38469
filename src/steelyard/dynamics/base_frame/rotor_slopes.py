"""How the torques of spinning rotors change with positions and rates, in the base's frame.

A rotor on a body has the spin s per unit rate of its coordinate c, fixed to the body. It takes the moment m = d(qd_c s)/dt of the joints
z_i that carry the body, and s . dw of its own coordinate. Turning joint j turns s and what is after j, and changes w by z_j' + z_j x w.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...algebra import vector as v3
from ...algebra.scalar import Scalar, Scalars, iteration
from ...mechanism.tree import Tree
from .screws import Placed, Screw, carriers

Slope = tuple[int, int, Scalar, Scalar]


def rotor_slopes(tree: Tree, bodies: Sequence[Placed], screws: Sequence[Screw], qd: Scalars, qdd: Scalars) -> Iterator[Slope]:
    """Row, column, and what d tau / dq and d tau / dqd have there; several may be of the same entry."""
    for mounted in tree.rotors:
        Ia, c = tree.terms[mounted.coordinate].get("armature"), mounted.coordinate
        if Ia is None or mounted.mount < 0:  # one on the base feels no joint
            continue
        body = bodies[mounted.mount]
        s = v3.apply(body.R, v3.scale(Ia * (1.0 / mounted.ratio), mounted.axis))
        sd = v3.cross(body.w, s)
        moment = v3.add(v3.scale(qdd[c], s), v3.scale(qd[c], sd))
        turning = [i for i in carriers(tree, mounted.mount) if tree.bodies[i].kind == "revolute"]
        for j in turning:
            iteration((s, moment))
            z, zd, zdd = screws[j].unit.w, screws[j].rate.w, screws[j].second.w
            column, multiplier = tree.bodies[j].coordinate, tree.bodies[j].multiplier
            own = v3.dot(s, v3.add(zdd, v3.cross(zd, body.w))), v3.dot(s, v3.add(v3.scale(2.0, zd), v3.cross(z, body.w)))
            yield c, column, multiplier * own[0], multiplier * own[1]
            yield column, c, 0.0, multiplier * v3.dot(z, sd)
            after = v3.scale(qd[c], v3.cross(zd, s))
            before, by_rate = v3.add(v3.cross(z, moment), after), v3.scale(qd[c], v3.cross(z, s))
            for i in turning:
                iteration((s, moment))
                axis, scale = screws[i].unit.w, multiplier * tree.bodies[i].multiplier
                by_position = v3.dot(axis, before if i < j else after)
                yield tree.bodies[i].coordinate, column, scale * by_position, scale * v3.dot(axis, by_rate)

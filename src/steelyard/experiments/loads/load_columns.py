"""The columns of a load: which torques each of its ten numbers needs, and those of friction that it changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import CallError, suggest
from ...identification.model.linear_model import Model
from ...identification.samples.samples import Samples
from ...parameters.pseudo_inertia import BASIS, from_pseudo_inertia
from ...robot import Robot

Array = NDArray[np.float64]
CHANGING = ("Fv", "Fc")  # friction that may differ between the runs: gears rub more under load, and warm up


@dataclass(frozen=True)
class Place:
    """The moving link (`body` is its number) that carries a load, and the frame on it whose axes the ten numbers are in."""

    link: str
    frame: str
    body: int


def load_place(robot: Robot, link: str | None, frame: str | None) -> Place:
    """Return where a load sits: on `link`, the end-effector by default, in the axes of `frame`, that of the link by default.

    Raises CallError for names that do not exist, for a link that does not move, and for a frame that is not fixed to the link.
    """
    known = robot.tree.frames
    for name, given in (("link", link), ("frame", frame)):
        if given is not None and given not in known:
            raise CallError(f"payload: {name} {given!r} does not exist; {suggest(str(given), known)}")
    carrier = link or frame or robot.end_effector
    axes = frame or carrier
    if known[carrier].body < 0:
        raise CallError(f"payload: link {carrier!r} does not move, so that torques say nothing about a load there")
    if known[axes].body != known[carrier].body:
        fixed = [name for name, each in known.items() if each.body == known[carrier].body]
        raise CallError(f"payload: frame {axes!r} is not fixed to link {carrier!r}; expected one of {', '.join(fixed)}")
    return Place(carrier, axes, known[carrier].body)


def to_body(robot: Robot, frame: str) -> Array:
    """Return the matrix (10, 10) from ten parameters about the origin of a frame to those about the frame of its body."""
    X = np.eye(4)
    pose = robot.tree.frames[frame].pose
    X[:3, :3], X[:3, 3] = np.array(pose.R, float), np.array(pose.p, float)
    return from_pseudo_inertia(X @ BASIS @ X.T).T


@dataclass(frozen=True, eq=False)
class LoadColumns:
    """The columns that the logs from `first` on have beside those of the arm: (N, n, k) with zeros for the logs before.

    First those of changed friction, `changing` are their parameters in the model; then, if `sides` has the direction (N, n) from which the
    joints of each log came to rest, the friction at rest of every joint, in all logs; then the ten of the load.
    """

    model: Model
    place: Place
    first: int
    changing: tuple[int, ...] = ()
    sides: tuple[Array, ...] = ()

    @property
    def count(self) -> int:
        """How many columns there are."""
        return len(self.changing) + (self.model.n if self.sides else 0) + 10

    def __call__(self, samples: Samples, log: int) -> Array:
        Y = np.zeros((*samples.q.shape, self.count))
        if self.sides:
            signs = self.sides[log][samples.t.astype(int)]
            Y[:, :, -10 - self.model.n : -10] = signs[:, :, None] * np.eye(self.model.n)
        if log >= self.first:
            inner = range(10 * self.place.body, 10 * self.place.body + 10)
            q, qd, qdd, *base = samples.states
            own = self.model.columns(q, qd, qdd, (*self.changing, *inner), *base)
            Y[:, :, : len(self.changing)] = own[:, :, :-10]
            Y[:, :, -10:] = own[:, :, -10:] @ to_body(self.model.robot, self.place.frame)
        return Y


def changing_terms(model: Model) -> tuple[int, ...]:
    """Return the parameters of the model that are viscous or Coulomb friction."""
    return tuple(i for i, name in enumerate(model.names) if name.rpartition(".")[2] in CHANGING)

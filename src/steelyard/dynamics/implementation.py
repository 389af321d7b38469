"""Implementations of one quantity, each with the robots for which it is worth tracing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from ..mechanism.tree import Tree


@dataclass(frozen=True)
class Implementation:
    """A function that computes a quantity, and the trees that it supports.

    Attributes
    ----------
    function : takes the tree and the scalars of the algorithm's inputs
    needs_uncoupled : valid only where joints are coupled by rigid bodies alone: no mimic joint,
        no rotor that spins on a moving link, no shared motor
    min_depth, max_depth : range of the mean number of joints that move a body, outside of which
        another implementation always needs fewer operations
    max_joints : number of joints beyond which it never has the fewest operations and is slow to
        trace
    """

    function: Callable[..., Any]
    needs_uncoupled: bool = False
    min_depth: float = 0.0
    max_depth: float = inf
    max_joints: int | None = None

    def supports(self, tree: Tree, moving_base: bool) -> bool:
        """Return whether the function is valid on a tree and its number of joints is in range."""
        uncoupled = tree.is_uncoupled and not (moving_base and tree.rotors)
        return (uncoupled or not self.needs_uncoupled) and (
            self.max_joints is None or tree.n <= self.max_joints
        )


def select_implementations(
    implementations: Sequence[Implementation],
    tree: Tree,
    moving_base: bool = False,
    any_size: bool = False,
) -> list[Implementation]:
    """Return the implementations worth tracing on a tree.

    Parameters
    ----------
    implementations : all that compute the quantity
    tree : the robot
    moving_base : whether the base's motion is an input
    any_size : leave out implementations with a limit on the number of joints

    Returns
    -------
    Those that support the tree and its mean depth; all that support the tree if the depth would
    leave none.
    """
    valid = [
        each
        for each in implementations
        if each.supports(tree, moving_base) and not (any_size and each.max_joints is not None)
    ]
    depth = mean_depth(tree)
    return [each for each in valid if each.min_depth <= depth <= each.max_depth] or valid


def mean_depth(tree: Tree) -> float:
    """Return the mean over all bodies of the number of joints that move the body."""
    depths: list[int] = []
    for body in tree.bodies:
        depths.append(1 + (depths[body.parent] if body.parent >= 0 else 0))
    return sum(depths) / max(len(depths), 1)

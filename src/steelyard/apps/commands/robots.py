"""`steelyard robots`: the built-in robots."""

from __future__ import annotations


def robots() -> None:
    """List the built-in robots."""
    import steelyard as sy

    from ..inputs import load
    from ..show.card import robots_table
    from ..show.console import console

    console().print(robots_table([(name, load(name, quiet=True)) for name in sy.robots()]))

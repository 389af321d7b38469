"""Groups of options: every field has a sentence, and keywords make the group."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from steelyard.errors import CallError
from steelyard.options import from_keywords, option, options_of


@dataclass(frozen=True)
class Filter:
    cutoff: float = option(5.0, help="Cut-off frequency of the filter.", unit="Hz")
    order: int = option(4, help="Order of the filter.")
    bands: list[float] = option(factory=list, help="Stop bands.", unit="Hz")
    note: str = ""


def test_options_come_in_the_order_of_the_fields() -> None:
    assert [(each.name, each.flag, each.default) for each in options_of(Filter)] == [
        ("cutoff", "--cutoff", 5.0),
        ("order", "--order", 4),
        ("bands", "--bands", []),
    ]
    assert options_of(Filter)[0].spec.unit == "Hz"
    assert options_of(Filter)[0].annotation == "float"


def test_keywords_make_a_group() -> None:
    assert from_keywords(Filter, {"cutoff": 8.0}, "smooth") == Filter(cutoff=8.0)


def test_an_unknown_keyword_names_the_nearest_option() -> None:
    with pytest.raises(CallError, match=r"smooth has no option called 'cutof'; did you mean 'cut"):
        from_keywords(Filter, {"cutof": 8.0}, "smooth")

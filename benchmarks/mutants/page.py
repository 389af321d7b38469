"""The page of the mutants.

A table by kind and by folder, and every survivor with the reason why it is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from benchmarks.mutants.justified import JUSTIFIED
from benchmarks.mutants.mutations import KINDS, Mutation
from benchmarks.mutants.once import ONCE
from benchmarks.mutants.trial import Outcome
from benchmarks.trust.page import markdown

KILLED = ("killed", "timeout")


def changing(results: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of mutants that change behaviour."""
    return [each for each in results if each.name not in JUSTIFIED]


def rate(results: Sequence[Outcome]) -> float:
    """The share of mutants that change behaviour and are killed."""
    counted = changing(results)
    return sum(each.word in KILLED for each in counted) / len(counted) if counted else 0.0


def page(chosen: Sequence[Mutation], results: Sequence[Outcome]) -> str:
    """docs/measured/mutants.md."""
    of = {mutant.name: mutant for mutant in chosen}
    survivors = [each for each in results if each.word not in KILLED]
    rows = [
        [f"`{each.name}`".replace("|", "\\|"), each.word, JUSTIFIED.get(each.name, "")]
        for each in survivors
    ]
    folders = sorted({folder(each.name) for each in results})
    return f"""# Mutation tests

`python -m benchmarks.mutants` plants one bug at a time into the source and runs the tests that \
execute its line, in a clone without measured logs.
A mutant is killed if a test fails.
`python -m benchmarks.mutants --update` writes this page.
{len(results)} of {len(chosen)} mutants were tried; {rate(results):.1%} of those that change \
behaviour were killed (target 97 %).
Tests were added for the mutants that survived at first (about one in seven), so that the table \
does not estimate the rate for other bugs: `--seed` draws others.

{table("kind", KINDS, results, lambda each: of[each.name].kind)}

{table("folder", folders, results, lambda each: folder(each.name))}

## Survivors

{markdown(["mutant", "outcome", "why it changes nothing"], rows) if rows else "None."}

## Bugs that once survived

{markdown(["planted", "noticed by"], [[bug, f"`{test}`"] for bug, test in ONCE.items()])}
"""


def folder(name: str) -> str:
    """The package of a mutant."""
    parts = name.split(":")[0].split("/")
    return parts[2].removesuffix(".py")


def table(
    head: str, groups: Sequence[str], results: Sequence[Outcome], group: Callable[[Outcome], str]
) -> str:
    """Mutants, killed, changing nothing and surviving, by group."""
    many = Counter(map(group, results))
    killed = Counter(group(each) for each in results if each.word in KILLED)
    none = Counter(
        group(each) for each in results if each.word not in KILLED and each.name in JUSTIFIED
    )
    rows = [
        [
            name,
            str(many[name]),
            str(killed[name]),
            str(none[name]),
            str(many[name] - killed[name] - none[name]),
        ]
        for name in groups
    ]
    return markdown([head, "mutants", "killed", "change nothing", "survive"], rows)

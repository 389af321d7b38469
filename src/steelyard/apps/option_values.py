"""Values of options that are more than a number: numbers by joint, names with numbers, boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import CallError
from .inputs import number


def numbers(option: str, text: str, counts: Sequence[int] = ()) -> list[float]:
    """Read '1, 2, 30deg' as numbers in SI units, as many as one of `counts`."""
    cells = [cell.strip() for cell in text.split(",")]
    if counts and len(cells) not in counts:
        raise CallError(f"{option}: {text!r} has {len(cells)} numbers; expected {' or '.join(map(str, counts))}, such as 0.1,0,0.2")
    return [number(option, cell) for cell in cells]


def by_joint(option: str, text: str | None) -> float | list[float] | dict[str, float] | None:
    """Read '2.0' for all joints, '1,2,3' for each, or 'joint2=1,joint3=2' by name."""
    if text is None:
        return None
    if "=" in text:
        return named(option, text.split(","))
    values = numbers(option, text)
    return values[0] if len(values) == 1 else values


def named(option: str, texts: Sequence[str]) -> dict[str, float]:
    """Read 'name=0.02' each."""
    made = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise CallError(f"{option}: {text!r}; expected NAME=NUMBER, such as link3.mcx=0.02")
        made[name.strip()] = number(f"{option}, {name.strip()}", value.strip())
    return made


def ranges(option: str, texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Read 'joint2=-1,1' each."""
    made = {}
    for text in texts:
        name, _, value = text.partition("=")
        low, high = numbers(f"{option}, {name}", value, (2,))
        made[name.strip()] = (low, high)
    return made


def boxes(option: str, texts: Sequence[str]) -> Mapping[str, tuple[list[float], list[float]]]:
    """Read 'tool0=-1,-1,0,1,1,2', the least and the greatest x, y, z [m] of a frame or link, each."""
    made = {}
    for text in texts:
        name, _, value = text.partition("=")
        six = [float(cell) if cell.strip() in ("inf", "-inf") else number(option, cell.strip()) for cell in value.split(",")]
        if len(six) != 6:
            raise CallError(f"{option}: {text!r}; expected FRAME=x0,y0,z0,x1,y1,z1 [m], such as tool0=-1,-1,0,1,1,2")
        made[name.strip()] = (six[:3], six[3:])
    return made


def kept(option: str, texts: Sequence[str] | None) -> list[str] | dict[str, float | None] | None:
    """Read names of what is held, 'link1,joint2', some with a value, 'joint1.Fv=2.5'; None without any."""
    names = [name.strip() for text in texts or () for name in text.split(",") if name.strip()]
    if not any("=" in name for name in names):
        return names or None
    return {name: value for each in names for name, value in (named(option, [each]) if "=" in each else {each: None}).items()}


def pairs(option: str, texts: Sequence[str] | None) -> list[tuple[str, str]] | None:
    """Read 'joint5,joint6' each; None without any."""
    made = []
    for text in texts or ():
        names = [name.strip() for name in text.split(",")]
        if len(names) != 2 or not all(names):
            raise CallError(f"{option}: {text!r}; expected two joints that share a motor, such as joint5,joint6")
        made.append((names[0], names[1]))
    return made or None


def ground(option: str, text: str | None) -> dict[str, float | str | None]:
    """Read 'base', 'none' or a height [m] as the argument `ground`; nothing where the option is not given."""
    if text is None:
        return {}
    if text.strip().lower() in ("base", "none"):
        return {"ground": None if text.strip().lower() == "none" else "base"}
    return {"ground": number(option, text.strip())}

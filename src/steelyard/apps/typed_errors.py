"""Errors in words that can be typed: the options of a command in the place of a function's arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..files import OVERWRITE

OPTIONS = {  # arguments whose option is called otherwise, or that a command makes of several
    "overwrite": "--force", "logs": "LOG", "drive_gains": "--drive-gain", "workspace": "--box", "half_spaces": "--half-space",
    "smoothing": "--cutoff", "pose": "--xyz", "log": "LOG", "loaded": "LOG", "parameters": "--parameters", "known": "--config",
}  # fmt: skip
PATTERNS = (
    (re.compile(r"\b([a-z_]+)=(?:'([^' ]*)'|\"([^\" ]*)\"|(True|False|None)\b)"), "value"),
    (re.compile(r"\b([a-z_]+)=(?=[\s,;.)\]]|$)"), "name"),
)


def typed(sentence: str, options: Iterable[str]) -> str:
    """Return an error's sentence with arguments of Python, `cutoff=` or `effort='torque'`, as options, `--cutoff` or `--effort torque`.

    `options` are the parameters of the command. What it has no option for stays as it is.
    """
    sentence = sentence.replace(OVERWRITE, "give --force to replace it")
    known = {name: f"--{name.replace('_', '-')}" for name in options}

    def option(found: re.Match[str]) -> str:
        name = found.group(1)
        spelled = known.get(name) or OPTIONS.get(name)
        if spelled is None:
            return found.group()
        value = next((text for text in found.groups()[1:] if text is not None), "")
        return f"{spelled} {value}" if value not in ("", "True", "False", "None") else spelled

    for pattern, _ in PATTERNS:
        sentence = pattern.sub(option, sentence)
    return sentence

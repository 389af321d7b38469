"""Errors in words that can be typed: the options of a command in the place of a function's arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..files import OVERWRITE

OPTIONS = {  # arguments whose option is called otherwise, or that a command makes of several
    "overwrite": "--force", "logs": "LOG", "workspace": "--box", "half_spaces": "--half-space",
    "smoothing": "--cutoff", "pose": "--xyz", "log": "LOG", "loaded": "LOG", "parameters": "--parameters",
}  # fmt: skip
IN_CONFIG = ("known", "bounds", "rotor", "coulomb_width", "delay", "period", "controller", "drive_gains")
IN_MAPPING = ("columns", "joints", "rate", "time_unit", "angle", "layout", "topic", "transmission", "correction", "files")
"""What can be said in the file of --config, and in that of --mapping, and has no option."""

VALUE = re.compile(r"\b([a-z_]+)=(?:'([^' ]*)'|\"([^\" ]*)\"|(True|False|None)\b)")
NAME = re.compile(r"\b([a-z_]+)=(?=[\s,;.)\]]|$)")
NUMBER = re.compile(r"\b([a-z_]+)=(?=[-\d.])")
FIRST = re.compile(r"^(?:[a-z_]+: (?=\w+ must ))?([a-z_]+)(?: =(?= )|(?=:| must | has \d| would | of '| '(?!.* is no )))")
IN_FILE = re.compile(rf"\b({'|'.join((*IN_CONFIG, *IN_MAPPING))})=(\{{[^}}]*\}}|'[^']*'|\[[^\]]*\])?")
NOT_FIRST = ("robot", "log", "logs", "link", "frame", "empty", "loaded", "effort", "joints")


def typed(sentence: str, options: Iterable[str]) -> str:
    """Return an error's sentence with arguments of Python, `cutoff=` or `effort='torque'`, as options, `--cutoff` or `--effort torque`.

    `options` are the parameters of the command. What has no option but a place in a file is said so: `rate = ... of --mapping`.
    """
    sentence = sentence.replace(OVERWRITE, "give --force to replace it").replace("Known: None, ", "Known: ").removesuffix(", or None")
    known = {name: f"--{name.replace('_', '-')}" for name in options}

    def option(found: re.Match[str]) -> str:
        name = found.group(1)
        spelled = known.get(name) or OPTIONS.get(name)
        if spelled is None:
            return found.group()
        value = next((text for text in found.groups()[1:] if text is not None), "")
        end = " " if found.re is NUMBER else ""
        return f"{spelled} {value}" if value not in ("", "True", "False", "None") else f"{spelled}{end}"

    def in_file(found: re.Match[str]) -> str:
        name, value = found.groups()
        where = "--mapping" if name in IN_MAPPING else "--config"
        return found.group() if where[2:] not in known else f"{name} = {(value or '...').replace(': ', ' = ')} in the file of {where}"

    first = FIRST.match(sentence)
    if first and first.group(1) in known and first.group(1) not in NOT_FIRST:
        sentence = known[first.group(1)] + sentence[first.end() :]
    for pattern in (VALUE, NAME, NUMBER):
        sentence = pattern.sub(option, sentence)
    return IN_FILE.sub(in_file, sentence)

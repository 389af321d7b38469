"""Damage of files: bytes of any format, and edits that know what XML, TOML and CSV are made of.

A generator with a seed decides.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable

import numpy as np

Random = np.random.Generator

NASTY = [
    "", "0", "-1", "nan", "inf", "-inf", "1e999", "1e300", "1e-320", "9" * 400, "1,5", "0x10",
    "true", "null", "None", "é", "\u202eabc", "\x1b[31mred", "\0", "\ufeff", "a" * 5000,
    "${9**9**9}", "${__import__('os')}", "${[0]*10**9}", "$(arg none)", "$(find nothing)",
    "$(env HOME)", "../../../etc/passwd", "/dev/zero", "%s%n", "1 2", "1 2 3 4", "0 0 0",
    "1e400 0 0", "--", "]]>", "&amp;", "&#0;", "<", '"', "'", "[]", "{}", "[[[[", "2024-13-45",
    "1_000", "fixed", "floating", "mimic", "world", "-0.0", "4294967296", "-9223372036854775809",
    "1e18", "100000", "١٢٣",
]  # fmt: skip
LENGTHS = [
    0,
    1,
    0x7F,
    0xFF,
    0x7FFF,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0x7FFFFFFFFFFFFFFF,
    0xFFFFFFFFFFFFFFFF,
    10**9,
    10**12,
]


def damaged(content: bytes, text: bool, others: list[bytes], random: Random) -> bytes:
    """Return the content with one to three damages; `others` are files to splice with."""
    kinds: list[Callable[[bytes, Random], bytes]] = [
        flip,
        truncate,
        zero,
        repeat,
        inflate,
        inflate,
        flip,
    ]
    kinds.append(lambda content, random: splice(content, others, random))
    if text:
        kinds += 3 * [value, value, cell, drop_line, repeat_line, swap_lines, element, number]
    elif content[:2] == b"PK" or content[:6] == b"MATLAB":
        kinds += 6 * [unpacked]
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        content = kinds[random.integers(len(kinds))](content, random)
    return content[: 1 << 22]


def _place(content: bytes, random: Random) -> int:
    return int(random.integers(len(content) + 1))


def flip(content: bytes, random: Random) -> bytes:
    """Flip up to 20 bits."""
    data = bytearray(content)
    for _ in range(random.integers(1, 21)) if data else ():
        data[random.integers(len(data))] ^= 1 << int(random.integers(8))
    return bytes(data)


def truncate(content: bytes, random: Random) -> bytes:
    """Cut off the end, or the beginning."""
    path = _place(content, random)
    return content[:path] if random.random() < 0.8 else content[path:]


def zero(content: bytes, random: Random) -> bytes:
    """Overwrite a part by one byte."""
    path, size = _place(content, random), int(random.integers(1, 200))
    return (
        content[:path]
        + bytes([int(random.choice([0, 255, 32, 60]))]) * size
        + content[path + size :]
    )


def repeat(content: bytes, random: Random) -> bytes:
    """Repeat a part, once or many times."""
    path, size = _place(content, random), int(random.integers(1, 400))
    return (
        content[:path]
        + content[path : path + size] * int(random.choice([2, 3, 50]))
        + content[path + size :]
    )


def inflate(content: bytes, random: Random) -> bytes:
    """Write a large number over 1, 2, 4 or 8 bytes, as a length or an offset may stand there."""
    size = int(random.choice([1, 2, 4, 8]))
    path = _place(content, random)
    value = LENGTHS[random.integers(len(LENGTHS))] & (256**size - 1)
    return (
        content[:path]
        + value.to_bytes(size, "little" if random.random() < 0.7 else "big")
        + content[path + size :]
    )


def splice(content: bytes, others: list[bytes], random: Random) -> bytes:
    """Go on with a part of another file."""
    other = others[random.integers(len(others))]
    return content[: _place(content, random)] + other[_place(other, random) :]


def unpacked(content: bytes, random: Random) -> bytes:
    """Damage the compressed content of a zip archive or .mat file, and compress it again."""
    try:
        return (
            _in_archive(content, random) if content[:2] == b"PK" else _in_variable(content, random)
        )
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, OSError, EOFError):
        return content


def _in_archive(content: bytes, random: Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = list(parts)[random.integers(len(parts))]
    parts[name] = [flip, truncate, zero, inflate, number][random.integers(5)](parts[name], random)
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return result.getvalue()


def _in_variable(content: bytes, random: Random) -> bytes:
    """Of the first variable alone; others are left as they are."""
    size = int.from_bytes(content[132:136], "little")
    if content[128:129] != b"\x0f":  # the variable is not compressed
        return inflate(content, random)
    inside = zlib.decompress(content[136 : 136 + size])
    packed = zlib.compress([flip, inflate, zero, truncate][random.integers(4)](inside, random))
    return content[:132] + len(packed).to_bytes(4, "little") + packed + content[136 + size :]


def nasty(random: Random) -> bytes:
    """Return a word that something may stumble over."""
    return NASTY[random.integers(len(NASTY))].encode("utf-8", errors="surrogatepass")


def _replaced(pattern: bytes, content: bytes, new: bytes, random: Random) -> bytes:
    results = list(re.finditer(pattern, content))
    if not results:
        return content
    path = results[random.integers(len(results))]
    return content[: path.start(1)] + new + content[path.end(1) :]


def value(content: bytes, random: Random) -> bytes:
    """Put a nasty word instead of a quoted one."""
    return _replaced(rb"""["']([^"'\n]*)["']""", content, nasty(random), random)


def number(content: bytes, random: Random) -> bytes:
    """Put a nasty word instead of a number."""
    return _replaced(rb"(-?\d+\.?\d*(?:[eE][-+]?\d+)?)", content, nasty(random), random)


def cell(content: bytes, random: Random) -> bytes:
    """Put a nasty word between two delimiters."""
    return _replaced(rb"[,;\t=\s]([^,;\t=\s]*)[,;\t\s]", content, nasty(random), random)


def _lines(content: bytes, random: Random) -> tuple[list[bytes], int]:
    lines = content.split(b"\n")
    return lines, int(random.integers(len(lines)))


def drop_line(content: bytes, random: Random) -> bytes:
    """Leave out up to three lines."""
    lines, i = _lines(content, random)
    del lines[i : i + int(random.integers(1, 4))]
    return b"\n".join(lines)


def repeat_line(content: bytes, random: Random) -> bytes:
    """Repeat a line, once or a thousand times."""
    lines, i = _lines(content, random)
    lines[i:i] = [lines[i]] * int(random.choice([1, 2, 1000]))
    return b"\n".join(lines)


def swap_lines(content: bytes, random: Random) -> bytes:
    """Exchange two lines."""
    lines, i = _lines(content, random)
    j = int(random.integers(len(lines)))
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def element(content: bytes, random: Random) -> bytes:
    """Nest, rename or leave out an element's tag, or open many that are never closed."""
    tags = list(re.finditer(rb"<[^>]*>", content))
    if not tags:
        return b"[" * 3000 + content if random.random() < 0.1 else content
    tag = tags[random.integers(len(tags))]
    other = tags[random.integers(len(tags))].group()
    new = [
        b"",
        tag.group() * 2,
        other,
        b"<!--",
        tag.group() * 2000,
        b"<body><joint/></body>",
        b"<![CDATA[",
        b"<!DOCTYPE a>",
    ]
    return content[: tag.start()] + new[random.integers(len(new))] + content[tag.end() :]

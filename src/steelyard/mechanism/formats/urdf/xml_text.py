"""Elements of an XML text with their byte positions, for edits that keep every other byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from ....errors import ModelError, translate_errors

_TAG_END = re.compile(rb"""[^>"']*(?:"[^"]*"[^>"']*|'[^']*'[^>"']*)*>""")


@dataclass
class Element:
    """One element: [start, opened) is its start tag, [closing, end) its end tag, in UTF-8 bytes.

    <tag/> has closing == end.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    start: int
    opened: int
    closing: int = 0
    end: int = 0
    children: list[Element] = field(default_factory=list)
    text: str = ""

    @property
    def empty_tag(self) -> bool:
        """Whether it is written <tag/>."""
        return self.opened == self.end

    def all(self, tag: str) -> Iterator[Element]:
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        return next(self.all(tag), None)


def parse(text: str, where: str) -> Element:
    """Return the root element of an XML text.

    A DOCTYPE is refused: no model needs one, and entity bombs and external entities need it.
    """
    with translate_errors(f"{where}: not well-formed XML", ModelError):
        data = text.encode("utf-8")
        builder = _Builder(data, where)
        try:
            builder.parser.Parse(data, True)
        except expat.ExpatError as error:
            raise ModelError(
                f"{where}, line {error.lineno}: not well-formed XML"
                f" ({expat.ErrorString(error.code)})"
            ) from None
    return builder.root


class _Builder:
    def __init__(self, data: bytes, where: str) -> None:
        self.data, self.where = data, where
        self.open: list[Element] = []
        self.texts: list[list[str]] = []  # of the open elements, in pieces
        self.root: Element
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self.begin
        self.parser.EndElementHandler = self.finish
        self.parser.CharacterDataHandler = self.read
        self.parser.StartDoctypeDeclHandler = self.refuse

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        start = self.parser.CurrentByteIndex
        match = _TAG_END.match(self.data, start)
        element = Element(
            tag, attributes, self.parser.CurrentLineNumber, start, match.end() if match else start
        )
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.texts.append([])

    def read(self, text: str) -> None:
        self.texts[-1].append(text)

    def finish(self, _tag: str) -> None:
        element = self.open.pop()
        element.text = "".join(self.texts.pop())
        if self.data[element.opened - 2 : element.opened] == b"/>":
            element.closing = element.end = element.opened
        else:
            element.closing = self.parser.CurrentByteIndex
            element.end = self.data.index(b">", element.closing) + 1

    def refuse(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise ModelError(
            f"{self.where}, line {line}: a DOCTYPE is not accepted in a robot model (it can make a"
            " parser read other files)"
        )


_ATTRIBUTE = re.compile(rb"""\s([^\s=<>/"']+)\s*=\s*("[^"]*"|'[^']*')""")
_ENTITIES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\n": "&#10;",
    "\r": "&#13;",
    "\t": "&#9;",
}


def quoted(value: str) -> str:
    """Return an attribute's value in quotes, with reserved characters escaped."""
    for character, entity in _ENTITIES.items():
        value = value.replace(character, entity)
    return f'"{value}"'


def tag(name: str, attributes: dict[str, str]) -> str:
    """Return an empty element: <name key="value"/>."""
    return (
        f"<{name}" + "".join(f" {key}={quoted(value)}" for key, value in attributes.items()) + "/>"
    )


class XmlEdit:
    """Changes by the positions of elements in the text, applied all at once."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8")
        self.newline = "\r\n" if b"\r\n" in self.data else "\n"
        self.changes: list[tuple[int, int, str]] = []

    def text(self) -> str:
        """Return the text with all changes."""
        data = self.data
        for start, end, new in sorted(self.changes, key=lambda change: change[:2], reverse=True):
            data = data[:start] + new.encode("utf-8") + data[end:]
        return data.decode("utf-8")

    def set(self, element: Element, attributes: dict[str, str]) -> None:
        """Give attributes new values, in the quotes that they stand in.

        Those that are absent come last.
        """
        places = {
            m.group(1).decode(): m.span(2)
            for m in _ATTRIBUTE.finditer(self.data, element.start, element.opened)
        }
        absent = {key: value for key, value in attributes.items() if key not in places}
        for key, value in attributes.items():
            if key in places and element.attributes[key] != value:
                self.changes.append((*places[key], quoted(value)))
        if absent:
            after = max(
                (end for _, end in places.values()),
                default=element.start + 1 + len(element.tag.encode()),
            )
            self.changes.append(
                (after, after, "".join(f" {key}={quoted(value)}" for key, value in absent.items()))
            )

    def remove(self, element: Element) -> None:
        """Remove an element and the white space before it, its line break included."""
        start = element.start
        while start > 0 and self.data[start - 1 : start] in (b" ", b"\t"):
            start -= 1
        if self.data[start - 1 : start] == b"\n":
            start -= 2 if self.data[start - 2 : start] == b"\r\n" else 1
        else:
            start = element.start
        self.changes.append((start, element.end, ""))

    def append(self, parent: Element, lines: list[str]) -> None:
        """Append lines of XML after the last child of an element, indented as its children are.

        Call once per element.
        """
        outer, inner = self.indent(parent), self.child_indent(parent)
        if inner.startswith("\t"):
            lines = [
                line.replace("  ", "\t", 1) if line.startswith("  ") else line for line in lines
            ]
        block = "".join(f"{self.newline}{inner}{line}" for line in lines)
        if parent.empty_tag:
            slash = self.data.rindex(b"/", parent.start, parent.opened)
            self.changes.append(
                (slash, parent.opened, f">{block}{self.newline}{outer}</{parent.tag}>")
            )
            return
        position = parent.children[-1].end if parent.children else parent.opened
        tail = "" if b"\n" in self.data[position : parent.closing] else f"{self.newline}{outer}"
        self.changes.append((position, position, block + tail))

    def indent(self, element: Element) -> str:
        """Return the white space before an element on its line, empty if other text precedes it."""
        line = self.data[self.data.rfind(b"\n", 0, element.start) + 1 : element.start]
        return line.decode("utf-8") if not line.strip() else ""

    def child_indent(self, parent: Element) -> str:
        for child in parent.children:
            if b"\n" in self.data[parent.opened : child.start] and self.indent(child):
                return self.indent(child)
        outer = self.indent(parent)
        return outer + ("\t" if outer.startswith("\t") else "  ")

"""Elements of an XML text with their places in it, so that a value can be changed and every other byte kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from ..errors import ModelError

_TAG_END = re.compile(rb"""[^>"']*(?:"[^"]*"[^>"']*|'[^']*'[^>"']*)*>""")


@dataclass
class Element:
    """One element: [start, opened) is its start tag, [closing, end) its end tag, in bytes of the UTF-8 text. <tag/> has closing == end."""

    tag: str
    attributes: dict[str, str]
    line: int
    start: int
    opened: int
    closing: int = 0
    end: int = 0
    children: list[Element] = field(default_factory=list)

    @property
    def empty_tag(self) -> bool:
        """Whether it is written <tag/>."""
        return self.opened == self.end

    def all(self, tag: str) -> Iterator[Element]:
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        return next(self.all(tag), None)


def parse(text: str, where: str) -> Element:
    """The root element of an XML text. A DOCTYPE is refused: no model needs one, and entity bombs and external entities need it."""
    data = text.encode("utf-8")
    builder = _Builder(data, where)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ModelError(f"{where}, line {error.lineno}: not well-formed XML ({expat.ErrorString(error.code)})") from None
    return builder.root


class _Builder:
    def __init__(self, data: bytes, where: str) -> None:
        self.data, self.where = data, where
        self.open: list[Element] = []
        self.root: Element
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self.begin
        self.parser.EndElementHandler = self.finish
        self.parser.StartDoctypeDeclHandler = self.refuse

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        start = self.parser.CurrentByteIndex
        match = _TAG_END.match(self.data, start)
        element = Element(tag, attributes, self.parser.CurrentLineNumber, start, match.end() if match else start)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def finish(self, _tag: str) -> None:
        element = self.open.pop()
        if self.data[element.opened - 2 : element.opened] == b"/>":
            element.closing = element.end = element.opened
        else:
            element.closing = self.parser.CurrentByteIndex
            element.end = self.data.index(b">", element.closing) + 1

    def refuse(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise ModelError(f"{self.where}, line {line}: a DOCTYPE is not accepted in a robot model (it can make a parser read other files)")

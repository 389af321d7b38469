"""LLVM functions of an outline: one per shape, which runs iterations, and one per output.

A function loops over consecutive rows of its table. A row of a shape has the constants in which its
iterations differ, then the offsets of the values to load and to store, in bytes from the start of
the slots. A row of writes has the offsets of two results and their offset in a row of the output.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence

from ...ir.graph import Expr
from ...ir.program import Program
from .body import FunctionBody
from .loop import LoopLayout
from .outline import Iteration, Outline, PlacedIteration, Writes
from .split import Part
from .transpose import write_pair
from .writer import Writer


def shape_functions(
    program: Program, outlined: Outline, layout: LoopLayout, writer: Callable[[], Writer]
) -> Iterator[str]:
    """Return the functions of all shapes and outputs, and their tables."""
    for i, placed in enumerate(_by_shape(outlined).values()):
        varying = _varying([each.iteration for each in placed])
        slots, addresses = _addresses([(*each.loads, *each.stores) for each in placed])
        rows = [
            _row([each.iteration.constants[k].payload for k in varying], row_slots, layout)
            for each, row_slots in zip(placed, slots, strict=True)
        ]
        yield _table(f"shape{i}", rows)
        body = ShapeBody(program, layout, writer(), placed[0].iteration, varying, addresses)
        yield _shape(body, f"shape{i}", placed[0].iteration, len(rows[0]))
    for k, writes in _by_output(outlined).items():
        rows = [
            _row([], (*slots, *slots)[:2], layout, 8 * c)
            for each in writes
            for c, slots in zip(each.columns, each.slots, strict=True)
        ]
        yield _table(f"write{k}", rows)
        yield _write(program, layout, writer(), k, len(rows[0]))
    if outlined.numbers:
        yield _numbers(writer(), outlined.numbers)


def _addresses(
    slots: Sequence[tuple[int, ...]],
) -> tuple[list[tuple[int, ...]], list[tuple[int | None, int]]]:
    """Return the slots for the table, and the (table position, distance) of every slot.

    Slots at a constant distance from each other share one entry of the table; slots that are equal
    in all rows need none (position None). Takes the slots of every iteration.
    """
    first = slots[0]
    places: dict[tuple[int, ...], int] = {}
    addresses: list[tuple[int | None, int]] = []
    for column in range(len(first)):
        moves = tuple(row[column] - first[column] for row in slots)
        if any(moves):
            places.setdefault(moves, column)
        addresses.append((places.get(moves), first[column]))
    order = {column: position for position, column in enumerate(places.values())}
    return [tuple(row[column] for column in order) for row in slots], [
        (None, offset) if column is None else (order[column], offset - first[column])
        for column, offset in addresses
    ]


def calls(outlined: Outline) -> Iterator[str]:
    """Yield the calls that run an outline: one for consecutive iterations of a shape or writes."""
    if outlined.numbers:
        yield "call void @numbers(ptr %work)"
    number = {key: i for i, key in enumerate(_by_shape(outlined))}
    done: dict[str, int] = {}
    parts = iter([*outlined.parts, None])
    part = next(parts)
    straight = 0
    while part is not None:
        if isinstance(part, Part):
            yield f"call void @part{straight}(ptr %context, ptr %work)"
            straight, part = straight + 1, next(parts)
            continue
        name, count = _named(part, number), 0
        while part is not None and not isinstance(part, Part) and _named(part, number) == name:
            count += len(part.columns) if isinstance(part, Writes) else 1
            part = next(parts)
        yield f"call void @{name}(ptr %context, ptr %work, i64 {done.get(name, 0)}, i64 {count})"
        done[name] = done.get(name, 0) + count


def _named(part: PlacedIteration | Writes, number: dict[tuple[object, ...], int]) -> str:
    return f"write{part.k}" if isinstance(part, Writes) else f"shape{number[part.iteration.key]}"


def _by_shape(outlined: Outline) -> dict[tuple[object, ...], list[PlacedIteration]]:
    groups: dict[tuple[object, ...], list[PlacedIteration]] = {}
    for part in outlined.parts:
        if isinstance(part, PlacedIteration):
            groups.setdefault(part.iteration.key, []).append(part)
    return groups


def _by_output(outlined: Outline) -> dict[int, list[Writes]]:
    groups: dict[int, list[Writes]] = {}
    for part in outlined.parts:
        if isinstance(part, Writes):
            groups.setdefault(part.k, []).append(part)
    return groups


def _varying(iterations: Sequence[Iteration]) -> list[int]:
    """Return the constants that differ between iterations of one shape."""
    columns = zip(*(each.constants for each in iterations), strict=True)
    return [k for k, column in enumerate(columns) if len({x.payload.hex() for x in column}) > 1]


def _row(constants: Sequence[float], slots: Sequence[int], layout: LoopLayout, *rest: int) -> bytes:
    """Return a row of a table, padded to eight bytes."""
    places = [8 * layout.lanes * slot for slot in slots] + list(rest)
    row = struct.pack(f"<{len(constants)}d{len(places)}i", *constants, *places)
    return row + bytes(-len(row) % 8)


def _table(name: str, rows: Sequence[bytes]) -> str:
    data = b"".join(rows)
    text = re.sub("..", lambda byte: "\\" + byte[0], data.hex().upper())
    return f'@table.{name} = internal constant [{len(data)} x i8] c"{text}", align 64'


def _shape(body: ShapeBody, name: str, iteration: Iteration, stride: int) -> str:
    """Return the function that runs iterations of a shape, given a first table row and a count."""
    w = body.w
    top = _begin(w, name, stride)
    stored = {
        s.id: position for position, s in enumerate(iteration.stored, start=len(iteration.outer))
    }
    for s in iteration.steps:
        body.value(s)
        if s.id in stored:
            w.store(w.V, body.value(s), body.slot(stored[s.id]), 8 * w.lanes)
    return _end(w, name, stride, top)


class ShapeBody(FunctionBody):
    """Writer of an iteration, which loads outer values and varying constants at first use."""

    def __init__(
        self,
        program: Program,
        layout: LoopLayout,
        writer: Writer,
        iteration: Iteration,
        varying: Sequence[int],
        addresses: Sequence[tuple[int | None, int]],
    ) -> None:
        super().__init__(program, layout, writer)
        self._addresses, self._bases = addresses, dict[int, str]()
        self._outer = {x.id: position for position, x in enumerate(iteration.outer)}
        self._varying = {iteration.constants[k].id: position for position, k in enumerate(varying)}

    def value(self, x: object) -> str:
        if isinstance(x, Expr) and x.id in self._outer and x.id not in self.values:
            self.values[x.id] = self.w.load(
                self.w.V, self.slot(self._outer[x.id]), 8 * self.w.lanes
            )
        return super().value(x)

    def constant(self, x: Expr) -> str:
        if x.id not in self._varying:
            return super().constant(x)
        if x.id not in self.values:
            w = self.w
            number = w.load("double", w.at("%row", 8 * self._varying[x.id], "i8"))
            first = w.line(f"insertelement {w.V} poison, double {number}, i64 0")
            self.values[x.id] = w.shuffle(first, "poison", [0] * w.lanes)
        return self.values[x.id]

    def slot(self, position: int) -> str:
        """Emit the address of a value to load or to store, those to load first."""
        base, distance = self._addresses[position]
        if base is None:
            return self.w.at("%slots", distance, self.w.V)
        if base not in self._bases:
            self._bases[base] = _slot(self.w, 8 * len(self._varying) + 4 * base)
        return self.w.at(self._bases[base], distance, self.w.V)


def _slot(w: Writer, byte: int) -> str:
    """Emit the address in the slots that is stored at some byte of the row."""
    offset = w.line(f"zext i32 {w.load('i32', w.at('%row', byte, 'i8'), 4)} to i64")
    return w.line(f"getelementptr i8, ptr %slots, i64 {offset}")


def _write(program: Program, layout: LoopLayout, w: Writer, k: int, stride: int) -> str:
    """Return the function that writes pairs of results of output k."""
    body = FunctionBody(program, layout, w)
    w.label("entry")
    rows = body.rows(len(program.inputs) + k)
    top = _begin(w, f"write{k}", stride)
    count = min(program.outputs[k].size, 2)
    values = [w.load(w.V, _slot(w, 4 * i), 8 * w.lanes) for i in range(count)]
    column = w.line(f"zext i32 {w.load('i32', w.at('%row', 8, 'i8'), 4)} to i64")
    write_pair(w, [w.line(f"getelementptr i8, ptr {row}, i64 {column}") for row in rows], 0, values)
    return _end(w, f"write{k}", stride, top)


def _begin(w: Writer, name: str, stride: int) -> int:
    """Begin a loop over rows of a table; return the index of the line for its counter."""
    if not w.lines:
        w.label("entry")
    w.do(f"%from = mul i64 %first, {stride}")
    w.do(f"%start = getelementptr i8, ptr @table.{name}, i64 %from")
    w.do("br label %next")
    w.label("next")
    return len(w.lines)


def _end(w: Writer, name: str, stride: int, top: int) -> str:
    w.lines[top:top] = [
        f"  %done = phi i64 [ 0, %entry ], [ %after, %{w.current} ]",
        f"  %row = phi ptr [ %start, %entry ], [ %following, %{w.current} ]",
    ]
    w.do("%after = add i64 %done, 1")
    w.do(f"%following = getelementptr i8, ptr %row, i64 {stride}")
    w.do("%more = icmp slt i64 %after, %count")
    w.do("br i1 %more, label %next, label %finished")
    w.label("finished")
    w.do("ret void")
    return w.function(
        f"internal void @{name}(ptr noalias %context, ptr noalias %slots, i64 %first, i64 %count)"
        " noinline #1"
    )


def _numbers(w: Writer, numbers: dict[str, int]) -> str:
    """Return the function that stores constant results in their slots."""
    w.label("entry")
    for number, slot in numbers.items():
        w.store(w.V, w.splat(float.fromhex(number)), w.at("%slots", slot, w.V), 8 * w.lanes)
    w.do("ret void")
    return w.function("internal void @numbers(ptr noalias %slots) noinline #1")

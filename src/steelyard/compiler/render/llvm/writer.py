"""Writer of the LLVM instructions of one function over vectors."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

# A comparison, whose predicate replaces "?". As in NumPy, NaN compares false and raises no flag,
# which plain `fcmp` does not promise.
COMPARE = (
    'call {M} @llvm.experimental.constrained.fcmp.{v}({V} {0}, {V} {1}, metadata !"?", metadata'
    ' !"fpexcept.strict")'
)


AVX2 = 4  # lanes


@dataclass
class Writer:
    """Lines of a function, and names of its values.

    `lanes`: doubles in a vector; `fused`: the processor has a fused multiply-add. V, K, M: vectors
    of f64, i64, i1. `constants`: index of each constant in the module's table, shared by its
    writers.
    """

    lanes: int
    fused: bool
    constants: dict[str, int] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    count: int = 0
    current: str = "entry"

    def __post_init__(self) -> None:
        self.V, self.v = f"<{self.lanes} x double>", f"v{self.lanes}f64"
        self.K, self.M = f"<{self.lanes} x i64>", f"<{self.lanes} x i1>"

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def line(self, instruction: str) -> str:
        """Add an instruction that has a value; return the value's name."""
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.current = name

    @property
    def keeping(self) -> str:
        """The calling convention that preserves all sixteen vector registers of AVX2."""
        return "preserve_allcc" if self.lanes == AVX2 else ""

    def splat(self, value: float) -> str:
        """Return a vector of one number.

        It is a constant, or on AVX2, whose operations cannot broadcast an operand, an entry of a
        table in memory.
        """
        bits = struct.pack(">d", value).hex().upper()
        if self.lanes != AVX2 or value == 0.0:
            return f"splat (double 0x{bits})"
        index = self.constants.setdefault(bits, len(self.constants))
        address = f"getelementptr ({self.V}, ptr @constants, i64 {index})"
        return self.line(
            f"load {self.V}, ptr {address}, align {8 * self.lanes}, !invariant.load !1"
        )

    def table(self) -> str:
        """Return the table of constants."""
        entries = ", ".join(f"{self.V} splat (double 0x{bits})" for bits in self.constants)
        head = f"@constants = internal constant [{len(self.constants)} x {self.V}]"
        return f"{head} [{entries}], align {8 * self.lanes}\n" if self.constants else ""

    def splat_int(self, value: int) -> str:
        return f"splat (i64 {value})"

    def mul(self, a: str, b: str) -> str:
        return self.line(f"fmul contract {self.V} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """Emit a b + c, rounded once if the processor can."""
        if self.fused:
            return self.line(
                f"call {self.V} @llvm.fma.{self.v}({self.V} {a}, {self.V} {b}, {self.V} {c})"
            )
        return self.line(f"fadd {self.V} {self.mul(a, b)}, {c}")

    def shuffle(self, a: str, b: str, order: Iterable[int], width: int | None = None) -> str:
        """Emit elements of a then b, two vectors of `width` doubles, in a given order."""
        mask = [f"i32 {i}" for i in order]
        kind = self.V if width is None else f"<{width} x double>"
        return self.line(
            f"shufflevector {kind} {a}, {kind} {b}, <{len(mask)} x i32> <{', '.join(mask)}>"
        )

    def at(self, base: str, count: int, kind: str = "double") -> str:
        """Emit the address `count` elements after a pointer."""
        return self.line(f"getelementptr {kind}, ptr {base}, i64 {count}") if count else base

    def load(self, kind: str, address: str, align: int = 8) -> str:
        return self.line(f"load {kind}, ptr {address}, align {align}")

    def store(self, kind: str, value: str, address: str, align: int = 8) -> None:
        self.do(f"store {kind} {value}, ptr {address}, align {align}")

    def function(self, head: str) -> str:
        """Return the text of the function."""
        return "\n".join([f"define {head} {{", *self.lines, "}", ""])

"""What is to be known of a program besides its machine code: enough to call a kernel that was compiled by another process."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from .program import Operand, Program


@dataclass(frozen=True)
class Interface:
    """Name, operands and size of a program, and the digest of what it computes."""

    name: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    operations: int
    nodes: int
    digest: str

    @staticmethod
    def of(program: Program) -> Interface:
        return Interface(program.name, program.inputs, program.outputs, program.operations, len(program.steps), program.digest)

    def write(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def read(text: bytes) -> Interface | None:
        """The interface that `write` gave, or None where the text is anything else."""
        try:
            found = json.loads(text)
            inputs, outputs = (tuple(Operand(o["name"], tuple(o["shape"]), o["unit"]) for o in found[way]) for way in ("inputs", "outputs"))
            return Interface(found["name"], inputs, outputs, int(found["operations"]), int(found["nodes"]), str(found["digest"]))
        except (ValueError, KeyError, TypeError):
            return None

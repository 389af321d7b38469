"""How long a call of the generated C takes, compiled for this machine and timed by C itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from steelyard.c_export import module, write_c
from steelyard.compiler.ir.program import Program
from steelyard.errors import ProblemError
from steelyard.mechanism.tree import Tree

FLAGS = ("-std=c99", "-O3", "-march=native", "-ffp-contract=fast")
STATES = 64  # a call's inputs change from one to the next, and all of them stay in the first cache

MAIN = """#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "{prefix}.h"

{tables}
{outputs}
static double now(void) {{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9*(double)t.tv_nsec;
}}

int main(void)
{{
  double best = 1e30, sum = 0.0;
  for (int round = 0; round < {rounds}; ++round) {{
    const double start = now();
    for (int k = 0; k < {calls}; ++k) {{
      const int s = k % {states};
      {call};
      sum += (double){first}[0];
    }}
    const double spent = now() - start;
    if (spent < best) best = spent;
  }}
  printf("%.17g %.17g\\n", 1e9*best/{calls}, sum);
  return 0;
}}
"""


def nanoseconds_per_call(
    tree: Tree,
    quantity: str,
    frame: str | None,
    *,
    real: str = "double",
    calls: int = 20000,
    rounds: int = 10,
) -> float:
    """Return the time of one call of the generated function [ns], the best of several rounds.

    `quantity` is a name of `kernels.ALGORITHMS`. Compiled with -O3 -march=native. The same work as
    one call of Pinocchio's C++ function.
    """
    result = module(tree, "timed", frame, real=real, functions=[quantity])
    with tempfile.TemporaryDirectory(prefix="steelyard-c-") as folder:
        _, source = write_c(result, folder)
        main = Path(folder) / "main.c"
        main.write_text(
            _main(result.programs[quantity], result.prefix, real, calls, rounds), encoding="ascii"
        )
        binary = Path(folder) / "timed"
        compile_c([source, main], binary, FLAGS)
        ran = subprocess.run([str(binary)], capture_output=True, text=True, check=True)
    return float(ran.stdout.split()[0])


def compile_c(sources: Sequence[Path], target: Path, flags: Sequence[str]) -> None:
    """Compile with the machine's C compiler ($CC, else cc, gcc or clang).

    What it has to say goes into the error.
    """
    command = [compiler(), *flags, *map(str, sources), "-o", str(target), "-lm"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode or ran.stderr:
        raise ProblemError(f"{' '.join(command)} failed: {ran.stderr.strip()[:2000]}")


def compiler() -> str:
    """The path of a C compiler."""
    named = os.environ.get("CC")
    result = next(
        (
            path
            for name in ([named] if named else ["cc", "gcc", "clang"])
            if (path := shutil.which(name))
        ),
        None,
    )
    if result is None:
        raise ProblemError(
            f"no C compiler is found ({named or 'cc, gcc or clang'}): generated C can be written"
            " but not compiled here"
        )
    return result


def _main(program: Program, prefix: str, real: str, calls: int, rounds: int) -> str:
    rng = np.random.default_rng(0)
    tables = [
        _table(o.name, rng.uniform(-1.0, 1.0, (STATES, max(o.size, 1))), real)
        for o in program.inputs
    ]
    outputs = [f"static {real} out_{o.name}[{max(o.size, 1)}];" for o in program.outputs]
    arguments = [f"in_{o.name}[s]" for o in program.inputs] + [
        f"out_{o.name}" for o in program.outputs
    ]
    first = f"out_{program.outputs[0].name}"
    return MAIN.format(
        prefix=prefix, tables="\n".join(tables), outputs="\n".join(outputs),
        call=f"{program.name}({', '.join(arguments)})", first=first, calls=calls, rounds=rounds,
        states=STATES,
    )  # fmt: skip


def _table(name: str, values: np.ndarray, real: str) -> str:
    rows = ",\n  ".join(
        "{" + ", ".join(repr(float(x)) + ("f" if real == "float" else "") for x in row) + "}"
        for row in values
    )
    return f"static const {real} in_{name}[{len(values)}][{values.shape[1]}] = {{\n  {rows}\n}};"

"""Install the wheel into a new environment and paste the code of a page into Python."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.house.documents.pages import cells

EXTRAS = "all,datasets"
BLOCK = re.compile(r"^```(python|sh|text)\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOWNLOAD = re.compile(r"\{download\}`(?:[^`<]*<)?([^`>]+)>?`")
READER = """
import code, contextlib, io, json, subprocess, sys

class Console(code.InteractiveConsole):
    def stop(self, *_, **__):
        raise
    showtraceback = showsyntaxerror = stop

blocks, console, count = json.load(sys.stdin), Console(), 0
for (kind, text), (after, says) in zip(blocks, [*blocks[1:], ["", ""]]):
    printed = io.StringIO()
    if kind == "sh":
        subprocess.run(["bash", "-ec", text], check=True)
    elif kind == "python":
        with contextlib.redirect_stdout(printed):
            for line in [*text.splitlines(), ""]:
                console.push(line)
        output = printed.getvalue().strip()
        assert after != "text" or output == says.strip(), f"prints\\n{output}\\nand not\\n{says}"
    count += kind != "text"
print(count, file=sys.__stdout__)
"""


def make_environment(repository: Path, folder: Path) -> Path:
    """Return the interpreter of a new environment with the wheel and its extras."""
    subprocess.run([sys.executable, "-m", "venv", folder / "fresh"], check=True)
    python = folder / "fresh" / "bin" / "python"
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as copy:  # building leaves files beside the source
        selected = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info")
        source = shutil.copytree(repository, Path(copy) / "source", ignore=selected)
        subprocess.run(
            [*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(source)], check=True
        )
    (wheel,) = folder.glob("*.whl")
    subprocess.run([*pip, "install", f"{wheel}[{EXTRAS}]"], check=True)
    return python


def paste(page: Path, python: Path) -> int:
    """Paste the code of a page or notebook into an interpreter, in an empty folder.

    Commands of a page are run between, except the README's, which name files of the reader. Returns
    how many blocks ran; an AssertionError has the output where one fails.
    """
    if page.suffix == ".ipynb":
        blocks, offered = [("python", cell.code) for cell in cells(page)], []
    else:
        text = page.read_text(encoding="utf-8")
        blocks = [
            (kind, code)
            for kind, code in BLOCK.findall(text)
            if kind != "sh" or page.name != "README.md"
        ]
        offered = DOWNLOAD.findall(text)
    with tempfile.TemporaryDirectory() as folder:
        for name in offered:
            shutil.copy(page.parent / name, folder)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment["STEELYARD_CACHE"] = str(python.parents[1] / "cache")
        environment["PATH"] = f"{python.parent}{os.pathsep}{environment['PATH']}"
        ran = subprocess.run(
            [python, "-c", READER],
            input=json.dumps(blocks),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return int(ran.stdout.split()[-1])

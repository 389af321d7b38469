"""Files are written by `steelyard.files` alone: no other module opens, renames or removes one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house.sources import modules, parse

WRITER = "files/"
MODE = re.compile(r"[rwaxbtU+]{1,4}")
METHODS = {
    "write_text", "write_bytes", "savez", "savez_compressed", "savetxt", "savemat", "tofile",
    "touch", "rename", "renames", "symlink", "symlink_to", "link_to", "hardlink_to", "unlink",
    "mkdir", "makedirs", "rmdir", "removedirs", "mkstemp", "mktemp", "NamedTemporaryFile",
    "TemporaryFile", "SpooledTemporaryFile", "write_csv", "write_parquet", "write_json",
    "write_ndjson", "write_ipc", "write_excel", "write_delta", "write_database", "sink_csv",
    "sink_parquet", "to_csv", "to_parquet", "to_excel", "to_pickle", "to_hdf", "to_feather",
    "savefig", "imsave", "write_html", "write_image", "extractall", "FileHandler",
    "RotatingFileHandler", "fdopen", "mkfifo", "mknod", "truncate", "chmod", "chown",
}  # fmt: skip
QUALIFIED = {
    "os": {"replace", "link", "remove", "write", "sendfile"},
    "np": {"save"},
    "numpy": {"save"},
    "json": {"dump"},
    "pickle": {"dump"},
    "yaml": {"dump"},
}
WHOLE = {"shutil"}  # every function of it
ARCHIVES = {"ZipFile", "TarFile", "File"}  # with a mode that writes
IN_MEMORY = {"BytesIO", "StringIO"}
FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC"}
OURS = {  # our own functions of these names, which end in `steelyard.files`
    ("experiments/rehearsal.py", "to_csv"),
    ("apps/commands/simulate.py", "to_csv"),
}


def name_of(node: ast.expr) -> str:
    return (
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else ""
    )


def owner_of(node: ast.expr) -> str:
    return (
        node.value.id
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        else ""
    )


def memory_names(tree: ast.AST) -> set[str]:
    """Variables that hold a file in memory."""
    assigned = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
    ]
    return {
        name_of(target)
        for node in assigned
        if name_of(node.value.func) in IN_MEMORY
        for target in node.targets
    }  # type: ignore[attr-defined]


def modes(call: ast.Call) -> Iterator[ast.expr]:
    """Arguments of an opening call that may be its mode; of the builtin the second one."""
    yield from (keyword.value for keyword in call.keywords if keyword.arg == "mode")
    if isinstance(call.func, ast.Name):
        yield from call.args[1:2]
    else:
        texts = [a for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        yield from (a for a in texts if MODE.fullmatch(a.value))  # type: ignore[arg-type]


def opens_to_write(call: ast.Call) -> bool:
    if any(isinstance(a, ast.Starred) for a in call.args) and isinstance(call.func, ast.Name):
        return True
    first = call.args[0] if call.args else None
    if first is not None and (
        ast.unparse(first) == "os.devnull" or ast.unparse(first).startswith("os.dup(")
    ):
        return False
    if owner_of(call.func) == "os":
        return any(flag in ast.unparse(call) for flag in FLAGS)
    return any(
        not isinstance(mode, ast.Constant) or bool(set(str(mode.value)) & set("wax+"))
        for mode in modes(call)
    )


def writes(call: ast.Call, memory: set[str]) -> bool:
    """Whether a call writes to the file system."""
    name, owner = name_of(call.func), owner_of(call.func)
    if call.args and name_of(call.args[0]) in memory:
        return False
    if name == "open":
        return opens_to_write(call)
    if name in ARCHIVES:
        return any(
            bool(set(str(mode.value)) & set("wax+"))
            for mode in modes(call)
            if isinstance(mode, ast.Constant)
        )
    return name in METHODS or owner in WHOLE or name in QUALIFIED.get(owner, set())


def imports(node: ast.AST) -> Iterator[str]:
    """Names that an import takes out of a module, so that the rule would not see whose they are."""
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        for alias in node.names:
            if node.module in WHOLE or alias.name in QUALIFIED.get(
                node.module or "", set()
            ) | METHODS | {"open"}:
                yield f"from {node.module} import {alias.name}"


def offences(module: str, tree: ast.Module) -> list[str]:
    """Calls of a module that write files."""
    memory = memory_names(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and writes(node, memory)]
    listed = [
        f"line {call.lineno}: {ast.unparse(call)[:80]}"
        for call in calls
        if (module, name_of(call.func)) not in OURS
    ]
    return listed + [text for node in ast.walk(tree) for text in imports(node)]


def test_every_exception_is_needed() -> None:
    calls = {
        (name, name_of(n.func))
        for name, path in modules().items()
        for n in ast.walk(parse(path))
        if isinstance(n, ast.Call)
    }
    assert calls >= OURS


def test_files_are_written_by_the_one_writer() -> None:
    wrong = {
        name: result
        for name, path in modules().items()
        if not name.startswith(WRITER) and (result := offences(name, parse(path)))
    }
    assert not wrong, "write through steelyard.files: " + "; ".join(
        f"{name} {result}" for name, result in wrong.items()
    )


@pytest.mark.parametrize(
    "line",
    [
        "open(path, 'w')", "open(path, mode='ab')", "open(path, 'r+')", "open(path, mode)",
        "open(path, *options)", "path.open('wb')", "io.open(path, 'x')", "gzip.open(path, 'wb')",
        "os.open(path, os.O_RDWR | os.O_CREAT)", "path.write_text(t)", "p.write_bytes(b)",
        "np.savez(path, a=1)", "np.save(path, a)", "np.savetxt(path, a)", "os.replace(a, b)",
        "a.rename(b)", "shutil.copy2(a, b)", "frame.write_csv(path)", "frame.write_parquet(path)",
        "frame.to_csv(path)", "json.dump(data, file)", "path.touch()", "zipfile.ZipFile(path, 'w')",
        "path.unlink()", "path.mkdir()", "tempfile.NamedTemporaryFile()", "figure.savefig(path)",
        "from shutil import copy", "from os import replace", "a.symlink_to(b)",
        "logging.FileHandler(path)",
    ],
)  # fmt: skip
def test_the_rule_sees_every_way_to_write(line: str) -> None:
    assert offences("m.py", ast.parse(line)), line


@pytest.mark.parametrize(
    "line",
    [
        "open(path)", "open(path, 'rb')", "path.open('rb')", "os.open(path, os.O_RDONLY)",
        "open(os.devnull, 'w')", "text.replace(a, b)", "f = io.BytesIO()\nnp.savez(f, a=1)",
        "window.open('robot')", "webbrowser.open(url)", "json.dumps(data)", "from ..files import x",
        "f = io.BytesIO()\nzipfile.ZipFile(f, 'w')",
    ],
)  # fmt: skip
def test_the_rule_lets_reading_and_memory_pass(line: str) -> None:
    assert not offences("m.py", ast.parse(line)), line

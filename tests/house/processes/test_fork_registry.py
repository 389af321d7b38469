"""Locks, threads, pools, handles and caches that live as long as the process.

Each is registered for forks, or a reason is given.

They are looked for in the source and in the memory of a process that has used all of steelyard;
planted ones are found.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from tests.house.processes import kept_objects
from tests.house.sources import modules, parse

# what holds a lock or threads for as long as the process lives: as it is written
# ----------------------------------------------------------

HOLDERS = {
    "Lock",
    "RLock",
    "Condition",
    "Semaphore",
    "BoundedSemaphore",
    "Barrier",
    "Event",
    "Thread",
    "Timer",
    "local",
    "Popen",
    "Process",
}
HOLDERS |= {
    "SimpleQueue",
    "Queue",
    "LifoQueue",
    "PriorityQueue",
    "JoinableQueue",
    "Manager",
    "socket",
    "create_connection",
}
HOLDERS |= {
    "ThreadPoolExecutor",
    "ProcessPoolExecutor",
    "InterpreterPoolExecutor",
    "ThreadPool",
    "Pool",
}
CACHES = {"cache", "lru_cache", "WeakKeyDictionary", "WeakValueDictionary", "WeakSet"}
CONTAINERS = {"dict", "list", "set", "defaultdict", "OrderedDict", "Counter", "deque"}
CHANGES = {
    "append",
    "add",
    "setdefault",
    "update",
    "pop",
    "popitem",
    "clear",
    "extend",
    "insert",
    "remove",
    "discard",
    "appendleft",
}
REGISTERED = {"once_per_process", "fork_waits_for"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def called(node: ast.expr) -> str:
    """The last name of what is called: 'RLock' of threading.RLock()."""
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )


def unregistered(node: ast.AST, local: bool = False) -> Iterator[int]:
    """Lines that make a lock or a pool which lives on.

    At module level, in a class, or in a function that keeps its value.

    In a function's `with` statement they end with it.
    """
    if isinstance(node, ast.Call) and called(node.func) in REGISTERED:
        return
    if isinstance(node, ast.FunctionDef) and any(
        called(d) in REGISTERED for d in node.decorator_list
    ):
        return
    if isinstance(node, ast.With) and local:
        for part in node.body:
            yield from unregistered(part, local)
        return
    if isinstance(node, ast.Call) and called(node.func) in HOLDERS:
        yield node.lineno
    for child in ast.iter_child_nodes(node):
        yield from unregistered(child, local or isinstance(node, ast.FunctionDef))


def cached(tree: ast.AST) -> Iterator[str]:
    """Return cached functions, weak mappings, and containers that functions change."""
    changed = {
        name
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS)
        for part in ast.walk(node)
        for name in changes(part)
    }
    for owner in ast.walk(tree):
        if isinstance(owner, ast.FunctionDef) and any(_is_cache(d) for d in owner.decorator_list):
            yield owner.name
        if not isinstance(owner, ast.Module | ast.ClassDef):
            continue
        for node in owner.body:
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            for name in map(called, targets):
                if value is not None and (
                    _is_cache(value) or (_is_container(value) and name in changed)
                ):
                    yield name


def _is_cache(node: ast.expr) -> bool:
    return called(node.func if isinstance(node, ast.Call) else node) in CACHES or (
        isinstance(node, ast.Call) and _is_cache(node.func)
    )


def _is_container(node: ast.expr) -> bool:
    literal = isinstance(
        node, ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp
    )
    return literal or (isinstance(node, ast.Call) and called(node.func) in CONTAINERS)


def changes(node: ast.AST) -> Iterator[str]:
    """Names that a statement changes.

    Name[...] = ..., del name[...], name.append(...), `global name`.
    """
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        yield called(node.value)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CHANGES
    ):
        yield called(node.func.value)
    if isinstance(node, ast.Global):
        yield from node.names


def test_every_lock_and_pool_is_registered() -> None:
    results = {
        f"{name}:{line}"
        for name, path in modules().items()
        for line in unregistered(parse(path))
        if name not in STARTS_PROCESSES
    }
    assert not results, (
        f"make these by once_per_process or fork_waits_for of fork.py: {sorted(results)}"
    )


STARTS_PROCESSES = {
    "isolation/child.py": "the child that a fork leaves to its parent, by reset_after_fork",
    "identification/out_of_core/run_tasks.py": (
        "the workers of one call, which end with it, and of which a forked child knows nothing"
    ),
    "parent_process.py": (
        "the thread of a child that watches its parent; what the child forks is the child's, and"
        " holds no lock of it"
    ),
    "apps/page/job.py": (
        "the work of a window, begun by the server of the page, which is its own process and"
        " starts others by spawn"
    ),
}
PLANTED = {
    "lock = RLock()": 1,
    "pool = ThreadPoolExecutor(2)": 1,
    "state = threading.local()": 1,
    "class A:\n    lock = Lock()": 2,
    "class A:\n    def __init__(self):\n        self.lock = threading.Lock()": 3,
    "@cache\ndef pool():\n    return ThreadPoolExecutor(2)": 3,
    "@once_per_process\ndef pool():\n    return ThreadPoolExecutor(2)": None,
    "lock = once_per_process(RLock)": None,
    "lock = fork_waits_for(RLock())": None,
    "def run():\n    with ThreadPoolExecutor(2) as pool:\n        return pool.map(f, x)": None,
    "with RLock() as lock:\n    pass": 1,
}


@pytest.mark.parametrize("text", PLANTED)
def test_the_search_finds_them(text: str) -> None:
    assert next(unregistered(ast.parse(text)), None) == PLANTED[text]


# caches: why a forked child may go on with what its parent had
# ----------------------------------------------------------------------------

PURE = (
    "values that depend on the arguments alone and are never changed; no lock is held while one is"
    " made"
)
REASONS = {
    "apps/group_options.py:_groups": "filled at import, the same in every process",
    "signals/clean/cleaning.py:_cleaned": "logs that are clean stay so in a child",
    "mechanism/known_robots.py:example_files": "installed packages are the same in a child",
    "files/staging.py:_open": "open folders: a child inherits the descriptors",
    **dict.fromkeys(
        ("closed_form/normal_form.py:_times", "closed_form/normal_form.py:sum_of_waves"), PURE
    ),
    **dict.fromkeys(
        ("closed_form/normal_form.py:product_of_waves", "mechanism/known_torque.py:_parsed"), PURE
    ),
    **dict.fromkeys(
        (
            "identification/samples/decimation.py:band",
            "identification/samples/decimation.py:filter_weights",
        ),
        PURE,
    ),
    "identification/out_of_core/fold_spec.py:shared_copy": PURE,
    **dict.fromkeys(
        (
            "motion/trajectories/bspline.py:from_values",
            "simulation/integrators.py:butcher_table",
            "signals/schema.py:_rows",
        ),
        PURE,
    ),
    **dict.fromkeys(
        (
            "compiler/runtime/cache.py:_digest",
            "reporting/page.py:plotting_library",
            "files/temporary.py:_machine",
        ),
        PURE,
    ),
    "compiler/runtime/gufunc.py:_constructor": "an address in NumPy, the same in a child",
    **dict.fromkeys(
        (
            f"compiler/runtime/single_call.py:{name}"
            for name in ("_array_table", "_constants", "_constructor", "_has_expected_layout")
        ),
        "addresses in Python and NumPy and how they lay objects out, the same in a child",
    ),
    "compiler/runtime/single_call.py:_load_entry": "machine code, which is in a child's memory too",
    "compiler/runtime/fold_rows.py:fold_layout": (
        "places and addresses in memory that a child has too; what is there is never changed"
    ),
    "compiler/runtime/jit.py:library": "addresses in the C library, the same in a child",
    "compiler/runtime/jit.py:host": "what processor this is",
    "compiler/runtime/jit.py:_llvm": "a fork waits until no thread is in LLVM (jit.lock)",
    "compiler/runtime/jit.py:_jit": "a fork waits until no thread is in LLVM (jit.lock)",
    "compiler/runtime/fold_rows.py:_fold_function": (
        "machine code, which is in a child's memory too"
    ),
    "compiler/runtime/gufunc.py:_immortal": "memory that is never given back",
    "kernels/__init__.py:_kernels": (
        "machine code, which is in a child's memory too; each change is one step"
    ),
    "motion/inverse_kinematics/analytic.py:analytic": "kernels, which are in a child's memory too",
    "motion/inverse_kinematics/numerical.py:_closed_starts": (
        "kernels, which are in a child's memory too"
    ),
    "motion/inverse_kinematics/numerical.py:ik_step_kernel": (
        "kernels, which are in a child's memory too"
    ),
    "motion/inverse_kinematics/solve.py:_known": (
        "kernels and arrays that nothing writes to; each change is one step"
    ),
    "motion/inverse_kinematics/solve.py:_recent": (
        "kernels and arrays that nothing writes to; each change is one step"
    ),
    "identification/model/accumulator.py:_libraries": (
        "libraries of linear algebra, loaded at the same place in a child"
    ),
    "files/temporary.py:_swept": "folders; a child need not look through them again",
    "compiler/runtime/elf.py:executable_memory": "what the system allows, the same in a child",
    "experiments/online/collision_calibration.py:_calibrations": (
        "results by fit; each change is one step"
    ),
    "motion/trajectories/timed_path.py:_to_bernstein": "constant matrices that nothing writes to",
    "fork.py:_lost": "changed by reset_after_fork alone",
    "isolation/child.py:_running": "emptied by reset_after_fork",
}


def test_every_cache_has_a_reason_to_be_kept_by_a_forked_child() -> None:
    results = {f"{name}:{each}" for name, path in modules().items() for each in cached(parse(path))}
    assert results - set(REASONS) == set(), (
        "register these by fork.py, or say in REASONS why a forked child may keep them"
    )
    assert set(REASONS) - results == set(), "these are no more"


CACHED = {
    "@cache\ndef f(): ...": ["f"],
    "@functools.lru_cache(maxsize=3)\ndef f(): ...": ["f"],
    "class A:\n    @lru_cache\n    def f(self): ...": ["f"],
    "f = lru_cache(8)(g)": ["f"],
    "known = {}\ndef f(x):\n    known[x] = 1": ["known"],
    "known: list[int] = []\ndef f(x):\n    known.append(x)": ["known"],
    "known = defaultdict(int)\ndef f(x):\n    del known[x]": ["known"],
    "class A:\n    known = set()\n    def f(self):\n        self.known.add(1)": ["known"],
    "known = WeakKeyDictionary()": ["known"],
    "known = {}\ndef f():\n    global known\n    known = 1": ["known"],
    "TABLE = {1: 2}\ndef f(x):\n    return TABLE[x]": [],
    "def f(x):\n    known = {}\n    known[x] = 1": [],
}


@pytest.mark.parametrize("text", CACHED)
def test_the_search_finds_caches(text: str) -> None:
    assert list(cached(ast.parse(text))) == CACHED[text]


# the same, as it is in memory
# ----------------------------------------------------------------------------


def test_modules_in_use_keep_nothing_else(root: Path) -> None:
    """All modules imported and calls of every kind made.

    No lock, thread or handle but the registered ones, no cache without a reason.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-W", "ignore", "-m", "tests.house.processes.kept_objects"]
    done = subprocess.run(
        command, env=environment, cwd=root, check=True, timeout=300, stdout=subprocess.PIPE
    )
    data = json.loads(done.stdout)
    assert data["holders"] == [], "make these by once_per_process or fork_waits_for of fork.py"
    assert data["rebound"] == []
    known = {_dotted(key) for key in REASONS}
    assert set(data["caches"] + data["grown"]) - known == set()
    assert len(data["caches"]) > 15


def _dotted(key: str) -> str:
    path, name = key.split(":")
    return (
        f"steelyard.{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}.{name}"
    )


IN_MEMORY = {
    "lock = threading.Lock()": "lock (lock)",
    "class A:\n    lock = threading.RLock()": "A.lock (RLock)",
    "class A:\n    def __init__(self):\n        self.lock = threading.Condition()\na = A()": (
        "a.lock (Condition)"
    ),
    "class A:\n    __slots__ = ('lock',)\na = A()\na.lock = threading.Lock()": "a.lock (lock)",
    "made = {'pool': [ThreadPoolExecutor(1)]}": "made['pool'][0] (ThreadPoolExecutor)",
    "def f(lock=threading.Lock()): ...": "f() (lock)",
    "def g():\n    lock = threading.Lock()\n    return lambda: lock\nf = g()": "f() (lock)",
    "f = functools.partial(print, threading.Event())": "f() (Event)",
    "state = threading.local()": "state (_local)",
    "@functools.cache\ndef f():\n    return 1\nf.lock = threading.Lock()": "f.lock (lock)",
}


@pytest.mark.parametrize("text", IN_MEMORY)
def test_what_is_kept_is_found_in_memory(text: str) -> None:
    planted = ModuleType("steelyard.planted")
    planted.__dict__.update(
        threading=threading, functools=functools, ThreadPoolExecutor=ThreadPoolExecutor
    )
    exec(text, planted.__dict__)
    assert f"steelyard.planted.{IN_MEMORY[text]}" in kept_objects.holders([planted])


MADE_BY_FORK = """
import threading
from concurrent.futures import ThreadPoolExecutor
from steelyard.fork import fork_waits_for, once_per_process

lock = fork_waits_for(threading.Lock())

@once_per_process
def pool():
    return ThreadPoolExecutor(1)

pool()
"""


def test_what_is_registered_is_no_finding() -> None:
    planted = ModuleType("steelyard.planted")
    with kept_objects.Registered() as registered:
        exec(MADE_BY_FORK, planted.__dict__)
    assert {
        path.removeprefix("steelyard.planted.")[:4] for path in kept_objects.holders([planted])
    } == {"lock", "pool"}
    assert kept_objects.holders([planted], registered.objects()) == []


def test_caches_are_found_in_memory() -> None:
    planted = ModuleType("steelyard.planted")
    exec(
        "import functools\n@functools.cache\ndef f(x): return x\nknown = {}\nother = 1",
        planted.__dict__,
    )
    before, bound = kept_objects.sizes([planted]), kept_objects.names([planted])
    assert kept_objects.caches([planted]) == ["steelyard.planted.f"]
    planted.known["x"], planted.other = 1, 2
    assert kept_objects.grown(before) == ["steelyard.planted.known"]
    assert kept_objects.rebound([planted], bound) == ["steelyard.planted.other"]

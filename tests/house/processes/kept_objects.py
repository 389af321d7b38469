"""What modules keep for as long as the process lives.

Locks, threads, pools, handles and caches, found in the objects themselves.

`python -m tests.house.processes.kept_objects` imports every module of steelyard, makes
calls of every kind, and prints what it finds as JSON.
"""

from __future__ import annotations

import functools
import gc
import importlib
import io
import json
import multiprocessing.pool
import os
import pkgutil
import queue
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from types import FunctionType, ModuleType
from typing import Any

LOCKS = (
    type(threading.Lock()),
    type(threading.RLock()),
    threading.Condition,
    threading.Semaphore,
    threading.Barrier,
    threading.Event,
)
QUEUES = (queue.Queue, queue.SimpleQueue)
THREADS = (
    threading.Thread,
    threading.local,
    Executor,
    multiprocessing.pool.Pool,
    multiprocessing.process.BaseProcess,
)
HANDLES = (subprocess.Popen, socket.socket, io.IOBase)
HOLDERS = (*LOCKS, *QUEUES, *THREADS, *HANDLES)
WEAK = (weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)
CACHES = (functools._lru_cache_wrapper, *WEAK)
CONTAINERS = (dict, list, set)


class Registered:
    """What was registered for forks while the block ran.

    The objects whose methods are called, and those that a function names.
    """

    def __enter__(self) -> Registered:
        self.callbacks: list[Any] = []
        self.real = os.register_at_fork
        os.register_at_fork = self._note  # type: ignore[assignment]
        return self

    def __exit__(self, *_: object) -> None:
        os.register_at_fork = self.real

    def _note(self, **callbacks: Callable[[], Any]) -> None:
        self.callbacks.extend(callbacks.values())
        self.real(**callbacks)

    def objects(self) -> list[Any]:
        """Return them; where a function is called, the globals that it uses."""
        results = []
        for callback in self.callbacks:
            if isinstance(callback, FunctionType):
                results += [
                    callback.__globals__[name]
                    for name in callback.__code__.co_names
                    if name in callback.__globals__
                ]
            else:
                results.append(callback.__self__)
        return results


def kept(modules: Iterable[ModuleType], beyond: Iterable[Any] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every object that modules of steelyard keep, with the path to it.

    What is `beyond` is not looked into.

    Looked into: attributes of modules, of classes and of their instances, items of containers,
    closures and default arguments.
    """
    seen = {id(each) for each in beyond}
    waiting = [
        (f"{module.__name__}.{name}", value)
        for module in modules
        for name, value in list(vars(module).items())
    ]
    while waiting:
        path, value = waiting.pop()
        if id(value) in seen or isinstance(value, ModuleType) or not _own(value):
            continue
        seen.add(id(value))
        yield path, value
        waiting += [(f"{path}{step}", part) for step, part in _parts(value)]


def _own(value: Any) -> bool:
    """Whether it may keep something of ours: no class and no function of another package."""
    named = isinstance(value, (type, FunctionType))
    return not named or (getattr(value, "__module__", None) or "").startswith("steelyard")


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object keeps, each with the step to it."""
    yield from _items(value)
    for name in ("__func__", "__wrapped__", "__self__", "fget"):
        if (part := _attribute(value, name)) is not None:
            yield "", part
    attributes = _attribute(value, "__dict__")
    yield from ((f".{name}", part) for name, part in list((attributes or {}).items()))
    for name in _slots(type(value)):
        if (part := _attribute(value, name)) is not None:
            yield f".{name}", part


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{key!r:.40}]", part) for key, part in list(value.items()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from ((f"[{number}]", part) for number, part in enumerate(list(value)))
    elif isinstance(value, FunctionType):
        yield from (("()", cell.cell_contents) for cell in value.__closure__ or () if _filled(cell))
        yield from (
            ("()", part)
            for part in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        )
    elif isinstance(value, functools.partial):
        yield from (("()", part) for part in (value.func, *value.args, *value.keywords.values()))


def _slots(kind: type) -> Iterator[str]:
    for each in kind.__mro__:
        slots = vars(each).get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _attribute(value: Any, name: str) -> Any:
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return None


def holders(modules: Iterable[ModuleType], registered: Iterable[Any] = ()) -> list[str]:
    """Return the paths of locks, threads, pools and handles that are not registered for forks."""
    return [
        f"{path} ({type(value).__name__})"
        for path, value in kept(modules, registered)
        if isinstance(value, HOLDERS)
    ]


def caches(modules: Iterable[ModuleType], registered: Iterable[Any] = ()) -> list[str]:
    """Return the names of cached functions and of weak mappings."""
    results = [
        (path, value) for path, value in kept(modules, registered) if isinstance(value, CACHES)
    ]
    return sorted(
        {
            path if isinstance(value, WEAK) else f"{value.__module__}.{value.__qualname__}"
            for path, value in results
        }
    )


def sizes(
    modules: Iterable[ModuleType], registered: Iterable[Any] = ()
) -> dict[int, tuple[str, Any, int]]:
    """Return path, object and size of the containers that modules and classes keep under a name."""
    known = list(modules)
    named = [(module.__name__, vars(module)) for module in known]
    named += [
        (f"{cls.__module__}.{cls.__qualname__}", vars(cls))
        for _, cls in kept(known, registered)
        if isinstance(cls, type)
    ]
    skipped = {id(each) for each in registered}
    pairs = [
        (f"{owner}.{name}", value)
        for owner, names in named
        for name, value in list(names.items())
        if isinstance(value, CONTAINERS)
    ]
    return {
        id(value): (path, value, len(value))
        for path, value in pairs
        if id(value) not in skipped and not path.endswith("__")
    }


def grown(before: dict[int, tuple[str, Any, int]]) -> list[str]:
    """Return the paths of containers whose size has changed."""
    return sorted({path for path, value, size in before.values() if len(value) != size})


def rebound(modules: Iterable[ModuleType], before: dict[str, dict[str, int]]) -> list[str]:
    """Return the names that modules have bound to something else."""
    now = names(modules)
    return sorted(
        f"{module}.{name}"
        for module, bound in before.items()
        for name, point in bound.items()
        if now[module].get(name) != point
    )


def names(modules: Iterable[ModuleType]) -> dict[str, dict[str, int]]:
    """Return what each name of each module is bound to."""
    return {
        module.__name__: {name: id(value) for name, value in vars(module).items()}
        for module in modules
    }


def package() -> list[ModuleType]:
    """Import all modules of steelyard."""
    import steelyard

    result = pkgutil.walk_packages(steelyard.__path__, "steelyard.")
    return [
        steelyard,
        *(
            importlib.import_module(each.name)
            for each in result
            if not each.name.endswith("__main__")
        ),
    ]


def main() -> None:
    """Print what steelyard keeps, after calls of every kind."""
    with Registered() as registered:
        modules = package()
    known = registered.objects()
    before, bound = sizes(modules, known), names(modules)
    from benchmarks.soak.calls import CALLS
    from benchmarks.soak.workers import answer

    for kind, (call, _) in CALLS.items():
        answer(call, 0, 0, kind)
    gc.collect()
    results = {
        "holders": holders(modules, known),
        "caches": caches(modules, known),
        "grown": grown(before),
        "rebound": rebound(modules, bound),
    }
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()

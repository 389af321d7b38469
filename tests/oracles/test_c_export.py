"""Generated C against the kernels.

Compiled without a warning, called through ctypes, equal to rounding.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from benchmarks.generated_c import compile_c, compiler, nanoseconds_per_call
from steelyard.c_export import FUNCTIONS
from steelyard.c_export.c_functions import EQUATIONS, FRAMED, identifier
from steelyard.c_export.c_module import Module, header, module, write_c
from steelyard.kernels import ALGORITHMS, kernel
from steelyard.mechanism.edit import tips

STRICT = (
    "-Wall",
    "-Wextra",
    "-Werror",
    "-std=c99",
    "-pedantic",
    "-Wconversion",
    "-Wshadow",
    "-shared",
    "-fPIC",
    "-O1",
)
URDF = {"ur5": "ur_description/urdf/ur5_robot.urdf", "panda": "panda_description/urdf/panda.urdf"}
ROBOTS = ["planar_2r", "planar_rp", "spatial_3r", "puma560", *URDF]


def robot_of(name: str, example_robots: Path) -> sy.Robot:
    return sy.load(example_robots / URDF[name] if name in URDF else name)


def frame_of(robot: sy.Robot) -> str:
    """The last frame of the robot's last tip."""
    return tips(robot.mechanism)[-1]


def module_of(robot: sy.Robot, **options: object) -> Module:
    return module(robot.tree, robot.name, frame_of(robot), **options)


def library(result: Module, folder: Path) -> ctypes.CDLL:
    _, source = write_c(result, folder)
    target = folder / "module.so"
    compile_c([source], target, STRICT)
    return ctypes.CDLL(str(target))


def call(
    lib: ctypes.CDLL, result: Module, name: str, state: dict[str, np.ndarray]
) -> list[np.ndarray]:
    """One call per sample, as a controller would."""
    program = result.programs[name]
    kind = ctypes.c_double if result.real == "double" else ctypes.c_float
    function = getattr(lib, program.name)
    function.restype = None
    results: list[list[np.ndarray]] = [[] for _ in program.outputs]
    for k in range(len(state["q"])):
        out = [(kind * o.size)() for o in program.outputs]
        function(*((kind * o.size)(*np.ravel(state[o.name][k])) for o in program.inputs), *out)
        for rows, array, o in zip(results, out, program.outputs, strict=True):
            rows.append(np.array(array, dtype=float).reshape(o.shape))
    return [np.array(rows) for rows in results]


def compiled(robot: sy.Robot, name: str, state: dict[str, np.ndarray]) -> list[np.ndarray]:
    outcome = kernel(robot.tree, name, frame=frame_of(robot) if name in FRAMED else None)
    result = outcome(*(state[x] for x in ALGORITHMS[name].inputs))
    return list(result) if isinstance(result, tuple) else [result]


def bound(quantity: str) -> float:
    """1e-12 relative; dividing by the mass matrix twice loses digits by its condition."""
    return 1e-9 if quantity == "forward_dynamics_derivatives" else 1e-12


def states(robot: sy.Robot, rng: np.random.Generator, count: int = 5) -> dict[str, np.ndarray]:
    names = ("q", "qd", "qdd", "tau", "qrd", "qrdd", "z", "dq")
    results = dict(zip(names, rng.uniform(-2.0, 2.0, (len(names), count, robot.n)), strict=True))
    return {**results, "wrench": rng.uniform(-9.0, 9.0, (count, len(robot.tree.bodies), 6))}


@pytest.mark.parametrize("name", ROBOTS)
def test_c_equals_the_kernels(
    name: str, example_robots: Path, rng: np.random.Generator, tmp_path: Path
) -> None:
    robot = robot_of(name, example_robots)
    everything = (
        [*FUNCTIONS] if robot.n > 3 else [*FUNCTIONS, *(f for f in EQUATIONS if f not in FUNCTIONS)]
    )
    written_module = module_of(robot, functions=everything)
    lib, state = library(written_module, tmp_path), states(robot, rng)
    for quantity in everything:
        for expected, got in zip(
            compiled(robot, quantity, state),
            call(lib, written_module, quantity, state),
            strict=True,
        ):
            assert np.abs(got - expected.reshape(got.shape)).max() <= bound(quantity) * max(
                np.abs(expected).max(), 1e-12
            ), quantity


@pytest.mark.parametrize("name", ["planar_rp", "puma560", "panda"])
def test_float_compiles_and_is_as_near_as_float_can_be(
    name: str, example_robots: Path, rng: np.random.Generator, tmp_path: Path
) -> None:
    robot = robot_of(name, example_robots)
    written_module = module_of(robot, real="float")
    lib, state = library(written_module, tmp_path), states(robot, rng)
    assert "double" not in "".join(path.read_text() for path in tmp_path.glob("*.[hc]"))
    for quantity in FUNCTIONS:
        (expected,), (got,) = (
            compiled(robot, quantity, state),
            call(lib, written_module, quantity, state),
        )
        error = np.abs(got - expected).max() / np.abs(expected).max()
        assert error <= (1e-2 if quantity == "forward_dynamics" else 2e-5), quantity
        if quantity == "inverse_dynamics":
            assert error > 1e-9, "this would be double"


def test_the_header_works_in_cpp(tmp_path: Path) -> None:
    cpp = shutil.which("c++") or shutil.which("g++")
    if cpp is None:
        pytest.skip("no C++ compiler on this machine")
    write_c(module_of(sy.load("planar_2r")), tmp_path)
    use = (
        "double f() { double q[2] = {0, 0}, g[2]; planar_2r_gravity_torque(q, g); return g[0]; }\n"
    )
    (tmp_path / "use.cpp").write_text('#include "planar_2r.h"\n' * 2 + use)
    subprocess.run(
        [cpp, "-Wall", "-Wextra", "-Werror", "-pedantic", "-c", "use.cpp"], cwd=tmp_path, check=True
    )


def test_the_source_allocates_nothing_and_needs_only_math(tmp_path: Path) -> None:
    _, source = write_c(module_of(sy.load("puma560")), tmp_path)
    text = source.read_text()
    assert [line for line in text.splitlines() if line.startswith("#include")] == [
        '#include "puma560.h"',
        "#include <math.h>",
    ]
    assert "alloc" not in text
    assert "static" not in text


def test_the_header_is_literature(tmp_path: Path) -> None:
    robot = sy.load("puma560")
    written_module = module_of(robot, fingerprint=robot.fingerprint)
    text = header(written_module)
    assert sy.__version__ in text
    assert robot.fingerprint in text
    assert all(f" {name} " in text for name in (*robot.joint_names, *robot.parameter_names))
    for quantity in FUNCTIONS:
        program = written_module.programs[quantity]
        assert f"puma560_{quantity}: {program.operations} operations" in text
        assert all(
            f"{o.name}[{'x'.join(map(str, o.shape))}]" in text and o.unit in text
            for o in (*program.inputs, *program.outputs)
        )
    assert max(map(len, text.splitlines())) <= 160


def test_the_same_robot_gives_the_same_text(tmp_path: Path) -> None:
    texts = []
    for folder in ("one", "two"):
        paths = write_c(module_of(sy.load("spatial_3r")), tmp_path / folder)
        texts.append([path.read_text() for path in paths])
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("name", "expected"), [
    ("planar_2r", "planar_2r"), ("UR-5e (left)", "ur_5e_left"), ("2r", "robot_2r"),
    ("int", "robot_int"), ("class", "robot_class"), ("", "robot"),
    ("Größe*/#define", "groe_define"), ("__x__", "x"), ("机器人", "robot"),
])  # fmt: skip
def test_names_become_identifiers(name: str, expected: str) -> None:
    assert identifier(name) == expected


def test_a_name_cannot_leave_its_comment(tmp_path: Path) -> None:
    robot = sy.load("planar_2r")
    result = module(robot.tree, 'x */ int evil; /* \n#include "y" ??/', robot.end_effector)
    _, source = write_c(result, tmp_path)
    compile_c([source], tmp_path / "module.so", STRICT)
    assert not hasattr(ctypes.CDLL(str(tmp_path / "module.so")), "evil")


def test_nothing_is_written_over_unless_asked(tmp_path: Path) -> None:
    written_module = module_of(sy.load("planar_2r"))
    (tmp_path / "planar_2r.c").write_text("precious")
    with pytest.raises(sy.CallError, match=r"planar_2r\.c exists already; pass overwrite=True"):
        write_c(written_module, tmp_path)
    assert (tmp_path / "planar_2r.c").read_text() == "precious"
    assert not (tmp_path / "planar_2r.h").exists()
    write_c(written_module, tmp_path, overwrite=True)
    assert "planar_2r_jacobian" in (tmp_path / "planar_2r.c").read_text()


def _full_for_c(real: Callable[..., None]) -> Callable[..., None]:
    """A function of `os` that fails where it would make a .c file."""

    def failing(source: str, target: str, **more: Any) -> None:
        if Path(target).suffix == ".c":
            raise OSError("the disk is full")
        real(source, target, **more)

    return failing


def test_both_files_or_neither(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written_module = module_of(sy.load("planar_2r"))
    for name in ("link", "replace"):
        monkeypatch.setattr(os, name, _full_for_c(getattr(os, name)))
    with pytest.raises(sy.CallError, match="full"):
        write_c(written_module, tmp_path)
    assert not list(tmp_path.iterdir())
    (tmp_path / "planar_2r.h").write_text("older")
    with pytest.raises(sy.CallError, match="full"):
        write_c(written_module, tmp_path, overwrite=True)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("planar_2r.h", "older")
    ]


@pytest.mark.parametrize(("options", "words"), [
    ({"real": "half"}, ["'half'", "double", "float"]),
    ({"functions": ["inverse_dynamic"]}, ["inverse_dynamic", "did you mean 'inverse_dynamics'"]),
    ({"functions": "jacobian"}, ["jacobian", "several"]),
    ({"functions": []}, ["empty", "jacobian"]),
])  # fmt: skip
def test_bad_calls_are_named(options: dict, words: list[str]) -> None:
    with pytest.raises(sy.CallError) as caught:
        module_of(sy.load("planar_2r"), **options)
    assert all(word in str(caught.value) for word in words)


def test_an_unknown_frame_is_named() -> None:
    robot = sy.load("planar_2r")
    with pytest.raises(sy.CallError, match=r"link9.*link2"):
        module(robot.tree, robot.name, "link9")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    written_module = module_of(sy.load("planar_2r"))
    with pytest.raises(sy.CallError, match="cannot be written: there is no folder"):
        write_c(written_module, tmp_path / "no" / "such")
    (tmp_path / "file").write_text("")
    with pytest.raises(sy.CallError, match="is a file"):
        write_c(written_module, tmp_path / "file")


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "jacobian"])
def test_the_timed_program_runs(quantity: str) -> None:
    robot = sy.load("planar_2r")
    assert nanoseconds_per_call(robot.tree, quantity, robot.end_effector, calls=100, rounds=1) > 0


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(sy.SteelyardError, match="no-such-compiler"):
        compiler()


def test_framed_functions_have_an_equation_that_names_the_frame() -> None:
    assert all("{frame}" in EQUATIONS[name] for name in FRAMED)


def test_any_regressor_brings_the_list_of_parameters() -> None:
    text = header(module_of(sy.load("planar_2r"), functions=["slotine_li_regressor"]))
    assert "PLANAR_2R_P" in text
    assert " link2.Izz = " in text


WRENCH_METHODS = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
    "wrench_torque": ("q",),
    "joint_reactions": ("q", "qd", "qdd"),
    "inverse_dynamics_derivatives": ("q", "qd", "qdd"),
    "forward_dynamics_derivatives": ("q", "qd", "tau"),
}


def test_wrenches_at_frames_act_as_in_python(
    example_robots: Path, rng: np.random.Generator, tmp_path: Path
) -> None:
    robot, frames = robot_of("ur5", example_robots), ("tool0", "forearm_link")
    written_module = module_of(robot, functions=list(WRENCH_METHODS), wrench=frames)
    lib, state = library(written_module, tmp_path), states(robot, rng)
    state["wrench"] = rng.uniform(-9.0, 9.0, (5, 2, 6))
    wrench = dict(zip(frames, np.moveaxis(state["wrench"], 1, 0), strict=True))
    for quantity, inputs in WRENCH_METHODS.items():
        result = getattr(robot, quantity)(*(state[x] for x in inputs), wrench=wrench)
        expected = list(result) if isinstance(result, tuple) else [result]
        for x, y in zip(expected, call(lib, written_module, quantity, state), strict=True):
            assert np.abs(x.reshape(y.shape) - y).max() <= bound(quantity) * np.abs(x).max(), (
                quantity
            )
    text = header(written_module)
    assert "Rows of wrench (2)" in text
    assert text.index(" 0 tool0") < text.index(" 1 forearm_link")


def test_functions_without_forces_take_no_wrench() -> None:
    robot = sy.load("planar_2r")
    written_module = module_of(
        robot, functions=["inverse_dynamics", "mass_matrix"], wrench=["link2"]
    )
    taken = {
        name: [operand.name for operand in program.inputs]
        for name, program in written_module.programs.items()
    }
    assert taken == {"inverse_dynamics": ["q", "qd", "qdd", "wrench"], "mass_matrix": ["q"]}
    assert "Rows of wrench" not in header(module_of(robot))


@pytest.mark.parametrize(
    ("wrench", "words"), [(["link9"], ["link9", "link2"]), ("link2", ["'link2'", "several"])]
)
def test_bad_frames_of_wrenches_are_named(wrench: object, words: list[str]) -> None:
    with pytest.raises(sy.CallError) as caught:
        module_of(sy.load("planar_2r"), wrench=wrench)
    assert all(word in str(caught.value) for word in words)

"""Kernels of simulations.

Equal keys mean equal programs, for any option, law, model, drive or frame differs.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest

import steelyard as sy
from steelyard import kernels
from steelyard.content_digest import content_digest
from steelyard.mechanism.joint_terms import BY_KEY, FRICTION
from steelyard.simulation import PD, FeedForward, drives
from steelyard.simulation.controllers import joint_space, task_space
from steelyard.simulation.drives import Elastic, Motor
from steelyard.simulation.integrators import RATES
from steelyard.simulation.sensitivities import adjoint_program, tangent_program
from steelyard.simulation.step import law_program, packed_program, steps_program
from steelyard.simulation.step_model import StepModel

ARM = sy.load("planar_2r").with_rotors(0.1)
ROOT = replace(ARM.mechanism.links[0], inertia=ARM.tree.bodies[0].inertia)


def with_terms() -> Iterator[sy.Robot]:
    """The arm with each friction term of the table, at two values of the term and its shapes."""
    for row in (row for row in FRICTION if row.factor is not None):
        usual = {row.key: 0.5, **dict.fromkeys(row.above, 1.0)}
        usual |= {key: BY_KEY[key].between[0] + 0.02 for key in row.shapes}
        usual |= {key: 0.3 for key in row.needs if BY_KEY[key].linear}
        yield ARM.with_friction(**usual)
        for key in (row.key, *row.shapes):
            yield ARM.with_friction(**(usual | {key: 1.1 * usual[key]}))


FLOATING = sy.Robot(replace(ARM.mechanism, links=(ROOT, *ARM.mechanism.links[1:])))
OTHERS = {
    "none": None,
    "the same": ARM,
    "heavier": ARM.with_payload(1.0, (0.1, 0.0, 0.0)),
    "rubbing": ARM.with_friction(viscous=1.0),
    "presliding": ARM.with_friction(presliding=1.0, distance=1e-3),
    "presliding further": ARM.with_friction(presliding=1.0, distance=2e-3),
}
LAWS = [
    kind
    for module in (joint_space, task_space)
    for _, kind in inspect.getmembers(module, inspect.isclass)
    if kind.__module__ == module.__name__ and hasattr(kind, "law")
]
DRIVES = [
    kind
    for _, kind in inspect.getmembers(drives, inspect.isclass)
    if hasattr(kind, "kernel_inputs")
]
NUMBERS = {
    "reference": [np.array([0.1, 0.2]), None],
    "model": list(OTHERS.values()),
    "frame": list(ARM.frame_names[-2:]),
}
FIELDS: dict[str, list[Any]] = {  # of a setup, beside controller and drive
    "robot": [ARM, ARM.with_gravity((0.0, -3.0, 0.0)), *with_terms()],
    "method": ["rk4", "euler", RATES],
    "control": ["none", "held"],
    "saturated": [False, True],
    "free_base": [False, True],
    "stops": [False, True],
    "parametric": [False, True],
    "sizes": [None],  # derived from controller and drive, below
}


def values(name: str) -> list[Any]:
    """Values of a field of a law or drive: those of the table, or two numbers, as gains have."""
    return NUMBERS.get(name, [3.0, 4.0])


def laws() -> Iterator[Any]:
    """Every law, with each of its fields at each of its values."""
    for kind in LAWS:
        usual = {f.name: values(f.name)[0] for f in fields(kind) if f.name != "reference"}
        yield kind(**usual)
        for f in fields(kind):
            yield from (
                kind(**(usual | {f.name: value}))
                for value in values(f.name)
                if kind not in task_laws() or f.name != "reference"
            )


def task_laws() -> list[type]:
    """Laws of a frame."""
    return [kind for kind in LAWS if kind.__module__ == task_space.__name__]


def setups() -> Iterator[StepModel]:
    """Setups that differ from others in one field of the setup, of the law or of the drive."""
    base = StepModel(ARM, "rk4", "none")
    for name, tried in FIELDS.items():
        yield from (replace(base, **{name: value}) for value in tried)
    for stops, free in ((False, True), (True, False), (False, False)):
        yield StepModel(FLOATING, "euler", "held", free_base=free, stops=stops)
    for law in laws():
        bound = law.bound(ARM) if hasattr(law, "bound") else law
        yield from (
            StepModel(ARM, "euler", "law", bound, parametric=parametric)
            for parametric in (False, True)
        )
    for kind in DRIVES:
        usual = {f.name: 5.0 for f in fields(kind)}
        yield from (
            StepModel(ARM, "euler", "none", drive=kind(**(usual | {f.name: x})))
            for f in fields(kind)
            for x in (5.0, 6.0)
        )


def outcome(program: Any, setup: StepModel) -> str:
    """The digest of the graph, or the error of what cannot be simulated."""
    try:
        return str(program(setup).digest)
    except sy.SteelyardError as error:
        return str(error)


def test_laws_drives_and_fields_are_all_tried() -> None:
    """A new law, drive or field comes here by itself, or asks for values to try."""
    assert {kind.__name__ for kind in LAWS} >= {
        "PD",
        "ComputedTorque",
        "FeedForward",
        "SlotineLi",
        "OperationalSpace",
        "Impedance",
    }
    assert {Elastic, Motor} <= set(DRIVES)
    assert {*FIELDS, "controller", "drive"} == {f.name for f in fields(StepModel)}


@pytest.mark.parametrize(
    "program", [steps_program, packed_program], ids=lambda program: program.__name__
)
def test_equal_keys_mean_equal_programs(program: Any) -> None:
    """The program is traced from the setup with all its values, the key is that of the setup
    without inputs.
    """
    seen: dict[str, set[str]] = {}
    count = 0
    for setup in setups():
        seen.setdefault(content_digest(setup.traced()), set()).add(outcome(program, setup))
        count += 1
    assert count > 60
    assert all(len(programs) == 1 for programs in seen.values())
    assert len(seen) > 25


@pytest.mark.parametrize(
    "program", [law_program, tangent_program, adjoint_program], ids=lambda program: program.__name__
)
def test_equal_keys_mean_equal_derivatives_and_laws(program: Any) -> None:
    seen: dict[str, set[str]] = {}
    tried = [
        s
        for s in setups()
        if s.controller is not None and type(s.controller).__module__ == joint_space.__name__
    ]
    tried = [s for s in tried if not s.memory_size] if program is law_program else tried[::3]
    for setup in tried:
        seen.setdefault(content_digest(setup.traced()), set()).add(outcome(program, setup))
    assert all(len(programs) == 1 for programs in seen.values())
    assert len(seen) > 6


def test_every_friction_term_and_shape_is_in_the_key() -> None:
    """Friction with memory among them, of the plant and of the model of a law."""
    robots = list(with_terms())
    assert any(robot.tree.has_memory for robot in robots)
    for steps in (
        [StepModel(robot, "rk4", "none") for robot in robots],
        [StepModel(ARM, "euler", "law", FeedForward(model=robot)) for robot in robots],
    ):
        assert len({content_digest(step.traced()) for step in steps}) == len(robots)


def test_gains_and_references_compile_nothing() -> None:
    one, other = (StepModel(ARM, "rk4", "law", PD(kp=kp, reference=[kp, 0.0])) for kp in (3.0, 4.0))
    assert content_digest(one.traced()) == content_digest(other.traced())
    elastic = [StepModel(ARM, "rk4", "none", drive=Elastic(k)) for k in (100.0, 200.0)]
    assert content_digest(elastic[0].traced()) == content_digest(elastic[1].traced())


def test_a_law_cannot_read_what_is_not_in_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gain that was read while tracing would stay in the kernel, for other gains too."""
    monkeypatch.setattr(PD, "law", lambda self, tree, q, *rest: [float(self.kp) * x for x in q])
    with pytest.raises(sy.CallError, match=r"PD\.kp is an input of the kernel"):
        steps_program(StepModel(ARM, "rk4", "law", PD(kp=3.0)).traced())


@dataclass(frozen=True, eq=False)
class Stiff(PD):
    """A user's law, which reads its own gain."""

    def law(self, tree: Any, q: Any, qd: Any, reference: Any, gains: Any, *memory: Any) -> Any:
        return [-float(self.kp) * x for x in q]


def test_a_law_from_elsewhere_is_traced_anew_and_kept_nowhere() -> None:
    before = set(kernels._kernels)
    ends = [sy.simulate(ARM, Stiff(kp=kp), q0=[0.3, 0.2], seconds=0.02).q[-1] for kp in (3.0, 30.0)]
    assert not np.allclose(*ends)
    assert set(kernels._kernels) == before


def test_only_plain_functions_of_the_package_are_traced_by_key() -> None:
    factor = 2.0

    def closure() -> Any:
        return factor

    for function in (
        closure,
        lambda: None,
        test_gains_and_references_compile_nothing,
        print,
        PD().gains,
    ):
        with pytest.raises(sy.CallError, match="kernel_of"):
            kernels.kernel_of(function)  # type: ignore[arg-type]

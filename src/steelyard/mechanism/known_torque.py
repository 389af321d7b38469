"""Known torques, such as a spring's, as expressions of positions and velocities.

An expression is arithmetic on numbers, q['joint'] [rad|m] and qd['joint'] [rad/s|m/s] with + - * /,
comparisons, sin, cos, sqrt, exp, tanh, abs, sign and where(condition, yes, no). It is text, so that
a file can hold it, and runs over any scalars.
"""

from __future__ import annotations

import ast
import math
import operator
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..algebra import scalar
from ..algebra.scalar import Scalar
from ..compiler.ir.graph import Expr, Graph
from ..errors import CallError, ModelError, suggest

LONGEST = 20_000  # characters of an expression
DEEPEST = 200  # operations within each other
TRIES = 8  # states at which an expression must have a value once
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(scalar, name) for name in ("sin", "cos", "sqrt", "exp", "tanh", "sign", "where")
}
FUNCTIONS["abs"] = scalar.absolute
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<="}
TEXTS = {"neg": "(-{})"} | {op: f"({{}} {sign} {{}})" for op, sign in SIGNS.items()}
NAMES = {"select": "where"} | {name: name for name in FUNCTIONS}


@dataclass(frozen=True, slots=True)
class KnownTorque:
    """A known torque [N m|N] on one joint: `scale` times an expression.

    The scale is a parameter, 1 unless it is identified.
    """

    joint: str
    expression: str
    scale: float = 1.0


def with_expressions(
    known: Sequence[KnownTorque], expressions: Mapping[str, str], joint_names: Sequence[str]
) -> tuple[KnownTorque, ...]:
    """Add expressions, joint -> text, to known torques: a joint that has one gets the sum of both.

    Raises CallError for what cannot be.
    """
    torques = {each.joint: each for each in known}
    for joint, expression in expressions.items():
        if not isinstance(expression, str):
            raise CallError(
                f"known torque of {joint!r}: expected an expression as text, not"
                f" {type(expression).__name__}"
            )
        for problem in expression_problems(expression):
            raise CallError(f"known torque of {joint!r}: {problem}")
        for name in (joint, *joints_in(expression)):
            if name not in joint_names:
                raise CallError(
                    f"known torque: no joint moves on its own that is called {name!r};"
                    f" {suggest(name, joint_names)}"
                )
        existing = torques.get(joint)
        torques[joint] = KnownTorque(
            joint,
            expression
            if existing is None
            else f"{existing.scale!r} * ({existing.expression}) + ({expression})",
        )
    return tuple(torques.values())


def joints_in(expression: str) -> tuple[str, ...]:
    """Return the joints whose q or qd an expression reads."""
    nodes = (node for node in ast.walk(_parsed(expression)) if isinstance(node, ast.Subscript))
    return tuple(dict.fromkeys(_reference(node)[1] for node in nodes))


def evaluate_expression(expression: str, states: Mapping[str, Any]) -> Scalar:
    """Return the value of an expression at the joints' states, each with q and qd; any scalars."""
    return _value(_parsed(expression), states)


def expression_problems(expression: str) -> Iterator[str]:
    """Return the errors of an expression as sentences."""
    try:
        tree = _parsed(expression)
        _check(_number(tree))
        joints = joints_in(expression)
    except ModelError as error:
        yield str(error)
        return
    rng = random.Random(0)
    tried = [
        {joint: JointPositionAndRate(rng.uniform(-1, 1), rng.uniform(-1, 1)) for joint in joints}
        for _ in range(TRIES)
    ]
    if not any(math.isfinite(_float(tree, states)) for states in tried):
        yield f"the expression {expression[:60]!r} has no value at any of {TRIES} states"


def _check(node: ast.expr, depth: int = 0) -> None:
    """Raise ModelError for what an expression cannot contain, at any depth."""
    if depth > DEEPEST:
        raise ModelError(
            f"a known torque nests more than {DEEPEST} operations; group them with parentheses, or"
            " write fewer"
        )
    for part in _parts(node):
        _check(part, depth + 1)


def _parts(node: ast.expr) -> Sequence[ast.expr]:
    """Return the operands of one operation; raise ModelError for an invalid one."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(
            number, bool
        ) and math.isfinite(number):
            return ()
        case ast.Subscript():
            _reference(node)
            return ()
        case ast.UnaryOp(op=op, operand=x) if type(op) in OPERATORS:
            return (_number(x),)
        case ast.BinOp(left=a, op=op, right=b) if type(op) in OPERATORS:
            return _number(a), _number(b)
        case ast.Compare(left=a, ops=[op], comparators=[b]) if type(op) in OPERATORS:
            return _number(a), _number(b)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            count = 3 if name == "where" else 1
            if len(args) != count:
                meant = "where(condition, yes, no)" if count == 3 else f"{name}(x)"
                raise ModelError(
                    f"a known torque cannot contain {_shown(node)}; expected {meant}, here are"
                    f" {len(args)} arguments"
                )
            return (
                (*args[: count - 2], *map(_number, args[-2:]))
                if count == 3
                else (_number(args[0]),)
            )
    allowed = f"numbers, q['joint'], qd['joint'], + - * /, < <= > >= and {', '.join(FUNCTIONS)}"
    raise ModelError(f"a known torque cannot contain {_shown(node)}; expected {allowed}")


def _number(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Compare):
        raise ModelError(
            f"a known torque uses the comparison {_shown(node)} as a number; use it in"
            " where(condition, yes, no)"
        )
    return node


def _shown(node: ast.AST) -> str:
    return repr(ast.unparse(node)[:60])


def _float(tree: ast.expr, states: Mapping[str, Any]) -> float:
    try:
        with np.errstate(all="ignore"):
            return float(_value(tree, states))
    except ArithmeticError:
        return math.nan


def with_fixed_joints(torque: KnownTorque, positions: Mapping[str, float]) -> KnownTorque:
    """Return the torque with some joints fixed at positions [rad|m]."""
    return replace(torque, expression=expression_with_fixed_joints(torque.expression, positions))


def expression_with_fixed_joints(expression: str, positions: Mapping[str, float]) -> str:
    """Return an expression with some joints fixed at positions [rad|m]."""

    class Held(ast.NodeTransformer):
        def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
            which, joint = _reference(node)
            if joint not in positions:
                return node
            return ast.Constant(float(positions[joint]) if which == "q" else 0.0)

    tree = ast.parse(expression, mode="eval")
    return ast.unparse(ast.fix_missing_locations(Held().visit(tree)))


def traced(
    function: Callable[..., Any], joint_names: Sequence[str]
) -> tuple[KnownTorque, ...] | None:
    """Return the torques of a function (q, qd, qdd) -> torque over arrays (N, n) as expressions.

    None where it cannot be traced. The function is run on arrays of expression nodes: arithmetic
    and NumPy's functions can be traced; branches, tables and accelerations cannot.
    """
    n = len(joint_names)
    q, qd, qdd = (np.array([nodes], dtype=object) for nodes in Graph().inputs(n, n, n))
    try:
        tau = np.broadcast_to(np.asarray(function(q, qd, qdd), dtype=object), (1, n))[0]
        texts = [expression_text(x, joint_names, {}) for x in tau]
        if any(True for text in texts for _ in expression_problems(text)) or not _same(
            function, texts, joint_names
        ):
            return None
    except Exception:  # noqa: BLE001 any error of a user's function: not traceable
        return None
    return tuple(
        KnownTorque(name, text)
        for name, text in zip(joint_names, texts, strict=True)
        if text != "0.0"
    )


def _same(function: Callable[..., Any], texts: Sequence[str], joint_names: Sequence[str]) -> bool:
    """Return whether expressions equal a function at random states and at rest."""
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 7, len(joint_names)))
    q[:2], qd[1:3] = 0.0, 0.0
    expected = np.broadcast_to(np.asarray(function(q, qd, qdd), dtype=float), q.shape)
    for k in range(len(q)):
        states = {
            name: JointPositionAndRate(*state)
            for name, *state in zip(joint_names, q[k], qd[k], strict=True)
        }
        values = [float(evaluate_expression(text, states)) for text in texts]
        if not np.allclose(
            values, expected[k], rtol=1e-9, atol=1e-9 * np.abs(expected).max(initial=1e-300)
        ):
            return False
    return True


class JointPositionAndRate(NamedTuple):
    """State of a joint."""

    q: Any
    qd: Any


def expression_text(x: Any, names: Sequence[str], done: dict[int, str]) -> str:
    """Return an expression node as text; operand 0 of its graph is q, operand 1 is qd.

    `done` caches the texts of repeated nodes.
    """
    if not isinstance(x, Expr):
        return repr(float(x))
    if x.id not in done:
        if x.op == "input":
            operand, index = x.payload
            # an acceleration has no place: IndexError
            text = f"{('q', 'qd')[operand]}[{names[index]!r}]"
        elif x.op == "const":
            text = repr(float(x.payload))
        else:
            parts = [expression_text(a, names, done) for a in x.args]
            text = (
                TEXTS[x.op].format(*parts)
                if x.op in TEXTS
                else f"{NAMES[x.op]}({', '.join(parts)})"
            )
        if len(text) > LONGEST:
            raise ValueError("the expression is too long")
        done[x.id] = text
    return done[x.id]


@lru_cache(maxsize=64)
def _parsed(expression: str) -> ast.expr:
    """Return the body of an expression.

    Raises ModelError for invalid text, or text too long or too deep for Python's parser.
    """
    if len(expression) > LONGEST:
        raise ModelError(
            f"a known torque has {len(expression)} characters; expected at most {LONGEST}"
        )
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except (RecursionError, MemoryError):
        raise ModelError(
            f"a known torque nests too many operations: {expression[:60]!r}; group them with"
            " parentheses, or write fewer"
        ) from None
    except (SyntaxError, ValueError) as error:
        detail = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ModelError(
            f"a known torque is not an expression: {expression[:60]!r} ({detail})"
        ) from None


def _value(node: ast.expr, states: Mapping[str, Any]) -> Scalar:
    """Return the value of an expression that was checked."""
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Subscript):
        which, joint = _reference(node)
        return getattr(states[joint], which)
    return _operation(node)(*(_value(part, states) for part in _parts(node)))


def _operation(node: ast.expr) -> Callable[..., Any]:
    match node:
        case ast.Compare(ops=[op]):
            return OPERATORS[type(op)]
        case ast.Call(func=ast.Name(id=name)):
            return FUNCTIONS[name]
    return OPERATORS[type(node.op)]  # type: ignore[attr-defined]


def _reference(node: ast.Subscript) -> tuple[str, str]:
    match node:
        case ast.Subscript(
            value=ast.Name(id="q" | "qd" as which), slice=ast.Constant(value=str() as joint)
        ):
            return which, joint
    raise ModelError(
        f"a known torque cannot contain {_shown(node)}; expected q['joint'] or qd['joint']"
    )

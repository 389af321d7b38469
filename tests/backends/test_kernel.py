"""Kernels are generalised ufuncs.

Broadcasting, any strides, out=, casting, tails, and sentences where arguments do not fit.
"""

from __future__ import annotations

import gc
import re

import numpy as np
import pytest

from steelyard.compiler.ir.program import Operand, trace
from steelyard.compiler.runtime.kernel import Kernel
from steelyard.errors import CallError
from tests.renderings import ufunc_of


def pair_algorithm(q, qd):
    """Two outputs of odd and even sizes that mix everything that is read."""
    mixed = [
        q[0] * qd[2] + q[1].sin(),
        q[2] - qd[1] * 2.0,
        q[0] + q[1] + q[2] + qd[0] + qd[1] + qd[2],
    ]
    outer = [[a * b for b in (*qd, 1.0)] for a in q]
    return mixed, outer


def reference(q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q, qd = np.broadcast_arrays(q, qd)
    total = q.sum(-1) + qd.sum(-1)
    mixed = np.stack(
        [q[..., 0] * qd[..., 2] + np.sin(q[..., 1]), q[..., 2] - qd[..., 1] * 2.0, total], axis=-1
    )
    padded = np.concatenate([qd, np.ones((*qd.shape[:-1], 1))], axis=-1)
    return mixed, q[..., :, None] * padded[..., None, :]


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    operands = (
        [Operand("q", (3,)), Operand("qd", (3,))],
        [
            Operand("mixed", (3,)),
            Operand("outer", (3, 4)),
        ],
    )
    return Kernel(trace("pair_algorithm", pair_algorithm, *operands))


@pytest.fixture(scope="module")
def triple() -> Kernel:
    """One output, the shape of one of the inputs."""
    return Kernel(
        trace(
            "triple",
            lambda q, s: [q[0] * s + q[2], q[1] - s, q[0]],
            [Operand("q", (3,)), Operand("s", ())],
            [Operand("z", (3,))],
        )
    )


def check(kernel: Kernel, q: np.ndarray, qd: np.ndarray) -> None:
    for got, expected in zip(kernel(q, qd), reference(q, qd), strict=True):
        assert got.shape == expected.shape
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-14)


def test_a_real_ufunc(kernel: Kernel) -> None:
    assert isinstance(kernel.ufunc, np.ufunc)
    assert kernel.ufunc.signature == "(3),(3)->(3),(3,4)"
    assert (kernel.ufunc.nin, kernel.ufunc.nout) == (2, 2)
    assert kernel.ufunc.__name__ == "pair_algorithm"


@pytest.mark.parametrize("count", range(21))
def test_any_number_of_samples(kernel: Kernel, rng: np.random.Generator, count: int) -> None:
    check(kernel, *rng.normal(size=(2, count, 3)))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((), ()),
        ((), (9,)),
        ((9,), ()),
        ((4, 5), (5,)),
        ((4, 1), (5,)),
        ((2, 3, 4), (2, 3, 4)),
        ((0, 4), (4,)),
        ((1,), (7, 1)),
    ],
)
def test_batches_broadcast(
    kernel: Kernel, rng: np.random.Generator, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    check(kernel, rng.normal(size=(*left, 3)), rng.normal(size=(*right, 3)))


VIEWS = {
    "Fortran order": np.asfortranarray,
    "reversed samples": lambda a: a[::-1],
    "reversed columns": lambda a: a[:, ::-1],
    "every other sample": lambda a: np.repeat(a, 2, axis=0)[::2],
    "sliced columns": lambda a: np.concatenate([a, a], axis=1)[:, :3],
    "columns apart": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "a repeated sample": lambda a: np.broadcast_to(a[0], a.shape),
    "a repeated column": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "unaligned": (
        lambda a: np.frombuffer(b"x" + a.tobytes(), dtype=np.float64, offset=1).reshape(a.shape)
    ),
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("count", [1, 8, 19])
def test_any_strides(kernel: Kernel, rng: np.random.Generator, view: str, count: int) -> None:
    q, qd = rng.normal(size=(2, count, 3))
    check(kernel, VIEWS[view](q), qd)
    check(kernel, q, VIEWS[view](qd))


@pytest.mark.parametrize(
    "view",
    [
        name
        for name in VIEWS
        if name
        not in (
            "a repeated sample",
            "a repeated column",
            "unaligned",
            "read-only",
            "other byte order",
        )
    ],
)
def test_out_of_any_strides(triple: Kernel, rng: np.random.Generator, view: str) -> None:
    q, s = rng.normal(size=(19, 3)), rng.normal(size=19)
    out = VIEWS[view](np.full((19, 3), np.nan))
    assert triple(q, s, out=out) is out
    np.testing.assert_array_equal(out, triple(q, s))


def test_only_its_own_memory_is_written(triple: Kernel, rng: np.random.Generator) -> None:
    wide = np.full((21, 7), -7.0)
    q, s = rng.normal(size=(19, 3)), rng.normal(size=19)
    triple(q, s, out=wide[1:-1, 2:5])
    np.testing.assert_array_equal(wide[1:-1, 2:5], triple(q, s))
    wide[1:-1, 2:5] = -7.0
    assert (wide == -7.0).all()


@pytest.mark.parametrize("count", [1, 5, 8, 40])
@pytest.mark.parametrize("shift", [0, 1, 3, -2])
def test_out_may_overlap_an_input(
    triple: Kernel, rng: np.random.Generator, count: int, shift: int
) -> None:
    buffer = rng.normal(size=(count + 8, 3))
    q, out = buffer[4 : 4 + count], buffer[4 + shift : 4 + shift + count]
    s = rng.normal(size=count)
    expected = triple(q.copy(), s)
    triple(q, s, out=out)
    np.testing.assert_array_equal(out, expected)


def test_out_may_overlap_when_a_program_is_split(rng: np.random.Generator) -> None:
    """Parts write some outputs before others have read their inputs."""
    program = trace(
        "split",
        lambda q: [q[0] * q[1], q[1] * q[2], q[2] * q[0]],
        [Operand("q", (3,))],
        [Operand("z", (3,))],
    )
    q = rng.normal(size=(19, 3))
    expected = np.stack([q[:, 0] * q[:, 1], q[:, 1] * q[:, 2], q[:, 2] * q[:, 0]], axis=1)
    ufunc_of(program, budget=1)(q, out=q)
    np.testing.assert_allclose(q, expected, rtol=1e-15)


def test_out_may_overlap_across_columns(triple: Kernel, rng: np.random.Generator) -> None:
    buffer = rng.normal(size=(30, 5))
    expected = triple(buffer[:, :3].copy(), buffer[:, 4].copy())
    triple(buffer[:, :3], buffer[:, 4], out=buffer[:, 2:5])
    np.testing.assert_array_equal(buffer[:, 2:5], expected)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, np.int8, np.uint32, bool])
def test_casting(kernel: Kernel, rng: np.random.Generator, kind: type) -> None:
    q = (rng.normal(size=(11, 3)) * 5).astype(np.uint8).astype(kind)
    qd = rng.normal(size=(11, 3))
    check(kernel, q.astype(np.float64), qd)
    for got, expected in zip(kernel(q, qd), kernel(q.astype(np.float64), qd), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_lists_are_arrays(kernel: Kernel) -> None:
    check(kernel, np.array([[1.0, 2.0, 3.0]]), np.array([0.5, -1.0, 4.0]))
    for got, expected in zip(
        kernel([[1, 2, 3]], (0.5, -1.0, 4.0)),
        reference(np.array([[1.0, 2.0, 3.0]]), np.array([0.5, -1.0, 4.0])),
        strict=True,
    ):
        np.testing.assert_allclose(got, expected)


def test_out_of_another_dtype(triple: Kernel, rng: np.random.Generator) -> None:
    q, s = rng.normal(size=(19, 3)), rng.normal(size=19)
    out = np.empty((19, 3), np.float32)
    triple(q, s, out=out)
    np.testing.assert_array_equal(out, triple(q, s).astype(np.float32))


MISFITS = {
    "too few arrays": (lambda k, q, s: k(q), r"triple takes 2 arrays (q, s), got 1"),
    "a wrong length": (lambda k, q, s: k(q[:, :2], s), r"q has shape (19, 2), expected (..., 3)"),
    "a scalar": (lambda k, q, s: k(1.0, s), r"q has shape (), expected (..., 3)"),
    "batches that differ": (
        lambda k, q, s: k(q, s[:5]),
        r"the batch shapes do not broadcast together: q (19,), s (5,)",
    ),
    "text": (lambda k, q, s: k(q, "fast"), r"s is not an array of real numbers"),
    "complex numbers": (
        lambda k, q, s: k(q * 1j, s),
        r"q is not an array of real numbers: ndarray of complex128",
    ),
    "objects": (lambda k, q, s: k(q, np.array([None] * 19)), r"s is not an array of real numbers"),
    "ragged rows": (
        lambda k, q, s: k([[1.0, 2.0, 3.0], [1.0]], s),
        r"q is not an array of real numbers",
    ),
    "a wrong out": (
        lambda k, q, s: k(q, s, out=np.empty((19, 4))),
        r"out= must be a float64 array of shape (19, 3)",
    ),
    "a read-only out": (
        lambda k, q, s: k(q, s, out=np.broadcast_to(0.0, (19, 3))),
        r"out= must be a float64 array of shape (19, 3)",
    ),
    "an out of whole numbers": (
        lambda k, q, s: k(q, s, out=np.empty((19, 3), int)),
        r"out= must be a float64 array of shape (19, 3)",
    ),
    "an out that is no array": (
        lambda k, q, s: k(q, s, out=[0.0] * 3),
        r"out= must be a float64 array of shape (19, 3)",
    ),
}


@pytest.mark.parametrize("misfit", MISFITS)
@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
def test_a_misfit_is_named(
    triple: Kernel,
    rng: np.random.Generator,
    misfit: str,
    large: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Large batches take the way through threads, and must say the same."""
    if large:
        monkeypatch.setattr(triple, "_large", 0)
    call, sentence = MISFITS[misfit]
    with pytest.raises(CallError, match=re.escape(sentence)):
        call(triple, rng.normal(size=(19, 3)), rng.normal(size=19))


@pytest.mark.parametrize("shapes", [((0,), (3,)), ((3,), (0,))])
def test_an_operand_without_scalars_is_refused(
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
) -> None:
    program = trace(
        "nothing",
        lambda q: [1.0] * shapes[1][0],
        [Operand("q", shapes[0])],
        [Operand("z", shapes[1])],
    )
    with pytest.raises(CallError, match="has no scalar"):
        Kernel(program)


def test_a_program_without_inputs_is_refused() -> None:
    with pytest.raises(CallError, match="takes no array"):
        Kernel(trace("nothing", lambda: [1.0], [], [Operand("z", (1,))]))


def test_a_ufunc_outlives_its_kernel(rng: np.random.Generator) -> None:
    """Keeping the ufunc alone keeps its machine code too."""
    q = rng.normal(size=(50, 3))
    selected = [
        Kernel(
            trace(
                "scaled",
                lambda q, k=k: [k * x for x in q],
                [Operand("q", (3,))],
                [Operand("z", (3,))],
            )
        ).ufunc
        for k in range(2, 12)
    ]
    gc.collect()
    for k, ufunc in enumerate(selected, start=2):
        np.testing.assert_array_equal(ufunc(q), k * q)


def test_machine_code_goes_with_its_ufunc() -> None:
    import weakref

    from steelyard.compiler.runtime.gufunc import gufunc

    class Owner:
        pass

    owner = Owner()
    watched = weakref.ref(owner)
    ufunc = gufunc(0, 0, [(3,)], [(3,)], "never_called", "", owner=owner)
    del owner
    assert watched() is not None
    del ufunc
    gc.collect()
    assert watched() is None


def test_no_flag_for_ordinary_numbers(kernel: Kernel, rng: np.random.Generator) -> None:
    with np.errstate(all="raise"):
        kernel(*rng.normal(size=(2, 19, 3)))
        kernel(np.full((19, 3), np.nan), np.ones(3))

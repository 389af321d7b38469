"""Which columns of a matrix stand on their own when they are taken in a given order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

TOLERANCE = 1e-9


def independent_columns(matrix: np.ndarray, order: Sequence[int], tolerance: float = TOLERANCE) -> list[int]:
    """The columns, in that order, that are not combinations of those kept before them.

    A column counts as dependent when what is left of it after two passes of Gram-Schmidt is below `tolerance` times its norm
    (twice is enough: Parlett, The Symmetric Eigenvalue Problem, section 6.9).
    """
    kept: list[int] = []
    basis = np.zeros((matrix.shape[0], min(matrix.shape)))
    scale = np.linalg.norm(matrix, axis=0)
    floor = np.finfo(float).eps * (scale.max() if scale.size else 0.0) * max(matrix.shape, default=1)
    for j in order:
        if scale[j] <= floor or len(kept) == basis.shape[1]:
            continue
        Q = basis[:, : len(kept)]
        rest = matrix[:, j] / scale[j]
        for _ in range(2):
            rest = rest - Q @ (Q.T @ rest)
        size = np.linalg.norm(rest)
        if size > tolerance:
            basis[:, len(kept)] = rest / size
            kept.append(j)
    return kept

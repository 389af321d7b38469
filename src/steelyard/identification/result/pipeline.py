"""What was done to the samples of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..friction.residual_split import ResidualSplit
from ..model.problem import Problem
from ..nuisance.drive_gains import DriveGains
from ..options import Options
from ..residual.learned import LearnedResidual
from ..samples.preparation import Preparation
from ..selection.choose_predictor import Predictor
from .expected_error import RestingTorque
from .held_out_motion import HeldOutMotion
from .prediction import Region
from .state_coverage import CoveredStates

if TYPE_CHECKING:
    from ..elastic.elasticity import Elasticity
    from ..out_of_core.archive import Archive

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SamplePipeline:
    """What was done to the samples.

    Preparation, delay (n,) [s] taken out, drive gains, and the interval [s] between kept samples.

    `region` has the states that they cover, `path` the path of their states, `drift` (n,) [N m|N]
    is the root mean square of what drifts along the logs and was taken out. `friction_terms` are
    the terms that the samples chose beyond the usual ones, joint and word, drifts included.
    `held_out` are parts of the measured motion, each with base parameters estimated without it.
    `elasticity` is the stiffness of the joints, where it was asked for, `archive` the logs, where
    each was folded by itself. `residual_split` has the causes of the residuals, `presliding_std`
    (n,) [rad|m] the standard deviations of the presliding distances, 0 without memory. `predictor`
    has the base parameters that predict torques and how they were chosen, None where the
    estimate's own do. `rest` has the errors of joints at rest, None where all rows are in use.
    `learned` has the learned residual, None unless it was asked for.
    `problem` has the samples that were solved for, None where they are not kept.
    `requested` has the options that the caller gave, None for many logs.
    """

    preparation: Preparation
    delay: Array
    gains: DriveGains
    interval: float
    region: Region
    path: CoveredStates
    drift: Array
    friction_terms: tuple[tuple[str, str], ...] = ()
    elasticity: Elasticity | None = None
    archive: Archive | None = None
    residual_split: ResidualSplit | None = None
    held_out: tuple[HeldOutMotion, ...] = ()
    presliding_std: Array | None = None
    predictor: Predictor | None = None
    rest: RestingTorque | None = None
    learned: LearnedResidual | None = None
    problem: Problem | None = None
    requested: Options | None = None

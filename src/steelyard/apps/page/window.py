"""What one window of the browser works on, and all windows of a page.

No window sees another's work.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...errors import CallError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...experiments import PayloadEstimate
    from ...identification import Fit, Validation, Verdict
    from ...identification.doctor import Diagnosis
    from ...motion import Trajectory
    from ...reporting.saved_fit import SavedFit
    from ...robot import Robot
    from ...signals.log import Log
    from ...simulation import Run
    from .job import Job
    from .server.folder import Folder

MOST_WINDOWS = 24
UPLOADED = ""  # where a robot or log has no name that a command could be given
OF_THE_LOG = ("doctor", "identify", "payload")  # work that is about the open log


@dataclass(frozen=True, eq=False)
class NamedFit:
    """A fit with its title, the lines that repeat it, its log and its validation on another."""

    name: str
    fit: Fit
    python: str
    command: str
    log: Log
    validation: Validation | None = None
    validated_on: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the fit, with its validation taken into account if there is one."""
        return self.fit.verdict if self.validation is None else self.fit.judged(self.validation)


@dataclass(frozen=True, eq=False)
class NamedSavedFit:
    """A fit that was saved, what it is called on the page, and the line that reads it."""

    name: str
    fit: SavedFit
    python: str


@dataclass(eq=False)
class PageWindow:
    """The robot, log and results of one window.

    `robot_name` and `log_name` are what a command line would call them.
    """

    key: str
    folder: Folder
    robot: Robot | None = None
    robot_name: str = ""
    meshes: bool = True  # may files that the description names be read
    q: NDArray[np.float64] | None = None
    frame: str = ""
    log: Log | None = None
    log_name: str = ""
    raw_log: Log | None = None  # as it is in the file, without cleaning
    diagnosis: Diagnosis | None = None
    fits: list[NamedFit] = field(default_factory=list)
    saved: list[NamedSavedFit] = field(default_factory=list)
    motion: Trajectory | None = None
    load: PayloadEstimate | None = None
    run: Run | None = None
    jobs: dict[str, Job[Any]] = field(default_factory=dict)
    tab: str = "robot"
    problem: str = ""
    results: list[tuple[str, bytes]] = field(default_factory=list)  # files to keep, by number

    def take_robot(self, robot: Robot, name: str, meshes: bool = True) -> None:
        """Begin with a robot; what was found for another one is dropped, and its work ended."""
        self.end()
        self.robot, self.robot_name, self.meshes = robot, name, meshes
        self.q, self.frame = robot.near_zero, robot.drawn_frames[0] if robot.drawn_frames else ""
        self.log, self.log_name, self.raw_log, self.diagnosis = None, "", None, None
        self.fits, self.saved, self.motion, self.load, self.run, self.results = (
            [],
            [],
            None,
            None,
            None,
            [],
        )

    def take_log(self, log: Log, name: str, raw: Log | None = None) -> None:
        """Work on a log of the robot; `raw` is the same before cleaning.

        Work about another log is ended.
        """
        for job in [self.jobs.pop(name) for name in OF_THE_LOG if name in self.jobs]:
            job.cancel()
        self.log, self.log_name, self.raw_log, self.diagnosis, self.load = (
            log,
            name,
            raw,
            None,
            None,
        )

    def take_fit(self, fit: SavedFit, name: str) -> None:
        """Compare with a fit that was saved.

        CallError if it is of other joints than the robot's.
        """
        if self.robot is None or fit.joint_names != self.robot.joint_names:
            theirs, ours = (
                ", ".join(names) or "none"
                for names in (fit.joint_names, self.robot.joint_names if self.robot else ())
            )
            raise CallError(
                f"this fit is of another robot: its joints are {theirs}, but the open robot has"
                f" {ours}"
            )
        title = name or "uploaded fit.json"
        self.saved.append(
            NamedSavedFit(title, fit, f"fit = saved_fit(Path({name or 'fit.json'!r}))")
        )

    @property
    def fitted(self) -> NamedFit | None:
        """The latest fit."""
        return self.fits[-1] if self.fits else None

    def end(self) -> None:
        """End the work that runs."""
        for job in self.jobs.values():
            job.cancel()
        self.jobs.clear()


class Windows:
    """The windows of a page by their keys, which cannot be guessed.

    The least recently used window is dropped for a new one.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._known: OrderedDict[str, PageWindow] = OrderedDict()

    def open(self) -> PageWindow:
        """Return a new window."""
        while len(self._known) >= MOST_WINDOWS:
            self._known.popitem(last=False)[1].end()
        window = PageWindow(secrets.token_urlsafe(16), self._folder)
        self._known[window.key] = window
        return window

    def find(self, key: str) -> PageWindow:
        """Return the window of a key; CallError if there is none."""
        if key not in self._known:
            raise CallError("this window is no longer known: reload the page")
        self._known.move_to_end(key)
        return self._known[key]

    def end(self) -> None:
        """End all work."""
        for window in self._known.values():
            window.end()

"""Help of public names: what an argument means is written once, here, and becomes part of the docstring of every function that takes it.

A docstring may say by itself, in sections of the form

    Parameters:
        gain: (n,) or one for all [1/s].
    Returns:
        (N, n) torques [N m|N].
    Example:
        >>> ...

what is particular to it. `documented` adds the other arguments from the table ARGUMENTS, in the order of the signature, and what follows
from the return type. An entry `excite.noise` is for the argument `noise` of `excite` alone. Python that runs without docstrings (-OO) has
none to add to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

ARGUMENTS = {
    "q": "(..., n) joint positions [rad|m]",
    "qd": "(..., n) joint velocities [rad/s|m/s]",
    "qdd": "(..., n) joint accelerations [rad/s2|m/s2]",
    "qrd": "(..., n) reference velocities [rad/s|m/s]",
    "qrdd": "(..., n) reference accelerations [rad/s2|m/s2]",
    "tau": "(..., n) joint torques [N m|N]",
    "wrench": 'what the environment applies, force [N] then moment [N m], in the base frame: {"tool0": (..., 6)} about the origin of '
    "any frames, or (..., bodies, 6) in the order of `body_names`; nothing by default",
    "base": "(..., 9) motion of the base as an inertial sensor feels it: proper acceleration [m/s2], angular velocity [rad/s], angular "
    "acceleration [rad/s2], in the base's own frame; at rest by default",
    "angular_velocity": "(..., 3) angular velocity of the base in its own frame [rad/s]",
    "parameters": "(..., p) parameters in place of the robot's own, in the order and units of `parameter_names`",
    "out": "array, or tuple of arrays, that the result is written to; a new one by default",
    "frame": "name of a frame, one of `frame_names`; the end-effector by default",
    "hold": "names of joints that stay as they are",
    "robot": "the `Robot`, described in SI units",
    "log": "a `Log` of the robot's motion: positions (N, n) [rad|m] and torques (N, n) [N m|N] at times (N,) [s]",
    "logs": "a `Log`, or several: positions (N, n) [rad|m] and torques (N, n) [N m|N] at times (N,) [s]",
    "seed": "number that random draws start from; equal seeds give equal results",
    "rate": "samples per second [Hz]",
    "seconds": "duration [s]",
    "path": "file to write; its ending tells the kind where there are several",
    "overwrite": "whether an existing file may be replaced",
    "width": '"column" or "page" of a paper, or a width in inches',
    "validation": "a `Validation` on another log, shown and judged beside the fit",
    "preparation": "a `Preparation`: how positions and torques are filtered and sampled",
    "payload": "a `Payload` in the hand: mass [kg], centre [m], inertia [kg m2]",
    "progress": "function that is told how far the work is",
    # -- words of one function ---------------------------------------------------------------------------------------------
    "position": "(..., 3) positions [m]",
    "pose": "(..., 4, 4) poses, lengths in m",
    "degrees": "whether angles are in degrees in the place of rad",
    "order": 'where the real part of a quaternion is: "xyzw", as in ROS, or "wxyz"',
    "pose_from_quaternion.quaternion": "(..., 4) quaternions of any length but zero [1]",
    "pose_from_rpy.rpy": "(..., 3) roll, pitch, yaw [rad]",
    "load.source": "path of a .urdf, .xml (MJCF), .toml or .xacro file, or the name of a built-in robot",
    "threads.count": "number of cores, from 1 on",
    "check.samples": "number of random states",
    "base_parameters.tolerance": "relative size below which a singular value of the regressor is zero",
    "reading_limits.memory": "bytes for the numbers and text of a log",
    "reading_limits.text": "bytes of a description",
    "reading_limits.joints": "number of joints of a description",
    "reading_limits.seconds": "seconds of computing for one file [s]",
    "reading_limits.folder": "where files that a description includes may be; its own folder, or that of its ROS package, by default",
    "read_log.path": "a file or folder, a list of files with columns side by side, or {quantity: file}",
    "read_log.robot": "a `Robot`, or joint names: columns are matched by name, else by number",
    "read_log.mapping": "what the columns are: a `Mapping`, its TOML file, a dictionary of the same, or a `Transmission`",
    "read_log.effort": "what a column of efforts holds: 'torque' [N m|N] or 'current' [A]",
    "read_log.clean": "whether repeated and disordered samples, short holes and NaN are mended, with remarks",
    "read_log.rows": "(first, one after the last) row of a Parquet file [rows]; all by default",
    "read_log.options": "fields of `Mapping`: columns, joints, rate [Hz], time_unit, angle, layout, topic, transmission, correction",
    "identify.log": "a `Log` or several: positions (N, n) [rad|m] and torques (N, n) [N m|N] at times (N,) [s]; or files, as "
    "for `find_logs`",
    "executor": "who folds many logs: a number of processes, an executor of concurrent.futures, a Client of dask.distributed",
    "damaged": 'what is done about logs that cannot be read: "refuse" or "leave out"',
    "keep": "whether factors of many logs are kept beside them for the next run, or a folder for them",
    "identify.estimator": "a name of the list above, or an instance; 'auto' by default",
    "identify.model": "a `ModelOptions`: what is to be found",
    "identify.diagnose": "whether the log is examined for faults first, as by `doctor`",
    "identify.options": "single fields of `Preparation` and `ModelOptions`",
    "identify.progress": "function (sentence, share of the work that is done)",
    "excite.seconds": "duration [s], 20 by default; with an accuracy the longest, 600",
    "excite.harmonics": "number of harmonics, by default up to 0.5 Hz",
    "excite.base_frequency": "frequency of the first harmonic [Hz], by default a period of about 20 s",
    "excite.basis": '"fourier" or "bspline"',
    "excite.rate": "samples per second [Hz] that information is counted for",
    "excite.candidates": "number of random motions to search instead of optimising: quick and worse",
    "excite.starts": "number of random motions that are improved, 8 by default",
    "excite.margin": "fraction of every limit that is used [-]",
    "excite.speed": "share of the velocity limits that is used, at most `margin` [-]; positions are not scaled",
    "excite.velocity": "limit in place of the robot's own [rad/s|m/s]: one, (n,) or by joint",
    "excite.acceleration": "limit [rad/s2|m/s2], likewise; by default the velocity is reached in 0.5 s at the earliest",
    "excite.effort": "limit [N m|N], likewise",
    "excite.jerk": "limit [rad/s3|m/s3], likewise",
    "excite.criterion": '"D" (volume), "A" (mean variance) or "E" (worst direction) of the confidence region',
    "excite.noise": "standard deviation of a torque sample [N m|N]: one, (n,) or by joint; 2 % of the typical torque by default",
    "excite.prior": "relative tolerance of the description [-]",
    "excite.log": "a `Log` or several that were recorded already",
    "excite.fit": "a `Fit` of what was recorded already",
    "excite.accuracy": "relative standard deviation wanted, by parameter name",
    "excite.torque_accuracy": "relative standard deviation of torques wanted [-]",
    "excite.region": "joint -> (low, high) [rad|m] where torques are wanted",
    "excite.collision": '"shapes", "capsules", "auto" or "none"',
    "excite.clearance": "distance that links keep [m]",
    "static_poses.collision": '"shapes", "capsules", "auto" or "none"',
    "static_poses.clearance": "distance that links keep [m]",
    "static_poses.ground": 'what moving links stay above: "base", the plane z = 0 of the base frame, a height [m], or None',
    "excite.ground": 'what moving links stay above: "base", the plane z = 0 of the base frame, a height [m], or None',
    "excite.workspace": "frame or link -> (low, high) corners (3,) of a box [m]",
    "excite.half_spaces": "further walls, n . x <= offset [m]",
    "excite.payload": "mass [kg], or mass and centre (4,) [kg, m] in the end-effector's frame",
    "excite.gravity": "(3,) as the robot will be mounted [m/s2]",
    "excite.progress": "function (sentence, share of the work that is done)",
    "simulate.controller": "a controller, a function (t, q, qd) -> tau, torques (n,) or (steps, n) [N m|N], a `Log`, or None",
    "q0": "(..., n) positions at the start [rad|m]",
    "qd0": "(..., n) velocities at the start [rad/s|m/s]",
    "simulate.step": "time step [s]",
    "simulate.method": '"rk4", "rk8", "euler" or "adaptive"',
    "simulate.every": "number of steps for a sample that is kept",
    "simulate.base_pose0": "(..., 7) position [m] and quaternion x y z w of a free base",
    "simulate.base_twist0": "(..., 6) velocity [m/s] and angular velocity [rad/s] of a free base",
    "simulate.saturate": "whether torques stay within the effort limits",
    "simulate.stops": "True or `Stops`: joints stay within their range",
    "simulate.drive": "`Elastic` or `Motor` between controller and joints",
    "perturbed.spread": "standard deviation of the logarithms of inertial parameters [-]; joint terms get twice as much",
    "record.trajectory": "a `Trajectory`: positions (N, n) [rad|m] over time (N,) [s]",
    "sensors": "`Sensors`: noise, steps, ripple and delay of what is measured; the usual ones by default",
    "inverse_kinematics.pose": "(..., 4, 4) homogeneous pose of the frame in the base frame [-|m]",
    "inverse_kinematics.q0": "(..., n) preferred positions [rad|m]; the middle of the limits nearest zero by default",
    "inverse_kinematics.free": "positions of joints that are too many [rad|m]: one, a grid (..., g), or by joint",
    "inverse_kinematics.method": '"closed form", "numerical" or "auto"',
    "twist": "(..., 6) linear [m/s], then angular velocity [rad/s] of the frame, in the base frame",
    "joint_acceleration.acceleration": "(..., 6) linear [m/s2], then angular acceleration [rad/s2] of the frame, in the base frame",
    "preferred": "(..., n) rates that what is free follows, zero by default",
    "singular": "singular value of J below which a direction is damped",
    "damping": "largest damping there",
    "calibrate.q": "(N, n) positions of the joints [rad|m]",
    "calibrate.measured": "(N, 4, 4) poses [-|m] or (N, 3) points [m] of the frame",
    "calibrate.position": "tolerance of the description: standard deviation of each shift [m]",
    "calibrate.angle": "standard deviation of each turn [rad]",
    "calibrate.base": "whether the place of the robot before the measuring device is unknown",
    "calibrate.tool": "whether the place of the target on the frame is unknown",
    "payload.robot": "a `Fit`, or a `Robot` that is taken as exact",
    "payload.loaded": "a `Log` or several with the load",
    "payload.empty": "a `Log` or several without it, best of the same motion",
    "link": "name of the link that carries the load; that of the end-effector by default",
    "payload.frame": "name of the frame whose axes the numbers are in; that of the link by default",
    "payload.static": "whether only what is at rest counts; by default where nothing moves",
    "payload.options": "those of `identify` for the arm",
    "static_poses.count": "number of poses",
    "static_poses.sigma": "standard deviation of a torque at rest [N m|N]: one or (n,)",
    "static_poses.margin": "part of every range that is used [-]",
    "static_poses.approach": "way on which each pose is approached, so that friction is known [rad|m]",
    "watch.source": '"ros2:/topic", "rtde:address", a `Log`, or an iterable of messages or samples',
    "watch.effort": "'torque' [N m|N] or 'current' [A]",
    "watch.gains": "torque per current [N m/A|N/A]: one, (n,) or by joint",
    "watch.timeout": "silence that is an error [s]",
    "report.fit": "the `Fit`",
    "report.validation": "another `Log`, or a `Validation` on it",
    "reading_limits.in_process": "whether files may be read in this process where the reading process cannot start",
    "Trajectory.verified": "what was checked of the motion, a `MotionCheck`; set by `check`",
    "report.true_robot": "the `Robot` that was simulated, if the log is simulated",
    "report.truth": "former name of `true_robot`",
}
RETURNS = {
    "None": "Nothing.",
    "Self": "A new object; this one stays as it is.",
    "Figure": "A Matplotlib figure, in inches.",
    "Solutions": "`Solutions`: .q (..., k, n) [rad|m], .valid (..., k), .branches, .status.",
    "Prediction": "A `Prediction`: .torque .std .low .high (..., n) [N m|N], .inside (...).",
    "str": "Text.",
    "tuple[str, ...]": "Sentences.",
    "dict[str, Any]": "A dictionary of plain data.",
    "Table": "A table with names and units of its columns; `to_pandas()` and `to_polars()` make data frames.",
}
SECTION = re.compile(r"^ *(Parameters|Returns|Example):$", re.MULTILINE)
ENTRY = re.compile(r"^ {4}([\w, *]+): ", re.MULTILINE)


def documented(thing: T, returns: Mapping[str, str] | None = None, arguments: Mapping[str, str] | None = None) -> T:
    """Complete the docstring of a function, or those of a class and its own public methods; usable as a decorator.

    `returns` are sentences about results by the name of the method, `arguments` further entries of the table.
    """
    table = ARGUMENTS | dict(arguments or {})
    if isinstance(thing, type):
        _complete_class(thing, table)
    members = vars(thing) if isinstance(thing, type) else {getattr(thing, "__name__", ""): thing}
    for name, member in members.items():
        function = getattr(member, "__func__", member)
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        if not name.startswith("_") and callable(function) and hasattr(function, "__code__") and function.__doc__:
            kind = str(function.__annotations__.get("return", "")).removesuffix(" | None")
            usual = RETURNS.get(kind, f"A `{kind}`." if kind.isidentifier() and kind not in ("Array", "Any") else None)
            made = _completed(function.__doc__, name, _names(function), table, (returns or {}).get(name, usual))
            function.__doc__ = made
            if member is not function and not isinstance(member, (classmethod, staticmethod)):
                member.__doc__ = made
    return thing


def _complete_class(cls: type, table: Mapping[str, str]) -> None:
    """Add what a class is made from, where the table has entries of its name."""
    fields = getattr(cls, "__dataclass_fields__", None)
    names = list(fields) if fields is not None else _names(vars(cls)["__init__"]) if "__init__" in vars(cls) else []
    if cls.__doc__ and any(f"{cls.__name__}.{name}" in table for name in names):
        cls.__doc__ = _completed(cls.__doc__, cls.__name__, names, table, None)


def _names(function: Callable[..., Any]) -> list[str]:
    """The arguments of a function, self apart, with those that take any number."""
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return [name for name in code.co_varnames[:count] if name not in ("self", "cls")]


def _completed(docstring: str, owner: str, names: Sequence[str], table: Mapping[str, str], returns: str | None) -> str:
    """The docstring with its sections in order; arguments that it does not speak of as the table has them, that of the owner first."""
    text, sections = _sections(docstring)
    stated = _entries(sections.get("Parameters", ""))
    entries: dict[str, str] = {}
    for name in names:
        own = next((key for key in stated if name in key.split(", ")), None)
        meaning = table.get(f"{owner}.{name}", table.get(name))
        entries |= {own: stated[own]} if own else {name: f"    {name}: {meaning}."} if meaning else {}
    parts = {
        "Parameters": "\n".join((entries | stated).values()),
        "Returns": sections.get("Returns", f"    {returns}" if returns else ""),
        "Example": sections.get("Example", ""),
    }
    return "\n\n".join([text.strip(), *(f"{name}:\n{body}" for name, body in parts.items() if body)]) + "\n"


def _sections(docstring: str) -> tuple[str, dict[str, str]]:
    """What stands before the sections, and their bodies by name, all without the indentation of the source."""
    first, _, rest = docstring.partition("\n")
    lines = rest.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = "\n".join([first.strip(), *(line[indent:].rstrip() for line in lines)])
    found = list(SECTION.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    bodies = {match[1]: text[match.end() : end].strip("\n") for match, end in zip(found, ends, strict=False)}
    return (text[: found[0].start()] if found else text), bodies


def _entries(body: str) -> dict[str, str]:
    """The entries of a section of parameters by their names, each with all of its lines."""
    found = list(ENTRY.finditer(body))
    ends = [*(match.start() for match in found[1:]), len(body)]
    return {match[1].replace("*", ""): body[match.start() : end].rstrip() for match, end in zip(found, ends, strict=False)}

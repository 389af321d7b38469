"""Public logs of real robots, listed by address and checksum, downloaded on request.

What was measured, and by whom, is in `describe(name)`. Files are kept in a cache of the user and
fetched once; a file whose checksum is not the one that is listed here is an error, so that results
can be repeated. Needs `pip install 'steelyard[datasets]'`. Where there is no network,
`STEELYARD_DATASETS` names a folder with copies of the files, which are taken from there by name and
checksum.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ..errors import CallError, LogError, require_package, suggest
from ..files import make_folder, write_atomic

__all__ = ["describe", "fetch", "names"]

FIGAROH = "https://github.com/thanhndv212/figaroh-plus/raw/c3b51728"
UNISA = "https://github.com/unisa-acg/inverse-dynamics-solver/raw/41e196de"
WEIGAND = "https://github.com/JonasWeigand/Robot_Identification/raw/9e403c07"


@dataclass(frozen=True)
class Dataset:
    """A measured log: what it is, its licence and source, and {file: (address, SHA-256)}."""

    about: str
    licence: str
    source: str
    files: Mapping[str, tuple[str, str]]


DATASETS = {
    "tx40": Dataset(
        "Stäubli TX40, 6 joints, 45 000 samples at 5 kHz: motor angles [rad] and torques [N m]"
        " behind gears that couple joints 5 and 6",
        "Apache-2.0",
        "figaroh-plus, examples/staubli_TX40",
        {
            "pos_read_data.csv": (
                f"{FIGAROH}/examples/staubli_TX40/data/pos_read_data.csv",
                "5cc1cecc1024ef0e331d0caba06f689456ab789ec3f1e904599c0a8be5c27bc8",
            ),
            "curr_data.csv": (
                f"{FIGAROH}/examples/staubli_TX40/data/curr_data.csv",
                "f4592f4ba4db42f5d7625688986be25b575ca34d0504b27979ca6b0276bd3af9",
            ),
            "tx40_mdh_modified.urdf": (
                f"{FIGAROH}/models/staubli_tx40_description/urdf/tx40_mdh_modified.urdf",
                "3d00cbd46279c915d594b1bb4610dbac78d1e99ed27f95de70984bde13486074",
            ),
        },
    ),
    "ur10": Dataset(
        "Universal Robots UR10, 6 joints, 3 441 samples at 125 Hz: positions [rad], velocities"
        " [rad/s] and torques [N m] in a rosbag2",
        "BSD-3-Clause",
        "unisa-acg/inverse-dynamics-solver; Petrone et al., IEEE Transactions on Industrial"
        " Informatics, 2025",
        {
            "ur10_exciting_trajectory.db3": (
                f"{UNISA}/ur10_inverse_dynamics_solver/bagfiles/ur10_exciting_trajectory.db3",
                "14244fc39e9b42047039824f3c20ab984f9d1b28d5a67e9415cc1b3cc0ac3369",
            ),
            "ur10_robot.urdf": (
                f"{FIGAROH}/models/ur_description/urdf/ur10_robot.urdf",
                "16e4d9c85f01d2533fa219d28e2e5a2ce93836be7afaf243b46be4ba76e0d4ea",
            ),
        },
    ),
    "kr300": Dataset(
        "KUKA KR300 R2500 with counterbalance, 6 joints, two runs of 2 501 samples at 250 Hz: motor"
        " positions [rad] and torques [N m]",
        "MIT",
        "JonasWeigand/Robot_Identification",
        {
            f"rec_{run}.mat": (
                (
                    f"{WEIGAND}/data/recorded_trajectories/"
                    f"{quote(f'2020-10-21 10s FF {run} 08ms')}/rec.mat"
                ),
                digest,
            )
            for run, digest in (
                ("A", "4c152c5b7f2c899731fdeebcf0d011cc103df72be19fac160caf47aa9b73ab75"),
                ("B", "edeb35f65c4ec4bb697e757fc1e4e9668551b6fe7b2c3dbbb526d040dd8d5ce7"),
            )
        },
    ),
    "tiago": Dataset(
        "TIAGo, torso and 7 joints of the arm, 8 022 samples at 100 Hz: positions [rad|m],"
        " velocities [rad/s|m/s] and motor currents [A]",
        "Apache-2.0",
        "figaroh-plus, examples/tiago",
        {
            f"tiago_{signal}.csv": (
                f"{FIGAROH}/examples/tiago/data/identification/dynamic/tiago_{signal}.csv",
                digest,
            )
            for signal, digest in (
                ("position", "4297a60d434ee89f1f424ad0da8ec65bc00072ac57eb06b94966c0819fc2786d"),
                ("velocity", "269f681ca7a9511ac1698bf027ddf601e3fdb49d7d397af4810ec839f136cd69"),
                ("effort", "12c635987705efade603426a600f5b315add7f580c720a4b84609dadb9d0a2e9"),
            )
        }
        | {
            "tiago_no_hand.urdf": (
                f"{FIGAROH}/examples/tiago/data/urdf/tiago_no_hand.urdf",
                "6d382c106acde99ee0dfb167628276d0f2507611f10a04f7a753894b146ee657",
            )
        },
    ),
}


def names() -> list[str]:
    """Return the names of the public logs, sorted.

    Returns
    -------
    A list of names.

    Examples
    --------
    >>> sy.datasets.names()
    ['kr300', 'tiago', 'tx40', 'ur10']
    """
    return sorted(DATASETS)


def describe(name: str) -> str:
    """Describe a public log: signals with units, licence, source and files.

    Parameters
    ----------
    name : one of `names()`.

    Returns
    -------
    Text of a few lines.

    Examples
    --------
    >>> print(sy.datasets.describe("ur10").splitlines()[1])
    licence: BSD-3-Clause
    """
    dataset = _dataset(name)
    return (
        f"{dataset.about}\nlicence: {dataset.licence}\nsource: {dataset.source}\nfiles:"
        f" {', '.join(dataset.files)}"
    )


def fetch(name: str, folder: str | os.PathLike[str] | None = None) -> dict[str, Path]:
    """Fetch the files of a public log, those that are not there yet, and check them.

    Raises LogError where that fails.

    Parameters
    ----------
    name : one of `names()`.
    folder : where files are kept; `STEELYARD_DATA`, else a cache of the user, by default.
        `STEELYARD_DATASETS` is a folder whose copies are taken in place of a download.

    Returns
    -------
    File name -> path.

    Examples
    --------
    >>> try:
    ...     sy.datasets.fetch("tx4")
    ... except sy.CallError as error:
    ...     print("did you mean 'tx40'" in str(error))
    True
    """
    dataset = _dataset(name)
    require_package("pooch", "datasets", "sy.datasets.fetch")
    import pooch

    target = Path(folder or os.environ.get("STEELYARD_DATA") or pooch.os_cache("steelyard")) / name
    pooch.get_logger().setLevel("WARNING")
    return {
        file: _fetch_file(name, file, address, digest, target)
        for file, (address, digest) in dataset.files.items()
    }


def _fetch_file(name: str, file: str, address: str, digest: str, target: Path) -> Path:
    """Return the path of a file whose checksum is right."""
    import pooch

    _copy_from_mirror(file, digest, target)
    try:
        return Path(pooch.retrieve(address, known_hash=f"sha256:{digest}", fname=file, path=target))
    except ValueError:
        sentence = (
            "what came is not the file that is listed: its SHA-256 differs. The source may have"
            " changed; nothing was kept"
        )
        raise LogError(f"datasets: {name}: {file} from {address}: {sentence}") from None
    except OSError as error:
        raise LogError(
            f"datasets: {name}: {file} cannot be fetched from {address}: {error}; without a"
            f" network, put it into {target}"
        ) from None


def _copy_from_mirror(file: str, digest: str, target: Path) -> None:
    """Copy a file of this checksum from the folder `STEELYARD_DATASETS`, unless it is cached.

    The folder is searched at any depth.
    """
    mirror = os.environ.get("STEELYARD_DATASETS")
    if not mirror or (target / file).exists():
        return
    for path in sorted(Path(mirror).rglob(file)):
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
            make_folder(target)
            write_atomic(target / file, path.read_bytes())
            return


def _dataset(name: str) -> Dataset:
    if name not in DATASETS:
        raise CallError(f"datasets: no log is called {name!r}; {suggest(str(name), names())}")
    return DATASETS[name]

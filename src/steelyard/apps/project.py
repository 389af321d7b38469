"""A project folder: mapping of a log, options of its identification, command lines."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..names import escape_name, shell_word

MAPPING, CONFIG, README = "mapping.toml", "steelyard.toml", "README.md"


class Project(NamedTuple):
    """A robot by name or file, its logs, their mapping (None without a log) and options."""

    folder: Path
    robot: str
    logs: tuple[Path, ...]
    mapping: Mapping[str, Any] | None
    options: Mapping[str, Any]
    sentences: tuple[str, ...]

    def files(self) -> dict[str, str]:
        """Return the text of each file of the folder."""
        files = {CONFIG: self._config(), README: self._readme()}
        return files if self.mapping is None else {MAPPING: self._mapping(), **files}

    def lines(self, here: Path) -> list[str]:
        """Return the command lines that work in the folder `here`: doctor, identify, validate."""
        robot = self.robot if not Path(self.robot).exists() else seen_from(here, Path(self.robot))
        target = (
            "" if here.resolve() == self.folder.resolve() else f"{seen_from(here, self.folder)}/"
        )
        single = len(self.logs) == 1
        log = (
            "LOG"
            if not self.logs
            else seen_from(here, self.logs[0])
            if single
            else f"{target}{MAPPING}"
        )
        config = f"--config {shell_word(f'{target}{CONFIG}')}"
        named = f"{shell_word(robot)} {shell_word(log)} {config}"
        results = shell_word(f"{target}results")
        return [
            f"steelyard doctor {named}",
            f"steelyard identify {named} -o {results}",
            f"steelyard validate {results} ANOTHER_LOG {config}",
        ]

    def _config(self) -> str:
        import tomlkit

        document = tomlkit.document()
        document.add(
            tomlkit.comment(
                "Options of steelyard identify, for --config; what is typed comes first. steelyard"
                " identify --help"
            )
        )
        document.add(
            tomlkit.comment(
                "tells the others: friction, hold, known_mass, coupling, mask, prior, decimate,"
                " cutoff, ..."
            )
        )
        if self.mapping is not None:
            document.add("mapping", tomlkit.item(MAPPING))
        for key, value in self.options.items():
            document.add(key, _inline(value) if isinstance(value, Mapping) else tomlkit.item(value))
        return tomlkit.dumps(document)

    def _mapping(self) -> str:
        import tomlkit

        assert self.mapping is not None
        document = tomlkit.document()
        document.add(
            tomlkit.comment(
                f"What the columns of {', '.join(escape_name(path.name) for path in self.logs)}"
                " mean."
            )
        )
        for sentence in self.sentences:
            document.add(tomlkit.comment(escape_name(sentence)))
        plain = {
            key: value
            for key, value in self.mapping.items()
            if not isinstance(value, Mapping) or key == "files"
        }
        for key, value in plain.items():
            document.add(key, self._files(value) if key == "files" else tomlkit.item(value))
        for key, value in self.mapping.items():
            if key not in plain and value:
                document.add(key, tomlkit.item(dict(value)))
        return tomlkit.dumps(document)

    def _files(self, value: Any) -> Any:
        """Return the files of a log as they are seen from the folder."""
        import tomlkit

        if isinstance(value, Mapping):
            return _inline(
                {quantity: seen_from(self.folder, Path(path)) for quantity, path in value.items()}
            )
        return tomlkit.item([seen_from(self.folder, Path(path)) for path in value])

    def _readme(self) -> str:
        doctor, identify, validate = self.lines(self.folder)
        remarks = "".join(f"- {escape_name(sentence)}\n" for sentence in self.sentences)
        mapping = (
            "" if self.mapping is None else f"`{MAPPING}` says what the columns of the log mean. "
        )
        return f"""# Identification of {escape_name(Path(self.robot).name)}

{mapping}`{CONFIG}` has the options of the identification; both may be edited. In this folder:

```sh
{doctor}
{identify}
{validate}
```

The first examines the log, the second writes the report, the identified robot and fit.json into
`results`, the third validates the result on the log of another motion. The exit code is the
verdict: 0 trusted, 3 doubtful, 4 refused.

{remarks}"""


def seen_from(folder: Path, path: Path) -> str:
    """Return a path as it is written in a folder, with / between its parts.

    From the root on if they have only the root in common.
    """
    whole, here = path.resolve(), folder.resolve()
    if whole.parts[:2] != here.parts[:2]:
        return whole.as_posix()
    return Path(os.path.relpath(whole, here)).as_posix()


def _inline(value: Mapping[str, Any]) -> Any:
    import tomlkit

    table = tomlkit.inline_table()
    table.update(dict(value))
    return table


def numbers_by_joint(
    values: Sequence[float] | Mapping[str, float] | float, joints: Sequence[str]
) -> list[float]:
    """Return one number per joint from one for all, one for each, or by name."""
    from ..arguments import per_joint

    return [float(x) for x in per_joint("a number per joint", values, joints)]

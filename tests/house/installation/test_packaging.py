"""The source package has the repository, the wheel the package, and both agree with the files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from steelyard.version import __version__
from tests.house.sources import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LEFT_OUT = re.compile(
    r"(^|/)(\.git|\.venv[^/]*|build|dist|__pycache__|[^/]*\.egg-info|\.[a-z_]*cache|\.hypothesis"
    r"|steelyard-demo[^/]*)(/|$)"
)


def repository() -> list[str]:
    """The files of the repository: those that git knows, or, in an unpacked source package, all."""
    if (ROOT / ".git").exists():
        known = subprocess.run(
            ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split("\n")
        return sorted(name for name in known if name and (ROOT / name).is_file())
    return sorted(
        name
        for path in ROOT.rglob("*")
        if path.is_file() and not LEFT_OUT.search(name := path.relative_to(ROOT).as_posix())
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return source package and wheel of a copy of the repository."""
    copy, result = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("dist")
    for name in repository():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(result), str(copy)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert "Deprecat" not in ran.stdout + ran.stderr
    return result


def wheel(built: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(next(built.glob("*.whl")))


def test_the_source_package_is_whole(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    missing = [name for name in repository() if name not in inside]
    assert not missing, f"not in the source package (MANIFEST.in): {missing}"
    assert {"tests/conftest.py", "scripts/test.sh", "LICENSE", "CITATION.cff"} <= inside
    assert not [name for name in inside if "__pycache__" in name]


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built: Path) -> None:
    inside = {name for name in wheel(built).namelist() if ".dist-info/" not in name}
    own = {name.removeprefix("src/") for name in repository() if name.startswith("src/steelyard/")}
    assert inside == own, (
        f"only in one of them (package-data of pyproject.toml): {sorted(inside ^ own)}"
    )


def test_the_metadata_says_what_it_is(built: Path) -> None:
    files = wheel(built)
    info = f"steelyard-{__version__}.dist-info"
    message = Parser().parsestr(files.read(f"{info}/METADATA").decode())
    assert (message["Name"], message["Version"], message["License-Expression"]) == (
        "steelyard",
        __version__,
        "Apache-2.0",
    )
    assert message["Requires-Python"] == ">=3.10"
    assert (
        "steelyard = steelyard.apps.cli:main" in files.read(f"{info}/entry_points.txt").decode()
    ), "pipx run steelyard, uvx steelyard"
    assert f"{info}/licenses/LICENSE" in files.namelist()
    named = message.get_all("Classifier") or []
    assert [each.rsplit(" ", 1)[1] for each in named if re.search(r":: 3\.\d+$", each)] == [
        "3.10",
        "3.11",
        "3.12",
        "3.13",
    ]
    assert not [each for each in named if each.startswith("License")], "the licence is said once"
    assert message["Description-Content-Type"].startswith("text/markdown")


def test_twine_accepts_both(built: Path) -> None:
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built.iterdir())]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("PASSED") == 2


def test_the_wheel_runs_by_itself(built: Path, tmp_path: Path) -> None:
    """The command of the wheel, unpacked and alone on the path, with no file of the repository."""
    wheel(built).extractall(tmp_path)
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from steelyard.apps import cli;"
        " print(cli.__file__, file=sys.stderr); cli.main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), "info", "puma560"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.startswith(str(tmp_path)), "the code of the wheel"
    assert "puma560" in ran.stdout


def test_the_citation_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    fields = dict(re.findall(r"^([a-z-]+): *(.+)$", text, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert fields["cff-version"] == "1.2.0"
    assert fields["version"] == __version__
    assert fields["license"] == project["license"] == "Apache-2.0"
    assert {"message", "title", "type"} <= set(fields)
    assert re.search(r"^authors:\n  - ", text, re.MULTILINE)


def test_the_container_runs_a_command_that_exists() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    entry, command = (
        json.loads(re.findall(rf"^{word} (\[.*\])$", text, re.MULTILINE)[-1])
        for word in ("ENTRYPOINT", "CMD")
    )
    assert entry == ["steelyard"]
    extras = re.findall(r"\.whl\)\[([\w,]+)\]", text)[0].split(",")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "page" in extras
    assert set(extras) - {"page"} <= set(project["optional-dependencies"])
    assert re.search(r"^USER (?!root)", text, re.MULTILINE), "not as root"
    source = ROOT / "src" / "steelyard" / "apps" / "commands" / f"{command[0]}.py"
    options = [word for word in command if word.startswith("--")]
    assert options == ["--host", "--expose", "--port", "--no-open"]
    if source.exists():  # typer takes the names of options from the parameters
        named = source.read_text(encoding="utf-8")
        assert all(
            f'"{option}"' in named or f"    {option[2:].replace('-', '_')}: " in named
            for option in options
        )


def test_every_release_is_described() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert re.fullmatch(
        rf"\[Unreleased\]|\[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d", headings[0]
    )
    for heading, part in zip(
        headings, re.split(r"^## .*$", text, flags=re.MULTILINE)[1:], strict=True
    ):
        assert len(part.strip().split("\n\n")[0]) > 80, (
            f"{heading} begins with what it is, in a sentence or two"
        )
        assert set(re.findall(r"^### (.*)$", part, re.MULTILINE)) <= {
            "Added",
            "Changed",
            "Deprecated",
            "Removed",
            "Fixed",
            "Security",
        }


def test_the_scripts_are_bash_and_name_the_pythons_of_the_metadata() -> None:
    for name in ("test.sh", "package.sh", "pythons.sh"):
        subprocess.run(["bash", "-n", str(ROOT / "scripts" / name)], check=True)
    assert "3.10 3.11 3.12 3.13" in (ROOT / "scripts" / "pythons.sh").read_text(encoding="utf-8")


def test_the_oldest_versions_are_those_of_the_metadata(root: Path) -> None:
    """scripts/oldest.sh installs the lower bound of each core dependency, and each has one."""
    lines = {}
    for options in ((), ("--oldest",)):
        command = [sys.executable, str(root / "scripts" / "requirements.py"), *options]
        lines[options] = subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    assert len(lines[()]) == len(lines["--oldest",]) >= 9
    for allowed, oldest in zip(lines[()], lines["--oldest",], strict=True):
        assert ">=" in allowed
        assert oldest == allowed.replace(">=", "==", 1)


def test_the_test_command_tries_other_pythons_and_the_oldest_dependencies(root: Path) -> None:
    command = (root / "scripts" / "test.sh").read_text(encoding="utf-8")
    assert "scripts/pythons.sh" in command
    assert "scripts/oldest.sh" in command

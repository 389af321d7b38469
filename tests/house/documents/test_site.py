"""The documentation builds without a warning, and every link within it is valid."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.house.sources import ROOT

SCRIPT = re.compile(
    r"""(?:src|href)=["'](?:https?:)?//[^"']+\.(?:js|css|woff2?)|@import|url\((?:https?:)?//"""
)


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)


def build(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-n",
        "-b",
        "html",
        "-d",
        str(target / ".doctrees"),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [*command, str(source), str(target)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def broken(site: Path) -> list[str]:
    """Links within the site that lead nowhere, as 'page -> link'."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    results = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            lost = (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].anchors
            )
            if not target.exists() or lost:
                results.append(f"{path.relative_to(site)} -> {link}")
    return results


def test_the_site_builds_without_a_warning_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    """Scripts, styles and fonts are the site's own, so that it needs no network.

    A build changes no tracked file.
    """
    site = tmp_path.resolve() / "site"
    before = changes()
    built = build(ROOT / "docs", site)
    assert changes() == before
    assert (built.returncode, built.stderr) == (0, ""), built.stderr[-700:]
    assert not broken(site)
    fetched = [
        path.name
        for path in site.rglob("*.html")
        if SCRIPT.search(path.read_text(encoding="utf-8"))
    ]
    assert not fetched, f"pages that fetch scripts or styles: {fetched}"
    assert r"M(q)\,\ddot q" in (site / "notation.html").read_text(encoding="utf-8")
    assert (site / "_static" / "mathjax" / "tex-chtml.js").exists()


def git(*arguments: str) -> str:
    """Return what git prints of this working copy.

    Skip the test where there is none, as in an unpacked archive.
    """
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is no working copy of git")
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def changes() -> str:
    """Return the changed files of the working copy and the changes of the documentation."""
    return (
        git("status", "--porcelain", "docs") + git("diff", "--stat", "docs")
        if (ROOT / ".git").exists()
        else ""
    )


def test_no_generated_file_is_tracked() -> None:
    """Files written by a build or a test are ignored, and ignored files are not tracked."""
    assert git("ls-files", "--cached", "--ignored", "--exclude-standard") == ""
    ignored = git(
        "check-ignore", "docs/gallery/made/1.svg", "build/site", ".venv-smoke/3.10"
    ).split()
    assert ignored == ["docs/gallery/made/1.svg", "build/site", ".venv-smoke/3.10"]


def test_a_warning_and_a_broken_link_are_noticed(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "conf.py").write_text(
        "extensions = ['myst_parser']\nsource_suffix = {'.md': 'markdown'}\n"
    )
    (source / "index.md").write_text("# Page\n[gone](gone.md)\n")
    assert "gone" in build(source, tmp_path / "built").stderr
    (tmp_path / "built").mkdir(exist_ok=True)
    (tmp_path / "built" / "more.html").write_text(
        '<a href="index.html#nowhere">x</a><a href="lost.html">y</a><p id="here"><a'
        ' href="#here">z</a>'
    )
    assert {"more.html -> index.html#nowhere", "more.html -> lost.html"} <= set(
        broken(tmp_path / "built")
    )

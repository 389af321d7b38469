"""The closed form on paper.

LaTeX that is well formed, compiles, and cannot be broken by a robot's name.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.closed_form import symbolic
from steelyard.closed_form.latex import document, unbalanced
from tests.laws.closed_form.test_closed_form import ARMS, model_of


@pytest.mark.parametrize("name", [*ARMS, "puma560"])
def test_the_document_is_well_formed(name: str, tmp_path: Path) -> None:
    model = model_of(name)
    path = tmp_path / "model.tex"
    model.write_tex(path)
    text = path.read_text(encoding="utf-8")
    assert text == document(model)
    assert unbalanced(text) == []
    assert text.startswith(r"\documentclass")
    assert text.endswith("\\end{document}\n")
    for line in text.splitlines():
        assert line.count("$") % 2 == 0, line
        assert line.count("&") <= 3, line
    assert max(len(block.split("\\\\\n")) for block in text.split(r"\begin{align*}")[1:]) < 80
    with pytest.raises(sy.CallError, match="overwrite=True"):
        model.write_tex(path)


@pytest.mark.skipif(
    not (shutil.which("pdflatex") or shutil.which("tectonic")), reason="no TeX on this machine"
)
@pytest.mark.parametrize("name", ["planar_2r", "puma560"])
def test_the_document_compiles(name: str, tmp_path: Path) -> None:
    model_of(name).write_tex(tmp_path / "model.tex")
    command = (
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode"]
        if shutil.which("pdflatex")
        else ["tectonic"]
    )
    subprocess.run([*command, "model.tex"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "model.pdf").stat().st_size > 1000


def test_every_line_is_mathematics_that_a_parser_takes() -> None:
    """TeX is not needed to see a broken formula.

    Matplotlib reads the same notation, but for alignment and the size of parentheses.
    """
    from matplotlib.mathtext import MathTextParser

    rubbing = sy.load("planar_2r").with_friction(
        viscous=1.0, coulomb=2.0, negative=1.0, stiction=3.0, stribeck=0.2, width=0.1
    )
    models = (
        (model_of("spatial_3r", parameters="all"), "tau"),
        (model_of("puma560"), "g"),
        (symbolic(rubbing.tree, "rubbing"), "tau"),
    )
    texts = [model.to_latex(quantity) for model, quantity in models]
    blocks = [
        block
        for text in texts
        for block in re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", text, re.DOTALL)
    ]
    lines = [
        re.sub(r"&|\\quad|\\big[lr]", "", line)
        for block in blocks
        for line in block.split(" \\\\\n")
    ]
    assert len(lines) > 50
    assert any("bigl" in block for block in blocks)
    parser = MathTextParser("path")
    for line in lines:
        parser.parse(f"${line}$")


def test_unbalanced_text_is_noticed() -> None:
    for text in (r"\begin{align*}", "{a", "a}", r"\left( a", r"\begin{a}{\end{a}}", r"\end{a}"):
        assert unbalanced(text)
    assert unbalanced(r"\begin{a*} \{ \left( {x} \right) \end{a*}") == []


def test_names_from_a_file_cannot_break_the_document() -> None:
    model = symbolic(sy.load("planar_2r").tree, r"50% \input{x} & #_^~$")
    assert r"\input" not in document(model)
    assert unbalanced(document(model)) == []


def test_latex_of_one_quantity_brings_its_terms() -> None:
    assert r"\dot{q}_{2}" in model_of("planar_2r").to_latex("C")
    text = model_of("puma560").to_latex("g")
    assert r"c_{2} &= \cos" in text
    assert text.index("c_{2} &=") < text.index("g_{2} &=")
    assert "M_{" not in text


def test_notebooks_show_it() -> None:
    small, large = model_of("planar_2r")._repr_latex_(), model_of("puma560")._repr_latex_()
    assert small.count("$$") == 2
    assert unbalanced(small) == unbalanced(large) == []
    assert "named terms" in large
    assert len(large) < 300

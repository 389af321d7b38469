"""How Sphinx builds the documentation: `python -m sphinx -W -n -b html docs build/site`."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "src")]

from steelyard.version import __version__  # noqa: E402

project, author, release = "steelyard", "the steelyard authors", __version__
project_copyright = "the steelyard authors, Apache-2.0"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "gallery",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_extensions"]
html_theme, html_title = "furo", f"steelyard {release}"
# of the package sphinx-mathjax-offline, which copies it with its fonts
mathjax_path = "mathjax/tex-chtml.js"
html_copy_source = html_show_sourcelink = False

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. |\$ ", True
copybutton_exclude = ".linenos, .gp, .go"

default_role = "code"
nitpick_ignore_regex = [("py:.*", ".*")]  # bases and types without a page of their own
add_module_names = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = napoleon_use_param = False


def parameters_without_types(app, what, name, obj, options, lines):
    """Put the text after `name .

    ` on its own line, where the NumPy style expects it: our entries have no type there.
    """
    inside = False
    for k, line in enumerate(lines):
        if re.fullmatch(r"-{3,}", line.strip()):
            inside = lines[k - 1].strip() == "Parameters"
        elif inside and (entry := re.fullmatch(r"(\*{0,2}\w[\w, *]*) : (.*)", line)):
            lines[k] = f"{entry[1]}\n    {entry[2]}"
    lines[:] = "\n".join(lines).split("\n")


def plain_signs(app, what, name, obj, options, lines):
    """Take bars and stars of docstrings, such as in [rad|m] and |tau|, as they are.

    Not so code between backticks, and examples.
    """
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = line.split("`")
            parts[::2] = [re.sub(r"(?<!\\)\||(?<=\[)\*", r"\\\g<0>", part) for part in parts[::2]]
            lines[k] = "`".join(parts)


def setup(app):
    app.connect("autodoc-process-docstring", parameters_without_types, priority=100)
    app.connect("autodoc-process-docstring", plain_signs, priority=900)

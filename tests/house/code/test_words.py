"""The words of the field: names that say what they hold, and lines of at most 100 columns.

Limits only fall: a change that uses fewer of these names lowers the limit in the same commit.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.house.sources import ROOT, parse

LOCALS = {  # a variable named by its history, and what to call it instead
    "made": "what it holds: table, figure, program",
    "found": "what it holds: residuals, hypothesis, roots",
    "own": "whose it is: joint_terms, fit_errors",
    "at": "indices, position or time",
    "left": "residual, remaining",
    "place": "frame, path or index",
    "kept": "indices, rows or a mask",
    "given": "option or argument",
    "wanted": "requested, reference or target",
    "held": "fixed or locked",
    "told": "text or message",
    "said": "text or message",
    "way": "implementation, path or method",
}
MAX_LOCALS = {"src": 2, "benchmarks": 25, "examples": 2, "tests": 125}
MAX_SLOPES = 0
MAX_PHRASES = {"benchmarks": 4, "examples": 0, "scripts": 0, "tests": 145}
COLUMNS = 100
TABLES = {  # files with a table whose rows may be long
    "benchmarks/faults.py",
    "benchmarks/mutants/justified.py",
    "src/steelyard/robot/known_function.py",
    "src/steelyard/signals/log.py",
}


class Phrase(NamedTuple):
    """A regular expression, its replacement, and how often the source may still have it."""

    pattern: str
    replacement: str
    limit: int


DEGREES = "longer|more|less|larger|better|worse|smaller|other|need|faster"
# Texts of the source are docstrings, comments and string literals: messages, help and reports.
# Pages of documentation must have none of these.
PHRASES = (
    Phrase(r"\bmend(?:s|ed|ing)?\b", "fix, repair or correct", 0),
    Phrase(r"\brub(?:s|bed|bing)?\b", "friction", 0),
    Phrase(r"\bslopes?\b", "derivative", 0),
    Phrase(r"\b(?:bears?|borne|bore) (?:\w+ ){0,5}out\b", "agrees with", 0),
    Phrase(r"\bleft over\b", "residual or remainder", 0),
    Phrase(r"\bwhat is left\b", "residual or remainder", 0),
    Phrase(r"\bbooks\b", "energy balance", 0),
    Phrase(r"\bpull(?:s|ed|ing)?\b", "force, bias or move", 1),
    Phrase(
        r"\bpromis(?:e|es|ed)\b", "expected error (of a model) or guarantee (of the software)", 1
    ),
    Phrase(r"\bnot go (?:together|with)\b", "cannot be combined with", 0),
    Phrase(
        rf"(?<!there )\bis no (?!(?:{DEGREES})\b)\w+",
        "is not a",
        1,
    ),
    Phrase(
        rf"(?<!there )\bare no (?!(?:{DEGREES})\b)\w+",
        "are not",
        0,
    ),
    Phrase(r"\btold\b", "reported, given or distinguished", 1),
    Phrase(r"\bsaid\b", "reported, stated or given", 2),
    Phrase(r"\btells? (?:\w+ ){0,3}(?:apart|from)\b", "distinguish", 0),
    Phrase(r"\broom(?:s)?\b(?! temperature)", "package, folder or space", 0),
    Phrase(r"\bthat of\b", "the noun", 0),
    Phrase(r"\bthose of\b", "the noun", 0),
    Phrase(r"\bstands? out\b|\bstanding out\b", "outlier", 0),
    Phrase(r"\bin the place of\b", "instead of", 0),
    Phrase(r"\banew\b", "again", 0),
    Phrase(r"\bwhoever\b", "anyone who, or the role", 0),
    Phrase(r"\bwitness(?:es)?\b", "evidence, or an independent source", 0),
    Phrase(r"\bsettle[sd]?\b", "determine, or build the problem", 0),
    Phrase(r"\bset aside\b", "discarded", 0),
    Phrase(r"\bremembers?\b", "is correlated, or stores", 0),
    Phrase(r"\bcan(?:not)? exist\b", "physically consistent", 0),
    Phrase(r"\bat hand\b", "available", 0),
    Phrase(r"\bof (?:its|their) own\b", "its own, or separate", 0),
    Phrase(r"\blog is silent\b", "has no information", 0),
    Phrase(r"\bwhatever\b", "any or every", 0),
)
# Names of functions, types, modules, parameters, fields and variables, with the new name.
IDENTIFIERS = {
    "settle": "build_problem",
    "settled": "prepared",
    "Settled": "PreparedProblem",
    "conclude": "make_fit",
    "Promise": "ExpectedError",
    "promise": "expected_error",
    "promised": "expected_error",
    "visited": "state_coverage or covered_states",
    "VisitedPath": "CoveredStates",
    "Essential": "ReducedModel",
    "essential": "reduced_parameters",
    "restate": "simulated_states",
    "Restated": "SimulatedSamples",
    "Turns": "FixedPointIteration",
    "sharp": "without_smoothing_width",
    "cannot": "why_not_simulated",
    "Reach": "ColumnSupport",
    "Gathering": "FoldOptions",
    "Recipe": "FoldSpec or Snippet",
    "recipe": "fold_spec or snippet",
    "recipes": "fold_specs or code_snippets",
    "witness": "log_evidence",
    "slope": "derivative",
    "slopes": "derivatives",
    "acceleration_slopes": "aba_derivatives",
    "rotor_slopes": "rotor_derivatives",
    "Drag": "VelocityCoupling",
    "Placed": "BodyInBase",
    "more_mobile": "propagate_mobility",
    "yields": "what the function returns",
    "unit_twist": "velocity_moment",
    "ALONE": "a field of Implementation",
    "IN_BODIES": "a field of Implementation",
    "IN_BASE": "a field of Implementation",
    "BY_GRAPH": "a field of Implementation",
    "SHALLOW": "a field of Implementation",
    "DEEP": "a field of Implementation",
    "stands_alone": "needs_uncoupled",
    "recalled": "from_cache",
    "in_place_of": "as_builtin",
    "with_straight_path": "with_fast_path",
    "derived": "graph_derivatives",
    "row_of": "parameter_gradient or algorithm_row",
    "march": "time_stepping",
    "books": "energy_balance",
    "lasting": "drive_constants",
    "patient": "a noun for what it waits for",
    "standing_out": "outliers",
    "Watch": "MonitorPhases",
    "Recent": "RecentSamples",
    "Crew": "StartPool",
    "Look": "EvaluatedMotion",
    "Request": "ExcitationProblem",
    "loads": "payload_identification or payloads",
    "dwells": "static_segments",
    "arm_of": "select_joints",
    "typed_errors": "errors carry their argument",
    "with_forms": "with_output_options",
    "packed": "encode or to_base64",
    "unpacked": "decode",
    "packing": "compress_figures",
    "parcel": "wire_format",
    "foreign": "translate_errors",
    "any_of": "one_of",
    "brief": "short_repr",
    "flaw": "inertia_problem",
    "finished": "validated",
    "write_whole": "write_atomic",
    "MovingBase": "BaseMotionMethods",
    "spread_motion": "propagate_motion",
    "gather_forces": "accumulate_forces",
    "joint_efforts": "project_onto_axes",
    "next_spin": "child_angular_motion",
}
MAX_IDENTIFIERS = 3  # loads and stores of an LLVM function
# Whole phrases of pages in which a pattern above is right, each with the reason.
ALLOWED: dict[str, str] = {}


MULTI = re.MULTILINE | re.DOTALL
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        *(path for path in (ROOT / "docs").rglob("*.md") if path.name != "changelog.md"),
    ]
)


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def targets(node: ast.AST) -> list[str]:
    """The names that a statement binds."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    return [node.arg] if isinstance(node, ast.arg) else []


@pytest.mark.parametrize("folder", MAX_LOCALS)
def test_variables_are_named_by_what_they_hold(folder: str) -> None:
    counts: Counter[str] = Counter()
    for path in sources(folder):
        for node in ast.walk(parse(path)):
            counts.update(name for name in targets(node) if name in LOCALS)
    advice = ", ".join(f"{name} ({n}): {LOCALS[name]}" for name, n in counts.most_common())
    total = sum(counts.values())
    limit = MAX_LOCALS[folder]
    assert total <= limit, f"{folder}: {total} variables are named by their history; {advice}"
    assert total == limit, f"lower the limit of {folder} to {total}"


def test_a_derivative_is_not_called_a_slope() -> None:
    folders = ("src", "benchmarks", "examples", "tests")
    total = sum(
        len(re.findall(r"slope", path.read_text(encoding="utf-8")))
        for path in sources(*folders)
        if path != Path(__file__)
    )
    assert total <= MAX_SLOPES, f"{total} times 'slope': write 'derivative'"


def long_lines(source: str) -> list[int]:
    """Return the numbers of long lines; rows of a table between fmt: off and on may be long."""
    is_table, numbers = False, []
    for number, line in enumerate(source.splitlines(), start=1):
        if line.strip() in ("# fmt: off", "# fmt: on"):
            is_table = line.strip() == "# fmt: off"
        elif len(line) > COLUMNS and not is_table:
            numbers.append(number)
    return numbers


def test_lines_have_at_most_100_columns() -> None:
    long = [
        f"{path.relative_to(ROOT).as_posix()}:{number}"
        for path in sources("src", "tests", "benchmarks", "examples")
        for number in long_lines(path.read_text(encoding="utf-8"))
    ]
    assert not long, f"lines over {COLUMNS} columns, outside tables: {long}"


def test_tables_are_few() -> None:
    """A long row is excused only in the listed tables."""
    tables = {
        path.relative_to(ROOT).as_posix()
        for path in sources("src", "tests", "benchmarks", "examples")
        if re.search(r"^ *# fmt: off$", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert tables == TABLES


def test_a_long_line_is_noticed() -> None:
    row = f"x = '{'a' * COLUMNS}'"
    assert long_lines(f"x = 1\n{row}\n") == [2]
    assert long_lines(f"# fmt: off\n{row}\n# fmt: on\n{row}\n") == [4]
    assert long_lines("x" * COLUMNS) == []


@cache
def texts(path: Path) -> str:
    """Return docstrings, comments and string literals of a source file, without inline code.

    In lower case, as the patterns are, because search that ignores case is slower.
    """
    source = path.read_text(encoding="utf-8")
    constants = (n.value for n in ast.walk(parse(path)) if isinstance(n, ast.Constant))
    strings = [value for value in constants if isinstance(value, str)]
    comments = re.findall(r"^[^\"'\n]*#(.*)$", source, re.MULTILINE)
    return plain("\n".join([*strings, *comments])).lower()


def prose(path: Path) -> str:
    """Return the text of a page, without blocks of code or output and without inline code."""
    text = re.sub(
        r"^( *)(`{3,})[^`]*?\n.*?^\1\2", "", path.read_text(encoding="utf-8"), flags=MULTI
    )
    text = re.sub(r"<!--.*?-->|\$\$.*?\$\$|\]\([^)]*\)", " ", text, flags=re.DOTALL)
    text = plain(text)
    for phrase in ALLOWED:
        text = text.replace(phrase, "")
    return text.lower()


def plain(text: str) -> str:
    """Return a text without inline code and with single spaces."""
    return re.sub(r"\s+", " ", re.sub(r"``?[^`\n]+``?", "", text))


def hits(pattern: str, text: str) -> list[str]:
    """Return the matches of a phrase in a lower-case text, each with its surroundings."""
    matches = re.finditer(pattern, text)
    return [text[max(0, each.start() - 40) : each.end() + 30] for each in matches]


@pytest.fixture(scope="module")
def source_text() -> str:
    return "\n".join(texts(path) for path in sources("src"))


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase.pattern)
def test_texts_of_the_source_use_the_words_of_the_field(phrase: Phrase, source_text: str) -> None:
    matches = hits(phrase.pattern, source_text)
    assert len(matches) <= phrase.limit, (
        f"{len(matches)} times, limit {phrase.limit}; write {phrase.replacement}: {matches[:5]}"
    )


@pytest.mark.parametrize("folder", MAX_PHRASES)
def test_texts_beside_the_source_use_the_words_of_the_field(folder: str) -> None:
    matches = [
        f"{path.relative_to(ROOT).as_posix()}: {hit}: write {each.replacement}"
        for path in sources(folder)
        if path != Path(__file__)
        for each in PHRASES
        for hit in hits(each.pattern, texts(path))
    ]
    limit = MAX_PHRASES[folder]
    assert len(matches) <= limit, f"{len(matches)} phrases, limit {limit}: {matches[-10:]}"
    assert len(matches) == limit, f"lower the limit of {folder} to {len(matches)}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_use_the_words_of_the_field(path: Path) -> None:
    text = prose(path)
    matches = [(h, each.replacement) for each in PHRASES for h in hits(each.pattern, text)]
    advice = "; ".join(f"'...{text}...': write {new}" for text, new in matches)
    assert not matches, f"{path.name}: {advice}"


def definitions(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines or binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname
        yield from targets(node)


def test_old_names_do_not_return() -> None:
    counts: Counter[str] = Counter()
    for path in sources("src"):
        names = {path.stem, *path.relative_to(ROOT / "src").parts}
        counts.update(name for name in definitions(parse(path)) if name in IDENTIFIERS)
        counts.update(name for name in names if name in IDENTIFIERS)
    advice = ", ".join(f"{name} ({n}): {IDENTIFIERS[name]}" for name, n in counts.most_common())
    assert sum(counts.values()) <= MAX_IDENTIFIERS, f"write instead: {advice}"


def test_patterns_are_in_lower_case() -> None:
    patterns = [re.sub(r"\\.", "", each.pattern) for each in PHRASES]
    assert patterns == [each.lower() for each in patterns]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("the joint rubs", 1),
        ("it is no pose", 1),
        ("there is no pose", 0),
        ("it is no longer", 0),
        ("room temperature", 0),
        ("Whatever it rubs", 2),
        ("`what was said`", 0),
        ("A and B do not go\n    together", 1),
    ],
)
def test_a_phrase_is_noticed(text: str, count: int) -> None:
    assert sum(len(hits(each.pattern, plain(text).lower())) for each in PHRASES) == count


@pytest.mark.parametrize(
    ("name", "limit"), [("made = 1", 1), ("for at in x: pass", 1), ("mode = 1", 0)]
)
def test_a_name_of_the_list_is_noticed(name: str, limit: int) -> None:
    tree = ast.parse(name)
    assert sum(each in LOCALS for node in ast.walk(tree) for each in targets(node)) == limit

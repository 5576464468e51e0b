"""CONTRIBUTING.md says only what is so: the files, names, targets and commands in its code spans
exist, the layout has every package, and handlers take what it says.
"""

import ast
import inspect
import keyword
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from honeyguide.api.routes import ROUTES
from honeyguide.cli import app
from honeyguide.pages.dashboard.routes import PAGES
from tests.laws.test_architecture import MODULES, SOURCE

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SPANS = sorted(set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))))
FOLDERS = (
    ROOT,
    SOURCE,
    SOURCE / "integrations",
    SOURCE / "store" / "migrations",
    ROOT / "tests" / "support" / "platforms",
)
# What stands for a name that the reader chooses.
CHOSEN = re.compile(r"<\w+>|NNNN_name")
NO_NAMES = {".sql", "-- works-with:", "-- locks:", "/docs"}


@cache
def defined_names() -> set[str]:
    """Of modules, classes, functions, variables and parameters, there and in the tests it names."""
    paths = [ROOT / span for span in SPANS if re.fullmatch(r"tests/[\w/]+\.py", span)]
    tests = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    names = {part for module in MODULES for part in re.findall(r"\w+", module.path)}
    for tree in (*(module.tree for module in MODULES), *tests):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
    return names


@cache
def names_by_module() -> dict[str, set[str]]:
    """What is defined at the top of the modules of each name."""
    names: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                names[Path(module.path).stem].add(node.name)
    return names


def is_path(span: str) -> bool:
    return re.fullmatch(r"\.?[\w<>][\w./<>*-]*", span) is not None and bool(
        "/" in span or span.endswith((".py", ".sql", ".md"))
    )


def what_is_wrong(span: str) -> str:
    """Empty if everything that the span names exists."""
    if span in NO_NAMES:
        return ""
    if span.startswith(("make ", "bench-")):
        target = span.removeprefix("make ").split()[0]
        is_there = re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return "" if is_there else "no target"
    if span.startswith("honeyguide "):
        commands = getattr(get_command(app), "commands", {})
        return "" if span.split()[1] in commands else "no command"
    if is_path(span):
        pattern = CHOSEN.sub("*", span).rstrip("/")
        return "" if any(any(folder.glob(pattern)) for folder in FOLDERS) else "no file"
    code = re.sub(r"\".*?\"|\w+=", "", span)
    known = {*defined_names(), *keyword.kwlist}
    missing = [name for name in re.findall(r"[A-Za-z_]\w+", code) if name not in known]
    missing += [
        f"{module}.{name}"
        for module, name in re.findall(r"\b([a-z]\w+)\.(\w+)", code)
        if name not in names_by_module().get(module, known)
    ]
    return ", ".join(f"no {name}" for name in missing)


def test_what_its_code_spans_name_exists() -> None:
    assert len(SPANS) > 60
    wrong = {span: what_is_wrong(span) for span in SPANS}
    assert {span: why for span, why in wrong.items() if why} == {}


@pytest.mark.parametrize(
    "span",
    [
        "cli*.py",
        "pages/dashboard/login_routes.py",
        "make everything",
        "honeyguide fly",
        "CAN_BE_STOPPED",
        "change_log.notify",
        "make messages-fly",
        "referrals/signs.py",
    ],
)
def test_a_span_that_names_nothing_is_seen(span: str) -> None:
    assert what_is_wrong(span)


def test_the_layout_has_every_package_and_module_at_the_top() -> None:
    layout = TEXT.partition("## Layout")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(?:src/honeyguide/)?([\w.]+)/?`", layout))
    there = {module.path.split("/")[0] for module in MODULES}
    assert there - named == {"__init__.py", "__main__.py"}


TAKEN = {"(at, request)", "(change, request)", "(tx, request)", "(services, request)"}


def test_handlers_take_what_it_says() -> None:
    def signatures(handlers: list[object]) -> set[str]:
        found = (inspect.signature(each).parameters for each in handlers)  # type: ignore[arg-type]
        return {f"({', '.join(parameters)})" for parameters in found}

    assert signatures([page.handler for page in PAGES]) == TAKEN
    assert signatures([route.endpoint for route in ROUTES]) == {"(at, call)", "(change, call)"}
    assert TAKEN | {"(at, call)", "(change, call)"} <= set(SPANS)

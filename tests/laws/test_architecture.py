"""The laws of ARCHITECTURE.md, checked on the source itself: who may import whom, where SQL,
drivers and the clock may live.

Each law is a function from a module to its complaints. Every law is tried on every module, and on a
culprit of its own below.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "honeyguide"

DOMAIN = (
    "kernel",
    "languages",
    "store",
    "mail",
    "events",
    "accounts",
    "subscribers",
    "screening",
    "rewards",
    "partners",
    "signups",
    "integrations",
    "moving",
    "account_life",
    "operating",
)
EDGES = ("api", "pages", "work")

MAY_IMPORT: dict[str, set[str]] = {
    package: set(DOMAIN[:place]) for place, package in enumerate(DOMAIN)
}
MAY_IMPORT |= {"": set(), "settings_file": set(), "settings_checks": {"kernel", "settings_file"}}
MAY_IMPORT |= {"settings": {"kernel", "settings_checks", "settings_file"}}
MAY_IMPORT |= {"logs": {"kernel"}, "assistant": {""}}
MAY_IMPORT["operating"] |= {"settings"}
MAY_IMPORT |= {edge: {*DOMAIN, "settings", "logs"} for edge in EDGES}
MAY_IMPORT |= {"app": {*DOMAIN, *EDGES, "settings", "logs"}}
MAY_IMPORT |= {"http_server": {"kernel", "settings"}, "supervisor": set()}
MAY_IMPORT |= {"serve": {"app", "http_server", "kernel", "settings", "store", "supervisor"}}
MAY_IMPORT |= {"demo": {*DOMAIN, "app"}}
MAY_IMPORT |= {"cli": {*MAY_IMPORT} - {"http_server", "settings_checks", "supervisor"}}
MAY_IMPORT |= {"__main__": {"cli"}}

KERNEL_GUESTS = {
    "kernel/email_addresses.py": {"email_validator"},
    "kernel/fields.py": {"msgspec"},
    "kernel/public.py": {"msgspec"},
}
DRIVERS = {"apsw", "asyncpg", "sqlite3", "aiosqlite", "psycopg", "sqlalchemy"}
ENGINE_MODULES = {"sqlite", "sqlite_tx", "postgres", "postgres_tx"} | {
    "SqliteStore",
    "PostgresStore",
    "SqliteTx",
    "PostgresTx",
}
HTTP_SERVERS = {"starlette", "uvicorn", "httptools", "multipart", "python_multipart"}
CLOCKS = {"kernel/clock.py", "kernel/ids.py"}
TIME_READERS = {
    *((owner, name) for owner in ("datetime", "date") for name in ("now", "utcnow", "today")),
    *(("time", name) for name in ("time", "time_ns")),
}
SQL = re.compile(
    r"\s*(SELECT\s+(\d|.*\bFROM\b)|INSERT\s+INTO\s+\w|UPDATE\s+\w+\s+(AS\s+\w+\s+)?SET\b|DELETE\s+FROM\s+\w|WITH\s+(RECURSIVE\s+)?\w+.*\bAS\b)",
    re.DOTALL,
)
FAULTS = {"Fault", "Invalid", "Missing", "Busy", "Reused", "Unauthorized", "TooMany", "Unavailable"}
SUBSCRIBER_CHANGES = {
    f"lifecycle.{name}" for name in ("sign_up", "change_person", "decide", "verify_due", "erase")
}
FILE_LINES = 400
FUNCTION_LINES = 60
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Module:
    path: str  # below src/honeyguide, with slashes
    source: str

    @property
    def package(self) -> str:
        first = self.path.split("/")[0].removesuffix(".py")
        return "" if first == "__init__" else first

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All of the tree, walked once for all laws."""
        return list(ast.walk(self.tree))

    def imports(self) -> Iterator[tuple[int, str]]:
        """Every imported name, absolute and dotted: `from a import b` gives `a.b`."""
        package = ["honeyguide", *self.path.split("/")[:-1]]
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def packages_are_known(module: Module) -> Iterator[str]:
    if module.package not in MAY_IMPORT:
        yield (
            f"1: `{module.package}` has no place in the order of imports; give it one in "
            f"ARCHITECTURE.md and in MAY_IMPORT here"
        )


def imports_run_one_way(module: Module) -> Iterator[str]:
    for line, name in module.imports():
        parts = name.split(".")
        if parts[0] != "honeyguide":
            continue
        package = parts[1] if len(parts) > 1 and parts[1] in MAY_IMPORT else ""
        if (
            package
            and package != module.package
            and package not in MAY_IMPORT.get(module.package, set())
        ):
            here = module.package or "honeyguide/__init__"
            mend = (
                "move the code down to the lowest package that needs it, or pass the value in from "
                "the edge"
            )
            yield f"{line}: `{here}` may not import `{package}`; {mend}"


def the_kernel_stands_on_the_standard_library(module: Module) -> Iterator[str]:
    allowed = sys.stdlib_module_names | {"honeyguide"} | KERNEL_GUESTS.get(module.path, set())
    for line, name in module.imports():
        if module.package == "kernel" and name.split(".")[0] not in allowed:
            yield (
                f"{line}: the kernel imports `{name}`; only the standard library belongs there, "
                f"so move this to a later package"
            )


def drivers_live_in_the_store(module: Module) -> Iterator[str]:
    for line, name in module.imports():
        if module.package != "store" and name.split(".")[0] in DRIVERS:
            yield f"{line}: `{name}` is a database driver; use the Tx that store/ gives you"


def engines_stay_in_the_store(module: Module) -> Iterator[str]:
    if module.package == "store":
        return
    mend = "ask the Store for the fact that matters, such as `is_shared`"
    for line, name in module.imports():
        if ENGINE_MODULES & set(name.split(".")):
            yield f"{line}: `{name}` belongs to one engine; {mend}"
    for node in module.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "engine":
            yield f"{node.lineno}: `{ast.unparse(node)}` asks which engine this is; {mend}"


def the_domain_knows_no_http_server(module: Module) -> Iterator[str]:
    for line, name in module.imports():
        if module.package in DOMAIN and name.split(".")[0] in HTTP_SERVERS:
            yield (
                f"{line}: `{name}` speaks HTTP; return a value or raise a kernel error, and let "
                f"the edge find the words"
            )


def sql_lives_in_sql_files(module: Module) -> Iterator[str]:
    if module.package == "store":
        return
    inside_f_strings = {
        id(part) for node in module.nodes if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in module.nodes:
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inside_f_strings
        ):
            text = node.value
        else:
            continue
        if SQL.match(text):
            yield (
                f"{node.lineno}: SQL text {text.strip()[:40]!r}; give it a name in the .sql file "
                f"beside this module"
            )


def the_clock_is_read_in_one_place(module: Module) -> Iterator[str]:
    if module.path in CLOCKS:
        return
    for node in module.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = ast.unparse(node.func.value).split(".")[-1]
            if (owner, node.func.attr) in TIME_READERS:
                yield (
                    f"{node.lineno}: `{ast.unparse(node.func)}()` reads the clock; take `now_ms` "
                    f"from the edge (kernel.clock)"
                )
    for line, name in module.imports():
        if name in {"time.time", "time.time_ns"}:
            yield f"{line}: `{name}` reads the clock; take `now_ms` from the edge (kernel.clock)"


def files_are_short(module: Module) -> Iterator[str]:
    if (lines := len(module.source.splitlines())) > FILE_LINES:
        yield (
            f"{lines}: the file has {lines} lines, over {FILE_LINES}; divide it by what its parts "
            f"promise"
        )


def functions_are_short(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield (
                    f"{node.lineno}: `{node.name}` has {lines} lines, over {FUNCTION_LINES}; name "
                    f"its steps as functions"
                )


def errors_are_templates(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if (
            not isinstance(node, ast.Call)
            or ast.unparse(node.func).rpartition(".")[2] not in FAULTS
            or not node.args
        ):
            continue
        if isinstance(node.args[0], ast.JoinedStr | ast.BinOp | ast.Call):
            yield (
                f"{node.lineno}: an error's sentence is a template; pass what varies by keyword, "
                f"it may contain braces"
            )


def edges_call_signups(module: Module) -> Iterator[str]:
    """Decision 6: what changes a subscriber goes through `signups`, which also settles a partner's
    referral.
    """
    for node in module.nodes:
        if (
            module.package in EDGES
            and isinstance(node, ast.Call)
            and ast.unparse(node.func) in SUBSCRIBER_CHANGES
        ):
            yield (
                f"{node.lineno}: `{ast.unparse(node.func)}` skips the partner's side; call it "
                f"through `signups`"
            )


def dashboard_units_of_work_are_not_nested(module: Module) -> Iterator[str]:
    for outer in module.nodes if module.path.startswith("pages/dashboard/") else ():
        for node in ast.walk(outer) if isinstance(outer, FUNCTIONS) else ():
            is_nested = node is not outer and isinstance(node, FUNCTIONS)
            if is_nested and any(each.arg == "tx" for each in node.args.args):
                yield f"{node.lineno}: a nested function takes `tx`; the store passes arguments on"


def posts_may_write(module: Module) -> Iterator[str]:
    """All but previews, which show what was typed and change nothing."""
    for node in module.nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"post", "post_recent"}:
            path, _, uses = map(ast.unparse, node.args[:3])
            if uses.endswith("READS") and "/preview" not in path:
                yield f"{node.lineno}: a POST that only reads; say WRITES or SERVICES"


Law = Callable[[Module], Iterator[str]]
LAWS: list[Law] = [
    packages_are_known,
    imports_run_one_way,
    the_kernel_stands_on_the_standard_library,
    drivers_live_in_the_store,
    engines_stay_in_the_store,
    the_domain_knows_no_http_server,
    sql_lives_in_sql_files,
    the_clock_is_read_in_one_place,
    files_are_short,
    functions_are_short,
    errors_are_templates,
    edges_call_signups,
    dashboard_units_of_work_are_not_nested,
    posts_may_write,
]


def read(path: Path) -> Module:
    return Module(path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8"))


def sources(*patterns: str) -> list[Path]:
    found = (path for pattern in patterns for path in SOURCE.rglob(pattern))
    return sorted(
        path for path in found if not {"vendor", "guide", "__pycache__"} & set(path.parts)
    )


MODULES = [read(path) for path in sources("*.py")]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_every_module_keeps_the_law(law: Law) -> None:
    complaints = [
        f"src/honeyguide/{module.path}:{complaint}"
        for module in MODULES
        for complaint in law(module)
    ]
    assert not complaints, "\n" + "\n".join(complaints)


CULPRITS: list[tuple[Law, str, str]] = [
    (packages_are_known, "utils/text.py", ""),
    (imports_run_one_way, "kernel/money.py", "from honeyguide.store.tx import Tx"),
    (imports_run_one_way, "screening/rules.py", "import honeyguide.partners.rules"),
    (imports_run_one_way, "api/v1.py", "from honeyguide import pages"),
    (imports_run_one_way, "work/loop.py", "from ..api import handler"),
    (imports_run_one_way, "pages/site.py", "def late():\n    from honeyguide.app import build"),
    (imports_run_one_way, "mail/emails.py", "from honeyguide.settings import Settings"),
    (imports_run_one_way, "__init__.py", "from .kernel import money"),
    (the_kernel_stands_on_the_standard_library, "kernel/money.py", "import msgspec"),
    (the_kernel_stands_on_the_standard_library, "kernel/money.py", "import email_validator"),
    (drivers_live_in_the_store, "accounts/keys.py", "from asyncpg import Connection"),
    (drivers_live_in_the_store, "cli/backup.py", "import sqlite3"),
    (engines_stay_in_the_store, "mail/emails.py", "from honeyguide.store.postgres import LockWait"),
    (engines_stay_in_the_store, "mail/emails.py", "from honeyguide.store import SqliteStore"),
    (engines_stay_in_the_store, "work/loop.py", "alone = store.engine == 'sqlite'"),
    (
        the_domain_knows_no_http_server,
        "events/outbox.py",
        "from starlette.responses import Response",
    ),
    (the_domain_knows_no_http_server, "events/outbox.py", "import starlette.responses"),
    (sql_lives_in_sql_files, "api/v1.py", "QUERY = 'SELECT id FROM account'"),
    (sql_lives_in_sql_files, "api/v1.py", "X = f'''\n    INSERT INTO {table} VALUES (1)'''"),
    (sql_lives_in_sql_files, "app.py", "PING = 'SELECT 1'"),
    (the_clock_is_read_in_one_place, "events/outbox.py", "import time\nNOW = time.time()"),
    (the_clock_is_read_in_one_place, "events/outbox.py", "from time import time"),
    (the_clock_is_read_in_one_place, "api/views.py", "NOW = dt.datetime.now(dt.UTC)"),
    (files_are_short, "app.py", "x = 1\n" * (FILE_LINES + 1)),
    (functions_are_short, "app.py", "async def f():\n" + "    x = 1\n" * FUNCTION_LINES),
    (errors_are_templates, "partners/rules.py", "raise Invalid(f'{name} is taken.', param='slug')"),
    (errors_are_templates, "api/v1.py", "raise errors.Missing('There is no ' + name)"),
    (edges_call_signups, "api/v1.py", "async def f(change): await lifecycle.change_person(change)"),
    *(
        (dashboard_units_of_work_are_not_nested, "pages/dashboard/settings/clock.py", source)
        for source in ("def f():\n async def g(tx): ...", "def f(): return lambda tx: g(tx)")
    ),
    (posts_may_write, "pages/dashboard/routes.py", "post('/clock', SEE, READS, move)"),
]


@pytest.mark.parametrize(("law", "path", "source"), CULPRITS)
def test_the_law_sees_a_culprit(law: Law, path: str, source: str) -> None:
    assert list(law(Module(path, source)))


INNOCENTS: list[tuple[str, str]] = [
    ("kernel/email_addresses.py", "import email_validator\nfrom honeyguide.kernel import errors"),
    ("store/sqlite.py", "import apsw\nBEGIN = 'SELECT 1'"),
    (
        "partners/charges.py",
        "from honeyguide import __version__\nfrom honeyguide.screening.rules import decide",
    ),
    (
        "api/v1.py",
        "from . import bodies, views\nfrom honeyguide.settings import Settings\n"
        "TEXT = 'SELECT a plan'",
    ),
    ("cli/server.py", "from honeyguide.app import build\nimport time\nSTART = time.monotonic()"),
    ("kernel/clock.py", "import time\nNOW = time.time()"),
    ("pages/dashboard/routes.py", "post('/look/pages/preview', SEE, READS, pages.show_preview)"),
]


@pytest.mark.parametrize(("path", "source"), INNOCENTS)
def test_the_laws_leave_the_innocent_alone(path: str, source: str) -> None:
    assert [complaint for law in LAWS for complaint in law(Module(path, source))] == []

"""More laws on the source itself: who opens transactions, how long calls pass their arguments, and
names.

Each test lists every offender, and is tried on a planted one.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.test_architecture import DOMAIN, MODULES, SOURCE, Module

OPENERS = {"read", "write", "snapshot", "slow_snapshot", "replica_snapshot", "write_snapshot"}
# Background engines and caches, which no caller gives a transaction to.
OWN_TRANSACTIONS = {
    "accounts/admission.py": "admits a request before its transaction begins",
    "backups/checking.py": "reads a scratch database that nobody else uses",
    "backups/restoring.py": "changes a scratch database that nobody else uses",
    "events/dispatcher.py": "takes deliveries to send while no transaction is open",
    "events/recording.py": "records the results of many deliveries together",
    "integrations/sync.py": "talks to a platform while no transaction is open",
    "integrations/worker.py": "leases integrations while no transaction is open",
    "mail/sending.py": "takes emails to send while no transaction is open",
    "referrals/clicks.py": "writes gathered clicks from time to time",
    "referrals/links.py": "a cache that reads what it lacks",
}
MOST_BY_POSITION = 6
RETIRED = frozenset(
    [
        "courier",
        "parcel",
        "postman",
        "crew",
        "leash",
        "ladder",
        "rung",
        "ripen",
        "bell",
        "doors",
        "house",
        "desk",
        "face",
    ]
)


def opened_transactions(module: Module) -> Iterator[str]:
    """Law 2: a domain function takes `tx`; only edges and jobs open a transaction."""
    if module.package not in DOMAIN or module.package == "store":
        return
    for node in module.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in OPENERS
            and ast.unparse(node.func.value).rpartition(".")[2].endswith("store")
        ):
            yield (
                f"{module.path}:{node.lineno}: `{ast.unparse(node.func)}` opens a transaction; "
                f"take `tx`"
            )


def long_calls(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.Call) and len(node.args) > MOST_BY_POSITION:
            name = ast.unparse(node.func)
            yield f"{module.path}:{node.lineno}: `{name}` gets {len(node.args)} values by position"


def shared_class_names(modules: list[Module]) -> Iterator[str]:
    where = defaultdict(list)
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                where[node.name].append(f"{module.path}:{node.lineno}")
    yield from (f"{name}: {', '.join(found)}" for name, found in where.items() if len(found) > 1)


def names_in(module: Module) -> Iterator[tuple[int, str]]:
    for node in module.nodes:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield node.lineno, name
            case ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield node.lineno, name
            case ast.keyword(arg=str(name)):
                yield node.value.lineno, name
            case ast.alias(name=name, asname=other):
                yield node.lineno, other or name


@functools.cache
def retired_words(name: str) -> frozenset[str]:
    """`DeskView`, `_desks` and `desk-view` all contain `desk`."""
    words = re.findall(r"[a-z]+", re.sub(r"([A-Z])", r" \1", name).lower())
    return RETIRED & {*words, *(word.removesuffix("s") for word in words)}


def retired_names(module: Module) -> Iterator[str]:
    for line, name in names_in(module):
        if found := retired_words(name):
            yield f"{module.path}:{line}: `{name}`: docs/glossary.md has a plain word for {found}"


def retired_file_names(paths: list[str]) -> Iterator[str]:
    for path in paths:
        if found := retired_words(path):
            yield f"{path}: docs/glossary.md has a plain word for {found}"


def test_the_domain_opens_no_transaction() -> None:
    offenders = [
        complaint
        for module in MODULES
        if module.path not in OWN_TRANSACTIONS
        for complaint in opened_transactions(module)
    ]
    assert not offenders, "\n" + "\n".join(offenders)
    opening = {module.path for module in MODULES if any(opened_transactions(module))}
    assert opening >= set(OWN_TRANSACTIONS), "these open none any more; take them off the table"


def test_long_calls_name_their_arguments() -> None:
    offenders = [complaint for module in MODULES for complaint in long_calls(module)]
    assert not offenders, "\n" + "\n".join(offenders)


def test_no_two_classes_share_a_name() -> None:
    assert not (offenders := list(shared_class_names(MODULES))), "\n" + "\n".join(offenders)


def test_retired_names_stay_away() -> None:
    tests = Path(__file__).parent
    files = [
        path.relative_to(root).as_posix()
        for root in (SOURCE, tests)
        for path in sorted(root.rglob("*"))
        if "__pycache__" not in path.parts
    ]
    offenders = [complaint for module in MODULES for complaint in retired_names(module)]
    offenders += retired_file_names(files)
    assert not offenders, "\n" + "\n".join(offenders)


def test_the_laws_see_planted_offenders() -> None:
    opens = Module("partners/payouts.py", "async def f(self): await self._store.write(work)")
    assert list(opened_transactions(opens))
    assert not list(opened_transactions(Module("work/money.py", opens.source)))
    assert list(long_calls(Module("app.py", "Reward(1, 2, 3, 4, 5, 6, 7)")))
    assert not list(long_calls(Module("app.py", "Reward(1, 2, 3, 4, 5, 6, g=7)")))
    twins = [Module("api/views.py", "class View: ..."), Module("work/loop.py", "class View: ...")]
    assert list(shared_class_names(twins)) and not list(shared_class_names(twins[:1]))
    for source in (
        "class CourierPool: ...",
        "def ripen_all(): ...",
        "async def f(house): ...",
        "x = y.desks",
        "f(face=1)",
        "from a import b as bell",
    ):
        assert list(retired_names(Module("work/loop.py", source))), source
    assert list(retired_file_names(["mail/bell.py", "pages/DeskView.html", "ladder-page.css"]))
    innocent = Module("api/v1.py", "def preface(surface, doorstep): return indoors.facets")
    assert not list(retired_names(innocent)) and not list(retired_file_names(["mail/emails.py"]))

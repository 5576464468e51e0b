"""More laws on the source itself: who opens transactions, how long calls pass their arguments, and
names.

Each test lists every offender, and is tried on a planted one.
"""

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.laws.test_architecture import DOMAIN, MODULES, SOURCE, Module, read, sources

OPENERS = {"read", "write", "snapshot", "slow_snapshot", "replica_snapshot", "write_snapshot"}
# Background engines and caches, which no caller gives a transaction to.
OWN_TRANSACTIONS = {
    "accounts/admission.py": "admits a request before its transaction begins",
    "operating/backups/access.py": "changes a scratch database that nobody else uses",
    "operating/backups/checking.py": "reads a scratch database that nobody else uses",
    "operating/backups/restoring.py": "changes a scratch database that nobody else uses",
    "operating/doctor/checks.py": "reads what is stored, and then asks others",
    "operating/copying/copying.py": "reads a whole database that no server uses meanwhile",
    "events/dispatcher.py": "takes deliveries to send while no transaction is open",
    "events/recording.py": "records the results of many deliveries together",
    "integrations/leases.py": "a lease is served between transactions, while a platform is asked",
    "integrations/worker.py": "leases integrations while no transaction is open",
    "mail/sending.py": "takes emails to send while no transaction is open",
    "subscribers/clicks.py": "writes gathered clicks from time to time",
    "subscribers/links.py": "a cache that reads what it lacks",
    "subscribers/link_host_map.py": "a cache that reads what it lacks",
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
        "door",
        "house",
        "desk",
        "face",
        "lane",
        "market",
    ]
)
# Alone they say nothing about what they name. In a longer name, such as `is_wanted`, they may.
VAGUE = frozenset(["wanted", "whose", "said", "told", "mine", "lent"])
# One word for one thing: with the noun in front, such as `REWARD_KINDS`, several modules may.
ONLY_ONCE = ("KINDS", "STATUSES")


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
            yield f"{module.path}:{line}: `{name}`: CONTRIBUTING.md has a plain word for {found}"


def vague_names(module: Module) -> Iterator[str]:
    for line, name in names_in(module):
        if name.strip("_") in VAGUE:
            yield f"{module.path}:{line}: `{name}`: name the thing, such as `message` or `filters`"


def shared_constants(modules: list[Module]) -> Iterator[str]:
    for name in ONLY_ONCE:
        where = [
            module.path
            for module in modules
            for node in module.nodes
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        ]
        if len(where) > 1:
            yield f"{name}: {', '.join(where)}"


def names_in_page_file(module: Module) -> set[str]:
    """The classes and ids of a template or a style sheet, and all names of a script."""
    source = re.sub(r"/\*.*?\*/|\{#.*?#\}", "", module.source, flags=re.DOTALL)
    if module.path.endswith(".html"):
        attributes = re.findall(
            r"\b(?:class|id|for|aria-\w+|data-[\w-]+|src|href)=\"([^\"]*)\""
            r"|\{% block kind %\}(\w+)",
            source,
        )
        return {name for values in attributes for name in re.findall(r"[\w-]+", " ".join(values))}
    if module.path.endswith(".css"):
        return set(re.findall(r"[.#]([A-Za-z][\w-]*)", source))
    return set(re.findall(r"[\w-]+", re.sub(r"//.*", "", source)))


def retired_names_on_pages(module: Module) -> Iterator[str]:
    for name in sorted(names_in_page_file(module)):
        if found := retired_words(name):
            yield f"{module.path}: `{name}`: CONTRIBUTING.md has a plain word for {found}"


def retired_file_names(paths: list[str]) -> Iterator[str]:
    for path in paths:
        if found := retired_words(path):
            yield f"{path}: CONTRIBUTING.md has a plain word for {found}"


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
    tests = Path(__file__).parents[1]
    files = [
        path.relative_to(root).as_posix()
        for root in (SOURCE, tests)
        for path in sorted(root.rglob("*"))
        if "__pycache__" not in path.parts
    ]
    offenders = [complaint for module in MODULES for complaint in retired_names(module)]
    offenders += retired_file_names(files)
    offenders += [
        complaint
        for module in map(read, sources("*.html", "*.css", "*.js"))
        for complaint in retired_names_on_pages(module)
    ]
    assert not offenders, "\n" + "\n".join(offenders)


def test_names_say_what_they_name() -> None:
    offenders = [complaint for module in MODULES for complaint in vague_names(module)]
    offenders += shared_constants(MODULES)
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
    for path, source in (
        ("pages/templates/a.html", '<ol class="card ladder">'),
        ("pages/templates/a.html", '<h2 id="h-bell">'),
        ("pages/templates/a.html", "{% block kind %}door{% endblock %}"),
        ("pages/templates/a.html", "<script src=\"{{ static('market.js') }}\">"),
        ("pages/static/a.css", ".reader > .rungs b { color: red }"),
        ("pages/static/a.js", 'document.querySelector(".with-bell")'),
    ):
        assert list(retired_names_on_pages(Module(path, source))), source
    plain = Module("pages/templates/a.html", '<p class="desktop" title="house">A house {# bell #}')
    assert not list(retired_names_on_pages(plain))
    for source in (
        "def told(): ...",
        "f(whose=1)",
        "x._said",
        "mine = {}",
        "async def f(wanted): ...",
    ):
        assert list(vague_names(Module("work/loop.py", source))), source
    assert not list(vague_names(Module("work/loop.py", "is_wanted = row.told_ms")))
    twins = [Module("api/v1.py", "KINDS = ()"), Module("api/v2.py", "KINDS = ()")]
    assert list(shared_constants(twins)) and not list(shared_constants(twins[:1]))
    innocent = Module("api/v1.py", "def preface(surface, doorstep): return indoors.facets")
    assert not list(retired_names(innocent)) and not list(retired_file_names(["mail/emails.py"]))

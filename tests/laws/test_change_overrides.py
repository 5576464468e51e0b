"""A reading or a change binds its account, its campaign and its time to every statement. Where a
caller binds another account or campaign, it is listed here with the reason. Nobody goes past a
reading to its transaction: such a statement is not bound, and a fact that is read by it is never
read again after a write.
"""

import ast
from collections.abc import Iterator

from tests.laws.test_architecture import MODULES

METHODS = {"one", "all", "lock", "run", "put", "update"}
READINGS = {"at", "change", "leased"}
BOUND = {"account_id", "campaign_id", "now_ms"}

_V2 = "a webhook of the API's version 2 belongs to the account and to no campaign"
OVERRIDES = {
    ("events/webhooks.py", "create", "campaign_id"): _V2,
    ("events/webhooks.py", "of_account", "campaign_id"): _V2,
    ("events/webhooks.py", "get", "campaign_id"): _V2,
}


def overrides_in(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The function and the name, for each that a call through a change binds itself."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.AsyncFunctionDef):
            continue
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and _is_bound(call.func):
                for keyword in call.keywords:
                    yield from ((function.name, name) for name in _bound_by(keyword))


def _is_bound(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and called.attr in METHODS
        and isinstance(called.value, ast.Name)
        and called.value.id in READINGS
    )


def _bound_by(keyword: ast.keyword) -> set[str]:
    if keyword.arg is not None:
        return {keyword.arg} & BOUND
    # `**tenant._asdict()` binds what the change binds already, or another tenant.
    return {"account_id", "campaign_id"} if "tenant" in ast.unparse(keyword.value) else set()


def past_a_reading(tree: ast.AST) -> Iterator[str]:
    """Statements that run through the transaction of a reading, not through the reading."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            reading, _, rest = ast.unparse(call.func).partition(".")
            if reading in READINGS and rest in {f"tx.{method}" for method in METHODS}:
                yield ast.unparse(call)


def loaders(tree: ast.AST) -> set[str]:
    """The functions by which facts are loaded, as `module.function` or `function`."""
    return {
        ast.unparse(call.args[0])
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "fact"
    }


def hands_on_its_transaction(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "tx" for node in ast.walk(function))


def test_nobody_goes_past_a_reading() -> None:
    found = [f"{module.path}: {call}" for module in MODULES for call in past_a_reading(module.tree)]
    assert not found, "\n".join(found)
    assert list(past_a_reading(ast.parse("async def f(at): await at.tx.one(_A, id=1)")))


def test_facts_are_loaded_through_their_reading() -> None:
    named = set[tuple[str, str]]()
    for module in MODULES:
        for loader in loaders(module.tree):
            home, _, function = loader.rpartition(".")
            named.add((home or module.path.rpartition("/")[2].removesuffix(".py"), function))
    found = {
        (module.path, function.name): hands_on_its_transaction(function)
        for module in MODULES
        for function in ast.walk(module.tree)
        if isinstance(function, ast.AsyncFunctionDef)
        and (module.path.rpartition("/")[2].removesuffix(".py"), function.name) in named
    }
    assert len(found) > 5
    assert [loader for loader, does in found.items() if does] == []


def test_every_statement_that_binds_another_account_or_campaign_is_listed() -> None:
    found = {
        (module.path, *override) for module in MODULES for override in overrides_in(module.tree)
    }
    assert found == OVERRIDES.keys()


def test_an_override_is_noticed() -> None:
    source = """
async def f(change, at):
    await change.run(_A, id=1)
    await change.one(_B, account_id=other)
    await tx.all(_C, account_id=other)
    await change.put(_D, **change.tenant._asdict())
    await at.all(_E, now_ms=0)
"""
    assert sorted(overrides_in(ast.parse(source))) == [
        ("f", "account_id"),
        ("f", "account_id"),
        ("f", "campaign_id"),
        ("f", "now_ms"),
    ]


# They go through rows of the whole installation, and have no site to make a reading with.
LOOSE = {("events/changes.py", "forget"), ("subscribers/cohorts.py", "mark")}


def loose_in(tree: ast.AST) -> Iterator[str]:
    """Functions that take a transaction and a tenant, which a reading or a change has in one; and
    those that take a transaction and the time, which it knows."""
    for function in ast.walk(tree):
        if isinstance(function, ast.AsyncFunctionDef):
            arguments = function.args.args + function.args.kwonlyargs
            hints = {
                argument.arg: ast.unparse(argument.annotation or function) for argument in arguments
            }
            named = {argument.arg for argument in function.args.kwonlyargs}
            if "tx" in hints and ("Tenant" in hints.values() or "now_ms" in named):
                yield function.name


def test_nobody_takes_a_transaction_with_a_tenant_or_a_time() -> None:
    found = {
        (module.path, name)
        for module in MODULES
        if not module.path.startswith("demo/")
        for name in loose_in(module.tree)
    }
    assert found == LOOSE


def test_a_loose_tenant_or_time_is_noticed() -> None:
    source = """
async def f(tx: Tx, tenant: Tenant): ...
async def g(tx: Tx, *, now_ms: int): ...
async def h(at: Reading, *, now_ms: int): ...
"""
    assert list(loose_in(ast.parse(source))) == ["f", "g"]

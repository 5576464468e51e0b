"""A reading or a change binds its account, its campaign and its time to every statement. Where a
caller binds another account or campaign, it is listed here with the reason.
"""

import ast
from collections.abc import Iterator

from tests.laws.test_architecture import MODULES

METHODS = {"one", "all", "lock", "run", "put", "update"}
READINGS = {"at", "change", "leased"}
BOUND = {"account_id", "campaign_id", "now_ms"}

OVERRIDES = {
    ("events/webhooks.py", "create", "campaign_id"): (
        "a webhook of the API's version 2 belongs to the account and to no campaign"
    ),
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

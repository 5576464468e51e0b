"""Making the changes of `logged_changes`."""

import re
from typing import Any

from tests.support.logged_case import Logged
from tests.support.platforms.generic import GenericTool
from tests.support.web import Operator


def address(route: str, owner: Operator, made: tuple[str, ...]) -> tuple[str, list[str]]:
    """The path with what was made in its parameters, and what is left for the form."""
    path, left = route.replace("{campaign_uuid}", owner.campaign_id), list(made)
    while left and "{" in path:
        path = re.sub(r"\{\w+\}", left.pop(0), path, count=1)
    return path, left


def filled(value: Any, left: list[str]) -> Any:
    if value == [...]:
        return left[:1]
    return left[0] if value is ... else value


def do(owner: Operator, case: Logged, made: tuple[str, ...]) -> int:
    """The status of the answer."""
    route, left = address(case.route, owner, made)
    given = {name: filled(value, left) for name, value in case.given.items()}
    if route.startswith("/"):
        return int(owner.web.post(route, page="/settings", **given).status_code)
    method, _, path = route.partition(" ")
    return int(owner.http.request(method, path, json=given or None).status_code)


def connect(owner: Operator, tool: GenericTool) -> None:
    """Both steps of the page."""
    page = owner.web.post("/integrations/generic", url=f"{tool.url}/hook", secret=tool.secret)
    sealed = re.search(r'name="sealed" value="([^"]+)"', page.text)
    assert sealed, page.text
    answer = owner.web.post(
        "/integrations/generic", sealed=sealed[1], audience="url", preset="usual"
    )
    assert answer.status_code == 303

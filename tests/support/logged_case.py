"""One change that a member may make, and what the change log says of it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.support.web import Operator

Made = str | tuple[str, ...]


class Logged(NamedTuple):
    route: str
    """A page's address, or the method and path of the API."""
    action: str
    given: dict[str, Any]
    """The body or the fields of the form. `...`, alone or as a list of one, is what was made."""
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    """Which the entry has at least; None if it has none."""
    make: Callable[[Operator], Made] = lambda owner: ()
    """What the address names, or the field that is `...`."""
    is_idempotent: bool = True
    """Whether doing it again changes nothing."""

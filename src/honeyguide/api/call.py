"""One API call, as an endpoint sees it, and the rows of the table of routes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import NoneType, UnionType
from typing import (
    Any,
    Generic,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from honeyguide.accounts.permissions import Right
from honeyguide.api.decoding import Body
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.kernel import paging
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.kernel.site import Site
from honeyguide.store.change import Change

B = TypeVar("B")
V = TypeVar("V", bound=msgspec.Struct)
T = TypeVar("T")
R = TypeVar("R")
M = TypeVar("M")


@dataclass(slots=True)
class Call(Generic[B]):
    """What the caller sent. `Call[None]` has no body."""

    site: Site
    policy: OutboundPolicy
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: B

    @property
    def page(self) -> Page:
        return paging.parse_page(self.query.get("page"), self.query.get("per_page"))

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.query.get(name, default)
        if value not in allowed:
            raise Invalid(
                "{field} must be one of: {allowed}.", param=name, allowed=", ".join(allowed)
            )
        return value


@dataclass(slots=True)
class Listed(Generic[V]):
    """A page of a list: what to encode, and what the `Link` header is made from."""

    view: V
    page: Page
    total: int


def listed(
    view: Callable[[list[R], M], V],
    meta: Callable[[int, int, int, int], M],
    items: list[R],
    page: Page,
    total: int,
) -> Listed[V]:
    counts = meta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(view(items, counts), page, total)


@dataclass(slots=True)
class Known:
    """What a POST would have made is there already: the same answer, with 200."""

    view: msgspec.Struct


class Writer(Protocol):
    """Does `work(change, *args)` in a transaction of its own."""

    async def __call__(self, work: Callable[..., Awaitable[T]], /, *args: Any) -> T: ...


# It takes `(at: Reading, call)` if it only reads, `(change: Change, call)` if it writes.
Endpoint = Callable[[Any, Call[Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the table: everything the handler and the OpenAPI document need to know."""

    method: str
    path: str
    endpoint: Endpoint
    right: Right
    _: KW_ONLY
    operation_id: str
    tag: str
    summary: str
    detail: str
    answer: type[msgspec.Struct]
    # It may answer `Known`: 200 instead of `status`.
    known: bool
    body: type[Body] | None
    writes: bool
    status: int = 200
    query: tuple[str, ...] = ()
    # Whether all its statements must see the same moment.
    snapshot: bool = False
    # Work outside of the transaction, such as decoding an image. Its result replaces `call.body`.
    prepare: Callable[[Call[Any]], Awaitable[Any]] | None = None
    # Work in transactions of its own, for what would take too long in one. Its result replaces
    # `call.body`. Sent twice, it must do no more than once.
    in_parts: Callable[[Writer, Call[Any]], Awaitable[Any]] | None = None
    segments: tuple[str, ...] = field(init=False)
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "segments", tuple(self.path.strip("/").split("/")))
        object.__setattr__(
            self,
            "names",
            tuple(segment[1:-1] for segment in self.segments if segment.startswith("{")),
        )


def resource(tag: str, *, twin: Callable[[str], str] = str, lead: str = "") -> Callable[..., Route]:
    """What makes the rows of a resource, which share the tag. A row says what its endpoint does
    not. Where two paths share their endpoints, `twin` makes other operation IDs of the endpoints'
    names for the second path, and `lead` is said first about each of its routes."""

    def row(method: str, path: str, endpoint: Endpoint, right: Right, **more: Any) -> Route:
        first = more.get("prepare") or more.get("in_parts") or endpoint
        fields = _said_by(endpoint, first) | more
        fields.setdefault("operation_id", twin(_operation_id(endpoint)))
        fields["detail"] = f"{lead} {fields['detail']}".lstrip()
        if fields.pop("is_listed"):
            query = fields.get("query", ())
            fields["query"] = query if "page" in query else (*query, "page", "per_page")
            fields["snapshot"] = True
        return Route(method, path, endpoint, right, tag=tag, **fields)

    return row


def _said_by(endpoint: Endpoint, first: Callable[..., Any]) -> dict[str, Any]:
    """What an endpoint says of its route. The docstring is the summary and the detail, which may
    name constants of the module in braces. The first parameter says whether it writes; the return
    value is the answer, and `first`, which gets the call first, says what the body is. Of several
    types, the first is meant unless the row says otherwise."""
    assert endpoint.__doc__, f"{endpoint.__name__} needs a docstring: its summary and detail"
    summary, _, detail = endpoint.__doc__.partition("\n")
    hints = get_type_hints(endpoint)
    (sent,) = get_args(get_type_hints(first)["call"])
    returned = hints["return"]
    is_listed = get_origin(returned) is Listed
    return {
        "summary": summary.removesuffix("."),
        "detail": " ".join(detail.split()).format_map(endpoint.__globals__),
        "answer": get_args(returned)[0] if is_listed else _first(returned),
        "known": Known in get_args(returned),
        "body": None if sent is NoneType else _first(sent),
        "writes": next(iter(hints.values())) is Change,
        "is_listed": is_listed,
    }


def _first(kind: Any) -> Any:
    return get_args(kind)[0] if isinstance(kind, UnionType) else kind


def _operation_id(endpoint: Endpoint) -> str:
    """`create_reward` as `createReward`: what a generated client calls it."""
    verb, *nouns = endpoint.__name__.split("_")
    return verb + "".join(noun.capitalize() for noun in nouns)


def in_v2(name: str) -> str:
    """The operation ID under /v2 of what is also under /v1."""
    return f"{name}V2"


def of_account(name: str) -> str:
    """The operation ID under /v2/subscribers, which names no campaign."""
    return name.replace("Subscriber", "AccountSubscriber")

"""One API call, as an endpoint sees it, and what an endpoint gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import msgspec

from honeyguide.accounts.permissions import Right
from honeyguide.api.decoding import Body
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.kernel import paging
from honeyguide.kernel.actors import Actor
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx


@dataclass(slots=True)
class Call:
    tenant: Tenant
    actor: Actor
    site: Site
    policy: OutboundPolicy
    now_ms: int
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any = None

    def reading(self, tx: Tx) -> Reading:
        return Reading(tx, self.site, self.tenant, self.now_ms)

    def change(self, tx: Tx) -> Change:
        return Change(tx, self.site, self.tenant, self.actor, self.now_ms)

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
class Listed:
    """A page of a list: what to encode, and what the `Link` header is made from."""

    view: msgspec.Struct
    page: Page
    total: int


@dataclass(slots=True)
class Known:
    """What a POST would have made is there already: the same answer, with 200."""

    view: msgspec.Struct


# Its first argument is a reading, or a change where the route writes.
Endpoint = Callable[[Any, Call], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the table: everything the handler and the OpenAPI document need to know."""

    method: str
    path: str
    endpoint: Endpoint
    _: KW_ONLY
    right: Right
    operation_id: str
    tag: str
    summary: str
    detail: str = ""
    answer: type[msgspec.Struct]
    body: type[Body] | None = None
    status: int = 200
    query: tuple[str, ...] = ()
    snapshot: bool = False
    # Work outside of the transaction, such as decoding an image. Its result replaces `call.body`.
    prepare: Callable[[Call], Awaitable[Any]] | None = None
    # Work in transactions of its own, for what would take too long in one. Its result replaces
    # `call.body`. Sent twice, it must do no more than once.
    in_parts: Callable[[Store, Call], Awaitable[Any]] | None = None
    multipart: bool = False
    # It may answer `Known`: 200 instead of `status`.
    known: bool = False
    segments: tuple[str, ...] = field(init=False)
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "segments", tuple(self.path.strip("/").split("/")))
        object.__setattr__(
            self,
            "names",
            tuple(segment[1:-1] for segment in self.segments if segment.startswith("{")),
        )

    @property
    def writes(self) -> bool:
        return self.method != "GET"


def operation_id(endpoint: str) -> str:
    """`create_reward` as `createReward`: what a generated client calls it."""
    verb, *nouns = endpoint.split("_")
    return verb + "".join(noun.capitalize() for noun in nouns)


def resource(tag: str, *, right: Right, twin: Callable[[str], str] = str) -> Callable[..., Route]:
    """What makes the rows of a resource. They share the tag. What only reads needs READ, the rest
    `right`, unless a row says otherwise. The operation ID is the name of the endpoint. Where two
    paths share their endpoints, `twin` makes other IDs of these for the second path."""

    def row(method: str, path: str, endpoint: Endpoint, **more: Any) -> Route:
        more.setdefault("right", Right.READ if method == "GET" else right)
        more.setdefault("operation_id", twin(operation_id(endpoint.__name__)))
        return Route(method, path, endpoint, tag=tag, **more)

    return row


def in_v2(name: str) -> str:
    """The operation ID under /v2 of what is also under /v1."""
    return f"{name}V2"


def of_account(name: str) -> str:
    """The operation ID under /v2/subscribers, which names no campaign."""
    return name.replace("Subscriber", "AccountSubscriber")

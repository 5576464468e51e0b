"""Endpoints for tags: a campaign's, and one subscriber's."""

from __future__ import annotations

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, Endpoint, Route, resource
from honeyguide.api.subscriber_views import Tags
from honeyguide.kernel.errors import Required
from honeyguide.referrals import subscribers, tags
from honeyguide.store.tx import Tx


def _given(call: Call) -> list[str]:
    body: bodies.TagList = call.body
    if body.tags is None:
        raise Required("tags")
    return tags.check_tags(body.tags)


async def list_tags(tx: Tx, call: Call) -> Tags:
    return Tags(await tags.in_use(tx, call.tenant))


async def get_tags(tx: Tx, call: Call) -> Tags:
    subscriber = await subscribers.get(tx, call.tenant, call.path["uuid"])
    return Tags(await tags.of_subscriber(tx, call.tenant, subscriber.id))


async def replace_tags(tx: Tx, call: Call) -> Tags:
    given = _given(call)
    subscriber = await subscribers.get_locked(tx, call.tenant, call.path["uuid"])
    await tags.replace(tx, call.tenant, subscriber.id, given, now_ms=call.now_ms)
    return await get_tags(tx, call)


async def add_tags(tx: Tx, call: Call) -> Tags:
    given = _given(call)
    subscriber = await subscribers.get_locked(tx, call.tenant, call.path["uuid"])
    await tags.add(tx, call.tenant, [subscriber.id], given, now_ms=call.now_ms)
    return await get_tags(tx, call)


async def remove_tags(tx: Tx, call: Call) -> Tags:
    given = _given(call)
    subscriber = await subscribers.get_locked(tx, call.tenant, call.path["uuid"])
    await tags.remove(tx, call.tenant, [subscriber.id], given)
    return await get_tags(tx, call)


_C = "/v1/campaigns/{campaign_uuid}"
_S = f"{_C}/subscribers/{{uuid}}/tags"
_RULES = f"Tags become lower case. Up to {tags.MOST_AT_ONCE} per request."


_subscribers = resource("Subscribers", "tags", right=Right.SUBSCRIBERS)


def _write(method: str, path: str, endpoint: Endpoint, summary: str, detail: str) -> Route:
    return _subscribers(
        method,
        path,
        endpoint,
        summary=summary,
        detail=f"{detail} {_RULES}",
        body=bodies.TagList,
        answer=Tags,
    )


ROUTES = (
    _subscribers(
        "GET",
        f"{_C}/tags",
        list_tags,
        summary="List tags",
        detail=f"The tags that subscribers have, in alphabetical order, up to {tags.MOST_LISTED}.",
        answer=Tags,
    ),
    _subscribers(
        "GET",
        _S,
        get_tags,
        summary="Get a subscriber's tags",
        answer=Tags,
    ),
    _write(
        "PUT",
        _S,
        replace_tags,
        "Set a subscriber's tags",
        "The subscriber has these tags afterwards, and no others.",
    ),
    _write(
        "POST",
        f"{_S}/add",
        add_tags,
        "Add tags to a subscriber",
        "Tags that the subscriber has already stay.",
    ),
    _write(
        "POST",
        f"{_S}/remove",
        remove_tags,
        "Remove tags from a subscriber",
        "Tags that the subscriber does not have are ignored.",
    ),
)

"""Endpoints for tags: a campaign's, and one subscriber's."""

from __future__ import annotations

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, Endpoint, Route, resource
from honeyguide.api.subscriber_views import TagList
from honeyguide.kernel.errors import Required
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import subscribers, tags


def _given(call: Call) -> list[str]:
    body: bodies.TagsInput = call.body
    if body.tags is None:
        raise Required("tags")
    return tags.check_tags(body.tags)


async def list_tags(at: Reading, call: Call) -> TagList:
    return TagList(await tags.in_use(at))


async def get_subscriber_tags(at: Reading, call: Call) -> TagList:
    subscriber = await subscribers.get(at, call.path["uuid"])
    return TagList(await tags.of_subscriber(at, subscriber.id))


async def replace_subscriber_tags(change: Change, call: Call) -> TagList:
    given = _given(call)
    subscriber = await subscribers.get_locked(change, call.path["uuid"])
    await tags.replace(change, subscriber.id, given)
    return await get_subscriber_tags(change, call)


async def add_subscriber_tags(change: Change, call: Call) -> TagList:
    given = _given(call)
    subscriber = await subscribers.get_locked(change, call.path["uuid"])
    await tags.add(change, [subscriber.id], given)
    return await get_subscriber_tags(change, call)


async def remove_subscriber_tags(change: Change, call: Call) -> TagList:
    given = _given(call)
    subscriber = await subscribers.get_locked(change, call.path["uuid"])
    await tags.remove(change, [subscriber.id], given)
    return await get_subscriber_tags(change, call)


_C = "/v1/campaigns/{campaign_uuid}"
_S = f"{_C}/subscribers/{{uuid}}/tags"
_RULES = f"Tags become lower case. Up to {tags.MOST_AT_ONCE} per request."


_subscribers = resource("Subscribers", right=Right.SUBSCRIBERS)


def _write(method: str, path: str, endpoint: Endpoint, summary: str, detail: str) -> Route:
    return _subscribers(
        method,
        path,
        endpoint,
        summary=summary,
        detail=f"{detail} {_RULES}",
        body=bodies.TagsInput,
        answer=TagList,
    )


ROUTES = (
    _subscribers(
        "GET",
        f"{_C}/tags",
        list_tags,
        summary="List tags",
        detail=f"The tags that subscribers have, in alphabetical order, up to {tags.MOST_LISTED}.",
        answer=TagList,
    ),
    _subscribers(
        "GET",
        _S,
        get_subscriber_tags,
        summary="Get a subscriber's tags",
        detail="In alphabetical order. Empty if they have none.",
        answer=TagList,
    ),
    _write(
        "PUT",
        _S,
        replace_subscriber_tags,
        "Set a subscriber's tags",
        "The subscriber has these tags afterwards, and no others.",
    ),
    _write(
        "POST",
        f"{_S}/add",
        add_subscriber_tags,
        "Add tags to a subscriber",
        "Tags that the subscriber has already stay.",
    ),
    _write(
        "POST",
        f"{_S}/remove",
        remove_subscriber_tags,
        "Remove tags from a subscriber",
        "Tags that the subscriber does not have are ignored.",
    ),
)

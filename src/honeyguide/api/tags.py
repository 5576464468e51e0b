"""Endpoints for tags: a campaign's, and one subscriber's."""

from __future__ import annotations

from honeyguide.api import bodies
from honeyguide.api.call import Call
from honeyguide.api.subscriber_views import TagList
from honeyguide.kernel.errors import Required
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import subscribers, tags
from honeyguide.subscribers.subscribers import Subscriber


async def list_tags(at: Reading, call: Call[None]) -> TagList:
    """List tags.

    The tags that subscribers have, in alphabetical order, up to {tags.MOST_LISTED}.
    """
    return TagList(await tags.in_use(at))


async def get_subscriber_tags(at: Reading, call: Call[None]) -> TagList:
    """Get a subscriber's tags.

    In alphabetical order. Empty if they have none.
    """
    return await _tags_of(at, await subscribers.get(at, call.path["uuid"]))


async def replace_subscriber_tags(change: Change, call: Call[bodies.TagsInput]) -> TagList:
    """Set a subscriber's tags.

    The subscriber has these tags afterwards, and no others. Tags become lower case. Up to
    {tags.MOST_AT_ONCE} per request.
    """
    given = _checked(call.body)
    subscriber = await subscribers.get_locked(change, call.path["uuid"])
    await tags.replace(change, subscriber.id, given)
    return await _tags_of(change, subscriber)


async def add_subscriber_tags(change: Change, call: Call[bodies.TagsInput]) -> TagList:
    """Add tags to a subscriber.

    Tags that the subscriber has already stay. Tags become lower case. Up to {tags.MOST_AT_ONCE} per
    request.
    """
    given = _checked(call.body)
    subscriber = await subscribers.get_locked(change, call.path["uuid"])
    await tags.add(change, [subscriber.id], given)
    return await _tags_of(change, subscriber)


async def remove_subscriber_tags(change: Change, call: Call[bodies.TagsInput]) -> TagList:
    """Remove tags from a subscriber.

    Tags that the subscriber does not have are ignored. Tags become lower case. Up to
    {tags.MOST_AT_ONCE} per request.
    """
    given = _checked(call.body)
    subscriber = await subscribers.get_locked(change, call.path["uuid"])
    await tags.remove(change, [subscriber.id], given)
    return await _tags_of(change, subscriber)


def _checked(body: bodies.TagsInput) -> list[str]:
    if body.tags is None:
        raise Required("tags")
    return tags.check_tags(body.tags)


async def _tags_of(at: Reading, subscriber: Subscriber) -> TagList:
    return TagList(await tags.of_subscriber(at, subscriber.id))

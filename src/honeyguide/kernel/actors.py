"""An actor is whoever makes a change: a member, an API key, a job, a command or a subscriber."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ActorKind(StrEnum):
    MEMBER = "member"
    """A person on the dashboard."""
    API_KEY = "api_key"
    JOB = "job"
    """Background work: a holding period that ends, an import, what an email platform reports."""
    COMMAND_LINE = "command_line"
    SUBSCRIBER = "subscriber"


class Actor(NamedTuple):
    kind: ActorKind
    id: str
    """Of the user, the API key or the subscriber; the name of the job or the command."""

    @property
    def by(self) -> str | None:
        """What is stored with a decision or a reward as `decided_by` and the like: None for what
        nobody decided by hand."""
        return _BY.get(self.kind)


OPERATOR, API, READER = "operator", "api", "reader"
IMPORT = "import"
"""Of what was given or decided in the tool that somebody moved from."""
_BY = {ActorKind.MEMBER: OPERATOR, ActorKind.API_KEY: API, ActorKind.SUBSCRIBER: READER}


# Somebody who signs up on a page has no id before they are in.
NEW_SUBSCRIBER = Actor(ActorKind.SUBSCRIBER, "")
# Whoever reads the emails of an account and follows a link in one.
ANY_MEMBER = Actor(ActorKind.MEMBER, "")


def member(user_id: str) -> Actor:
    return Actor(ActorKind.MEMBER, user_id)


def api_key(key_id: str) -> Actor:
    return Actor(ActorKind.API_KEY, key_id)


def job(name: str) -> Actor:
    return Actor(ActorKind.JOB, name)


def command(name: str) -> Actor:
    return Actor(ActorKind.COMMAND_LINE, name)


def subscriber(subscriber_id: str) -> Actor:
    return Actor(ActorKind.SUBSCRIBER, subscriber_id)

"""What an operator sets about their notifications: how each kind comes, and where Slack is. The
choices themselves are in `mail`, which knows no change log.
"""

from __future__ import annotations

from collections.abc import Mapping

from honeyguide.events import change_log
from honeyguide.mail import notification_choices, slack_messages
from honeyguide.mail.notification_choices import Choice
from honeyguide.mail.notification_kinds import NotificationKind
from honeyguide.store.change import Change


async def save(change: Change, chosen: Mapping[str, Choice]) -> None:
    """By the names of kinds; others stay as they are."""
    before = await notification_choices.of_account(change)
    await notification_choices.save(change, chosen)
    await _record(change, before)


async def turn_off(change: Change, kind: NotificationKind) -> None:
    """One kind, as the link in its email does."""
    before = await notification_choices.of_account(change)
    await notification_choices.turn_off(change, kind)
    await _record(change, before)


async def _record(change: Change, before: Mapping[str, Choice]) -> None:
    account_id = change.tenant.account_id
    after = await notification_choices.of_account(change)
    old, new = (
        {name: choice._asdict() for name, choice in choices.items()} for choices in (before, after)
    )
    await change_log.record(change, "notifications.changed", account_id, old, new)


async def set_slack_webhook(change: Change, *, encrypted_url: str, host: str) -> None:
    """The caller has checked the URL. Whoever knows it can post, so it is not logged."""
    account_id = change.tenant.account_id
    await slack_messages.set_webhook(change, encrypted_url=encrypted_url, host=host)
    await change_log.record(change, "slack_webhook.set", account_id)


async def remove_slack_webhook(change: Change) -> None:
    account_id = change.tenant.account_id
    is_set = await slack_messages.webhook_of(change.tx, account_id) is not None
    await slack_messages.delete_webhook(change)
    if is_set:
        await change_log.record(change, "slack_webhook.removed", account_id)

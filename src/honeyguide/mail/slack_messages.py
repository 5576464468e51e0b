"""Notifications that wait to be posted to an account's Slack webhook, or one that takes the same
messages. `work.notifications` posts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.ids import new_id
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

TOPIC = "slack messages"
BATCH = 20


class SlackWebhook(NamedTuple):
    encrypted_url: str
    """Whoever has the URL can post, so it is a secret. Pages show its host only."""
    host: str
    error: str | None
    failed_ms: int | None


class SlackMessage(NamedTuple):
    id: str
    account_id: str
    sentence: str
    link: str
    """A path of the dashboard."""
    attempts: int


_sql = beside(__file__)
_WEBHOOK_OF = _sql.query("webhook_of", SlackWebhook)
_ALL_ENCRYPTED_URLS = _sql.value("all_encrypted_urls", str)
_SET_WEBHOOK = _sql.command("set_webhook")
_DELETE_WEBHOOK = _sql.command("delete_webhook")
_DELETE_MESSAGES = _sql.command("delete_messages")
_INSERT = _sql.command("insert")
_WITHDRAW = _sql.command("withdraw")
_DUE_ACCOUNTS = _sql.value("due_accounts", str)
_CLAIM = _sql.query("claim", SlackMessage)
_DELETE_CLAIMED = _sql.command("delete_claimed")
_CLEAR_ERROR = _sql.command("clear_error")
_DEFER = _sql.command("defer")
_SET_ERROR = _sql.command("set_error")


async def webhook_of(tx: Tx, account_id: str) -> SlackWebhook | None:
    return await tx.one(_WEBHOOK_OF, account_id=account_id)


async def all_encrypted_urls(tx: Tx) -> list[str]:
    """Of every account, to check whether they can be decrypted."""
    return await tx.all(_ALL_ENCRYPTED_URLS)


async def set_webhook(change: Change, *, encrypted_url: str, host: str) -> None:
    """The caller has checked the URL."""
    await change.run(_SET_WEBHOOK, encrypted_url=encrypted_url, host=host)


async def delete_webhook(change: Change) -> None:
    await change.run(_DELETE_WEBHOOK)
    await change.run(_DELETE_MESSAGES)


async def enqueue(tx: Tx, account_id: str, sentence: str, link: str, *, delay_ms: int = 0) -> None:
    await tx.put(
        _INSERT,
        id=new_id(),
        account_id=account_id,
        sentence=sentence,
        link=link,
        due_ms=tx.now_ms + delay_ms,
    )
    tx.wake(TOPIC)


async def withdraw(tx: Tx, account_id: str, sentence: str, link: str) -> None:
    """Deletes a message that is not due yet."""
    await tx.run(_WITHDRAW, account_id=account_id, sentence=sentence, link=link)


async def due_accounts(tx: Tx, *, most: int) -> list[str]:
    return await tx.all(_DUE_ACCOUNTS, most=most)


async def claim(
    tx: Tx, accounts: Sequence[str], token: str, *, until_ms: int
) -> list[SlackMessage]:
    """The next messages of these accounts, leased to whoever has the token."""
    return await tx.all(_CLAIM, accounts=accounts, token=token, until_ms=until_ms, batch=BATCH)


async def record_posted(tx: Tx, account_id: str, token: str) -> None:
    """The messages that were claimed for this account are there."""
    await tx.run(_DELETE_CLAIMED, account_id=account_id, token=token)
    await tx.run(_CLEAR_ERROR, account_id=account_id)


async def record_failed(
    tx: Tx, account_id: str, token: str, error: str, *, next_ms: int | None
) -> None:
    """Nothing of this account is tried before `next_ms`; None gives up what was claimed."""
    await tx.run(_SET_ERROR, account_id=account_id, error=error)
    if next_ms is None:
        await tx.run(_DELETE_CLAIMED, account_id=account_id, token=token)
    else:
        await tx.run(_DEFER, account_id=account_id, due_ms=next_ms)

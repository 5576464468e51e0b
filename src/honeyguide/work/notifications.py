"""The jobs about notifications: digests and summaries by email, messages to Slack, warnings."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from honeyguide.events.outbound import Answer, Outbound
from honeyguide.integrations.encryption import EncryptionKeys, Undecryptable
from honeyguide.kernel.clock import HOUR_MS, MINUTE_MS
from honeyguide.kernel.errors import Fault, Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.mail import digests, slack_messages
from honeyguide.mail.slack_messages import SlackMessage
from honeyguide.partners import payout_notifications
from honeyguide.store import Store
from honeyguide.store.tx import timed

log = logging.getLogger("honeyguide.work")

# After each attempt that failed; then the messages are given up.
DELAYS_MS = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 6 * HOUR_MS)
# Longer than a post may take.
LEASE_MS = MINUTE_MS
# API keys found in one read.
BATCH = 100
KEYS_EXPIRE = "notify of keys that expire"


class AccountsSkipped(Fault):
    """Some accounts could not be notified. All others were."""

    code = "accounts_skipped"


@dataclass(frozen=True)
class SlackPoster:
    """What posting to Slack needs besides the store."""

    site: Site
    outbound: Outbound
    keys: EncryptionKeys

    async def post(self, account_id: str, url: str, messages: list[SlackMessage]) -> str | None:
        """Why it failed, as a sentence without the URL, which is a secret. None if it did not."""
        try:
            plain_url = self.keys.decrypt(url, row_id=account_id)
        except Undecryptable:
            return "The URL cannot be decrypted anymore. Enter it again."
        body = json.dumps({"text": text_of(self.site, messages)}).encode()
        answer = await self.outbound.post(plain_url, body, {"content-type": "application/json"})
        is_ok = answer.status is not None and 200 <= answer.status < 300
        return None if is_ok else why_not(answer)


async def send_digest(site: Site, store: Store, accounts: Sequence[str], now_ms: int) -> bool:
    (account_id,) = accounts
    await store.write(timed(digests.send_next, now_ms), site, only=account_id)
    return True


async def notify_about_payouts(
    site: Site, store: Store, months: Sequence[str], now_ms: int
) -> bool:
    """Notifies all accounts of a month, a batch at a time. If one cannot be notified, the others
    are, and the month is gone through again later."""
    (month,) = months
    passed_over: list[str] = []
    batch, more = payout_notifications.BATCH, True
    while more:
        try:
            more = await store.write(
                timed(payout_notifications.notify_batch, now_ms),
                site,
                month,
                batch=batch,
                is_whole=not passed_over,
            )
        except Unavailable:
            raise
        except Exception:
            if batch == 1:
                account_id = await store.write(payout_notifications.pass_over, month)
                log.exception("Could not notify the account %s about %s", account_id, month)
                passed_over.append(account_id)
            batch = 1
    if passed_over:
        await store.write(payout_notifications.begin_again, month)
        raise AccountsSkipped(
            "{n} accounts could not be notified. The log has the details.", n=len(passed_over)
        )
    return True


async def post_to_slack(
    poster: SlackPoster, store: Store, accounts: Sequence[str], now_ms: int
) -> bool:
    """Posts a batch, one post for each account. At least once: if the process dies after posting,
    the lease ends and the messages are posted again."""
    token = new_id()
    claimed = await store.write(
        timed(slack_messages.claim, now_ms), accounts, token, until_ms=now_ms + LEASE_MS
    )
    by_account: dict[str, list[SlackMessage]] = defaultdict(list)
    for message in sorted(claimed, key=lambda each: each.id):
        by_account[message.account_id].append(message)
    posts = (
        _post(poster, store, token, messages, now_ms=now_ms) for messages in by_account.values()
    )
    for trouble in await asyncio.gather(*posts, return_exceptions=True):
        if trouble is not None:
            raise trouble
    return len(claimed) == slack_messages.BATCH


async def _post(
    poster: SlackPoster,
    store: Store,
    token: str,
    messages: list[SlackMessage],
    *,
    now_ms: int,
) -> None:
    account_id = messages[0].account_id
    webhook = await store.read(slack_messages.webhook_of, account_id)
    if webhook is None:  # it was deleted, and the messages with it
        return
    why = await poster.post(account_id, webhook.encrypted_url, messages)
    if why is None:
        await store.write(slack_messages.record_posted, account_id, token)
        return
    attempts = max(message.attempts for message in messages)
    next_ms = now_ms + DELAYS_MS[attempts - 1] if attempts <= len(DELAYS_MS) else None
    await store.write(
        timed(slack_messages.record_failed, now_ms),
        account_id,
        token,
        why,
        next_ms=next_ms,
    )


def text_of(site: Site, messages: list[SlackMessage]) -> str:
    """One line each, as a link in Slack's format."""
    return "\n".join(
        f"<{site.base_url}{message.link}|{_escaped(message.sentence)}>" for message in messages
    )


def _escaped(text: str) -> str:
    """As Slack asks for it. A bar would end the link's URL."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("|", "¦")


def why_not(answer: Answer) -> str:
    """A sentence for the operator, without the URL."""
    if answer.status is None:
        return answer.error or "There was no response."
    excerpt = " ".join(answer.body.split())[:100]
    return f"It answered with status {answer.status}{': ' + excerpt if excerpt else ''}."

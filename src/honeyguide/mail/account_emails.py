"""Queues emails to users of the dashboard, partners among them: both parts, in our own branding."""

from __future__ import annotations

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.mail import emails, layout
from honeyguide.mail.content import EmailText
from honeyguide.mail.layout import EmailParts
from honeyguide.store.tx import Tx


async def send(
    tx: Tx,
    account_id: str,
    to: EmailAddress,
    kind: str,
    message: EmailText,
    *,
    parts: EmailParts | None = None,
    unsubscribe_url: str | None = None,
    once: str | None = None,
    now_ms: int,
) -> None:
    """`parts` are what the email says if that is not just the message."""
    made = parts or layout.parts(message, layout.HONEYGUIDE)
    await emails.enqueue(
        tx,
        account_id=account_id,
        to=to,
        kind=kind,
        subject=message.subject,
        text=made.text,
        html=made.html,
        unsubscribe_url=unsubscribe_url,
        once=once,
        now_ms=now_ms,
    )

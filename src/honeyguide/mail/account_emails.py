"""Queues emails to users of the dashboard, partners among them: both parts, in our own branding or
that of the publication that they are from."""

from __future__ import annotations

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.mail import emails, layout
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import EmailKind
from honeyguide.mail.layout import HONEYGUIDE, EmailBranding, EmailParts
from honeyguide.store.tx import Tx


async def send(
    tx: Tx,
    account_id: str,
    to: EmailAddress,
    kind: EmailKind,
    message: EmailText,
    *,
    brand: EmailBranding = HONEYGUIDE,
    parts: EmailParts | None = None,
    preferences_url: str | None = None,
    unsubscribe_url: str | None = None,
    once: str | None = None,
    delay_ms: int = 0,
    now_ms: int,
) -> None:
    """`parts` are what the email says if that is not just the message. `preferences_url` is where
    they choose which notifications they get."""
    made = parts or layout.parts(message, brand, preferences_url=preferences_url)
    await emails.enqueue(
        tx,
        account_id=account_id,
        to=to,
        kind=kind,
        subject=message.subject,
        text=made.text,
        html=made.html,
        from_name=brand.from_name,
        reply_to=brand.reply_to,
        unsubscribe_url=unsubscribe_url,
        once=once,
        delay_ms=delay_ms,
        now_ms=now_ms,
    )

"""Queues emails to subscribers: both parts, in the newsletter's branding, with a link to stop those
that nobody asked for.
"""

from __future__ import annotations

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.site import Site
from honeyguide.mail import emails, layout
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import EmailKind
from honeyguide.mail.layout import EmailBranding
from honeyguide.store.change import Change
from honeyguide.subscribers import hub, reader_links
from honeyguide.subscribers.subscribers import Subscriber


def stop_url(site: Site, reader: Subscriber) -> str:
    """Needs no login: whoever has the email may stop such emails."""
    token = reader_links.stop_token(site, reader.ref_code, reader.link_version)
    return f"{site.base_url}/stop/{token}"


async def send(
    change: Change,
    reader: Subscriber,
    message: EmailText,
    brand: EmailBranding,
    *,
    kind: EmailKind,
    once: str | None = None,
    at_ms: int | None = None,
    delay_ms: int = 0,
    held_code: str | None = None,
) -> bool:
    """At that time, or now, or later; with a `held_code`, when somebody releases the emails of that
    code. False if there is an email with this `once` already."""
    site, stop, leave, never = change.site, None, None, None
    if kind.can_be_stopped:
        stop, leave = stop_url(site, reader), f"{hub.link(site, reader)}/leave"
    if reader.status == "unsubscribed":
        never = f"{stop_url(site, reader)}?never=1"
    made = layout.parts(message, brand, stop_url=stop, leave_url=leave, never_url=never)
    return await emails.enqueue(
        change.tx,
        account_id=change.tenant.account_id,
        to=EmailAddress(reader.email),
        kind=kind,
        subject=message.subject,
        text=made.text,
        html=made.html,
        from_name=brand.from_name or brand.name,
        reply_to=brand.reply_to,
        unsubscribe_url=stop,
        about=reader.id,
        once=once,
        delay_ms=delay_ms,
        held_code=held_code,
        now_ms=change.now_ms if at_ms is None else at_ms,
    )


async def send_news(
    change: Change,
    reader: Subscriber,
    message: EmailText,
    brand: EmailBranding,
    *,
    kind: EmailKind,
    most_days_later: int = 0,
) -> None:
    """An email that can be stopped: at most one for each subscriber and day (UTC), and none to
    those who unsubscribed. Whether they stopped these emails is looked up when it is sent. If
    today's was sent, this one waits for the next day without one, at most so many days; else it
    is left out."""
    if reader.status == "unsubscribed":
        return
    for days in range(most_days_later + 1):
        at_ms = change.now_ms + days * DAY_MS
        once = f"news:{reader.id}:{at_ms // DAY_MS}"
        if await send(change, reader, message, brand, kind=kind, once=once, at_ms=at_ms):
            return

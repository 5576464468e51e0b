"""Emails to subscribers: both parts, in the newsletter's branding, with a link to stop those
that nobody asked for.
"""

from __future__ import annotations

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.site import Site
from honeyguide.mail import emails
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import EmailKind
from honeyguide.mail.emails import EmailToSend
from honeyguide.mail.layout import EmailBranding, EmailLinks
from honeyguide.mail.texts import AdvocateFacts
from honeyguide.store.change import Change
from honeyguide.subscribers import hub, names, reader_links
from honeyguide.subscribers.subscribers import Subscriber


def stop_url(site: Site, reader: Subscriber) -> str:
    """Needs no login: whoever has the email may stop such emails."""
    token = reader_links.stop_token(site, reader.ref_code, reader.link_version)
    return f"{site.base_url}/stop/{token}"


def facts_of(site: Site, advocate: Subscriber) -> AdvocateFacts:
    return AdvocateFacts(
        hub=hub.link(site, advocate),
        referrals=advocate.referrals_verified,
        toward_rewards=advocate.toward_rewards,
        first_name=names.first_name(advocate.name),
    )


def email_to(
    change: Change, reader: Subscriber, kind: EmailKind, message: EmailText, brand: EmailBranding
) -> EmailToSend:
    site, links = change.site, EmailLinks()
    if kind.can_be_stopped:
        links = EmailLinks(stop=stop_url(site, reader), leave=f"{hub.link(site, reader)}/leave")
    if reader.status == "unsubscribed":
        links = links._replace(never=f"{stop_url(site, reader)}?never=1")
    return EmailToSend(
        account_id=change.tenant.account_id,
        to=EmailAddress(reader.email),
        kind=kind,
        message=message,
        brand=brand,
        links=links,
        about=reader.id,
    )


async def send_news(
    change: Change, reader: Subscriber, email: EmailToSend, *, most_days_later: int = 0
) -> None:
    """An email that can be stopped: at most one for each subscriber and day (UTC), and none to
    those who unsubscribed. Whether they stopped these emails is looked up when it is sent. If
    today's was sent, this one waits for the next day without one, at most so many days; else it
    is left out."""
    if reader.status == "unsubscribed":
        return
    for days in range(most_days_later + 1):
        at_ms = change.now_ms + days * DAY_MS
        email = email._replace(once=f"news:{reader.id}:{at_ms // DAY_MS}")
        if await emails.send(change.tx.at(at_ms), email):
            return

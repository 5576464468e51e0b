"""Emails that readers ask for on public forms. Limits keep a stranger’s inbox from filling up."""

from __future__ import annotations

from honeyguide.accounts import attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import TooMany
from honeyguide.kernel.site import Site
from honeyguide.mail import emails, texts
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import CONFIRM, HUB_LINK, EmailKind
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.referrals import hub, reader_emails, subscribers
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx

# Per kind, mailbox and campaign. Somebody whose email got lost is waiting for another one.
EVERY_MS = 10 * MINUTE_MS
# Counted before anything is looked up, so that forms sent at the same time see each other's emails.
ASKED_FOR = Limit("reader letters by mailbox", 50, DAY_MS)
CONFIRM_WITHIN_MS = 7 * DAY_MS


def confirm_token(site: Site, ref_code: str, until_ms: int) -> str:
    return site.seal("confirm", until_ms.to_bytes(6, "big") + ref_code.encode())


def confirm_code(site: Site, token: str, now_ms: int) -> str | None:
    """The referral code of the subscriber that the email was sent to, until it expires."""
    content = site.unseal("confirm", token)
    if content is None or int.from_bytes(content[:6], "big") < now_ms:
        return None
    return content[6:].decode()


async def send_confirm(
    tx: Tx, site: Site, brand: PageBranding, reader: Subscriber, *, now_ms: int
) -> None:
    token = confirm_token(site, reader.ref_code, now_ms + CONFIRM_WITHIN_MS)
    link = f"{site.base_url}/confirm/{token}"
    email = texts.confirm(brand.language, newsletter=brand.name, link=link, own=brand.email_texts)
    await _send(tx, site, brand, reader, kind=CONFIRM, email=email, now_ms=now_ms)


async def send_hub_link(
    tx: Tx, site: Site, brand: PageBranding, reader: Subscriber, *, now_ms: int
) -> None:
    link = hub.link(site, reader)
    email = texts.hub_link(brand.language, newsletter=brand.name, link=link, own=brand.email_texts)
    await _send(tx, site, brand, reader, kind=HUB_LINK, email=email, now_ms=now_ms)


async def _send(
    tx: Tx,
    site: Site,
    brand: PageBranding,
    reader: Subscriber,
    *,
    kind: EmailKind,
    email: EmailText,
    now_ms: int,
) -> None:
    """Over the limit nothing is sent, silently: an error would tell who is subscribed."""
    tenant = brand.tenant
    if not await subscribers.lock(tx, tenant, reader.id):
        return
    to = EmailAddress(reader.email)
    try:
        await attempts.count(tx, site, ASKED_FOR, to.person, now_ms=now_ms)
    except TooMany:
        return
    lately = await emails.count_recent(
        tx,
        tenant.account_id,
        to,
        kind,
        since_ms=now_ms - EVERY_MS,
        day_ago_ms=now_ms - DAY_MS,
    )
    if lately.of_account or lately.of_all >= kind.most_a_day:
        return
    await reader_emails.send(
        Change(tx, site, tenant, actors.subscriber(reader.id), now_ms),
        reader,
        email,
        brand.email_branding(site),
        kind=kind,
        once=f"{kind.name}:{reader.id}:{now_ms // EVERY_MS}",
    )

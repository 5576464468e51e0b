"""Emails that readers ask for on public forms. Limits keep a stranger’s inbox from filling up."""

from __future__ import annotations

from honeyguide.accounts import attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import TooMany
from honeyguide.mail import emails, stops, texts
from honeyguide.mail.email_kinds import CONFIRM, HUB_LINK, EmailKind
from honeyguide.mail.emails import EmailToSend, RecentCounts
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.signups import claims, confirmations
from honeyguide.store.change import Change
from honeyguide.subscribers import hub, reader_emails, reader_links, subscribers
from honeyguide.subscribers.reasons import DEADLINE_DAYS
from honeyguide.subscribers.subscribers import Subscriber

# Per kind, mailbox and campaign. Somebody whose email got lost is waiting for another one.
EVERY_MS = 10 * MINUTE_MS
# After an unconfirmed signup, the email about one with another code waits.
OTHER_CODE_MS = HOUR_MS
# Who presses "Send again" has waited for it.
AGAIN_MS = MINUTE_MS
# Counted before anything is looked up, so that forms sent at the same time see each other's emails.
ASKED_FOR = Limit("reader letters by mailbox", 50, DAY_MS)
# To somebody who unsubscribed, over all forms: whoever types the address may be anybody.
TO_UNSUBSCRIBED = Limit("reader letters to unsubscribed", 1, DAY_MS)
# As long as a referral waits for it.
CONFIRM_WITHIN_MS = DEADLINE_DAYS * DAY_MS


async def send_next_step(
    change: Change,
    brand: PageBranding,
    reader: Subscriber,
    *,
    every_ms: int = EVERY_MS,
    has_worked: bool = False,
    delay_ms: int = 0,
) -> None:
    """What somebody gets who typed their address: the email to confirm with, if they must, or the
    link to their referral page. None within `every_ms` of the one before. An email to confirm with
    leaves after `delay_ms`."""
    # To come back after unsubscribing takes the mailbox: anybody could have typed the address.
    must_confirm = (
        reader.status == "unsubscribed"
        or reader.must_confirm
        or (brand.needs_confirmation and reader.status == "active")
    )
    if must_confirm:
        await send_confirm(
            change, brand, reader, every_ms=every_ms, has_worked=has_worked, delay_ms=delay_ms
        )
    else:
        await send_hub_link(change, brand, reader, every_ms=every_ms)


async def send_confirm(
    change: Change,
    brand: PageBranding,
    reader: Subscriber,
    *,
    every_ms: int = EVERY_MS,
    has_worked: bool = False,
    delay_ms: int = 0,
) -> bool:
    """Names through whom the signup that is shown came, and confirms that one. False if nothing was
    queued."""
    site, now_ms = change.site, change.now_ms
    hold = await confirmations.find_hold(change, reader)
    if hold is not None and hold.is_queued:
        if has_worked:
            await confirmations.put_on(change, hold.code, reader.id, has_worked=True)
        return False
    until_ms = now_ms + CONFIRM_WITHIN_MS + (confirmations.HELD_MS if hold else 0)
    token = reader_links.confirm_token(site, reader, until_ms)
    link = f"{site.base_url}/confirm/{token}"
    branding = brand.email_branding(site)
    via = await _name_recommender(change, brand, reader)
    message = texts.confirm(branding, link=link, via=via)
    email = reader_emails.email_to(change, reader, CONFIRM, message, branding)
    email = email._replace(
        # Of each signup there is one.
        once=f"{reader.id}:{reader.link_version}:{reader.referrer_code}",
        held_code=hold.code if hold else None,
        delay_ms=delay_ms,
    )
    is_queued = await _send(change, reader, email, every_ms=every_ms, has_worked=has_worked)
    if is_queued and hold:
        await confirmations.put_on(change, hold.code, reader.id, has_worked=has_worked)
    return is_queued


async def _name_recommender(change: Change, brand: PageBranding, reader: Subscriber) -> str:
    """Empty if they came by nobody's link."""
    if reader.referrer_code is None:
        return ""
    gettext, shows_friend = brand.language.gettext, bool(brand.campaign.show_inviter)
    name = await claims.find_recommender(change, reader, shows_friend=shows_friend)
    if name:
        return gettext("You signed up through a link from {name}.", name=name)
    return gettext("You signed up through a friend’s link.")


async def was_asked_here(change: Change, reader: Subscriber) -> bool:
    """Whether it is this account that asked somebody to confirm often enough. Of a limit that
    others reached, nobody here may learn: it would tell that the address is known elsewhere."""
    hold = await confirmations.find_hold(change, reader)
    if hold is not None and hold.is_queued:
        return True
    lately = await _count_recent(change, reader, CONFIRM, EVERY_MS)
    return bool(lately.of_account) or lately.of_account_today >= CONFIRM.most_a_day_here


async def _count_recent(
    change: Change, reader: Subscriber, kind: EmailKind, every_ms: int
) -> RecentCounts:
    return await emails.count_recent(
        change,
        EmailAddress(reader.email),
        kind,
        since_ms=change.now_ms - every_ms,
        now_ms=change.now_ms,
    )


async def send_hub_link(
    change: Change, brand: PageBranding, reader: Subscriber, *, every_ms: int = EVERY_MS
) -> bool:
    """False if nothing was queued."""
    branding = brand.email_branding(change.site)
    message = texts.hub_link(branding, link=hub.link(change.site, reader))
    email = reader_emails.email_to(change, reader, HUB_LINK, message, branding)
    return await _send(change, reader, email, every_ms=every_ms)


async def _send(
    change: Change,
    reader: Subscriber,
    email: EmailToSend,
    *,
    every_ms: int,
    has_worked: bool = False,
) -> bool:
    """Over the limit nothing is sent, silently: an error would tell who is subscribed. After work
    of the browser, one an hour is."""
    tx, site, now_ms = change.tx, change.site, change.now_ms
    if not await subscribers.lock(change, reader.id):
        return False
    kind = email.kind
    try:
        who = f"{kind.name} {email.to.person}"  # no kind uses up the emails of another
        await attempts.count(tx, site, ASKED_FOR, who)
    except TooMany:
        return False
    lately = await _count_recent(change, reader, kind, every_ms)
    if lately.of_account:
        return False
    is_over = lately.of_account_today >= kind.most_a_day_here or lately.of_all >= kind.most_a_day
    if is_over and (not has_worked or lately.of_all_this_hour):
        return False
    if reader.status == "unsubscribed" and not await _may_be_asked_back(change, reader):
        return False
    about = email.once or f"{reader.id}:{reader.link_version}"
    once = f"{kind.name}:{about}:{now_ms // (every_ms or EVERY_MS)}"
    return await emails.send(tx, email._replace(once=once))


async def _may_be_asked_back(change: Change, reader: Subscriber) -> bool:
    """Whoever unsubscribed gets at most one email a day, and none if they want none."""
    if await stops.is_final(change, reader.id):
        return False
    mailbox = EmailAddress(reader.email).person
    try:
        await attempts.count(change.tx, change.site, TO_UNSUBSCRIBED, mailbox)
    except TooMany:
        return False
    return True

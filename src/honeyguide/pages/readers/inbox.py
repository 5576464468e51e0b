"""The page that asks to check the inbox, and its button that sends the email again. A lost email
must not be the end of the way, and the button must not fill a stranger's inbox.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from honeyguide.accounts import attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel import actors, clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Fault
from honeyguide.kernel.site import Site
from honeyguide.languages.language import Language, translatable
from honeyguide.pages.forms import FormErrors
from honeyguide.pages.readers import errors, requested_emails
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import links, subscribers

_PURPOSE, _TIME = "check inbox", 6
# For one subscriber. Counted whether or not they are subscribed already.
SENT_AGAIN = Limit("confirmation sent again", 1, clock.DAY_MS)
JUST_SENT = translatable("We’ve only just sent it. Please wait a minute, then try again.")


class SentEmail(NamedTuple):
    code: str
    sent_ms: int


def token(site: Site, code: str, sent_ms: int) -> str:
    return site.seal(_PURPOSE, sent_ms.to_bytes(_TIME, "big") + code.encode())


def find_sent(request: ReaderRequest, given: str) -> SentEmail | None:
    """What a token of ours says, as long as the link in the email works."""
    content = request.services.site.unseal(_PURPOSE, given)
    if content is None:
        return None
    sent = SentEmail(content[_TIME:].decode(), int.from_bytes(content[:_TIME], "big"))
    is_recent = request.now_ms - sent.sent_ms < requested_emails.CONFIRM_WITHIN_MS
    return sent if is_recent else None


def purpose(brand: PageBranding) -> str:
    return f"send again {brand.id}"


def form_url(request: ReaderRequest) -> str:
    return request.http.url.path.removesuffix("/thanks")


def view(request: ReaderRequest, brand: PageBranding, given: str) -> ReaderView:
    return request.view(
        "inbox.html",
        brand,
        private=True,
        again_url=f"?for={given}" if find_sent(request, given) else "",
        token=request.token(purpose(brand)),
        is_slow=request.query("slow") == "1",
        was_sent_again=request.query("again") == "1" and not request.refusal,
        form_url=form_url(request),
    )


async def send_again(tx: Tx, request: ReaderRequest, brand: PageBranding, sent: SentEmail) -> None:
    site, now_ms = request.services.site, request.now_ms
    if now_ms - sent.sent_ms < requested_emails.AGAIN_MS:
        raise FormErrors({"": JUST_SENT})
    link = await links.lookup(tx, sent.code)
    reader = (
        await subscribers.find(Reading(tx, site, brand.tenant, now_ms), link.subscriber_id)
        if link
        else None
    )
    # By mailbox: who is not subscribed yet becomes another subscriber with another referrer's link.
    mailbox = EmailAddress(reader.email).person if reader else sent.code
    who = f"{brand.tenant.campaign_id} {mailbox}"
    await attempts.count(tx, site, SENT_AGAIN, who)
    if reader is None:
        return
    change = Change(tx, site, brand.tenant, actors.subscriber(reader.id), now_ms)
    await requested_emails.send_next_step(change, brand, reader, every_ms=requested_emails.AGAIN_MS)


def form_errors(language: Language, fault: Fault, given: Mapping[str, str]) -> dict[str, str]:
    return errors.by_field(language, fault, {})

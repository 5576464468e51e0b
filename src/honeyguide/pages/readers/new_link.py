"""Where a reader ends every link to their referral page. The new one goes to their mailbox: whoever
opened the page with a link that was not theirs does not get it.
"""

from __future__ import annotations

from honeyguide.accounts import attempts
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import TooMany
from honeyguide.pages.readers import hub, requested_emails
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.store.tx import Tx
from honeyguide.subscribers import reader_links


async def show(tx: Tx, request: ReaderRequest) -> ReaderView:
    """Asks once more. A GET changes nothing: mail scanners open every link."""
    visitor = await hub.find_visitor(tx, request)
    return request.view("new_link.html", visitor.brand, private=True, hub=hub.hub_url(request))


async def send(tx: Tx, request: ReaderRequest) -> ReaderView:
    """If no email can be sent now, their links go on working."""
    visitor = await hub.find_visitor(tx, request)
    change = hub.change_of(tx, request, visitor)
    person = await reader_links.renew(change, visitor.person.id)
    if not await requested_emails.send_hub_link(change, visitor.brand, person, every_ms=0):
        raise TooMany(attempts.TOO_MANY, retry_after_s=DAY_MS // 1000)
    return request.view("new_link.html", visitor.brand, private=True, hub="")

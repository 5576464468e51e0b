"""Where readers stop the emails that they did not ask for. The newsletter itself goes on.

The URL is sealed, so nobody needs to log in. Mail programs post to it when somebody uses their
unsubscribe button (RFC 8058), so a POST needs no form token and its body is not read. A GET changes
nothing: mail scanners open every link.
"""

from __future__ import annotations

from honeyguide.kernel import actors
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import stops
from honeyguide.pages.readers import page_branding
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading, Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, reader_links
from honeyguide.subscribers.subscribers import Subscriber


async def show(tx: Tx, request: ReaderRequest) -> ReaderView:
    tenant, reader = await _reader(tx, request)
    is_stopped = (
        await stops.stopped_ms(
            AccountReading(tx, request.services.site, tenant.account_id, request.now_ms), reader.id
        )
        is not None
    )
    if request.query("never"):
        is_stopped = await stops.is_final(
            AccountReading(tx, request.services.site, tenant.account_id, request.now_ms), reader.id
        )
    return await _view(
        Reading(tx, request.services.site, tenant, request.now_ms),
        request,
        reader,
        is_stopped=is_stopped,
    )


async def stop(tx: Tx, request: ReaderRequest) -> ReaderView:
    """With `?again=1` they get the emails again; with `?never=1`, somebody who unsubscribed gets
    none that a form asks for either."""
    tenant, reader = await _reader(tx, request)
    site, actor = request.services.site, actors.subscriber(reader.id)
    change = Change(tx, site, tenant, actor, request.now_ms)
    if request.query("again"):
        await stops.resume(change, reader.id)
        return await _view(change, request, reader, is_stopped=False, has_resumed=True)
    is_final = bool(request.query("never"))
    await stops.stop(change, reader.id, is_final=is_final)
    return await _view(change, request, reader, is_stopped=True)


async def _reader(tx: Tx, request: ReaderRequest) -> tuple[Tenant, Subscriber]:
    signed = reader_links.read_stop_token(request.services.site, request.at("token"))
    found = await reader_links.find(tx, request.services.site, signed)
    if found is None:
        raise Missing(page_branding.UNKNOWN)
    return found


async def _view(
    at: Reading,
    request: ReaderRequest,
    reader: Subscriber,
    *,
    is_stopped: bool,
    has_resumed: bool = False,
) -> ReaderView:
    brand = page_branding.of_campaign(await branding.of(at))
    return request.view(
        "stop.html",
        brand.for_reader(request.accepted_languages),
        private=True,
        address=f"/stop/{request.at('token')}",
        is_final=bool(request.query("never")),
        is_subscribed=reader.status != "unsubscribed",
        is_stopped=is_stopped,
        has_resumed=has_resumed,
    )

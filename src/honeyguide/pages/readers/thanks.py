"""What comes after signing up: the new link, or "Check your inbox" for who must confirm. Its URL
holds nothing but a code that is public anyway.
"""

from __future__ import annotations

from starlette.responses import Response

from honeyguide.pages.readers import inbox, sharing, signup, start
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.pages.readers.reader_services import ReaderServices
from honeyguide.pages.readers.showing import see_other
from honeyguide.rewards import rewards
from honeyguide.store.reading import reads

TEASED = 3


async def show(services: ReaderServices, request: ReaderRequest) -> ReaderView | Response:
    brand = await signup.brand_of(services, request)
    token = request.query("for")
    if brand.needs_confirmation or inbox.find_sent(request, token):
        return inbox.view(request, brand, token)
    code = start.code_of(services.site, token)
    if code is None:
        return see_other(inbox.form_url(request))
    ahead = await services.store.read(
        reads(rewards.of_campaign, request.services.site, brand.tenant, request.now_ms)
    )
    return request.view(
        "thanks.html",
        brand,
        private=True,
        share=sharing.of(brand.texts, services.site.reader_link(code)),
        start_url=f"/hub/start/{token}",
        rewards=ahead[:TEASED],
    )


async def send_again(services: ReaderServices, request: ReaderRequest) -> Response:
    """Sends the email once more, and answers the same whoever is subscribed."""
    brand = await signup.brand_of(services, request)
    request.check_form(inbox.purpose(brand))
    sent = inbox.find_sent(request, request.query("for"))
    if sent is None:
        return see_other(inbox.form_url(request))
    await request.count(signup.BY_NETWORK[signup.origin_of(request)])
    await services.store.write(inbox.send_again, request, brand, sent)
    token = inbox.token(services.site, sent.code, request.now_ms)
    return see_other(f"{request.http.url.path}?for={token}&again=1")

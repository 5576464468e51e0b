"""Link hosts: host names of the operator's own, and the DNS records that they need."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.responses import Response

from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.store.reading import Reading
from honeyguide.subscribers import link_hosts

FORM = {"host": Field("Host", "Enter a host name, such as go.example.org.")}


async def show(at: Reading, request: PageRequest) -> PageView:
    return request.view(
        "link_hosts.html",
        hosts=await link_hosts.of_account(at),
        host=request.text("host") if request.errors else "",
        our_host=urlsplit(request.services.site.base_url).hostname,
        most=link_hosts.MOST,
    )


async def change(services: PageServices, request: PageRequest) -> Response:
    """Add, check or remove, as the button says."""
    action = request.text("do")
    if action == "remove":
        removed = await request.apply(link_hosts.remove, request.text("id"))
        return request.go(link_hosts.PAGE, f"{removed.host} was removed.")
    if action == "check":
        return await _check(services, request)
    forms.require(FORM, request.fields)
    host, is_new = await request.apply(link_hosts.add, request.text("host"))
    flash = f"{host.host} was added. Now add its DNS records." if is_new else "You have this host."
    return request.go(link_hosts.PAGE, flash)


async def _check(services: PageServices, request: PageRequest) -> Response:
    """Looks the record up now, outside of any transaction."""
    found = await request.apply(link_hosts.begin_check, request.text("id"))
    records = await services.outbound.resolver.texts(found.record_name)
    checked = await request.apply(link_hosts.record_check, found.id, records)
    if checked is None:
        flash = "The host was removed meanwhile."
    elif checked.problem is None:
        flash = f"{checked.host} is verified and serves your links."
    else:
        flash = checked.problem
    return request.go(link_hosts.PAGE, flash)

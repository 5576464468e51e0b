"""Endpoints for link hosts."""

from __future__ import annotations

from typing import Annotated

from honeyguide.api import bodies
from honeyguide.api.call import Call, Known
from honeyguide.api.views import Message, View, filler
from honeyguide.kernel import public
from honeyguide.kernel.errors import Required
from honeyguide.kernel.public import doc
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import link_hosts
from honeyguide.subscribers.link_hosts import HostName, LinkHost


class LinkHostView(View, frozen=True):
    """A host name of yours that serves your links."""

    uuid: public.Uuid
    host: HostName
    is_verified: Annotated[bool, doc("Whether it serves your links.", True)]
    record_name: Annotated[
        str,
        doc("Name of the TXT record that proves the host is yours.", "_honeyguide.go.example.org"),
    ]
    record_value: Annotated[
        str, doc("Value of that TXT record.", "5f0c9b7d1e2a4c6f8b3d5a7e9c1f2b4d")
    ]
    verified_at: Annotated[public.Time, doc("Since when it serves your links.")] | None
    checked_at: Annotated[public.Time, doc("When we last looked up the record.")] | None
    problem: Annotated[str | None, doc("What was wrong with the record then, if anything.", None)]
    created_at: public.CreatedAt


class OneLinkHost(View, frozen=True):
    link_host: LinkHostView


class LinkHostList(View, frozen=True):
    link_hosts: list[LinkHostView]


_view = filler(LinkHostView, LinkHost, record_value="token")


async def list_link_hosts(at: Reading, call: Call[None]) -> LinkHostList:
    """List link hosts.

    By name.
    """
    return LinkHostList([_view(each) for each in await link_hosts.of_account(at)])


async def get_link_host(at: Reading, call: Call[None]) -> OneLinkHost:
    """Get a link host.

    Says whether it serves your links and, if not, what was wrong with its TXT record.
    """
    return OneLinkHost(_view(await link_hosts.get(at, call.path["uuid"])))


async def add_link_host(change: Change, call: Call[bodies.LinkHostCreate]) -> OneLinkHost | Known:
    """Add a link host.

    Then add the TXT record it names, and send the same request again: the record is looked up
    within moments. A host that you have already is answered with 200.
    """
    if not call.body.host:
        raise Required("host")
    host, is_new = await link_hosts.add(change, call.body.host)
    shown = OneLinkHost(_view(host))
    return shown if is_new else Known(shown)


async def remove_link_host(change: Change, call: Call[None]) -> Message:
    """Remove a link host.

    Links that were shared with it no longer work.
    """
    await link_hosts.remove(change, call.path["uuid"])
    return Message("The link host was removed.")

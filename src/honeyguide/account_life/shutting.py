"""What is shut when an account is closed: everything by which it acts, or others act in it. Each is
ended by the function that members use, so it is logged and has the same consequences.
"""

from __future__ import annotations

from honeyguide.accounts import keys, members
from honeyguide.events import webhooks
from honeyguide.integrations import disconnecting
from honeyguide.mail import slack_messages
from honeyguide.partners import network, publications
from honeyguide.store.change import Change
from honeyguide.store.statements import beside
from honeyguide.subscribers import link_hosts

# Ended in one transaction, of each kind.
BATCH = 20

_sql = beside(__file__)
_JOINED = _sql.value("joined", str)
_PUBLICATIONS = _sql.value("publications", str)
_WEBHOOKS = _sql.query("webhooks", lambda id, scope: (id, scope))
_KEYS = _sql.value("keys", str)
_HAS_INTEGRATION = _sql.value("has_integration", int)
_DELETE_TICKETS = _sql.command("delete_tickets")
_STOP_FETCHES = _sql.command("stop_fetches")
_STOP_IMPORTS = _sql.command("stop_imports")
_SET_CLOSED = _sql.command("set_closed")


async def shut_some(change: Change) -> bool:
    """Ends some of it. Tells whether anything was left to end."""
    joined = await change.all(_JOINED, most=BATCH)
    for campaign_id in joined:
        await network.leave(change, campaign_id)
    published = await change.all(_PUBLICATIONS, most=BATCH)
    for publication_id in published:
        await publications.delete(change, publication_id)
    hooks = await change.all(_WEBHOOKS, most=BATCH)
    for webhook_id, scope in hooks:
        await webhooks.delete(change, scope, webhook_id)
    working = await change.all(_KEYS, most=BATCH)
    for key_id in working:
        await keys.revoke(change, key_id)
    hosts = await link_hosts.of_account(change)
    for host in hosts:
        await link_hosts.remove(change, host.id)
    connected = await change.one(_HAS_INTEGRATION)
    if connected:
        await disconnecting.disconnect(change)
    return bool(joined or published or hooks or working or hosts or connected)


async def remove_members(change: Change) -> None:
    """The last step: nobody can get in any more."""
    await change.run(_DELETE_TICKETS)
    await change.run(_STOP_FETCHES)
    await change.run(_STOP_IMPORTS)
    await slack_messages.delete_webhook(change)
    await members.remove_all(change)
    await change.run(_SET_CLOSED)

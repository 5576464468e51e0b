"""Link hosts: host names of an account's own, under which its links work. A host is an account's
once a TXT record with the account's token is found, and for as long as it stays there.
"""

from __future__ import annotations

import secrets
from typing import Annotated, NamedTuple

import msgspec

from honeyguide.accounts import accounts, attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.events import change_log
from honeyguide.events.name_servers import TextRecords
from honeyguide.kernel import actors
from honeyguide.kernel.clock import HOUR_MS, day
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.public import doc
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import texts
from honeyguide.mail.notification_kinds import LINK_HOST_OFF
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Again, Tx
from honeyguide.subscribers import link_host_rules
from honeyguide.subscribers.link_host_rules import (
    FIRST_CHECK_MS,
    GRACE_MS,
    RECORD_PREFIX,
    HostState,
)

CHECKING = "check link hosts"
# Wakes those who keep the verified hosts in memory.
HOSTS = "link_hosts"
# Wakes the job.
CHECKS = "link_host_checks"
UNKNOWN = "There is no such link host."
MOST = 20
MOST_LISTED = 1_000
# Lookups that an operator asks for on the dashboard.
LOOKUPS = Limit("link host checks by account", 60, HOUR_MS)
PAGE = "/settings/link-hosts"


HostName = Annotated[
    str, doc("A host name of your own, such as a subdomain.", "go.example.org", maxLength=253)
]


class LinkHostFields(msgspec.Struct, frozen=True):
    """What callers may set."""

    host: HostName | None = None


class LinkHost(NamedTuple):
    id: str
    account_id: str
    campaign_id: str
    host: str
    token: str
    verified_ms: int | None
    seen_ms: int | None
    checked_ms: int | None
    problem: str | None
    created_ms: int

    @property
    def record_name(self) -> str:
        return RECORD_PREFIX + self.host

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)

    @property
    def is_verified(self) -> bool:
        return self.verified_ms is not None

    @property
    def off_ms(self) -> int | None:
        """When the host is turned off if its record does not come back."""
        is_missing = self.is_verified and self.problem is not None and self.seen_ms is not None
        return (self.seen_ms or 0) + GRACE_MS if is_missing else None


class VerifiedHost(NamedTuple):
    host: str
    account_id: str
    campaign_id: str


class ListedHost(NamedTuple):
    """For the administrator, with whose it is."""

    host: str
    verified_ms: int | None
    checked_ms: int | None
    problem: str | None
    created_ms: int
    name: str | None
    email: str


_sql = beside(__file__, link_host=LinkHost._fields)
_LOCK_ACCOUNT = _sql.value("lock_account", str)
_OF_ACCOUNT = _sql.query("of_account", LinkHost)
_BY_ID = _sql.query("by_id", LinkHost)
_LOCK = _sql.query("lock", LinkHost)
_HOLDER = _sql.query("holder", LinkHost)
_INSERT = _sql.command("insert")
_SET_DUE = _sql.command("set_due")
_SET_CHECKED = _sql.command("set_checked")
_DELETE = _sql.command("delete")
_DUE = _sql.query("due", LinkHost)
_VERIFIED = _sql.query("verified", VerifiedHost)
_ALL = _sql.query("all", ListedHost)


async def of_account(at: Reading) -> list[LinkHost]:
    """By name."""
    return await at.all(_OF_ACCOUNT)


async def get(at: Reading, host_id: str) -> LinkHost:
    found = await at.one(_BY_ID, id=host_id) if is_id(host_id) else None
    if found is None:
        raise Missing(UNKNOWN)
    return found


async def add(change: Change, text: str) -> tuple[LinkHost, bool]:
    """The host, and whether it is new. One that is there already is looked up again soon."""
    host = link_host_rules.parse_host(change.site, text)
    # The lock lets two requests at once count one after the other.
    await change.lock(_LOCK_ACCOUNT)
    there = await of_account(change)
    for each in there:
        if each.host == host:
            await change.run(_SET_DUE, id=each.id, due_ms=change.now_ms)
            change.tx.wake(CHECKS)
            return each, False
    if len(there) >= MOST:
        raise Invalid(
            "You can have at most {most} link hosts; remove one you no longer need.", most=MOST
        )
    host_id = new_id()
    await change.run(
        _INSERT,
        id=host_id,
        host=host,
        token=secrets.token_hex(16),
        due_ms=change.now_ms + FIRST_CHECK_MS,
    )
    await change_log.record(change, "link_host.added", host_id, None, {"host": host})
    return await get(change, host_id), True


async def remove(change: Change, host_id: str) -> LinkHost:
    found = await get(change, host_id)
    await change.run(_DELETE, id=found.id)
    change.tx.wake(HOSTS)
    await change_log.record(change, "link_host.removed", found.id, {"host": found.host})
    return found


async def begin_check(change: Change, host_id: str) -> LinkHost:
    """The host to look up now, at an operator's request."""
    found = await get(change, host_id)
    account_id = change.tenant.account_id
    await attempts.count(change.tx, change.site, LOOKUPS, account_id)
    return found


async def record_check(change: Change, host_id: str, records: TextRecords) -> LinkHost | None:
    """What follows from a lookup: the host is verified, waits on, or is turned off. None if it was
    removed meanwhile."""
    locked = await change.lock(_LOCK, id=host_id)
    if not locked:
        return None
    (old,) = locked
    holder = await change.one(_HOLDER, host=old.host)
    before = HostState(old.is_verified, old.seen_ms, old.problem)
    after = link_host_rules.judge(
        before,
        old.host,
        old.token,
        records,
        other_token=holder.token if holder else None,
        now_ms=change.now_ms,
    )
    if after.is_verified and holder is not None:
        # Whoever has the domain now took the other account's record away.
        other = Change(change.tx, change.site, holder.tenant, actors.job(CHECKING), change.now_ms)
        lost = HostState(False, holder.seen_ms, "Another account verified this host.")
        await _save(other, holder, lost)
    await _save(change, old, after)
    return await get(change, old.id)


async def _save(change: Change, old: LinkHost, after: HostState) -> None:
    verified_ms = (old.verified_ms or change.now_ms) if after.is_verified else None
    due_ms = link_host_rules.next_check_ms(
        is_verified=after.is_verified, created_ms=old.created_ms, now_ms=change.now_ms
    )
    await change.run(
        _SET_CHECKED,
        # Two accounts that verify one host at the same moment: the second looks again.
        taken={"link_host_verified": Again},
        id=old.id,
        verified_ms=verified_ms,
        seen_ms=after.seen_ms,
        problem=after.problem,
        due_ms=due_ms,
    )
    if after.is_missing:
        await _warn(change, old, after)
    if after.is_verified == old.is_verified:
        return
    change.tx.wake(HOSTS)
    action = "link_host.verified" if after.is_verified else "link_host.turned_off"
    await change_log.record(change, action, old.id, {"host": old.host})
    if not after.is_verified:
        message = texts.link_host_off(
            host=old.host, why=after.problem or "", page=f"{change.site.base_url}{PAGE}"
        )
        cause = f"{old.id}:{change.now_ms}"
        await accounts.notify_owner(change, LINK_HOST_OFF.name, cause, message, link=PAGE)


async def _warn(change: Change, old: LinkHost, after: HostState) -> None:
    """While the operator can still repair it; once for each time that the record disappears."""
    until = day((after.seen_ms or 0) + GRACE_MS)
    message = texts.link_host_failing(
        host=old.host, why=after.problem or "", until=until, page=f"{change.site.base_url}{PAGE}"
    )
    cause = f"{old.id}:{after.seen_ms}"
    await accounts.notify_owner(change, "link_host_failing", cause, message, link=PAGE)


async def due(tx: Tx, *, most: int) -> list[LinkHost]:
    """Of all accounts."""
    return await tx.all(_DUE, most=most)


async def all_verified(tx: Tx) -> list[VerifiedHost]:
    """Of all accounts."""
    return await tx.all(_VERIFIED)


async def list_all(tx: Tx) -> list[ListedHost]:
    """Of all accounts, by name, for the administrator."""
    return await tx.all(_ALL, most=MOST_LISTED)

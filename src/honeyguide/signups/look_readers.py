"""Who is compared in a first look: a partner's readers, and the newsletter's own, with what is
known of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.screening import look_cohorts, mail_hosts, trait_groups
from honeyguide.screening.look_cohorts import CohortReader, Comparison, LinkClicks
from honeyguide.screening.mail_hosts import StoredHost
from honeyguide.screening.mailbox_providers import is_provider, registered_domain
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers.reasons import BY_READERS

MOST_READERS, MOST_OWN = 200, 2_000
CLICK_DAYS = 90


class _KnownReader(NamedTuple):
    email: str
    arrived_ms: int
    confirmed_ms: int | None
    had_click: bool | None
    has_left: bool
    has_time: bool
    has_hour: bool
    network: str | None

    @property
    def as_cohort(self) -> CohortReader:
        domain = EmailAddress(self.email).key.rpartition("@")[2]
        return CohortReader(domain, *self[1:], domain=domain)


_sql = beside(__file__)
_READERS = _sql.query("readers", _KnownReader)
_OWN_READERS = _sql.query("own_readers", _KnownReader)
_CLICKS = _sql.query(
    "clicks", lambda is_theirs, clicks, signups: (bool(is_theirs), clicks, signups)
)


async def of(at: Reading, look_id: str, *, most: int = MOST_READERS) -> list[CohortReader]:
    """The newest of the partner who have met the rule, or left since."""
    found = await at.all(_READERS, look_id=look_id, by_readers=BY_READERS, most=most)
    return await with_hosts(at, [each.as_cohort for each in found])


async def compare_with_own(at: Reading, look_id: str) -> list[Comparison]:
    until_ms = at.now_ms - trait_groups.KNOWN_AFTER_MS
    own = await at.all(_OWN_READERS, until_ms=until_ms, most=MOST_OWN)
    others = await with_hosts(at, [each.as_cohort for each in own])
    counts = {True: LinkClicks(0, 0), False: LinkClicks(0, 0)}
    since_ms = at.now_ms - CLICK_DAYS * DAY_MS
    for is_theirs, *clicks in await at.all(_CLICKS, look_id=look_id, since_ms=since_ms):
        counts[is_theirs] = LinkClicks(*clicks)
    return look_cohorts.compare(await of(at, look_id), others, (counts[True], counts[False]))


async def with_hosts(at: Reading, readers: Sequence[CohortReader]) -> list[CohortReader]:
    """Where their email is received, instead of the domain, as far as that is known."""
    hosts: dict[str, StoredHost] = {}
    if at.site.asks_mail_hosts:
        hosts = await mail_hosts.of_domains(at.tx, {each.host for each in readers})

    def host_of(domain: str) -> str:
        known = hosts.get(domain)
        own = domain if is_provider(domain) else registered_domain(domain)
        return (known and known.mx_domain) or own

    return [each._replace(host=host_of(each.host)) for each in readers]


def unnamed(readers: Sequence[CohortReader]) -> list[CohortReader]:
    """Without what may be a person's own: hosts that only one of them has, and networks."""
    hosts = Counter(each.host for each in readers)
    return [
        each._replace(host=each.host if hosts[each.host] > 1 else "", network=None, domain="")
        for each in readers
    ]

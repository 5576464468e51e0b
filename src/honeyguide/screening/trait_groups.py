"""What confirmed subscribers of a program share, as rows: counted over the whole program some
minutes after somebody came or confirmed, and read again when a referral is decided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.events import change_log
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.screening import evidence, mail_hosts, shared_traits
from honeyguide.screening.evidence import InGroup
from honeyguide.screening.mail_hosts import StoredHost
from honeyguide.screening.mailbox_providers import is_provider
from honeyguide.screening.shared_traits import (
    BrowserCount,
    DomainCount,
    FoundGroup,
    MailHost,
    ProgramFacts,
    Trait,
    TraitGroup,
)
from honeyguide.screening.signals import THRESHOLDS, Signal, SignalFinding
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.reasons import Reason

# A look waits for those who come meanwhile, and for answers of DNS.
LOOK_AFTER_MS = 5 * MINUTE_MS
# Other readers are compared who were there a fortnight before, and the newest of them.
KNOWN_AFTER_MS = 14 * DAY_MS
NEWEST = 100_000
UNKNOWN = "There is no such group."
APPROVED = "You have already said that this group looks right."


class ProgramToLookAt(NamedTuple):
    tenant: Tenant
    id: str


class ProgramLook(NamedTuple):
    """What a look read."""

    facts: ProgramFacts
    stored: list[TraitGroup]
    to_ask: list[str]
    """Domains whose mail host DNS is to be asked for."""
    awaits_hosts: bool


class GroupChanges(NamedTuple):
    """How what was found differs from what is stored."""

    to_save: list[FoundGroup]
    gone: list[str]
    traits: set[Trait]


class _Pending(msgspec.Struct, frozen=True, gc=False):
    id: str
    partner_campaign_id: str
    reason: str | None
    domain: str
    network: str | None
    user_agent: str | None


_sql = beside(__file__)
_DOMAINS = _sql.query("domains", DomainCount)
_BROWSERS = _sql.query("browsers", BrowserCount)
_OWN_DOMAINS = _sql.query("own_domains", DomainCount)
_OWN_BROWSERS = _sql.query("own_browsers", BrowserCount)
_OWN_PLACED = _sql.value("own_placed", int)
_READERS = _sql.value("readers", int)
_OWNERS = _sql.query("owners", lambda partner_campaign_id, user_id: (partner_campaign_id, user_id))
_QUEUE = _sql.command("queue")
_QUEUE_PROGRAM = _sql.command("queue_program")
_DUE = _sql.query(
    "due",
    lambda account_id, campaign_id, program_id: ProgramToLookAt(
        Tenant(account_id, campaign_id), program_id
    ),
)
_END_LOOK = _sql.command("end_look")
_OF_PROGRAM = _sql.query("of_program", TraitGroup)
_OF_PARTNERS = _sql.query("of_partners", TraitGroup)
_OF_IDS = _sql.query("of_ids", TraitGroup)
_OF_PARTS = _sql.query("of_parts", TraitGroup)
_LOCK = _sql.query("lock", TraitGroup)
_SAVE = _sql.command("save")
_ADD_PARTNERS = _sql.command("add_partners")
_REMOVE_PARTNERS = _sql.command("remove_partners")
_REMOVE = _sql.command("remove")
_APPROVE = _sql.command("approve")
_PROGRAM_OF = _sql.value("program_of", str)
_PENDING = _sql.query("pending", _Pending)


# -- the look over a program


async def queue(change: Change, code: str) -> None:
    await change.put(_QUEUE, code=code, since_ms=change.now_ms + LOOK_AFTER_MS)


async def due(tx: Tx, *, most: int) -> list[ProgramToLookAt]:
    return await tx.all(_DUE, until_ms=tx.now_ms, most=most)


async def read(at: Reading, program_id: str) -> ProgramLook:
    until_ms = at.now_ms - KNOWN_AFTER_MS
    domains = await at.all(_DOMAINS, program_id=program_id)
    own_domains = await at.all(_OWN_DOMAINS, until_ms=until_ms, newest=NEWEST)
    readers = await at.one(_READERS) or 0
    least = shared_traits.least_people(readers)
    browsers = await at.all(_BROWSERS, program_id=program_id, least=least)
    compared = {(each.network, each.user_agent) for each in browsers}
    own_browsers = await at.all(
        _OWN_BROWSERS,
        until_ms=until_ms,
        browsers=[{"network": network, "user_agent": agent} for network, agent in compared],
    )
    names = {each.domain for each in (*domains, *own_domains) if not is_provider(each.domain)}
    hosts: dict[str, StoredHost] = {}
    if at.site.asks_mail_hosts:
        hosts = await mail_hosts.of_domains(at.tx, names)
    facts = ProgramFacts(
        domains=domains,
        browsers=browsers,
        own_domains=own_domains,
        own_browsers=own_browsers,
        own_placed=await at.one(_OWN_PLACED, until_ms=until_ms) or 0 if browsers else 0,
        readers=readers,
        owners=await at.all(_OWNERS, program_id=program_id),
        hosts=mail_hosts.as_hosts(hosts),
    )
    stored = await at.all(_OF_PROGRAM, program_id=program_id)
    to_ask = names - {each.domain for each in hosts.values() if each.looked_ms > at.now_ms - DAY_MS}
    if not at.site.asks_mail_hosts:
        to_ask = set()
    awaits = any(each not in hosts or not hosts[each].looked_ms for each in to_ask)
    return ProgramLook(facts, stored, sorted(to_ask), awaits)


def compare(groups: Sequence[FoundGroup], stored: Sequence[TraitGroup]) -> GroupChanges:
    """What the owner approved stays, for when it is a group again."""
    rows: dict[tuple[str, Trait], list[TraitGroup]] = defaultdict(list)
    for each in stored:
        rows[each.part_id, each.trait].append(each)
    to_save, changed = list[FoundGroup](), set[Trait]()
    for group in groups:
        known = rows.pop((group.part_id, group.trait), [])
        counts = {(each.people, each.domains, each.networks) for each in known}
        if counts != {(group.people, group.domains, group.networks)}:
            changed.add(group.trait)
        elif group.partners <= {each.partner_campaign_id for each in known}:
            continue
        to_save.append(group)
    gone = [known[0] for known in rows.values() if known[0].approved_people is None]
    return GroupChanges(to_save, [each.id for each in gone], changed | {g.trait for g in gone})


async def save(change: Change, program_id: str, groups: Sequence[FoundGroup]) -> None:
    for group in groups:
        key: dict[str, Any] = {
            "program_id": program_id,
            "part_id": group.part_id,
            "kind": group.trait.kind.value,
            "key": group.trait.key,
        }
        await change.run(
            _SAVE,
            id=new_id(),
            growth=THRESHOLDS.shared_growth,
            people=group.people,
            domains=group.domains,
            networks=group.networks,
            **key,
        )
        await change.run(_ADD_PARTNERS, partners=sorted(group.partners), **key)


async def remove(change: Change, ids: Sequence[str]) -> None:
    if ids:
        await change.run(_REMOVE_PARTNERS, ids=list(ids))
        await change.run(_REMOVE, ids=list(ids))


async def find_news(
    at: Reading,
    program_id: str,
    look: ProgramLook,
    groups: Sequence[FoundGroup],
    changed: Collection[Trait],
) -> list[str]:
    """Who has to be decided again."""
    codes = {each.partner_campaign_id for each in look.stored}
    codes = codes.union(*(each.partners for each in groups))
    if not codes:
        return []
    by_code = await of_partners(at, codes)
    pending = await at.all(_PENDING, program_id=program_id, ids=sorted(codes))
    return [each.id for each in pending if _is_news(each, by_code, changed, look.facts.hosts)]


def _is_news(
    pending: _Pending,
    by_code: Mapping[str, Sequence[TraitGroup]],
    changed: Collection[Trait],
    hosts: Mapping[str, MailHost],
) -> bool:
    """Whether a referral waits for something else than its group makes it wait for, or what is
    said about it has changed."""
    traits = _traits(pending.domain, pending.network, pending.user_agent, hosts)
    group = shared_traits.group_of(by_code.get(pending.partner_campaign_id, ()), traits)
    is_waiting = pending.reason == Reason.NEEDS_REVIEW
    if group is not None and group.is_open:
        return pending.reason in _GOES_ON or (is_waiting and group.trait in changed)
    return is_waiting and (group is not None or not traits.isdisjoint(changed))


_GOES_ON = (None, Reason.HOLDING_PERIOD)


def _traits(
    domain: str, network: str | None, user_agent: str | None, hosts: Mapping[str, MailHost]
) -> set[Trait]:
    traits = set(shared_traits.traits_of_domain(domain, hosts.get(domain)))
    if network and user_agent:
        traits.add(shared_traits.browser_trait(network, user_agent))
    return traits


async def end_look(change: Change, program_id: str, *, again_ms: int | None) -> None:
    """`again_ms` is when it is looked at once more, because DNS has not answered yet."""
    await change.run(_END_LOOK, program_id=program_id, looked_ms=change.now_ms)
    if again_ms is not None:
        await change.run(_QUEUE_PROGRAM, program_id=program_id, since_ms=again_ms)


# -- those in groups


async def of_partners(at: Reading, ids: Collection[str]) -> dict[str, list[TraitGroup]]:
    """By partner campaign."""
    found: dict[str, list[TraitGroup]] = defaultdict(list)
    for each in await at.all(_OF_PARTNERS, ids=sorted(ids)) if ids else ():
        found[each.partner_campaign_id].append(each)
    return found


async def find_signals(
    at: Reading, code: str, members: Sequence[InGroup]
) -> dict[str, list[SignalFinding]]:
    """What those who came with one code have in common with each other and over the program. In a
    group that the owner approved, nothing that they have in common speaks against anybody, but that
    some of them are one person."""
    found = await evidence.find_group_signals(at, code, members)
    partners = {each.partner_campaign_id for each in members if each.partner_campaign_id}
    by_code = await of_partners(at, partners)
    if not by_code:
        return found
    hosts = await _hosts(at, members)
    for each in members:
        if each.is_changed or each.partner_campaign_id is None:
            continue
        traits = _traits(_domain(each), each.network, each.user_agent, hosts)
        group = shared_traits.group_of(by_code.get(each.partner_campaign_id, ()), traits)
        if group is not None:
            about = found.get(each.id, [])
            alone = [item for item in about if item.signal is Signal.SEVERAL_ADDRESSES]
            found[each.id] = [*about, group.finding] if group.is_open else alone
    return found


def _domain(member: InGroup) -> str:
    return EmailAddress(member.email).key.rpartition("@")[2]


async def _hosts(at: Reading, members: Iterable[InGroup]) -> dict[str, MailHost]:
    if not at.site.asks_mail_hosts:
        return {}
    domains = {_domain(each) for each in members}
    return mail_hosts.as_hosts(await mail_hosts.of_domains(at.tx, domains))


# -- the owner's answer


async def of_ids(at: Reading, ids: Sequence[str]) -> dict[str, TraitGroup]:
    return {each.id: each for each in await at.all(_OF_IDS, ids=list(ids))}


async def of_parts(at: Reading, part_ids: Sequence[str]) -> dict[str, list[TraitGroup]]:
    """The open ones of partners with a common owner, the largest first."""
    found: dict[str, list[TraitGroup]] = {each: [] for each in part_ids}
    for group in await at.all(_OF_PARTS, ids=list(part_ids)):
        if group.is_open:
            found[group.part_id].append(group)
    return found


async def get_locked(change: Change, group_id: str) -> TraitGroup:
    found = await change.lock(_LOCK, id=group_id) if is_id(group_id) else []
    if not found:
        raise Missing(UNKNOWN)
    return found[0]


def check_open(group: TraitGroup) -> None:
    if not group.is_open:
        raise Invalid(APPROVED)


async def approve(change: Change, group: TraitGroup, *, people: int | None = None) -> None:
    """Those in it go on by their program's rule, as if they had nothing in common. `people` is how
    many the owner saw."""
    check_open(group)
    people = group.people if people is None else people
    await change.run(_APPROVE, id=group.id, people=people)
    program_id = await change.one(_PROGRAM_OF, id=group.id)
    await change.run(_QUEUE_PROGRAM, program_id=program_id, since_ms=change.now_ms)
    await change_log.record(
        change,
        "group.approved",
        group.id,
        {"people": group.approved_people},
        {"people": people},
    )

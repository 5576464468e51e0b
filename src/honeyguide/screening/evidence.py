"""What speaks for and against each referral, as rows: found by `signals` when somebody comes, and
again whenever others come with the same code, and when the referral is decided.

A group is everybody who came with one referral code, in one account.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.screening.group_signals import GroupSignup, of_group
from honeyguide.screening.mailbox_providers import is_provider
from honeyguide.screening.signals import Signal, SignalFinding
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.referral_states import Status

# A value is kept for as long after the decision; that there was evidence is kept.
VALUES_KEPT_MS = 90 * DAY_MS
# Of a group, only those near each other in time are compared: so many, and no older.
GROUP = 200
GROUP_MS = 30 * DAY_MS
LEAST_GROUP = 4
# Mail domains are compared with those of so many of the campaign's newest subscribers, who came so
# long before the group: nobody makes a domain known in passing.
NEWEST = 2_000
KNOWN_AFTER_MS = 14 * DAY_MS
# Verified referrals with which a code is known, and others within a day with which it is busy.
KNOWN_CODE = 20
BUSY_CODE = 2
PURGE_BATCH = 500
_CODES = frozenset(Signal)


class EvidenceItem(NamedTuple):
    subscriber_id: str
    code: str
    points: int
    value: str | None
    found_ms: int

    @property
    def sentence(self) -> str:
        """For the owner."""
        if self.code not in _CODES:
            return self.code  # a newer version found it
        value = "no longer kept" if self.value is None else self.value
        return Signal(self.code).sentence(value)


class InGroup(NamedTuple):
    id: str
    email: str
    received_ms: int
    network: str | None
    status: str
    partner_campaign_id: str | None
    referral_status: str
    referral_reason: str | None
    is_changed: bool = False
    """Whether a partner's reader has another address than the one with which they came."""
    user_agent: str | None = None


class CodeToLookAt(NamedTuple):
    tenant: Tenant
    code: str


class _KnownDomain(NamedTuple):
    domain: str
    n: int


class _Key(NamedTuple):
    subscriber_id: str
    code: str


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_OF_SUBSCRIBERS = _sql.query("of_subscribers", EvidenceItem)
_REMOVE = _sql.command("remove")
_ERASE = _sql.command("erase")
_GROUP = _sql.query("group", InGroup)
_KNOWN_DOMAINS = _sql.query("known_domains", _KnownDomain)
_QUEUE_LOOK = _sql.command("queue_look")
_CODES_TO_LOOK_AT = _sql.query(
    "codes_to_look_at",
    lambda account_id, campaign_id, code: CodeToLookAt(Tenant(account_id, campaign_id), code),
)
_END_LOOK = _sql.command("end_look")
_OLD_VALUES = _sql.query("old_values", _Key)
_FORGET_VALUES = _sql.command("forget_values")


async def record(change: Change, found: Mapping[str, Iterable[SignalFinding]]) -> None:
    """Evidence by subscriber. What is known already gets its new value."""
    rows = [
        {
            "subscriber_id": subscriber_id,
            "code": each.signal.value,
            "points": each.points,
            "value": each.value,
        }
        for subscriber_id, items in found.items()
        for each in items
    ]
    if rows:
        await change.put(_INSERT, found=rows)


async def of_subscriber(at: Reading, subscriber_id: str) -> list[EvidenceItem]:
    """The oldest first."""
    return await at.all(_OF_SUBSCRIBERS, ids=[subscriber_id])


async def of_subscribers(at: Reading, ids: Sequence[str]) -> dict[str, list[EvidenceItem]]:
    found: dict[str, list[EvidenceItem]] = {each: [] for each in ids}
    for item in await at.all(_OF_SUBSCRIBERS, ids=list(ids)):
        found[item.subscriber_id].append(item)
    return found


def findings(items: Iterable[EvidenceItem]) -> list[SignalFinding]:
    """Without signals that only a newer version knows."""
    return [
        SignalFinding(Signal(item.code), item.value or "", item.points)
        for item in items
        if item.code in _CODES
    ]


async def queue_look(change: Change, code: str) -> None:
    """Within a minute, a job looks at everybody who came with the code."""
    await change.put(_QUEUE_LOOK, code=code)


async def codes_to_look_at(tx: Tx, *, most: int) -> list[CodeToLookAt]:
    """Of all accounts; those that wait longest first."""
    return await tx.all(_CODES_TO_LOOK_AT, until_ms=tx.now_ms, most=most)


async def end_look(change: Change, code: str, *, looked_ms: int) -> None:
    await change.run(_END_LOOK, code=code, looked_ms=looked_ms)


async def group_of(
    at: Reading, code: str, *, at_ms: int, before: int = GROUP, after: int = 0
) -> list[InGroup]:
    """Those who came with the code around a time, the first one first."""
    return await at.all(
        _GROUP, code=code, at_ms=at_ms, since_ms=at_ms - GROUP_MS, before=before, after=after
    )


async def find_group_signals(
    at: Reading, code: str, group: Sequence[InGroup]
) -> dict[str, list[SignalFinding]]:
    """What the group says about each of its members. A few people are no group. Nor is anybody with
    an address that was written after they came: the owner could make up what they have in
    common."""
    group = [each for each in group if not each.is_changed]
    if len(group) < LEAST_GROUP:
        return {}
    signups = [
        GroupSignup(
            id=each.id,
            email=EmailAddress(each.email),
            received_ms=each.received_ms,
            ip_network=each.network,
            is_confirmed=each.status == "confirmed",
        )
        for each in group
    ]
    if all(is_provider(signup.email.domain) for signup in signups):
        return _without_bursts(group, _by_confirmation(signups, at.now_ms, {}))
    rows = await at.all(
        _KNOWN_DOMAINS,
        code=code,
        until_ms=min(each.received_ms for each in group) - KNOWN_AFTER_MS,
        newest=NEWEST,
    )
    known = {row.domain: row.n for row in rows}
    total = sum(known.values())
    uncommon = sum(n for domain, n in known.items() if not is_provider(domain))
    usual_share = uncommon / total if total else None
    found = _by_confirmation(signups, at.now_ms, known, usual_share=usual_share)
    return _without_bursts(group, found)


def _by_confirmation(
    signups: Sequence[GroupSignup],
    now_ms: int,
    known: Mapping[str, int],
    *,
    usual_share: float | None = None,
) -> dict[str, list[SignalFinding]]:
    """Addresses that did not confirm within a day speak against nobody who did: anybody can type
    them."""
    found = of_group(signups, known, usual_share=usual_share)
    some = [each for each in signups if each.is_confirmed or each.received_ms > now_ms - DAY_MS]
    if len(some) == len(signups):
        return found
    among = of_group(some, known, usual_share=usual_share) if len(some) >= LEAST_GROUP else {}
    for each in signups:
        if each.is_confirmed:
            found[each.id] = among.get(each.id, [])
    return found


def _without_bursts(
    group: Sequence[InGroup], found: dict[str, list[SignalFinding]]
) -> dict[str, list[SignalFinding]]:
    """A partner's newsletter sends hundreds within the hour, so a burst on their code is no
    signal."""
    if all(each.partner_campaign_id is None for each in group):
        return found
    return {
        id: [each for each in items if each.signal is not Signal.BURST]
        for id, items in found.items()
    }


def is_new_and_busy(group: Sequence[InGroup], id: str, received_ms: int) -> bool:
    """Whether a code that few verified referrals came with brought others within a day of this
    one. What they have in common may not show yet."""
    verified = near = 0
    for each in group:
        if each.referral_status == Status.VERIFIED and each.received_ms < received_ms - DAY_MS:
            verified += 1
        if each.id != id and abs(each.received_ms - received_ms) < DAY_MS:
            near += 1
    return verified < KNOWN_CODE and near >= BUSY_CODE


async def look_at_new(
    change: Change,
    code: str,
    email: EmailAddress,
    network: str | None,
    *,
    partner_campaign_id: str | None = None,
) -> tuple[list[SignalFinding], bool]:
    """What the group says about somebody who comes just now, and whether its code is new and
    busy."""
    new = InGroup(
        id="",
        email=email.text,
        received_ms=change.now_ms,
        network=network,
        status="active",
        partner_campaign_id=partner_campaign_id,
        referral_status=Status.PENDING,
        referral_reason=None,
    )
    group = await group_of(change, code, at_ms=change.now_ms, before=GROUP - 1)
    found = (await find_group_signals(change, code, [*group, new])).get(new.id, [])
    return found, is_new_and_busy(group, new.id, change.now_ms)


async def refresh(
    change: Change, ids: Sequence[str], found: dict[str, list[SignalFinding]]
) -> dict[str, list[SignalFinding]]:
    """Stores what the group says about these referrals, and returns all evidence about each."""
    gone = list[_Key]()
    changed, result = dict[str, list[SignalFinding]](), dict[str, list[SignalFinding]]()
    for subscriber_id, items in (await of_subscribers(change, ids)).items():
        new = {each.signal: each for each in found.get(subscriber_id, [])}
        old = {each.signal: each for each in findings(items)}
        alone = {signal: each for signal, each in old.items() if not signal.facts.is_group}
        gone += [_Key(subscriber_id, signal) for signal in old if signal not in alone | new]
        changed[subscriber_id] = [each for each in new.values() if old.get(each.signal) != each]
        result[subscriber_id] = list((alone | new).values())
    await record(change, changed)
    if gone:
        await change.run(_REMOVE, gone=[each._asdict() for each in gone])
    return result


async def remove(change: Change, subscriber_id: str, signal: Signal) -> None:
    await change.run(_REMOVE, gone=[_Key(subscriber_id, signal.value)._asdict()])


async def erase(change: Change, subscriber_id: str) -> None:
    await change.run(_ERASE, subscriber_id=subscriber_id)


# Forgets what was found, some time after the decision, and keeps that it was found.
purge = Purge(
    _OLD_VALUES,
    _FORGET_VALUES,
    lambda now_ms: {"before_ms": now_ms - VALUES_KEPT_MS},
    batch=PURGE_BATCH,
)

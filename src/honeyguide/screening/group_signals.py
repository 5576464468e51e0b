"""What the signups with one code have in common: mail domains, IP networks, names, times. A signup
gets only what is found about those it is alike to, so a robot on an honest partner's code does
not spoil the code's other signups.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from honeyguide.kernel.clock import HOUR_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.screening import generated_addresses, regular_intervals
from honeyguide.screening.mailbox_providers import is_provider, is_relay, registered_domain
from honeyguide.screening.signals import THRESHOLDS, Signal, SignalFinding


class GroupSignup(NamedTuple):
    id: str
    email: EmailAddress
    received_ms: int
    ip_network: str | None = None
    is_confirmed: bool = False


_Found = Iterator[tuple[str, SignalFinding]]

# Addresses of companies rather than of people: at several domains they are different people.
_ROLE_NAMES = """
accounting accounts advertising customerservice editorial enquiries feedback helpdesk information
inquiries marketing newsletter newsletters partners postmaster purchasing reception redaktion
secretary services subscribe subscriptions webmaster
"""
_ROLES = frozenset(_ROLE_NAMES.split())


def of_group(
    signups: Sequence[GroupSignup],
    known_domains: Mapping[str, int],
    *,
    usual_share: float | None = None,
) -> dict[str, list[SignalFinding]]:
    """What speaks against each signup, at most one finding of a signal each.

    `signups` have one code. `known_domains` says for their domains how many other subscribers of
    the campaign have them. Count there only people whom a robot cannot add at will: the owner's
    own list, and those verified long ago. `usual_share` is the share of these people who are at
    no big mailbox provider, if it is known: it is high for a newsletter that companies read.
    """
    group = sorted(signups, key=lambda each: each.received_ms)[-THRESHOLDS.group_size :]
    found: dict[str, dict[Signal, SignalFinding]] = {each.id: {} for each in signups}
    for id, finding in _all(group, known_domains, usual_share):
        known = found[id].get(finding.signal)
        if known is None or known.points < finding.points:
            found[id][finding.signal] = finding
    return {id: list(of_signup.values()) for id, of_signup in found.items()}


def _all(
    group: Sequence[GroupSignup], known_domains: Mapping[str, int], usual_share: float | None
) -> _Found:
    yield from _rare_domains(group, known_domains, usual_share)
    local_parts = [
        (each.id, each.email.key.rpartition("@")[0])
        for each in group
        if not is_relay(each.email.domain)
    ]
    yield from generated_addresses.findings(local_parts).items()
    arrivals = [(each.id, each.received_ms) for each in group]
    yield from regular_intervals.findings(arrivals).items()
    yield from _several_addresses(group)
    yield from _networks(group)
    yield from _bursts(group)


def _largest_share(part: Sequence[GroupSignup], group: Sequence[GroupSignup]) -> float:
    """Of all, or of those who confirmed."""
    confirmed = sum(each.is_confirmed for each in part)
    share = len(part) / len(group)
    if confirmed >= THRESHOLDS.domain_few:
        share = max(share, confirmed / sum(each.is_confirmed for each in group))
    return share


# -- mail domains


def _rare_domains(
    group: Sequence[GroupSignup], known_domains: Mapping[str, int], usual_share: float | None
) -> _Found:
    by_domain: dict[str, list[GroupSignup]] = defaultdict(list)
    for each in group:
        if not is_provider(each.email.domain):
            by_domain[registered_domain(each.email.domain)].append(each)
    rare = {
        domain: same for domain, same in by_domain.items() if not _is_common(same, known_domains)
    }
    for domain, same in rare.items():
        if points := _domain_points(same, group):
            value = f"{len(same)} of {len(group)} at {domain}"
            yield from _each(same, Signal.RARE_DOMAIN, value, points)
    shared = [same for same in rare.values() if len(same) > 1]
    yield from _farm(shared, group)
    people = [each for same in rare.values() for each in same]
    yield from _uncommon(people, group, usual_share, is_farm=_farm_points(shared, group) == 3)


def _is_common(same: Sequence[GroupSignup], known_domains: Mapping[str, int]) -> bool:
    known = sum(known_domains.get(domain, 0) for domain in {each.email.domain for each in same})
    return known >= THRESHOLDS.domain_known and 2 * known >= len(same)


def _domain_points(same: Sequence[GroupSignup], group: Sequence[GroupSignup]) -> int:
    share = _largest_share(same, group)
    if len(same) < THRESHOLDS.domain_pair or share < THRESHOLDS.domain_pair_share:
        return 0
    if len(same) >= THRESHOLDS.domain_few and share >= THRESHOLDS.domain_share:
        return 3 if share >= THRESHOLDS.domain_clear_share else 2
    return 1


def _farm(shared: Sequence[Sequence[GroupSignup]], group: Sequence[GroupSignup]) -> _Found:
    """Several domains with a few signups each."""
    if points := _farm_points(shared, group):
        people = [each for same in shared for each in same]
        value = f"{len(people)} of {len(group)} at {len(shared)} uncommon domains"
        yield from _each(people, Signal.RARE_DOMAIN, value, points)


def _farm_points(shared: Sequence[Sequence[GroupSignup]], group: Sequence[GroupSignup]) -> int:
    """A domain costs about as much as a referral pays, so robots put more than one on each; people
    who read at work rarely have a colleague here."""
    people = [each for same in shared for each in same]
    if len(shared) < THRESHOLDS.farm_domains or len(people) < THRESHOLDS.farm_people:
        return 0
    share = _largest_share(people, group)
    if share < THRESHOLDS.farm_share:
        return 0
    return 3 if share >= THRESHOLDS.farm_clear_share else 2


def _uncommon(
    people: Sequence[GroupSignup],
    group: Sequence[GroupSignup],
    usual_share: float | None,
    *,
    is_farm: bool,
) -> _Found:
    """Nearly nobody has a usual mailbox. If most share a domain, the others belong to them."""
    if len(people) < THRESHOLDS.uncommon_signups:
        return
    share = _largest_share(people, group)
    usual = usual_share or 0.0
    if share >= max(THRESHOLDS.uncommon_share, usual + THRESHOLDS.uncommon_excess):
        value = f"{len(people)} of {len(group)} at uncommon domains"
        yield from _each(people, Signal.RARE_DOMAIN, value, 3 if is_farm else 2)


# -- people and networks


def _several_addresses(group: Sequence[GroupSignup]) -> _Found:
    """One mailbox in several spellings, or one name at several domains."""
    by_name: dict[str, list[GroupSignup]] = defaultdict(list)
    by_person: dict[str, list[GroupSignup]] = defaultdict(list)
    for each in group:
        person = each.email.person
        by_person[person].append(each)
        name = person.rpartition("@")[0].replace(".", "")
        if len(name) >= THRESHOLDS.same_name_length and name not in _ROLES:
            by_name[name].append(each)
    for same in (*by_person.values(), *by_name.values()):
        count = len({each.email.key for each in same}) if len(same) > 1 else 1
        if count >= THRESHOLDS.person_addresses:
            points = min(3, count - THRESHOLDS.person_addresses + 1)
            yield from _each(same, Signal.SEVERAL_ADDRESSES, f"{count} addresses", points)


def _networks(group: Sequence[GroupSignup]) -> _Found:
    placed = [each for each in group if each.ip_network is not None]
    counts = Counter(each.ip_network for each in placed)
    if not counts:
        return
    mean = len(placed) / len(counts)
    is_pool = len(placed) >= THRESHOLDS.pool_people and mean >= THRESHOLDS.pool_mean
    for each in placed:
        count = counts[each.ip_network]
        share = count / len(group)
        if is_pool and count > 1:
            value = f"{len(placed)} from {len(counts)} IP networks"
            points = 2
        elif count >= THRESHOLDS.network_people and share >= THRESHOLDS.network_share:
            value = f"{count} of {len(group)} from one"
            is_most = share >= THRESHOLDS.network_many_share
            points = 2 if is_most and count >= THRESHOLDS.network_many else 1
        else:
            continue
        yield each.id, SignalFinding(Signal.MANY_FROM_ONE_NETWORK, value, points)


def _bursts(group: Sequence[GroupSignup]) -> _Found:
    """Everybody in an hour that brought many."""
    finding = Signal.BURST.found(f"{THRESHOLDS.burst_people} or more")
    first = reported = 0
    for last, newest in enumerate(group):
        while newest.received_ms - group[first].received_ms >= HOUR_MS:
            first += 1
        if last - first + 1 >= THRESHOLDS.burst_people:
            yield from ((each.id, finding) for each in group[max(first, reported) : last + 1])
            reported = last + 1


def _each(same: Iterable[GroupSignup], signal: Signal, value: str, points: int) -> _Found:
    finding = SignalFinding(signal, value, points)
    return ((each.id, finding) for each in same)

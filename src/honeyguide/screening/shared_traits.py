"""What confirmed subscribers of a program share, whichever partner's link they came through and
whatever else the link brought: a mail domain, a mail host, or a browser in one IP network. So many
wait for the owner as one group, until the owner has said that it looks right.

A group over several partners is decided part by part; partners with a common owner are one part.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from honeyguide.screening.mailbox_providers import is_mail_host, is_provider, registered_domain
from honeyguide.screening.signals import THRESHOLDS, Signal, SignalFinding

# Names below these are given to schools, universities and public offices only.
_INSTITUTION = re.compile(r"\.(?:edu|gov|mil|(?:ac|edu|gob|gov|gouv|gv|mil|sch)\.[a-z]{2})$")


class Trait(NamedTuple):
    kind: Signal
    key: str


# A program has a hundred thousand of these, and the garbage collector, which stops all threads,
# need not look at them.
class MailHost(msgspec.Struct, frozen=True, gc=False):
    """Which server takes the mail of a domain."""

    mx_domain: str | None
    """The registered domain of the server's name."""
    network: str | None
    """The /24 or /48 of its IP address."""


class DomainCount(msgspec.Struct, frozen=True, gc=False):
    """Confirmed subscribers at one mail domain. Those of partners have a partner campaign."""

    partner_campaign_id: str
    domain: str
    people: int
    networks: int = 0


class BrowserCount(msgspec.Struct, frozen=True, gc=False):
    partner_campaign_id: str
    network: str
    user_agent: str
    people: int
    domains: int = 0

    @property
    def trait(self) -> Trait:
        return browser_trait(self.network, self.user_agent)


class ProgramFacts(NamedTuple):
    """What is counted of a program and of its newsletter's other readers."""

    domains: Sequence[DomainCount]
    browsers: Sequence[BrowserCount]
    own_domains: Sequence[DomainCount]
    own_browsers: Sequence[BrowserCount]
    own_placed: int
    """How many other readers have a browser and a network at all."""
    readers: int
    """The newsletter's confirmed readers."""
    owners: Sequence[tuple[str, str]]
    """Each partner campaign with each owner of its account."""
    hosts: Mapping[str, MailHost]


class FoundGroup(NamedTuple):
    """One part of a group."""

    part_id: str
    trait: Trait
    people: int
    domains: int
    networks: int
    partners: frozenset[str]


class _CodeShare:
    """Who has a trait with one code."""

    def __init__(self) -> None:
        self.people = self.networks = self.domains = 0
        self.names = set[str]()


def least_people(readers: int) -> int:
    share = int(readers * THRESHOLDS.shared_share)
    return min(THRESHOLDS.shared_people, max(THRESHOLDS.shared_least, share))


def browser_trait(network: str, user_agent: str) -> Trait:
    return Trait(Signal.SHARED_BROWSER, f"{network} {user_agent}")


def traits_of_domain(domain: str, host: MailHost | None) -> Iterator[Trait]:
    """What people at a domain share with others."""
    if is_provider(domain):
        return
    yield Trait(Signal.SHARED_DOMAIN, registered_domain(domain))
    if host is None or (host.mx_domain and is_mail_host(host.mx_domain)):
        return
    if host.mx_domain:
        yield Trait(Signal.SHARED_MAIL_HOST, host.mx_domain)
    if host.network:
        yield Trait(Signal.SHARED_MAIL_NETWORK, host.network)


def find_groups(facts: ProgramFacts) -> list[FoundGroup]:
    part_of = _parts(facts)
    least = least_people(facts.readers)
    shared = _by_trait(facts, least)
    usual = _usual(facts, shared)
    # A host is compared among those who have one of their own, as companies do.
    totals = {
        of_hosts: _totals(_counted(facts.domains, of_hosts=of_hosts), part_of)
        for of_hosts in (False, True)
    }
    usual_people = {
        of_hosts: sum(each.people for each in _counted(facts.own_domains, of_hosts=of_hosts))
        for of_hosts in (False, True)
    }

    def is_group(trait: Trait, n: int, of: int) -> bool:
        """What the newsletter's other readers have is usual; a small excess is chance."""
        total = usual_people[_is_of_hosts(trait.kind)]
        if trait.kind is Signal.SHARED_BROWSER:
            total = facts.own_placed
        usual_share = THRESHOLDS.shared_excess * usual[trait]
        return n >= least and (not total or n * total > usual_share * of)

    groups = []
    for trait, by_code in shared.items():
        if _is_of_hosts(trait.kind) and _domains(by_code.values()) < 2:
            continue  # its domain is the group
        parts = _found_parts(trait, by_code, part_of, totals[_is_of_hosts(trait.kind)], is_group)
        for part_id in sorted(parts):
            codes = {code: by_code[code] for code in by_code if part_of[code] == part_id}
            groups.append(
                FoundGroup(
                    part_id,
                    trait,
                    sum(each.people for each in codes.values()),
                    _domains(codes.values()),
                    sum(each.networks for each in codes.values()),
                    frozenset(codes),
                )
            )
    return groups


def _counted(counts: Iterable[DomainCount], *, of_hosts: bool) -> list[DomainCount]:
    return [each for each in counts if not (of_hosts and is_provider(each.domain))]


def _totals(
    counts: Iterable[DomainCount], part_of: Mapping[str, str]
) -> tuple[Counter[str], Counter[str]]:
    """All confirmed of each code, and of each part."""
    confirmed, everybody = Counter[str](), Counter[str]()
    for each in counts:
        confirmed[each.partner_campaign_id] += each.people
        everybody[part_of[each.partner_campaign_id]] += each.people
    return confirmed, everybody


def _is_of_hosts(kind: str) -> bool:
    return kind.startswith("shared_mail_")


def _found_parts(
    trait: Trait,
    by_code: Mapping[str, _CodeShare],
    part_of: Mapping[str, str],
    totals: tuple[Counter[str], Counter[str]],
    is_group: Callable[[Trait, int, int], bool],
) -> set[str]:
    """Looked at over each code, over all codes with a common owner, and over the program. `totals`
    are all confirmed of each code, and of each part."""
    confirmed, everybody = totals
    people = Counter[str]()
    found = set[str]()
    for code, share in by_code.items():
        people[part_of[code]] += share.people
        if is_group(trait, share.people, confirmed[code]):
            found.add(part_of[code])
    if is_group(trait, people.total(), everybody.total()):
        found.update(part for part, n in people.items() if n > 1)
    return found | {part for part, n in people.items() if is_group(trait, n, everybody[part])}


def _by_trait(facts: ProgramFacts, least: int) -> dict[Trait, dict[str, _CodeShare]]:
    """Traits that so many have."""
    people = Counter[str]()
    for count in facts.domains:
        for trait in traits_of_domain(count.domain, facts.hosts.get(count.domain)):
            people[trait.kind + trait.key] += count.people
    found: dict[Trait, dict[str, _CodeShare]] = defaultdict(lambda: defaultdict(_CodeShare))
    for count in facts.domains:
        name = registered_domain(count.domain)
        for trait in traits_of_domain(count.domain, facts.hosts.get(count.domain)):
            if people[trait.kind + trait.key] < least:
                continue
            share = found[trait][count.partner_campaign_id]
            share.people += count.people
            share.networks += count.networks
            share.names.add(name)
    for browser in facts.browsers:
        share = found[browser.trait][browser.partner_campaign_id]
        share.people, share.networks, share.domains = browser.people, 1, browser.domains
    return found


def _domains(shares: Iterable[_CodeShare]) -> int:
    names, n = set[str](), 0
    for each in shares:
        names |= each.names
        n += each.domains
    return n + len(names)


def _usual(facts: ProgramFacts, shared: Container[Trait]) -> Counter[Trait]:
    """How many of the newsletter's other readers have each of these traits."""
    usual = Counter[Trait]()
    for count in facts.own_domains:
        for trait in traits_of_domain(count.domain, facts.hosts.get(count.domain)):
            if trait in shared:
                usual[trait] += count.people
    for browser in facts.own_browsers:
        usual[browser.trait] += browser.people
    return usual


def _parts(facts: ProgramFacts) -> dict[str, str]:
    """The first of the partner campaigns that have an owner in common, for each of them."""
    parts = {each.partner_campaign_id: each.partner_campaign_id for each in facts.domains}
    parts |= {code: code for code, _ in facts.owners}

    def first(code: str) -> str:
        while parts[code] != code:
            code = parts[code]
        return code

    of_owner: dict[str, str] = {}
    for code, owner in facts.owners:
        one, other = first(code), first(of_owner.setdefault(owner, code))
        parts[max(one, other)] = min(one, other)
    return {code: first(code) for code in parts}


# -- a group, for those in it and for its owner


class TraitGroup(NamedTuple):
    """One part of a group, as stored."""

    id: str
    part_id: str
    kind: str
    key: str
    people: int
    domains: int
    networks: int
    approved_people: int | None
    partner_campaign_id: str = ""
    """One of those that it came through."""

    @property
    def trait(self) -> Trait:
        return Trait(Signal(self.kind), self.key)

    @property
    def is_open(self) -> bool:
        """Whether the owner is to look: for the first time, or because it doubled since."""
        approved = self.approved_people
        return approved is None or self.people >= THRESHOLDS.shared_growth * approved

    @property
    def finding(self) -> SignalFinding:
        kind = Signal(self.kind)
        if kind is Signal.SHARED_BROWSER:
            name = self.key.partition(" ")[0]
        elif self.domains > 1:
            name = f"{self.key}, {self.domains} domains"
        else:
            name = self.key
        return SignalFinding(kind, f"{self.people} at {name}", kind.facts.points)

    @property
    def difference(self) -> str:
        """What is unlike people who have an employer, a school or a room in common; empty if there
        is nothing."""
        if _is_of_hosts(self.kind):
            return (
                f"{self.people} people at {self.domains} domains, and one mail host that hardly "
                "any of your other readers have."
            )
        if self.kind == Signal.SHARED_DOMAIN and differs_from_one_place(
            self.key, self.people, self.networks
        ):
            few = "No" if self.networks >= self.people else "Hardly any"
            return (
                f"{few} two of them came from one IP network, as people at one company or school "
                "usually do."
            )
        return ""


def differs_from_one_place(domain: str, people: int, networks: int) -> bool:
    """Fewer than a third share an IP network with another, and it is not the domain of a school or
    a public office."""
    return networks * 3 > people * 2 and not _INSTITUTION.search("." + domain)


def group_of(groups: Iterable[TraitGroup], traits: Iterable[Trait]) -> TraitGroup | None:
    """The largest that has somebody with these traits: so each waits in one group only."""
    theirs = set(traits)
    return max(
        (each for each in groups if each.trait in theirs),
        key=lambda each: (each.people, -_ORDER.index(each.kind), each.id),
        default=None,
    )


_ORDER = [signal.value for signal in Signal if signal.facts.asks_owner]

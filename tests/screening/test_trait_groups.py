"""Groups at any share of a link: who waits, whom the owner decides with one click, and who is left
alone.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from honeyguide.screening import evidence, mail_hosts, shared_traits, trait_groups
from honeyguide.screening.mail_hosts import MailServer
from honeyguide.screening.shared_traits import DomainCount, MailHost, ProgramFacts, TraitGroup
from honeyguide.store import Store
from honeyguide.store.tx import timed
from honeyguide.subscribers.subscribers import Subscriber
from honeyguide.work import decisions
from honeyguide.work.items import Items
from tests.support.changes import SITE, changing
from tests.support.items import run_items
from tests.support.readings import reading
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.trade import DAY_MS, HOUR_MS, NOON_MS, Trade, on

_NAMES_TEXT = """
anna.berg ben.holm cleo.dubois dora.klein emil.roth fred.mason gina.rossi hugo.leroy ines.vega
jan.novak kim.chan lou.walker mia.stein nora.hall otto.lang pia.conti
"""
NAMES = _NAMES_TEXT.split()
ASKING = replace(SITE, asks_mail_hosts=True)
LATER_MS = NOON_MS + 2 * HOUR_MS


async def begin(store: Store, *, partners: int = 1, level: str = "strong") -> Trade:
    """Enough readers of its own that eight people are asked for, at all kinds of providers."""
    trade = await Trade.begin(store, partners=partners, referral_pending_duration_enabled=True)
    screened = statement(f"UPDATE program SET rule = 'confirmed', screening = '{level}'")
    await store.write(lambda tx: tx.run(screened))
    await arrive(trade, [f"{name}{n}@gmail.com" for name in NAMES for n in (1, 2)])
    return trade


async def arrive(trade: Trade, emails: list[str], partner: int = 0, **fields: Any) -> list[str]:
    """They come at odd times, from a home and with a browser each, and have confirmed."""
    ids = []
    for n, email in enumerate(emails):
        network = {"ip_address": f"81.7.{len(email)}.{email.encode()[0]}", "user_agent": email}
        came: Subscriber = await trade.arrive(
            partner,
            email=email,
            now_ms=NOON_MS + n * n * 47_000,
            origin="magic",
            **{"status": "confirmed", **network, **fields},
        )
        ids.append(came.id)
    return ids


async def look(trade: Trade, now_ms: int = LATER_MS) -> None:
    codes = Items(evidence.codes_to_look_at, partial(decisions.look_at_code, trade.site), 9)
    await run_items(trade.store, codes, now_ms)
    programs = Items(trait_groups.due, partial(decisions.look_at_program, trade.site), 9)
    await run_items(trade.store, programs, now_ms + trait_groups.LOOK_AFTER_MS)


async def waiting(trade: Trade, ids: list[str]) -> int:
    """How many of these wait for the owner."""
    found = [await trade.referral(each) for each in ids]
    return sum(each[:2] == ("pending", "needs_review") for each in found)


async def groups(trade: Trade) -> list[TraitGroup]:
    codes = [each.id for each in trade.partners]
    found = await trade.store.read(
        lambda tx: trait_groups.of_partners(reading(tx, trade.owner), codes)
    )
    return sorted({each.id: each for rows in found.values() for each in rows}.values())


async def approve(trade: Trade, group: TraitGroup) -> None:
    work = changing(trait_groups.approve, trade.site, trade.owner, LATER_MS)
    await trade.store.write(work, group)


@pytest.mark.parametrize("level", ["strong", "strict"])
@pytest.mark.parametrize("engine", ENGINES)
def test_eight_at_one_domain_wait_whatever_else_the_link_brought(engine: str, level: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store, level=level)
        seven = await arrive(trade, [f"{name}@quiet-harbor.example" for name in NAMES[:7]])
        beside = await arrive(trade, [f"{name}@gmail.com" for name in NAMES])
        await look(trade)
        assert await waiting(trade, seven) == 0
        (eighth,) = await arrive(trade, [f"{NAMES[8]}@mail.quiet-harbor.example"])
        await look(trade)
        assert await waiting(trade, [*seven, eighth]) == 8
        assert await waiting(trade, beside) == 0
        (group,) = await groups(trade)
        assert (group.kind, group.key, group.people) == (
            "shared_domain",
            "quiet-harbor.example",
            8,
        )

    on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_approved_group_goes_on_and_asks_again_when_it_has_doubled(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store)
        first = await arrive(trade, [f"{name}@quiet-harbor.example" for name in NAMES[:8]])
        await look(trade)
        (group,) = await groups(trade)
        await approve(trade, group)
        await look(trade)
        assert await waiting(trade, first) == 0
        assert {(await trade.referral(each))[1] for each in first} == {"holding_period"}
        more = [f"{name}.2@quiet-harbor.example" for name in NAMES[:7]]
        second = await arrive(trade, more)
        await look(trade)
        assert await waiting(trade, second) == 0
        second += await arrive(trade, ["zoe.moreau@quiet-harbor.example"])
        await look(trade)
        assert await waiting(trade, [*first, *second]) == 16

    on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_group_over_several_partners_is_decided_part_by_part(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store, partners=3)
        one = await arrive(trade, [f"{name}@quiet-harbor.example" for name in NAMES[:4]], 0)
        two = await arrive(trade, [f"{name}@quiet-harbor.example" for name in NAMES[4:9]], 1)
        beside = await arrive(trade, [f"{name}@aol.com" for name in NAMES], 2)
        await look(trade)
        assert await waiting(trade, [*one, *two]) == 9 and await waiting(trade, beside) == 0
        found = {each.part_id: each for each in await groups(trade)}
        assert {part: each.people for part, each in found.items()} == {
            trade.partners[0].id: 4,
            trade.partners[1].id: 5,
        }
        await approve(trade, found[trade.partners[0].id])
        await look(trade)
        assert await waiting(trade, one) == 0 and await waiting(trade, two) == 5

    on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_partners_with_a_common_owner_are_one_part(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store, partners=3)
        both = statement(
            "INSERT INTO member (account_id, user_id, role, created_ms) SELECT :account_id, "
            "user_id, 'owner', 1 FROM member WHERE account_id = :other_id"
        )
        first, second = trade.partners[0].account_id, trade.partners[1].account_id
        await store.write(lambda tx: tx.run(both, account_id=first, other_id=second))
        for partner in (0, 1):
            part = NAMES[4 * partner :][:4]
            await arrive(trade, [f"{name}@quiet-harbor.example" for name in part], partner)
        await look(trade)
        (group,) = await groups(trade)
        assert (group.part_id, group.people) == (trade.partners[0].id, 8)

    on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_domains_with_one_mail_host_are_a_group(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store)
        trade.site = ASKING
        emails = [f"{name}@{name.replace('.', '-')}.example" for name in NAMES[:9]]
        ids = await arrive(trade, emails)
        await look(trade)
        assert await waiting(trade, ids) == 0
        wanted = await store.read(timed(mail_hosts.due, LATER_MS + DAY_MS), most=99)
        assert sorted(wanted) == sorted(each.partition("@")[2] for each in emails)
        for n, domain in enumerate(wanted):  # one of them is elsewhere
            server = MailServer(f"mx{n}.farm.example" if n else "mx.own.example", f"8.8.{n}.9")
            await store.write(timed(mail_hosts.save, LATER_MS), domain, server)
        await look(trade, LATER_MS + HOUR_MS)
        assert await waiting(trade, ids) == 8
        (group,) = await groups(trade)
        assert (group.kind, group.key, group.domains) == ("shared_mail_host", "farm.example", 8)
        assert "8 domains" in group.difference

    on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_browser_in_one_network_is_a_group(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store)
        emails = [f"{name}@aol.com" for name in NAMES]
        same = {"ip_address": "203.0.113.7", "user_agent": "Mozilla/5.0 (X11)"}
        ids = await arrive(trade, emails[:8], **same)
        beside = await arrive(trade, emails[8:], ip_address="203.0.113.7")
        await look(trade)
        assert await waiting(trade, ids) == 8 and await waiting(trade, beside) == 0
        (group,) = await groups(trade)
        assert group.finding.value == "8 at 203.0.113.7"

    on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_other_readers_have_in_the_same_share_is_no_group(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store)
        ids = await arrive(trade, [f"{name}@quiet-harbor.example" for name in NAMES[:8]])
        await look(trade)
        assert await waiting(trade, ids) == 8
        long_ago = statement(
            "INSERT INTO subscriber (id, account_id, campaign_id, email, email_key, person_key, "
            "ref_code, status, origin, created_ms, received_ms) "
            "VALUES (:id, :account_id, :campaign_id, :id, :id, :id, :id, 'confirmed', 'api', 1, 1)"
        )
        for n in range(3):
            own = {"id": f"own{n}@quiet-harbor.example"} | trade.owner._asdict()
            await store.write(lambda tx, own=own: tx.run(long_ago, **own))
        await arrive(trade, ["somebody.else@gmail.com"])
        await look(trade, LATER_MS + HOUR_MS)
        assert await waiting(trade, ids) == 0 and await groups(trade) == []

    on(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_who_never_confirmed_makes_no_group(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await begin(store)
        emails = [f"{name}@quiet-harbor.example" for name in NAMES[:9]]
        await arrive(trade, emails[:7])
        await arrive(trade, emails[7:], status="active")
        await look(trade)
        assert await groups(trade) == []

    on(engine, scenario)


def test_a_small_excess_of_a_usual_host_is_chance_and_one_person_is_no_part() -> None:
    def facts(usual: int) -> ProgramFacts:
        hosts = {f"firm{n}.example": MailHost("small-host.example", None) for n in range(40)}
        at_host = [DomainCount(f"p{n}", f"firm{n}.example", 1) for n in range(1, 8)]
        others = [DomainCount("p0", f"own{n}.example", 1) for n in range(28)]
        return ProgramFacts(
            domains=[*at_host, DomainCount("p0", "firm0.example", 5), *others],
            browsers=[],
            own_domains=[
                DomainCount("", "firm20.example", usual),
                DomainCount("", "b.org", 100 - usual),
                DomainCount("", "gmail.com", 900),
            ],
            own_browsers=[],
            own_placed=0,
            readers=1_000,
            owners=[],
            hosts=hosts,
        )

    # 12 of 40 over the program have the host.
    found = shared_traits.find_groups(facts(usual=14))
    assert {(each.part_id, each.trait.key) for each in found} == {("p0", "small-host.example")}
    assert shared_traits.find_groups(facts(usual=16)) == []

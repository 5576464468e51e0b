"""Search and filters find exactly those whom a slow look at every subscriber finds, in order, on
every page, on both engines.
"""

import itertools
import random
import unicodedata
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.periods import day_of
from honeyguide.kernel.tenant import Tenant
from honeyguide.rewards import rewards
from honeyguide.rewards.rewards import NewReward
from honeyguide.screening.rules import Decision
from honeyguide.signups import lifecycle
from honeyguide.signups.lifecycle import NewSubscriber, PartnerSignup
from honeyguide.signups.signups import sign_up
from honeyguide.subscribers import search, tags
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.referral_states import Status
from honeyguide.subscribers.subscriber_filters import (
    REFERRED_BY,
    SHOWS,
    SubscriberFilter,
    read_filter,
)
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.changes import changing
from tests.support.readings import change_of, reads
from tests.support.stores import OpenStore
from tests.support.trade import SITE

START_MS = 1_790_000_000_000 // DAY_MS * DAY_MS
NAMES = [None, "Mateo Torres", "José Núñez", "ZOË MÜLLER", "50% off_er", "Łukasz [x]*", "Ольга"]
NAMES += ["أمل حداد", "한지민", "ガク"]  # whose first letters consist of several parts
ZONES = ["UTC", "America/New_York", "Pacific/Kiritimati"]
WORDS = ["torres", "nunez", "ÑEZ", "muller", "%", "_", "[X]", "*", "ольга", "example", "s1", "\\"]
WORDS += ["أمل", "한지", "ガク", "old-CODE"]


@pytest.fixture
def crowd(opened: OpenStore) -> tuple[OpenStore, Tenant, str]:
    campaign_id, _ = opened.account_with_key()
    ((account_id,),) = opened.ask("SELECT account_id FROM campaign WHERE id = :id", id=campaign_id)
    tenant = Tenant(account_id, campaign_id)
    dice = random.Random(7)

    async def fill(tx: Any) -> str:
        create = changing(rewards.create, SITE, tenant, START_MS)
        reward = await create(tx, NewReward(name="Mug", referrals=2))
        codes = [None]
        for number in range(80):
            new = NewSubscriber(
                email=f"s{number}@{'Example.org' if number % 3 else 'mailinator.com'}",
                name=dice.choice(NAMES),
                referrer_code=dice.choice([*codes[:6], "OLD-code"]),
                status=dice.choice(["active", "active", "confirmed", "unsubscribed"]),
                utm_source=dice.choice([None, "Instagram", "x"]),
                utm_campaign=dice.choice([None, "spring"]),
                origin=dice.choice(list(Origin)),
            )
            # Many at the same moment, so that the id decides their order.
            now_ms = START_MS + number // 10 * (DAY_MS // 2)
            if number % 7 == 6:
                made = await sign_up_by_partner(tx.at(now_ms), tenant, new)
            else:
                made = await changing(sign_up, SITE, tenant, now_ms)(tx, new)
            codes.append(made.ref_code)
            if number % 4 == 0:
                await tags.add(change_of(tx, tenant, now_ms=now_ms), [made.id], ["vip"])
        return reward.id

    return opened, tenant, opened.run(opened.store.write(fill))


async def sign_up_by_partner(tx: Any, tenant: Tenant, new: NewSubscriber) -> Subscriber:
    partner = PartnerSignup("pcode1234", new_id(), Decision(Status.VERIFIED), must_confirm=False)
    email = EmailAddress.parse(new.email)
    sign_up = changing(lifecycle.sign_up, SITE, tenant, tx.now_ms)
    made = await sign_up(tx, new, email=email, needs_confirmation=False, partner=partner)
    return made.subscriber


def plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFD", letter)[0].lower() for letter in text)


def matches(row: dict[str, Any], filters: SubscriberFilter) -> bool:
    """The filter once more, in words that share nothing with it."""
    text = filters.q.lower()
    referred_by = (
        "unknown"
        if row["claimed_code"]
        else "nobody"
        if row["referrer_code"] is None
        else "partner"
        if row["partner_campaign_id"]
        else "subscriber"
    )
    joined = day_of(row["created_ms"], ZoneInfo(filters.zone)).isoformat()
    wants = {"anyone": ("subscriber", "partner"), "nobody": ("nobody", "unknown")}.get(
        filters.referred_by, (filters.referred_by,)
    )
    return all(
        (
            not text
            or text in row["email_key"]
            or plain(text) in plain(row["name"] or "")
            or text in (row["ref_code"], (row["claimed_code"] or "").lower()),
            filters.status in ("", row["status"]),
            not filters.referral
            or (row["referrer_code"] and filters.referral == row["referral_status"]),
            not filters.referred_by or referred_by in wants,
            filters.origin in ("", row["origin"]),
            filters.utm_source in ("", row["utm_source"]),
            filters.utm_campaign in ("", row["utm_campaign"]),
            (filters.joined_from or "0") <= joined <= (filters.joined_to or "9"),
            (filters.min_referrals or 0) <= row["referrals_verified"],
            filters.max_referrals is None or row["referrals_verified"] <= filters.max_referrals,
            filters.tag in ("", *row["tags"]),
            not filters.reward or row["rewards"] > 0,
        )
    )


COLUMNS = (
    *("id", "email_key", "name", "ref_code", "status", "referrer_code", "partner_campaign_id"),
    *("referral_status", "origin", "utm_source", "utm_campaign", "created_ms"),
    *("referrals_verified", "claimed_code"),
)


def everybody(opened: OpenStore, tenant: Tenant, reward_id: str) -> list[dict[str, Any]]:
    rows = opened.ask(
        f"SELECT {', '.join(COLUMNS)}, (SELECT COUNT(*) FROM won_reward AS w "
        "WHERE w.subscriber_id = s.id AND w.reward_id = :reward_id) "
        "FROM subscriber AS s WHERE s.campaign_id = :campaign_id",
        reward_id=reward_id,
        campaign_id=tenant.campaign_id,
    )
    tagged = {row[0] for row in opened.ask("SELECT subscriber_id FROM subscriber_tag")}
    people = [dict(zip([*COLUMNS, "rewards"], row, strict=True)) for row in rows]
    for each in people:
        each["tags"] = ["vip"] if each["id"] in tagged else []
    return people


def expected(people: list[dict[str, Any]], filters: SubscriberFilter) -> list[str]:
    key = "referrals_verified" if filters.sort == "best" else "created_ms"
    found = sorted((row[key], row["id"]) for row in people if matches(row, filters))
    return [row_id for _, row_id in (found if filters.sort == "oldest" else reversed(found))]


def walk(opened: OpenStore, tenant: Tenant, filters: SubscriberFilter, count: int) -> list[str]:
    """All pages forward, and each of them again by going back."""

    def page(**place: Any) -> search.FoundPage:
        find = opened.store.slow_snapshot(
            reads(search.find_page, tenant), filters, per_page=7, **place
        )
        return opened.run(find)

    pages = [page()]
    while pages[-1].next:
        pages.append(page(before=pages[-1].next))
    assert {each.total for each in pages} == {count}
    for earlier, later in itertools.pairwise(pages):
        assert later.previous is not None
        again = page(after=later.previous)
        assert [row.id for row in again.rows] == [row.id for row in earlier.rows]
        assert again.next and bool(again.previous) == (earlier is not pages[0])
    assert pages[0].previous is None
    return [row.id for each in pages for row in each.rows]


def random_query(dice: random.Random, reward_id: str) -> dict[str, str]:
    choices = {
        "q": WORDS,
        "status": ["active", "confirmed", "unsubscribed"],
        "referral": ["verified", "pending", "rejected"],
        "referred_by": list(REFERRED_BY),
        "origin": list(Origin),
        "utm_source": ["Instagram", "x", "instagram"],
        "utm_campaign": ["spring", "Spring"],
        "joined_from": ["2026-09-22", "2026-09-23"],
        "joined_to": ["2026-09-23", "2026-09-24"],
        "min_referrals": ["0", "1", "3"],
        "max_referrals": ["3", "9"],
        "tag": ["VIP", "nobody has it"],
        "reward": [reward_id],
    }
    names = dice.sample(sorted(choices), dice.choice([1, 1, 2, 3]))
    query = {name: dice.choice(choices[name]) for name in names}
    return {**query, "sort": dice.choice(["newest", "oldest", "best"])}


def test_filters_find_what_a_slow_look_finds(crowd: tuple[OpenStore, Tenant, str]) -> None:
    opened, tenant, reward_id = crowd
    people = everybody(opened, tenant, reward_id)
    dice = random.Random(11)
    queries = [{"q": word} for word in WORDS] + [{"show": show} for show in SHOWS]
    queries += [{"referred_by": each} for each in REFERRED_BY]
    queries += [random_query(dice, reward_id) for _ in range(40)]
    queries += [{"joined_from": "2026-09-23", "joined_to": "2026-09-23"}] * 5
    found = 0
    for query in queries:
        filters, faults = read_filter(query, dice.choice(ZONES))
        assert not faults, query
        right = expected(people, filters)
        assert walk(opened, tenant, filters, len(right)) == right, query
        found += bool(right)
    assert found > len(queries) // 3, "most filters find nobody, so little was compared"


def test_matches_are_counted_up_to_a_limit(
    crowd: tuple[OpenStore, Tenant, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, tenant, _ = crowd
    monkeypatch.setattr(search, "MOST_COUNTED", 20)
    filters, _ = read_filter({"q": "example.org"})
    page = opened.run(
        opened.store.slow_snapshot(reads(search.find_page, tenant), filters, per_page=7)
    )
    assert page.total == 21
    assert (
        len(opened.run(opened.store.slow_snapshot(reads(search.find_ids, tenant), filters))) == 20
    )


@pytest.mark.parametrize(
    ("query", "param", "sentence"),
    [
        ({"joined_from": "2026-02-31"}, "joined_from", "must be a date such as"),
        ({"joined_from": "20260201"}, "joined_from", "must be a date such as"),
        ({"joined_to": "0001-01-01"}, "joined_to", "must be a date such as"),
        ({"joined_from": "2026-02-02", "joined_to": "2026-02-01"}, "joined_to", "not be before"),
        ({"min_referrals": "-1"}, "min_referrals", "whole number"),
        ({"min_referrals": "٣"}, "min_referrals", "whole number"),
        ({"max_referrals": "9999999999"}, "max_referrals", "at most 1,000,000,000"),
        ({"min_referrals": "1", "max_referrals": "0"}, "max_referrals", "less than"),
        ({"status": "gone"}, "status", "must be one of"),
        ({"referral": "no"}, "referral", "must be one of"),
        ({"reward": "mug"}, "reward", "one of your rewards"),
        ({"q": "x" * 101}, "q", "at most 100 characters"),
    ],
)
def test_a_wrong_filter_says_what_is_wrong(
    query: dict[str, str], param: str, sentence: str
) -> None:
    _, (fault,) = read_filter(query)
    assert fault.param == param and sentence in fault.message


def test_a_filter_and_its_query_are_the_same() -> None:
    query = {"q": "a&b=c %", "tag": "two words", "min_referrals": "0", "sort": "oldest"}
    filters, _ = read_filter(query)
    assert filters.fields == query
    assert read_filter({"show": "rejected", "status": "active"})[0] == SubscriberFilter(
        referral="rejected", status="active"
    )
    assert read_filter({"sort": "best"})[0].min_referrals == 1

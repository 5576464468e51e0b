"""The network's directory against a plain model of it: every filter, search, order and page, by
each way to find it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw
import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.paging import Page
from honeyguide.partners import audience, directory, logos, programs, publications
from honeyguide.partners.directory import SORTS, NetworkQuery
from honeyguide.partners.logos import Logo
from honeyguide.store.tx import Tx
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement

NOW_MS = 1_794_700_000_000
WORDS = (
    "honey",
    "honeycomb",
    "hone",
    "bees",
    "100%_real",
    "Zürich",
    "the",
    "weekly",
    "蜂蜜新聞",
    "x" * 40,
)
# What counts as few and as early: as it does, always few, never few and never late.
WAYS = {
    "as it comes": (directory.FEW, directory.EARLY),
    "sorted": (10**9, 1),
    "stepped to": (-1, 1e-9),
}


class Offered(NamedTuple):
    """A program as the model knows it."""

    id: str
    name: str
    text: str
    traits: set[str]
    created_at: int
    cpa: int
    max_payout: int
    confirmation_rate: int


def is_found(offer: Offered, searched: str) -> bool:
    """How a word begins; where there are no spaces any letter begins one, and in a name any that
    two more follow.
    """
    words = re.findall(r"\w+", offer.text.lower())
    return any(
        word.startswith(searched) or ("蜂" in word and searched in word) for word in words
    ) or any(
        word[start : start + 32].startswith(searched)
        for word in re.findall(r"\w+", offer.name.lower())
        for start in range(len(word) - 2)
    )


def expected(offers: list[Offered], wanted: NetworkQuery) -> list[str]:
    searched = sorted(
        set(re.findall(r"\w+", wanted.search.lower())), key=lambda word: (-len(word), word)
    )[:3]
    fits = [
        offer
        for offer in offers
        if set(wanted.traits) <= offer.traits
        and offer.cpa >= wanted.min_cpa_cents
        and all(is_found(offer, word[:32]) for word in searched)
    ]
    return [
        offer.id
        for offer in sorted(
            fits, key=lambda offer: (getattr(offer, wanted.sort), offer.id), reverse=True
        )
    ]


async def an_offer(tx: Tx, account_id: str, dice: random.Random, n: int) -> Offered:
    words = dice.sample(WORDS, 3)
    fields: dict[str, Any] = {
        "name": f"{words[0]} {n}",
        "description": " ".join(words[1:]),
        "categories": dice.sample(audience.CATEGORIES[:4], 2),
        "audience_gender": dice.choice(audience.GENDERS[:2]),
        "income_levels": dice.sample(audience.INCOME_LEVELS, 3),
        "age_ranges": dice.sample(audience.AGE_RANGES, 2),
    }
    now_ms = NOW_MS + dice.randrange(5)
    logo = await logos.store(Logo(b"\x89PNG", "image/png", 1, 1), None)
    publication = await publications.create(
        tx, account_id, publications.PublicationFields(**fields), logo, now_ms=now_ms
    )
    offer: dict[str, Any] = {
        "cpa": dice.randrange(1, 6),
        "max_payout": dice.randrange(3),
        "total_budget": 9,
    }
    made = await programs.create(
        tx,
        account_id,
        publication.id,
        programs.ProgramFields(
            **offer, redirect_url="https://wax.example/", show_in_directory=dice.random() < 0.9
        ),
        now_ms=now_ms,
    )
    verified = dice.choice((None, 0, 1, 2, 3))
    rate_bp = -1 if verified is None else verified * 10_000 // 3
    if verified is not None:
        await count_days(tx, account_id, made.id, verified)
    traits = {
        *fields["categories"],
        fields["audience_gender"],
        *fields["income_levels"],
        *fields["age_ranges"],
    }
    text = " ".join([fields["name"], fields["description"], *fields["categories"]])
    return Offered(
        made.id,
        fields["name"],
        text,
        traits,
        now_ms,
        made.cpa_cents,
        made.max_payout_cents,
        rate_bp,
    )


async def count_days(tx: Tx, account_id: str, program_id: str, verified: int) -> None:
    """Three decided referrals today, and many more on a day that no longer counts."""
    day = {
        "program_id": program_id,
        "account_id": account_id,
        "verified": verified,
        "rejected": 3 - verified,
    }
    columns = "program_id, account_id, day, verified, rejected"
    insert = (
        f"INSERT INTO program_day ({columns}) VALUES (:program_id, :account_id, :day, "
        f":verified, :rejected)"
    )
    await tx.run(statement(insert), **day, day=NOW_MS // DAY_MS)
    forgotten = day | {
        "verified": 900 - 300 * verified,
        "rejected": 300 * verified,
        "day": NOW_MS // DAY_MS - 30,
    }
    await tx.run(statement(insert), **forgotten)


async def take_out(tx: Tx, account_id: str, offer: Offered, how: int) -> None:
    program = await programs.get(tx, account_id, offer.id)
    if how == 0:
        await programs.pause(tx, account_id, offer.id, paused=True, now_ms=NOW_MS)
    elif how == 1:
        await programs.delete(tx, account_id, offer.id, now_ms=NOW_MS)
    elif how == 2:
        await publications.delete(tx, account_id, program.publication_id, now_ms=NOW_MS)
    else:
        off: dict[str, Any] = (
            {"status": "archived"} if how == 3 else {"enabled_partner_program": False}
        )
        fields = publications.PublicationFields(**off)
        await publications.update(
            tx, account_id, program.publication_id, fields, None, now_ms=NOW_MS
        )


class Market(NamedTuple):
    opened: OpenStore
    offers: list[Offered]

    def find(self, wanted: NetworkQuery, page: Page) -> tuple[list[str], int]:
        async def look(tx: Tx) -> tuple[list[str], int]:
            return await directory.find(tx, wanted, page)

        return self.opened.run(self.opened.store.read(look))


@pytest.fixture(scope="module", params=ENGINES)
def market(request: pytest.FixtureRequest) -> Iterator[Market]:
    with OpenStore(request.param) as opened:
        opened.account_with_key()
        ((account_id,),) = opened.ask("SELECT id FROM account")
        dice = random.Random(5)

        async def fill(tx: Tx) -> list[Offered]:
            made = [await an_offer(tx, account_id, dice, n) for n in range(70)]
            for n, offer in enumerate(made[:10]):
                await take_out(tx, account_id, offer, n % 5)
            await directory.rate_all(tx, now_ms=NOW_MS)
            return made[10:]

        offers = opened.run(opened.store.write(fill))
        listed = {
            row[0] for row in opened.ask("SELECT id FROM program WHERE show_in_directory = 1")
        }
        yield Market(opened, [offer for offer in offers if offer.id in listed])


def wishes(dice: random.Random) -> NetworkQuery:
    def perhaps(words: tuple[str, ...]) -> str:
        return dice.choice(words) if dice.random() < 0.25 else ""

    searches = (
        "",
        "",
        "HON",
        "honey",
        "honeyc",
        "zür",
        "100%_real",
        "100x_real",
        "real",
        "蜜新",
        "weekly the",
        "bees w 1 hon",
        "tech",
        "x" * 50,
        "ees",
        "=tech=",
        "!!",
    )
    return NetworkQuery(
        search=dice.choice(searches),
        category=perhaps(audience.CATEGORIES[:4]),
        min_cpa_cents=dice.choice((0, 0, 300)),
        audience_gender=perhaps(audience.GENDERS[:2]),
        income_level=perhaps(audience.INCOME_LEVELS),
        age_range=perhaps(audience.AGE_RANGES),
        sort=dice.choice(SORTS),
    )


@pytest.mark.parametrize("way", WAYS)
def test_every_way_finds_what_the_model_finds(
    market: Market, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, early = WAYS[way]
    monkeypatch.setattr(directory, "FEW", few)
    monkeypatch.setattr(directory, "EARLY", early)
    dice = random.Random(way)
    met = 0
    for _ in range(150):
        wanted, page = wishes(dice), Page(dice.choice((1, 1, 2, 3)), dice.choice((3, 10, 200)))
        whole = [] if wanted.search == "!!" else expected(market.offers, wanted)
        assert market.find(wanted, page) == (
            whole[page.skip : page.skip + page.per_page],
            len(whole),
        ), (wanted, page)
        met += bool(whole)
    assert met > 75  # or it would prove little


def test_what_leaves_the_directory_leaves_nothing_in_it(market: Market) -> None:
    listed = {offer.id for offer in market.offers}
    for table in ("network_place", "network_word"):
        assert {
            row[0] for row in market.opened.ask(f"SELECT DISTINCT program_id FROM {table}")
        } == listed


def test_on_sqlite_a_page_is_met_along_an_index_and_nothing_is_sorted(market: Market) -> None:
    if market.opened.engine != "sqlite":
        return  # PostgreSQL plans by what is there, and here is little
    page, counted = directory._PAGE, directory._COUNT_FOUND
    with apsw.Connection(market.opened.url.removeprefix("sqlite:///")) as connection:
        for named, index in ((page, "network_place_order"), (counted, "network_word_found")):
            steps = [
                row[3]
                for row in connection.execute(
                    f"EXPLAIN QUERY PLAN {named.sqlite}", (0,) * len(named.sqlite_order)
                )
            ]
            assert f"USING COVERING INDEX {index}" in steps[0]
            assert not any("TEMP B-TREE" in step or "SCAN" in step for step in steps)

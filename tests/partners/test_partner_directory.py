"""The partner network against a plain model of it: every filter, search, order and page."""

import random
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail.transports import transport_for
from honeyguide.partners import audience, logos, network, programs, publications
from honeyguide.partners.logos import Logo
from honeyguide.partners.network import SORTS, NetworkQuery
from honeyguide.store.tx import Tx, timed
from honeyguide.work.jobs import jobs_of
from honeyguide.work.loop import Loop
from tests.support.changes import new_change
from tests.support.readings import in_account
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement
from tests.support.trade import SITE

NOW_MS = 1_794_700_000_000
WORDS = (
    "honey",
    "honeycomb",
    "hone",
    "bees",
    "100%_real",
    "ZÜRICH",
    "Ｆｕｌｌ",
    r"back\slash!",
    "the",
    "weekly",
    "蜂蜜新聞",
    "x" * 40,
)
OLD_ROWS = Path(__file__).parents[1] / "corpus" / "network_without_search_text.sql"


class Offered(NamedTuple):
    """A program as the model knows it."""

    id: str
    text: str
    traits: set[str]
    created_at: int
    cpa: int
    max_payout: int
    confirmation_rate: int


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def expected(offers: list[Offered], query: NetworkQuery) -> list[str]:
    traits = {query.category, query.audience_gender, query.income_level, query.age_range}
    searched = sorted(folded(query.search).split(), key=len, reverse=True)[:5]
    fits = [
        offer
        for offer in offers
        if traits - {""} <= offer.traits
        and offer.cpa >= query.min_cpa_cents
        and all(word in folded(offer.text) for word in searched)
    ]
    return [
        offer.id
        for offer in sorted(
            fits, key=lambda offer: (getattr(offer, query.sort), offer.id), reverse=True
        )
    ]


async def an_offer(tx: Tx, tenant: Tenant, dice: random.Random, n: int) -> Offered:
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
    change = new_change(tx, SITE, tenant, now_ms)
    logo = await logos.store(Logo(b"\x89PNG", "image/png", 1, 1), None)
    publication = await publications.create(change, publications.PublicationFields(**fields), logo)
    offer: dict[str, Any] = {
        "cpa": dice.randrange(1, 6),
        "max_payout": dice.randrange(3),
        "total_budget": 9,
    }
    made = await programs.create(
        change,
        publication.id,
        programs.ProgramFields(
            **offer, redirect_url="https://wax.example/", show_in_directory=dice.random() < 0.9
        ),
    )
    verified = dice.choice((None, 0, 1, 2, 3))
    rate_bp = -1 if verified is None else verified * 10_000 // 3
    if verified is not None:
        await count_days(tx, tenant.account_id, made.id, verified)
    traits = {
        *fields["categories"],
        fields["audience_gender"],
        *fields["income_levels"],
        *fields["age_ranges"],
    }
    text = " ".join([fields["name"], fields["description"], *fields["categories"]])
    return Offered(
        id=made.id,
        text=text,
        traits=traits,
        created_at=now_ms,
        cpa=made.cpa_cents,
        max_payout=made.max_payout_cents,
        confirmation_rate=rate_bp,
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


async def take_out(tx: Tx, tenant: Tenant, offer: Offered, how: int) -> None:
    change = new_change(tx, SITE, tenant, NOW_MS)
    program = await programs.get(in_account(tx, tenant.account_id), offer.id)
    if how == 0:
        await programs.switch(change, offer.id, on=False)
    elif how == 1:
        await programs.delete(change, offer.id)
    elif how == 2:
        await publications.delete(change, program.publication_id)
    else:
        off: dict[str, Any] = (
            {"status": "archived"} if how == 3 else {"enabled_partner_program": False}
        )
        fields = publications.PublicationChanges(**off)
        await publications.update(change, program.publication_id, fields, None)


class PartnerNetwork(NamedTuple):
    opened: OpenStore
    offers: list[Offered]

    def find(self, query: NetworkQuery, page: Page) -> tuple[list[str], int]:
        return self.opened.run(self.opened.store.snapshot(network.find, query, page))


@pytest.fixture(scope="module", params=ENGINES)
def partner_network(request: pytest.FixtureRequest) -> Iterator[PartnerNetwork]:
    with OpenStore(request.param) as opened:
        opened.account_with_key()
        ((account_id,),) = opened.ask("SELECT id FROM account")
        tenant = Tenant(account_id, "")
        dice = random.Random(5)

        async def fill(tx: Tx) -> list[Offered]:
            made = [await an_offer(tx, tenant, dice, n) for n in range(70)]
            for n, offer in enumerate(made[:10]):
                await take_out(tx, tenant, offer, n % 5)
            await network.set_rates(tx, await network.changed_rates(tx.at(NOW_MS), most=100))
            return made[10:]

        offers = opened.run(opened.store.write(fill))
        listed = {
            row[0] for row in opened.ask("SELECT id FROM program WHERE show_in_directory = 1")
        }
        yield PartnerNetwork(opened, [offer for offer in offers if offer.id in listed])


def wishes(dice: random.Random) -> NetworkQuery:
    def perhaps(choices: tuple[str, ...]) -> str:
        return dice.choice(choices) if dice.random() < 0.25 else ""

    searches = (
        "",
        "",
        "HON",
        "honey",
        "honeyc",
        "züR",
        "full",
        "ｂｅｅＳ",
        "k\\sl sh!",
        "%",
        "!!",
        "hon the bees week tech 1 z",
        "100%_real",
        "100x_real",
        "real",
        "蜜新",
        "weekly the",
        "bees w 1 hon",
        "tech",
        "x" * 50,
        "ees",
        "oney 0%",
        "\t",
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


def test_every_page_has_what_the_model_finds(partner_network: PartnerNetwork) -> None:
    dice = random.Random(7)
    met = 0
    for _ in range(400):
        query, page = wishes(dice), Page(dice.choice((1, 1, 2, 3)), dice.choice((3, 10, 200)))
        whole = expected(partner_network.offers, query)
        assert partner_network.find(query, page) == (
            whole[page.skip : page.skip + page.per_page],
            len(whole),
        ), (query, page)
        met += bool(whole)
    assert met > 150  # or it would prove little


def test_texts_to_search_in_are_filled_in_after_an_upgrade(engine: str) -> None:
    with OpenStore(engine) as opened:
        run, store = opened.run, opened.store
        for row in OLD_ROWS.read_text("utf-8").strip().split(";\n"):
            opened.do(row if engine == "sqlite" else row.replace("X'89'", "'\\x89'"))
        listed = [row[0] for row in opened.ask("SELECT id FROM program")]
        everything = NetworkQuery(sort="confirmation_rate"), Page(1, 10)
        assert run(store.read(network.find, *everything)) == (listed, 1)
        assert run(store.read(timed(publications.without_search_text, NOW_MS), most=1))
        jobs = {
            job.name: job
            for job in jobs_of(
                SITE,
                transport_for("", "wax@example.org"),
                change_log_keep_days=1,
                keep_closed_years=1,
            )
        }
        job = jobs["fill in search texts after an upgrade"]
        assert run(Loop(store, system_clock, (job,)).once(job))
        assert not run(store.read(timed(publications.without_search_text, NOW_MS), most=1))
        for search in ("über", "NEWS", "täglich", "ienen acht"):
            found = run(store.read(network.find, NetworkQuery(search=search), Page(1, 10)))
            assert found == (listed, 1), search
        gone = run(store.read(network.find, NetworkQuery(search="wasps"), Page(1, 10)))
        assert gone == ([], 0)

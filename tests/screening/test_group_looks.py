"""The job that looks at what those who came with one code have in common, while others come."""

import pytest

from honeyguide.screening import evidence
from honeyguide.screening.evidence import CodeToLookAt, InGroup
from honeyguide.signups import group_looks
from honeyguide.store import Store
from honeyguide.store.tx import timed
from tests.support.changes import SITE
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.trade import DAY_MS, HOUR_MS, NOON_MS, Trade, on


@pytest.mark.parametrize("engine", ENGINES)
def test_who_comes_while_their_group_is_looked_at_is_looked_at_the_next_time(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, referral_pending_duration_enabled=True)
        screened = statement("UPDATE program SET rule = 'none', screening = 'strong'")
        await store.write(lambda tx: tx.run(screened))

        async def waiting() -> list[CodeToLookAt]:
            later_ms = NOON_MS + 2 * HOUR_MS
            return await store.read(timed(evidence.codes_to_look_at, later_ms), most=9)

        await trade.arrive(origin="magic")
        (found,) = await waiting()
        looked_ms = NOON_MS + HOUR_MS
        await store.write(group_looks.store_evidence, SITE, found, looked_ms)
        await trade.arrive(origin="magic", now_ms=looked_ms + 1)
        await store.write(group_looks.end, SITE, found, looked_ms)
        assert await waiting() == [found]
        await store.write(group_looks.end, SITE, found, looked_ms + 2)
        assert await waiting() == []

    on(engine, scenario)


@pytest.mark.parametrize("level", ["strong", "flexible", None])
@pytest.mark.parametrize("engine", ENGINES)
def test_whose_email_bounced_is_rejected_when_the_holding_period_ends(
    engine: str, level: str | None
) -> None:
    """At an address of their own, and not at one that the owner gave them; at every level."""

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(
            store, referral_pending_duration_enabled=True, referral_pending_duration=2
        )
        screened = statement("UPDATE program SET rule = 'none', screening = :level")
        await store.write(lambda tx: tx.run(screened, level=level))
        bounces, moved, arrives = [await trade.arrive(origin="magic") for _ in range(3)]
        bounced = statement(
            "INSERT INTO letter (id, account_id, kind, about_id, mailbox, waited_for, created_ms, "
            "failed_ms, bounced) "
            "VALUES (:id, :account_id, 'hub_link', :id, :mailbox, 0, :now, :now, 1)"
        )
        for reader, mailbox in ((bounces, bounces.email), (moved, "nobody@example.net")):
            about = {"account_id": trade.owner.account_id, "id": reader.id, "now": NOON_MS}
            await store.write(lambda tx, **row: tx.run(bounced, **row), **about, mailbox=mailbox)
        await trade.verify_due(NOON_MS + 3 * DAY_MS)
        for reader in (arrives, moved):
            assert (await trade.referral(reader.id))[:2] == ("verified", None)
        assert (await trade.referral(bounces.id))[:2] == ("rejected", "bounced")
        assert await trade.spent() == 600

    on(engine, scenario)


@pytest.mark.parametrize(
    ("hours_before", "is_watched"),
    [
        ([24.1] * 19 + [1, 1], True),
        ([24.1] * 20 + [1, 1], False),  # known since yesterday
        ([1] * 40, True),  # a farm that is verified at once does not make its own code known
        ([24.1] * 19 + [23.9] * 20, True),
        ([1], False),
        ([], False),
        ([23.9, -23.9], True),  # two others within a day, before or after
        ([24, -24, 1], False),
    ],
)
def test_a_code_is_new_until_20_were_verified_and_busy_when_two_come_within_a_day(
    hours_before: list[float], is_watched: bool
) -> None:
    at_ms = 10 * DAY_MS
    others = [
        InGroup(
            id=str(number),
            email=f"{number}@example.org",
            received_ms=at_ms - round(hours * HOUR_MS),
            network=None,
            status="confirmed",
            partner_campaign_id="p",
            referral_status="verified",
            referral_reason=None,
        )
        for number, hours in enumerate(hours_before)
    ]
    itself = others[0]._replace(id="it", received_ms=at_ms) if others else None
    group = [*others, itself] if itself else others
    assert evidence.is_new_and_busy(group, "it", at_ms) == is_watched
    rejected = [each._replace(referral_status="rejected") for each in group]
    assert evidence.is_new_and_busy(rejected, "it", at_ms) == (
        sum(abs(hours) < 24 for hours in hours_before) >= 2
    )

"""What partners see of a program before they join: what became of the referrals of others."""

from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import network, public_figures
from honeyguide.partners.program_partners import Removal
from honeyguide.signups import removed_partners
from honeyguide.store import Store
from honeyguide.store.tx import timed
from honeyguide.work import upkeep
from tests.support.changes import SITE, changing
from tests.support.partner_network import join, offer
from tests.support.service import Member, Service
from tests.support.trade import DAY_MS, NOON_MS, Trade
from tests.support.web import operator, text_of


async def counted(trade: Trade, now_ms: int) -> public_figures.PublicFigures | None:
    store = trade.store
    found = await store.read(timed(public_figures.due, now_ms), most=100)
    await upkeep.count_public_figures(store, found, now_ms)
    return (await store.read(public_figures.of, [trade.program.id])).get(trade.program.id)


async def test_shares_and_the_median_of_ninety_days(store: Store) -> None:
    trade = await Trade.begin(store, referral_pending_duration_enabled=True)
    readers = [await trade.arrive() for _ in range(20)]
    assert await counted(trade, NOON_MS) is None
    for day, reader in enumerate(readers[:19]):
        await trade.confirm(reader.id, now_ms=NOON_MS + day * DAY_MS // 2)
    await trade.change(readers[19].id, status="unsubscribed", now_ms=NOON_MS + DAY_MS)
    await trade.reverse(readers[0].id, readers[1].id, now_ms=NOON_MS + 9 * DAY_MS)
    figures = await counted(trade, NOON_MS + 10 * DAY_MS)
    assert figures is not None
    assert (figures.verified, figures.rejected, figures.reversed) == (17, 1, 2)
    assert (figures.decided, figures.unreviewed) == (20, 0)
    # 1, 1 (left), 1.5, 2 … 9, 9, 9 days; the reversals were decided on the ninth.
    assert (figures.median_days, figures.share(figures.verified)) == (5.0, 0.85)
    # They are forgotten day by day, until too few are left.
    assert await counted(trade, NOON_MS + 92 * DAY_MS) is None


async def test_the_owners_own_referrals_do_not_count(store: Store) -> None:
    trade = await Trade.begin(store)
    joined, _ = await store.write(
        changing(network.join, SITE, trade.owner, NOON_MS), trade.program.id, None
    )
    trade.partners.append(joined)
    for _ in range(public_figures.LEAST_DECIDED):
        await trade.arrive(0)
        await trade.arrive(1)
    figures = await counted(trade, NOON_MS)
    assert figures is not None and figures.decided == public_figures.LEAST_DECIDED


async def test_what_was_ended_and_who_comes_after_a_removal_count_but_not_who_a_leaver_sends(
    store: Store,
) -> None:
    trade = await Trade.begin(store, partners=2, referral_pending_duration_enabled=True)
    for _ in range(public_figures.LEAST_DECIDED):
        await trade.arrive()
    later_ms = NOON_MS + DAY_MS
    remove = changing(removed_partners.remove, SITE, trade.owner, later_ms)
    await store.write(remove, trade.partners[0].id, Removal(ends_pending=True))
    await trade.arrive(0, now_ms=later_ms)
    leaver = Tenant(trade.partners[1].account_id, "")
    await store.write(changing(network.leave, SITE, leaver, later_ms), trade.partners[1].id)
    await trade.arrive(1, now_ms=later_ms)
    figures = await counted(trade, later_ms)
    assert figures is not None
    assert figures.decided == figures.rejected == public_figures.LEAST_DECIDED + 1


def test_they_are_in_the_network_and_before_joining(
    service: Service, alice: Member, bob: Member
) -> None:
    program = offer(alice)
    code = join(bob, program)["ref_code"]
    path = f"/v2/partner_network/partner_programs/{program['uuid']}"
    for number in range(20):
        alice.subscribe(f"r{number}@example.org", referrer_code=code)
    assert bob.get(path).json()["partner_program"]["figures_90d"] is None
    service.run_jobs()
    expected = {
        "decided": 20,
        "confirmed": 1.0,
        "rejected": 0.0,
        "reversed": 0.0,
        "unreviewed": 0.0,
        "ended_by_team": 0.0,
        "ended_by_readers": 0.0,
        "median_days_to_decide": 0.0,
    }
    assert bob.get(path).json()["partner_program"]["figures_90d"] == expected
    listed = bob.get("/v2/partner_network/partner_programs").json()["partner_programs"]
    (own,) = [each for each in listed if each["uuid"] == program["uuid"]]
    assert own["figures_90d"] == expected
    seen = text_of(operator(service, "mallory").web.get(f"/network/{program['uuid']}").text)
    assert "Confirmed 100% Rejected 0% Fee taken back 0% Never reviewed 0%" in seen

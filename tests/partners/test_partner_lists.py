"""Every list of referrals shows exactly those of its own partner, program or owner, on both
engines: three programs of two owners, two partners who send subscribers to the same programs, and
some in every state.
"""

import csv
import re
from dataclasses import dataclass, field

import pytest

from honeyguide.kernel.ids import new_id
from honeyguide.kernel.paging import Page
from honeyguide.pages.dashboard.partners.referral_days import CELLS
from honeyguide.partners import forecast, partner_referrals, rules, statements
from honeyguide.signups import paid_referrals
from honeyguide.store.tx import Tx
from tests.support.partner_network import join, offer, publish
from tests.support.readings import in_account
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator, operator

# How many of each state a partner sends to a program: all different, so that any mix-up changes a
# number.
SENT = {
    ("bob", "wax"): {"pending": 1, "rejected": 2, "uncharged": 3},
    ("bob", "hive"): {"pending": 2, "rejected": 3, "uncharged": 1},
    ("carl", "wax"): {"pending": 4, "rejected": 1, "uncharged": 2},
    ("carl", "moss"): {"pending": 3, "rejected": 4, "uncharged": 5},
}
OWNERS = {"wax": "alice", "hive": "alice", "moss": "dora"}


@dataclass
class Network:
    people: dict[str, Operator]
    programs: dict[str, str]
    campaigns: dict[tuple[str, str], str] = field(default_factory=dict)
    referrals: dict[tuple[str, str], dict[str, set[str]]] = field(default_factory=dict)

    def of(self, state: str, *, partner: str = "", program: str = "", owner: str = "") -> set[str]:
        return {
            referral
            for (who, where), states in self.referrals.items()
            if partner in ("", who) and program in ("", where) and owner in ("", OWNERS[where])
            for referral in states[state]
        }

    def all_of(self, **filters: str) -> set[str]:
        return set().union(*(self.of(state, **filters) for state in partner_referrals.STATES))


def send(network: Network, partner: str, program: str, service: Service) -> None:
    """The partner cap is one fee: one referral is confirmed, whatever else is verified stays
    uncharged.
    """
    owner = network.people[OWNERS[program]]
    joined = join(network.people[partner], {"uuid": network.programs[program]})
    network.campaigns[partner, program] = joined["uuid"]
    made: dict[str, set[str]] = {}
    for state, count in {"confirmed": 1, **SENT[partner, program]}.items():
        ids = [
            owner.subscribe(f"{new_id()}@example.org", referrer_code=joined["ref_code"])["uuid"]
            for _ in range(count)
        ]
        verb = {"confirmed": "verify", "uncharged": "verify", "rejected": "reject"}.get(state)
        for id in ids if verb else []:
            assert owner.post(f"{owner.v1}/subscribers/{id}/referral/{verb}").status_code == 200
        made[state] = set(ids)
    rows = service.read(
        lambda tx: tx.all(
            statement(
                "SELECT id, subscriber_id FROM partner_referral WHERE partner_campaign_id = :id"
            ),
            id=joined["uuid"],
        )
    )
    by_subscriber = {subscriber: referral for referral, subscriber in rows}
    network.referrals[partner, program] = {
        state: {by_subscriber[each] for each in ids} for state, ids in made.items()
    }


@pytest.fixture(scope="module")
def network(shared_service: Service) -> Network:
    service = shared_service
    people = {name: operator(service, name) for name in ("alice", "dora", "bob", "carl")}
    held = {
        "cpa": 3,
        "max_payout": 3,
        "total_budget": 900,
        "referral_pending_duration_enabled": True,
    }
    programs = {
        name: offer(people[owner], publish(people[owner], name=name.title()), **held)["uuid"]
        for name, owner in OWNERS.items()
    }
    made = Network(people, programs)
    for partner, program in SENT:
        send(made, partner, program, service)
    return made


PARTNERS = ("bob", "carl")


@pytest.mark.parametrize("partner", PARTNERS)
def test_a_partners_own_lists_hold_their_own_referrals_only(
    service: Service, network: Network, partner: str
) -> None:
    account_id, month = network.people[partner].account_id, rules.month_of(service.now_ms())
    for state in partner_referrals.STATES:

        async def find(tx: Tx, state: str = state) -> list[partner_referrals.ReferredSubscriber]:
            return await partner_referrals.of_month(
                in_account(tx, account_id), {state}, month, most=100
            )

        rows = service.read(find)
        assert {row.id for row in rows} == network.of(state, partner=partner) and {
            row.state for row in rows
        } == {state}
    for (who, program), campaign in network.campaigns.items():

        async def find_of_one(
            tx: Tx, campaign: str = campaign
        ) -> list[partner_referrals.ReferredSubscriber]:
            page = Page(1, 100)
            rows, _ = await partner_referrals.of_partner_campaign(
                in_account(tx, account_id), campaign, page
            )
            return rows

        own = network.all_of(partner=partner, program=program) if who == partner else set()
        assert {row.id for row in service.read(find_of_one)} == own, (who, program)


@pytest.mark.parametrize("partner", PARTNERS)
def test_a_partners_pages_count_their_own_referrals_only(
    service: Service, network: Network, partner: str
) -> None:
    web = network.people[partner].web
    for state in partner_referrals.STATES:
        shown = cells_of(web.get(f"/earnings?show={state}").text)
        assert shown == {CELLS[state][1]: len(network.of(state, partner=partner))}, state
    for (who, program), campaign in network.campaigns.items():
        answer = web.get(f"/earnings/{campaign}")
        assert answer.status_code == (200 if who == partner else 404)
        if who == partner:
            assert cells_of(answer.text) == {
                CELLS[state][1]: len(network.of(state, partner=partner, program=program))
                for state in partner_referrals.STATES
            }


def cells_of(html: str) -> dict[str, int]:
    """How many subscribers of each status the hexagons of a page stand for."""
    found: dict[str, int] = {}
    for label in re.findall(r'class="cells" role="img" aria-label="([^"]*)"', html):
        for part in label.split(", "):
            n, _, word = part.removesuffix(" that does not fit").partition(" ")
            found[word] = found.get(word, 0) + int(n)
    return found


@pytest.mark.parametrize(
    ("side", "person"),
    [("partner", "bob"), ("partner", "carl"), ("owner", "alice"), ("owner", "dora")],
)
def test_a_statement_has_its_own_charges_only(
    service: Service, network: Network, side: str, person: str
) -> None:
    own, month = network.of("confirmed", **{side: person}), rules.month_of(service.now_ms())
    account, web = network.people[person].account_id, network.people[person].web
    lines = service.read(lambda tx: statements.lines(in_account(tx, account), side, month))
    assert {line.partner_referral_id for line in lines} == own
    assert service.read(
        lambda tx: statements.total_cents(in_account(tx, account), side, month)
    ) == 300 * len(own)
    rows = list(csv.DictReader(web.get(f"/statements/{side}/{month}.csv").text.splitlines()))
    assert {row["referral_uuid"] for row in rows} == own
    page = web.get(f"/statements/{side}/{month}").text
    everything = set().union(*(states["confirmed"] for states in network.referrals.values()))
    assert [referral for referral in everything - own if referral in page] == []
    other = "partner" if side == "owner" else "owner"
    assert len(web.get(f"/statements/{other}/{month}.csv").text.splitlines()) == 1, (
        "only the headings"
    )


@pytest.mark.parametrize("program", OWNERS)
def test_a_programs_list_is_its_owners_and_holds_that_program_only(
    service: Service, network: Network, program: str
) -> None:
    uuid = network.programs[program]
    expected = network.all_of(program=program)
    for name, person in network.people.items():
        answer = person.get(f"/v2/partner_programs/{uuid}/referrals", params={"per_page": 200})
        page = person.web.get(f"/program/{uuid}")
        if name == OWNERS[program]:
            shown = answer.json()
            assert {row["uuid"] for row in shown["referrals"]} == expected
            assert len(expected) in shown["meta"].values()
            assert page.status_code == 200
        else:
            assert (answer.status_code, page.status_code) == (404, 404), name
            rows = service.read(
                lambda tx, who=person: paid_referrals.page_of_program(
                    in_account(tx, who.account_id), uuid, Page(1, 200)
                )
            )
            assert rows == ([], 0)


@pytest.mark.parametrize("partner", PARTNERS)
def test_a_partners_earnings_count_their_own_referrals_only(
    service: Service, network: Network, partner: str
) -> None:
    account_id, month, now_ms = (
        network.people[partner].account_id,
        rules.month_of(service.now_ms()),
        service.now_ms(),
    )
    earnings = service.read(
        lambda tx: forecast.earnings(in_account(tx, account_id, now_ms=now_ms), month)
    )
    count = {state: len(network.of(state, partner=partner)) for state in partner_referrals.STATES}
    assert earnings.confirmed_cents == 300 * count["confirmed"]
    assert earnings.pending_cents == 300 * count["pending"]
    assert (earnings.rejected_referrals, earnings.uncharged_referrals) == (
        count["rejected"],
        count["uncharged"],
    )
    body = network.people[partner].get("/v2/partner_profile/earnings").json()["earnings"]
    assert {row["partner_program_uuid"] for row in body["programs"]} == {
        network.programs[program] for who, program in SENT if who == partner
    }

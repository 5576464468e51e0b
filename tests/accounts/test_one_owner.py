"""What is decided about somebody holds for all their newsletters: a pause, a removal, a block."""

from typing import Any

import pytest

from honeyguide.account_life import pausing
from honeyguide.accounts import accounts, keys, members, users
from honeyguide.accounts.permissions import Role
from honeyguide.kernel import actors
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Forbidden
from honeyguide.kernel.ids import new_code
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from tests.partners.test_removed_partners import Deal, emails_to, notified
from tests.support.changes import new_change
from tests.support.partner_network import join, offer
from tests.support.service import Member, Service
from tests.support.team import colleague
from tests.support.web import Operator, operator, text_of

REMOVED, PENDING = ("rejected", "partner_removed"), ("pending", "holding_period")


def second_newsletter(member: Member) -> Member:
    """Another account of the same owner, with a key."""
    service = member.service

    async def open_it(tx: Tx) -> tuple[str, str, str]:
        user_id = await members.first_owner(tx, member.account_id)
        email = EmailAddress((await accounts.get(tx, member.account_id)).email)
        now_ms = service.now_ms()
        made = await accounts.open_another(tx.at(now_ms), user_id, email, name="Second")
        tenant = Tenant(*made)
        change = new_change(tx, service.services.site, tenant, now_ms)
        return *tenant, await keys.create(change, name="test")

    return Member(service, *service.write(open_it))


class TwoNewsletters(Deal):
    """Bob joined Alice's program; he has a second newsletter."""

    def __init__(self, alice: Member, bob: Member, **terms: Any) -> None:
        super().__init__(alice, bob, **terms)
        self.bob, self.second = bob, second_newsletter(bob)

    def join_with_second(self) -> Any:
        return self.second.post(f"{self.network}/join")

    def arrive_by(self, joined: dict[str, Any]) -> tuple[str, str | None]:
        return self.outcome(self.email_by(joined))

    def email_by(self, joined: dict[str, Any]) -> str:
        email = f"{new_code()}@example.org"
        self.alice.subscribe(email, referrer_code=joined["ref_code"])
        return email


@pytest.fixture
def deal(alice: Member, bob: Member) -> TwoNewsletters:
    return TwoNewsletters(alice, bob)


def part(deal: TwoNewsletters, how: str, **fields: Any) -> None:
    if how == "remove":
        answer = deal.alice.delete(deal.partner, params=fields)
    else:
        answer = deal.alice.post(f"{deal.partner}/block", fields)
    assert answer.status_code == 200, answer.text


def take_back(deal: TwoNewsletters, how: str) -> None:
    route = {"remove": "allow", "block": "unblock"}[how]
    assert deal.alice.post(f"{deal.partner}/{route}").status_code == 200


@pytest.mark.parametrize("how", ["remove", "block"])
def test_nobody_joins_again_with_a_second_newsletter(deal: TwoNewsletters, how: str) -> None:
    part(deal, how)
    answer = deal.join_with_second()
    assert (answer.status_code, answer.json()["code"]) == (400, "partner_removed")
    assert deal.rejoin().status_code == 400
    # Another program of Alice's: only a block keeps them out of it.
    other = offer(deal.alice)
    url = f"/v2/partner_network/partner_programs/{other['uuid']}/join"
    assert deal.second.post(url).status_code == (201 if how == "remove" else 400)
    take_back(deal, how)
    assert deal.join_with_second().status_code == 201


def sell_first(deal: TwoNewsletters) -> None:
    """Somebody else owns the first newsletter now, and Bob has left it."""
    service = deal.bob.service
    bob_id = service.read(lambda tx: members.first_owner(tx, deal.bob.account_id))

    async def sell(tx: Tx) -> None:
        now_ms = service.now_ms()
        buyer_id = await users.create(tx.at(now_ms), EmailAddress(f"{new_code()}@example.org"))
        await members.add(tx.at(now_ms), deal.bob.account_id, buyer_id, Role.OWNER)
        tenant = Tenant(deal.bob.account_id, deal.bob.campaign_id)
        actor = actors.member(bob_id)
        await members.leave(Change(tx, service.services.site, tenant, actor, now_ms))

    service.write(sell)


@pytest.mark.parametrize("how", ["remove", "block"])
def test_handing_the_first_newsletter_over_does_not_help(deal: TwoNewsletters, how: str) -> None:
    part(deal, how)
    sell_first(deal)
    assert deal.join_with_second().json()["code"] == "partner_removed"
    take_back(deal, how)
    assert deal.join_with_second().status_code == 201


def test_whoever_sold_a_newsletter_before_it_was_blocked_may_join(
    service: Service, deal: TwoNewsletters
) -> None:
    sell_first(deal)
    service.set_clock(60)
    part(deal, "block")
    assert deal.join_with_second().status_code == 201


@pytest.mark.parametrize("how", ["remove", "block"])
def test_the_second_newsletter_that_has_joined_is_out_as_well(
    service: Service, deal: TwoNewsletters, how: str
) -> None:
    joined = join(deal.second, deal.program)
    before = [deal.email_by(each) for each in (deal.joined, joined)]
    part(deal, how, reason="Robots.")
    for each in (deal.joined, joined):
        assert deal.arrive_by(each) == REMOVED
    assert [deal.outcome(each) for each in before] == [PENDING, PENDING]
    service.set_clock(61)
    for who in (deal.bob, deal.second):
        assert len(emails_to(who, "partner_removed")) == 1, "each is told"
    take_back(deal, how)
    for each in (deal.joined, joined):
        assert deal.arrive_by(each) == PENDING
    assert len(notified(deal.second, "partner_allowed")) == 1


@pytest.mark.parametrize("how", ["remove", "block"])
def test_what_is_pending_ends_for_both(deal: TwoNewsletters, how: str) -> None:
    joined = join(deal.second, deal.program)
    before = [deal.email_by(each) for each in (deal.joined, joined)]
    end = {"end_pending": "true"} if how == "remove" else {"end_pending": True}
    part(deal, how, **end)
    assert [deal.outcome(each) for each in before] == [REMOVED, REMOVED]


def test_a_colleague_who_is_no_owner_is_another_person(deal: TwoNewsletters, bob: Member) -> None:
    """An editor of the removed newsletter may join with one of their own."""
    service, carol = deal.alice.service, deal.alice.service.member("carol")

    async def hire(tx: Tx) -> None:
        user_id = await members.first_owner(tx, carol.account_id)
        await members.add(tx.at(service.now_ms()), bob.account_id, user_id, Role.EDITOR)

    service.write(hire)
    part(deal, "block")
    assert carol.post(f"{deal.network}/join").status_code == 201


def test_an_owners_own_second_newsletter_is_removed_alone(alice: Member, bob: Member) -> None:
    deal = TwoNewsletters(alice, alice)
    second = join(deal.second, deal.program)
    partner = f"{deal.api}/partners/{second['uuid']}"
    assert alice.post(f"{partner}/block").status_code == 200
    assert deal.status()[0] == "active"
    assert deal.arrive_by(second) == REMOVED


def test_whoever_owns_a_paused_account_opens_no_other(service: Service) -> None:
    operator(service, "admin")
    bob = operator(service, "bob")
    second = second_newsletter(bob)
    bob.make(pausing.pause)
    refused = bob.web.post("/account/new", page="/account", name="Bob again")
    assert refused.status_code == 403 and "paused by an administrator" in text_of(refused.text)
    # Nor from the account next door.
    go = bob.web.post("/account/switch", page="/account", account_id=second.account_id)
    assert go.status_code == 303
    refused = bob.web.post("/account/new", name="Bob again")
    assert refused.status_code == 403 and "paused by an administrator" in text_of(refused.text)
    bob.make(pausing.resume)
    assert bob.web.post("/account/new", name="Bob again").status_code == 303


def test_whoever_leaves_their_paused_account_opens_no_other(service: Service) -> None:
    """Until it is resumed."""
    operator(service, "admin")
    bob, dora = operator(service, "bob"), operator(service, "dora")
    carol = colleague(service, bob, Role.OWNER)
    join_account(dora, carol.user_id)
    bob.make(pausing.pause)
    assert carol.web.post("/team/leave", page="/team").status_code == 303
    refused = carol.web.post("/account/new", name="Carol again")
    assert refused.status_code == 403 and "paused by an administrator" in text_of(refused.text)
    bob.make(pausing.resume)
    assert carol.web.post("/account/new", name="Carol again").status_code == 303
    # Whoever left before a pause has nothing to do with it.
    bob.make(pausing.pause)
    assert carol.web.post("/account/new", name="Carol more").status_code == 303


@pytest.mark.parametrize("path", ["role", "remove", "owner"])
def test_nobody_stops_owning_a_paused_account_by_what_another_owner_does(
    service: Service, path: str
) -> None:
    operator(service, "admin")
    bob, dora = operator(service, "bob"), operator(service, "dora")
    carol = colleague(service, bob, Role.OWNER)
    join_account(dora, carol.user_id)
    bob.make(pausing.pause)
    answer = bob.web.post(f"/team/{carol.user_id}/{path}", page="/account", role="editor")
    assert answer.status_code == 403
    # As if it had been posted just before the pause and committed after it.
    if path == "remove":
        bob.make(members.remove, carol.user_id)
    else:
        bob.make(members.change_role, carol.user_id, Role.EDITOR)
    refused = carol.web.post("/account/new", name="Carol again")
    assert refused.status_code == 403 and "paused by an administrator" in text_of(refused.text)


def join_account(owner: Operator, user_id: str) -> None:
    """As an owner, because only they open other accounts here."""

    async def join_it(tx: Tx) -> None:
        now_ms = owner.service.now_ms()
        await members.add(tx.at(now_ms), owner.account_id, user_id, Role.OWNER)

    owner.service.write(join_it)


def test_another_spelling_of_the_mailbox_does_not_help(service: Service) -> None:
    operator(service, "admin")
    code = new_code()

    async def create(tx: Tx, email: str) -> accounts.Created:
        return await accounts.create(tx.at(service.now_ms()), EmailAddress(email), name="B")

    made = service.write(lambda tx: create(tx, f"{code}@gmail.com"))
    Member(service, made.account_id, made.campaign_id, "").make(pausing.pause)
    with pytest.raises(Forbidden, match="An account of yours is paused"):
        service.write(lambda tx: create(tx, f"{code[0]}.{code[1:]}+again@googlemail.com"))
    service.write(lambda tx: create(tx, f"{code}2@gmail.com"))


def test_a_member_of_a_paused_account_who_does_not_own_it_opens_one(service: Service) -> None:
    operator(service, "admin")
    bob, carol = operator(service, "bob"), operator(service, "carol")

    async def hire(tx: Tx) -> None:
        now_ms = service.now_ms()
        await members.add(tx.at(now_ms), bob.account_id, carol.user_id, Role.EDITOR)

    service.write(hire)
    bob.make(pausing.pause)
    made = carol.web.post("/account/new", page="/account", name="Carol two")
    assert made.status_code == 303

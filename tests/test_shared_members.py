"""A program is a partner's own if both accounts have a member in common, and nobody is paid for
sending themselves or their colleagues.
"""

from __future__ import annotations

from honeyguide.accounts import members, users
from honeyguide.accounts.permissions import Role
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.store.tx import Tx
from tests.support.service import Member, Service
from tests.support.stores import statement
from tests.support.web import operator, text_of
from tests.test_partner_signups import join, offer, referrals
from tests.test_team_pages import invited


def add_member(service: Service, account_id: str, email: str) -> None:
    async def work(tx: Tx) -> None:
        address = EmailAddress(email)
        known = await users.find_by_email(tx, address)
        user_id = known.id if known else await users.create(tx, address, now_ms=service.now_ms())
        await members.add(tx, account_id, user_id, Role.ANALYST, now_ms=service.now_ms())

    service.write(work)


def test_a_program_of_a_colleague_pays_nothing(
    service: Service, alice: Member, bob: Member
) -> None:
    program = offer(alice)
    code = join(bob, program)["ref_code"]
    alice.subscribe("before@example.org", referrer_code=code)
    email = f"both-{service.now_ms()}@example.net"
    add_member(service, alice.account_id, email)
    add_member(service, bob.account_id, email)
    alice.subscribe("after@example.org", referrer_code=code)
    rows = referrals(alice, program)
    assert rows["before@example.org"]["charged"] is not None
    after = rows["after@example.org"]
    assert (after["status"], after["charged"], after["uncharged_reason"]) == (
        "verified",
        None,
        "own_program",
    )


def remove_member(service: Service, account_id: str, email: str) -> None:
    async def work(tx: Tx) -> None:
        known = await users.find_by_email(tx, EmailAddress(email))
        assert known is not None
        sql = "DELETE FROM member WHERE account_id = :account_id AND user_id = :user_id"
        await tx.run(statement(sql), account_id=account_id, user_id=known.id)

    service.write(work)


def test_whose_own_a_referral_is_was_decided_when_it_came(
    service: Service, alice: Member, bob: Member
) -> None:
    """A colleague who joins later, or leaves again, changes nothing for those who came before."""
    program = offer(alice, referral_pending_duration_enabled=True, referral_pending_duration=5)
    code = join(bob, program)["ref_code"]
    alice.subscribe("before@example.org", referrer_code=code)
    email = f"later-{service.now_ms()}@example.net"
    add_member(service, alice.account_id, email)
    add_member(service, bob.account_id, email)
    alice.subscribe("meanwhile@example.org", referrer_code=code)
    service.set_clock(3 * 86400)
    remove_member(service, alice.account_id, email)
    alice.subscribe("after@example.org", referrer_code=code)
    add_member(service, alice.account_id, email)
    service.set_clock(9 * 86400)
    service.run_jobs()
    rows = referrals(alice, program)
    found = {key: (each["charged"], each["uncharged_reason"]) for key, each in rows.items()}
    assert found == {
        "before@example.org": (rows["before@example.org"]["fee"], None),
        "meanwhile@example.org": (None, "own_program"),
        "after@example.org": (rows["after@example.org"]["fee"], None),
    }


def test_both_sides_read_what_it_means_before_they_agree(service: Service) -> None:
    alice, bob = operator(service, "alice"), operator(service, "bob")
    sentence = "new referrals between the two are not paid"
    assert sentence in text_of(alice.web.get("/team").text)
    link = invited(alice, bob.email)
    assert sentence in text_of(bob.web.get(link).text)


def test_the_address_of_any_member_is_the_partners_own(
    service: Service, alice: Member, bob: Member
) -> None:
    program = offer(alice)
    code = join(bob, program)["ref_code"]
    add_member(service, bob.account_id, "cleo.b@gmail.com")
    alice.subscribe("cleo.b@gmail.com", referrer_code=code)
    alice.subscribe("cleob+x@googlemail.com", referrer_code=code)
    alice.subscribe("somebody@example.org", referrer_code=code)
    rows = referrals(alice, program)
    assert rows["cleo.b@gmail.com"]["status"] == "rejected"
    assert rows["cleob+x@googlemail.com"]["status"] == "rejected"
    assert rows["somebody@example.org"]["charged"] is not None

"""A program is a partner's own if both accounts have a member in common, and nobody is paid for
sending themselves or their colleagues.
"""

from __future__ import annotations

from honeyguide.accounts import members, users
from honeyguide.accounts.permissions import Role
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.store.tx import Tx
from tests.support.service import Member, Service
from tests.test_partner_signups import join, offer, referrals


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


def test_a_colleague_who_joined_before_the_charge_costs_it(
    service: Service, alice: Member, bob: Member
) -> None:
    """The referral came before, and is charged after its holding period."""
    program = offer(alice, referral_pending_duration_enabled=True, referral_pending_duration=5)
    code = join(bob, program)["ref_code"]
    alice.subscribe("held@example.org", referrer_code=code)
    email = f"later-{service.now_ms()}@example.net"
    add_member(service, alice.account_id, email)
    add_member(service, bob.account_id, email)
    service.set_clock(6 * 86400)
    service.run_jobs()
    row = referrals(alice, program)["held@example.org"]
    assert (row["status"], row["charged"], row["uncharged_reason"]) == (
        "verified",
        None,
        "own_program",
    )


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

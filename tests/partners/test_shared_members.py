"""A program is a partner's own if both accounts have a member in common, and nobody is paid for
sending themselves or their colleagues.
"""

from honeyguide.accounts import members, users
from honeyguide.accounts.permissions import Role
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.store.tx import Tx
from tests.pages.dashboard.test_team_pages import invited
from tests.partners.test_partner_signups import join, offer, referrals
from tests.partners.test_removed_partners import emails_to, notified
from tests.support.partner_network import publish
from tests.support.service import Member, Service
from tests.support.stores import statement
from tests.support.team import Colleague, colleague
from tests.support.web import Operator, operator, text_of


def add_member(service: Service, account_id: str, email: str) -> None:
    async def work(tx: Tx) -> None:
        address = EmailAddress(email)
        known = await users.find_by_email(tx, address)
        user_id = known.id if known else await users.create(tx.at(service.now_ms()), address)
        await members.add(tx.at(service.now_ms()), account_id, user_id, Role.ANALYST)

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
    link = invited(alice, bob.email)
    for page in (alice.web.get("/team").text, bob.web.get(link).text):
        assert "new referrals between the two are not paid" in text_of(page)
        assert "We tell the team that the person was on before." in text_of(page)


def accept(inviter: Operator, person: Operator | Colleague) -> None:
    """With a second click on the same button."""
    link = invited(inviter, person.email)
    assert person.web.post(link).status_code == 303
    assert person.web.post(link, page="/settings").status_code in (403, 404)


def told(who: Member) -> list[tuple[str, str]]:
    """On the dashboard and by email, each with what the other says."""
    sentences, emails = notified(who, "shared_member"), emails_to(who, "shared_member")
    return list(zip(sentences, emails, strict=True))


def test_an_owner_whose_member_joins_a_partner_is_told(service: Service) -> None:
    alice, bob, carol = (operator(service, name) for name in ("alice", "bob", "carol"))
    program = offer(alice)
    joined = join(bob, program)
    join(carol, program)
    cleo = colleague(service, alice, Role.EDITOR)
    accept(bob, cleo)
    ((sentence, text),) = told(alice)
    assert sentence == "Editor joined Bob: new referrals are not paid"
    assert text.startswith("Editor, who is on your team, joined the team of Bob.")
    assert "earn Bob no fee for The Morning Wax." in text
    assert "Fees for readers who came before stay as they are." in text
    assert f"/program/{program['uuid']}" in text
    assert cleo.email not in sentence + text, "the name is enough"
    assert told(bob) == told(carol) == []
    alice.subscribe("after@example.org", referrer_code=joined["ref_code"])
    assert referrals(alice, program)["after@example.org"]["uncharged_reason"] == "own_program"


def test_a_partner_whose_member_joins_the_owner_is_told(service: Service) -> None:
    alice, bob, carol = (operator(service, name) for name in ("alice", "bob", "carol"))
    program = offer(alice)
    joined = join(bob, program)
    join(carol, program)
    accept(alice, bob)
    ((sentence, text),) = told(bob)
    # He has given no name.
    assert sentence == f"{bob.email} joined Alice: new referrals are not paid"
    assert text.startswith(f"{bob.email}, who is on your team, joined the team of Alice.")
    assert "earn you no fee for The Morning Wax." in text
    assert f"/earnings/{joined['uuid']}" in text
    assert told(alice) == told(carol) == []


def test_both_accounts_of_a_person_are_told_once_each_and_again_of_another_person(
    service: Service,
) -> None:
    """Of all programs between the two at once, in both directions."""
    alice, bob, carol = (operator(service, name) for name in ("alice", "bob", "carol"))
    for name in ("Daily Wax", "Weekly Wax"):
        join(bob, offer(alice, publish(alice, name=name)))
    join(alice, offer(bob, publish(bob, name="Bees")))
    join(bob, offer(carol, publish(carol, name="Owls")))
    dana, emil = (colleague(service, alice, role) for role in (Role.EDITOR, Role.ANALYST))
    accept(carol, dana)
    assert told(alice) == told(bob) == told(carol) == [], "Alice and Carol have no program"
    accept(bob, dana)
    ((sentence, text),) = told(alice)
    assert sentence == "Editor joined Bob: new referrals are not paid"
    assert "earn Bob no fee for Daily Wax and Weekly Wax." in text
    assert "earn you no fee for Bees." in text and "Owls" not in text
    ((sentence, text),) = told(carol)
    assert sentence == "Editor joined Bob: new referrals are not paid"
    assert "Wax" not in text and "Alice" not in text
    accept(bob, emil)
    assert [sentence.partition(" joined")[0] for sentence, _ in told(alice)] == [
        "Editor",
        "Analyst",
    ]
    assert len(told(carol)) == 1 and told(bob) == []


def test_nobody_is_told_where_no_fees_are_earned_any_more(service: Service) -> None:
    """A partner who left, was removed or blocked, and a program that was deleted."""
    alice = operator(service)
    cleo = colleague(service, alice, Role.EDITOR)
    program, deleted = offer(alice), offer(alice, publish(alice, name="Bees"))
    partners = [operator(service, name) for name in ("bob", "carol", "dave", "erin")]
    left, removed, blocked = (join(each, program) for each in partners[:3])
    join(partners[3], deleted)
    api = f"/v2/partner_programs/{program['uuid']}/partners"
    for answer in (
        partners[0].delete(f"/v2/partner_profile/partner_campaigns/{left['uuid']}"),
        alice.delete(f"{api}/{removed['uuid']}"),
        alice.post(f"{api}/{blocked['uuid']}/block"),
        alice.delete(f"/v2/partner_programs/{deleted['uuid']}"),
    ):
        assert answer.status_code == 200, answer.text
    for partner in partners:
        accept(partner, cleo)
    assert told(alice) == []


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

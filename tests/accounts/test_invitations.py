"""Invitations end with the right to send them, nobody joins an account that is paused or closing,
and they are no way to send advertisements.
"""

import re
from collections.abc import Callable

import pytest

from honeyguide.account_life import closing, pausing
from honeyguide.accounts import invitations, members
from honeyguide.accounts.invitations import NewTicket
from honeyguide.accounts.permissions import Role
from honeyguide.kernel import checks
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Fault, Forbidden, Missing
from honeyguide.kernel.ids import new_code
from honeyguide.store.tx import Tx
from tests.accounts.test_member_races import World, world
from tests.support.partner_network import publish
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.team import Colleague, colleague
from tests.support.web import PASSWORD, Operator, WebClient, operator, text_of

__all__ = ["world"]


def send(web: WebClient, path: str = "/team/invitations", **more: str) -> tuple[int, str]:
    """The status, and the link or the page."""
    fields = {"email": f"{new_code()}@example.org", "role": "owner", **more}
    answer = web.post(path, page="/settings", **fields)
    found = re.search(r"/welcome/[\w-]+", answer.text)
    return answer.status_code, found[0] if found else text_of(answer.text)


def accept(service: Service, link: str) -> int:
    web = WebClient(service)
    page = web.get(link)
    if page.status_code != 200:
        return page.status_code
    return web.post(link, your_name="Nora", password=PASSWORD).status_code


def role_changed(alice: Operator, bob: Colleague) -> None:
    assert alice.web.post(f"/team/{bob.user_id}/role", page="/team", role="editor").is_redirect


def removed(alice: Operator, bob: Colleague) -> None:
    assert alice.web.post(f"/team/{bob.user_id}/remove", page="/team").is_redirect


def left(_alice: Operator, bob: Colleague) -> None:
    assert bob.web.post("/team/leave", page="/team").is_redirect


def handed_over(alice: Operator, bob: Colleague) -> None:
    assert bob.web.post(f"/team/{alice.user_id}/owner", page="/team").is_redirect


@pytest.mark.parametrize("end", [role_changed, removed, left, handed_over])
def test_an_invitation_ends_with_the_right_of_who_sent_it(
    service: Service, alice: Operator, end: Callable[[Operator, Colleague], None]
) -> None:
    bob = colleague(service, alice, Role.OWNER)
    _, by_alice = send(alice.web)
    _, by_bob = send(bob.web)
    end(alice, bob)
    assert accept(service, by_bob) == 404
    # It does not come back with the right.
    if end is role_changed:
        assert alice.web.post(f"/team/{bob.user_id}/role", page="/team", role="owner").is_redirect
        assert accept(service, by_bob) == 404
    assert accept(service, by_alice) == 303
    assert len(alice.service.read(lambda tx: members.of_account(tx.at(0), alice.account_id))) == (
        2 if end in (removed, left) else 3
    )


def test_an_invitation_to_an_account_of_ones_own_ends_too() -> None:
    """Where the administrators' account loses the owner who sent it."""
    with Service("sqlite", work=False) as service:
        admin = operator(service)
        bob = colleague(service, admin, Role.OWNER)
        _, link = send(bob.web, "/account/invitations")
        assert WebClient(service).get(link).status_code == 200
        removed(admin, bob)
        assert WebClient(service).get(link).status_code == 404


def test_an_invitation_that_nobody_is_known_to_have_sent_ends_with_any_owner(
    service: Service,
    alice: Operator,
) -> None:
    """As the version before left it."""
    bob = colleague(service, alice, Role.OWNER)
    _, link = send(alice.web)
    forget = statement("UPDATE ticket SET inviter_id = NULL WHERE account_id = :account_id")
    service.write(lambda tx: tx.run(forget, account_id=alice.account_id))
    removed(alice, bob)
    assert accept(service, link) == 404


@pytest.mark.parametrize("noted_by", ["this version", "the version before"])
@pytest.mark.parametrize(
    "lost",
    [
        "DELETE FROM member WHERE account_id = :account_id AND user_id = :user_id",
        "UPDATE member SET role = 'editor' WHERE account_id = :account_id AND user_id = :user_id",
    ],
    ids=["removed", "demoted"],
)
def test_an_invitation_ends_where_a_process_of_the_version_before_ends_the_right(
    service: Service, alice: Operator, lost: str, noted_by: str
) -> None:
    """It neither deletes invitations nor notes in them who sent them."""
    bob = colleague(service, alice, Role.OWNER)
    _, by_alice = send(alice.web)
    _, by_bob = send(bob.web)
    if noted_by == "the version before":
        forget = statement("UPDATE ticket SET inviter_id = NULL WHERE account_id = :account_id")
        service.write(lambda tx: tx.run(forget, account_id=alice.account_id))
    change = statement(lost)
    service.write(lambda tx: tx.run(change, account_id=alice.account_id, user_id=bob.user_id))
    assert WebClient(service).get(by_bob).status_code == 404
    with pytest.raises(Missing, match="already been used or has expired"):
        service.write(lambda tx: _join(tx, service, by_bob.rpartition("/")[2]))
    assert accept(service, by_alice) == 303


def test_an_invitation_to_an_account_of_ones_own_ends_there_too() -> None:
    with Service("sqlite", work=False) as service:
        admin = operator(service)
        bob = colleague(service, admin, Role.OWNER)
        _, by_admin = send(admin.web, "/account/invitations")
        _, by_bob = send(bob.web, "/account/invitations")
        demote = statement("UPDATE member SET role = 'editor' WHERE user_id = :user_id")
        service.write(lambda tx: tx.run(demote, user_id=bob.user_id))
        token, now_ms = by_bob.rpartition("/")[2], service.now_ms()

        async def open_account(tx: Tx) -> None:
            await invitations.accept(tx.at(now_ms), token, name="N", password_hash="x")

        with pytest.raises(Missing, match="already been used or has expired"):
            service.write(open_account)
        assert WebClient(service).get(by_admin).status_code == 200


async def _join(tx: Tx, service: Service, token: str) -> None:
    site, now_ms = service.services.site, service.now_ms()
    await invitations.join(tx.at(now_ms), site, token, name="N", password_hash="x")


def test_an_invitation_sent_while_its_sender_is_removed_is_refused(world: World) -> None:
    remove = world.by(world.ana, members.remove, world.bob)
    to = EmailAddress("d@example.org")
    invite = world.by(world.bob, invitations.invite_member, to, Role.OWNER)
    _, second = world.race(remove, invite)
    assert isinstance(second, Forbidden)


@pytest.mark.parametrize("stop", [pausing.pause, closing.ask])
def test_nobody_joins_an_account_that_is_paused_or_closing(
    service: Service, stop: Callable[..., object]
) -> None:
    operator(service, "admin")  # the first account of all cannot be stopped
    alice = operator(service)
    _, link = send(alice.web)
    alice.make(stop)
    assert accept(service, link) == 404
    status, page = send(alice.web)
    assert status == 403 and "account is" in page
    # Nor by an invitation that was sent at the same moment.
    token = service.write(lambda tx: _planted(tx, service, alice.account_id))
    with pytest.raises(Fault, match="nobody can join it"):
        service.write(lambda tx: _join(tx, service, token))
    alice.make(pausing.resume if stop is pausing.pause else closing.keep)
    assert accept(service, link) == 404, "it has ended"
    assert accept(service, send(alice.web)[1]) == 303


async def _planted(tx: Tx, service: Service, account_id: str) -> str:
    email = f"{new_code()}@example.org"
    new = NewTicket("invitation", account_id=account_id, email=email, role=Role.EDITOR)
    _, token = await invitations._issue(tx.at(service.now_ms()), new)
    return token


def sent_to_strangers(service: Service, account_id: str) -> int:
    sql = statement(
        "SELECT COUNT(*) FROM letter WHERE account_id = :id AND kind LIKE '%invitation'"
    )
    return int(service.read(lambda tx: tx.all(sql, id=account_id))[0][0])


def test_an_account_sends_few_invitations_a_day_and_has_few_open(service: Service) -> None:
    operator(service, "admin")
    alice, bob = operator(service), operator(service, "bob")
    most = invitations.INVITATIONS_BY_DAY.most
    for n in range(most):
        assert send(alice.web)[0] == 200, n
    status, page = send(alice.web)
    assert status == 429 and "as many invitations as it may in a day" in page
    assert sent_to_strangers(service, alice.account_id) == most == 20
    assert send(bob.web)[0] == 200, "another account is another matter"
    # Withdrawing what is open does not make room for more of today.
    sql = statement("SELECT id FROM ticket WHERE account_id = :id LIMIT 1")
    ((ticket,),) = service.read(lambda tx: tx.all(sql, id=alice.account_id))
    gone = alice.web.post("/team/invitations/withdraw", page="/settings", id=ticket)
    assert gone.status_code == 303 and send(alice.web)[0] == 429
    for day in (1, 2):
        service.set_clock(day * (DAY_MS / 1000 + 60))
        sent = [invite(alice) for _ in range(most + 1)]
        assert sent == ([200] * most + [429] if day == 1 else [200] + [400] * most), day


def invite(alice: Operator) -> int:
    """Without the session, which ends before the next day."""
    try:
        to = EmailAddress(f"{new_code()}@example.org")
        alice.make(invitations.invite_member, to, Role.EDITOR)
    except Fault as refused:
        return refused.status
    return 200


LINKS = (
    *("Win! https://pills.example", "WWW.pills.example", "Win at pills.example/now", "a://b"),
    *("Win at pills。example/now", "ｗｗｗ．pills．example", "Win at pills｡example／now"),
)


@pytest.mark.parametrize("name", LINKS)
def test_names_in_emails_have_no_links(service: Service, alice: Operator, name: str) -> None:
    for path, field in (("/account/profile", "name"), ("/account/name", "your_name")):
        refused = alice.web.post(path, page="/settings", **{field: name})
        assert refused.status_code == 400 and "must not contain a link" in refused.text, path
    assert alice.web.post("/account/new", page="/settings", name=name).status_code == 400
    of_campaign = alice.put(alice.v1, {"name": name})
    publication = publish(alice)
    of_publication = alice.put(f"/v2/publications/{publication['uuid']}", {"name": name})
    for answer in (of_campaign, of_publication):
        assert answer.json()["error"] == "name must not contain a link.", answer.text
    _, link = send(alice.web)
    joined = WebClient(service).post(link, your_name=name, password=PASSWORD)
    assert joined.status_code == 400


@pytest.mark.parametrize("name", ["Ann\n\nYour account is locked.", "Ann\u2028Lee", "Ann\u202eLee"])
def test_names_in_emails_are_one_line(alice: Operator, name: str) -> None:
    """Or somebody would write a paragraph of their own into an invitation."""
    for path, field in (("/account/profile", "name"), ("/account/name", "your_name")):
        refused = alice.web.post(path, page="/settings", **{field: name})
        assert refused.status_code == 400 and "must not contain line breaks" in refused.text, path
    publication = f"/v2/publications/{publish(alice)['uuid']}"
    for answer in (alice.put(alice.v1, {"name": name}), alice.put(publication, {"name": name})):
        assert answer.status_code == 400 and "line breaks" in answer.json()["error"], answer.text


@pytest.mark.parametrize("name", ["pills.example", "pills。example", "ｐills．example"])
def test_a_name_that_mail_programs_may_link_is_known(name: str) -> None:
    assert checks.may_be_linked(name)


@pytest.mark.parametrize("name", [*LINKS, "pills.example"])
def test_a_name_that_mail_programs_may_link_is_in_no_invitation(
    quiet_service: Service, name: str
) -> None:
    """Also one that was chosen before such names were refused."""
    alice = operator(quiet_service)
    rename = statement("UPDATE account SET name = :name WHERE id = :id")
    quiet_service.write(lambda tx: tx.run(rename, name=name, id=alice.account_id))
    assert send(alice.web)[0] == 200
    letters = statement("SELECT subject, body_text, body_html FROM letter WHERE account_id = :id")
    for row in quiet_service.read(lambda tx: tx.all(letters, id=alice.account_id)):
        for part in row:
            assert "pills" not in part and alice.email in part
            assert name not in part


@pytest.mark.parametrize("name", ["ASP.NET Weekly", "Booking.com", "A/B tests", "Wax & Co. / NY"])
def test_names_with_a_dot_or_a_slash_stay_possible(alice: Operator, name: str) -> None:
    assert alice.web.post("/account/profile", page="/settings", name=name).status_code == 303


def test_the_administrators_page_says_when_it_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    few = invitations.ADMIN_INVITATIONS_BY_DAY._replace(most=1)
    monkeypatch.setattr(invitations, "ADMIN_INVITATIONS_BY_DAY", few)
    with Service("sqlite", work=False) as service:
        admin = operator(service)
        assert send(admin.web, "/account/invitations")[0] == 200
        status, page = send(admin.web, "/account/invitations")
        assert status == 429 and "as many invitations as it may in a day" in page

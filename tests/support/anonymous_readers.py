"""What anybody can do with anybody's address on the pages and embeds of a newsletter, and the
addresses to try it with.
"""

import re

from honeyguide.mail import stops
from honeyguide.subscribers import hub_choices
from tests.support import partner_network
from tests.support.anonymous import Answers, any_address, form
from tests.support.embeds import Visitor, embedding
from tests.support.newsletter import Newsletter, link_of
from tests.support.readings import change_of
from tests.support.service import Member
from tests.support.stores import statement

STATES = (
    *("unknown", "known", "unsubscribed", "erased", "never confirmed"),
    *("known elsewhere", "wants no email"),
)


def address_of(wax: Newsletter, state: str, elsewhere: Member | None = None) -> str:
    email = any_address()
    if state == "never confirmed":
        wax.configure(needs_confirmation=True)
        wax.join(email)
        wax.configure(needs_confirmation=False)
    elif state == "known elsewhere":
        assert elsewhere is not None
        elsewhere.subscribe(email, name="Ana")
    elif state != "unknown":
        made = wax.member.subscribe(email, name="Ana")
        _shows_name(wax, made["uuid"])
        path = f"{wax.member.v1}/subscribers/{made['uuid']}"
        if state == "erased":
            wax.member.delete(path)
        elif state != "known":
            wax.member.put(path, {"status": "unsubscribed"})
        if state == "wants no email":
            wax.service.write(
                lambda tx: stops.stop(change_of(tx, wax.tenant), made["uuid"], is_final=True)
            )
    return email


def _shows_name(wax: Newsletter, subscriber_id: str) -> None:
    wax.service.write(
        lambda tx: hub_choices.save(
            change_of(tx, wax.tenant), subscriber_id, shows_name=True, on_leaderboard=True
        )
    )


def _sign_up(wax: Newsletter, answers: Answers, page: str, email: str, query: str = "") -> str:
    """Where the signup leads."""
    answer = answers.note(wax.fill_in(f"{page}{query}", email))
    target = str(answer.headers["location"])
    answers.note(wax.visitor.get(target))
    return target


def _send_again(wax: Newsletter, answers: Answers, target: str, *waits_s: float) -> None:
    token = re.search(r'name="token" value="([^"]+)"', wax.visitor.get(target).text)
    assert token
    for wait_s in waits_s:
        wax.later(wait_s)
        answers.note(wax.visitor.post(target, data={"token": token[1]}))


@form("POST /join/{slug}", "GET /join/{slug}/thanks")
def hosted(wax: Newsletter, answers: Answers, email: str) -> None:
    for _ in range(2):
        _sign_up(wax, answers, wax.page, email)


@form("POST /join/{slug}", "GET /join/{slug}/thanks", "GET /hub/start/{token}", "GET /join/{slug}")
def shared_on(wax: Newsletter, answers: Answers, email: str) -> None:
    """Every page on the way from the form to a friend who follows the new link."""
    for _ in range(2):
        thanks = wax.visitor.get(_sign_up(wax, answers, wax.page, email)).text
        start = re.search(r'href="(/hub/start/[^"]+)"', thanks)
        assert start
        answers.note(wax.visitor.get(start[1]))
        link = link_of(thanks)
        answers.note(wax.visitor.get(link))
        answers.note(wax.visitor.get(f"{wax.page}?ref={link.rpartition('/')[2]}"))


@form("POST /join/{slug}", "GET /join/{slug}/thanks", "POST /join/{slug}/thanks")
def with_confirmation(wax: Newsletter, answers: Answers, email: str) -> None:
    wax.configure(needs_confirmation=True)
    for _ in range(2):
        target = _sign_up(wax, answers, wax.page, email)
    _send_again(wax, answers, target, 0, 90)


@form("POST /join/{slug}", "GET /join/{slug}/thanks", "POST /join/{slug}/thanks")
def under_two_referrers(wax: Newsletter, answers: Answers, email: str) -> None:
    """Sent again as often as it goes, then signed up under another referrer."""
    wax.configure(needs_confirmation=True)
    for _ in range(2):
        referrer = wax.member.subscribe(any_address())
        target = _sign_up(wax, answers, wax.page, email, f"?ref={referrer['ref_code']}")
        _send_again(wax, answers, target, 90, 90, 90, 90)


@form("POST /join/{slug}")
def until_refused(wax: Newsletter, answers: Answers, email: str) -> None:
    for _ in range(7):
        answers.note(wax.join(email))


@form("POST /join/{slug}", "POST /hub")
def mistaken(wax: Newsletter, answers: Answers, email: str) -> None:
    """Forms that are refused, with the address in them."""
    for path in (wax.page, f"/hub?of={wax.campaign.slug}"):
        fields = {**wax.fields(path), "email": email}
        for wrong in ({"token": "none"}, {"website": "filled in"}, {"email": f"{email} "}):
            wax.later()
            answers.note(wax.visitor.post(path, data=fields | wrong))
        answers.note(wax.visitor.post(path, content="?"))


@form("GET /join/{slug}", "GET /m/{code}", "GET /hub", "GET /password", "GET /login", "GET /signup")
def filled_in_before(wax: Newsletter, answers: Answers, email: str) -> None:
    """A link may carry an address, as those in emails do."""
    paths = (wax.page, f"/m/{magic_code(wax)}", "/hub", "/password", "/login", "/signup")
    for path in paths:
        answers.note(wax.visitor.get(path, params={"email": email}))


@form("POST /hub")
def asked_for_a_link(wax: Newsletter, answers: Answers, email: str) -> None:
    for path in (f"/hub?of={wax.campaign.slug}", "/hub"):
        for _ in range(4):  # one more than the limit of an hour allows
            wax.later()
            answers.note(wax.visitor.post(path, data={**wax.fields(path), "email": email}))


@form("POST /embed/{public_id}/find")
def found_again(wax: Newsletter, answers: Answers, email: str) -> None:
    visitor = Visitor(wax.member, embedding(wax.member))
    for _ in range(7):  # one more than the limit of an hour allows
        answers.note(visitor.post("find", email=email))


@form("POST /embed/{public_id}/signup")
def embedded(wax: Newsletter, answers: Answers, email: str) -> None:
    visitor = Visitor(wax.member, embedding(wax.member))
    token = visitor.get("token").json()["token"]
    for needs_confirmation in (False, True):
        wax.configure(needs_confirmation=needs_confirmation)
        for _ in range(2):
            answers.note(visitor.sign_up(email, token=token))
        answers.note(visitor.sign_up(email))


@form("POST /m/{code}", "GET /m/{code}/thanks", "POST /m/{code}/thanks")
def by_magic_link(wax: Newsletter, answers: Answers, email: str) -> None:
    page = f"/m/{magic_code(wax)}"
    for needs_confirmation in (False, True):
        wax.configure(needs_confirmation=needs_confirmation)
        for _ in range(2):
            target = _sign_up(wax, answers, page, email)
    _send_again(wax, answers, target, 90)


def magic_code(wax: Newsletter) -> str:
    """Of the only partner."""
    find = statement("SELECT ref_code FROM partner_campaign WHERE owner_account_id = :account_id")
    found = wax.service.read(lambda tx: tx.all(find, account_id=wax.member.account_id))
    if found:
        return str(found[0][0])
    partner = wax.service.member("partner")
    return str(partner_network.join(partner, partner_network.offer(wax.member))["ref_code"])


FORMS = (
    *(hosted, shared_on, with_confirmation, under_two_referrers, until_refused, mistaken),
    *(filled_in_before, asked_for_a_link, found_again, embedded, by_magic_link),
)

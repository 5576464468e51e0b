"""Signing up on a hosted page, on both engines: what it shows, what it keeps, whom it tells
nothing, and confirming.
"""

import re

import pytest

from tests.support.newsletter import AGENT, Newsletter, follow, link_of
from tests.support.service import Service

pytestmark = pytest.mark.usefixtures("roomy_network")


def test_the_page_shows_the_operators_name_and_words(wax: Newsletter) -> None:
    wax.configure(
        words={
            "promise": "Bees & <b>honey</b>",
            "details": "Each week.",
            "button": "Buzz me",
            "tagline": "Since 2019",
        }
    )
    html = wax.visitor.get(wax.page).text
    for expected in (
        "The Morning Wax",
        "Bees &amp; &lt;b&gt;honey&lt;/b&gt;",
        "Each week.",
        ">Buzz me</button>",
        "Since 2019",
    ):
        assert expected in html
    assert '<meta property="og:title" content="Bees &amp; &lt;b&gt;honey' in html
    assert f'<meta property="og:url" content="{wax.service.settings.base_url}{wax.page}"' in html
    assert "Powered by Honeyguide" in html


def test_the_line_with_our_name_can_be_switched_off(wax: Newsletter) -> None:
    wax.configure(words={"powered_by": "off"})
    assert "Honeyguide" not in wax.visitor.get(wax.page).text


def test_signing_up_shows_the_new_link_at_once(wax: Newsletter) -> None:
    email = wax.address()
    page = follow(wax, wax.join(email))
    person = wax.person(email)
    assert link_of(page.text) == wax.service.services.site.reader_link(person.ref_code)
    assert (person.origin, person.ip_address, person.user_agent) == ("signup", "127.0.0.1", AGENT)
    assert page.headers["cache-control"] == "no-store"
    assert email not in page.text


def test_how_a_visitor_came_is_kept(wax: Newsletter) -> None:
    friend = wax.member.subscribe(wax.address())
    email = wax.address()
    wax.join(
        email,
        (
            f"?ref={friend['ref_code']}&utm_source=podcast&utm_campaign=spring&next=https://evil.example"
        ),
    )
    person = wax.person(email)
    assert (person.referrer_code, person.utm_source, person.utm_campaign) == (
        friend["ref_code"],
        "podcast",
        "spring",
    )
    assert wax.person(friend["uuid"]).referrals_verified == 1


@pytest.mark.parametrize(
    "query", [f"?ref={'x' * 300}", "?ref=%00", "?ref=unknown1", "?utm_source=" + "y" * 5000]
)
def test_a_strange_query_never_costs_the_signup(wax: Newsletter, query: str) -> None:
    email = wax.address()
    assert wax.join(email, query).status_code == 303
    assert wax.person(email).referrer_code is None


def test_a_get_subscribes_nobody(wax: Newsletter) -> None:
    email = wax.address()
    for path in (f"{wax.page}?email={email}", f"{wax.page}/thanks?email={email}"):
        wax.visitor.get(path)
        wax.visitor.head(path)
    assert wax.member.total() == 0
    assert f'value="{email}"' in wax.visitor.get(f"{wax.page}?email={email}").text


def test_answers_do_not_tell_who_is_subscribed(wax: Newsletter) -> None:
    known, unknown = wax.address(), wax.address()
    made = wax.member.subscribe(known)
    pages = {}
    for email in (known, unknown):
        answer = wax.join(email)
        page = follow(wax, answer)
        code = link_of(page.text).rpartition("/")[2]
        sealed = answer.headers["location"].partition("?for=")[2]
        plain = page.text.replace(code, "CODE").replace(sealed, "SEALED")
        pages[email] = (
            re.sub(r"<svg.*?</svg>", "", plain, flags=re.DOTALL),
            len(sealed),
            page.status_code,
        )
    assert pages[known] == pages[unknown]
    again = link_of(follow(wax, wax.join(known)).text)
    assert made["ref_code"] not in again, "their code would tell that they are subscribed"
    assert wax.visitor.get(again).status_code == 302, "who comes back gets a link that works"
    assert [message.kind for message in wax.emails()] == ["hub_link", "hub_link"], (
        "what is private goes to the mailbox"
    )
    assert wax.member.total() == 2


def test_who_left_comes_back_only_by_their_mailbox(wax: Newsletter) -> None:
    email = wax.address()
    made = wax.member.subscribe(email)
    wax.member.put(f"{wax.member.v1}/subscribers/{made['uuid']}", {"status": "unsubscribed"})
    assert wax.join(email).status_code == 303
    assert wax.person(email).status == "unsubscribed"
    assert wax.visitor.post(wax.confirm_link(email)).status_code == 303
    assert wax.person(email).status == "confirmed"


def test_an_unknown_page_is_a_kind_404(wax: Newsletter) -> None:
    for path in (
        "/join/nobody-here",
        "/join/nobody-here/thanks",
        "/join/%00",
        "/confirm/x",
        "/hub/x",
    ):
        answer = wax.visitor.get(path)
        assert answer.status_code in (404, 410), path
        assert "text/html" in answer.headers["content-type"]


def test_a_thank_you_page_of_nobody_leads_back(wax: Newsletter) -> None:
    answer = wax.visitor.get(f"{wax.page}/thanks?for=abcdefghijklmnopqrstuvwxyz")
    assert (answer.status_code, answer.headers["location"]) == (303, wax.page)


def test_the_page_also_lives_where_the_setting_says() -> None:
    with Service("sqlite", signup_page_host="https://join.example.org") as service:
        wax = Newsletter(service)
        path = f"/{wax.campaign.slug}"
        assert f'content="https://join.example.org{path}"' in wax.visitor.get(path).text
        assert follow(wax, wax.fill_in(path, wax.address())).status_code == 200
        assert wax.visitor.get("/nothing-here").status_code == 404
        assert wax.visitor.get("/docs").status_code == 200


def test_confirming_takes_a_press(service: Service) -> None:
    wax = Newsletter(service, needs_confirmation=True)
    friend, email = wax.member.subscribe(wax.address()), wax.address()
    answer = wax.join(email, f"?ref={friend['ref_code']}")
    page = follow(wax, answer)
    assert "check your inbox" in page.text
    assert "/r/" not in page.text
    link = wax.confirm_link(email)
    for _ in range(20):
        assert wax.visitor.get(link).status_code == 200
        assert wax.visitor.head(link).status_code == 200
    assert (wax.person(email).status, wax.person(email).referral_status) == ("active", "pending")
    confirmed = wax.visitor.post(link)
    assert confirmed.status_code == 303
    assert (wax.person(email).status, wax.person(email).referral_status) == (
        "confirmed",
        "verified",
    )
    assert wax.person(friend["uuid"]).referrals_verified == 1
    hub = wax.visitor.get(confirmed.headers["location"])
    assert "You’re confirmed." in hub.text
    assert wax.visitor.post(link).status_code == 303, "pressing twice is no harm"


def test_where_confirmation_is_needed_answers_are_the_same_too(service: Service) -> None:
    wax = Newsletter(service, needs_confirmation=True)
    known, unknown = wax.address(), wax.address()
    wax.member.subscribe(known)
    pages = set()
    for email in (known, unknown):
        address, _, sealed = wax.join(email).headers["location"].partition("?for=")
        page = wax.visitor.get(f"{address}?for={sealed}").text.replace(sealed, "SEALED")
        hidden = re.sub(r'name="token" value="[^"]+"', "", page)
        pages.add((address, len(sealed), hidden))
    assert len(pages) == 1


def test_an_old_or_forged_confirmation_confirms_nobody(service: Service) -> None:
    wax = Newsletter(service, needs_confirmation=True)
    email = wax.address()
    wax.join(email)
    link = wax.confirm_link(email)
    assert wax.visitor.post(link[:-1] + ("A" if link[-1] != "A" else "B")).status_code == 404
    hub = wax.hub(wax.person(email)).rpartition("/")[2]
    assert wax.visitor.post(f"/confirm/{hub}").status_code == 404
    wax.later(31 * 86_400)
    answer = wax.visitor.post(link)
    assert (answer.status_code, "This link has expired" in answer.text) == (410, True)
    assert wax.person(email).status == "active"

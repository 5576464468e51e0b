"""Shared links: where they lead, what is counted, and what no query can make them do."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from tests.support import market
from tests.support.newsletter import AGENT, Newsletter
from tests.support.service import Member, Service


@pytest.fixture
def wax(service: Service) -> Newsletter:
    return Newsletter(service)


def query_of(answer: httpx.Response) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query, keep_blank_values=True))


def test_a_link_leads_to_the_campaigns_own_page(wax: Newsletter) -> None:
    code = wax.member.subscribe(wax.address())["ref_code"]
    answer = wax.visitor.get(f"/r/{code}?utm_source=mail&x=%C3%A9")
    assert answer.status_code == 302
    assert answer.headers["location"].startswith(f"{wax.service.settings.base_url}{wax.page}?")
    assert query_of(answer) == {"utm_source": "mail", "x": "é", "ref": code}
    assert answer.headers["cache-control"] == "no-store"


def test_a_link_leads_to_the_stored_destination(wax: Newsletter) -> None:
    code = wax.member.subscribe(wax.address())["ref_code"]
    wax.configure(destination_url="https://wax.example/join?page=1#top")
    answer = wax.visitor.get(f"/r/{code}")
    assert answer.headers["location"] == f"https://wax.example/join?page=1&ref={code}#top"
    wax.configure(destination_url="https://honig.example/für-dich")
    location = wax.visitor.get(f"/r/{code.upper()}").headers["location"]
    assert location == f"https://honig.example/f%C3%BCr-dich?ref={code}", "a change is seen at once, also by a shouted code"


@pytest.mark.parametrize(
    "query",
    [
        "next=https://evil.example", "ref=stolen99&ref=again", "r%65f=x", "url=//evil.example", "redirect=javascript:alert(1)",
        "%0d%0aLocation:%20https://evil.example", "a=" + "b" * 6_000, "&&&", "=", "#", "%", "\u00ff",
    ],
)  # fmt: skip
def test_no_query_chooses_the_target(wax: Newsletter, query: str) -> None:
    code = wax.member.subscribe(wax.address())["ref_code"]
    wax.configure(destination_url="https://wax.example/join")
    answer = wax.visitor.get(f"/r/{code}?{query}")
    parts = urlsplit(answer.headers["location"])
    assert (answer.status_code, parts.scheme, parts.netloc, parts.path) == (302, "https", "wax.example", "/join")
    assert [value for name, value in parse_qsl(parts.query) if name == "ref"] == [code]


def test_a_visitor_counts_once_an_hour(wax: Newsletter) -> None:
    code = wax.member.subscribe(wax.address())["ref_code"]
    for _ in range(5):
        wax.visitor.get(f"/r/{code}")
    wax.visitor.get(f"/r/{code}", headers={"user-agent": f"{AGENT} Other"})
    assert (wax.clicks(code), wax.clicks()) == (2, 2)
    wax.later(3_600)
    wax.visitor.get(f"/r/{code}")
    assert wax.clicks(code) == 3


@pytest.mark.parametrize(
    "headers",
    [
        {"user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1)"}, {"user-agent": "Slackbot-LinkExpanding 1.0"},
        {"user-agent": "facebookexternalhit/1.1"}, {"user-agent": ""}, {"user-agent": AGENT, "sec-purpose": "prefetch"},
    ],
)  # fmt: skip
def test_who_only_looks_is_led_on_and_not_counted(wax: Newsletter, headers: dict[str, str]) -> None:
    code = wax.member.subscribe(wax.address())["ref_code"]
    assert wax.visitor.get(f"/r/{code}", headers=headers).status_code == 302
    assert wax.visitor.head(f"/r/{code}").status_code == 302
    assert wax.clicks(code) == 0


@pytest.mark.parametrize("code", ["zzzzzzzz", "x", "", "%00", "../../docs", "a" * 5_000, "p23456789"])
@pytest.mark.parametrize("prefix", ["/r/", "/p/"])
def test_a_link_of_nobody_is_a_kind_page(wax: Newsletter, prefix: str, code: str) -> None:
    answer = wax.visitor.get(f"{prefix}{code}")
    if answer.url.path.startswith(prefix):
        assert answer.status_code == 404
        assert "This link leads nowhere" in answer.text
        assert "content-security-policy" in answer.headers


def test_links_are_for_following_only(wax: Newsletter) -> None:
    code = wax.member.subscribe(wax.address())["ref_code"]
    for method in ("POST", "PUT", "DELETE"):
        assert wax.visitor.request(method, f"/r/{code}").status_code == 405


# -- partners


@pytest.fixture
def recommended(wax: Newsletter, bob: Member) -> dict[str, str]:
    """What Bob was given when he joined Alice's program."""
    publication = market.publish(wax.member, name="The Weekly Hive", description="All about bees.")
    program = market.offer(
        wax.member, publication, redirect_url="https://hive.example/start?a=1", slug=f"hive-{wax.campaign.slug}"
    )
    return market.join(bob, program)


def test_a_partners_link_leads_to_the_programs_destination(wax: Newsletter, recommended: dict[str, str]) -> None:
    code = recommended["ref_code"]
    answer = wax.visitor.get(f"/p/{code}?sub=7&partner=x")
    assert answer.headers["location"] == f"https://hive.example/start?a=1&sub=7&partner={code}"
    assert recommended["referral_link"].endswith(f"/p/{code}")


def test_a_programs_hosted_page_signs_up_for_the_partner(wax: Newsletter, recommended: dict[str, str]) -> None:
    page, email = f"/join/hive-{wax.campaign.slug}", wax.address()
    html = wax.visitor.get(page).text
    assert "The Weekly Hive" in html and "All about bees." in html and 'src="/logos/' in html
    answer = wax.fill_in(f"{page}?partner={recommended['ref_code']}", email)
    assert answer.status_code == 303
    assert "/r/" in wax.visitor.get(answer.headers["location"]).text
    person = wax.person(email)
    assert (person.referrer_code, person.origin) == (recommended["ref_code"], "signup")


def test_a_magic_link_subscribes_by_its_button_only(wax: Newsletter, recommended: dict[str, str]) -> None:
    email = wax.address()
    path = f"/m/{recommended['ref_code']}?email={email}"
    for _ in range(100):
        assert wax.visitor.get(path).status_code == 200
        assert wax.visitor.head(path).status_code == 200
    assert wax.member.total() == 0
    assert f'value="{email}"' in wax.visitor.get(path).text
    answer = wax.fill_in(path, email)
    assert answer.status_code == 303
    assert wax.person(email).origin == "magic"
    assert wax.person(email).referrer_code == recommended["ref_code"]
    assert "/r/" in wax.visitor.get(answer.headers["location"]).text


def test_a_magic_links_code_cannot_be_swapped_in_the_form(wax: Newsletter, recommended: dict[str, str]) -> None:
    friend, email = wax.member.subscribe(wax.address()), wax.address()
    wax.fill_in(f"/m/{recommended['ref_code']}?ref={friend['ref_code']}", email, partner="p99999999", ref=friend["ref_code"])
    assert wax.person(email).referrer_code == recommended["ref_code"]


def test_the_programs_own_thank_you_page_is_led_to(wax: Newsletter, bob: Member) -> None:
    program = market.offer(wax.member, thankyou_page_url="https://thanks.example/you")
    path = f"/m/{market.join(bob, program)['ref_code']}"
    page = wax.visitor.get(path)
    assert page.headers["content-security-policy"].endswith("form-action 'self' https://thanks.example")
    answer = wax.fill_in(f"{path}?next=https://evil.example", wax.address())
    assert (answer.status_code, answer.headers["location"]) == (303, "https://thanks.example/you")


def test_an_unknown_magic_link_is_a_kind_page(wax: Newsletter) -> None:
    for code in ("p99999999", "x", "%00"):
        assert wax.visitor.get(f"/m/{code}").status_code == 404

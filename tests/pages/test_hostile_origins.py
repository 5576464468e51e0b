"""Which websites may call the endpoints behind embeds: those that the operator listed, letter by
letter, at every endpoint and by every method.
"""

import re

import pytest

from honeyguide.kernel.errors import Invalid, TooMany
from honeyguide.pages.embeds import endpoint
from honeyguide.pages.embeds.endpoint import EmbedRoute
from honeyguide.pages.embeds.routes import ENDPOINTS
from honeyguide.subscribers import embeds, hub
from tests.support.embeds import SITE, Visitor, embedding, people
from tests.support.prizes import advocate, post_of
from tests.support.service import ONE_ENGINE, Member

LISTED = (
    SITE,
    "https://shop.wax.example:8443",
    "http://localhost:3000",
    "https://xn--bcher.example",
)
# What looks like a listed origin, to somebody who compares carelessly.
HOSTILE = {
    "no origin": None,
    "empty": "",
    "null": "null",
    "any": "*",
    "another": "https://evil.example",
    "a part of it: the end is missing": "https://wax.exampl",
    "a part of it: the end of the last one": "https://xn--bcher.exampl",
    "a part of it: the scheme": "https://",
    "a part of it: without the port": "https://shop.wax.example",
    "a part of it: the beginning of the port": "https://shop.wax.example:8",
    "a part of it: without the scheme": "wax.example",
    "two lines of the list": f"{LISTED[0]}\\n{LISTED[1]}",
    "it is a prefix": "https://wax.example.evil.example",
    "it is a prefix of the port's": "http://localhost:30001",
    "it is a suffix": "https://evil-wax.example",
    "it is a suffix after a path": "https://evil.example/https://wax.example",
    "a domain below": "https://evil.wax.example",
    "a domain above": "https://example",
    "another port": "https://wax.example:8443",
    "the default port, which no browser says": "https://wax.example:443",
    "another scheme": "http://wax.example",
    "a scheme of no website": "ftp://wax.example",
    "a file": "file://",
    "an extension": "chrome-extension://wax.example",
    "a user": "https://wax.example@evil.example",
    "a user before it": "https://evil@wax.example",
    "a trailing dot": "https://wax.example.",
    "upper case": "https://WAX.example",
    "an upper case scheme": "HTTPS://wax.example",
    "a slash": "https://wax.example/",
    "a path": "https://wax.example/signup",
    "a question": "https://wax.example?",
    "a backslash": "https://wax.example\\.evil.example",
    "several": "https://wax.example, https://evil.example",
    "several with a blank": "https://wax.example https://evil.example",
    "several with a tab": "https://wax.example\thttps://evil.example",
    "not in punycode": "https://b\u00fccher.example",
    "letters that look alike": "https://w\u0430x.example",
    "another name in punycode": "https://xn--wx-7lc.example",
    "an encoded dot": "https://wax%2eexample",
}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, roomy_network: None) -> None:
    """Answers wait for nothing, and all tests share one address."""
    monkeypatch.setattr(endpoint, "ANSWER_AFTER_S", 0)


def name_of(route: EmbedRoute) -> str:
    return route.path.rpartition("/")[2]


def fields_of(name: str, alice: Member, token: str) -> dict[str, str]:
    """What the endpoint takes from a listed website."""
    return {
        "signup": {"email": "ben@example.org", "waited_ms": "5000"},
        "find": {"email": "ana@example.org"},
        "hub": {"token": token},
        "leaderboard": {"sample": "1"},
        "config": {},
        "token": {},
    }[name]


def as_header(origin: str | None) -> list[tuple[bytes, bytes]]:
    return [] if origin is None else [(b"origin", origin.encode())]


@ONE_ENGINE
@pytest.mark.parametrize("case", HOSTILE)
def test_only_a_listed_origin_gets_an_answer(alice: Member, case: str) -> None:
    ann = advocate(alice)
    token = hub.token(alice.service.services.site, ann["uuid"], ann["ref_code"])
    embed, before = embedding(alice, *LISTED), set(people(alice))
    http = Visitor(alice, embed, None).http
    for each in ENDPOINTS:
        path = each.path.format(public_id=embed.public_id)
        given = fields_of(name_of(each), alice, token)
        for method in ("GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"):
            answer = http.request(
                method,
                path,
                params=given if each.method == "GET" else None,
                data=given if method == each.method == "POST" else None,
                headers=[
                    *as_header(HOSTILE[case]),
                    (b"sec-fetch-site", b"cross-site"),
                    (b"access-control-request-method", each.method.encode()),
                    (b"access-control-request-headers", b"x-anything"),
                ],
            )
            expected = 403 if method in (each.method, each.method.replace("GET", "HEAD")) else 405
            assert answer.status_code == expected, (method, path)
            allowed = [name for name in answer.headers if name.startswith("access-control")]
            assert allowed == [], (method, path)
    assert set(people(alice)) == before and post_of(alice, "hub_link") == []


@pytest.mark.parametrize("origin", LISTED)
def test_a_listed_origin_gets_an_answer_for_itself_alone(alice: Member, origin: str) -> None:
    ann = advocate(alice)
    token = hub.token(alice.service.services.site, ann["uuid"], ann["ref_code"])
    visitor = Visitor(alice, embedding(alice, *LISTED), origin)
    for each in ENDPOINTS:
        given = fields_of(name_of(each), alice, token)
        send = visitor.get if each.method == "GET" else visitor.post
        answer = send(name_of(each), **given)
        assert answer.status_code == 200, answer.text
        assert answer.headers["access-control-allow-origin"] == origin
        assert "access-control-allow-credentials" not in answer.headers
        assert "origin" in answer.headers["vary"], "a cache must not answer one for another"


@pytest.mark.parametrize(
    "headers", [[SITE, "https://evil.example"], ["https://evil.example", SITE]]
)
def test_two_headers_allow_no_unlisted_origin(alice: Member, headers: list[str]) -> None:
    embed = embedding(alice)
    given = [(b"origin", each.encode()) for each in headers]
    answer = Visitor(alice, embed, None).http.get(f"/embed/{embed.public_id}/config", headers=given)
    assert answer.headers.get("access-control-allow-origin", SITE) == SITE


def test_our_own_pages_are_known_by_what_only_a_browser_can_say(alice: Member) -> None:
    embed = embedding(alice)
    http = Visitor(alice, embed, None).http
    for name, status in (("config", 200), ("leaderboard?sample=1", 200), ("token", 200)):
        for site in ("same-origin", "same-site", "cross-site", "none"):
            path = f"/embed/{embed.public_id}/{name}"
            answer = http.get(path, headers={"sec-fetch-site": site})
            assert answer.status_code == (status if site == "same-origin" else 403)
    for name in ("signup", "find", "hub"):
        path = f"/embed/{embed.public_id}/{name}"
        answer = http.post(path, headers={"sec-fetch-site": "same-origin"})
        assert answer.status_code == 403, "a form always says its origin"


def test_another_campaigns_list_opens_nothing(alice: Member, bob: Member) -> None:
    embed = embedding(alice)
    embedding(bob, "https://bob.example")
    for each in ENDPOINTS:
        visitor = Visitor(alice, embed, "https://bob.example")
        answer = (visitor.get if each.method == "GET" else visitor.post)(name_of(each))
        assert answer.status_code == 403


def test_only_listed_websites_may_frame_an_element(alice: Member) -> None:
    embed = embedding(alice, *LISTED)
    http = Visitor(alice, embed).http
    for what in ("signup", "hub", "leaderboard"):
        policy = http.get(f"/embed/{embed.public_id}/frame/{what}").headers[
            "content-security-policy"
        ]
        (framing,) = re.findall(r"frame-ancestors ([^;]*)", policy)
        assert tuple(framing.split()) == LISTED and "*" not in policy


@pytest.mark.parametrize(
    "typed",
    [
        "null",
        "https://wax.example;script-src *",
        "https://wax.example; script-src https://evil.example",
        "https://wax.example'",
        "https://user@wax.example",
        "https://user:secret@wax.example",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https://wax.example\x0bhttps://evil.example",
    ],
)
def test_what_an_operator_types_is_one_plain_origin_or_refused(typed: str) -> None:
    """It becomes part of a policy for our own pages."""
    try:
        kept = embeds.parse_origins(typed)
    except Invalid:
        return
    assert all(re.fullmatch(r"https?://[a-z0-9.-]+(:\d+)?", each) for each in kept), kept


def test_all_campaigns_together_have_a_limit_per_network(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    low = endpoint.BY_NETWORK._replace(name=f"test {alice.campaign_id}", most=4)
    monkeypatch.setattr(endpoint, "BY_NETWORK", low)
    visitors = [
        Visitor(each, embedding(each)) for each in (alice, *map(alice.service.member, "bcd"))
    ]
    statuses = [
        [
            visitor.sign_up(f"p{n}@example.org").status_code,
            visitor.post("find", email=f"p{n}@example.org").status_code,
        ]
        for n, visitor in enumerate(visitors)
    ]
    assert statuses == [[200, 200], [200, 200], [429, 429], [429, 429]]


def test_one_campaign_has_a_limit_over_all_networks(
    alice: Member, bob: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    low = endpoint.BY_CAMPAIGN._replace(name=f"test {alice.campaign_id}", most=2)
    monkeypatch.setattr(endpoint, "BY_CAMPAIGN", low)
    visitor, other = Visitor(alice, embedding(alice)), Visitor(bob, embedding(bob))
    statuses = [visitor.sign_up(f"p{n}@example.org").status_code for n in range(3)]
    assert statuses == [200, 200, 429]
    assert other.sign_up("ben@example.org").status_code == 200


def test_a_campaigns_limit_per_network_is_each_networks_own(alice: Member, bob: Member) -> None:
    service, most = alice.service, endpoint.BY_CAMPAIGN_AND_NETWORK.most

    def count(campaign_id: str, network: str) -> None:
        site = service.services.site
        service.write(lambda tx: endpoint._count(tx, site, campaign_id, network))

    for _ in range(most):
        count(alice.campaign_id, "192.0.2.1")
    with pytest.raises(TooMany):
        count(alice.campaign_id, "192.0.2.1")
    for campaign_id, network in ((alice.campaign_id, "192.0.2.2"), (bob.campaign_id, "192.0.2.1")):
        count(campaign_id, network)

"""Signups from the operator's own website: who may call, by which rules, and what nobody learns."""

import base64
import gzip
import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.pages.embeds import endpoint, script, signup
from honeyguide.subscribers import branding, campaigns, embeds, hub, hub_choices
from honeyguide.subscribers.branding import BrandFields
from honeyguide.subscribers.campaigns import CampaignSettings
from tests.support.embeds import SITE, Visitor, embedding, people
from tests.support.prizes import advocate, earned_by, offer, post_of, tenant_of
from tests.support.readings import change_of
from tests.support.service import Member, Service, until
from tests.support.web import Operator, operator

DOCS = Path(__file__).parents[2] / "docs" / "embeds.md"
# A released version never changes: websites name its hash. Once it is released, a change is a new
# file; until then, change the hash here too.
VERSIONS = {
    "honeyguide-3.js": ("sha384-fV1kFl4+nfodm1zv72BlHoP9veMufTTo2+kHppSujNDiqSRGtv/B4GbRgam01cBz"),
    "honeyguide-4.js": ("sha384-i6VZCWO4GGgatBqLgZ+/qTOSOvfLbtBAsbpfP0mV58QjOeTNW3vd6KZvYPPx4i+j"),
    "honeyguide-5.js": ("sha384-uJUpiMBiyImJZ1CCQXQpenKAO+1SKRS3OULdD5WBGFBxbRbf7mQQQtT/j2k0D0Zr"),
}


@pytest.fixture
def alice(service: Service) -> Member:
    return service.member("alice")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, roomy_network: None) -> None:
    """Answers wait for nothing, and all tests share one address."""
    monkeypatch.setattr(endpoint, "ANSWER_AFTER_S", 0)


def test_a_signup_is_attributed_to_the_referrer_and_comes_from_an_embed(alice: Member) -> None:
    ann = advocate(alice)
    visitor = Visitor(alice, embedding(alice))
    answer = visitor.sign_up("ben@example.org", ref=ann["ref_code"], utm_source="x")
    assert answer.status_code == 200
    assert answer.json() == {"ok": True, "needs_confirmation": False}
    assert answer.headers["access-control-allow-origin"] == SITE
    assert "access-control-allow-credentials" not in answer.headers
    ben = people(alice)["ben@example.org"]
    assert (ben["origin"], ben["referrer_code"], ben["utm_source"]) == (
        "embed",
        ann["ref_code"],
        "x",
    )
    assert [each.to_email for each in post_of(alice, "hub_link")] == ["ben@example.org"]


def test_consent_is_needed_as_on_the_hosted_page(service: Service) -> None:
    alice: Operator = operator(service)
    found = alice.make(branding.save, BrandFields(consent_text="Yes, please."))
    visitor = Visitor(alice, embedding(alice))
    refused = visitor.sign_up("ben@example.org")
    assert refused.status_code == 400
    assert refused.json() == {"errors": {"consent": "Please check this box to subscribe."}}
    for email, consent in (("a@example.org", signup.OWN_CONSENT), ("b@example.org", "")):
        given = consent or found.consent_text_id
        assert visitor.sign_up(email, consent=given).status_code == 200
        held = alice.web.get(f"/subscribers/{people(alice)[email]['uuid']}/export.json").json()
        assert [each["text"] for each in held["consents"]] == ["Yes, please."]


def test_an_address_is_confirmed_where_the_campaign_wants_it(alice: Member) -> None:
    chosen = CampaignSettings(needs_confirmation=True)
    alice.make(campaigns.configure, chosen)
    answer = Visitor(alice, embedding(alice)).sign_up("ben@example.org")
    assert answer.json() == {"ok": True, "needs_confirmation": True}
    assert len(post_of(alice, "confirm")) == 1


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://Example.com/landing?x=1", "https://example.com"),
        ("example.com", "https://example.com"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("https://example.com:443", "https://example.com"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("http://[::1]:80", "http://[::1]"),
    ],
)
def test_a_website_is_kept_as_browsers_name_it(typed: str, kept: str) -> None:
    assert embeds.parse_origins(f" {typed} \n\n{typed}") == [kept]


@pytest.mark.parametrize(
    "typed", ["", "*", "https://*.example.com", "ftp://a.example", "a b", "x@y.z"]
)
def test_what_is_no_website_is_refused(typed: str) -> None:
    with pytest.raises(Invalid):
        embeds.parse_origins(typed)


def test_the_script_is_small_cached_and_readable_by_any_website(alice: Member) -> None:
    assert {name: script.integrity(name) for name in script.versions()} == VERSIONS
    visitor = Visitor(alice, embedding(alice))
    versioned, stable = (visitor.http.get(f"/embed/{n}") for n in (script.NEWEST, script.STABLE))
    assert versioned.content == stable.content
    assert len(gzip.compress(versioned.content)) < 10 * 1024
    assert versioned.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert stable.headers["cache-control"] == "public, max-age=3600"
    assert versioned.headers["access-control-allow-origin"] == "*"
    assert "set-cookie" not in versioned.headers
    digest = hashlib.sha384(versioned.content).digest()
    assert script.integrity() == "sha384-" + base64.b64encode(digest).decode()
    for forbidden in (b"innerHTML", b"eval(", b"document.cookie", b".style.", b"insertAdjacent"):
        assert forbidden not in versioned.content


def test_the_documented_call_from_a_server_works_as_printed(alice: Member) -> None:
    ann = advocate(alice)
    (call,) = re.findall(r"```sh\n(.*?)```", DOCS.read_text(), re.S)
    call = call.replace("https://refer.example.com", alice.service.url)
    call = call.replace("k7m4x2pq", ann["ref_code"]).replace("ana@", "ben@")
    given = f"set -eu\nKEY={alice.key}\nCAMPAIGN={alice.campaign_id}\n"
    subprocess.run(["bash", "-c", given + call], check=True, timeout=60)
    assert people(alice)["ben@example.org"]["referrer_code"] == ann["ref_code"]


def test_the_look_of_elements_is_the_same_for_all_and_a_hub_needs_its_secret(alice: Member) -> None:
    ann = advocate(alice)
    visitor = Visitor(alice, embedding(alice))
    answer = visitor.get("config", language="de-AT")
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["vary"].startswith("origin, accept-language")
    assert answer.json()["language"] == "de" and answer.json()["signup"]["button"] == "Abonnieren"
    assert Visitor(alice, embedding(alice), "https://evil.example").get("config").status_code == 403
    site = alice.service.services.site
    token = hub.token(site, ann["uuid"], ann["ref_code"])
    opened = visitor.post("hub", token=token)
    assert opened.json()["link"].endswith(ann["ref_code"])
    assert opened.headers["cache-control"] == "no-store"
    assert "ana@" not in opened.text
    for wrong in (ann["ref_code"], f"{token[:-1]}x", token.upper(), "", "\u0000"):
        assert visitor.post("hub", token=wrong).status_code == 404
    eve = advocate(alice.service.member("eve"))
    foreign = hub.token(site, eve["uuid"], eve["ref_code"])
    assert visitor.post("hub", token=foreign).status_code == 404


def test_a_hub_says_that_the_last_reward_is_still_to_be_claimed(alice: Member) -> None:
    offer(alice, kind="manual")
    ann = advocate(alice, 1, email="ann@example.org")
    visitor = Visitor(alice, embedding(alice))
    token = hub.token(alice.service.services.site, ann["uuid"], ann["ref_code"])
    assert visitor.post("hub", token=token).json()["title"] == "Ready to claim"
    (earned,) = earned_by(alice, ann)
    alice.post(f"{alice.v1}/rewards/{earned['uuid']}/redeem", {})
    assert visitor.post("hub", token=token).json()["title"].startswith("You’ve earned every")


def test_asking_for_a_hub_answers_the_same_for_everybody(alice: Member) -> None:
    alice.subscribe("in@example.org")
    visitor = Visitor(alice, embedding(alice))
    answers = [visitor.post("find", email=f"{name}@example.org") for name in ("in", "nobody")]
    assert {(each.status_code, each.text) for each in answers} == {(200, '{"ok":true}')}
    until(lambda: bool(post_of(alice, "hub_link")))
    assert [each.to_email for each in post_of(alice, "hub_link")] == ["in@example.org"]
    refused = visitor.post("find", email="nonsense")
    assert refused.json() == {"errors": {"email": "Enter a valid email address."}}


def test_the_leaderboard_names_only_those_who_agreed_and_only_if_it_is_on(alice: Member) -> None:
    visitor, tenant = Visitor(alice, embedding(alice)), tenant_of(alice)
    ann = advocate(alice, 2)
    advocate(alice, 3, email="shy@example.org")
    alice.service.write(
        lambda tx: hub_choices.save(
            change_of(tx, tenant), ann["uuid"], shows_name=False, on_leaderboard=True
        )
    )
    assert visitor.get("leaderboard").status_code == 404
    alice.make(branding.save, BrandFields(show_leaderboard=True))
    assert visitor.get("leaderboard").json() == {
        "title": "Leaderboard",
        "people": [{"place": "1", "name": "Ana L.", "friends": "2 friends"}],
    }


def test_a_frame_is_for_the_listed_websites_alone(alice: Member) -> None:
    visitor = Visitor(alice, embedding(alice, SITE, "http://localhost:3000"), None)
    for what in ("signup", "hub", "leaderboard"):
        answer = visitor.get(f"frame/{what}", language='"><script>')
        policy = answer.headers["content-security-policy"]
        assert policy.endswith(f"frame-ancestors {SITE} http://localhost:3000")
        assert f"<honeyguide-{what} " in answer.text and '"><script>' not in answer.text
    assert visitor.get("frame/other").status_code == 404
    assert "frame-ancestors 'none'" in visitor.get("config").headers["content-security-policy"]

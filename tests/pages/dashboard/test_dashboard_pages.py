"""The dashboard's pages over HTTP, on both engines: strangers, forms, lists."""

import gzip
import re
import time

import pytest

from honeyguide.kernel.ids import new_id
from honeyguide.pages.dashboard.routes import PAGES
from tests.support.belongings import member
from tests.support.delayed import pass_minute
from tests.support.fetches import document_of, fetch_of
from tests.support.move_certificates import certificate_of
from tests.support.service import Service
from tests.support.web import (
    Operator,
    WebClient,
    mistakes,
    operator,
    run_import,
    text_of,
    upload,
)

BEHIND = [page for page in PAGES if not page.open_to_all]
# Pages for partners and administrators have their own cast, and their own stranger:
# tests/pages/dashboard/test_program_pages.py.
PARTNERS = (
    *("/publications", "/program", "/network", "/earnings", "/payouts", "/statements"),
    *("/notices", "/administration", "/clock"),
)
OPERATORS = [page for page in BEHIND if not page.path.startswith(PARTNERS)]


def things(alice: Operator) -> dict[str, str]:
    """One of everything that an address of the dashboard can name."""
    person = alice.subscribe(f"p{new_id()}@example.org", name="Secret Person")
    hook = alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/secret-hook"}).json()["webhook"][
        "uuid"
    ]
    alice.web.post("/rewards", name="Secret mug", referrals="3", kind="manual")
    reward = re.search(r"/rewards/([0-9a-f-]{36})/delete", alice.web.get("/rewards").text)
    key = re.search(r"/account/keys/([0-9a-f-]{36})/revoke", alice.web.get("/account/keys").text)
    assert reward and key
    return {
        "/subscribers/import/api/": fetch_of(alice),
        "/subscribers/import/certificates/": certificate_of(alice),
        "/subscribers/import/documents/": document_of(alice),
        "/subscribers/import/": upload(alice, "email\nsecret@example.org\n"),
        "/subscribers/": person["uuid"],
        "/webhooks/": hook,
        "/rewards/": reward[1],
        "/account/keys/": key[1],
        "/team/": member(alice),
        "/integrations/": new_id(),  # names a platform, which nobody owns
    }


def test_without_a_session_every_page_leads_to_the_login(service: Service) -> None:
    operator(service)
    web = WebClient(service)
    for page in BEHIND:
        path = re.sub(r"\{\w+\}", new_id(), page.path)
        answer = web.http.request(page.method, path)
        assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (
            303,
            "/login",
        ), page


def test_a_stranger_finds_nothing_at_anybody_elses_address(service: Service) -> None:
    alice, mallory = operator(service), operator(service, "mallory")
    hers = things(alice)
    before = {
        path: text_of(alice.web.get(path).text)
        for path in ("/rewards", "/webhooks", "/account/keys", "/subscribers")
    }
    tried = 0
    for page in OPERATORS:
        if "{" not in page.path:
            continue
        start = next(start for start in hers if page.path.startswith(start))
        for id in (hers[start], new_id(), "nonsense"):
            path = re.sub(r"\{\w+\}", id, page.path, count=1)
            if page.method == "GET":
                answer = mallory.web.get(path)
            else:
                fields = {
                    "name": "x",
                    "role": "analyst",
                    "referrals": "1",
                    "url": "http://127.0.0.1:9/x",
                    "do": "erase",
                    "earned": new_id(),
                }
                answers = [
                    mallory.web.post(path, page="/settings", **{**fields, "do": do})
                    for do in ("erase", "delete", "start")
                ]
                answer = answers[0]
                assert {each.status_code for each in answers} == {404}, (
                    page,
                    [each.status_code for each in answers],
                )
            assert answer.status_code == 404, (page, id, answer.status_code)
            assert "Secret" not in answer.text and "secret" not in answer.text
            tried += 1
    assert tried >= 30
    assert before == {path: text_of(alice.web.get(path).text) for path in before}, (
        "and nothing changed"
    )


def test_bulk_forms_reach_nobody_elses_people(service: Service) -> None:
    alice, mallory = operator(service), operator(service, "mallory")
    person = alice.subscribe("hers@example.org")
    for path in ("/subscribers/decide", "/review"):
        for do in ("erase", "reject", "verify"):
            mallory.web.post(path, page="/settings", id=person["uuid"], do=do, sure="yes")
    pass_minute(service)
    assert alice.subscriber(person["uuid"])["email"] == "hers@example.org"


LOOKED_AT = (
    *(
        "/",
        "/?range=7d",
        "/?range=year",
        "/?range=<b>",
        "/subscribers",
        "/subscribers/import",
        "/review",
        "/rewards",
    ),
    *(
        "/look/pages",
        "/look/pages?page=hub",
        "/look/pages?page=thanks",
        "/webhooks",
        "/account",
        "/account/keys",
        "/settings",
    ),
)


@pytest.mark.parametrize("path", LOOKED_AT)
def test_every_page_is_whole_safe_and_small(alice: Operator, path: str) -> None:
    things(alice)
    alice.subscribe("markup@example.org", name="<script>alert(1)</script>")
    answer = alice.web.get(path)
    assert answer.status_code == 200
    assert "<script>alert(1)" not in answer.text
    without_frames = re.sub(r'srcdoc="[^"]*"', "", answer.text)
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", without_frames)
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert len(gzip.compress(answer.content)) < 60_000
    targets = re.findall(r'(?:src|href|action)="([^"]*)"', without_frames)
    assert all(
        target.startswith(("/", "#", "http://127.0.0.1")) or target == "" for target in targets
    ), targets


def test_campaign_settings_are_kept_or_refused_with_a_sentence(alice: Operator) -> None:
    slug = f"wax-{new_id()[-8:]}"
    good = {
        "name": "The Wax",
        "destination_url": "https://wax.example/",
        "slug": slug,
        "screening": "strong",
        "hold_days": "3",
    }
    assert alice.web.post("/settings/campaign", page="/settings", **good).status_code == 303
    page = alice.web.get("/settings").text
    assert f'value="{slug}"' in page and "https://wax.example/" in page
    for wrong, sentence in (
        ({"destination_url": "javascript:alert(1)"}, "absolute http or https"),
        ({"slug": "Not A Slug"}, "lower-case letters"),
        ({"hold_days": "400"}, "whole number from 0 to"),
        ({"hold_days": "x"}, "whole number"),
        ({"name": " "}, "Enter a name."),
        ({"screening": "none"}, "must be one of"),
    ):
        answer = alice.web.post("/settings/campaign", page="/settings", **{**good, **wrong})
        assert answer.status_code == 400 and sentence in text_of(answer.text), wrong
    every = {"name": "", "slug": "Not A Slug", "hold_days": "x", "link_parameters": "a/b"}
    said = mistakes(alice.web.post("/settings/campaign", page="/settings", **good | every).text)
    assert set(said) == set(every), "all at once"


def test_search_filters_and_order(alice: Operator) -> None:
    lead = alice.subscribe(
        "zeta.lead@example.org", name="Lena Lead", created_at="2026-01-01T00:00:00Z"
    )
    for number in range(3):
        alice.subscribe(
            f"friend{number}@example.org", name=f"Émile {number}", referrer_code=lead["ref_code"]
        )
    gone = alice.subscribe("gone@example.org")
    alice.put(f"{alice.v1}/subscribers/{gone['uuid']}", {"status": "unsubscribed"})
    alice.subscribe("thrown@mailinator.com", referrer_code=lead["ref_code"])

    def found(query: str) -> list[str]:
        page = alice.web.get(f"/subscribers?{query}").text
        return re.findall(r'aria-label="Select ([^"@]+)@', page)

    assert found("q=friend") == ["friend2", "friend1", "friend0"]
    assert found("q=LENA") == ["zeta.lead"]
    assert found("q=Zeta.L") == ["zeta.lead"]
    assert found(f"q={lead['ref_code']}") == ["zeta.lead"]
    assert found("q=%25") == [] and found("q=_") == []
    assert found("show=advocates") == ["zeta.lead"] == found("sort=best")
    assert found("show=rejected") == ["thrown"]
    assert found("show=unsubscribed") == ["gone"]
    assert found("sort=oldest")[0] == "zeta.lead"
    assert len(found("")) == 6 and found("show=referrals&q=friend1") == ["friend1"]
    assert "No subscribers found" in alice.web.get("/subscribers?q=nothing-begins-so").text
    for nonsense in (
        "page=0",
        "page=-1",
        "page=abc",
        "page=99999999",
        "before=x",
        "before=1.",
        "show=x",
        "sort=x",
        "q=%00",
    ):
        assert alice.web.get(f"/subscribers?{nonsense}").status_code == 200, nonsense


def test_lists_beyond_a_page_go_on(alice: Operator) -> None:
    text = "email\n" + "".join(f"r{number:03d}@example.org\n" for number in range(130))
    run_import(alice, upload(alice, text))
    for query in ("sort=oldest", ""):
        seen, path = [], f"/subscribers?{query}"
        while path:
            page = alice.web.get(path).text
            seen += re.findall(r'aria-label="Select (r\d+)@', page)
            further = re.search(r'rel="next" href="([^"]+)"', page)
            path = further[1].replace("&amp;", "&") if further else ""
        assert sorted(seen) == [f"r{number:03d}" for number in range(130)], query


def test_review_decides_in_bulk_and_says_why(service: Service, alice: Operator) -> None:
    alice.web.post(
        "/settings/campaign",
        page="/settings",
        name="Wax",
        slug=f"w-{new_id()[-8:]}",
        screening="strong",
    )
    lead = alice.subscribe("lead@example.org", ip_address="9.9.9.9")
    friends = [
        alice.subscribe(
            f"f{number}@example.org", referrer_code=lead["ref_code"], ip_address="9.9.9.9"
        )
        for number in range(3)
    ]
    page = text_of(alice.web.get("/review?by=one").text)
    assert "Same IP network as the referrer within a day. It will be verified on" in page
    assert "waiting: 3" in page
    answer = alice.web.post("/review", id=[friends[0]["uuid"], friends[1]["uuid"]], do="verify")
    assert answer.status_code == 303
    assert "2 referrals will be verified in a minute." in text_of(alice.web.get("/review").text)
    alice.web.post("/review", id=friends[2]["uuid"], do="reject")
    pass_minute(service)
    assert "Rejected manually. It does not count unless you verify it." in text_of(
        alice.web.get("/review?show=rejected").text
    )
    assert alice.subscriber(lead["uuid"])["referrals_count"] == 2
    final = alice.web.post(
        "/subscribers/decide", page="/subscribers", id=friends[0]["uuid"], do="reject"
    )
    assert final.status_code == 303
    assert "already verified and can no longer be rejected" in text_of(
        alice.web.get("/subscribers").text
    )


def test_a_person_is_explained_exported_and_erased(service: Service, alice: Operator) -> None:
    lead = alice.subscribe("lead@example.org", name="Lena Lead")
    friend = alice.subscribe(
        "friend@mailinator.com", referrer_code=lead["ref_code"], utm_source="podcast"
    )
    page = text_of(alice.web.get(f"/subscribers/{friend['uuid']}").text)
    assert "Came through LL Lena Lead F friend" in page
    assert "Disposable email address. It does not count unless you verify it." in page
    assert "Every screening level rejects this." in page and "podcast" in page
    assert (
        "Referrals" in (leads := text_of(alice.web.get(f"/subscribers/{lead['uuid']}").text))
        and "mailinator" in leads
    )
    answer = alice.web.get(f"/subscribers/{friend['uuid']}/export.json")
    assert answer.json()["subscriber"]["email"] == "friend@mailinator.com"
    assert "attachment" in answer.headers["content-disposition"]
    alice.web.post(f"/subscribers/{friend['uuid']}", do="verify")
    pass_minute(service)
    assert alice.subscriber(lead["uuid"])["referrals_count"] == 1
    assert (
        alice.web.post(f"/subscribers/{friend['uuid']}", do="erase").headers["location"]
        == "/subscribers"
    )
    assert alice.web.get(f"/subscribers/{friend['uuid']}").status_code == 404


def test_words_are_kept_page_by_page(service: Service, alice: Operator) -> None:
    on = {"powered_by": "on"}
    assert (
        alice.web.post("/look/pages?page=signup", promise="Bees, weekly", **on).status_code == 303
    )
    assert alice.web.post("/look/pages?page=hub", hub_note="Thank you all", **on).status_code == 303
    assert "Bees, weekly" in alice.web.get("/look/pages?page=signup").text
    slug = re.search(r"/join/([\w-]+)", alice.web.get("/look/pages").text)
    assert slug and "Bees, weekly" in WebClient(service).get(f"/join/{slug[1]}").text
    assert alice.web.post("/look/pages?page=signup", promise="x" * 500, **on).status_code == 400


def test_webhooks_are_made_tested_and_read(alice: Operator) -> None:
    assert alice.web.post("/webhooks", url="ftp://x", event="new_referral").status_code == 400
    made = alice.web.post(
        "/webhooks", url="http://127.0.0.1:9/hook", event=["new_referral", "reward_unlocked"]
    )
    path = made.headers["location"]
    assert alice.web.post(f"{path}/act", page=path, do="test").status_code == 303
    for _ in range(100):
        if "no response" in (page := text_of(alice.web.get(path).text)):
            break
        time.sleep(0.05)
    assert "no response" in page and "Test" in page
    assert "whsec_" not in page
    secret = re.search(
        r"whsec_[\w+/=]+", alice.web.post(f"{path}/act", page=path, do="reveal").text
    )
    rotated = re.search(
        r"whsec_[\w+/=]+", alice.web.post(f"{path}/act", page=path, do="rotate").text
    )
    assert secret and rotated and secret[0] != rotated[0]
    assert (
        alice.web.post(f"{path}/act", page=path, do="replay", since="2026-01-01T00:00").status_code
        == 303
    )
    assert alice.web.post(f"{path}/act", page=path, do="replay", since="never").status_code == 400
    assert (
        alice.web.post(path, url="http://127.0.0.1:9/other", event="new_referral").status_code
        == 303
    )
    assert alice.web.post(f"{path}/act", page=path, do="delete").headers["location"] == "/webhooks"
    assert alice.web.get(path).status_code == 404

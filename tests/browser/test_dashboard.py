"""The dashboard in a real browser: every page in every look, and none of them heavy."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from honeyguide.subscribers import campaigns
from honeyguide.subscribers.campaigns import CampaignSettings
from tests.browser.conftest import DESKTOP, Appearance, PageAt, weights
from tests.support.prizes import catch_up, earned_by, offer
from tests.support.service import Service
from tests.support.shipments import ADDRESS
from tests.support.web import Operator, operator, upload

HEAVIEST = 60_000


pytestmark = pytest.mark.usefixtures("quick_hands")


STRONG = CampaignSettings(
    name="The Morning Wax", screening="strong", destination_url="https://wax.example/"
)
BY_HAND = {"kind": "manual", "description": "We send it to you."}


ACCOUNT_PAGES = {
    "account": "/account",
    "api-keys": "/account/keys",
    "change-log": "/account/changes",
    "change-log-wrong": "/account/changes?q=nobody&from=2026-02-31",
    "security": "/account/security",
    "second-factor": "/account/second-factor",
    "close": "/account/close",
    "new-newsletter": "/account/new",
    "team": "/team",
    "settings": "/settings",
}


class Places:
    """One operator with something on every page."""

    def __init__(self, service: Service) -> None:
        self.alice = alice = operator(service)
        alice.make(campaigns.configure, STRONG)
        lead = alice.subscribe("lea@example.org", name="Lea Dahl", ip_address="9.9.9.9")
        for number in range(12):
            alice.subscribe(
                f"reader{number}@example.org",
                name=f"Reader {number}",
                referrer_code=lead["ref_code"],
            )
        for number in range(2):
            alice.subscribe(
                f"near{number}@example.org", referrer_code=lead["ref_code"], ip_address="9.9.9.9"
            )
        alice.subscribe("thrown@mailinator.com", referrer_code=lead["ref_code"])
        for name, count in (("Sticker pack", 3), ("Secret recipes", 10), ("The mug", 20)):
            alice.web.post("/rewards", name=name, referrals=str(count), **BY_HAND)
        hook = self._webhook()
        alice.web.post("/look/embed", origins="https://wax.example")
        found = re.search(r'href="/rewards/([0-9a-f-]{36})"', alice.web.get("/rewards").text)
        imported = upload(alice, "email,name\nnew@example.org,New\nbad,Bad\n")
        assert found
        self._claim_shirts(lead["uuid"])
        self._note(lead["uuid"])
        service.run_jobs()
        self.paths = {
            "home": "/",
            "home-year": "/?range=year",
            "subscribers": "/subscribers",
            "subscribers-none": "/subscribers?q=nobody",
            "subscribers-filtered": "/subscribers?q=e&status=active&referred_by=anyone",
            "subscribers-wrong": "/subscribers?joined_from=2026-02-31&max_referrals=x",
            "screening-lists": "/settings/screening-lists",
            "person": f"/subscribers/{lead['uuid']}",
            "subscriber-new": "/subscribers/new",
            "import": "/subscribers/import",
            "import-file": f"/subscribers/import/{imported}",
            "review": "/review",
            "review-waiting": "/review?show=pending",
            "review-rejected": "/review?show=rejected",
            "review-referrers": "/review?by=referrer",
            "review-check": "/review/check",
            "rewards": "/rewards",
            "shipments": "/shipments",
            "shipments-sent": "/shipments?show=sent",
            "reward": f"/rewards/{found[1]}",
            "pages": "/look/pages",
            "pages-hub": "/look/pages?page=hub",
            "branding": "/look/branding",
            "search": "/search?q=example",
            "emails": "/look/emails?email=reward_unlocked",
            "newsletter": "/look/newsletter?tool=kit",
            "embed": "/look/embed?what=hub",
            "webhooks": "/webhooks",
            "webhook": f"/webhooks/{hook}",
            **ACCOUNT_PAGES,
        }

    def _webhook(self) -> str:
        """One with a delivery."""
        hook = {"url": "http://127.0.0.1:9/hook", "new_referral": True}
        uuid: str = self.alice.post("/v2/webhooks", hook).json()["webhook"]["uuid"]
        self.alice.web.post(f"/webhooks/{uuid}/act", page=f"/webhooks/{uuid}", do="test")
        return uuid

    def _note(self, uuid: str) -> None:
        """Tags, a note, a saved filter, and entries on both lists."""
        web, path = self.alice.web, f"/subscribers/{uuid}"
        web.post(f"{path}/tags", page=path, tag=f"vip, podcast guest, {'long ' * 9}")
        web.post(f"{path}/notes", page=path, note=f"Met at the fair. {'x' * 90}")
        saved = {"name": "Referred by anyone", "query": "referred_by=anyone"}
        web.post("/subscribers/filters", page="/subscribers", **saved)
        lists = "/settings/screening-lists"
        web.post(lists, do="block", entries=f"mallory@example.org {'long-' * 11}name.example.org")
        web.post(lists, do="allow", entries="2001:db8::/32")

    def _claim_shirts(self, subscriber_id: str) -> None:
        """Several to send, of which one has a long address, and one that was sent."""
        alice = self.alice
        shirt = {"name": "Beekeeper T-shirt", "referrals": 2, "kind": "physical"}
        offer(alice, **shirt, recurring=True, variants=["Size S", "Size M"])
        catch_up(alice)
        shirts = [
            each["uuid"]
            for each in earned_by(alice, {"uuid": subscriber_id})
            if each["name"] == "Beekeeper T-shirt"
        ]
        long = {"line2": "Apartment 1204, at the end of the corridor", "region": "Greater Porto"}
        for number, earned in enumerate(shirts):
            address = {**ADDRESS, **long} if number == 1 else ADDRESS
            alice.post(
                f"{alice.v1}/rewards/{earned}/redeem",
                {"shipping_details": address, "variant": "Size M"},
            )
        note = {"tracking_note": "PostNord RR 123 456 785 SE"}
        alice.post(f"{alice.v1}/shipments/{shirts[0]}/sent", note)


@pytest.fixture(scope="module")
def places(service: Service) -> Places:
    return Places(service)


OPEN_TO_ALL = {
    "login": "/login",
    "signup": "/signup",
    "password": "/password",
    "spent": "/password/none",
}


def sit_down(page: Page, who: Operator) -> Page:
    """The operator's session, in this browser."""
    page.context.add_cookies(
        [{"name": "hg_session", "value": who.web.session, "url": who.service.url, "httpOnly": True}]
    )
    return page


# A sixth of the pages in every run, the others in the long one.
SIXTHS = [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, 6))]


@pytest.mark.parametrize("sixth", SIXTHS)
def test_every_page_in_every_look(
    service: Service,
    places: Places,
    page_at: PageAt,
    looks_good: Callable[[Page], None],
    sixth: int,
) -> None:
    inside, outside = sit_down(page_at(DESKTOP), places.alice), page_at(DESKTOP)
    for page, paths in ((inside, places.paths), (outside, OPEN_TO_ALL)):
        for path in list(paths.values())[sixth::6]:
            page.goto(service.url + path)
            looks_good(page)


@pytest.mark.long
def test_every_page_loaded_in_every_look(
    service: Service, places: Places, appearance: Appearance
) -> None:
    inside, outside = sit_down(appearance.page(), places.alice), appearance.page()
    for page, paths in ((inside, places.paths), (outside, OPEN_TO_ALL)):
        for name, path in paths.items():
            page.goto(service.url + path)
            appearance.check(page, f"dashboard-{name}")


@pytest.mark.long
def test_no_page_is_heavy(service: Service, places: Places, page_at: PageAt) -> None:
    page = sit_down(page_at(DESKTOP), places.alice)
    found = {path: weights(page, service.url + path) for path in places.paths.values()}
    heavy = {path: parts for path, parts in found.items() if sum(parts.values()) >= HEAVIEST}
    assert not heavy
    assert all(any("css" in url for url in parts) for parts in found.values()), "weighed too little"

"""A partner's links and a program's hosted page over HTTP, on both engines: who is subscribed by
what, whom they count for, and where visitors are sent.
"""

from typing import Any

import httpx
import pytest

from honeyguide.subscribers import branding
from honeyguide.subscribers.branding import BrandFields
from tests.support.newsletter import Newsletter
from tests.support.partner_network import join, offer, publish
from tests.support.service import Member, Service
from tests.support.tables import Dump, dump

pytestmark = pytest.mark.usefixtures("roomy_network")

TARGET = "https://wax.example/welcome"
# What visitors bring to be sent elsewhere.
LURES = (
    "next=https://evil.example/",
    "redirect_url=//evil.example",
    "url=https:evil.example",
    "to=%5C%5Cevil.example",
    "thankyou_page_url=javascript:alert(1)",
    "next=data:text/html,x",
    "return=%0d%0aLocation:%20https://evil.example",
)


class Deal:
    """Alice's newsletter with a program and its hosted page; Bob is her partner."""

    def __init__(self, service: Service, bob: Member) -> None:
        self.wax = Newsletter(service)
        self.alice = self.wax.member
        self.publication = publish(self.alice, name="The Morning Wax & Co")
        self.slug = "deal-" + self.alice.campaign_id[-12:]
        self.program = offer(self.alice, self.publication, redirect_url=TARGET, slug=self.slug)
        self.place = join(bob, self.program)
        self.code: str = self.place["ref_code"]
        self.magic = f"/m/{self.code}"
        self.page = f"/join/{self.slug}"

    def change(self, **fields: Any) -> None:
        assert (
            self.alice.put(f"/v2/partner_programs/{self.program['uuid']}", fields).status_code
            == 200
        )

    def referrals(self) -> dict[str, dict[str, Any]]:
        rows = self.alice.get(f"/v2/partner_programs/{self.program['uuid']}/referrals").json()[
            "referrals"
        ]
        return {row["email"]: row for row in rows}


@pytest.fixture
def deal(service: Service, bob: Member) -> Deal:
    return Deal(service, bob)


def sent_to(answer: httpx.Response) -> str:
    assert answer.status_code in (302, 303), answer.text
    return answer.headers["location"]


# -- the partner link


def test_a_partner_link_leads_to_the_stored_address_whatever_the_visitor_brings(deal: Deal) -> None:
    for code in (deal.code, deal.code.upper()):
        assert sent_to(deal.wax.visitor.get(f"/p/{code}")) == f"{TARGET}?partner={deal.code}"
    brought = "utm_source=letter&partner=pevilevil&%70artner=x&a=%20b"
    assert (
        sent_to(deal.wax.visitor.get(f"/p/{deal.code}?{brought}"))
        == f"{TARGET}?utm_source=letter&a=%20b&partner={deal.code}"
    )
    for lure in LURES:
        target = sent_to(deal.wax.visitor.get(f"/p/{deal.code}?{lure}"))
        assert (
            target.startswith(f"{TARGET}?")
            and target.endswith(f"&partner={deal.code}")
            and "\r" not in target
        )


def test_a_link_that_was_given_out_goes_on_leading_somewhere_and_an_unknown_one_is_a_kind_404(
    deal: Deal,
) -> None:
    deal.alice.delete(f"/v2/publications/{deal.publication['uuid']}")
    assert sent_to(deal.wax.visitor.get(f"/p/{deal.code}")) == f"{TARGET}?partner={deal.code}"
    for unknown in ("p23456789", "x", "%00", f"{deal.code}/x", "..%2f..%2fv2"):
        for prefix in ("/p/", "/m/"):
            answer = deal.wax.visitor.get(prefix + unknown)
            assert answer.status_code == 404 and answer.headers["content-type"].startswith(
                "text/html"
            ), unknown


# -- the magic link


def lasting(wax: Newsletter) -> Dump:
    """Everything but the clockwork's own notes, with all clicks counted."""
    wax.clicks()
    return {name: rows for name, rows in dump(wax.service).items() if name != "job_lease"}


def test_a_mail_scanner_changes_nothing_however_often_it_looks(deal: Deal) -> None:
    scanner = httpx.Client(
        base_url=deal.wax.service.url,
        headers={"user-agent": "Mozilla/5.0 SafeLinks scanner"},
        verify=False,
    )
    deal.wax.service.run_jobs()
    before = lasting(deal.wax)
    for n in range(100):
        for method in ("GET", "HEAD"):
            answer = scanner.request(
                method, deal.magic, params={"email": f"reader{n % 7}@example.org", "confirm": "1"}
            )
            assert answer.status_code == 200
    assert lasting(deal.wax) == before
    assert deal.alice.total() == 0


def test_the_magic_link_says_where_the_address_goes(deal: Deal) -> None:
    deal.alice.make(branding.save, BrandFields(privacy_url="https://wax.example/privacy"))
    sentence = "If you subscribe, your email address goes to The Morning Wax &amp; Co."
    page = deal.wax.visitor.get(f"{deal.magic}?email={deal.wax.address()}").text
    assert sentence in page and 'href="https://wax.example/privacy"' in page
    assert sentence not in deal.wax.visitor.get(deal.page).text, "its own page is plainly its own"


def test_one_press_subscribes_the_reader_for_the_partner(deal: Deal) -> None:
    email = deal.wax.address()
    page = deal.wax.visitor.get(f"{deal.magic}?email={email}")
    assert f'value="{email}"' in page.text and "The Morning Wax &amp; Co" in page.text
    thanks = sent_to(deal.wax.fill_in(f"{deal.magic}?email={email}", email))
    person = deal.wax.person(email)
    assert (person.origin, person.referrer_code) == ("magic", deal.code)
    assert person.ref_code in deal.wax.visitor.get(thanks).text, (
        "our own thank-you page shows the reader's link"
    )
    row = deal.referrals()[email]
    assert (row["status"], row["partner_campaign_uuid"], row["charged"]) == (
        "verified",
        deal.place["uuid"],
        3,
    )


def test_after_the_press_comes_the_programs_own_thank_you_page_and_no_other(deal: Deal) -> None:
    deal.change(thankyou_page_url="https://wax.example/thanks")
    for lure in LURES:
        name, _, value = lure.partition("=")
        form = {**deal.wax.fields(f"{deal.magic}?{lure}"), "email": deal.wax.address(), name: value}
        answer = deal.wax.visitor.post(f"{deal.magic}?{lure}", data=form)
        assert sent_to(answer) == "https://wax.example/thanks"


def test_who_is_here_already_is_no_new_acquisition(deal: Deal) -> None:
    known, alias = "anna.lee@gmail.com", "annalee+wax@gmail.com"
    deal.alice.subscribe(known)
    deal.alice.put(f"{deal.alice.v1}/subscribers/{known}", {"status": "unsubscribed"})
    for email in (known, known.upper(), alias):
        assert deal.wax.fill_in(f"{deal.magic}?email={email}", email).status_code == 303
    assert deal.alice.total() == 2
    assert (deal.wax.person(known).origin, deal.wax.person(known).referrer_code) == ("api", None)
    rows = deal.referrals()
    assert set(rows) == {alias} and (rows[alias]["status"], rows[alias]["reason"]) == (
        "rejected",
        "already_subscribed",
    )


# -- the hosted page


def test_the_hosted_page_shows_the_publication_and_keeps_the_partner(deal: Deal) -> None:
    page = deal.wax.visitor.get(f"{deal.page}?partner={deal.code}").text
    assert (
        "The Morning Wax &amp; Co" in page
        and deal.publication["logo_url"].rpartition("/")[2] in page
    )
    assert '<meta property="og:title"' in page
    email, alone = deal.wax.address(), deal.wax.address()
    query = f"?partner={deal.code}&utm_source=podcast&next=https://evil.example"
    thanks = sent_to(deal.wax.fill_in(deal.page + query, email))
    assert thanks.startswith(f"{deal.page}/thanks?for=")
    person = deal.wax.person(email)
    assert (person.origin, person.referrer_code, person.utm_source) == (
        "signup",
        deal.code,
        "podcast",
    )
    assert deal.referrals()[email]["status"] == "verified"
    deal.wax.fill_in(deal.page, alone)
    assert deal.wax.person(alone).referrer_code is None and set(deal.referrals()) == {email}


def test_a_partners_code_counts_on_the_campaigns_page_and_over_every_endpoint(deal: Deal) -> None:
    on_page, over_v1, over_v2 = (deal.wax.address() for _ in range(3))
    deal.wax.join(on_page, f"?partner={deal.code}")
    deal.alice.subscribe(over_v1, referrer_code=deal.code)
    deal.alice.post("/v2/subscribers", {"email": over_v2, "referrer_code": deal.code})
    assert {email: row["status"] for email, row in deal.referrals().items()} == dict.fromkeys(
        (on_page, over_v1, over_v2), "verified"
    )
    assert [deal.wax.person(email).origin for email in (on_page, over_v1, over_v2)] == [
        "signup",
        "api",
        "api",
    ]


def test_a_stranger_cannot_take_the_page_or_the_readers(deal: Deal, mallory: Member) -> None:
    taken = {
        "max_payout": 1,
        "total_budget": 1,
        "cpa": 1,
        "redirect_url": "https://evil.example/",
        "slug": deal.slug,
    }
    answer = mallory.post(
        "/v2/partner_programs", {**taken, "publication_uuid": publish(mallory)["uuid"]}
    )
    assert (answer.status_code, answer.json()["param"]) == (400, "slug")
    email = deal.wax.address()
    mallory.subscribe(email, referrer_code=deal.code)
    assert mallory.subscriber(email)["referred"] is False and deal.referrals() == {}
    assert (
        mallory.get(f"/v2/partner_profile/partner_campaigns/{deal.place['uuid']}").status_code
        == 404
    )

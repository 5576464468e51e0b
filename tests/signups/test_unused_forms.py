"""Signups on the operator's own website with a token of a form that was not used, and without: who
is asked to confirm, and for whom the owner is asked before they are paid for. On both engines.
"""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from honeyguide.pages.embeds import endpoint
from tests.screening.test_screening_lists import add as allow_or_block
from tests.support.embeds import SITE, Visitor, embedding, people
from tests.support.mailbox import Mailbox
from tests.support.partner_network import join, offer, publish
from tests.support.robots import BROWSER, Robots
from tests.support.service import ENGINES, Service
from tests.support.stores import statement

NOT_CLICKED = "not from this browser within a day"
OTHER_SITE = "https://other-wax.example"
SET_TERMS = statement(
    "UPDATE program SET rule = :rule, screening = :level, is_verification_chosen = :chosen"
    " WHERE id = :id"
)
pytestmark = pytest.mark.usefixtures("roomy_network")


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Mailbox() as mailbox, Service(request.param, smtp_url=mailbox.url) as service:
        yield service


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "ANSWER_AFTER_S", 0)


class Website:
    """A newsletter with a program, and readers on its owner's websites."""

    def __init__(self, service: Service, **program: int) -> None:
        self.robots = Robots(service, **program)
        self.owner = self.robots.owner
        self.embed = embedding(self.owner, SITE, OTHER_SITE)
        self.visitor = self.visit(SITE)

    def visit(self, site: str, **headers: str) -> Visitor:
        visitor = Visitor(self.owner, self.embed, site)
        visitor.http.headers.update({**BROWSER, **headers})
        return visitor

    def sign_up(self, email: str, **fields: str) -> bool:
        """Whether the answer says that they have to confirm."""
        answer = self.visitor.sign_up(email, **{"partner": self.robots.code, **fields})
        assert answer.status_code == 200, answer.text
        return bool(answer.json()["needs_confirmation"])

    def after_confirming(self, email: str) -> tuple[str, str | None]:
        assert self.robots.referral(email) == ("pending", "awaiting_confirmation")
        self.robots.confirm(email)
        return self.robots.referral(email)


@pytest.fixture
def website(service: Service) -> Website:
    return Website(service)


@pytest.mark.parametrize(
    ("rule", "level", "chosen"),
    [
        ("confirmed", "strong", 0),
        ("confirmed", "strict", 1),
        ("none", "flexible", 1),
        ("none", None, 0),  # a program from before programs had a level of their own
    ],
)
def test_a_paid_signup_without_a_token_confirms_and_waits_for_its_owner(
    website: Website, rule: str, level: str | None, chosen: int
) -> None:
    robots = website.robots
    terms = {"id": robots.program["uuid"], "rule": rule, "level": level, "chosen": chosen}
    robots.service.write(lambda tx: tx.run(SET_TERMS, **terms))
    assert website.sign_up("fake@gmail.com") is True
    assert website.after_confirming("fake@gmail.com") == ("pending", "needs_review")
    found = robots.evidence("fake@gmail.com")["no_form"]
    assert (found["points"], found["value"]) == (1, "no unused token")
    # The card in Review, which one click answers.
    page = website.owner.web.get("/review").text
    assert "The signup came without a form that we had shown" in page
    person = robots.wax.person("fake@gmail.com").id
    website.owner.web.post("/review", id=person, do="verify")
    robots.days_pass(0.01)
    assert robots.referral("fake@gmail.com") == ("verified", "verified_by_hand")
    assert robots.charged() == 1


def test_nobody_who_waits_is_paid_for_by_time(website: Website) -> None:
    website.sign_up("fake@gmail.com")
    website.after_confirming("fake@gmail.com")
    website.robots.days_pass(31)
    assert website.robots.referral("fake@gmail.com") == ("rejected", "unreviewed")
    assert website.robots.charged() == 0


def test_with_a_token_a_confirmation_is_all_it_takes(website: Website) -> None:
    robots = website.robots
    website.sign_up("ann@gmail.com", token=website.visitor.token())
    assert website.after_confirming("ann@gmail.com") == ("verified", None)
    assert robots.evidence("ann@gmail.com")["no_click"]["value"] == NOT_CLICKED
    # From another browser it is a point.
    given = website.visitor.token()
    website.visitor = website.visit(SITE, **{"user-agent": BROWSER["user-agent"] + " x"})
    website.sign_up("ben@gmail.com", token=given)
    assert website.after_confirming("ben@gmail.com") == ("verified", None)
    found = robots.evidence("ben@gmail.com")
    assert {code: each["points"] for code, each in found.items()} == {"no_click": 1, "confirmed": 0}
    assert found["no_click"]["value"] == "the form was shown to somebody else"


def test_a_token_is_for_one_campaign_and_one_website(service: Service, website: Website) -> None:
    eve = service.member("eve")
    strange = {
        "another campaign's": Visitor(eve, embedding(eve)).token(),
        "another website's": website.visit(OTHER_SITE).token(),
        "a hosted page's": website.robots.wax.fields(website.robots.wax.page)["token"],
        "long": "A" * 10_240,
        "none of ours": "\u0000é",
        "empty": "",
    }
    for number, (name, given) in enumerate(strange.items()):
        email = f"reader{number}@gmail.com"
        assert website.sign_up(email, token=given) is True, name
        assert "no_form" in website.robots.evidence(email), name
    # Each is good where it belongs.
    website.visitor = website.visit(OTHER_SITE)
    website.sign_up("at-home@gmail.com", token=strange["another website's"])
    assert "no_form" not in website.robots.evidence("at-home@gmail.com")
    expired = website.visitor.token()
    website.robots.wax.later(2 * 86_400 + 60)
    website.sign_up("late@gmail.com", token=expired)
    assert "no_form" in website.robots.evidence("late@gmail.com")


def test_a_frame_of_ours_reads_its_token_without_an_origin(website: Website) -> None:
    frame = Visitor(website.owner, website.embed, None)
    frame.http.headers["sec-fetch-site"] = "same-origin"
    given = frame.token()
    website.visitor = website.visit(website.owner.service.services.site.base_url)
    website.sign_up("ann@gmail.com", token=given)
    assert "no_form" not in website.robots.evidence("ann@gmail.com")


def test_without_an_origin_there_is_neither_a_token_nor_a_signup(website: Website) -> None:
    given, unnamed = website.visitor.token(), Visitor(website.owner, website.embed, None)
    assert unnamed.get("token").status_code == 403
    assert unnamed.sign_up("ben@gmail.com", token=given).status_code == 403
    assert Visitor(website.owner, website.embed, "null").get("token").status_code == 403
    assert "ben@gmail.com" not in people(website.owner)


def test_who_is_not_paid_for_is_asked_to_confirm_and_waits_for_nobody(website: Website) -> None:
    robots = website.robots
    friend = website.owner.subscribe("friend@gmail.com")["ref_code"]
    assert website.sign_up("ann@gmail.com", partner="", ref=friend) is True
    assert website.after_confirming("ann@gmail.com") == ("verified", None)
    assert website.sign_up("ben@gmail.com", partner="") is True
    assert robots.wax.person("ben@gmail.com").must_confirm
    assert website.sign_up("cleo@gmail.com", partner="", token=website.visitor.token()) is False


def test_where_the_program_pays_no_fee_nobody_waits_either(service: Service) -> None:
    website = Website(service, cpa=0)
    assert website.sign_up("ann@gmail.com") is True
    assert website.after_confirming("ann@gmail.com") == ("verified", None)


def test_whoever_enters_the_address_of_a_reader_costs_them_no_wait(website: Website) -> None:
    """The partner's code is public."""
    website.sign_up("ann@gmail.com")
    website.sign_up("ann@gmail.com", token=website.visitor.token())
    assert website.after_confirming("ann@gmail.com") == ("verified", None)
    website.sign_up("ben@gmail.com")
    website.robots.come("ben@gmail.com")
    assert website.after_confirming("ben@gmail.com") == ("verified", None)


def test_who_is_on_the_allow_list_waits_for_nobody(website: Website) -> None:
    allow_or_block(website.owner, "allow", "ann@gmail.com")
    website.sign_up("ann@gmail.com")
    assert website.after_confirming("ann@gmail.com") == ("verified", None)


def test_without_a_mail_server_nobody_is_asked_to_confirm_what_they_cannot(
    website: Website,
) -> None:
    with Service(website.owner.service.engine) as silent:
        owner, partner = silent.member("alice"), silent.member("bob")
        program = offer(owner, publish(owner))
        code = join(partner, program)["ref_code"]
        visitor = Visitor(owner, embedding(owner))
        answer = visitor.sign_up("ann@gmail.com", partner=code)
        assert answer.json() == {"ok": True, "needs_confirmation": False}
        path = f"/v2/partner_programs/{program['uuid']}/referrals"
        (found,) = owner.get(path).json()["referrals"]
        assert (found["status"], found["reason"]) == ("pending", "needs_review")


def test_of_all_who_use_one_token_at_once_one_signs_up(
    website: Website, processes: list[Service]
) -> None:
    processes[-1].set_clock(float(processes[0].clock_file.read_text()))
    given = website.visitor.token()

    def send(number: int) -> int:
        at = processes[number % len(processes)]
        visitor = Visitor(website.owner, website.embed, service=at)
        email = f"robot{number}@gmail.com"
        return visitor.sign_up(email, partner=website.robots.code, token=given).status_code

    with ThreadPoolExecutor(6) as pool:
        assert Counter(pool.map(send, range(6))) == {200: 1, 400: 5}
    (robot,) = [each for each in people(website.owner) if each.startswith("robot")]
    assert "no_form" not in website.robots.evidence(robot)

"""What a program asks of its referrals, on pages: the owner's form and program, the recommendation
to older programs, what partners read, and what readers are told before they sign up.
"""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from honeyguide.partners import verification
from honeyguide.partners.verification import Origins
from honeyguide.screening.rules import Rule
from honeyguide.subscribers.referral_states import Level
from tests.pages.dashboard.test_program_forms import beside
from tests.screening.test_verification import asked, path_of, stored, terms_of
from tests.support.belongings import older_program
from tests.support.embeds import Visitor, embedding
from tests.support.mailbox import Mailbox
from tests.support.network_operators import PROGRAM
from tests.support.newsletter import Newsletter
from tests.support.partner_network import join, offer, publish
from tests.support.process import command
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

pytestmark = pytest.mark.usefixtures("roomy_network")

OFFER = "Recommended for this program"
ANNOUNCED = "We’ll send you an email with a link to confirm your subscription."


@pytest.fixture(scope="module", params=ENGINES)
def mailing(request: pytest.FixtureRequest) -> Iterator[Service]:
    """A service with a mail server."""
    with Mailbox() as mailbox, Service(request.param, smtp_url=mailbox.url) as service:
        yield service


def page_of(owner: Operator, program: dict[str, Any] | str, tail: str = "") -> str:
    uuid = program if isinstance(program, str) else program["uuid"]
    return text_of(owner.web.get(f"/program/{uuid}{tail}").text)


def made_by_form(owner: Operator, **fields: str) -> httpx.Response:
    publication = publish(owner)["uuid"]
    page = f"/program/new?publication={publication}"
    given = {**PROGRAM, **fields}
    return owner.web.post("/program/new", page=page, publication=publication, **given)


def id_of(answer: httpx.Response) -> str:
    assert answer.status_code == 303, text_of(answer.text)
    return str(answer.headers["location"].rpartition("/")[2].partition("?")[0])


def test_the_form_says_what_each_choice_means_and_shows_the_defaults(mailing: Service) -> None:
    alice = operator(mailing)
    publication = publish(alice)["uuid"]
    page = alice.web.get(f"/program/new?publication={publication}").text
    every = (verification.RULES, verification.LEVELS, verification.ORIGINS)
    for texts in (text for of_field in every for text in of_field.values()):
        assert texts.label in text_of(page) and texts.to_owner in text_of(page)
    assert 'name="rule" value="confirmed" checked' in page
    assert 'name="screening" value="strong" checked' in page
    assert "no mail server is set" not in text_of(page)
    assert 'name="origins" value="all" checked' in page
    for name, value in (("first_look", "10"), ("referral_pending_duration", "14")):
        assert re.search(f'<input[^>]* name="{name}"[^>]* value="{value}"', page)


def test_what_the_form_shows_is_not_chosen_until_it_is_changed(mailing: Service) -> None:
    alice = operator(mailing)
    default = id_of(made_by_form(alice, rule="confirmed", screening="strong"))
    assert stored(alice, default) == ("confirmed", "strong", 1)
    assert terms_of(alice, default) == ("all", 10), "also without these fields"
    shown = {"origins": "hosted", "first_look": ""}
    hosted = id_of(made_by_form(alice, rule="confirmed", screening="strong", **shown))
    assert (stored(alice, hosted)[2], terms_of(alice, hosted)) == (0, ("hosted", None))
    refused = made_by_form(alice, first_look="1001")
    assert beside(refused.text, "First look must be 1 to 1000.")
    chosen = id_of(made_by_form(alice, rule="none", screening="strong"))
    assert stored(alice, chosen) == ("none", "strong", 1)
    page = f"/program/{hosted}/change"
    shown = {"rule": "confirmed", "screening": "strong"}
    assert alice.web.post(page, page=page, **{**PROGRAM, **shown}).status_code == 303
    assert stored(alice, hosted) == ("confirmed", "strong", 0)
    shown |= {"origins": "hosted", "screening": "strict", "first_look": "25"}
    assert alice.web.post(page, page=page, **{**PROGRAM, **shown}).status_code == 303
    assert stored(alice, hosted) == ("confirmed", "strict", 0), "as the form shows it"
    assert terms_of(alice, hosted) == ("hosted", 25)
    shown = {"rule": "confirmed", "screening": "strong"}
    page = f"/program/{default}/change"
    shown["screening"] = "strict"
    assert alice.web.post(page, page=page, **{**PROGRAM, **shown}).status_code == 303
    assert stored(alice, default) == ("confirmed", "strict", 1)
    again = alice.web.get(page).text
    assert 'name="screening" value="strict" checked' in again
    assert 'name="origins" value="all" checked' in again
    assert re.search('<input[^>]* name="first_look"[^>]* value="10"', again)


def test_a_form_from_before_these_fields_sets_all_with_a_level(mailing: Service) -> None:
    alice = operator(mailing)
    default = offer(alice)["uuid"]
    page, shown = f"/program/{default}/change", {"rule": "confirmed", "screening": "strong"}
    shown["screening"] = "strict"
    assert alice.web.post(page, page=page, **{**PROGRAM, **shown}).status_code == 303
    assert stored(alice, default) == ("confirmed", "strict", 1)
    again = alice.web.get(page).text
    assert 'name="screening" value="strict" checked' in again
    assert 'name="origins" value="all" checked' in again


def test_a_rule_that_needs_email_is_refused_beside_its_field(alice: Operator) -> None:
    answer = made_by_form(alice, rule="confirmed", screening="strict")
    assert answer.status_code == 400
    assert beside(answer.text, verification.NEEDS_EMAIL)
    assert 'name="screening" value="strict" checked' in answer.text
    assert "no mail server is set" in text_of(answer.text)
    wrong = made_by_form(alice, screening="loose")
    assert beside(wrong.text, "Screening must be one of: flexible, strong, strict.")


def test_the_program_page_shows_both_and_says_when_email_is_missing(
    service: Service, alice: Operator
) -> None:
    program = offer(alice)
    assert "None · strong screening" in page_of(alice, program)
    assert "no mail server is set" not in page_of(alice, program)
    # The mail server was there when the owner chose.
    sql = "UPDATE program SET rule = 'confirmed' WHERE id = :id"
    service.write(lambda tx: tx.run(statement(sql), id=program["uuid"]))
    assert "Confirmed email address · strong screening" in page_of(alice, program)
    assert "Nobody can confirm, so no referral will count." in page_of(alice, program)


def held_program(owner: Operator) -> dict[str, Any]:
    """One that has decided nothing yet, and whose level holds more than a fifth."""
    program = offer(owner, referral_pending_duration_enabled=True)
    code = join(owner.service.member("bob"), program)["ref_code"]
    owner.put(f"{owner.v1}/settings", {"screening": "strong"})
    for number in range(20):
        claims = {"ip_address": "203.0.113.9"} if number < 8 else {}
        owner.subscribe(f"h{number}@example.org", referrer_code=code, **claims)
    return program


def test_the_program_page_and_doctor_say_when_a_level_holds_many(engine: str) -> None:
    with Service(engine) as service:
        alice = operator(service)
        program = held_program(alice)
        assert (
            "Screening at strong kept 25% of this program’s newest 20 referrals from counting "
            "(5 in the last 30 days)." in page_of(alice, program)
        )
        service.run_jobs()
        done = command("doctor", "--json", database_url=service.database_url)
        assert "1 partner program keeps more than 20% of the referrals" in done.stdout
        sql = "UPDATE program SET rule = 'confirmed' WHERE id = :id"
        service.write(lambda tx: tx.run(statement(sql), id=program["uuid"]))
        done = command("doctor", "--json", database_url=service.database_url)
        assert "1 partner program asks for confirmations by email" in done.stdout
        assert done.returncode != 0


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_an_older_program_is_recommended_the_new_settings(mailing: Service) -> None:
    alice = operator(mailing)
    assert OFFER not in page_of(alice, offer(alice))
    program = older_program(alice)
    assert OFFER in page_of(alice, program)
    overview = alice.web.get("/").text
    assert f'href="/program/{program}"' in overview
    assert "New settings for the partner program of" in text_of(overview)
    path = f"/program/{program}/verification"
    used = alice.web.post(path, page=f"/program/{program}", do="use")
    assert used.headers["location"].startswith(f"/program/{program}")
    # As a new program has them: for hosted origins.
    assert stored(alice, program) == ("confirmed", "strong", 0)
    assert OFFER not in page_of(alice, program)
    assert "New settings" not in text_of(alice.web.get("/").text)


def test_who_keeps_their_own_settings_is_not_asked_again(mailing: Service) -> None:
    alice = operator(mailing)
    first, second = older_program(alice), older_program(alice)
    assert "New settings for 2 partner programs" in text_of(alice.web.get("/").text)
    for program in (first, second):
        path = f"/program/{program}/verification"
        assert alice.web.post(path, page=f"/program/{program}", do="keep").status_code == 303
        assert stored(alice, program) == ("none", None, 0)
        assert OFFER not in page_of(alice, program)
    assert "New settings" not in text_of(alice.web.get("/").text)
    # A button of a page from before does nothing any more.
    alice.web.post(f"/program/{first}/verification", page=f"/program/{first}", do="use")
    assert asked(alice, first) == ("none", "flexible")


def test_partners_read_it_before_and_after_joining(mailing: Service) -> None:
    alice, bob = operator(mailing), operator(mailing, "bob")
    program = offer(alice)
    sentences = [
        verification.RULES[Rule.CONFIRMED].to_partner,
        verification.LEVELS[Level.STRONG].to_partner,
        verification.ORIGINS[Origins.HOSTED].to_partner,
    ]
    before = text_of(bob.web.get(f"/network/{program['uuid']}").text)
    after = text_of(bob.web.get(f"/earnings/{join(bob, program)['uuid']}").text)
    for sentence in sentences:
        assert sentence in before and sentence in after
    alice.put(path_of(program), {"rule": "active"})
    chosen = text_of(bob.web.get(f"/network/{program['uuid']}").text)
    assert verification.RULES[Rule.ACTIVE].to_partner in chosen
    assert verification.ORIGINS[Origins.HOSTED].to_partner not in chosen


class Hosted:
    """Alice's program with a page of its own, and Bob's code in it."""

    def __init__(self, service: Service, **fields: Any) -> None:
        self.wax = Newsletter(service)
        self.owner: Member = self.wax.member
        self.slug = self.wax.address("wax").partition("@")[0]
        self.program = offer(self.owner, slug=self.slug, **fields)
        self.code = join(service.member("bob"), self.program)["ref_code"]
        self.page, self.magic = f"/join/{self.slug}", f"/m/{self.code}"

    def announces(self, path: str) -> bool:
        page = self.wax.visitor.get(path)
        assert page.status_code == 200
        text = text_of(page.text)
        button = text.rindex("Subscribe")
        return ANNOUNCED in text[:button]

    def join(self, path: str) -> httpx.Response:
        page = path.partition("?")[0]
        fields = {**self.wax.fields(path), "email": self.wax.address()}
        return self.wax.visitor.post(page, data=fields)

    def lands_on(self, path: str) -> str:
        answer = self.join(path)
        assert answer.status_code == 303
        return text_of(self.wax.visitor.get(answer.headers["location"]).text)


def test_pages_say_that_an_email_will_come_if_the_program_asks_for_it(mailing: Service) -> None:
    hosted = Hosted(mailing)
    sent = f"{hosted.page}?partner={hosted.code}"
    assert hosted.announces(hosted.magic) and hosted.announces(sent)
    # Nobody pays for who comes without a partner, and nothing is asked of them.
    assert not hosted.announces(hosted.page)
    assert not hosted.announces(hosted.wax.page)
    assert hosted.announces(f"{hosted.wax.page}?partner={hosted.code}")
    hosted.owner.put(path_of(hosted.program), {"rule": "none"})
    assert not hosted.announces(hosted.magic) and not hosted.announces(sent)


def test_after_signing_up_the_page_asks_to_confirm(mailing: Service) -> None:
    hosted = Hosted(mailing)
    inbox = "tap the link to confirm your subscription"
    assert inbox in hosted.lands_on(hosted.magic)
    assert inbox in hosted.lands_on(f"{hosted.page}?partner={hosted.code}")
    assert inbox in hosted.lands_on(f"{hosted.wax.page}?partner={hosted.code}")
    assert len(hosted.wax.emails("confirm")) == 3
    assert inbox not in hosted.lands_on(hosted.page)
    assert inbox not in hosted.lands_on(f"{hosted.page}?ref=nobody")
    hosted.owner.put(path_of(hosted.program), {"rule": "none"})
    assert inbox not in hosted.lands_on(hosted.magic)
    assert len(hosted.wax.emails("confirm")) == 3


def test_a_thank_you_page_of_the_owner_stays(mailing: Service) -> None:
    hosted = Hosted(mailing, thankyou_page_url="https://wax.example/thanks")
    assert hosted.announces(hosted.magic)
    assert hosted.join(hosted.magic).headers["location"] == "https://wax.example/thanks"
    assert len(hosted.wax.emails("confirm")) == 1


def test_a_form_on_the_owners_website_says_it_too(mailing: Service) -> None:
    hosted = Hosted(mailing)
    visitor = Visitor(hosted.owner, embedding(hosted.owner))
    given = visitor.token(), visitor.token()
    answer = visitor.sign_up(hosted.wax.address(), partner=hosted.code, token=given[0])
    assert answer.json() == {"ok": True, "needs_confirmation": True}
    answer = visitor.sign_up(hosted.wax.address(), token=given[1])
    assert answer.json() == {"ok": True, "needs_confirmation": False}
    # Without a form, everybody confirms.
    answer = visitor.sign_up(hosted.wax.address())
    assert answer.json() == {"ok": True, "needs_confirmation": True}


def test_the_code_of_another_newsletter_changes_nothing(mailing: Service) -> None:
    hosted, other = Hosted(mailing), Hosted(mailing)
    assert not hosted.announces(f"{hosted.wax.page}?partner={other.code}")
    assert "confirm your subscription" not in hosted.lands_on(f"{hosted.page}?ref={other.code}")


def test_the_sentence_is_in_the_readers_language(mailing: Service) -> None:
    hosted = Hosted(mailing)
    hosted.wax.speak("de")
    page = text_of(hosted.wax.visitor.get(hosted.magic).text)
    assert "Wir schicken dir eine E-Mail mit einem Link, um dein Abo zu bestätigen." in page

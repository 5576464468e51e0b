"""What speaks for and against a referral: found on our own forms, again when others come with the
same code, and when it is decided. Seen through the real pages, on both engines.
"""

from collections.abc import Iterator

import pytest

from honeyguide.account_life import pausing
from honeyguide.mail.email_kinds import CONFIRM
from tests.screening.test_screening_lists import add as allow_or_block
from tests.support.mailbox import Mailbox
from tests.support.partner_network import join
from tests.support.robots import BROWSER, Robots
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import operator, text_of

NAMES = ("ada", "bela", "carlos", "dmitri", "eleni", "farid", "grete", "hugo", "ines", "jonas")


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Mailbox() as mailbox, Service(request.param, smtp_url=mailbox.url) as service:
        yield service


def test_a_person_who_confirms_is_paid_for_at_once(service: Service) -> None:
    robots = Robots(service)
    robots.come("ada.lovelace@gmail.com")
    assert robots.referral("ada.lovelace@gmail.com") == ("pending", "awaiting_confirmation")
    assert robots.evidence("ada.lovelace@gmail.com") == {}
    robots.confirm("ada.lovelace@gmail.com")
    assert robots.referral("ada.lovelace@gmail.com") == ("verified", None)
    assert robots.evidence("ada.lovelace@gmail.com")["confirmed"]["points"] == 0
    assert robots.charged() == 1


def test_who_confirms_in_a_paused_account_is_paid_for_once_it_is_resumed(service: Service) -> None:
    operator(service)  # of a new installation, the first account cannot be paused
    robots = Robots(service)
    robots.ask_for_activity()
    for name in ("ada.lovelace", "ben.brooks"):
        robots.come(f"{name}@gmail.com")
    robots.confirm("ben.brooks@gmail.com")
    plain = Robots(service)
    plain.come("cy.cole@gmail.com")
    for each in (robots, plain):
        each.owner.make(pausing.pause)
    plain.confirm("cy.cole@gmail.com")
    robots.confirm("ada.lovelace@gmail.com")
    for name in ("ada.lovelace", "ben.brooks"):
        robots.use_page(f"{name}@gmail.com")
    service.run_jobs()
    assert plain.referral("cy.cole@gmail.com")[0] == "pending"
    assert robots.referral("ada.lovelace@gmail.com")[0] == "pending"
    assert robots.referral("ben.brooks@gmail.com")[0] == "pending"
    assert (plain.charged(), robots.charged()) == (0, 0)
    for each in (robots, plain):
        each.owner.make(pausing.resume)
    service.run_jobs()
    assert plain.referral("cy.cole@gmail.com") == ("verified", None)
    assert (plain.charged(), robots.charged()) == (1, 2)


def test_who_never_confirms_is_rejected_after_30_days_and_never_told_to_a_platform(
    service: Service,
) -> None:
    robots = Robots(service)
    robots.come("never@gmail.com")
    robots.days_pass(29.9)
    assert robots.referral("never@gmail.com") == ("pending", "awaiting_confirmation")
    robots.days_pass(0.2)
    assert robots.referral("never@gmail.com") == ("rejected", "unconfirmed")
    assert robots.charged() == 0


def test_a_tool_and_another_visitor_are_evidence_and_no_decision(service: Service) -> None:
    robots = Robots(service)
    robots.wax.visitor.headers.update(BROWSER)
    hidden = robots.wax.fields(f"/m/{robots.code}")
    robots.wax.visitor.headers.update({"user-agent": "python-requests/2.32"})
    robots.wax.later()
    answer = robots.wax.visitor.post(
        f"/m/{robots.code}", data={**hidden, "email": "tool@gmail.com"}
    )
    assert answer.status_code == 303
    robots.wax.visitor.headers.update(BROWSER)
    found = robots.evidence("tool@gmail.com")
    assert {code: each["points"] for code, each in found.items()} == {
        "automated_browser": 1,
        "no_click": 1,
    }
    assert "python" in found["automated_browser"]["sentence"]
    robots.confirm("tool@gmail.com")
    assert robots.referral("tool@gmail.com") == ("verified", None)


def test_one_rare_domain_waits_for_the_owner_and_is_rejected_if_nobody_reviews(
    service: Service,
) -> None:
    robots = Robots(service)
    emails = [f"{name}@quiet-harbor.example" for name in NAMES[:8]]
    for email in emails:
        robots.come(email)
    for email in emails:
        robots.confirm(email)
    assert {robots.referral(email) for email in emails} == {("pending", "needs_review")}
    assert "quiet-harbor.example" in robots.evidence(emails[0])["rare_domain"]["sentence"]
    robots.days_pass(29)
    assert {robots.referral(email) for email in emails} == {("pending", "needs_review")}
    robots.days_pass(2)
    assert {robots.referral(email) for email in emails} == {("rejected", "unreviewed")}
    assert robots.charged() == 0


def test_whoever_is_on_the_allow_list_is_paid_for_whatever_the_evidence_is(
    service: Service,
) -> None:
    robots = Robots(service)
    emails = [f"{name}@open-harbor.example" for name in NAMES[:8]]
    for email in emails:
        robots.come(email)
    allow_or_block(robots.owner, "allow", "open-harbor.example")
    for email in emails:
        robots.confirm(email)
    assert {robots.referral(email) for email in emails} == {("verified", None)}
    assert robots.charged() == len(emails)


def test_whoever_was_on_the_allow_list_when_they_came_is_paid_for(service: Service) -> None:
    """Or taking an entry off would lower what waits."""
    robots = Robots(service)
    emails = [f"{name}@safe-harbor.example" for name in NAMES[:8]]
    allow_or_block(robots.owner, "allow", "safe-harbor.example")
    for email in emails:
        robots.come(email)
    allow_or_block(robots.owner, "block", "safe-harbor.example")
    for email in emails:
        robots.confirm(email)
    assert {robots.referral(email) for email in emails} == {("verified", None)}
    assert robots.charged() == len(emails)


def test_the_last_of_a_group_exposes_the_first_while_they_are_pending(service: Service) -> None:
    robots = Robots(service, referral_pending_duration_enabled=True, referral_pending_duration=14)
    emails = [f"{name}@quiet-harbor.example" for name in NAMES[:8]]
    for email in emails[:1]:
        robots.come(email)
        robots.confirm(email)
    assert robots.referral(emails[0]) == ("pending", "holding_period")
    for email in emails[1:]:
        robots.come(email)
    robots.wax.later(60)
    robots.service.run_jobs()
    assert robots.referral(emails[0]) == ("pending", "needs_review")
    robots.owner.post(
        f"{robots.owner.v1}/subscribers/{robots.wax.person(emails[0]).id}/referral/verify"
    )
    assert robots.referral(emails[0]) == ("verified", "verified_by_hand")


def test_who_never_confirmed_speaks_against_nobody(service: Service) -> None:
    robots = Robots(service, referral_pending_duration_enabled=True, referral_pending_duration=14)
    for name in NAMES[:8]:
        robots.come(f"{name}@quiet-harbor.example")
    robots.days_pass(2)
    robots.confirm(first := f"{NAMES[0]}@quiet-harbor.example")
    robots.days_pass(1)
    assert robots.referral(first) == ("pending", "holding_period")


def test_evidence_that_fades_lets_them_go(service: Service) -> None:
    robots = Robots(service)
    for number in range(32):  # a newsletter of this size asks about groups of eight
        robots.owner.subscribe(f"reader{number}@gmail.com", status="confirmed")
    colleagues = [f"{name}@small-studio.example" for name in NAMES[:5]]
    for email in colleagues:
        robots.come(email)
    for email in colleagues:
        robots.confirm(email)
    assert {robots.referral(email) for email in colleagues} == {("pending", "needs_review")}
    others = [f"{first}.{last}@gmail.com" for first in NAMES[:6] for last in ("berg", "okafor")]
    for email in others:
        robots.wax.later(3_000)
        robots.come(email)
        robots.confirm(email)
    robots.wax.later(120)
    robots.service.run_jobs()
    assert {robots.referral(email) for email in colleagues} == {("pending", "holding_period")}
    robots.days_pass(1)
    assert {robots.referral(email) for email in colleagues} == {("verified", None)}


def test_the_rule_active_wants_one_more_sign_of_life(service: Service) -> None:
    robots = Robots(service)
    robots.ask_for_activity()
    for email in ("lena@gmail.com", "silent@gmail.com"):
        robots.come(email)
        robots.confirm(email)
        assert robots.referral(email) == ("pending", "awaiting_activity")
    hub = robots.wax.hub(robots.wax.person("lena@gmail.com"))
    page = robots.wax.visitor.get(hub)
    assert "Yes, I read it" in page.text
    assert robots.referral("lena@gmail.com") == ("pending", "awaiting_activity"), "a GET is no sign"
    robots.use_page("lena@gmail.com")
    assert robots.referral("lena@gmail.com") == ("verified", None)
    assert robots.evidence("lena@gmail.com")["used_referral_page"]["points"] == -2
    robots.days_pass(31)
    assert robots.referral("silent@gmail.com") == ("rejected", "inactive")


def test_who_never_confirmed_blocks_no_later_referral(service: Service) -> None:
    robots = Robots(service)
    other = join(service.member("carol"), robots.program)["ref_code"]
    robots.come("wanted@gmail.com")
    first = robots.wax.person("wanted@gmail.com")
    robots.come("wanted@gmail.com", code=other)
    again = robots.wax.person("wanted@gmail.com")
    assert (again.id, again.referrer_code) == (first.id, other)
    robots.confirm("wanted@gmail.com")
    assert robots.referral("wanted@gmail.com") == ("verified", None)
    sql = (
        "SELECT s.referral_status, s.referral_reason FROM partner_referral AS r "
        "JOIN subscriber AS s ON s.id = r.subscriber_id WHERE r.partner_account_id = :id"
    )
    rows = service.read(lambda tx: tx.all(statement(sql), id=robots.partner.account_id))
    assert [tuple(row) for row in rows] == [("rejected", "unconfirmed")]
    # A confirmed subscriber keeps their referrer.
    robots.come("wanted@gmail.com")
    assert robots.wax.person("wanted@gmail.com").referrer_code == other


def test_codes_in_turn_do_not_fill_an_inbox(service: Service) -> None:
    """What was sent before the address came with another code still counts."""
    robots = Robots(service)
    other = join(service.member("carol"), robots.program)["ref_code"]
    for number in range(9):
        robots.wax.later(0 if number % 4 else 3_700)  # a mailbox can be typed in five times an hour
        robots.come("target@gmail.com", code=(robots.code, other)[number % 2])
    sent = [each for each in robots.wax.emails("confirm") if each.to_email == "target@gmail.com"]
    assert len(sent) == CONFIRM.most_a_day_here
    assert {each.about_id for each in sent} == {robots.wax.person("target@gmail.com").id}


def test_the_owner_sees_it_the_partner_does_not_and_erasure_takes_it(service: Service) -> None:
    robots = Robots(service)
    emails = [f"{name}@hidden-reef.example" for name in NAMES[:6]]
    for email in emails:
        robots.come(email)
        robots.confirm(email)
    person = robots.wax.person(emails[5])
    exported = robots.owner.get(f"{robots.owner.v1}/subscribers/{person.id}/export").json()[
        "export"
    ]
    assert "rare_domain" in {each["code"] for each in exported["evidence"]}
    page = robots.owner.web.get(f"/subscribers/{person.id}").text
    assert "hidden-reef.example" in page
    assert "Against: Signups through this link share mail domains" in text_of(page)
    assert "For: They confirmed their email address" in text_of(page)
    partner = robots.partner
    for path in (
        f"{partner.v1}/subscribers/{person.id}/referral",
        f"{partner.v1}/subscribers/{person.id}",
    ):
        assert partner.get(path).status_code == 404
    joined = partner.get("/v2/partner_campaigns").text
    assert "rare_domain" not in joined and "hidden-reef" not in joined
    assert robots.owner.delete(f"{robots.owner.v1}/subscribers/{person.id}").status_code == 200
    assert _stored(service, person.id) == []


def test_values_are_forgotten_90_days_after_the_decision(service: Service) -> None:
    robots = Robots(service)
    emails = [f"{name}@old-mill.example" for name in NAMES[:6]]
    for email in emails:
        robots.come(email)
        robots.confirm(email)
    person = robots.wax.person(emails[5])
    robots.owner.post(f"{robots.owner.v1}/subscribers/{person.id}/referral/reject")
    robots.days_pass(89)
    assert all(value is not None for _, value in _stored(service, person.id))
    robots.days_pass(1.1)
    left = _stored(service, person.id)
    assert "rare_domain" in {code for code, _ in left}
    assert all(value is None for _, value in left)
    assert "no longer kept" in robots.evidence(emails[5])["rare_domain"]["sentence"]


def test_evidence_of_one_account_changes_nothing_in_another(service: Service) -> None:
    robots, honest = Robots(service), Robots(service)
    emails = [f"{name}@far-island.example" for name in NAMES[:8]]
    for email in emails:
        robots.come(email)
    honest.come(emails[0])
    for email in emails:
        robots.confirm(email)
    honest.confirm(emails[0])
    assert robots.referral(emails[0]) == ("pending", "needs_review")
    assert honest.referral(emails[0]) == ("verified", None)


def _stored(service: Service, subscriber_id: str) -> list[tuple[str, str | None]]:
    sql = "SELECT code, value FROM evidence WHERE subscriber_id = :id ORDER BY code"
    return [tuple(row) for row in service.read(lambda tx: tx.all(statement(sql), id=subscriber_id))]


@pytest.mark.parametrize("level", ["strong", "strict"])
def test_referrals_by_subscribers_use_the_same_evidence(service: Service, level: str) -> None:
    robots = Robots(service)
    star = robots.owner.subscribe("star@gmail.com")
    robots.wax.configure(screening=level)
    emails = [f"{name}@lone-pine.example" for name in NAMES[:7]]
    for email in emails:
        robots.visit()
        assert robots.wax.join(email, f"?ref={star['ref_code']}").status_code == 303
    expected = {
        "strong": ("pending", "looks_automated"),
        "strict": ("rejected", "looks_automated"),
    }[level]
    assert robots.referral(emails[6]) == expected
    assert robots.referral(emails[0]) == ("verified", None), "verified is final"
    robots.days_pass(7.1)
    after = ("verified", "screening_hold_over") if level == "strong" else expected
    assert robots.referral(emails[6]) == after


def test_a_flexible_program_pays_whatever_the_evidence_is(service: Service) -> None:
    robots = Robots(service)
    path = f"/v2/partner_programs/{robots.program['uuid']}/verification"
    assert robots.owner.put(path, {"screening": "flexible"}).status_code == 200
    emails = [f"{name}@quiet-harbor.example" for name in NAMES[:6]]
    for email in emails:
        robots.come(email)
        robots.confirm(email)
    assert {robots.referral(email) for email in emails} == {("verified", None)}


def test_a_program_that_existed_decides_as_before(service: Service) -> None:
    robots = Robots(service)
    sql = "UPDATE program SET rule = 'none', screening = NULL WHERE id = :id"
    service.write(lambda tx: tx.run(statement(sql), id=robots.program["uuid"]))
    emails = [f"{name}@quiet-harbor.example" for name in NAMES[:6]]
    for email in emails:
        robots.come(email)
    assert {robots.referral(email) for email in emails} == {("verified", None)}
    assert robots.charged() == 6


def test_addresses_that_an_owner_wrote_are_no_evidence_against_a_referral(service: Service) -> None:
    robots = Robots(service, referral_pending_duration_enabled=True, referral_pending_duration=14)
    people = [f"{name}.{last}@gmail.com" for name in NAMES[:4] for last in ("berg", "okafor")]
    for email in people:
        robots.wax.later(3_000)
        robots.come(email)
        robots.confirm(email)
    for email in people:
        path = f"{robots.owner.v1}/subscribers/{robots.wax.person(email).id}"
        other = email.replace("gmail.com", "quiet-harbor.example")
        assert robots.owner.put(path, {"email": other}).status_code == 200
    robots.days_pass(15)
    assert robots.charged() == len(people)


def test_who_followed_a_partners_link_to_the_hosted_page_clicked_it(service: Service) -> None:
    robots = Robots(service)
    for email, clicks in (("clicked@gmail.com", True), ("typed@gmail.com", False)):
        robots.visit()
        if clicks:
            assert robots.wax.visitor.get(f"/p/{robots.code}").status_code == 302
            robots.wax.clicks()  # stores those that were counted
        answer = robots.wax.fill_in(f"{robots.wax.page}?partner={robots.code}", email)
        assert answer.status_code == 303, answer.text
    assert "no_click" not in robots.evidence("clicked@gmail.com")
    assert "no_click" in robots.evidence("typed@gmail.com")


def test_whoever_a_key_calls_confirmed_has_the_key_as_evidence(service: Service) -> None:
    robots = Robots(service)
    owner, uuid = robots.owner, robots.program["uuid"]
    owner.put(f"/v2/partner_programs/{uuid}/verification", {"rule": "confirmed"})
    created, marked = "ada@gmail.com", "ben@gmail.com"
    owner.subscribe(created, referrer_code=robots.code, status="confirmed")
    owner.subscribe(marked, referrer_code=robots.code)
    assert robots.referral(marked) == ("pending", "awaiting_confirmation")
    assert robots.evidence(marked) == {}
    for _ in range(2):
        owner.put(f"{owner.v1}/subscribers/{marked}", {"status": "confirmed"})
    for email in (created, marked):
        assert robots.referral(email) == ("verified", None)
        found = robots.evidence(email)
        assert (set(found), found["confirmed_by_key"]["points"]) == ({"confirmed_by_key"}, 0)
        person = owner.web.get(f"/subscribers/{robots.wax.person(email).id}").text
        assert "Your API key says that they confirmed their email address" in person
    # Nor does it say that of people whom nobody referred.
    owner.subscribe("cy@gmail.com", status="confirmed")
    count = statement(
        "SELECT COUNT(*) AS n FROM evidence WHERE code = 'confirmed_by_key' AND account_id = :id"
    )
    assert service.read(lambda tx: tx.all(count, id=owner.account_id))[0][0] == 2

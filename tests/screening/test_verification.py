"""What a program asks of its referrals: by default, by API, and for programs from before."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from honeyguide.partners import held_referrals, verification
from honeyguide.partners.held_referrals import HeldShare
from honeyguide.screening.rules import Rule
from honeyguide.subscribers.origins import Origin
from honeyguide.subscribers.referral_states import Level
from tests.support.belongings import older_program
from tests.support.mailbox import Mailbox
from tests.support.partner_network import join, offer
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import statement
from tests.support.web import Operator, operator

OWN_LISTS = {Origin.IMPORT, Origin.PLATFORM}
HOSTED = {Origin.SIGNUP, Origin.MAGIC, Origin.EMBED}


class Program(NamedTuple):
    rule: str = "confirmed"
    screening: str | None = "strong"
    is_verification_chosen: int = 0
    campaign_level: str = "flexible"


@pytest.fixture(scope="module", params=ENGINES)
def mailing(request: pytest.FixtureRequest) -> Iterator[Service]:
    """A service with a mail server."""
    with Mailbox() as mailbox, Service(request.param, smtp_url=mailbox.url) as service:
        yield service


def path_of(program: dict[str, Any] | str) -> str:
    uuid = program if isinstance(program, str) else program["uuid"]
    return f"/v2/partner_programs/{uuid}/verification"


def asked(owner: Member, program: dict[str, Any] | str) -> tuple[str, str]:
    answer = owner.get(path_of(program))
    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == {"verification"}
    found = answer.json()["verification"]
    assert set(found) == {"rule", "screening", "origins", "first_look"}
    return found["rule"], found["screening"]


def stored(owner: Member, program: dict[str, Any] | str) -> tuple[Any, ...]:
    uuid = program if isinstance(program, str) else program["uuid"]
    sql = "SELECT rule, screening, is_verification_chosen FROM program WHERE id = :id"
    return tuple(owner.service.read(lambda tx: tx.all(statement(sql), id=uuid))[0])


def notifications(owner: Member) -> list[str]:
    sql = "SELECT sentence FROM notice WHERE account_id = :id AND kind = 'no_confirmations'"
    found = owner.service.read(lambda tx: tx.all(statement(sql), id=owner.account_id))
    return [row[0] for row in found]


@pytest.mark.parametrize("origin", Origin)
def test_a_default_is_for_hosted_origins_and_a_choice_for_all(origin: Origin) -> None:
    by_default = verification.effective(Program(), "flexible", origin)
    expected = (Rule.CONFIRMED, Level.STRONG) if origin in HOSTED else (Rule.NONE, Level.FLEXIBLE)
    assert by_default == expected
    chosen = Program("active", "strict", is_verification_chosen=1)
    rule = Rule.NONE if origin in OWN_LISTS else Rule.ACTIVE
    assert verification.effective(chosen, "flexible", origin) == (rule, Level.STRICT)


@pytest.mark.parametrize("origin", Origin)
def test_an_older_program_goes_by_the_campaigns_level(origin: Origin) -> None:
    assert verification.effective(Program("none", None), "strict", origin) == (
        Rule.NONE,
        Level.STRICT,
    )
    chosen = Program("confirmed", None, is_verification_chosen=1)
    rule = Rule.NONE if origin in OWN_LISTS else Rule.CONFIRMED
    assert verification.effective(chosen, "strict", origin) == (rule, Level.STRICT)


@pytest.mark.parametrize("origin", Origin)
def test_the_owner_answers_where_the_rule_asks_for_what_nobody_is_asked(origin: Origin) -> None:
    for rule, chosen in (("confirmed", 1), ("active", 1), ("none", 1), ("confirmed", 0)):
        program = Program(Rule(rule), "strong", is_verification_chosen=chosen)
        expected = origin in OWN_LISTS and chosen == 1 and rule != "none"
        assert verification.waits_for_owner(program, origin) == expected, (rule, chosen)


def test_a_new_program_asks_for_a_confirmation_and_screens(mailing: Service) -> None:
    alice = mailing.member("alice")
    program = offer(alice)
    assert asked(alice, program) == ("confirmed", "strong")
    assert stored(alice, program) == ("confirmed", "strong", 0)
    assert notifications(alice) == []


def test_without_a_mail_server_it_asks_for_none_and_the_owner_is_notified(alice: Member) -> None:
    program = offer(alice)
    assert asked(alice, program) == ("none", "strong")
    assert notifications(alice) == ["The Morning Wax pays for referrals that never confirmed"]


def test_what_is_left_out_stays_as_it_is(mailing: Service) -> None:
    alice = mailing.member("alice")
    program = offer(alice)
    changed = alice.put(path_of(program), {"screening": "strict"})
    shown = {"rule": "confirmed", "screening": "strict", "origins": "all", "first_look": None}
    assert changed.json() == {"verification": shown}
    assert stored(alice, program) == ("confirmed", "strict", 1)
    assert alice.put(path_of(program), {"rule": "active"}).status_code == 200
    assert asked(alice, program) == ("active", "strict")


def test_nothing_given_is_no_choice(mailing: Service) -> None:
    alice = mailing.member("alice")
    program = offer(alice)
    assert alice.put(path_of(program), {}).status_code == 200
    assert stored(alice, program) == ("confirmed", "strong", 0)
    same = {"rule": "confirmed", "screening": "strong"}
    assert alice.put(path_of(program), same).status_code == 200
    assert stored(alice, program) == ("confirmed", "strong", 1)


def test_what_was_read_can_be_sent_back(mailing: Service) -> None:
    alice = mailing.member("alice")
    first, second = offer(alice), offer(alice)
    alice.put(path_of(first), {"rule": "active", "screening": "flexible"})
    answer = alice.put(path_of(second), alice.get(path_of(first)).json())
    assert answer.json() == alice.get(path_of(first)).json()
    assert asked(alice, second) == ("active", "flexible")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"rule": "engaged"}, "rule must be one of: none, confirmed, active."),
        ({"screening": "loose"}, "screening must be one of: flexible, strong, strict."),
        ({"rule": "none", "screening": ""}, "screening must be one of: flexible, strong, strict."),
        ({"verification": {"rule": ""}}, "rule must be one of: none, confirmed, active."),
        ({"rule": None}, "rule must be a string, not null."),
        ({"origins": "api"}, "origins must be one of: hosted, all."),
        ({"origins": None}, "origins must be a string, not null."),
        ({"first_look": 0}, "first_look must be 1 to 1000."),
        ({"first_look": 1001}, "first_look must be 1 to 1000."),
        ({"first_look": "ten"}, "first_look must be a whole number or null, not a string."),
    ],
)
def test_a_wrong_value_is_refused_with_the_choices(
    alice: Member, body: dict[str, Any], message: str
) -> None:
    program = offer(alice)
    answer = alice.put(path_of(program), body)
    assert (answer.status_code, answer.json()["error"]) == (400, message)
    assert stored(alice, program) == ("none", "strong", 0)


@pytest.mark.parametrize("rule", ["confirmed", "active"])
def test_a_rule_that_needs_email_is_refused_without_a_mail_server(alice: Member, rule: str) -> None:
    program = offer(alice)
    answer = alice.put(path_of(program), {"rule": rule, "screening": "strict"})
    assert (answer.status_code, answer.json()["code"]) == (400, "no_mail_server")
    assert answer.json()["error"] == verification.NEEDS_EMAIL
    assert stored(alice, program) == ("none", "strong", 0)
    assert alice.put(path_of(program), {"rule": "none"}).status_code == 200


def test_an_older_program_shows_and_follows_the_campaigns_level(alice: Operator) -> None:
    program = older_program(alice)
    assert asked(alice, program) == ("none", "flexible")
    alice.put(f"{alice.v1}/settings", {"screening": "strict"})
    assert asked(alice, program) == ("none", "strict")
    # A rule alone leaves the level with the campaign.
    alice.put(path_of(program), {"rule": "none"})
    assert stored(alice, program) == ("none", None, 1)
    alice.put(f"{alice.v1}/settings", {"screening": "strong"})
    assert asked(alice, program) == ("none", "strong")
    alice.put(path_of(program), {"screening": "strict"})
    assert asked(alice, program) == ("none", "strict")


def test_partners_see_it_in_the_network(mailing: Service) -> None:
    alice, bob = mailing.member("alice"), mailing.member("bob")
    program = offer(alice)
    network = "/v2/partner_network/partner_programs"
    one = bob.get(f"{network}/{program['uuid']}").json()["partner_program"]
    default = {"rule": "confirmed", "screening": "strong", "origins": "hosted", "first_look": None}
    assert one["verification"] == default
    chosen = {"rule": "active", "screening": "strict", "origins": "all", "first_look": 25}
    alice.put(path_of(program), chosen)
    listed = bob.get(network).json()["partner_programs"]
    (shown,) = [each for each in listed if each["uuid"] == program["uuid"]]
    assert shown["verification"] == chosen


def terms_of(owner: Member, program: dict[str, Any] | str) -> tuple[str, int | None]:
    found = owner.get(path_of(program)).json()["verification"]
    return found["origins"], found["first_look"]


def test_origins_and_first_look_change_alone(mailing: Service) -> None:
    alice = mailing.member("alice")
    program = offer(alice)
    assert terms_of(alice, program) == ("hosted", None)
    alice.put(path_of(program), {"first_look": 1})
    assert terms_of(alice, program) == ("hosted", 1), "a first look is no choice of origins"
    alice.put(path_of(program), {"screening": "strict"})
    assert terms_of(alice, program) == ("all", 1), "a level is, as it always was"
    alice.put(path_of(program), {"rule": "active", "origins": "hosted", "first_look": None})
    assert terms_of(alice, program) == ("hosted", None)
    assert stored(alice, program) == ("active", "strict", 0)


def test_an_older_program_that_is_limited_to_hosted_origins_keeps_a_rule_there(
    mailing: Service,
) -> None:
    alice = operator(mailing)
    program = older_program(alice)
    alice.put(path_of(program), {"rule": "confirmed", "origins": "hosted"})
    assert stored(alice, program) == ("confirmed", "flexible", 0)


def test_a_deleted_program_has_none(alice: Member) -> None:
    program = offer(alice)
    alice.delete(f"/v2/partner_programs/{program['uuid']}")
    assert alice.get(path_of(program)).status_code == 404
    assert alice.put(path_of(program), {"screening": "strict"}).status_code == 404


def test_the_share_that_a_level_holds(service: Service) -> None:
    alice = service.member("alice")
    program = offer(alice)
    code = join(service.member("bob"), program)["ref_code"]
    # Signups by API go by the campaign's level, as nobody chose another.
    alice.put(f"{alice.v1}/settings", {"screening": "strong"})

    def held(days: int = 0) -> HeldShare:
        now_ms = service.now_ms() + days * 86_400_000
        return service.read(
            lambda tx: held_referrals.count_held(tx.at(now_ms), alice.account_id, program["uuid"])
        )

    assert held() == (0, 0) and not held().is_high
    # Three from one IP address are a household; the others wait.
    for number in range(8):
        alice.subscribe(f"h{number}@example.org", referrer_code=code, ip_address="203.0.113.9")
    assert held() == (8, 5) and not held().is_high, "too few to tell"
    for number in range(12):
        alice.subscribe(f"r{number}@example.org", referrer_code=code)
    assert held() == (20, 5) and held().is_high and held().percent == 25
    for number in range(5):
        alice.subscribe(f"s{number}@example.org", referrer_code=code)
    assert held() == (25, 5) and not held().is_high, "a fifth is not more than a fifth"
    assert held(days=31) == (0, 0)

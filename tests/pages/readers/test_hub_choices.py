"""What readers choose on their referral page, on both engines: who sees their name, the
leaderboard, stopping emails, and leaving the referral program.
"""

import re

import pytest

from honeyguide.mail import stops
from honeyguide.subscribers import hub_choices, names, reader_emails
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.newsletter import Newsletter, errors, follow, link_of
from tests.support.readings import in_account, reading
from tests.support.web import text_of

pytestmark = pytest.mark.usefixtures("roomy_network")


def choose(wax: Newsletter, person: Subscriber, *chosen: str) -> None:
    hub = wax.hub(person)
    token = re.findall(r'name="token" value="([^"]+)"', wax.visitor.get(hub).text)[-1]
    data = {"token": token, **dict.fromkeys(chosen, "1")}
    answer = wax.visitor.post(f"{hub}/choices", data=data)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{hub}?saved=1#your-name")


def invitation(wax: Newsletter, person: Subscriber) -> str:
    """What the signup page says to somebody who uses this person's link."""
    html = wax.visitor.get(f"{wax.page}?ref={person.ref_code}").text
    return re.findall(r'class="invite"><i[^>]*>[^<]*</i>([^<]+)<', html)[0]


@pytest.mark.parametrize(
    ("name", "first", "short"),
    [
        ("Ben Baker", "Ben", "Ben B."),
        ("  Ana  Lucía de la Cruz ", "Ana", "Ana C."),
        ("Jean-Luc O’Neill", "Jean-Luc", "Jean-Luc O."),
        ("प्रिया शर्मा", "प्रिया", "प्रिया श."),
        ("太郎", "太郎", "太郎"),
        ("عبد الرحمن حسن", "عبد الرحمن", "عبد الرحمن ح."),
        ("عبد evil.example", "", ""),
        ("Ben buy-at-evil.example", "Ben", "Ben"),
        ("evil.example now", "", ""),
        ("<script>alert(1)</script>", "", ""),
        ("-Ben", "", ""),
        ("B" * 25, "", ""),
        ("\u202egnp.exe", "", ""),
        ("", "", ""),
        (None, "", ""),
    ],
)
def test_only_letters_of_a_name_are_shown_to_strangers(
    name: str | None, first: str, short: str
) -> None:
    assert (names.first_name(name), names.short_name(name)) == (first, short)


def test_a_name_is_shown_where_operator_and_reader_agree(wax: Newsletter) -> None:
    ben = wax.advocate(0)
    assert 'id="your-name"' not in wax.visitor.get(wax.hub(ben)).text
    wax.brand(show_inviter=True)
    assert invitation(wax, ben) == "A friend invited you"
    choose(wax, ben, "shows_name", "on_leaderboard")
    assert invitation(wax, ben) == "Ben invited you"
    assert invitation(wax, wax.advocate(0)) == "A friend invited you"
    assert invitation(wax, wax.advocate(0, name="evil.example")) == "A friend invited you"
    other = Newsletter(wax.service)
    other.brand(show_inviter=True)
    assert invitation(other, ben) == "A friend invited you", "a code of another campaign"
    wax.brand(show_inviter=False, show_leaderboard=False)
    assert invitation(wax, ben) == "A friend invited you"
    wax.brand(show_leaderboard=True)
    choose(wax, ben, "on_leaderboard")
    wax.brand(show_inviter=True)
    assert invitation(wax, ben) == "Ben invited you", "what was not offered was not changed"
    choose(wax, ben)
    assert invitation(wax, ben) == "A friend invited you"


def test_a_choice_needs_the_form_of_ones_own_page(wax: Newsletter) -> None:
    wax.brand(show_inviter=True)
    ben, ann = wax.advocate(0), wax.advocate(0, name="Ann")
    token = wax.fields(wax.hub(ann))["token"]
    refused = wax.visitor.post(f"{wax.hub(ben)}/choices", data={"token": token, "shows_name": "1"})
    assert (refused.status_code, list(errors(refused))) == (400, [""])
    assert wax.visitor.get(f"{wax.hub(ben)}/choices").status_code == 303
    assert invitation(wax, ben) == "A friend invited you"


def leaderboard(wax: Newsletter, person: Subscriber) -> list[str]:
    html = wax.visitor.get(wax.hub(person)).text
    board = html.partition('class="card stack leaders"')[2].partition("</section>")[0]
    return [text_of(line).strip() for line in re.findall(r"<li.*?</li>", board, re.DOTALL)]


def test_the_leaderboard_names_those_who_agreed(wax: Newsletter) -> None:
    wax.brand(show_leaderboard=True)
    ben, ann, cleo = wax.advocate(1), wax.advocate(3, name="Ann"), wax.advocate(2, name="Cleo C")
    wax.advocate(4, name="Shy")
    assert leaderboard(wax, ben) == []
    for person in (ben, ann, cleo):
        choose(wax, person, "on_leaderboard")
    assert leaderboard(wax, ben) == [
        "1 Ann 3 friends",
        "2 Cleo C. 2 friends",
        "3 Ben B. You 1 friend",
    ]
    late = wax.advocate(0, name="Late")
    choose(wax, late, "on_leaderboard")
    assert len(leaderboard(wax, ben)) == 3, "without a referral there is no place"
    for number in range(5):
        wax.member.subscribe(wax.address(f"new{number}"), referrer_code=late.ref_code)
    assert leaderboard(wax, ben)[0] == "1 Late 5 friends"
    wax.member.delete(f"{wax.member.v1}/subscribers/{late.id}")
    wax.member.put(f"{wax.member.v1}/subscribers/{ann.id}", {"status": "unsubscribed"})
    wax.visitor.post(f"{wax.hub(cleo)}/leave")
    assert leaderboard(wax, ben) == ["1 Ben B. You 1 friend"]
    wax.brand(show_inviter=False, show_leaderboard=False)
    assert leaderboard(wax, ben) == []


def test_leaving_the_program_keeps_the_subscription_and_the_rewards(wax: Newsletter) -> None:
    wax.offer()
    wax.brand(show_inviter=True)
    ben = wax.advocate(1)
    choose(wax, ben, "shows_name")
    hub = wax.hub(ben)
    asked = wax.visitor.get(f"{hub}/leave")
    assert "Leave the referral program?" in asked.text
    assert invitation(wax, ben) == "Ben invited you", "a GET changes nothing"
    assert wax.visitor.post(f"{hub}/leave").headers["location"] == hub
    left = wax.visitor.get(hub)
    assert "You’ve left the referral program" in left.text and 'id="link"' not in left.text
    assert "Claim Sticker pack" in left.text
    assert wax.visitor.get(f"{hub}/leave").status_code == 303
    assert wax.person(ben.id).status == "active"
    assert invitation(wax, ben) == "A friend invited you"
    friend = wax.address("friend")
    assert follow(wax, wax.join(friend, f"?ref={ben.ref_code}")).status_code == 200
    wax.member.subscribe(wax.address("friend"), referrer_code=ben.ref_code)
    assert wax.person(friend).referrer_code is None
    assert wax.person(ben.id).referrals_verified == 1


def test_who_left_gets_no_emails_and_can_join_again(wax: Newsletter) -> None:
    ben = wax.advocate(0)
    hub = wax.hub(ben)
    wax.visitor.post(f"{hub}/leave")

    def is_stopped() -> bool:
        found = wax.service.read(
            lambda tx: stops.stopped_ms(in_account(tx, wax.tenant.account_id), ben.id)
        )
        return found is not None

    assert is_stopped()
    assert wax.visitor.post(f"{hub}/leave?again=1").headers["location"] == hub
    html = wax.visitor.get(hub).text
    assert link_of(html).endswith(ben.ref_code) and "Get these emails again" in html
    assert is_stopped(), "emails start again only when they ask"
    stop = re.findall(r'href="(/stop/[^"]+)"', html)[0]
    assert wax.visitor.post(f"{stop}?again=1").status_code == 200
    assert not is_stopped() and "Stop these emails" in wax.visitor.get(hub).text
    wax.member.subscribe(wax.address("friend"), referrer_code=ben.ref_code)
    assert wax.person(ben.id).referrals_verified == 1


def test_an_export_has_the_choices_and_an_erasure_forgets_them(wax: Newsletter) -> None:
    wax.brand(show_inviter=True, show_leaderboard=True)
    ben = wax.advocate(1)
    choose(wax, ben, "shows_name", "on_leaderboard")
    exported = wax.member.get(f"{wax.member.v1}/subscribers/{ben.id}/export").json()
    held = exported.get("export", exported)
    assert (held["shows_name_to_friends"], held["on_leaderboard"], held["left_program_at"]) == (
        True,
        True,
        None,
    )
    wax.member.delete(f"{wax.member.v1}/subscribers/{ben.id}")
    choices = wax.service.read(
        lambda tx: hub_choices.of_subscriber(reading(tx, wax.tenant), ben.id)
    )
    assert choices == hub_choices.HubChoices()


def test_the_page_after_the_thank_you_page_tells_nobody_who_is_subscribed(wax: Newsletter) -> None:
    wax.offer()
    known = wax.advocate(6, waiting=1)
    pages = []
    for email in (known.email, wax.address()):
        thanks = follow(wax, wax.join(email))
        button = re.findall(r'<a class="btn wide" href="([^"]+)"', thanks.text)[0]
        page = wax.visitor.get(button)
        assert page.status_code == 200 and "/claim/" not in page.text
        code = link_of(page.text).rpartition("/")[2]
        plain = re.sub(r"<svg.*?</svg>", "", page.text.replace(code, "CODE"), flags=re.DOTALL)
        pages.append((plain, page.headers.get("x-robots-tag")))
    assert pages[0] == pages[1]
    assert "Ben" not in pages[0][0] and "confirmed" not in pages[0][0]
    assert wax.visitor.get("/hub/start/zzzz").status_code == 404


def test_nobody_who_unsubscribed_is_said_to_stay_subscribed(wax: Newsletter) -> None:
    ben = wax.advocate(1)
    hub, stop = wax.hub(ben), reader_emails.stop_url(wax.service.services.site, ben)
    pages = (stop, f"{hub}/leave", hub)

    def sentences() -> list[bool]:
        wax.visitor.post(stop)
        wax.visitor.post(f"{hub}/leave")
        found = [" subscribed to The Morning Wax" in wax.visitor.get(each).text for each in pages]
        wax.visitor.post(f"{stop}?again=1")
        found.append(" subscribed to The Morning Wax" in wax.visitor.get(stop).text)
        return found

    assert sentences() == [True, False, True, True], "who has left is led back to the page"
    path = f"{wax.member.v1}/subscribers/{ben.id}"
    assert wax.member.put(path, {"status": "unsubscribed"}).status_code == 200
    assert not any(sentences())

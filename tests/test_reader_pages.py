"""Reader pages over HTTP on both engines: signing up, confirming, the hub, and everything a robot or a stranger might try."""

from __future__ import annotations

import asyncio
import re
from html import unescape

import httpx
import pytest

from honeyguide.pages.readers import forms, post, signup
from honeyguide.referrals.milestones import NewReward
from tests.support.newsletter import AGENT, LADDER, Newsletter
from tests.support.service import Service
from tests.support.tables import dump, mentions


@pytest.fixture
def wax(service: Service) -> Newsletter:
    return Newsletter(service)


@pytest.fixture(autouse=True)
def roomy_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tests of a process share one service and one address; the limit per network has a test of its own."""
    monkeypatch.setattr(forms.NetworkLimit, "another", lambda self, address, now_ms: None)


def link_of(html: str) -> str:
    found = re.search(r'id="link" readonly value="([^"]+)"', html)
    assert found, html
    return unescape(found[1])


def wrong(answer: httpx.Response) -> str:
    found = re.search(r'id="wrong"[^>]*>(?:<svg.*?</svg>)?([^<]*)<', answer.text)
    return unescape(found[1]) if found else ""


def follow(wax: Newsletter, answer: httpx.Response) -> httpx.Response:
    assert answer.status_code == 303, answer.text
    return wax.visitor.get(answer.headers["location"])


# -- the signup page


def test_the_page_shows_the_operators_name_and_words(wax: Newsletter) -> None:
    wax.configure(
        words={"promise": "Bees & <b>honey</b>", "details": "Each week.", "button": "Buzz me", "tagline": "Since 2019"}
    )
    html = wax.visitor.get(wax.page).text
    for expected in ("The Morning Wax", "Bees &amp; &lt;b&gt;honey&lt;/b&gt;", "Each week.", ">Buzz me</button>", "Since 2019"):
        assert expected in html
    assert '<meta property="og:title" content="Bees &amp; &lt;b&gt;honey' in html
    assert f'<meta property="og:url" content="{wax.service.settings.base_url}{wax.page}"' in html
    assert "Powered by Honeyguide" in html


def test_the_line_with_our_name_can_be_switched_off(wax: Newsletter) -> None:
    wax.configure(words={"powered_by": "off"})
    assert "Honeyguide" not in wax.visitor.get(wax.page).text


def test_signing_up_shows_the_new_link_at_once(wax: Newsletter) -> None:
    email = wax.address()
    page = follow(wax, wax.join(email))
    person = wax.person(email)
    assert link_of(page.text) == wax.service.house.site.reader_link(person.ref_code)
    assert (person.origin, person.ip_address, person.user_agent) == ("signup", "127.0.0.1", AGENT)
    assert page.headers["cache-control"] == "no-store"
    assert email not in page.text


def test_how_a_visitor_came_is_kept(wax: Newsletter) -> None:
    friend = wax.member.subscribe(wax.address())
    email = wax.address()
    wax.join(email, f"?ref={friend['ref_code']}&utm_source=podcast&utm_campaign=spring&next=https://evil.example")
    person = wax.person(email)
    assert (person.referrer_code, person.utm_source, person.utm_campaign) == (friend["ref_code"], "podcast", "spring")
    assert wax.person(friend["uuid"]).referrals_verified == 1


@pytest.mark.parametrize("query", [f"?ref={'x' * 300}", "?ref=%00", "?ref=unknown1", "?utm_source=" + "y" * 5000])
def test_a_strange_query_never_costs_the_signup(wax: Newsletter, query: str) -> None:
    email = wax.address()
    assert wax.join(email, query).status_code == 303
    assert wax.person(email).referrer_code is None


def test_a_get_subscribes_nobody(wax: Newsletter) -> None:
    email = wax.address()
    for path in (f"{wax.page}?email={email}", f"{wax.page}/thanks?email={email}"):
        wax.visitor.get(path)
        wax.visitor.head(path)
    assert wax.member.total() == 0
    assert f'value="{email}"' in wax.visitor.get(f"{wax.page}?email={email}").text


def test_answers_do_not_tell_who_is_subscribed(wax: Newsletter) -> None:
    known, unknown = wax.address(), wax.address()
    made = wax.member.subscribe(known)
    pages = {}
    for email in (known, unknown):
        answer = wax.join(email)
        page = follow(wax, answer)
        code = link_of(page.text).rpartition("/")[2]
        sealed = answer.headers["location"].partition("?for=")[2]
        pages[email] = (
            re.sub(r"<svg.*?</svg>", "", page.text.replace(code, "CODE"), flags=re.DOTALL),
            len(sealed),
            page.status_code,
        )
    assert pages[known] == pages[unknown]
    assert link_of(follow(wax, wax.join(known)).text).endswith(made["ref_code"]), "who comes back gets the link that works"
    assert [letter.kind for letter in wax.letters()] == ["hub_link", "hub_link"], "what is private goes to the mailbox"
    assert wax.member.total() == 2


def test_who_left_comes_back_only_by_their_mailbox(wax: Newsletter) -> None:
    email = wax.address()
    made = wax.member.subscribe(email)
    wax.member.put(f"{wax.member.v1}/subscribers/{made['uuid']}", {"status": "unsubscribed"})
    assert wax.join(email).status_code == 303
    assert wax.person(email).status == "unsubscribed"
    assert wax.visitor.post(wax.confirm_link(email)).status_code == 303
    assert wax.person(email).status == "confirmed"


def test_an_unknown_page_is_a_kind_404(wax: Newsletter) -> None:
    for path in ("/join/nobody-here", "/join/nobody-here/thanks", "/join/%00", "/confirm/x", "/hub/x"):
        answer = wax.visitor.get(path)
        assert answer.status_code in (404, 410), path
        assert "text/html" in answer.headers["content-type"]


def test_a_thank_you_page_of_nobody_leads_back(wax: Newsletter) -> None:
    answer = wax.visitor.get(f"{wax.page}/thanks?for=abcdefghijklmnopqrstuvwxyz")
    assert (answer.status_code, answer.headers["location"]) == (303, wax.page)


def test_the_page_also_lives_where_the_setting_says() -> None:
    with Service("sqlite", signup_page_host="https://join.example.org") as service:
        wax = Newsletter(service)
        path = f"/{wax.campaign.slug}"
        assert f'content="https://join.example.org{path}"' in wax.visitor.get(path).text
        assert follow(wax, wax.fill_in(path, wax.address())).status_code == 200
        assert wax.visitor.get("/nothing-here").status_code == 404
        assert wax.visitor.get("/docs").status_code == 200


# -- robots and bombs


def test_a_form_that_was_never_shown_is_refused(wax: Newsletter) -> None:
    other = Newsletter(wax.service)
    wax.later()
    for token in ("", "x", other.fields(other.page)["token"], wax.fields("/hub")["token"]):
        answer = wax.visitor.post(wax.page, data={"email": "a@example.org", "token": token})
        assert answer.status_code == 400
        assert "press the button once more" in wrong(answer)
    assert wax.member.total() == 0


def test_a_form_filled_in_no_time_is_refused_and_the_second_press_is_taken(wax: Newsletter) -> None:
    hidden, email = wax.fields(wax.page), wax.address()
    first = wax.visitor.post(wax.page, data={**hidden, "email": email})
    assert first.status_code == 400
    assert "very quick" in wrong(first)
    assert f'value="{email}"' in first.text
    again = dict(re.findall(r'name="(token)" value="([^"]*)"', first.text))
    wax.later(3)
    assert wax.visitor.post(wax.page, data={**again, "email": email}).status_code == 303


def test_an_old_form_says_so_and_comes_back_fresh(wax: Newsletter) -> None:
    hidden, email = wax.fields(wax.page), wax.address()
    wax.later(3 * 86_400)
    first = wax.visitor.post(wax.page, data={**hidden, "email": email})
    assert (first.status_code, "open for a long time" in wrong(first)) == (400, True)
    again = dict(re.findall(r'name="(token)" value="([^"]*)"', first.text))
    wax.later(3)
    assert wax.visitor.post(wax.page, data={**again, "email": email}).status_code == 303


def test_a_robot_that_fills_every_field_is_refused(wax: Newsletter) -> None:
    answer = wax.join("robot@example.org", website="https://spam.example")
    assert answer.status_code == 400
    assert "must stay empty" in wrong(answer)
    assert wax.member.total() == 0


@pytest.mark.parametrize(
    "email", ["", "nonsense", "a@b", "two@at@example.org", "x" * 300 + "@example.org", "a\r\nBcc: b@example.org"]
)
def test_a_bad_address_is_said_kindly(wax: Newsletter, email: str) -> None:
    answer = wax.join(email)
    assert answer.status_code == 400
    assert wrong(answer) == signup.BAD_ADDRESS
    assert 'aria-invalid="true"' in answer.text


def test_forms_take_only_small_plain_forms_of_our_own(wax: Newsletter) -> None:
    hidden = wax.fields(wax.page)
    wax.later()
    data = {**hidden, "email": wax.address()}
    assert wax.visitor.post(wax.page, data={**data, "more": "x" * 20_000}).status_code == 413
    assert wax.visitor.post(wax.page, content=b"&".join(b"a=1" for _ in range(4_000))).status_code == 415
    many = "&".join(f"f{n}=1" for n in range(100))
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert wax.visitor.post(wax.page, content=many, headers=form).status_code == 400
    assert wax.visitor.post(wax.page, content=b"email=%ff%fe", headers=form).status_code == 400
    assert wax.visitor.post(wax.page, json=data).status_code == 415
    assert wax.visitor.post(wax.page, files={"email": b"x"}).status_code == 415
    assert wax.visitor.post(wax.page, data=data, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert wax.member.total() == 0
    assert wax.visitor.post(wax.page, data=data, headers={"sec-fetch-site": "same-origin"}).status_code == 303


def test_one_address_is_not_sent_in_for_ever(wax: Newsletter) -> None:
    email = wax.address()
    answers = [wax.join(email) for _ in range(signup.SIGNUPS_BY_ADDRESS.most + 1)]
    assert [answer.status_code for answer in answers] == [303] * signup.SIGNUPS_BY_ADDRESS.most + [429]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert "Try again in" in wrong(answers[-1])
    wax.later(3_700)
    assert wax.join(email).status_code == 303


def test_one_network_has_a_limit_that_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    limit = forms.NetworkLimit(3, 60_000)
    for _ in range(3):
        limit.another("2001:db8:1:2::1", 1_000)
    with pytest.raises(forms.TooMany) as refused:
        limit.another("2001:db8:1:2:ffff::9", 2_000)
    assert refused.value.retry_after_s == 59
    limit.another("2001:db8:1:3::1", 2_000)
    limit.another("192.0.2.7", 2_000)
    limit.another("2001:db8:1:2::1", 61_001)


def test_over_the_networks_limit_a_sentence_and_a_429(wax: Newsletter, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: forms.NetworkLimit, address: str, now_ms: int) -> None:
        raise forms.TooMany("Very many people signed up from your network just now.", retry_after_s=60)

    monkeypatch.setattr(forms.NetworkLimit, "another", full)
    for answer in (wax.join(wax.address()), wax.fill_in("/hub", wax.address())):
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "60")
        assert "Very many people" in wrong(answer)


def test_a_mailbox_gets_one_confirmation_a_day_per_campaign_and_three_letters_in_all(service: Service) -> None:
    newsletters = [Newsletter(service, name=f"Wax {n}", needs_confirmation=True) for n in range(5)]
    email = newsletters[0].address("victim")
    for newsletter in newsletters:
        for _ in range(3):
            assert newsletter.join(email).status_code == 303
    assert [len(newsletter.letters("confirm")) for newsletter in newsletters] == [1, 1, 1, 0, 0]
    assert sum(len(newsletter.letters()) for newsletter in newsletters) == post.MOST_A_DAY
    newsletters[0].later(86_400)
    newsletters[0].join(email)
    assert len(newsletters[0].letters("confirm")) == 2


# -- confirming


def test_confirming_takes_a_press(service: Service) -> None:
    wax = Newsletter(service, needs_confirmation=True)
    friend, email = wax.member.subscribe(wax.address()), wax.address()
    answer = wax.join(email, f"?ref={friend['ref_code']}")
    page = follow(wax, answer)
    assert "check your inbox" in page.text
    assert "/r/" not in page.text
    link = wax.confirm_link(email)
    for _ in range(20):
        assert wax.visitor.get(link).status_code == 200
        assert wax.visitor.head(link).status_code == 200
    assert (wax.person(email).status, wax.person(email).referral_status) == ("active", "pending")
    confirmed = wax.visitor.post(link)
    assert confirmed.status_code == 303
    assert (wax.person(email).status, wax.person(email).referral_status) == ("confirmed", "verified")
    assert wax.person(friend["uuid"]).referrals_verified == 1
    hub = wax.visitor.get(confirmed.headers["location"])
    assert "Confirmed. You’re in" in hub.text
    assert wax.visitor.post(link).status_code == 303, "pressing twice is no harm"


def test_where_confirmation_is_needed_answers_are_the_same_too(service: Service) -> None:
    wax = Newsletter(service, needs_confirmation=True)
    known, unknown = wax.address(), wax.address()
    wax.member.subscribe(known)
    answers = [wax.join(email) for email in (known, unknown)]
    assert answers[0].headers["location"] == answers[1].headers["location"]


def test_an_old_or_forged_confirmation_confirms_nobody(service: Service) -> None:
    wax = Newsletter(service, needs_confirmation=True)
    email = wax.address()
    wax.join(email)
    link = wax.confirm_link(email)
    assert wax.visitor.post(link[:-1] + ("A" if link[-1] != "A" else "B")).status_code == 410
    hub = wax.hub(wax.person(email)).rpartition("/")[2]
    assert wax.visitor.post(f"/confirm/{hub}").status_code == 410
    wax.later(8 * 86_400)
    answer = wax.visitor.post(link)
    assert (answer.status_code, "too old" in answer.text) == (410, True)
    assert wax.person(email).status == "active"


# -- the hub


def test_the_hub_shows_link_progress_and_rewards(wax: Newsletter) -> None:
    wax.offer()
    ben = wax.advocate(2, waiting=1)
    answer = wax.visitor.get(wax.hub(ben))
    assert link_of(answer.text).endswith(f"/r/{ben.ref_code}")
    for expected in ("Hello Ben", "1 more friend earns you <em>Secret recipes</em>", "2 verified", "1 waiting", "3 to go"):
        assert expected in answer.text
    assert "mailto:?subject=" in answer.text and "sms:?" in answer.text and "<svg" in answer.text
    headers = answer.headers
    assert (headers["cache-control"], headers["x-robots-tag"], headers["referrer-policy"]) == (
        "no-store",
        "noindex",
        "no-referrer",
    )


def test_a_hub_without_rewards_or_a_name_is_whole(wax: Newsletter) -> None:
    nobody = wax.advocate(0, name=None)
    assert "Bring a friend along" in wax.visitor.get(wax.hub(nobody)).text
    one = wax.advocate(1, name="<script>alert(1)</script>")
    html = wax.visitor.get(wax.hub(one)).text
    assert "1 friend joined through you" in html
    assert "<script>alert" not in html


def test_nobody_elses_token_opens_a_hub(wax: Newsletter) -> None:
    ben, ann = wax.advocate(0), wax.advocate(0)
    token = wax.hub(ben).rpartition("/")[2]
    for guess in (ben.ref_code, ann.ref_code + token[8:], token[:-1], token + "0", token[:8] + "0" * 32, ben.id):
        assert wax.visitor.get(f"/hub/{guess}").status_code == 404


def test_erasing_the_person_ends_the_hub_and_the_link(wax: Newsletter) -> None:
    ben = wax.advocate(0)
    hub, link = wax.hub(ben), f"/r/{ben.ref_code}"
    assert wax.visitor.get(hub).status_code == 200
    assert wax.visitor.get(link).status_code == 302
    wax.member.delete(f"{wax.member.v1}/subscribers/{ben.id}")
    assert wax.visitor.get(hub).status_code == 404
    gone = wax.visitor.get(link)
    assert gone.status_code == 404
    assert "leads nowhere" in gone.text


def claim_of(wax: Newsletter, html: str, name: str) -> str:
    found = re.search(rf'(?:action|href)="(/hub/[^"]+/claim/[^"]+)"[^§]*?Claim<span class="unseen"> {name}<', html)
    assert found, html
    return found[1]


def test_a_link_and_a_code_are_claimed_by_a_press(wax: Newsletter) -> None:
    wax.offer()
    ben = wax.advocate(3)
    hub = wax.hub(ben)
    html = wax.visitor.get(hub).text
    assert "HONEY-2026" not in html and "files.example.org" not in html
    claim = re.findall(r'action="(/hub/[^"]+/claim/[^"]+)"', html)
    assert len(claim) == 2
    for path in claim:
        assert wax.visitor.get(path).status_code == 303, "looking claims nothing"
        assert wax.visitor.post(path).status_code in (400, 415), "nor does a press without the form"
    assert "HONEY-2026" not in wax.visitor.get(hub).text
    token = wax.fields(hub)["token"]
    for path in claim:
        answer = wax.visitor.post(path, data={"token": token})
        assert answer.status_code == 303
        assert answer.headers["location"].startswith(f"{hub}#won-")
    html = wax.visitor.get(hub).text
    assert 'value="HONEY-2026"' in html and 'href="https://files.example.org/stickers"' in html
    assert html.count("Claimed") == 2
    assert wax.visitor.post(claim[0], data={"token": token}).status_code == 303, "pressing twice is no harm"


def test_one_readers_form_claims_nothing_for_another(wax: Newsletter) -> None:
    wax.offer()
    ben, ann = wax.advocate(1), wax.advocate(1)
    claim = re.findall(r'action="(/hub/[^"]+/claim/[^"]+)"', wax.visitor.get(wax.hub(ben)).text)[0]
    foreign = wax.visitor.post(claim, data={"token": wax.fields(wax.hub(ann))["token"]})
    assert foreign.status_code == 400
    won_id = claim.rpartition("/")[2]
    assert (
        wax.visitor.post(f"{wax.hub(ann)}/claim/{won_id}", data={"token": wax.fields(wax.hub(ann))["token"]}).status_code == 404
    )


ADDRESS = {"name": "Ben Baker", "line1": "1 Hive Lane", "city": "Leeds", "postcode": "LS1 1AA", "country": "United Kingdom"}


def test_a_parcel_needs_an_address(wax: Newsletter) -> None:
    wax.offer(NewReward("The mug", 1, "physical"))
    ben = wax.advocate(1)
    hub = wax.hub(ben)
    claim = claim_of(wax, wax.visitor.get(hub).text, "The mug")
    form = wax.visitor.get(claim)
    assert 'value="Ben Baker"' in form.text and 'autocomplete="shipping postal-code"' in form.text
    token = wax.fields(claim)["token"]
    without = wax.visitor.post(claim, data={**ADDRESS, "city": " ", "token": token})
    assert without.status_code == 400
    assert wrong(without) == "Town is missing. The parcel needs it."
    assert 'value="1 Hive Lane"' in without.text
    assert wax.visitor.post(claim, data={**ADDRESS, "line1": "x" * 300, "token": token}).status_code == 400
    assert wax.visitor.post(claim, data={**ADDRESS, "token": token}).status_code == 303
    assert "On its way to you" in wax.visitor.get(hub).text
    assert mentions(dump(wax.service), "1 Hive Lane")
    wax.member.delete(f"{wax.member.v1}/subscribers/{ben.id}")
    assert not mentions(dump(wax.service), "1 Hive Lane")


def test_what_cannot_be_claimed_yet_says_why(wax: Newsletter) -> None:
    wax.offer(NewReward("A jar", 1, "coupon", pool=True), NewReward("Dinner", 1, "manual", approval="manual"))
    ben = wax.advocate(1)
    html = wax.visitor.get(wax.hub(ben)).text
    assert "We ran out just now" in html and "On its way" in html
    assert "has a look, then writes to you" in html and "Being checked" in html
    assert "/claim/" not in html


def test_a_recurring_reward_goes_on(wax: Newsletter) -> None:
    wax.offer(NewReward("A badge", 2, "link", recurring=True, link="https://files.example.org/badge"))
    ben = wax.advocate(5)
    html = wax.visitor.get(wax.hub(ben)).text
    assert html.count("/claim/") == 2
    assert "1 more friend earns you <em>A badge</em>" in html
    token = wax.fields(wax.hub(ben))["token"]
    for path in re.findall(r'action="(/hub/[^"]+/claim/[^"]+)"', html):
        wax.visitor.post(path, data={"token": token})
    assert "Claimed before (1)" in wax.visitor.get(wax.hub(ben)).text


def test_every_reward_won(wax: Newsletter) -> None:
    wax.offer(NewReward("A badge", 1, "manual"))
    assert "You earned every reward" in wax.visitor.get(wax.hub(wax.advocate(2))).text


# -- the way back to the hub


def wait_for_posting(wax: Newsletter) -> None:
    """The letter is written after the answer."""

    async def settle() -> None:
        for _ in range(20):
            await asyncio.sleep(0.01)

    wax.service.run(settle())


def test_who_lost_the_way_gets_it_by_mail(wax: Newsletter) -> None:
    ben = wax.advocate(0)
    known = wax.fill_in("/hub", ben.email)
    unknown = wax.fill_in("/hub", wax.address("nobody"))
    wait_for_posting(wax)
    assert (known.status_code, known.text) == (unknown.status_code, unknown.text)
    assert [(letter.kind, letter.to_email) for letter in wax.letters()] == [("hub_link", ben.email)]
    assert ben.email not in known.text


def test_one_newsletters_hub_can_be_asked_for(wax: Newsletter) -> None:
    other = Newsletter(wax.service, name="The Other")
    email = wax.address()
    wax.member.subscribe(email)
    other.member.subscribe(email)
    page = f"/hub?of={wax.campaign.slug}"
    assert "The Morning Wax" in wax.visitor.get(page).text
    hidden = wax.fields(page)
    wax.later()
    assert wax.visitor.post(page, data={**hidden, "email": email}).status_code == 200
    wait_for_posting(wax)
    assert (len(wax.letters()), len(other.letters())) == (1, 0)
    wax.later(3_700)
    assert wax.fill_in("/hub", email).status_code == 200
    wait_for_posting(wax)
    assert (len(wax.letters()), len(other.letters())) == (2, 1)


def test_asking_often_is_refused_for_everybody_alike(wax: Newsletter) -> None:
    ben, nobody = wax.advocate(0).email, wax.address("nobody")
    for email in (ben, nobody):
        assert [wax.fill_in("/hub", email).status_code for _ in range(6)] == [200] * 5 + [429]
    wait_for_posting(wax)
    assert len(wax.letters("hub_link")) == 1


def test_rewards_of_the_ladder_cover_every_kind() -> None:
    assert {reward.kind for reward in LADDER} == {"link", "coupon", "physical", "manual"}

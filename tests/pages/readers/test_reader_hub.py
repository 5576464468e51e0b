"""The reader's hub over HTTP on both engines: progress, claims, and the way back for who
lost it.
"""

import asyncio
import re
from html import unescape
from urllib.parse import parse_qs

import pytest

from honeyguide.kernel.ids import new_id
from honeyguide.languages.language import CODES, get_language
from honeyguide.mail import email_kinds
from honeyguide.mail.email_kinds import HUB_LINK
from honeyguide.pages.readers import forms, requested_emails, sharing
from honeyguide.pages.readers.page_texts import PageTexts
from honeyguide.rewards import earned_rewards
from honeyguide.rewards.earned_states import REFUSALS
from honeyguide.rewards.rewards import NewReward
from tests.support.newsletter import REWARDS, Newsletter, errors, follow, link_of
from tests.support.prizes import earned_by
from tests.support.readings import reading
from tests.support.tables import dump, mentions
from tests.support.web import text_of

pytestmark = pytest.mark.usefixtures("roomy_network")


def test_the_hub_shows_link_progress_and_rewards(wax: Newsletter) -> None:
    wax.offer()
    ben = wax.advocate(2, waiting=1)
    wax.visitor.get(wax.hub(ben))
    answer = wax.visitor.get(wax.hub(ben))
    assert link_of(answer.text).endswith(f"/r/{ben.ref_code}")
    for expected in (
        "Hello Ben",
        "Refer 1 more friend to get “ Secret recipes ”",
        "2 confirmed",
        "1 pending",
        "3 to go ",
    ):
        assert expected in text_of(answer.text)
    assert "mailto:?subject=" in answer.text and "sms:?" in answer.text and "<svg" in answer.text
    headers = answer.headers
    assert (headers["cache-control"], headers["x-robots-tag"], headers["referrer-policy"]) == (
        "no-store",
        "noindex",
        "no-referrer",
    )


SHARE_LINKS = {
    "Email": ("mailto:", "body"),
    "Text message": ("sms:", "body"),
    "WhatsApp": ("https://wa.me/", "text"),
    "Telegram": ("https://t.me/share/url", "url"),
    "X": ("https://x.com/intent/post", "text"),
    "Facebook": ("https://www.facebook.com/sharer/sharer.php", "u"),
    "LinkedIn": ("https://www.linkedin.com/sharing/share-offsite/", "url"),
    "Bluesky": ("https://bsky.app/intent/compose", "text"),
}


def test_large_numbers_are_written_out_as_the_language_does(wax: Newsletter) -> None:
    """ "1.2k friends" is no number in most languages, and 1,191 to go stood beside it."""
    wax.offer(NewReward("A hive of your own", 1_250, "manual"))
    hub = wax.hub(wax.advocate(1))
    for code, expected in (
        ("en", "1,250 friends"),
        ("de", "1.250 Empfehlungen"),
        ("ja", "1,250人"),
    ):
        wax.speak(code)
        assert expected in text_of(wax.visitor.get(hub).text)


def test_links_share_the_readers_own_link_on_every_page_that_shows_it(wax: Newsletter) -> None:
    wax.configure(words={"share_message": "Honey & <bees>? 100% yes: {link}"})
    for page in (
        wax.visitor.get(wax.hub(wax.advocate(0))),
        follow(wax, wax.join(wax.address())),
    ):
        found = re.findall(r'<a href="([^"]+)"[^>]*><svg.*?</svg>([^<]+)</a>', page.text)
        links = {name.strip(): unescape(url) for url, name in found}
        for name, (address, parameter) in SHARE_LINKS.items():
            assert links[name].startswith(address), name
            query = parse_qs(links[name].partition("?")[2])
            assert query[parameter][0].endswith(link_of(page.text)), name
            if parameter in ("text", "body"):
                assert query[parameter][0].startswith("Honey & <bees>? 100% yes: http"), name
        assert "Honey & <bees>? 100% yes" in parse_qs(links["Telegram"])["text"]


@pytest.mark.parametrize("code", CODES)
def test_telegram_gets_the_message_without_what_leads_to_the_link(code: str) -> None:
    texts = PageTexts({}, "The Morning Wax", get_language(code))
    telegram = next(
        each for each in sharing.of(texts, "https://a.example/r/x").social if "t.me" in each.url
    )
    message = parse_qs(telegram.url.partition("?")[2])["text"][0]
    assert message[-1].isalpha(), message


def test_a_hub_without_rewards_or_a_name_is_whole(wax: Newsletter) -> None:
    nobody = wax.advocate(0, name=None)
    assert "Invite your first friend" in wax.visitor.get(wax.hub(nobody)).text
    one = wax.advocate(1, name="<script>alert(1)</script>")
    html = wax.visitor.get(wax.hub(one)).text
    assert "1 friend joined through your link" in html
    assert "<script>alert" not in html


def test_nobody_elses_token_opens_a_hub(wax: Newsletter) -> None:
    ben, ann = wax.advocate(0), wax.advocate(0)
    token = wax.hub(ben).rpartition("/")[2]
    for guess in (
        ben.ref_code,
        ann.ref_code + token[8:],
        token[:-1],
        token + "0",
        token[:8] + "0" * 32,
        ben.id,
    ):
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
    assert "This link doesn’t work" in gone.text


def claim_of(wax: Newsletter, html: str, name: str) -> str:
    found = re.search(
        rf'(?:action|href)="(/hub/[^"]+/claim/[^"]+)"[^§]*?aria-label="Claim {name}"', html
    )
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
    token = wax.claim_token(hub)
    for path in claim:
        answer = wax.visitor.post(path, data={"token": token})
        assert answer.status_code == 303
        assert answer.headers["location"].startswith(f"{hub}#won-")
    html = wax.visitor.get(hub).text
    assert 'value="HONEY-2026"' in html and 'href="https://files.example.org/stickers"' in html
    assert html.count("Redeemed") == 2
    assert wax.visitor.post(claim[0], data={"token": token}).status_code == 303, (
        "pressing twice is no harm"
    )


def test_one_readers_form_claims_nothing_for_another(wax: Newsletter) -> None:
    wax.offer()
    ben, ann = wax.advocate(1), wax.advocate(1)
    claim = re.findall(r'action="(/hub/[^"]+/claim/[^"]+)"', wax.visitor.get(wax.hub(ben)).text)[0]
    foreign = wax.visitor.post(claim, data={"token": wax.claim_token(wax.hub(ann))})
    assert foreign.status_code == 400
    earned_id = claim.rpartition("/")[2]
    assert (
        wax.visitor.post(
            f"{wax.hub(ann)}/claim/{earned_id}", data={"token": wax.claim_token(wax.hub(ann))}
        ).status_code
        == 404
    )


ADDRESS = {
    "name": "Ben Baker",
    "line1": "1 Hive Lane",
    "city": "Leeds",
    "postcode": "LS1 1AA",
    "country": "United Kingdom",
}


def test_a_parcel_needs_an_address(wax: Newsletter) -> None:
    # Of its own: afterwards nobody in the whole database may live there, whatever other tests left.
    street = f"{new_id()[-8:]} Lane"
    address = {**ADDRESS, "line1": street}
    wax.offer(NewReward("The mug", 1, "physical"))
    ben = wax.advocate(1)
    hub = wax.hub(ben)
    claim = claim_of(wax, wax.visitor.get(hub).text, "The mug")
    form = wax.visitor.get(claim)
    assert 'value="Ben Baker"' in form.text and 'autocomplete="shipping postal-code"' in form.text
    token = wax.fields(claim)["token"]
    without = wax.visitor.post(
        claim, data={**address, "city": " ", "country": "", "line2": "x" * 300, "token": token}
    )
    assert without.status_code == 400
    assert errors(without) == {
        "line2": "Apartment, floor or company must be at most 255 characters long.",
        "city": "Enter your city.",
        "country": "Choose your country.",
    }
    assert f'value="{street}"' in without.text
    assert (
        wax.visitor.post(claim, data={**address, "line1": "x" * 300, "token": token}).status_code
        == 400
    )
    stale = wax.visitor.post(claim, data={**address, "token": "x"})
    assert errors(stale) == {"": "This page has expired. Please submit the form again."}
    assert f'value="{street}"' in stale.text
    assert wax.visitor.post(claim, data={**address, "token": token}).status_code == 303
    assert "will send it to the address you entered" in wax.visitor.get(hub).text
    assert mentions(dump(wax.service), street)
    wax.member.delete(f"{wax.member.v1}/subscribers/{ben.id}")
    assert not mentions(dump(wax.service), street)


def test_what_cannot_be_claimed_yet_says_why(wax: Newsletter) -> None:
    wax.offer(
        NewReward("A jar", 1, "coupon", pool=True),
        NewReward("Dinner", 1, "manual", approval="manual"),
    )
    ben = wax.advocate(1)
    html = wax.visitor.get(wax.hub(ben)).text
    shown = text_of(html)
    assert "we’re out of stock right now" in shown and " Out of stock " in shown
    assert "The Morning Wax is reviewing it and will email you" in shown
    assert " Awaiting approval " in shown
    assert "/claim/" not in html
    token = forms.token(wax.service.services.site, f"claim {ben.id}", wax.service.now_ms())
    for earned in wax.service.read(
        lambda tx: earned_rewards.earned_by(reading(tx, wax.tenant), ben.id)
    ):
        answer = wax.visitor.post(f"{wax.hub(ben)}/claim/{earned.id}", data={"token": token})
        assert (answer.status_code, errors(answer)) == (400, {"": REFUSALS[earned.status]})


def test_a_recurring_reward_goes_on(wax: Newsletter) -> None:
    wax.offer(
        NewReward("A badge", 2, "link", recurring=True, link="https://files.example.org/badge")
    )
    ben = wax.advocate(5)
    wax.visitor.get(wax.hub(ben))
    html = wax.visitor.get(wax.hub(ben)).text
    assert html.count("/claim/") == 2
    assert "Refer 1 more friend to get “ A badge ”" in text_of(html)
    assert "1 to go, then every 2 friends " in text_of(html)
    token = wax.claim_token(wax.hub(ben))
    for path in re.findall(r'action="(/hub/[^"]+/claim/[^"]+)"', html):
        wax.visitor.post(path, data={"token": token})
    assert "Claimed earlier (1)" in wax.visitor.get(wax.hub(ben)).text


def test_each_package_of_a_recurring_reward_can_be_followed(wax: Newsletter) -> None:
    wax.offer(NewReward("A jar", 1, "physical", recurring=True))
    ben = wax.advocate(2)
    notes = ("1Z999AA10123456784", "Ask for Joe at the post office")
    for earned, note in zip(earned_by(wax.member, {"uuid": ben.id}), notes, strict=True):
        v1 = wax.member.v1
        wax.member.post(f"{v1}/rewards/{earned['uuid']}/redeem", {"shipping_details": ADDRESS})
        wax.member.post(f"{v1}/shipments/{earned['uuid']}/sent", {"tracking_note": note})
    shown = text_of(wax.visitor.get(wax.hub(ben)).text)
    earlier = shown.partition("Claimed earlier (1)")[2]
    assert "Tracking:" in earlier and shown.count("Tracking:") == 2
    assert all(note in shown for note in notes)


def test_every_reward_won(wax: Newsletter) -> None:
    wax.offer(NewReward("A badge", 1, "manual"))
    hub = wax.hub(wax.advocate(2))
    wax.visitor.get(hub)
    assert "Ready to claim: “ A badge ”" in text_of(wax.visitor.get(hub).text)
    claim = claim_of(wax, wax.visitor.get(hub).text, "A badge")
    wax.visitor.post(claim, data={"token": wax.claim_token(hub)})
    assert "You’ve earned every reward" in wax.visitor.get(hub).text


def wait_for_posting(wax: Newsletter) -> None:
    """The email is written after the answer."""

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
    assert [(email.kind, email.to_email) for email in wax.emails()] == [("hub_link", ben.email)]
    assert ben.email not in known.text


def test_who_never_confirmed_gets_the_email_to_confirm_with(wax: Newsletter) -> None:
    """They may have lost it, and would take a referral page for a subscription."""
    wax.configure(needs_confirmation=True)
    email = wax.address()
    wax.join(email)
    wax.later(601)
    page = wax.fill_in("/hub", email)
    wait_for_posting(wax)
    assert "Check your inbox" in page.text
    assert [each.kind for each in wax.emails()] == ["confirm", "confirm"]
    assert wax.visitor.post(wax.confirm_link(email)).status_code == 303
    wax.later(601)
    wax.fill_in("/hub", email)
    wait_for_posting(wax)
    assert [each.kind for each in wax.emails("hub_link")] == ["hub_link"]


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
    assert (len(wax.emails()), len(other.emails())) == (1, 0)
    wax.later(601)
    assert wax.fill_in("/hub", email).status_code == 200
    wait_for_posting(wax)
    assert (len(wax.emails()), len(other.emails())) == (2, 1)


def test_a_new_link_comes_every_ten_minutes_up_to_a_limit_per_day(
    wax: Newsletter, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = HUB_LINK._replace(most_a_day=2)
    monkeypatch.setattr(requested_emails, "HUB_LINK", few)
    monkeypatch.setitem(email_kinds._by_name, few.name, few)
    ben = wax.advocate(0)
    sent = []
    for _ in range(3):
        for _ in range(2):
            assert wax.fill_in("/hub", ben.email).status_code == 200
        wait_for_posting(wax)
        sent.append(len(wax.emails("hub_link")))
        wax.later(601)
    assert sent == [1, 2, 2]


def test_the_signup_page_leads_to_the_form_in_the_newsletters_branding(wax: Newsletter) -> None:
    find = f"/hub?of={wax.campaign.slug}"
    assert f'href="{find}"' in wax.visitor.get(wax.page).text
    refused = wax.visitor.post(find, data=wax.fields(find))
    asked = wax.visitor.post(find, data={**wax.fields(find), "email": wax.address()})
    assert (refused.status_code, asked.status_code) == (400, 200)
    for page in (wax.visitor.get(find), refused, asked):
        assert "<b>The Morning Wax</b>" in page.text


def test_asking_often_is_refused_for_everybody_alike(wax: Newsletter) -> None:
    ben, nobody = wax.advocate(0).email, wax.address("nobody")
    for email in (ben, nobody):
        assert [wax.fill_in("/hub", email).status_code for _ in range(7)] == [200] * 6 + [429]
    wait_for_posting(wax)
    assert len(wax.emails("hub_link")) == 1


def test_rewards_of_the_ladder_cover_every_kind() -> None:
    assert {reward.kind for reward in REWARDS} == {"link", "coupon", "physical", "manual"}

"""The page on which operators edit the emails of their subscribers: placeholders, languages,
previews, tests, and what hostile texts become.
"""

import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.languages.language import CODES, ENGLISH, get_language
from honeyguide.mail import layout, own_texts, texts
from honeyguide.mail.email_kinds import REWARD_UNLOCKED
from honeyguide.mail.layout import EmailLinks
from honeyguide.mail.own_texts import EDITABLE
from honeyguide.mail.texts import AdvocateFacts, UnlockedReward
from honeyguide.subscribers import branding
from honeyguide.subscribers.branding import BrandFields
from tests.support import partner_network
from tests.support.prizes import advocate, offer, post_of, tenant_of
from tests.support.readings import reading
from tests.support.web import Operator, text_of

PAGE = "/look/emails?email=reward_unlocked&language=en"


def saved(alice: Operator) -> dict[str, str]:
    found = alice.service.read(lambda tx: branding.of(reading(tx, tenant_of(alice))))
    return dict(found.words)


def test_an_operators_text_is_saved_previewed_and_sent(alice: Operator) -> None:
    subject, text = (
        "{first_name}, {reward} is yours",
        "Hi {first_name},\n\n{count} joined {newsletter}.",
    )
    typed = {"subject": subject, "text": text, "is_on": "1"}
    html = alice.web.post(f"/look/emails/preview?{PAGE[13:]}", page=PAGE, **typed)
    assert "Hi Ana," in html.text and "style-src 'unsafe-inline'" in str(html.headers)
    assert html.headers["x-frame-options"] == "SAMEORIGIN"
    assert saved(alice) == {}
    assert alice.web.post(PAGE, page=PAGE, **typed).status_code == 303
    assert saved(alice) == {"reward_unlocked_subject": subject, "reward_unlocked_text": text}
    assert subject in text_of(alice.web.get(PAGE).text) or subject in alice.web.get(PAGE).text
    offer(alice)
    advocate(alice, 1)
    assert [each.subject for each in post_of(alice, "reward_unlocked")] == ["Ana, The mug is yours"]
    assert alice.web.post(PAGE, page=PAGE, **typed, reset="1").status_code == 303
    assert saved(alice) == {}


def test_emails_to_partners_are_edited_in_english_and_look_like_the_publication(
    alice: Operator,
) -> None:
    chosen = BrandFields(language="ar", follow_browser_language=True)
    alice.make(branding.save, chosen)
    publication = partner_network.publish(alice, name="The Hive")
    page = "/look/emails?email=budget_reached"
    shown = alice.web.get(page).text
    assert "New referrals earn you nothing until {date}" in shown
    assert "language=fr" not in shown, "it has no other languages"
    preview = alice.web.get(f"/look/emails/preview?{page[13:]}").text
    assert publication["logo_url"] in preview and 'lang="en" dir="ltr"' in preview
    typed = {"subject": "{newsletter}: budget spent", "text": "Back on {date}."}
    assert alice.web.post(page, page=page, **typed).status_code == 303
    assert "The Hive: budget spent" in alice.web.get(f"/look/emails/preview?{page[13:]}").text
    assert alice.web.post(f"/look/emails/test?{page[13:]}", page=page, **typed).status_code == 303
    assert [each.subject for each in post_of(alice, "test_email")] == ["The Hive: budget spent"]
    refused = alice.web.post(page, page=page, subject="{reward}", text="")
    assert refused.status_code == 400 and "{newsletter}, {month}, {date}, {link}" in refused.text


def test_a_default_text_is_not_saved_and_each_language_has_its_own(alice: Operator) -> None:
    alice.make(branding.save, BrandFields(follow_browser_language=True))
    default = own_texts.default(REWARD_UNLOCKED, "subject", ENGLISH)
    alice.web.post(PAGE, page=PAGE, subject=default, text="")
    assert saved(alice) == {}
    french = PAGE.replace("language=en", "language=fr")
    alice.web.post(french, page=french, subject="Bravo : {reward}", text="")
    assert saved(alice) == {"reward_unlocked_subject.fr": "Bravo : {reward}"}
    assert "Bravo" not in alice.web.get(PAGE).text and "Bravo" in alice.web.get(french).text


def test_a_test_goes_to_the_operator_alone(alice: Operator) -> None:
    answer = alice.web.post(
        f"/look/emails/test?{PAGE[13:]}", page=PAGE, subject="Try {reward}", text="Hi {first_name}"
    )
    assert answer.status_code == 303
    (sent,) = post_of(alice, "test_email")
    assert (sent.to_email, sent.subject) == (alice.email, "Try Sticker pack")
    assert saved(alice) == {}


@pytest.mark.parametrize(
    "text",
    ["{password}", "{{newsletter}}", "{0.__class__}", "{newsletter.__class__}", "{", "a}", "{}"],
)
def test_unknown_placeholders_are_refused_with_the_list(alice: Operator, text: str) -> None:
    answer = alice.web.post(PAGE, page=PAGE, subject=f"x {text}", text=f"y {text}")
    assert answer.status_code == 400 and saved(alice) == {}
    assert text_of(answer.text).count("You can use {newsletter}, {reward}, {first_name}") == 2


def test_a_subject_is_one_line() -> None:
    for text in ("a\nBcc: eve@example.org", "a\x00b", "a\u2028b"):
        with pytest.raises(Invalid):
            own_texts.check(REWARD_UNLOCKED, "subject", text)
    own_texts.check(REWARD_UNLOCKED, "subject", "👩‍👩‍👧 {reward}")


@pytest.mark.parametrize("code", CODES)
def test_our_own_texts_can_be_saved_with_a_change(code: str) -> None:
    for email in own_texts.EDITABLE.values():
        for field in own_texts.FIELDS:
            text = own_texts.default(email, field, get_language(code))
            own_texts.check(email, field, f"{text} 1")


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Hi {first_name}, thank you.", "Hi, thank you."),
        ("{first_name}, {reward} is yours", "The mug is yours"),
        ("{first_name}, you’ve earned it", "You’ve earned it"),
        ("Thank you.\n\n{first_name}!\nIt is yours.", "Thank you.\n\n\nIt is yours."),
        ("Congratulations, {first_name}!", "Congratulations!"),
        ("Merci, {first_name}\u00a0!", "Merci\u00a0!"),
        ("شكرًا، {first_name}!", "شكرًا!"),
        ("{first_name}さん、ありがとうございます。", "ありがとうございます。"),
        ("It is yours, {first_name}", "It is yours"),
    ],
)
def test_a_text_reads_well_without_a_first_name(text: str, filled: str) -> None:
    assert own_texts.fill(text, {"first_name": "", "reward": "The mug"}) == filled


HOSTILE = (
    "<script>alert(1)</script>",
    "{{ 7*7 }}",
    "%s",
    "{0.__class__}",
    "{reward}",
    '"><img src=x>',
)


@pytest.mark.parametrize("evil", HOSTILE)
def test_no_value_and_no_text_is_run_or_filled_in_twice(evil: str) -> None:
    """Also texts that are in the database without having been checked."""
    own = {
        f"{kind}_{field}": f"A {evil} {{newsletter}}"
        for kind in EDITABLE
        for field in ("subject", "text")
    }
    brand = layout.EmailBranding(
        evil,
        logo_url="https://example.org/logos/1",
        reply_to="a@b.example",
        own_texts=own,
    )
    message = texts.reward_unlocked(
        brand,
        AdvocateFacts("https://example.org/hub/x", 2, first_name=evil),
        UnlockedReward("The mug", coupon_code=evil, how_to_claim=evil),
    )
    filled = evil.replace("{reward}", "The mug")
    assert message.subject == f"A {filled} {evil}"
    made = layout.parts(message, brand, EmailLinks(stop="https://example.org/stop/x"))
    assert "<script" not in made.html and made.html.count("<img") == 1
    assert len(made.html.encode()) < 30_000 and evil in made.text


def test_a_name_that_is_missing_leaves_no_gap() -> None:
    own = {"reward_unlocked_text": "Hi {first_name}, thank you."}
    message = texts.reward_unlocked(
        layout.EmailBranding("Wax", get_language("de"), own_texts=own),
        AdvocateFacts("https://example.org/hub/x", 1),
        UnlockedReward("Mug"),
    )
    assert message.text.startswith("Hi, thank you.")

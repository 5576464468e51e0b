"""Languages for readers: the catalogs are up to date and correct, missing texts are in English,
and each language writes plurals, dates and numbers in its own way.
"""

import re

import pytest
from babel.messages import Catalog
from jinja2 import Environment

from honeyguide.languages.language import (
    CODES,
    ENGLISH,
    Language,
    compiled,
    get_language,
    preferred_language,
)
from honeyguide.mail import texts
from honeyguide.mail.layout import EmailBranding
from honeyguide.mail.texts import AdvocateFacts, UnlockedReward
from honeyguide.pages.readers.errors import FROM_THE_DOMAIN
from tests import messages

NOVEMBER_15_MS = 1_794_700_800_000 + 3_600_000


@pytest.fixture(scope="module")
def template() -> Catalog:
    return messages.extracted()


def test_the_catalogs_have_exactly_the_texts_of_the_code(template: Catalog) -> None:
    assert messages.stale(template) == [], "run `make messages`"


def test_no_translation_breaks_its_text() -> None:
    assert [line for code in messages.TRANSLATED for line in messages.mistakes(code)] == []


@pytest.mark.parametrize("code", messages.TRANSLATED)
def test_a_reward_is_quoted_alike_everywhere(code: str) -> None:
    name = re.compile(r"(\W)(?:<em>)?(?:%\(reward\)s|\{reward\})(?:</em>)?(\W)")
    pairs = {
        pair
        for message in messages.read(code)
        if message.id and "“" in "".join(message.id)
        for pair in name.findall("".join(message.string))
    }
    assert len(pairs) == 1, pairs


def test_no_french_line_begins_with_a_punctuation_mark() -> None:
    """The space before it does not break."""
    loose = re.compile(r" [:;?!»]|« ")
    strings = ["".join(each.string) for each in messages.read("fr") if each.id]
    assert [text for text in strings if loose.search(text)] == []


def test_the_domain_says_what_the_catalogs_translate() -> None:
    folders = [path for path in messages.SOURCE.iterdir() if path.name not in ("pages", "locale")]
    sources = "".join(
        path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py")
    )
    assert [text for text in FROM_THE_DOMAIN if f'"{text}"' not in sources] == []


def language_with(
    code: str, text: str | tuple[str, str], string: str | tuple[str, ...]
) -> Language:
    catalog = Catalog(locale=code)
    catalog.add(text, string)
    return Language(code, get_language(code).locale, compiled(catalog))


def test_a_missing_text_is_shown_in_english() -> None:
    german = language_with("de", "Copy", "Kopieren")
    assert german.gettext("Copy") == "Kopieren"
    assert german.gettext("Hello {name}", name="Ana") == "Hello Ana"
    assert german.ngettext("{count} friend", "{count} friends", 2) == "2 friends"


def test_plurals_follow_the_language() -> None:
    forms = ("{count} przyjaciel", "{count} przyjaciele", "{count} przyjaciół")
    polish = language_with("pl", ("{count} friend", "{count} friends"), forms)
    found = [polish.ngettext("{count} friend", "{count} friends", n) for n in (1, 3, 5, 22, 12345)]
    assert found[:3] == ["1 przyjaciel", "3 przyjaciele", "5 przyjaciół"]
    assert found[3:] == ["22 przyjaciele", "12\xa0345 przyjaciół"]


def test_values_are_never_read_as_placeholders() -> None:
    assert ENGLISH.gettext("Hello {name}", name="{secret} %s") == "Hello {secret} %s"


@pytest.mark.parametrize(
    ("code", "day", "number", "wait"),
    [
        ("en", "15 Nov 2026", "12,500", "in 2 minutes"),
        ("de", "15. Nov. 2026", "12.500", "in 2 Minuten"),
        ("ja", "2026年11月15日", "12,500", "2 分後"),
        ("pl", "15 lis 2026", "12\xa0500", "za 2 minuty"),
        ("ar", "15 نوفمبر 2026", "12,500", "خلال دقيقتين"),
    ],
)
def test_dates_and_numbers(code: str, day: str, number: str, wait: str) -> None:
    language = get_language(code)
    assert language.day(NOVEMBER_15_MS) == day
    assert language.number(12_500) == number
    assert language.time_from_now(61) == wait


def test_a_sign_is_on_the_left_of_its_number() -> None:
    assert [get_language(code).signed_number(-1234) for code in ("de", "ar")] == [
        "-1.234",
        "\u200e-1,234",
    ]
    assert get_language("ar").signed_number(2) == "\u200e+2"


def test_only_arabic_is_written_from_right_to_left() -> None:
    assert [code for code in CODES if get_language(code).direction == "rtl"] == ["ar"]


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("sv,nl;q=0.3,pl;q=0.7", "pl"),
        ("PT-br", "pt"),
        ("en-US,de;q=0.9", "en"),
        ("sv-SE", "fr"),
        ("", "fr"),
        ("*", "fr"),
        ("ja;q=0, it;q=nonsense, ;;q==,", "fr"),
    ],
)
def test_the_browser_chooses_among_our_languages(header: str, code: str) -> None:
    assert preferred_language(header, otherwise=get_language("fr")).code == code


def test_an_unknown_language_is_english() -> None:
    assert get_language("tlh") == ENGLISH


def test_every_text_is_translated() -> None:
    """Readers would see it in English. Translate what this lists, then run `make messages`."""
    assert {code: found for code in messages.TRANSLATED if (found := messages.missing(code))} == {}


def test_arabic_has_six_forms_in_the_usual_order() -> None:
    """Babel's own rule would take the form of 100 for 11 and the other way around."""
    arabic = get_language("ar").translations
    one, many = "When a friend joins", "When %(count)s friends join"
    found = [arabic.ngettext(one, many, n).split()[-1] for n in (1, 2, 3, 11, 100, 111)]
    assert found == ["صديق", "صديقين", "أصدقاء", "صديقًا", "صديق", "صديقًا"]


def test_emails_have_the_languages_plurals() -> None:
    email = texts.reward_unlocked(
        EmailBranding("Wax", get_language("pl")),
        AdvocateFacts("https://example.org", referrals=5),
        UnlockedReward("Mug"),
    )
    assert "dołączyło 5 osób" in email.text and email.subject == "Zdobyta nagroda: „Mug”"


def test_texts_of_templates_are_translated_once_and_escaped() -> None:
    templates = Environment(autoescape=True)
    language_with("de", "Open", '<b> & "Offen"').install_in(templates)
    source = """<a title="{{ gettext('Open') }}">{%- trans %} Open {% endtrans -%} </a>"""
    shown = templates.from_string(source).render()
    text = "&lt;b&gt; &amp; &#34;Offen&#34;"
    assert shown == f'<a title="{text}">{text}</a>'
    assert "gettext" not in templates.compile(source, raw=True).replace("resolve('gettext')", "")

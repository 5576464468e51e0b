"""Addresses: one stored form, one key, one person; whatever is hostile is refused with one
sentence.
"""

import email_validator
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from honeyguide.kernel import email_addresses
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid


def library_form(text: str) -> str | None:
    """What the library alone makes of a text, in our choice of local part and ASCII domain."""
    try:
        found = email_validator.validate_email(text, check_deliverability=False)
    except email_validator.EmailNotValidError:
        return None
    return f"{found.local_part}@{found.ascii_domain}"


def accepted(text: str) -> str | None:
    try:
        return EmailAddress.parse(text).text
    except Invalid:
        return None


@pytest.mark.parametrize(
    ("given_text", "stored", "key"),
    [
        ("ann@example.org", "ann@example.org", "ann@example.org"),
        ("  ann@example.org\t", "ann@example.org", "ann@example.org"),
        ("Ann.Lee@Example.ORG", "Ann.Lee@example.org", "ann.lee@example.org"),
        (
            "o'neil/news@mail.example.co.uk",
            "o'neil/news@mail.example.co.uk",
            "o'neil/news@mail.example.co.uk",
        ),
        ("a@b.test", "a@b.test", "a@b.test"),
        ("A@b.test", "A@b.test", "a@b.test"),  # the long way in agrees about reserved names
        ("a@b.localhost", "a@b.localhost", "a@b.localhost"),
        ("a@printer.local", "a@printer.local", "a@printer.local"),
        ("a@b.invalid", "a@b.invalid", "a@b.invalid"),
        ("a--b@c--d.org", "a--b@c--d.org", "a--b@c--d.org"),
        # An international domain has one stored form, whichever way it was typed.
        ("a@müller.de", "a@xn--mller-kva.de", "a@xn--mller-kva.de"),
        ("a@MÜLLER.de", "a@xn--mller-kva.de", "a@xn--mller-kva.de"),
        ("a@mu\u0308ller.de", "a@xn--mller-kva.de", "a@xn--mller-kva.de"),
        ("a@XN--MLLER-KVA.de", "a@xn--mller-kva.de", "a@xn--mller-kva.de"),
        ("a@例え。テスト", "a@xn--r8jz45g.xn--zckzah", "a@xn--r8jz45g.xn--zckzah"),
        # Case is folded for É too, which SQLite's NOCASE would not do.
        ("É@example.org", "É@example.org", "é@example.org"),
        ("E\u0301@example.org", "É@example.org", "é@example.org"),
        ("ΝΙΚΟΣ@example.gr", "ΝΙΚΟΣ@example.gr", "νικοσ@example.gr"),
        ("νικος@example.gr", "νικος@example.gr", "νικοσ@example.gr"),
        # Look-alikes in width or form meet the plain spelling.
        ("ａｎｎ@example.org", "ａｎｎ@example.org", "ann@example.org"),
        ("ann①@example.org", "ann①@example.org", "ann1@example.org"),
        ("ann@ｅxample.org", "ann@example.org", "ann@example.org"),
        ("\u212aate@example.org", "Kate@example.org", "kate@example.org"),
    ],
)
def test_an_address_has_one_stored_form_and_one_key(given_text: str, stored: str, key: str) -> None:
    assert EmailAddress.parse(given_text).text == stored
    assert EmailAddress(stored).key == key
    assert stored.endswith("@" + EmailAddress(stored).domain)


HOSTILE = {
    "empty": "",
    "blank": "   ",
    "no at": "ann.example.org",
    "two ats": "a@b@example.org",
    "two ats in a row": "a@@example.org",
    "no local part": "@example.org",
    "no domain": "ann@",
    "no dot in the domain": "ann@localhost",
    "bare test": "ann@test",
    "trailing dot": "ann@example.org.",
    "trailing ideographic dot": "ann@example.org。",
    "leading dot in the domain": "ann@.example.org",
    "two dots in the domain": "ann@example..org",
    "leading dot": ".ann@example.org",
    "dot before the at": "ann.@example.org",
    "two dots": "a..nn@example.org",
    "leading hyphen": "ann@-example.org",
    "trailing hyphen": "ann@example-.org",
    "numeric top level": "ann@example.123",
    "ip without brackets": "ann@127.0.0.1",
    "ip literal": "ann@[127.0.0.1]",
    "ipv6 literal": "ann@[IPv6:::1]",
    "quoted": '"ann"@example.org',
    "quoted with an at": '"a@b"@example.org',
    "display name": "Ann <ann@example.org>",
    "angle brackets": "<ann@example.org>",
    "comment": "ann(x)@example.org",
    "space": "an n@example.org",
    "space after the at": "ann@ example.org",
    "newline at the end": "ann@example.org\n",
    "carriage return at the end": "ann@example.org\r\n",
    "header": "ann@example.org\r\nBcc: all@example.org",
    "newline inside": "ann\n@example.org",
    "newline at the start": "\nann@example.org",
    "nul": "ann\x00@example.org",
    "nul at the end": "ann@example.org\x00",
    "delete": "ann\x7f@example.org",
    "lone surrogate": "ann\ud800@example.org",
    "lone surrogate in the domain": "ann@exa\udfffmple.org",
    "lone surrogate at the end": "ann@example.org\ud800",
    "no-break space": "ann\u00a0@example.org",
    "no-break space around": "\u00a0ann@example.org",
    "zero width": "an\u200bn@example.org",
    "right to left override": "ann\u202e@example.org",
    "full-width at only": "ann＠example.org",
    "full-width at hidden in the local part": "ann＠evil.org@example.org",
    "small at hidden in the local part": "ann﹫evil@example.org",
    "full-width dot before the at": "ann．@example.org",
    "ligature that unfolds to spaces": "\ufdfa@example.org",
    "leading combining mark": "\u0301ann@example.org",
    "false punycode": "ann@xn--a.org",
    "reserved label": "ann@ab--cd.org",
    "label of 64": f"ann@{'a' * 64}.org",
    "international label too long once encoded": f"ann@{'ü' * 60}.org",
    "255 characters": f"{'a' * 243}@example.org",
    "255 bytes in fewer characters": f"{'é' * 122}@example.org",
    "two megabytes": "a" * 2_000_000 + "@example.org",
    "two million ats": "@" * 2_000_000,
    "short enough, but its key is not": f"{'㎯' * 60}@example.org",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_address_is_refused_with_one_sentence(text: str) -> None:
    with pytest.raises(Invalid) as refusal:
        EmailAddress.parse(text)
    assert (refusal.value.message, refusal.value.param, refusal.value.code) == (
        "Email is invalid",
        "email",
        "invalid_email",
    )


def test_254_characters_are_taken_by_either_way_in() -> None:
    for local in ("a" * 242, "A" * 242):
        assert EmailAddress.parse(f"{local}@example.org").text == f"{local}@example.org"


LABEL = st.from_regex(r"[a-z0-9-]{1,8}", fullmatch=True) | st.sampled_from(
    ["xn--mller-kva", "xn--", "ab--c", "a" * 63, "a" * 64]
)
LOCAL = st.from_regex(r"[a-z0-9_+.-]{1,12}", fullmatch=True) | st.sampled_from(
    ["info", "a" * 65, "a" * 241]
)
NEARLY_PLAIN = st.builds(
    lambda local, labels: f"{local}@{'.'.join(labels)}",
    LOCAL,
    st.lists(LABEL, min_size=1, max_size=4),
)


@given(NEARLY_PLAIN)
@example("info@a.co")
@example("a@1.ab")
@example("a@a.b")
@example("-@a-b.org")
@example("a@0.0.0.0.aa")
def test_the_short_way_takes_only_what_the_library_returns_unchanged(text: str) -> None:
    assert accepted(text) == library_form(text)
    if email_addresses._plain(text) and "--" not in text and len(text) <= email_addresses.LONGEST:
        assert library_form(text) == text


@given(
    st.text(max_size=30)
    | st.builds(lambda a, b: f"{a}@{b}.org", st.text(max_size=12), st.text(max_size=12))
    | st.emails()
)
def test_any_text_is_one_stored_form_or_a_refusal(text: str) -> None:
    stored = accepted(text)
    if stored is not None:
        assert EmailAddress.parse(stored).text == stored
        key = EmailAddress(stored).key
        assert EmailAddress(key).key == key
        assert EmailAddress.parse(key).text == key
        assert len(key.encode()) <= email_addresses.LONGEST
        assert key.count("@") == 1
        assert (
            EmailAddress(EmailAddress(stored).person).person
            == EmailAddress(stored).person
            == EmailAddress(key).person
        )


@given(st.text())
@example("ΑΣ")
@example("İ")
@example("\u1e9e")
def test_the_key_of_a_key_is_itself_and_case_is_no_difference(text: str) -> None:
    assert EmailAddress(EmailAddress(text).key).key == EmailAddress(text).key
    if text.isascii():
        assert EmailAddress(text.upper()).key == EmailAddress(text).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ann.lee@gmail.com", "annlee@gmail.com"),
        ("ann.lee@gmail.com", "A.N.N.Lee+news@GoogleMail.com"),
        ("ann@outlook.com", "ann+x@outlook.com"),
        ("ann@hotmail.co.uk", "Ann+x+y@hotmail.co.uk"),
        ("ann@icloud.com", "ann+x@icloud.com"),
        ("ann@fastmail.com", "ann+x@fastmail.com"),
        ("ann@proton.me", "ann+@proton.me"),
        ("ann@example.org", "ANN@EXAMPLE.ORG"),
    ],
)
def test_spellings_that_reach_one_mailbox_are_one_person(one: str, other: str) -> None:
    assert EmailAddress.parse(one).person == EmailAddress.parse(other).person


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ann.lee@outlook.com", "annlee@outlook.com"),  # dots are ignored by few
        ("ann+x@example.org", "ann@example.org"),  # a private domain may mean the plus
        ("ann-x@yahoo.com", "ann@yahoo.com"),
        ("ann@gmail.com", "ann@gmail.co"),
        ("ann@gmail.com", "ann@outlook.com"),
        ("ann@mail.gmail.com", "a.nn@mail.gmail.com"),
        ("+a@gmail.com", "+b@gmail.com"),
        ("bob@gmail.com", "ann@gmail.com"),
    ],
)
def test_addresses_that_may_be_two_people_stay_two(one: str, other: str) -> None:
    assert EmailAddress.parse(one).person != EmailAddress.parse(other).person

"""What callers write is kept as written or refused with a sentence that names the parameter."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid

CATEGORIES = ("marketing", "food & drink", "TV & movie", "web3.0")


def refusal(check: Callable[[], object]) -> str:
    with pytest.raises(Invalid) as refused:
        check()
    assert refused.value.param == "field"
    assert refused.value.message.startswith("field ") and refused.value.message.endswith(".")
    return refused.value.message


def test_limits_are_the_published_ones() -> None:
    assert (checks.NAME_LIMIT, checks.DESCRIPTION_LIMIT, checks.TERMS_LIMIT) == (255, 2000, 10000)
    assert (checks.URL_LIMIT, checks.USER_AGENT_LIMIT, checks.STRING_LIMIT) == (2048, 1024, 255)


@pytest.mark.parametrize(
    "value", ["", " ", "Ann", "tab\tand\nline", "Zoë 🐦", "\u202e", "x" * 255, "🐦" * 255]
)
def test_text_is_kept_as_written(value: str) -> None:
    assert checks.text(value, param="field", limit=255) == value


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("\x00", "field must not contain NUL characters."),
        ("Ann\x00", "field must not contain NUL characters."),
        ("\ud800", "field must not contain unpaired surrogate characters."),
        ("Ann\udfffé", "field must not contain unpaired surrogate characters."),
        ("x" * 2001, "field must be at most 2,000 characters long."),
    ],
)
def test_text_that_cannot_be_kept_is_refused(value: str, sentence: str) -> None:
    assert refusal(lambda: checks.text(value, param="field", limit=2000)) == sentence


@pytest.mark.parametrize("value", ["", " ", "\t\n", "\u2003"])
def test_blank_text_is_refused_where_a_word_is_needed(value: str) -> None:
    assert (
        refusal(lambda: checks.text(value, param="field", limit=9, blank_ok=False))
        == "field must not be blank."
    )


@given(st.text(st.characters(), max_size=20))
def test_accepted_text_can_always_be_encoded(value: str) -> None:
    try:
        checks.text(value, param="field", limit=15)
    except Invalid:
        assert (
            len(value) > 15
            or "\x00" in value
            or any(0xD800 <= ord(character) <= 0xDFFF for character in value)
        )
    else:
        assert len(value) <= 15 and b"\x00" not in value.encode()


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "http://example.com/",
        "HTTPS://Example.COM/Path?next=https://evil.example#x",
        "https://example.com?ref=1",
        "https://example.com#top",
        "https://example.com:8443/a/b?c=d&e=%20f",
        "https://medium.com/@writer",
        "https://example.com./",
        "https://my_shop.example.com/",
        "http://localhost:8000/hook",
        "http://127.0.0.1:9999/hook",
        "http://[::1]:8000/",
        "https://exämple.de/grüße",
        "https://例え.jp/",
        "https://xn--exmple-cua.de/",
        "https://example.com//evil.example",
        "https://example.com/javascript:alert(1)",
        "https://example.com/?q=a|b",
        "https://example.com/" + "x" * (2048 - 20),
        "https://example.com:65535/",
        "https://" + "a" * 63 + ".example/",
        "https://" + "a." * 123 + "example/",
    ],
)
def test_an_absolute_web_address_is_kept_as_written(url: str) -> None:
    assert checks.http_url(url, param="field") == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        " ",
        "example.com",
        "www.example.com/path",
        "/welcome",
        "//evil.example",
        "///evil.example",
        "////evil.example",
        "https:evil.example",
        "https:/evil.example",
        "https:///evil.example",
        "https:////evil.example",
        "https://",
        "https://?x",
        "https://#x",
        "http:",
        "https",
        "\\\\evil.example",
        "\\evil.example",
        "/\\evil.example",
        "https:\\\\evil.example",
        "https:/\\evil.example",
        "https://good.example\\@evil.example",
        "https://good.example\\.evil.example",
        "https://good.example/\\evil.example",
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "javascript://example.com/%0aalert(1)",
        "javascript:https://example.com",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "data:text/html;base64,PHNjcmlwdD4=",
        "vbscript:msgbox(1)",
        "file:///etc/passwd",
        "ftp://example.com/",
        "mailto:a@example.com",
        "blob:https://example.com/1",
        "view-source:https://example.com",
        "about:blank",
        "ws://example.com",
        " https://example.com",
        "https://example.com ",
        "https://example.com/a b",
        "https://example.com/\r\nSet-Cookie: a=b",
        "https://example.com/\n",
        "\nhttps://example.com",
        "https://exam\tple.com",
        "https://example.com/\x00",
        "https://example.com/\x7f",
        "https://example.com/\x85",
        "https://example.com/\u2028",
        "https://example.com/\u202egpj.exe",
        "https://exam\u200bple.com/",
        "https://exam\u00adple.com/",
        "https://example.com/\u3000",
        "https://example.com/\ud800",
        "https://user@evil.example",
        "https://user:pass@evil.example",
        "https://good.example@evil.example",
        "https://@evil.example",
        "https://good.example:443@evil.example/",
        "https://good.example%40evil.example",
        "https://evil%2eexample/",
        "https://good.example:99999/",
        "https://good.example:-1/",
        "https://good.example:80:80/",
        "https://good.example:80a/",
        "https://good.example:８０/",
        "https://[::1/",
        "https://::1]/",
        "https://[evil.example]/",
        "https://[fe80::1%25eth0]/",
        "https://[v1.evil]/",
        "https://[]/",
        "https://[::1]evil.example/",
        "https://good.example[::1]/",
        "https://[1.2.3.4]/",
        "https://good.example:/",
        "https://good.example[.evil.example/",
        "https://.evil.example",
        "https://evil..example",
        "https://.",
        "https://..",
        "https://:443/",
        "https://evil。example/",
        "https://good.example／evil.example",
        "https://good.example＠evil.example",
        "https://good.example？evil.example",
        "https://<script>/",
        "https://*.example.com/",
        "https://exa!mple.com/",
        "https://good.example;evil.example/",
        "https://good.example,evil.example/",
        "https://" + "a" * 64 + ".example/",
        "https://" + "a." * 123 + "example2/",
        "https://example.com:65536/",
        "https://example.com/" + "x" * (2049 - 20),
    ],
)
def test_an_address_that_could_lead_elsewhere_is_refused(url: str) -> None:
    refusal(lambda: checks.http_url(url, param="field"))


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("//evil.example", "absolute http or https URL"),
        ("https://a:b@evil.example", "user name or password"),
        ("https://a b", "spaces, backslashes"),
        ("https://a:99999", "host and port"),
        ("https://a/" + "x" * 2048, "2,048"),
    ],
)
def test_a_refused_address_is_told_why(url: str, word: str) -> None:
    assert word in refusal(lambda: checks.http_url(url, param="field"))


@given(st.text(max_size=30), st.sampled_from(["", "https://", "https:", "//", "http://a"]))
def test_any_accepted_address_starts_with_its_scheme_and_a_host(tail: str, head: str) -> None:
    try:
        url = checks.http_url(head + tail, param="field")
    except Invalid:
        return
    scheme, _, rest = url.partition("://")
    assert scheme.lower() in ("http", "https") and rest[0] not in "/?#:@\\"
    assert url == head + tail and url.isprintable() and " " not in url


@pytest.mark.parametrize(
    "value", ["a", "7", "morning-brew", "a-1-b", "a--b", "x" * 60, "joining", "v1-news"]
)
def test_a_slug_is_kept(value: str) -> None:
    assert checks.slug(value, param="field") == value


@pytest.mark.parametrize(
    "value",
    [
        "",
        "-",
        "-a",
        "a-",
        "A",
        "a_b",
        "a b",
        "a.b",
        "a/b",
        "../x",
        "é",
        "１",
        "a\n",
        "\na",
        "x" * 61,
        "a%20",
        "a\x00",
        "ſ",
    ],
)
def test_a_slug_has_only_lower_case_letters_digits_and_inner_hyphens(value: str) -> None:
    assert "lower-case letters, digits or hyphens" in refusal(
        lambda: checks.slug(value, param="field")
    )


RESERVED = (
    "api admin v1 v2 join r p m hub login logout docs static healthz readyz metrics openapi "
    "assets signup account"
)


@pytest.mark.parametrize("value", RESERVED.split())
def test_a_reserved_word_is_no_slug(value: str) -> None:
    assert "reserved" in refusal(lambda: checks.slug(value, param="field"))


def test_every_reserved_word_would_otherwise_be_a_slug() -> None:
    assert all(checks._SLUG.fullmatch(word) for word in checks.RESERVED_SLUGS)


def test_a_choice_is_taken_letter_for_letter() -> None:
    assert checks.one_of("TV & movie", CATEGORIES, param="field") == "TV & movie"
    for value in ("tv & movie", "", "marketing ", None, 3, True, ["marketing"], {"a": 1}):
        sentence = refusal(lambda value=value: checks.one_of(value, CATEGORIES, param="field"))  # type: ignore[misc]
        assert sentence == "field must be one of: marketing, food & drink, TV & movie, web3.0."


def test_choices_are_folded_and_keep_their_order() -> None:
    chosen = checks.some_of(
        ["web3.0", "marketing", "web3.0"], CATEGORIES, param="field", least=1, most=3
    )
    assert chosen == ["web3.0", "marketing"]
    assert checks.some_of([], CATEGORIES, param="field", least=0) == []
    assert checks.some_of(list(CATEGORIES), CATEGORIES, param="field") == list(CATEGORIES)


@pytest.mark.parametrize(
    "values",
    [
        [],
        ["marketing", "web3.0", "TV & movie"],
        ["marketing", "marketing", "marketing"],
        ["sports"],
        ["marketing", 1],
        [["marketing"]],
        [None],
        "marketing",
        None,
        {},
        1,
    ],
)
def test_too_few_too_many_or_strange_choices_are_refused(values: object) -> None:
    sentence = refusal(lambda: checks.some_of(values, CATEGORIES, param="field", least=1, most=2))
    assert sentence == "field must be 1 to 2 of: marketing, food & drink, TV & movie, web3.0."


def test_a_list_without_an_upper_bound_says_at_least() -> None:
    assert "at least 1 of: marketing" in refusal(
        lambda: checks.some_of([], CATEGORIES, param="field")
    )

"""Signals for and against a referral: their table, their sum, what a request shows, and that the
docs say the same as the code.
"""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.screening.mailbox_providers import (
    PROVIDERS,
    RELAYS,
    is_provider,
    is_relay,
    registered_domain,
)
from honeyguide.screening.screening import is_disposable
from honeyguide.screening.signals import (
    SUSPICIOUS_POINTS,
    THRESHOLDS,
    Signal,
    SignalFinding,
    Thresholds,
    of_request,
    points,
)
from honeyguide.subscribers.reasons import SUSPICIONS, Reason

DOCS = Path(__file__).parents[2] / "docs" / "screening.md"


def found(signal: Signal, much: int | None = None) -> SignalFinding:
    return signal.found() if much is None else SignalFinding(signal, "", much)


# -- the table


@pytest.mark.parametrize("signal", list(Signal))
def test_every_signal_has_one_sentence_that_also_reads_without_its_value(signal: Signal) -> None:
    assert signal.sentence("12 of 40").endswith(": 12 of 40.")
    bare = signal.sentence("")
    assert re.fullmatch(r"[A-Z][^:{}_.]+\.", bare), bare


def test_braces_in_a_value_are_only_text() -> None:
    assert Signal.BOUNCED.sentence("{value} {0}").endswith(": {value} {0}.")


def test_a_reason_that_is_a_suspicion_has_a_signal_of_the_same_code() -> None:
    by_evidence = {Reason.LOOKS_AUTOMATED, Reason.NEEDS_REVIEW}  # whatever it is
    assert {str(reason) for reason in SUSPICIONS - by_evidence} <= {str(each) for each in Signal}


def test_only_a_group_or_a_dead_mailbox_is_suspicious_by_one_signal() -> None:
    alone = {signal for signal in Signal if signal.facts.points >= SUSPICIOUS_POINTS}
    assert {signal for signal in alone if not signal.facts.is_group} == {Signal.BOUNCED}


# -- the sum


@pytest.mark.parametrize(
    ("findings", "total"),
    [
        ([], 0),
        ([found(Signal.CONFIRMED)], 0),
        ([found(Signal.AUTOMATED_BROWSER), found(Signal.NO_CLICK)], 2),
        ([found(Signal.AUTOMATED_BROWSER), found(Signal.NO_CLICK), found(Signal.BURST)], 3),
        ([found(Signal.NO_CLICK), found(Signal.USED_REFERRAL_PAGE)], 0),
        ([found(Signal.RARE_DOMAIN, 2), found(Signal.USED_REFERRAL_PAGE)], 0),
        ([found(Signal.RARE_DOMAIN), found(Signal.USED_REFERRAL_PAGE)], 3),
        (
            [
                found(Signal.RARE_DOMAIN),
                found(Signal.USED_REFERRAL_PAGE),
                found(Signal.ACTIVE_ON_PLATFORM),
            ],
            3,
        ),
        ([found(Signal.RARE_DOMAIN), found(Signal.CLAIMED_REWARD)], 0),
        (
            [
                found(Signal.RARE_DOMAIN),
                found(Signal.REGULAR_INTERVALS),
                found(Signal.CLAIMED_REWARD),
            ],
            3,
        ),
        ([found(Signal.BOUNCED), found(Signal.USED_REFERRAL_PAGE)], 1),
        ([found(Signal.RARE_DOMAIN, 1), found(Signal.RARE_DOMAIN, 2)], 2),
    ],
)
def test_points_are_summed(findings: list[SignalFinding], total: int) -> None:
    assert points(findings) == total
    assert points(reversed(findings)) == total


SOME = st.lists(
    st.sampled_from(list(Signal)).flatmap(
        lambda signal: st.builds(
            found,
            st.just(signal),
            st.integers(1, signal.facts.points) if signal.facts.is_group else st.none(),
        )
    ),
    max_size=8,
)


@given(SOME, SOME)
def test_evidence_against_never_helps_and_evidence_for_never_hurts(
    findings: list[SignalFinding], more: list[SignalFinding]
) -> None:
    for each in more:
        if each.points >= 0:
            assert points([*findings, each]) >= points(findings) >= 0
        else:
            assert points([*findings, each]) <= points(findings)


# -- the request

CHROME = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{} Safari/537.36"
)
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) {}"
)
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:{0}) Gecko/20100101 Firefox/{0}"
WEB_VIEW = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/X; wv) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Version/4.0 Chrome/130.0.0.0 Mobile Safari/537.36"
)
SAFARI = "Version/{} Mobile/15E148 Safari/604.1"


def sent_by(
    agent: str | None, *, language: str | None = "de", fetch: bool = True
) -> dict[str, str]:
    headers = {"Host": "news.example", "User-Agent": agent, "Accept-Language": language}
    sent = {name: value for name, value in headers.items() if value is not None}
    return sent | ({"Sec-Fetch-Mode": "navigate"} if fetch else {})


@pytest.mark.parametrize(
    ("headers", "value"),
    [
        ({}, "no user agent"),
        (sent_by("  "), "no user agent"),
        (sent_by("curl/8.5.0"), "user agent curl"),
        (sent_by("python-requests/2.32"), "user agent python"),
        (sent_by("Go-http-client/2.0"), "user agent go-http-client"),
        (sent_by("okhttp/4.12.0"), "user agent okhttp"),
        (
            sent_by(CHROME.format("130.0.0.0").replace("Chrome", "HeadlessChrome")),
            "user agent headless",
        ),
        (
            sent_by(CHROME.format("130.0.0.0")) | {"Sec-CH-UA": '"HeadlessChrome";v="130"'},
            "user agent headless",
        ),
        (sent_by("MyTool 1.0"), "not a browser’s user agent"),
        (sent_by(CHROME.format("130.0.0.0"), language=None), "no language"),
        (sent_by(CHROME.format("130.0.0.0"), language=" "), "no language"),
        (sent_by(WEB_VIEW, language=None, fetch=False), "no language"),
        *(
            (sent_by(agent, fetch=False), "headers are missing that this browser sends")
            for agent in (
                CHROME.format("130.0.0.0"),
                FIREFOX.format("132.0"),
                IPHONE.format(SAFARI.format("16.4")),
                IPHONE.format(SAFARI.format("17.0.1")),
            )
        ),
    ],
)
def test_a_program_gets_one_point(headers: dict[str, str], value: str) -> None:
    assert of_request(headers) == SignalFinding(Signal.AUTOMATED_BROWSER, value, 1)
    assert of_request({name.lower(): text for name, text in headers.items()}) == of_request(headers)


@pytest.mark.parametrize(
    "headers",
    [
        sent_by(CHROME.format("130.0.0.0")),
        sent_by(FIREFOX.format("132.0")),
        sent_by(IPHONE.format(SAFARI.format("17.0"))),
        # They did not send it yet.
        sent_by(CHROME.format("75.0.3770.100"), fetch=False),
        sent_by(FIREFOX.format("89.0"), fetch=False),
        sent_by(IPHONE.format(SAFARI.format("16.3")), fetch=False),
        # Web views inside other apps, and Chrome on iPhones.
        sent_by(WEB_VIEW, fetch=False),
        sent_by(IPHONE.format("Mobile/15E148 Instagram 300.0"), fetch=False),
        sent_by(IPHONE.format("CriOS/130.0 Mobile/15E148 Safari/604.1"), fetch=False),
        # A phone with an unlucky name.
        sent_by(CHROME.format("130.0.0.0").replace("X11", "CUBOT NOTE 20")),
    ],
)
def test_a_browser_gets_none(headers: dict[str, str]) -> None:
    assert of_request(headers) is None


def test_no_browser_sends_fetch_headers_over_plain_http() -> None:
    headers = sent_by(CHROME.format("130.0.0.0"), fetch=False)
    assert of_request(headers) is not None
    assert of_request(headers, is_https=False) is None


@given(st.dictionaries(st.sampled_from(["User-Agent", "accept-language", "X"]), st.text()))
def test_whatever_is_sent_the_value_is_ours(headers: dict[str, str]) -> None:
    finding = of_request(headers)
    assert finding is None or len(finding.value) < 60


# -- mail domains


def test_the_list_of_providers_is_tidy() -> None:
    assert 150 <= len(PROVIDERS) <= 500
    assert all(re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", domain) for domain in PROVIDERS)
    assert [domain for domain in sorted(PROVIDERS) if is_disposable(domain)] == []
    assert RELAYS < PROVIDERS


@pytest.mark.parametrize(
    ("domain", "registered"),
    [
        ("example.org", "example.org"),
        ("a.b.example.org", "example.org"),
        ("mail.example.co.uk", "example.co.uk"),
        ("example.co.uk", "example.co.uk"),
        ("student.uni-x.nl", "uni-x.nl"),
        ("localhost", "localhost"),
        ("", ""),
    ],
)
def test_names_below_a_registered_domain_are_one(domain: str, registered: str) -> None:
    assert registered_domain(domain) == registered


def test_a_name_below_a_provider_is_only_a_relay_s() -> None:
    assert is_provider("gmail.com") and not is_provider("mine.au.com")
    assert is_relay("ada.mozmail.com") and is_provider("ada.mozmail.com")


# -- the docs


def signal_row(signal: Signal) -> str:
    facts = signal.facts
    much = f"up to {facts.points}" if facts.is_group and facts.points > 1 else str(facts.points)
    about = "the group" if facts.is_group else "the person"
    return f"| `{signal}` | {much} | {about} | {signal.sentence('')} |"


def threshold_row(name: str, value: object, why: str) -> str:
    if isinstance(value, tuple):
        value = ", ".join(f"{count}: {limit}" for count, limit in value)
    return f"| `{name}` | {value} | {why} |"


def table_under(heading: str) -> list[str]:
    section = DOCS.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    return [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| `")]


def test_the_docs_have_every_signal_as_it_is() -> None:
    assert table_under("Signals") == [signal_row(signal) for signal in Signal]


def test_the_docs_have_every_threshold_as_it_is() -> None:
    assert table_under("Thresholds") == [
        threshold_row(each.name, getattr(THRESHOLDS, each.name), each.metadata["why"])
        for each in fields(Thresholds)
    ]

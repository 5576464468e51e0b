"""Why a referral waits or is rejected: the sentence, the end of a holding period, IP networks and
throw-away domains.
"""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.screening import rules
from honeyguide.screening.rules import Decision
from honeyguide.screening.screening import is_disposable
from honeyguide.subscribers import reasons
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import ScreeningPolicy
from tests.screening.test_referral_rules import HONEST, NOW, ms


def test_a_held_referral_says_why_and_until_when() -> None:
    due = ms("2026-11-19T09:30")
    assert reasons.explain("same_network", due) == (
        "Same IP network as the referrer within a day. It will be verified on 19 Nov 2026 unless "
        "you decide earlier."
    )
    assert reasons.explain("awaiting_confirmation", None) == (
        "Not confirmed by the subscriber yet. It will be verified once they confirm, unless you "
        "decide earlier."
    )
    assert reasons.explain("awaiting_confirmation", due) == (
        "Not confirmed by the subscriber yet. It will be verified once they confirm, on 19 Nov "
        "2026 at the earliest, "
        "unless you decide earlier."
    )
    assert (
        reasons.explain("disposable_domain", None)
        == "Disposable email address. It does not count unless you verify it."
    )
    assert reasons.explain("verified_by_hand", None) == "Verified manually."


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_has_one_plain_sentence_and_can_be_explained_from_its_stored_word(
    reason: Reason,
) -> None:
    assert (
        reason.sentence[0].isupper()
        and reason.sentence.endswith(".")
        and "_" not in reason.sentence
    )
    assert reason.sentence.count(".") == 1
    for due_ms in (None, NOW):
        assert reasons.explain(reason.value, due_ms).startswith(reason.sentence)


@pytest.mark.parametrize(
    ("arrived", "hold_days", "due", "explanation"),
    [
        ("2026-12-20T23:59:59", 14, "2027-01-03T23:59:59", "3 Jan 2027"),
        ("2027-02-27T00:00:00", 2, "2027-03-01T00:00:00", "1 Mar 2027"),
        ("2028-02-27T00:00:00", 2, "2028-02-29T00:00:00", "29 Feb 2028"),
        ("2028-02-29T12:00:00", 30, "2028-03-30T12:00:00", "30 Mar 2028"),
        # A day is 24 hours also where clocks change, since it is counted in UTC.
        ("2027-03-27T00:30:00", 2, "2027-03-29T00:30:00", "29 Mar 2027"),
        ("2026-10-24T22:30:00", 2, "2026-10-26T22:30:00", "26 Oct 2026"),
    ],
)
def test_a_hold_ends_on_the_same_time_of_day_across_months_and_leap_days(
    arrived: str, hold_days: int, due: str, explanation: str
) -> None:
    decision = rules.decide(HONEST, ScreeningPolicy("flexible", hold_days), ms(arrived))
    assert decision.due_ms == ms(due)
    assert explanation in reasons.explain(decision.reason or "", decision.due_ms)


@pytest.mark.parametrize("first_day", ["2027-01-01", "2028-01-01"])
def test_over_a_year_every_hold_ends_in_the_first_sweep_after_it_is_due(first_day: str) -> None:
    start = datetime.fromisoformat(first_day).replace(tzinfo=UTC)
    waiting: list[tuple[datetime, int, Decision]] = []
    ended = 0
    for hour in range(24 * (366 + 31)):
        now = start + timedelta(hours=hour)
        now_ms = int(now.timestamp()) * 1000
        if hour % 24 == 7 and hour < 24 * 366:
            days = hour // 24 % 30 + 1
            waiting.append(
                (now, days, rules.decide(HONEST, ScreeningPolicy("flexible", days), now_ms))
            )
        for item in list(waiting):
            arrived, days, held = item
            after = rules.on_due(held.status, held.reason, held.due_ms, now_ms)
            assert (after is not None) == (now >= arrived + timedelta(days=days))
            if after:
                found = reasons.explain("holding_period", held.due_ms)
                assert f"on {now.day} {now:%b} {now.year} unless" in found
                waiting.remove(item)
                ended += 1
    assert ended == 366
    assert not waiting


@pytest.mark.parametrize(
    ("ip", "network"),
    [
        ("203.0.113.7", "203.0.113.7"),
        (" 203.0.113.7 ", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::FFFF:CB00:7107", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:0DB8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", None),
        (None, None),
        ("203.0.113.7:443", None),
        ("203.0.113", None),
        ("203.0.113.007", None),
        ("203.0.113.7, 198.51.100.1", None),
        ("[::1]", None),
        ("localhost", None),
        ("1", None),
        ("١.2.3.4", None),
        ("\ud800", None),
        ("x" * 100_000, None),
    ],
)
def test_a_network_is_an_ipv4_address_or_an_ipv6_64_and_nonsense_is_none(
    ip: str | None, network: str | None
) -> None:
    assert ip_network_of(ip) == network


@given(st.text() | st.ip_addresses().map(str))
def test_a_network_of_any_text_is_a_network_or_nothing(text: str) -> None:
    network = ip_network_of(text)
    assert network is None or network.endswith("/64") or network.count(".") == 3


@pytest.mark.parametrize(
    ("domain", "listed"),
    [
        ("mailinator.com", True),
        ("anything.mailinator.com", True),
        ("a.b.yopmail.com", True),
        ("honest-mailinator.com", False),
        ("mailinator.com.example.org", False),
        ("gmail.com", False),
        ("proton.me", False),
        ("duck.com", False),
        ("privaterelay.appleid.com", False),
        ("com", False),
        ("", False),
        (".", False),
    ],
)
def test_a_throw_away_domain_is_known_with_its_subdomains(domain: str, listed: bool) -> None:
    assert is_disposable(domain) is listed

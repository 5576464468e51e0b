"""The labelled month replayed through the pure rules: what is caught, and who is wronged. The
signals are worked out from a plain list in memory, so this is also the reference for whoever works
them out in SQL.
"""

from collections import Counter

import pytest

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.screening import rules
from honeyguide.screening.rules import Decision, Signals
from honeyguide.screening.screening import is_disposable
from honeyguide.subscribers.referral_states import ScreeningPolicy
from tests.corpus.signups import (
    ALIAS,
    BURST,
    DAY,
    DISPOSABLE,
    HONEST,
    HOUR,
    LOOP,
    NETWORK,
    SIGNUPS,
    Signup,
)


class History:
    """Everyone who signed up so far, and what can be told from them about the next."""

    def __init__(self) -> None:
        self.came: dict[str, Signup] = {}

    def signals(self, signup: Signup) -> Signals:
        assert signup.referrer is not None
        referrer, email = self.came[signup.referrer], EmailAddress.parse(signup.email)
        network = ip_network_of(signup.ip)
        same_code = [other for other in self.came.values() if other.referrer == signup.referrer]
        today = [other for other in same_code if other.minute > signup.minute - DAY]
        return Signals(
            email=email,
            referrer_emails=(EmailAddress.parse(referrer.email),),
            disposable=is_disposable(email.domain),
            loop=email.person in self.brought(referrer),
            same_network_as_referrer=network == ip_network_of(referrer.ip)
            and referrer.minute > signup.minute - DAY,
            signups_from_network_today=1
            + sum(ip_network_of(other.ip) == network for other in today),
            signups_on_code_last_hour=1
            + sum(other.minute > signup.minute - HOUR for other in same_code),
        )

    def brought(self, referrer: Signup) -> set[str]:
        """The people behind the referrer: who brought them, who brought those, and so on."""
        people = set()
        while referrer.referrer is not None:
            referrer = self.came[referrer.referrer]
            people.add(EmailAddress.parse(referrer.email).person)
        return people


def replay(level: str) -> list[tuple[Signup, Decision]]:
    history = History()
    decided = []
    for signup in SIGNUPS:
        if signup.referrer is not None:
            decided.append(
                (
                    signup,
                    rules.decide(
                        history.signals(signup), ScreeningPolicy(level), signup.minute * 60_000
                    ),
                )
            )
        history.came[signup.email] = signup
    return decided


def share(decided: list[tuple[Signup, Decision]], label: str, *statuses: str) -> float:
    of_label = [
        decision.status in statuses for signup, decision in decided if signup.label == label
    ]
    return sum(of_label) / len(of_label)


@pytest.fixture(scope="module")
def flexible() -> list[tuple[Signup, Decision]]:
    return replay("flexible")


@pytest.fixture(scope="module")
def strong() -> list[tuple[Signup, Decision]]:
    return replay("strong")


def test_the_corpus_is_large_ordered_and_without_a_duplicate() -> None:
    labels = Counter(signup.label for signup in SIGNUPS if signup.referrer)
    assert labels[ALIAS] >= 60 and labels[DISPOSABLE] >= 60 and labels[LOOP] >= 30
    assert labels[BURST] >= 100 and labels[NETWORK] >= 100 and labels[HONEST] >= 200
    keys = [EmailAddress.parse(signup.email).key for signup in SIGNUPS]
    assert [key for key, times in Counter(keys).items() if times > 1] == []
    came: set[str] = set()
    for order, signup in enumerate(SIGNUPS):
        assert signup.order == order
        assert signup.referrer is None or signup.referrer in came
        assert ip_network_of(signup.ip) is not None
        came.add(signup.email)


@pytest.mark.parametrize("label", [ALIAS, DISPOSABLE, LOOP])
def test_at_flexible_nearly_no_certain_attack_counts(
    flexible: list[tuple[Signup, Decision]], label: str
) -> None:
    assert share(flexible, label, "rejected") >= 0.95


def test_at_flexible_hardly_an_honest_reader_is_rejected(
    flexible: list[tuple[Signup, Decision]],
) -> None:
    assert 0 < share(flexible, HONEST, "rejected") <= 0.01
    assert share(flexible, HONEST, "pending") == 0


@pytest.mark.parametrize("label", [BURST, NETWORK])
def test_at_strong_nearly_every_burst_and_farm_is_held(
    strong: list[tuple[Signup, Decision]], label: str
) -> None:
    assert share(strong, label, "pending") >= 0.95


def test_at_strong_an_honest_reader_may_wait_but_is_not_rejected(
    strong: list[tuple[Signup, Decision]],
) -> None:
    assert share(strong, HONEST, "rejected") <= 0.01
    held = [
        decision
        for signup, decision in strong
        if signup.label == HONEST and decision.status == "pending"
    ]
    assert held and all(decision.due_ms is not None for decision in held)


def test_each_kind_of_attack_is_caught_for_its_own_reason(
    flexible: list[tuple[Signup, Decision]], strong: list[tuple[Signup, Decision]]
) -> None:
    reasons: dict[str, set[str]] = {}
    for signup, decision in flexible + strong:
        if decision.reason is not None:
            reasons.setdefault(signup.label, set()).add(decision.reason)
    assert reasons[ALIAS] == {"alias_of_referrer"}
    assert reasons[DISPOSABLE] == {"disposable_domain"}
    assert reasons[LOOP] == {"referral_loop"}
    assert reasons[BURST] == {"burst"}
    assert reasons[NETWORK] == {"same_network", "many_from_one_network"}

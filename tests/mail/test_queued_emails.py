"""Emails as rows: written with the change, once, counted, erased, forgotten. And what they say."""

import asyncio
import inspect
from typing import Any

import pytest

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.paging import Page
from honeyguide.mail import emails, partner_texts, texts
from honeyguide.mail.content import EmailText
from honeyguide.mail.email_kinds import declared
from honeyguide.mail.layout import EmailBranding
from honeyguide.mail.texts import AdvocateFacts, UnlockedReward
from honeyguide.store.tx import Tx
from tests.support.queued_emails import NOW, Letterbox
from tests.support.readings import change_of_account, in_account


class Regret(Exception):
    pass


def test_a_letter_is_gone_when_its_change_is_rolled_back_and_nobody_is_woken(
    box: Letterbox,
) -> None:
    async def change(tx: Tx) -> None:
        await box.put(tx)
        raise Regret

    woken = box.woken
    with pytest.raises(Regret):
        box.write(change)
    assert box.of_account() == [] and box.woken == woken
    box.post()
    assert [email.status for email in box.of_account()] == ["waiting"] and box.woken == woken + 1


def test_several_letters_and_a_twin_fit_into_one_transaction(box: Letterbox) -> None:
    async def change(tx: Tx) -> None:
        for once in ("a", "b", "a", None, None):
            await box.put(tx, once=once)

    box.write(change)
    assert len(box.of_account()) == 4


def test_one_key_makes_one_letter_under_twenty_parallel_transactions(box: Letterbox) -> None:
    async def change(tx: Tx) -> None:
        await box.put(tx, once="budget-2026-11")

    async def all_at_once() -> None:
        await asyncio.gather(*(box.store.write(change) for _ in range(20)))

    box.run(all_at_once())
    box.post(once="budget-2026-12")
    assert len(box.of_account()) == 2


def test_a_key_is_the_accounts_own(box: Letterbox) -> None:
    own, other = new_id(), new_id()
    box.post(account_id=own, once="welcome")
    box.post(account_id=other, once="welcome")
    box.post(account_id=own, once="welcome")
    assert len(box.of_account(own)) == len(box.of_account(other)) == 1


def test_keys_taken_in_opposite_orders_do_not_lock_each_other_out(box: Letterbox) -> None:
    async def change(tx: Tx, keys: list[str]) -> None:
        for key in keys:
            await box.put(tx, once=key)
            await emails.of_subscriber(
                in_account(tx, box.account_id), ""
            )  # sends what was put so far

    async def all_at_once() -> None:
        orders = [["a", "b"], ["b", "a"]]
        await asyncio.gather(
            *(box.store.write(lambda tx, order=order: change(tx, order)) for order in orders)
        )

    box.run(all_at_once())
    assert len(box.of_account()) == 2


def test_a_list_is_newest_first_paged_and_an_accounts_own(box: Letterbox) -> None:
    for minute in range(5):
        box.post(subject=f"QueuedEmail {minute}", now_ms=NOW + minute * MINUTE_MS)
    box.post(account_id=new_id(), subject="Not yours")
    assert [email.subject for email in box.of_account(page=Page(1, 3))] == [
        "QueuedEmail 4",
        "QueuedEmail 3",
        "QueuedEmail 2",
    ]
    assert [email.subject for email in box.of_account(page=Page(2, 3))] == [
        "QueuedEmail 1",
        "QueuedEmail 0",
    ]


def test_letters_that_strangers_ask_for_are_counted_by_mailbox(box: Letterbox) -> None:
    other = new_id()
    box.post(to="Ann.Lee@gmail.com", kind="confirm")
    box.post(to="annlee+x@googlemail.com", kind="confirm", account_id=other)
    box.post(to="annlee@gmail.com", kind="hub_link")
    box.post(to="annlee@gmail.com", kind="first_referral")
    box.post(to="annlee@gmail.com", kind="confirm", now_ms=NOW - DAY_MS)
    box.post(to="bea@example.org", kind="confirm")
    ann = EmailAddress.parse("ANNLEE@gmail.com")

    def count(account_id: str, kind: str, since_ms: int) -> tuple[int, int, int, int]:
        return box.read(
            lambda tx: emails.count_recent(
                in_account(tx, account_id),
                ann,
                declared(kind),
                since_ms=since_ms,
                now_ms=NOW - DAY_MS + 2 * HOUR_MS,
            )
        )

    assert count(box.account_id, "confirm", NOW - DAY_MS) == (1, 2, 3, 2)
    assert count(box.account_id, "confirm", NOW - DAY_MS - 1) == (2, 2, 3, 2)
    assert count(box.account_id, "hub_link", NOW - DAY_MS) == (1, 1, 1, 1)
    assert count(other, "confirm", NOW - DAY_MS) == (1, 1, 3, 2)
    assert count(new_id(), "confirm", 0) == (0, 0, 3, 2)


def test_erasing_a_person_empties_their_letters_and_cancels_what_waits(box: Letterbox) -> None:
    ann, bea, stranger = new_id(), new_id(), new_id()
    box.post(to="ann@example.org", about=ann, html="<p>Ann</p>", from_name="Ann's Daily")
    box.post(to="bea@example.org", about=bea)
    box.post(to="ann@example.org", about=ann, account_id=stranger)
    box.write(lambda tx: emails.erase(change_of_account(tx, box.account_id), ann))

    (gone,) = box.read(lambda tx: emails.of_subscriber(in_account(tx, box.account_id), ann))
    assert (gone.status, gone.to_email, gone.subject) == ("cancelled", None, None)
    held = box.columns("to_email, mailbox, from_name, subject, body_text, body_html", gone.id)
    assert held == [None] * 6
    assert [
        email.status
        for email in box.read(lambda tx: emails.of_subscriber(in_account(tx, box.account_id), bea))
    ] == ["waiting"]
    assert [email.status for email in box.of_account(stranger)] == ["waiting"]


def test_old_texts_are_forgotten_in_batches_but_never_those_still_to_be_sent(
    box: Letterbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emails.purge, "batch", 2)
    for _ in range(3):
        box.post(now_ms=NOW)
    sent = [email.id for email in box.of_account()]
    box.settle(NOW)
    box.post(subject="Still waiting", now_ms=NOW)
    waiting = box.of_account()[0].id

    def purge(now_ms: int) -> bool:
        return box.write(lambda tx: emails.purge(tx.at(now_ms)))

    assert not purge(NOW + emails.KEPT_MS - 1)
    assert all(box.columns("body_text", email_id)[0] for email_id in sent)
    assert [purge(NOW + emails.KEPT_MS), purge(NOW + emails.KEPT_MS)] == [True, False]
    assert [box.columns("body_text", email_id)[0] for email_id in sent] == [None] * 3
    assert box.columns("body_text", waiting)[0]


def test_what_is_no_address_is_refused(box: Letterbox) -> None:
    for wrong in (
        "",
        "ann",
        "ann@example.org\r\nBcc: eve@example.org",
        "ann@example.org, eve@example.org",
    ):
        with pytest.raises(Invalid):
            box.post(to=wrong)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Hello\r\nBcc: eve@example.org", "Hello Bcc: eve@example.org"),
        ("A\x00B\x1bC\x85D\u2028E\tF", "A B C D E F"),
        ("  Zwei   Worte ", "Zwei Worte"),
        ("Family 👨‍👩‍👧 day", "Family 👨‍👩‍👧 day"),
    ],
)
def test_a_subject_is_one_line_whatever_a_name_holds(given: str, kept: str) -> None:
    assert emails.one_line(given) == kept


TEXTS = {
    name: function
    for module in (texts, partner_texts)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__
    and not name.startswith("_")
    and inspect.signature(function).return_annotation == "EmailText"
}


def values_for(kind: str) -> dict[str, Any]:
    """Something for every parameter that the email needs."""
    needed = [
        given
        for given in inspect.signature(TEXTS[kind]).parameters.values()
        if given.default is given.empty
    ]
    samples: dict[str, Any] = {
        "int": 7,
        "bool": True,
        "EmailBranding": EmailBranding("The newsletter"),
        "AdvocateFacts": AdvocateFacts("The hub", 7),
        "UnlockedReward": UnlockedReward("The reward"),
        "Iterable[Sequence[str]]": [("Fee", "$3.00")],
        "Sequence[str]": ("The Morning Wax",),
    }
    return {given.name: samples.get(given.annotation, f"The {given.name}") for given in needed}


def said(kind: str, value: Any) -> tuple[str, ...]:
    """What an email must say of a value."""
    if isinstance(value, EmailBranding | UnlockedReward):
        return (value.name,)
    if isinstance(value, AdvocateFacts):
        return (value.hub,) if kind == "one_more" else (value.hub, str(value.referrals))
    first = value[0] if isinstance(value, list) else value
    return first if isinstance(first, tuple) else (str(first),)


@pytest.mark.parametrize("kind", TEXTS)
def test_every_letter_says_all_it_was_told_in_few_words(kind: str) -> None:
    given = values_for(kind)
    message = TEXTS[kind](**given)
    subject, text = message.subject, message.text
    for name, value in given.items():
        if name not in ("has_stopped", "is_paused"):  # they choose the words, and are not said
            assert all(part in subject + text for part in said(kind, value))
    assert subject == emails.one_line(subject) and len(subject) < 60
    assert text.endswith("\n") and "None" not in text and len(text) < 700


def test_a_reader_never_reads_our_name() -> None:
    for kind in ("confirm", "hub_link", "reward_unlocked"):
        message = getattr(texts, kind)(**values_for(kind))
        assert "oneyguide" not in message.subject + message.text


def test_a_reward_comes_with_its_code_its_link_or_how_to_claim_it() -> None:
    def earned(**how: str) -> EmailText:
        brand, advocate = EmailBranding("The Daily"), AdvocateFacts("https://r.example/h", 1)
        return texts.reward_unlocked(brand, advocate, UnlockedReward("Mug", **how))

    assert "Your code: BREW-1" in earned(coupon_code="BREW-1").text
    assert "https://shop.example/mug" in earned(link="https://shop.example/mug").text
    by_hand = earned(how_to_claim="Answer this letter with your address.")
    assert (
        "Answer this letter" in by_hand.text
        and "Claim your reward" in by_hand.text
        and "A friend joined" in by_hand.text
    )

"""Operators choose how they are notified: on the dashboard, by email at once, in a digest, on Slack
or not at all.
"""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from honeyguide.kernel import periods
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.paging import Page
from honeyguide.kernel.periods import zone_of
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import digests, emails, notification_choices, notifications, slack_messages
from honeyguide.mail.notification_kinds import AT_ONCE, NOTIFICATION_KINDS, WEEKLY_SUMMARY
from honeyguide.partners import payout_notifications
from honeyguide.store.tx import Tx, timed
from honeyguide.work import notifications as jobs
from tests.support import partner_network
from tests.support.dispatcher import ReceiverThread
from tests.support.prizes import ADDRESS, advocate, earned_by, offer
from tests.support.readings import in_account
from tests.support.service import ENGINES, Service, until
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
SECRET_PATH = "/services/T0/B0/secret-of-slack"


@pytest.fixture(scope="module", params=ENGINES)
def encrypting(request: pytest.FixtureRequest) -> Iterator[Service]:
    """A service that may store secrets of other services."""
    with Service(request.param, secret_key="ab" * 32) as service:
        yield service


@pytest.fixture
def ana(encrypting: Service) -> Operator:
    return operator(encrypting, "ana")


def choose(who: Operator, **fields: Any) -> httpx.Response:
    """The form with its defaults, but for these fields. All kinds go to Slack, too."""
    given = {kind.name: AT_ONCE for kind in NOTIFICATION_KINDS} | {
        "slack": [kind.name for kind in NOTIFICATION_KINDS]
    }
    return who.web.post("/notices/preferences", **{**given, **fields})


def emails_of(who: Operator, kind: str) -> list[emails.QueuedEmail]:
    found = who.service.read(
        lambda tx: emails.of_account(in_account(tx, who.account_id), Page(1, 200))
    )
    return [each for each in found if each.kind == kind]


def sentences(who: Operator) -> list[str]:
    found = who.service.read(
        lambda tx: notifications.page_of(in_account(tx, who.account_id), Page(1, 200))
    )
    return [each.notification.sentence for each in found]


def test_the_first_referral_is_told_once_and_an_imported_one_is_no_news(ana: Operator) -> None:
    made = advocate(ana, 0)
    old = {"referrer_code": made["ref_code"], "created_at": "2024-01-01T00:00:00Z"}
    ana.subscribe("long-ago@example.org", **old)
    assert sentences(ana) == []
    for n in range(2):
        ana.subscribe(f"friend{n}@example.org", referrer_code=made["ref_code"])
    assert sentences(ana) == ["Your first referral"]
    assert len(emails_of(ana, "first_referral")) == 1
    page = text_of(ana.web.get("/notices").text)
    assert page.count("Your first referral") == 1, "a notification and its email are one entry"
    assert "Somebody joined" in page and f"To {ana.email}" in page


def test_each_claim_of_something_to_send_is_told(ana: Operator) -> None:
    offer(ana, kind="physical")
    made = advocate(ana, 1)
    (earned,) = earned_by(ana, made)
    for _ in range(2):
        ana.post(f"{ana.v1}/rewards/{earned['uuid']}/redeem", {"shipping_details": ADDRESS})
    assert sentences(ana).count("The mug: claimed and waiting to be sent") == 1
    assert "Hive Lane" not in ana.web.get("/notices").text


@pytest.mark.parametrize("delivery", ["dashboard", "off", "daily", "weekly"])
def test_a_kind_comes_as_chosen(ana: Operator, delivery: str) -> None:
    assert choose(ana, reward_to_approve=delivery).status_code == 303
    offer(ana, approval="manual")
    advocate(ana, 1)
    sentence = "The mug: waiting for your approval"
    assert (sentence in sentences(ana)) is (delivery != "off")
    assert emails_of(ana, "reward_to_approve") == []
    page = text_of(ana.web.get("/notices").text)
    assert ("In the email of" in page) is (delivery in ("daily", "weekly"))


def test_digests_go_out_in_the_morning_once_and_only_with_what_waits(ana: Operator) -> None:
    choose(ana, first_referral="daily", reward_to_approve="daily", codes_low="weekly")
    offer(ana, approval="manual")
    advocate(ana, 1)
    now_ms = ana.service.now_ms()
    due_ms = periods.next_morning(now_ms, zone_of("UTC"))

    async def both() -> list[bool]:
        store, site = ana.service.services.store, ana.service.services.site
        twice = (store.write(timed(digests.send_next, due_ms), site) for _ in range(2))
        return await asyncio.gather(*twice)

    def early(tx: Tx) -> Any:
        return digests.due_accounts(tx.at(due_ms - 1), most=1)

    assert ana.service.read(early) == []
    while True in ana.service.run(both()):  # those of other accounts, too
        pass
    (digest,) = emails_of(ana, "digest")
    assert digest.subject == "2 new notifications"
    text = (
        ana.service.read(lambda tx: emails.text_of(in_account(tx, ana.account_id), digest.id)) or ""
    )
    assert "The mug: waiting for your approval" in text and "Your first referral" in text
    assert "/notices/preferences" in text


def test_what_waits_for_a_digest_leaves_it_when_the_kind_is_turned_off(ana: Operator) -> None:
    choose(ana, first_referral="weekly")
    advocate(ana, 1)
    choose(ana, first_referral="off")
    far_ms = ana.service.now_ms() + 30 * DAY_MS
    site = ana.service.services.site
    while ana.service.write(lambda tx: digests.send_next(tx.at(far_ms), site)):
        pass
    assert emails_of(ana, "digest") == []


def test_a_digest_is_due_at_eight_in_the_accounts_zone() -> None:
    at_eight = 1794816000000  # Monday 16 November 2026 in London
    early = at_eight - HOUR_MS
    assert digests.due_ms("daily", "Europe/London", early) == at_eight
    assert digests.due_ms("weekly", "Europe/London", early) == at_eight
    assert digests.due_ms("weekly", "Europe/London", at_eight) == at_eight + 7 * DAY_MS
    assert digests.due_ms("daily", "Asia/Tokyo", at_eight) == at_eight + 15 * HOUR_MS
    # Clocks go forward on Sunday 28 March 2027 in London: that day has 23 hours.
    saturday = 1806134400000
    assert digests.due_ms("daily", "Europe/London", saturday) == saturday + 23 * HOUR_MS
    assert digests.due_ms("at_once", "UTC", at_eight) is None


def test_bad_choices_and_urls_are_refused_with_a_sentence(ana: Operator) -> None:
    wrong = choose(ana, weekly_summary="daily")
    assert wrong.status_code == 400 and "Weekly summary" in text_of(wrong.text)
    for url in ("hooks.slack.com/x", "ftp://example.org", "https://a b.example"):
        answer = choose(ana, url=url)
        assert answer.status_code == 400 and "Slack webhook URL" in text_of(answer.text), url
    test = ana.web.post("/notices/slack/test", "/notices/preferences")
    assert test.status_code == 400 and "Enter and save" in text_of(test.text)


def test_without_a_secret_key_no_slack_url_is_stored(service: Service) -> None:
    who = operator(service)
    answer = choose(who, url="http://127.0.0.1:9/x")
    assert answer.status_code == 400 and "HONEYGUIDE_SECRET_KEY" in text_of(answer.text)


def test_slack_is_chosen_for_each_kind_once_there_is_a_url(ana: Operator) -> None:
    def boxes() -> list[tuple[str, str]]:
        page = ana.web.get("/notices/preferences").text
        return re.findall(r'<input type="(\w+)" name="slack" value="(\w+)"', page)

    every = [kind.name for kind in NOTIFICATION_KINDS]
    assert boxes() == [("hidden", name) for name in every]
    choose(ana, url=f"https://slack.example{SECRET_PATH}")
    assert boxes() == [("checkbox", name) for name in every]


def test_slack_gets_each_notification_once_and_nobody_sees_the_url(ana: Operator) -> None:
    with ReceiverThread(500, 200) as receiver:
        answer = choose(ana, url=f"{receiver.url}{SECRET_PATH}", codes_low="off", slack=["budget"])
        assert answer.status_code == 303
        assert SECRET_PATH not in ana.web.get("/notices/preferences").text
        advocate(ana, 1)
        assert receiver.requests == [], "first_referral is not ticked"
        choose(ana, first_referral="off")
        choose(ana)
        offer(ana, approval="manual", name="<Mug> & more")
        ana.service.set_clock(0)
        try:
            advocate(ana, 1, "ben@example.org")
            until(lambda: len(receiver.requests) == 1)
            until(lambda: "status 500" in text_of(ana.web.get("/notices/preferences").text))
            ana.service.set_clock(61)
            choose(ana)  # any commit that wakes the job would do
            ana.web.post("/notices/slack/test", "/notices/preferences")
            until(lambda: len(receiver.requests) == 2)
        finally:
            ana.service.set_clock(0)
        assert receiver.requests[0].path.endswith(SECRET_PATH)
        text = json.loads(receiver.requests[1].body)["text"]
        assert f"<{ana.service.url}/rewards|&lt;Mug&gt; &amp; more: waiting" in text
        until(lambda: "have not been posted" not in ana.web.get("/notices/preferences").text)
        rows = ana.service.read(
            lambda tx: tx.all(statement("SELECT encrypted_url FROM slack_webhook"))
        )
        assert not any(SECRET_PATH in row[0] for row in rows)
    answer = choose(ana, remove="1")
    assert (
        answer.status_code == 303 and "Posting to" not in ana.web.get("/notices/preferences").text
    )


def test_two_processes_post_a_slack_message_once(ana: Operator) -> None:
    with ReceiverThread() as receiver:
        choose(ana, url=f"{receiver.url}/x")
        tokens = [new_id(), new_id()]
        far_ms = ana.service.now_ms() + 10 * DAY_MS

        async def claim_both() -> list[list[slack_messages.SlackMessage]]:
            store = ana.service.services.store

            async def put(tx: Tx) -> None:
                for n in range(5):
                    await slack_messages.enqueue(tx.at(far_ms), ana.account_id, f"n{n}", "/")

            await store.write(put)
            return await asyncio.gather(
                *(
                    store.write(
                        timed(slack_messages.claim, far_ms),
                        [ana.account_id],
                        token,
                        until_ms=far_ms + 1,
                    )
                    for token in tokens
                )
            )

        # Another test's message may wait for another try.
        claimed = [
            each.id
            for part in ana.service.run(claim_both())
            for each in part
            if each.account_id == ana.account_id
        ]
        assert len(claimed) == len(set(claimed)) == 5


def test_one_click_turns_a_kind_off_and_a_get_does_not(ana: Operator) -> None:
    site = ana.service.services.site
    url = notification_choices.turn_off_url(
        site, ana.account_id, WEEKLY_SUMMARY, link_version=0, now_ms=ana.service.now_ms()
    )
    assert "Turn this off?" in httpx.get(url, verify=False).text
    assert "Weekly summary" in httpx.get(url, verify=False).text
    assert chosen(ana, "weekly_summary") == "at_once"
    answer = httpx.post(url, content="List-Unsubscribe=One-Click", verify=False)
    assert answer.status_code == 200 and chosen(ana, "weekly_summary") == "off"
    assert (
        httpx.post(url[:-2] + ("AA" if url[-2:] != "AA" else "BB"), verify=False).status_code == 404
    )


def chosen(who: Operator, kind: str) -> str:
    page = who.web.get("/notices/preferences").text
    select = re.search(rf'name="{kind}">(.*?)</select>', page, re.DOTALL)
    assert select is not None
    found = re.search(r'value="(\w+)" selected', select[1])
    assert found is not None
    return found[1]


def test_an_owner_hears_of_a_new_partner_and_not_of_themselves(ana: Operator) -> None:
    made = partner_network.offer(ana, partner_network.publish(ana))
    bob = ana.service.member("bob")
    for who in (bob, bob, ana):
        who.post(f"/v2/partner_network/partner_programs/{made['uuid']}/join", {})
    joined = [each for each in sentences(ana) if "joined your partner program" in each]
    assert len(joined) == 1


def test_a_closed_month_is_told_to_owner_partner_and_administrator_once(ana: Operator) -> None:
    """Two processes at once; a month is locked while one of them notifies."""
    service, tenant = ana.service, Tenant(ana.account_id, ana.campaign_id)
    bob, carol = service.member("bob"), service.member("carol")
    month = "2001-01"

    async def close(tx: Tx) -> None:
        for sql in (
            f"INSERT INTO period (month, closed_ms, paid_out_ms) VALUES ('{month}', 1, 1)",
            f"INSERT INTO payout (id, account_id, month, amount_cents, created_ms) "
            f"VALUES ('{new_id()}', '{bob.account_id}', '{month}', 12345, 1)",
            # Whoever was paid already is due nothing.
            f"INSERT INTO payout (id, account_id, month, amount_cents, created_ms, paid_ms) "
            f"VALUES ('{new_id()}', '{carol.account_id}', '{month}', 999, 1, 1)",
            f"UPDATE account SET is_admin = 1 WHERE id = '{tenant.account_id}'",
        ):
            await tx.run(statement(sql))

    service.write(close)
    deadline = time.monotonic() + 30

    async def both() -> None:
        store, site, now_ms = service.services.store, service.services.site, service.now_ms()
        while due := await store.read(timed(payout_notifications.due_months, now_ms), most=1):
            assert time.monotonic() < deadline
            twice = (jobs.notify_about_payouts(site, store, due, now_ms) for _ in range(2))
            await asyncio.gather(*twice)

    service.run(both())

    def notifications_of(account_id: str) -> list[Any]:
        return service.read(
            lambda tx: notifications.page_of(in_account(tx, account_id), Page(1, 50))
        )

    (partner,) = notifications_of(bob.account_id)
    assert partner.notification.sentence == "Your payout for January 2001: $123.45"
    (administrator,) = notifications_of(ana.account_id)
    assert administrator.notification.sentence == "1 payout for January 2001 due"

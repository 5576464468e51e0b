"""Emails to subscribers as a real mail server gets them: parts, headers, languages, and stopping
them.
"""

import re
import time
from typing import Any

import httpx
import pytest

from honeyguide.accounts import accounts, invitations
from honeyguide.kernel import actors
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.paging import Page
from honeyguide.mail import notifications, stops
from honeyguide.mail.transports import SmtpTransport
from honeyguide.pages.readers import page_branding, requested_emails
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, campaigns, subscribers
from honeyguide.subscribers.branding import BrandFields
from tests.support import partner_network
from tests.support.mailbox import Mailbox, Received
from tests.support.prizes import advocate, bring, offer, post_of, tenant_of
from tests.support.queued_emails import Letterbox
from tests.support.readings import change_of_account, in_account, reading
from tests.support.service import Member, Service
from tests.support.stores import statement

LIMIT = 30_000
PATIENCE_S = 60.0


@pytest.fixture
def wax(posting: tuple[Service, Mailbox]) -> Member:
    service, mailbox = posting
    mailbox.received.clear()
    mailbox.forget_script()
    service.set_clock(0)
    member = service.member("wax")
    # Its operator was told of the first referral long ago.
    sql = "UPDATE campaign SET first_referral_ms = 1 WHERE account_id = :account_id"
    service.write(lambda tx: tx.run(statement(sql), account_id=member.account_id))
    return member


@pytest.fixture
def inbox(posting: tuple[Service, Mailbox], wax: Member) -> Mailbox:
    return posting[1]


def brand(member: Member, **fields: Any) -> None:
    member.make(branding.save, BrandFields(**fields))


def wait_for(inbox: Mailbox, count: int = 1) -> list[Received]:
    until = time.monotonic() + PATIENCE_S
    while len(inbox.received) < count and time.monotonic() < until:
        time.sleep(0.05)
    assert len(inbox.received) == count
    return inbox.received


def html_of(got: Received) -> str:
    assert got.message.get_content_type() == "multipart/alternative"
    part = got.message.get_body(("html",))
    assert part is not None
    return str(part.get_content())


def stop_url_of(got: Received) -> str:
    found = re.fullmatch(r"<(\S+)>", str(got.message["List-Unsubscribe"]))
    assert found is not None
    return found[1]


def test_a_reward_email_has_both_parts_and_the_newsletters_branding(
    wax: Member, inbox: Mailbox
) -> None:
    brand(
        wax,
        accent="#4c5fd3",
        from_name="Nora & friends",
        reply_to="nora@example.com",
        privacy_url="https://example.com/privacy",
        imprint_url="https://example.com/imprint",
    )
    offer(wax, kind="coupon", coupon_code="THANKS-7", description="Use it at <b>the till</b>.")
    advocate(wax, 1)
    (got,) = wait_for(inbox)
    html, text = html_of(got), got.text
    for part in (html, text):
        assert "THANKS-7" in part and "A friend joined" in part and "/hub/" in part
        assert "https://example.com/privacy" in part and "https://example.com/imprint" in part
        assert stop_url_of(got) in part
    assert "#4c5fd3" in html and 'dir="ltr"' in html and len(html.encode()) < LIMIT
    assert "Use it at <b>the till</b>." in text and "&lt;b&gt;the till" in html
    assert "<img" not in html and "<script" not in html and "<link" not in html
    headers = got.message
    assert headers["From"].addresses[0].display_name == "Nora & friends"
    assert str(headers["Reply-To"]) == "nora@example.com"
    assert headers["Auto-Submitted"] == "auto-generated"
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_a_reward_email_shows_the_way_to_the_next_reward(wax: Member, inbox: Mailbox) -> None:
    offer(wax)
    offer(wax, name="The <hive>", referrals=4)
    ana = advocate(wax, 1)
    (got,) = wait_for(inbox)
    link = f"{wax.service.settings.base_url}/r/{ana['ref_code']}"
    assert (
        f"Next: The <hive>, at 4 referrals\n3 more friends to go\n\nYour link:\n{link}" in got.text
    )
    html = html_of(got)
    assert "Next: The &lt;hive&gt;, at 4 referrals" in html and 'width="25%"' in html
    assert f'href="{link}"' in html
    leave = re.findall(r'href="([^"]+/leave)"', html)[0]
    assert "Leave the referral program?" in httpx.get(leave, verify=False).text


def test_emails_to_users_have_both_parts_too(wax: Member, inbox: Mailbox) -> None:
    site, now_ms = wax.service.services.site, wax.service.now_ms()
    owner = wax.service.read(lambda tx: accounts.get(tx, wax.account_id))
    known, new = EmailAddress(owner.email), EmailAddress("new@example.org")

    async def ask(tx: Tx) -> None:
        await invitations.forgot_password(tx.at(now_ms), site, known)
        await invitations.ask_to_join(tx.at(now_ms), site, known)
        await invitations.ask_to_join(tx.at(now_ms), site, new)

    wax.service.write(ask)
    wax.make(invitations.invite, new)
    for got in wait_for(inbox, 4):
        html, links = html_of(got), re.findall(r"https?://\S+", got.text)
        assert links and all(f'href="{link}"' in html for link in links)
        assert ">Honeyguide</td>" in html and len(html.encode()) < LIMIT


def test_one_click_stops_these_emails_and_not_the_subscription(wax: Member, inbox: Mailbox) -> None:
    offer(wax)
    offer(wax, name="The shirt", referrals=2)
    offer(wax, name="The hive", referrals=3)
    ana = advocate(wax, 1)
    url = stop_url_of(wait_for(inbox)[0])
    # Mail scanners open every link.
    assert "Stop emails about your referrals and rewards?" in httpx.get(url, verify=False).text
    assert stopped(wax, ana) is None
    # What a mail program sends: no cookie, no token of a form.
    answer = httpx.post(url, content="List-Unsubscribe=One-Click", headers=FORM, verify=False)
    assert answer.status_code == 200 and stopped(wax, ana) is not None
    wax.service.set_clock(86_400)  # they get one such email a day
    bring(wax, ana, 1)
    until = time.monotonic() + PATIENCE_S
    while statuses(wax) != ["cancelled", "sent"] and time.monotonic() < until:
        time.sleep(0.05)
    assert statuses(wax) == ["cancelled", "sent"] and len(inbox.received) == 1
    reader = wax.service.read(lambda tx: subscribers.get(reading(tx, tenant_of(wax)), ana["uuid"]))
    assert reader.status == "active"
    # Changing one's mind.
    assert "again" in httpx.post(f"{url}?again=1", verify=False).text and stopped(wax, ana) is None
    wax.service.set_clock(2 * 86_400)
    bring(wax, ana, 1)
    assert wait_for(inbox, 2)[1].subject == "You’ve earned “The hive”"


def test_one_click_works_as_multipart_and_wrong_urls_change_nothing(
    wax: Member, inbox: Mailbox
) -> None:
    offer(wax)
    ana = advocate(wax, 1)
    url = stop_url_of(wait_for(inbox)[0])
    wrong = url[:-1] + ("A" if url[-1] != "A" else "B")
    for bad in (wrong, url.rpartition("/")[0] + "/x", url.rpartition("/")[0] + "/%C3%BC"):
        assert httpx.post(bad, verify=False).status_code == 404
    assert stopped(wax, ana) is None
    files = {"List-Unsubscribe": (None, "One-Click")}
    assert httpx.post(url, files=files, verify=False).status_code == 200
    assert stopped(wax, ana) is not None
    assert wax.delete(f"{wax.v1}/subscribers/{ana['uuid']}").status_code in (200, 204)
    assert stopped(wax, ana) is None and httpx.post(url, verify=False).status_code == 404


def test_who_leaves_while_an_email_waits_does_not_get_it(wax: Member, inbox: Mailbox) -> None:
    inbox.say("RCPT", "450 later")
    offer(wax)
    ana = advocate(wax, 1)
    until = time.monotonic() + PATIENCE_S
    while not [each for each in post_of(wax, "reward_unlocked") if each.error]:
        assert time.monotonic() < until
        time.sleep(0.05)
    wax.put(f"{wax.v1}/subscribers/{ana['uuid']}", {"status": "unsubscribed"})
    wax.service.set_clock(3600)
    try:
        wax.service.run_jobs()
    finally:
        wax.service.set_clock(0)
    assert statuses(wax) == ["cancelled"] and inbox.received == []


def test_an_email_in_arabic_runs_from_right_to_left(wax: Member, inbox: Mailbox) -> None:
    brand(wax, language="ar")
    offer(wax)
    advocate(wax, 3)
    (got,) = wait_for(inbox)
    html = html_of(got)
    assert '<html lang="ar" dir="rtl">' in html and html.count('dir="rtl"') >= 4
    assert "letter-spacing" not in html and "إيقاف هذه الرسائل" in html + got.text
    assert "لقد حصلت على" in got.subject


def test_emails_that_somebody_asked_for_cannot_be_stopped(wax: Member, inbox: Mailbox) -> None:
    made = wax.subscribe("ana@example.org")
    site, tenant, now_ms = wax.service.services.site, tenant_of(wax), wax.service.now_ms()

    async def ask(tx: Tx) -> None:
        own = page_branding.of_campaign(await branding.of(reading(tx, tenant)))
        reader = await subscribers.get(reading(tx, tenant), made["uuid"])
        await stops.stop(change_of_account(tx, tenant.account_id, now_ms=now_ms), reader.id)
        await requested_emails.send_confirm(
            Change(tx, site, own.tenant, actors.subscriber(reader.id), now_ms), own, reader
        )
        await requested_emails.send_hub_link(
            Change(tx, site, own.tenant, actors.subscriber(reader.id), now_ms), own, reader
        )

    wax.service.write(ask)
    for got in wait_for(inbox, 2):
        html = html_of(got)
        assert got.message["List-Unsubscribe"] is None and "/stop/" not in html + got.text
        assert got.message["Auto-Submitted"] == "auto-generated" and len(html.encode()) < LIMIT
        assert re.search(r'class="button".*href="http[^"]+/(confirm|hub)/', html)


@pytest.mark.parametrize(
    "hostile",
    ["a@example.org\r\nBcc: eve@example.org", "=?utf-8?q?a=0D=0ABcc=3Aeve?=@example.org"],
)
def test_no_reply_to_can_add_a_header(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport, hostile: str
) -> None:
    """The branding form refuses these; here they are in the database already."""
    box.post(reply_to=hostile)
    box.send(smtp)
    for got in mailbox.received:
        assert got.message["Bcc"] is None and "eve" not in got.to
    box.post(unsubscribe_url="https://example.org/stop/x>\r\nBcc: eve@example.org")
    before = len(mailbox.received)
    box.send(smtp)
    assert len(mailbox.received) == before


def test_a_long_stop_url_is_neither_folded_nor_encoded(
    box: Letterbox, mailbox: Mailbox, smtp: SmtpTransport
) -> None:
    url = "https://newsletters.a-long-host-name.example.com/below/stop/" + "a" * 60
    box.post(unsubscribe_url=url)
    box.send(smtp)
    (got,) = mailbox.received
    assert dict(got.message.raw_items())["List-Unsubscribe"] == f"<{url}>"


FORM = {"content-type": "application/x-www-form-urlencoded"}


def stopped(member: Member, who: dict[str, Any]) -> int | None:
    return member.service.read(
        lambda tx: stops.stopped_ms(in_account(tx, member.account_id), who["uuid"])
    )


def statuses(member: Member) -> list[str]:
    return sorted(each.status for each in post_of(member, "reward_unlocked"))


def test_partners_get_emails_in_the_publications_branding_with_the_owners_text(
    wax: Member, inbox: Mailbox
) -> None:
    brand(wax, accent="#0a7a3d", reply_to="hello@hive.example", language="ar")
    own = {"budget_reached_subject.en": "{newsletter} pauses until {date}"}
    settings = campaigns.CampaignSettings(words=own)
    wax.make(campaigns.configure, settings)
    publication = partner_network.publish(wax, name="The <i>Hive")
    joined_by = wax.service.member("partner")
    program = partner_network.offer(wax, publication, cpa=3, total_budget=3)
    code = partner_network.join(joined_by, program)["ref_code"]
    wax.subscribe("reader@example.org", referrer_code=code)
    wax.service.run_jobs()
    got = {each.message["Subject"]: each for each in wait_for(inbox, 4)}
    (subject,) = (each for each in got if "pauses until 1 " in each)
    to_partner = got.pop(subject)
    html = html_of(to_partner)
    assert str(to_partner.message["To"]).startswith("partner")
    assert str(to_partner.message["From"]).startswith('"The <i>Hive" <')
    assert to_partner.message["Reply-To"] == "hello@hive.example"
    assert publication["logo_url"] in html and "#0a7a3d" in html and 'dir="ltr"' in html
    assert "The &lt;i&gt;Hive has reached its budget" in html and "<i>Hive" not in html
    assert to_partner.message["List-Unsubscribe"] is None and "/notices" not in html
    rows = joined_by.service.read(
        lambda tx: notifications.page_of(in_account(tx, joined_by.account_id), Page(1, 1))
    )
    assert rows[0].notification.sentence.startswith("The <i>Hive has reached its budget for ")
    preferences = f"{wax.service.services.site.base_url}/notices/preferences"
    for each in got.values():  # to the owner: a partner joined, 80% and all is spent
        assert str(each.message["To"]).startswith("wax") and ">Honeyguide</td>" in html_of(each)
        assert f"Choose your notifications\n{preferences}" in each.text
        assert f'href="{preferences}"' in html_of(each)

"""One email of every kind, each made by the code that makes it for real, in one running service."""

import base64
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import Any

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from honeyguide.account_life import closing, pausing
from honeyguide.accounts import email_changes, email_proofs, invitations, members, second_factors
from honeyguide.accounts.permissions import Role
from honeyguide.events import recording, webhooks
from honeyguide.events.name_servers import TextRecords
from honeyguide.events.recording import AttemptResult
from honeyguide.integrations import adoption, integrations, leases
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.field_names import SPARKLOOP
from honeyguide.integrations.integrations import NewIntegration
from honeyguide.integrations.leases import LeasedIntegration
from honeyguide.integrations.platform import Audience
from honeyguide.integrations.reports import FoundValues
from honeyguide.kernel import actors, periods
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, system_clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.periods import zone_of
from honeyguide.mail import emails
from honeyguide.mail.notification_kinds import AT_ONCE, NOTIFICATION_KINDS
from honeyguide.moving import fetching
from honeyguide.moving.fetching import FetchStage, RemoteFetch
from honeyguide.pages.readers import page_branding, requested_emails
from honeyguide.partners import programs, rules
from honeyguide.partners.programs import ProgramFields
from honeyguide.rewards import reward_events
from honeyguide.signups import confirmations, delayed_actions, delayed_kinds
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, link_hosts, subscribers
from tests.support import first_looks, partner_network, shipments, trait_groups
from tests.support.belongings import pending
from tests.support.changes import changing, new_change
from tests.support.claims import claimed
from tests.support.delayed import pass_minute
from tests.support.dispatcher import HOME
from tests.support.held_emails import Link
from tests.support.prizes import ADDRESS, advocate, bring, catch_up, earned_by, offer, tenant_of
from tests.support.readings import change_of, reading
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator, WebClient, operator

NEWS = ("friend_joined", "one_more", "reward_unlocked")


def write_every_email(service: Service) -> None:
    """The clock is at the next month afterwards."""
    alice = operator(service)
    to_users(alice)
    to_subscribers(alice)
    tests_of_the_operator(alice)
    about_rewards(operator(service, "rita"))
    about_a_dropped_action(operator(service, "una"))
    about_held_emails(operator(service, "hilda"))
    about_webhooks(operator(service, "wendy"))
    about_an_integration(operator(service, "ines"))
    about_a_link_host(operator(service, "lina"))
    about_a_key(operator(service, "kim"))
    about_fetches(operator(service, "fred"))
    in_a_digest(operator(service, "dora"))
    about_the_week(operator(service, "wanda"))
    about_a_program_without_email(operator(service, "nora"))
    about_a_shared_member(operator(service, "sam"))
    about_a_first_look(operator(service, "lena"))
    about_a_group(operator(service, "gina"))
    about_a_program(operator(service, "paula"))
    about_the_account(operator(service, "clara"))


def to_users(who: Operator) -> None:
    """A link to choose a new password, to open an account, to accept an invitation."""
    site, now_ms = who.service.services.site, who.service.now_ms()

    async def ask(tx: Tx) -> None:
        await invitations.forgot_password(tx.at(now_ms), site, EmailAddress(who.email))
        user_id = await members.first_owner(tx, who.account_id)
        new_email = EmailAddress(f"{new_id()}@example.org")
        await email_changes.ask(tx.at(now_ms), site, user_id, new_email)
        await with_second_factor(tx, who, user_id, now_ms)
        await email_proofs.send_code(tx.at(now_ms), site, user_id)
        for each in (who.email, f"{new_id()}@example.org"):
            await invitations.ask_to_join(tx.at(now_ms), site, EmailAddress(each))

    who.service.write(ask)
    assert WebClient(who.service).log_in(who.email).status_code == 303  # a new browser
    made = who.web.post("/account/keys", page="/settings", name="Tool")
    assert made.status_code == 201
    who.make(invitations.invite, EmailAddress(f"{new_id()}@example.org"))
    who.make(invitations.invite_member, EmailAddress(f"{new_id()}@example.org"), Role.EDITOR)


async def with_second_factor(tx: Tx, who: Operator, user_id: str, now_ms: int) -> None:
    """Turns one on and off again."""
    site, actor, secret = who.service.services.site, actors.member(user_id), "A" * 32
    code = TOTP(base64.b32decode(secret), 6, SHA1(), 30).generate(now_ms // 1000).decode()
    keys = EncryptionKeys([b"k" * 32])
    await second_factors.turn_on(tx.at(now_ms), site, keys, actor, code, secret=secret)
    off = second_factors.TURNED_OFF
    await second_factors.turn_off(tx.at(now_ms), site, actor, user_id, off)


def about_the_account(who: Operator) -> None:
    """It is paused and goes on, is kept when it was to be closed, and closed after all."""
    for step in (pausing.pause, pausing.resume, closing.ask, closing.keep, closing.ask):
        who.make(step)
    site, later_ms = who.service.services.site, who.service.now_ms() + 15 * DAY_MS

    async def close(tx: Tx) -> bool:
        actor, account_id = actors.job(closing.CLOSING), who.account_id
        return await closing.close_some(tx.at(later_ms), site, actor, account_id)

    while who.service.write(close):
        pass
    sooner = "UPDATE letter SET due_ms = created_ms - :days WHERE account_id = :id AND due_ms > 0"

    async def send_now(tx: Tx) -> None:
        await tx.run(statement(sooner), id=who.account_id, days=15 * DAY_MS)
        tx.wake(emails.TOPIC)

    who.service.write(send_now)


def to_subscribers(who: Operator) -> None:
    """What they ask for, and each kind of news: its switch alone is on."""
    site, tenant, now_ms = who.service.services.site, tenant_of(who), who.service.now_ms()
    reader_id = who.subscribe("reader@example.org")["uuid"]

    async def ask(tx: Tx) -> None:
        own = page_branding.of_campaign(await branding.of(reading(tx, tenant)))
        reader = await subscribers.get(reading(tx, tenant), reader_id)
        await requested_emails.send_confirm(
            Change(tx, site, own.tenant, actors.subscriber(reader.id), now_ms), own, reader
        )
        await requested_emails.send_hub_link(
            Change(tx, site, own.tenant, actors.subscriber(reader.id), now_ms), own, reader
        )

    who.service.write(ask)
    offer(who, referrals=2, kind="coupon", coupon_code="THANKS-7")
    for chosen, friends in zip(NEWS, (1, 1, 2), strict=True):
        for kind in NEWS:
            switched: dict[str, Any] = {"is_on": "1"} if kind == chosen else {}
            assert who.web.post(f"/look/emails?email={kind}", **switched).status_code == 303
        advocate(who, friends, f"{chosen}@example.org")


def tests_of_the_operator(who: Operator) -> None:
    """The newsletter block as the top advocate sees it, and an email with sample links."""
    who.service.run_jobs()  # counts the top advocate
    for path, page in (
        ("/look/newsletter/test?tool=kit", "/look/newsletter"),
        ("/look/emails/test?email=hub_link", "/look/emails?email=hub_link"),
    ):
        assert who.web.post(path, page=page).status_code == 303, path


def about_rewards(who: Operator) -> None:
    """The first referral, a reward to approve, one that is claimed, an item to send, few codes
    left and none; an address is corrected, and the item is on its way."""
    offer(who, approval="manual")
    offer(who, kind="coupon", coupon_codes=["A", "B"], recurring=True)
    offer(who, kind="physical")
    ana = advocate(who, 1)
    bring(who, ana, 1)
    catch_up(who)
    claimed(who)
    for earned in earned_by(who, ana):
        path = f"{who.v1}/rewards/{earned['uuid']}/redeem"
        who.post(path, {"shipping_details": ADDRESS})
    (mug,) = shipments.listed(who)
    who.make(reward_events.notify_address_corrected, mug["uuid"], mug["name"])
    who.post(f"{who.v1}/shipments/{mug['uuid']}/sent")
    shipments.pass_minute(who)


def about_a_dropped_action(who: Operator) -> None:
    """A referral that is decided through the API before the minute is over."""
    referral = pending(who)
    who.make(delayed_actions.delay, delayed_kinds.VERIFY, [referral])
    who.post(f"{who.v1}/subscribers/{referral}/referral/reject")
    pass_minute(who.service)


def about_held_emails(who: Operator) -> None:
    """Of somebody who came with a flooded code, and waits for a while."""
    link = Link(who, now_ms=who.service.now_ms())
    link.arrive(confirmations.FREE + confirmations.OTHERS.most + 1, every_ms=0)
    link.release_or_cancel(confirmations.NOTIFY_AFTER_MS)
    link.make(confirmations.release_all, link.code)
    link.release_or_cancel(0)


def about_webhooks(who: Operator) -> None:
    """It fails for a day, and then for five: until now, so that the emails are due."""
    service, url = who.service, "http://127.0.0.1:9/hook"
    began_ms = service.now_ms() - 5 * DAY_MS

    async def fail(tx: Tx) -> None:
        change = new_change(tx, service.services.site, tenant_of(who), began_ms)
        hook = await webhooks.create(change, "", url, webhooks.Flags(), policy=HOME)
        for day in range(6):
            outcome = AttemptResult(
                webhook_id=hook.id,
                url=url,
                attempt_id=new_id(),
                account_id=who.account_id,
                delivery_id=new_id(),
                token=new_id(),
                at_ms=began_ms + day * DAY_MS,
                status_code=500,
                latency_ms=1,
                error=None,
                response=None,
                status="waiting",
                due_ms=began_ms + day * DAY_MS,
                gone=False,
            )
            await recording._note_failure(tx, outcome, service.settings.base_url)

    service.write(fail)


def about_an_integration(who: Operator) -> None:
    tenant, site, now_ms = tenant_of(who), who.service.services.site, who.service.now_ms()
    new = NewIntegration(
        platform="mailchimp",
        credentials={"key": "0123456789abcdef0123456789abcdef-us1"},
        audience=Audience(id="list", name="The list"),
        field_names={**SPARKLOOP},
        code_field="",
        adds_existing=False,
        hook_key=new_id(),
        has_fields=True,
    )
    who.subscribe("found@example.org")
    found_there = [FoundValues("found@example.org", {SyncField.CODE: "theirs"})]

    async def connect(tx: Tx) -> None:
        keys, token = EncryptionKeys([b"\xab" * 32]), new_id()
        await integrations.connect(new_change(tx, site, tenant, now_ms), keys, new)
        found = await integrations.find(reading(tx, tenant))
        assert found is not None
        claimed = await leases.claim(tx, found.id, token)
        assert claimed is not None
        leased = LeasedIntegration(tx, site, claimed, token, now_ms)
        await adoption.note_found(leased, found_there)
        await adoption.conclude(leased)
        await leases.stop(leased, "The key is not valid.")

    who.service.write(connect)


def about_a_link_host(who: Operator) -> None:
    """Its record was there, was deleted, and is gone for more than a week."""
    host, _ = who.make(link_hosts.add, "go.lina.example")
    who.make(link_hosts.record_check, host.id, TextRecords((host.token,)))
    who.make(link_hosts.record_check, host.id, TextRecords(()))
    seen = statement("UPDATE link_host SET seen_ms = 1 WHERE account_id = :id")
    who.service.write(lambda tx: tx.run(seen, id=who.account_id))
    who.make(link_hosts.record_check, host.id, TextRecords(()))


def about_a_key(who: Operator) -> None:
    """It was made a month ago, is in use and expires in two days."""
    now_ms = who.service.now_ms()
    sql = "UPDATE api_key SET created_ms = 1, last_used_ms = :now_ms, expires_ms = :expires_ms"
    aged = statement(f"{sql} WHERE account_id = :id")
    days = {"now_ms": now_ms, "expires_ms": now_ms + 2 * DAY_MS}
    who.service.write(lambda tx: tx.run(aged, id=who.account_id, **days))
    who.service.run_jobs()


def about_fetches(who: Operator) -> None:
    """One has everything, and the key of another cannot be decrypted."""
    tenant, site, now_ms = tenant_of(who), who.service.services.site, who.service.now_ms()

    async def begin(tx: Tx) -> RemoteFetch:
        import_id = await fetching.begin(
            change_of(tx, tenant, now_ms=now_ms), "http://127.0.0.1:1", None
        )
        fetch = await fetching.get(reading(tx, tenant), import_id)
        await fetching.resume(change_of(tx, fetch.tenant), fetch, secret="x")
        return await fetching.get(reading(tx, tenant), import_id)

    async def end(tx: Tx) -> None:
        fetch = await begin(tx)
        await fetching.move(
            change_of(tx, fetch.tenant), fetch, fetch._replace(stage=FetchStage.DONE), Counter()
        )
        await fetching.notify_ended(new_change(tx, site, tenant, now_ms), fetch)

    who.service.write(end)
    who.service.write(begin)
    who.service.run_jobs()


def in_a_digest(who: Operator) -> None:
    given = {kind.name: AT_ONCE for kind in NOTIFICATION_KINDS} | {"first_referral": "daily"}
    assert who.web.post("/notices/preferences", **given).status_code == 303
    advocate(who, 1)
    due_ms = periods.next_morning(who.service.now_ms(), zone_of("UTC"))
    who.service.set_clock((due_ms + HOUR_MS - system_clock()) / 1000)
    who.service.run_jobs()


def about_the_week(who: Operator) -> None:
    """An account of long ago, whose summary of this Monday is due."""
    advocate(who, 1)
    sql = "UPDATE account SET weekly_monday = '2000-01-03', weekly_due_ms = 1 WHERE id = :id"
    who.service.write(lambda tx: tx.run(statement(sql), id=who.account_id))
    who.service.run_jobs()


def about_a_program_without_email(owner: Operator) -> None:
    """It is made while no mail server is set."""
    service, card = owner.service, partner_network.publish(owner)
    site = replace(service.services.site, has_mail_server=False)
    prices = {"cpa": Decimal(3), "max_payout": Decimal(90), "total_budget": Decimal(300)}
    fields = ProgramFields(**prices, redirect_url="https://wax.example/")
    create = changing(programs.create, site, tenant_of(owner), service.now_ms())
    service.write(lambda tx: create(tx, card["uuid"], fields))


def about_a_group(owner: Operator) -> None:
    """That a group waits."""
    trait_groups.group(owner)
    first_looks.run_jobs(owner.service)


def about_a_first_look(owner: Operator) -> None:
    """The owner is asked and does not answer, so the partner's program pauses; then they look."""
    service, look = owner.service, first_looks.asked(owner)
    service.set_clock((service.now_ms() + 8 * DAY_MS - system_clock()) / 1000)
    first_looks.run_jobs(service)
    answer = owner.web.post("/review/looks", page="/review/looks", look=look, do="right")
    assert answer.status_code == 303, answer.text
    pass_minute(service)


def about_a_shared_member(owner: Operator) -> None:
    """The owner of a program joins the team of its partner."""
    partner = operator(owner.service, "bob")
    partner_network.join(partner, partner_network.offer(owner))
    link = partner.make(invitations.invite_member, EmailAddress(owner.email), Role.ANALYST)
    assert owner.web.post(f"/welcome/{link.rpartition('/')[2]}").status_code == 303


def about_a_program(owner: Operator) -> None:
    """A partner joins, the budget is spent and raised and the fee lowered, a fee is taken back, the
    partner is removed, allowed again and leaves, and the month is closed."""
    service, partner = owner.service, owner.service.member("bob")
    program = partner_network.offer(owner, total_budget=6, cpa=3)
    joined = partner_network.join(partner, program)
    for _ in range(2):
        owner.subscribe(f"{new_id()[-12:]}@example.org", referrer_code=joined["ref_code"])
    service.run_jobs()
    raised = owner.put(f"/v2/partner_programs/{program['uuid']}", {"total_budget": 600, "cpa": 2})
    assert raised.status_code == 200, raised.text
    service.run_jobs()
    of_program = f"/v2/partner_programs/{program['uuid']}/referrals"
    paid = owner.get(of_program).json()["referrals"][0]
    taken = owner.post(f"{of_program}/{paid['uuid']}/reversal", {"reason": "robot"})
    assert taken.status_code == 201, taken.text
    service.run_jobs()
    path = f"/v2/partner_programs/{program['uuid']}/partners/{joined['uuid']}"
    assert owner.delete(path).status_code == 200
    # What is taken back within a minute is told to nobody.
    service.set_clock((service.now_ms() + MINUTE_MS - system_clock()) / 1000)
    for answer in (
        owner.post(f"{path}/allow"),
        partner.delete(f"/v2/partner_profile/partner_campaigns/{joined['uuid']}"),
    ):
        assert answer.status_code == 200, answer.text
    closes_ms = rules.closes_at(rules.month_of(service.now_ms()))
    service.set_clock((closes_ms + HOUR_MS - system_clock()) / 1000)
    service.run_jobs()

"""Signups with one referral code on the hosted page, at times that the test chooses: whose
confirmation emails leave, and whose wait.
"""

import itertools
import random
from typing import Any, cast

from honeyguide.kernel.clock import DAY_MS, SECOND_MS
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import content, emails
from honeyguide.mail.email_kinds import CONFIRM
from honeyguide.mail.emails import EmailToSend, QueuedEmail
from honeyguide.pages.readers import page_branding, signup
from honeyguide.pages.readers.reader_services import ReaderServices
from honeyguide.signups import confirmations, signups
from honeyguide.signups.lifecycle import NewSubscriber, SubscriberChanges
from honeyguide.store.change import Change
from honeyguide.subscribers import branding, campaigns, subscribers
from honeyguide.subscribers.campaigns import CampaignSettings
from tests.support.changes import changing
from tests.support.readings import in_account, reading
from tests.support.service import Member, Service
from tests.support.stores import statement

_numbers = itertools.count(1)


class Link:
    """One referrer's link. The time is far ahead of the service's, whose own jobs find nothing to
    do, unless `now_ms` says otherwise."""

    def __init__(self, member: Member, *, now_ms: int | None = None) -> None:
        self.member, self.service = member, member.service
        self.tenant = Tenant(member.account_id, member.campaign_id)
        self.chance = random.Random(34)
        member.make(campaigns.configure, CampaignSettings(needs_confirmation=True))
        self.code: str = member.subscribe(f"lead{next(_numbers)}@example.org")["ref_code"]
        self.now_ms = now_ms or self.service.now_ms() + 30 * DAY_MS
        brand = self.service.read(lambda tx: branding.of(reading(tx, self.tenant)))
        self.brand = page_branding.of_campaign(brand).for_reader("")

    def make(self, unit: Any, *args: Any, **kwargs: Any) -> Any:
        return self.make_at(self.service, unit, *args, **kwargs)

    def make_at(self, service: Service, unit: Any, *args: Any, **kwargs: Any) -> Any:
        work = changing(unit, service.services.site, self.tenant, self.now_ms)
        return service.write(lambda tx: work(tx, *args, **kwargs))  # type: ignore[arg-type,return-value]

    def arrive(
        self,
        count: int = 1,
        *,
        every_ms: int = SECOND_MS,
        code: str = "",
        ip_address: str | None = None,
    ) -> list[str]:
        """The email addresses of those who come, one after the other."""
        came = []
        for _ in range(count):
            self.now_ms += every_ms
            came.append(f"reader{next(_numbers)}@example.org")
            self.ask(came[-1], code=code or self.code, ip_address=ip_address)
        return came

    def ask(self, email: str, *, code: str | None = None, ip_address: str | None = None) -> None:
        new = NewSubscriber(
            email=email, referrer_code=code or None, origin="signup", ip_address=ip_address
        )
        services = cast(ReaderServices, self.service.services)
        self.service.run(
            signup.enter(
                services, self.brand, new, EmailAddress(email), shown=None, now_ms=self.now_ms
            )
        )

    def person(self, email: str) -> subscribers.Subscriber:
        return self.service.read(lambda tx: subscribers.get(reading(tx, self.tenant), email))

    def confirm(self, *emails: str) -> None:
        for email in emails:
            self.make(signups.update, email, SubscriberChanges(status="confirmed"))

    def release_or_cancel(self, after_ms: int = confirmations.LOOK_EVERY_MS) -> None:
        self.now_ms += after_ms
        self.make(confirmations.release_or_cancel, self.code, self.chance)

    def email(self, address: str) -> QueuedEmail:
        """The newest one about this person."""
        about = self.person(address).id
        return self.service.read(
            lambda tx: emails.of_subscriber(in_account(tx, self.tenant.account_id), about)
        )[0]

    def statuses(self, addresses: list[str]) -> list[str]:
        """`waiting` is what the sender takes."""
        return [self.email(address).status for address in addresses]

    def add_evidence(self, *addresses: str, points: int = 3) -> None:
        for address in addresses:
            self.make(_add_evidence, self.person(address).id, points)

    def remove_evidence(self) -> None:
        self.make(_remove_evidence)


async def _add_evidence(change: Change, subscriber_id: str, points: int) -> None:
    await change.run(
        statement(
            "INSERT INTO evidence "
            "(subscriber_id, code, account_id, campaign_id, points, value, found_ms) "
            "VALUES (:id, 'rare_domain', :account_id, :campaign_id, :points, 'x', :now_ms)"
        ),
        id=subscriber_id,
        points=points,
    )


async def _remove_evidence(change: Change) -> None:
    await change.run(statement("DELETE FROM evidence WHERE account_id = :account_id"))


def held_code(member: Member) -> str:
    """A code with one email that waits, put there as a signup does."""
    code: str = member.subscribe(f"lead{next(_numbers)}@example.org")["ref_code"]
    friend = f"friend{next(_numbers)}@example.org"
    member.make(_hold, member.subscribe(friend, referrer_code=code)["uuid"], friend, code)
    return code


async def _hold(change: Change, subscriber_id: str, email: str, code: str) -> None:
    confirm = EmailToSend(
        account_id=change.tenant.account_id,
        to=EmailAddress(email),
        kind=CONFIRM,
        message=content.email("Please confirm", "Please"),
        about=subscriber_id,
        held_code=code,
    )
    await emails.send(change.tx, confirm)
    await confirmations.put_on(change, code)

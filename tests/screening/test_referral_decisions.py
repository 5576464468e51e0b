"""Every time a referral is decided otherwise than before leaves a row: what it was, what it became
and who decided. An erasure takes the note and leaves the rest.
"""

from typing import Any

from honeyguide.kernel import actors
from honeyguide.kernel.actors import Actor
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber, SubscriberChanges
from honeyguide.subscribers import campaigns, referral_decisions
from honeyguide.subscribers.campaigns import CampaignSettings
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.changes import changing
from tests.support.readings import reads
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, SITE

OPERATOR = actors.member("the operator")
READER = actors.NEW_SUBSCRIBER
VERIFYING = actors.job("verify referrals")


class Newsletter:
    def __init__(self, opened: OpenStore) -> None:
        campaign_id, _ = opened.account_with_key()
        ((account_id,),) = opened.ask("SELECT account_id FROM campaign")
        self.opened, self.tenant = opened, Tenant(account_id, campaign_id)
        self.make(campaigns.configure, CampaignSettings(hold_days=3, needs_confirmation=True))
        self.ana = self.make(signups.sign_up, NewSubscriber(email="ana@example.org"))

    def make(
        self, unit: Any, *args: Any, by: Actor = OPERATOR, now_ms: int = NOON_MS
    ) -> Subscriber:
        work = changing(unit, SITE, self.tenant, now_ms, actor=by)
        return self.opened.run(self.opened.store.write(work, *args))

    def refer(self, email: str) -> Subscriber:
        new = NewSubscriber(email=email, referrer_code=self.ana.ref_code)
        return self.make(signups.sign_up, new, by=READER)

    def decisions(self, subscriber: Subscriber) -> list[tuple[Any, ...]]:
        found = self.opened.run(
            self.opened.store.read(
                reads(referral_decisions.of_subscriber, self.tenant), subscriber.id
            )
        )
        return [
            (each.before_status, each.before_reason, each.status, each.reason, each.actor_kind)
            for each in found
        ]


def test_each_decision_says_what_it_was_and_who_decided(opened: OpenStore) -> None:
    wax = Newsletter(opened)
    ben = wax.refer("ben@example.org")
    assert wax.decisions(ben) == [], "the first decision is the `before` of the next"
    confirmed = SubscriberChanges(status="confirmed")
    wax.make(signups.update, ben.id, confirmed, by=actors.subscriber(ben.id))
    wax.make(signups.update, ben.id, SubscriberChanges(name="Ben"))
    wax.make(signups.verify_due, ben.id, by=VERIFYING, now_ms=NOON_MS + 4 * DAY_MS)
    assert wax.decisions(ben) == [
        ("pending", "awaiting_confirmation", "pending", "holding_period", "subscriber"),
        ("pending", "holding_period", "verified", None, "job"),
    ]
    cat = wax.refer("cat@example.org")
    wax.make(signups.decide, cat.id, "rejected")
    wax.make(signups.decide, cat.id, "verified", by=actors.api_key("key"))
    assert wax.decisions(cat) == [
        ("pending", "awaiting_confirmation", "rejected", "rejected_by_hand", "member"),
        ("rejected", "rejected_by_hand", "verified", "verified_by_hand", "api_key"),
    ]


def test_an_erasure_takes_the_notes_of_one_subscriber_and_leaves_the_decisions(
    opened: OpenStore,
) -> None:
    wax = Newsletter(opened)
    ben, cat = wax.refer("ben@example.org"), wax.refer("cat@example.org")
    for each in (ben, cat):
        wax.make(signups.decide, each.id, "rejected")
    assert opened.do("UPDATE referral_decision SET note = 'Asked Ben Baker.'") == 2
    before = wax.decisions(ben)
    assert len(before) == 1
    wax.make(signups.erase, ben.id)
    assert wax.decisions(ben) == before
    notes = opened.ask("SELECT subscriber_id, note FROM referral_decision ORDER BY id")
    assert notes == [(ben.id, None), (cat.id, "Asked Ben Baker.")]

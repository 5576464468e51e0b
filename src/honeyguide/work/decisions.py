"""The jobs that decide or do what waited for its time: groups of referrals that are looked at,
what was delayed on the dashboard, shipments that are announced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from honeyguide.kernel.clock import CLOCK_SET, MINUTE_MS, SECOND_MS
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.site import Site
from honeyguide.rewards import shipment_emails
from honeyguide.rewards.shipment_emails import ANNOUNCING, Recipient
from honeyguide.screening import evidence, moves
from honeyguide.screening.evidence import CodeToLookAt
from honeyguide.signups import claims, confirmations, delayed_actions, group_looks
from honeyguide.signups.confirmations import HeldCode
from honeyguide.signups.delayed_actions import DelayedAction
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.work import money
from honeyguide.work.items import Do, Items, Job, changes_of

# Found in one read. Each is done in a transaction of its own; delayed actions a few at a time.
BATCH = 100
TOGETHER = 8


async def apply_or_drop(
    site: Site, store: Store, found: Sequence[DelayedAction], now_ms: int
) -> bool:
    async def apply(action: DelayedAction) -> None:
        try:
            await store.write(delayed_actions.apply, site, action, now_ms=now_ms)
        except (Invalid, Missing) as fault:
            await store.write(delayed_actions.drop, site, action, fault, now_ms=now_ms)

    outcomes = await asyncio.gather(*map(apply, found), return_exceptions=True)
    for outcome in outcomes:
        if outcome is not None:
            raise outcome
    return True


async def look_at_code(
    site: Site, store: Store, found: Sequence[CodeToLookAt], now_ms: int
) -> bool:
    """Signups that come with the code meanwhile are examined the next time."""
    (code,) = found
    for subscriber_id in await store.write(group_looks.store_evidence, site, code, now_ms):
        await store.write(group_looks.decide, site, code, subscriber_id, now_ms)
    await store.write(group_looks.end, site, code, now_ms)
    return False


def release_or_cancel(site: Site) -> Do:
    """Confirmation emails that wait because of their referral code."""

    async def look(change: Change, held: HeldCode) -> None:
        await confirmations.release_or_cancel(change, held.code)

    return changes_of(site, confirmations.RELEASING, look)


def end_claims(site: Site) -> Do:
    return changes_of(site, claims.ENDING, claims.end_due)


def announce(site: Site) -> Do:
    """Tells subscribers that their rewards are on the way."""

    async def tell(change: Change, recipient: Recipient) -> None:
        await shipment_emails.announce(change, recipient.subscriber_id)

    return changes_of(site, ANNOUNCING, tell)


def decision_jobs(site: Site) -> tuple[Job, ...]:
    """What is decided or done when its time has come."""
    return (
        Job(
            money.VERIFYING,
            5 * SECOND_MS,
            (money.referrals_to_verify(site),),
            topic=CLOCK_SET,
        ),
        Job(
            claims.ENDING,
            10 * MINUTE_MS,
            (
                Items(
                    moves.unconfirmed,
                    partial(money.verify_referrals, site),
                    money.VERIFY_BATCH,
                    money.VERIFY_TOGETHER,
                ),
                Items(claims.due, end_claims(site), BATCH),
            ),
            topic=CLOCK_SET,
        ),
        Job(
            group_looks.LOOKING,
            30 * SECOND_MS,
            (Items(evidence.codes_to_look_at, partial(look_at_code, site), BATCH),),
            topic=CLOCK_SET,
        ),
        Job(
            confirmations.RELEASING,
            30 * SECOND_MS,
            (Items(confirmations.due_codes, release_or_cancel(site), BATCH),),
            topic=confirmations.TOPIC,
        ),
        Job(
            delayed_actions.APPLYING,
            5 * SECOND_MS,
            (Items(delayed_actions.due, partial(apply_or_drop, site), BATCH, TOGETHER),),
            topic=CLOCK_SET,
        ),
        Job(
            shipment_emails.ANNOUNCING,
            10 * SECOND_MS,
            (Items(shipment_emails.due, announce(site), BATCH),),
            topic=CLOCK_SET,
        ),
    )

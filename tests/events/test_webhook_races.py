"""A webhook that is switched off while an event commits: nothing is kept that goes out once it is
switched on again.
"""

from functools import partial

import pytest

from honeyguide.events import outbox, recording, webhooks
from honeyguide.events.recording import AttemptResult
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.ids import new_id
from honeyguide.store.tx import Tx
from tests.support.changes import SITE, changing
from tests.support.dispatcher import BASE_URL, HOME, Office, office, receiving
from tests.support.races import Work, overlapping
from tests.support.readings import changes_account, in_account
from tests.support.stores import statement

_LEASE = statement(
    "UPDATE delivery SET lease_token = 'token', leased_until_ms = :until_ms WHERE webhook_id = "
    ":webhook_id"
)


def emitting(post: Office) -> Work:
    async def work(tx: Tx) -> None:
        to = (await outbox.listeners_of(in_account(tx, post.account_id))).get(outbox.NEW_REFERRAL)
        if to:
            event = outbox.Event(post.account_id, outbox.NEW_REFERRAL, {"n": 1}, to, None)
            await outbox.emit(tx.at(post.now_ms), [event])

    return work


def an_outcome(post: Office, hook: webhooks.Webhook, delivery_id: str) -> AttemptResult:
    """The receiver answered 410."""
    return AttemptResult(
        webhook_id=hook.id,
        url=hook.url,
        attempt_id=new_id(),
        account_id=post.account_id,
        delivery_id=delivery_id,
        token="token",
        at_ms=post.now_ms,
        status_code=410,
        latency_ms=1,
        error=None,
        response=None,
        status="failed",
        due_ms=post.now_ms,
        gone=True,
    )


async def disabling(post: Office, hook: webhooks.Webhook) -> Work:
    """A delivery made before is on its way, and the receiver answers 410."""
    await post.emit()
    row, _ = await post.one(hook)
    until_ms = post.now_ms + DAY_MS
    await post.write(lambda tx: tx.run(_LEASE, until_ms=until_ms, webhook_id=hook.id))
    outcome = an_outcome(post, hook, row.id)
    return partial(recording.record, outcomes=[outcome], base_url=BASE_URL)


def updating(post: Office, hook: webhooks.Webhook, flags: webhooks.Flags) -> Work:
    return partial(
        changing(webhooks.update, SITE, post.tenant, post.now_ms),
        scope="",
        webhook_id=hook.id,
        url=hook.url,
        flags=flags,
        policy=HOME,
    )


@pytest.mark.parametrize("event_first", [True, False])
async def test_an_event_that_commits_while_its_webhook_is_disabled_does_not_go_out_later(
    engine: str, event_first: bool
) -> None:
    async with office(engine) as post, receiving() as receiver:
        hook = await post.webhook(receiver.url)
        works = [emitting(post), await disabling(post, hook)]
        outcomes = await overlapping(post.store, *(works if event_first else reversed(works)))
        assert outcomes == (None, None)
        assert (await post.current(hook)).disabled_ms is not None
        assert sorted(row.status for row, _ in await post.log(hook)) == ["cancelled", "failed"]
        await post.write(updating(post, hook, webhooks.Flags()))
        await post.deliver(DAY_MS)
        assert receiver.requests == [], "only a replay sends it"


@pytest.mark.parametrize("event_first", [True, False])
async def test_an_event_that_commits_after_its_flag_was_unset_is_not_delivered(
    engine: str, event_first: bool
) -> None:
    async with office(engine) as post, receiving() as receiver:
        hook = await post.webhook(receiver.url)
        works = [emitting(post), updating(post, hook, webhooks.Flags(new_referral=None))]
        await overlapping(post.store, *(works if event_first else reversed(works)))
        await post.deliver()
        assert len(receiver.requests) == len(await post.log(hook)) == int(event_first)
        await post.write(updating(post, hook, webhooks.Flags(new_referral=True)))
        await post.deliver(DAY_MS)
        assert len(receiver.requests) == int(event_first)


@pytest.mark.parametrize("disabled_first", [True, False])
async def test_a_resend_while_its_webhook_is_disabled_does_not_go_out_later(
    engine: str, disabled_first: bool
) -> None:
    async with office(engine) as post, receiving() as receiver:
        hook = await post.webhook(receiver.url)
        await post.emit()
        await post.deliver()
        sent, _ = await post.one(hook)
        again = partial(
            changes_account(webhooks.resend, post.account_id, now_ms=post.now_ms),
            scope="",
            webhook_id=hook.id,
            delivery_id=sent.id,
        )
        off = partial(
            recording._disable,
            outcome=an_outcome(post, hook, sent.id),
            reason="It answered 410.",
            base_url=BASE_URL,
        )
        await overlapping(post.store, *((off, again) if disabled_first else (again, off)))
        assert (await post.one(hook))[0].status == ("delivered" if disabled_first else "cancelled")
        await post.write(updating(post, hook, webhooks.Flags()))
        await post.deliver(DAY_MS)
        assert len(receiver.requests) == 1

"""What is forgotten by age goes when its time has come, and not before."""

import pytest

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.screening import evidence
from honeyguide.store import job_failures
from honeyguide.store.tx import timed
from tests.support.stores import OpenStore

NOW_MS = 1_794_819_600_000


def test_what_fails_is_tried_again_after_a_minute_and_then_later_and_later(
    opened: OpenStore,
) -> None:
    store, now_ms, waits = opened.store, NOW_MS, []

    def skipped(at_ms: int) -> set[str]:
        return opened.run(store.read(timed(job_failures.skipped, at_ms), "a job"))

    for _ in range(6):
        record = store.write(timed(job_failures.record, now_ms), "a job", "an item", "ValueError")
        opened.run(record)
        (failure,) = opened.run(store.read(job_failures.list_all))
        waits.append((failure.retry_ms - now_ms) // MINUTE_MS)
        now_ms = failure.retry_ms
        assert (skipped(now_ms - 1), skipped(now_ms)) == ({"an item"}, set())
    assert waits == [1, 5, 30, 120, 360, 360]


def test_a_failure_that_was_not_found_again_for_a_day_is_forgotten(opened: OpenStore) -> None:
    failed = {"gone": NOW_MS - DAY_MS - MINUTE_MS, "not yet": NOW_MS - DAY_MS + MINUTE_MS}
    for item, tried_ms in failed.items():
        opened.do(
            "INSERT INTO job_failure (job, item, failures, error, failed_ms, retry_ms) "
            "VALUES ('send emails', :item, 1, 'ValueError', :ms, :ms)",
            item=item,
            ms=tried_ms,
        )
    assert opened.run(opened.store.read(timed(job_failures.has_old, NOW_MS)))
    opened.run(opened.store.write(timed(job_failures.forget_old, NOW_MS)))
    assert not opened.run(opened.store.read(timed(job_failures.has_old, NOW_MS)))
    assert opened.ask("SELECT item FROM job_failure") == [("not yet",)]


@pytest.mark.parametrize(
    ("status", "days", "is_kept"),
    [("verified", 91, False), ("verified", 89, True), ("pending", 91, True)],
)
def test_the_value_of_evidence_is_kept_while_a_referral_is_pending_and_90_days_more(
    opened: OpenStore, status: str, days: int, is_kept: bool
) -> None:
    campaign_id, _ = opened.account_with_key()
    ((account_id,),) = opened.ask("SELECT id FROM account")
    opened.do(
        "INSERT INTO subscriber (id, account_id, campaign_id, email, email_key, person_key, "
        "ref_code, status, referral_status, origin, created_ms, received_ms) "
        "VALUES ('ann', :account_id, :campaign_id, 'a@b.org', 'a@b.org', 'a@b.org', "
        "'ann', 'active', :status, 'api', :ms, :ms)",
        account_id=account_id,
        campaign_id=campaign_id,
        status=status,
        ms=NOW_MS - days * DAY_MS,
    )
    opened.do(
        "INSERT INTO evidence (subscriber_id, code, account_id, campaign_id, points, value, "
        "found_ms) VALUES ('ann', 'no_click', :account_id, :campaign_id, 1, 'x', :ms)",
        account_id=account_id,
        campaign_id=campaign_id,
        ms=NOW_MS - days * DAY_MS - HOUR_MS,
    )
    opened.run(opened.store.write(timed(evidence.purge, NOW_MS)))
    assert opened.ask("SELECT value FROM evidence") == [("x" if is_kept else None,)]

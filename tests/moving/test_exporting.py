"""An export in many batches has every subscriber once, whichever list it is of."""

import pytest

from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import exporting
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.signups.signups import sign_up
from honeyguide.subscribers.subscriber_filters import of_show
from tests.support.changes import changing
from tests.support.readings import reads
from tests.support.stores import OpenStore
from tests.support.trade import SITE


@pytest.mark.parametrize("show", ["all", "rejected"])
def test_an_export_in_batches_has_everybody_once(
    opened: OpenStore, show: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "BATCH", 3)
    campaign_id, _ = opened.account_with_key()
    ((account_id,),) = opened.ask("SELECT account_id FROM campaign")
    tenant = Tenant(account_id, campaign_id)
    for number in range(9):  # several at the same time; the last batch is full
        new = NewSubscriber(email=f"s{number}@example.org")
        now_ms = 1_790_000_000_000 + number // 4
        opened.run(opened.store.write(changing(sign_up, SITE, tenant, now_ms), new))
    opened.do(
        "UPDATE subscriber SET referrer_code = 'x', referral_status = 'rejected' "
        "WHERE 'rejected' = :show",
        show=show,
    )

    async def export() -> list[list[str]]:
        found, after, is_last = [], None, False
        while not is_last:
            rows, after = await opened.store.slow_snapshot(
                reads(exporting.batch, tenant), of_show(show), after=after
            )
            found.append([row.subscriber.email for row in rows])
            is_last = after is None
        return found

    batches = opened.run(export())
    assert [len(rows) for rows in batches] == [3, 3, 3, 0]
    assert sorted(email for rows in batches for email in rows) == [
        f"s{number}@example.org" for number in range(9)
    ]

"""The days that the overview draws, on both engines: they agree with the people whatever happens to
them.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import daily_counts, page_index
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Tx
from tests.support.service import Service
from tests.support.web import Operator, operator


def counted(service: Service, member: Operator) -> dict[int, tuple[int, int, int, int]]:
    async def look(tx: Tx) -> list[daily_counts.Day]:
        return await daily_counts.between(
            tx, Tenant(member.account_id, member.campaign_id), 0, 2**60
        )

    return {
        day.day_ms: (day.signups, day.verified, day.pending, day.rejected)
        for day in service.read(look)
        if day.signups
    }


def true_counts(service: Service, member: Operator) -> dict[int, tuple[int, int, int, int]]:
    sql = (
        "SELECT created_ms, referrer_code, referral_status FROM subscriber "
        "WHERE campaign_id = :campaign_id AND erased_ms IS NULL"
    )

    async def look(tx: Tx) -> list[tuple[int, str | None, str]]:
        return await tx.all(
            Statement("test", sql, sql, lambda *row: row), campaign_id=member.campaign_id
        )  # type: ignore[arg-type]

    found: dict[int, list[int]] = {}
    for created_ms, code, status in service.read(look):
        row = found.setdefault(created_ms - created_ms % DAY_MS, [0, 0, 0, 0])
        row[0] += 1
        if code is not None:
            row[("verified", "pending", "rejected").index(status) + 1] += 1
    return {day_ms: (row[0], row[1], row[2], row[3]) for day_ms, row in found.items()}


@pytest.mark.parametrize("seed", range(3))
def test_days_count_what_is_there_whatever_happens(service: Service, seed: int) -> None:
    """Signups, verdicts, leaving and erasing in any order, folded or not: the days agree with the
    people.
    """
    alice, dice = operator(service), random.Random(seed)
    alice.web.post(
        "/settings/campaign",
        page="/settings",
        name="Wax",
        slug=f"w-{new_id()[-8:]}",
        screening="strong",
    )
    people: list[dict[str, Any]] = []
    for step in range(60):
        deed = dice.random()
        if deed < 0.5 or not people:
            code = dice.choice(people)["ref_code"] if people and dice.random() < 0.6 else None
            at = iso(service.now_ms() - dice.randrange(5) * DAY_MS)
            people.append(
                alice.subscribe(
                    f"s{seed}-{step}@example.org",
                    referrer_code=code,
                    created_at=at,
                    ip_address=f"9.9.9.{dice.randrange(3)}",
                )
            )
        elif deed < 0.7:
            alice.web.post(
                "/subscribers/decide",
                page="/settings",
                id=dice.choice(people)["uuid"],
                do=dice.choice(["verify", "reject"]),
            )
        elif deed < 0.85:
            alice.put(
                f"{alice.v1}/subscribers/{dice.choice(people)['uuid']}", {"status": "unsubscribed"}
            )
        else:
            alice.delete(
                f"{alice.v1}/subscribers/{people.pop(dice.randrange(len(people)))['uuid']}"
            )
        if step % 20 == 10:
            service.run(service.services.store.write_snapshot(page_index.apply_changes))
    assert counted(service, alice) == true_counts(service, alice)
    service.run(service.services.store.write_snapshot(page_index.apply_changes))
    assert counted(service, alice) == true_counts(service, alice)

"""A shipment is marked as sent once, whoever comes at the same moment."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest

from honeyguide.rewards import shipments
from tests.support.changes import SITE, changing
from tests.support.prizes import advocate, earned_by, offer, tenant_of
from tests.support.service import Member
from tests.support.shipments import ADDRESS, claim, listed

MARKING = """
import asyncio, json, sys
from honeyguide.kernel.tenant import Tenant
from honeyguide.rewards import shipments
from honeyguide.store import open_store
from tests.support.changes import SITE, new_change

url, account_id, campaign_id, by = sys.argv[1:5]
ids = sys.argv[5:]

async def mark(tx, shipment_id):
    change = new_change(tx, SITE, Tenant(account_id, campaign_id), 1)
    return await shipments.mark_sent(change, shipment_id, by=by, tracking_note=None)

async def main():
    store = await open_store(url)
    print("ready", flush=True)
    sys.stdin.readline()
    marked = [each for each in ids if (await store.write(mark, each))[1]]
    await store.close()
    print(json.dumps(marked))

asyncio.run(main())
"""


def test_of_ten_at_once_one_marks_it(alice: Member) -> None:
    offer(alice, kind="physical")
    shipment_id = claim(alice, "ana@example.org")["uuid"]
    store, now_ms = alice.service.services.store, alice.service.now_ms()

    async def mark_all() -> list[Any]:
        works = [
            store.write(
                changing(shipments.mark_sent, SITE, tenant_of(alice), now_ms),
                shipment_id,
                by=f"{number}@example.org",
                tracking_note=None,
            )
            for number in range(10)
        ]
        return await asyncio.gather(*works)

    outcomes = alice.service.run(mark_all())
    (winner,) = (number for number, (_, is_newly_sent) in enumerate(outcomes) if is_newly_sent)
    assert {shipment.sent_by for shipment, _ in outcomes} == {f"{winner}@example.org"}


@pytest.mark.long
def test_of_three_processes_that_mark_the_same_shipments_one_sends_each(alice: Member) -> None:
    offer(alice, kind="physical", recurring=True)
    ana = advocate(alice, 12)
    for earned in earned_by(alice, ana):
        alice.post(f"{alice.v1}/rewards/{earned['uuid']}/redeem", {"shipping_details": ADDRESS})
    ids = [each["uuid"] for each in listed(alice)]
    arguments = [sys.executable, "-c", MARKING, alice.service.settings.database_url]
    arguments += [alice.account_id, alice.campaign_id]
    processes = [
        subprocess.Popen(
            [*arguments, f"{number}@example.org", *ids],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    for process in processes:
        assert process.stdout and process.stdout.readline() == "ready\n"
    for process in processes:  # all at once
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    marked_by = {
        f"{number}@example.org": json.loads(process.communicate(timeout=60)[0])
        for number, process in enumerate(processes)
    }
    marked_ids = [each for ids_of_one in marked_by.values() for each in ids_of_one]
    assert sorted(marked_ids) == sorted(ids), "each once, and none left out"
    for shipment in listed(alice, "?status=sent"):
        assert shipment["uuid"] in marked_by[shipment["sent_by"]]

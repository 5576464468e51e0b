"""What a reading knows of other tenants, and that no fact outlives a write to what it was read
from.
"""

from __future__ import annotations

import pytest

from honeyguide.kernel.tenant import Tenant
from honeyguide.store.facts import TableWrites
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, campaigns
from tests.support.readings import change_of, in_account, reading
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement

SET_NAME = statement("UPDATE campaign SET name = :name WHERE id = :campaign_id", "changes campaign")
SET_ACCOUNT = statement("UPDATE account SET name = :name WHERE id = :account_id", "changes account")


def newsletter(opened: OpenStore, email: str = "alice@example.org") -> Tenant:
    campaign_id, _ = opened.account_with_key(email)
    find = "SELECT account_id FROM campaign WHERE id = :id"
    ((account_id,),) = opened.ask(find, id=campaign_id)
    return Tenant(account_id, campaign_id)


async def rename_and_ask_again(tx: Tx, tenant: Tenant, *, how: str) -> tuple[str, str]:
    change = change_of(tx, tenant)
    before = (await change.fact(campaigns.get)).name
    if how == "by the change":
        await change.run(SET_NAME, name="Later")
    elif how == "by another change of the transaction":
        await change_of(tx, tenant).put(SET_NAME, name="Later")
    else:
        await tx.run(SET_NAME, name="Later", campaign_id=tenant.campaign_id)
    return before, (await change.fact(campaigns.get)).name


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "how", ["by the change", "by another change of the transaction", "past every change"]
)
def test_a_fact_is_read_again_after_a_write_to_its_table(engine: str, how: str) -> None:
    with OpenStore(engine) as opened:
        tenant = newsletter(opened)

        async def work(tx: Tx) -> tuple[str, str]:
            return await rename_and_ask_again(tx, tenant, how=how)

        before, after = opened.run(opened.store.write(work))
        assert before != after == "Later"


def test_without_noticing_writes_an_old_fact_would_be_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(TableWrites, "note", lambda self, statement: None)
    with OpenStore("sqlite") as opened:
        tenant = newsletter(opened)

        async def work(tx: Tx) -> tuple[str, str]:
            return await rename_and_ask_again(tx, tenant, how="by the change")

        before, after = opened.run(opened.store.write(work))
        assert before == after


def test_a_fact_is_read_once_while_other_tables_change() -> None:
    with OpenStore("sqlite") as opened:
        tenant = newsletter(opened)

        async def work(tx: Tx) -> None:
            change = change_of(tx, tenant)
            first = await change.fact(campaigns.get)
            await change.run(SET_ACCOUNT, name="Later")
            assert await change.fact(campaigns.get) is first
            assert (await change.fact(branding.of)).name == first.name

        opened.run(opened.store.write(work))


def test_another_tenant_in_the_same_transaction_has_facts_of_its_own() -> None:
    with OpenStore("sqlite") as opened:
        wax, other = newsletter(opened), newsletter(opened, "eve@example.net")
        opened.do("UPDATE campaign SET name = 'Other' WHERE id = :id", id=other.campaign_id)

        async def work(tx: Tx) -> None:
            at = reading(tx, wax)
            await at.fact(campaigns.get)
            theirs = at.of(other)
            assert (await theirs.fact(campaigns.get)).name == "Other"
            assert (theirs.tx, theirs.site, theirs.now_ms) == (at.tx, at.site, at.now_ms)
            assert (await at.fact(campaigns.get)).name != "Other"

        opened.run(opened.store.read(work))


def test_where_only_the_account_is_known_nothing_of_a_campaign_can_be_asked() -> None:
    of_campaign = statement("SELECT name FROM campaign WHERE id = :campaign_id")
    with OpenStore("sqlite") as opened:
        wax = newsletter(opened)

        async def work(tx: Tx) -> None:
            at = in_account(tx, wax.account_id)
            with pytest.raises(KeyError):
                await at.one(of_campaign)
            assert await reading(tx, wax).one(of_campaign) is not None

        opened.run(opened.store.read(work))

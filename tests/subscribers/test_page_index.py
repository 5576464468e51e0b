"""A list is cut into runs however its notes came: also the list whose notes were folded while
others' still waited.
"""

import pytest

from honeyguide.kernel.ids import new_code, new_id
from honeyguide.kernel.paging import Page
from honeyguide.store.tx import Tx
from honeyguide.subscribers import page_index
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement

CAMPAIGN_ID = new_id()
ADVOCATES = 2 * page_index.BLOCK_ROWS + 100
INSERT = statement(
    """INSERT INTO subscriber (
        id, account_id, campaign_id, email, email_key, person_key, ref_code,
            referrer_code, referrer_id,
            origin, created_ms,
        received_ms
    ) VALUES (
        :id, 'account', :campaign_id, :id, :id, :id, :code, :referrer_code, :referrer_id, 'x',
        :created_ms, 1
    )"""
)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_list_whose_notes_came_first_is_cut_with_the_others(engine: str) -> None:
    advocates = [(new_id(), new_code()) for _ in range(ADVOCATES)]

    async def enter(tx: Tx) -> None:
        for n, (advocate_id, code) in enumerate(advocates):
            await tx.put(
                INSERT,
                campaign_id=CAMPAIGN_ID,
                id=advocate_id,
                code=code,
                referrer_code=None,
                referrer_id=None,
                created_ms=n,
            )

    async def bring(tx: Tx) -> None:
        for n, (advocate_id, code) in enumerate(advocates):
            await tx.put(
                INSERT,
                campaign_id=CAMPAIGN_ID,
                id=new_id(),
                code=new_code(),
                referrer_code=code,
                referrer_id=advocate_id,
                created_ms=1_000_000 + n,
            )

    with OpenStore(engine) as opened:
        opened.run(opened.store.write(enter))
        opened.run(opened.store.write(bring))
        # The notes of the advocates, who came long ago, are taken first; those of the last batch
        # name none of them.
        while opened.run(opened.store.write_snapshot(page_index.apply_changes)):
            pass
        for kind, total in (
            ("all", 2 * ADVOCATES),
            ("referrals", ADVOCATES),
            ("advocates", ADVOCATES),
        ):
            page = Page(total // 100, 100)
            assert (
                opened.run(
                    opened.store.read(lambda tx, kind=kind: page_index.total(tx, CAMPAIGN_ID, kind))
                )
                == total
            )
            place = opened.run(
                opened.store.snapshot(
                    lambda tx, kind=kind, page=page: page_index.find_start(
                        tx, CAMPAIGN_ID, kind, page
                    )
                )
            )
            assert place.skip < 2 * page_index.BLOCK_ROWS - 100, kind


def test_changes_of_more_owners_than_are_applied_together_are_all_applied(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_index, "OWNERS", 2)
    for _ in range(5):
        opened.do(
            "INSERT INTO count_note (owner_id, created_ms, subscriber_id, account_id, n_all) "
            "VALUES (:owner, 1, :id, :id, 1)",
            owner=new_id(),
            id=new_id(),
        )
    while opened.run(opened.store.write_snapshot(page_index.apply_changes)):
        pass
    assert opened.ask("SELECT COUNT(*) FROM count_note") == [(0,)]
    assert opened.ask("SELECT COUNT(*) FROM listing") == [(5,)]

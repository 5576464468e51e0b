"""The log of erasures after a restore: who is erased again, and what is left alone."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from honeyguide.events import change_log
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving.import_files import ImportLine
from honeyguide.operating.backups.erasure_files import (
    distinct,
    erase_again,
    read_erasures,
    write_erasures,
)
from honeyguide.operating.backups.names import erasures_name
from honeyguide.operating.backups.places import place_for
from honeyguide.signups import signups
from honeyguide.signups.erasures import Erasure
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.tx import timed
from honeyguide.subscribers import campaigns
from honeyguide.subscribers.campaigns import CampaignSettings
from tests.support import imports
from tests.support.changes import changing
from tests.support.readings import reads_account
from tests.support.stores import OpenStore

SITE = Site("http://127.0.0.1", "http://127.0.0.1/join", b"k" * 32)


def erasure_of(email: str, account_id: str = "a", campaign_id: str = "c") -> Erasure:
    return Erasure(
        id=new_id(),
        account_id=account_id,
        campaign_id=campaign_id,
        subscriber_id=new_id(),
        person_key=SITE.person_key(EmailAddress(email)),
        erased_ms=1,
    )


def test_a_person_who_waits_in_an_import_file_is_erased_by_the_hash(opened: OpenStore) -> None:
    campaign_id, _ = opened.account_with_key()
    ((account_id,),) = opened.ask("SELECT account_id FROM campaign")
    tenant = Tenant(account_id, campaign_id)
    lines = [ImportLine(2, ["Zelda <Zelda@example.org>"]), ImportLine(3, ["ann@example.org"])]
    keep = partial(
        timed(imports.keep, 1), tenant=tenant, file_name="x.csv", header=["email"], lines=lines
    )
    opened.run(opened.store.write(keep))
    erasure = erasure_of("zelda@example.org", *tenant)
    again = partial(opened.store.write, timed(erase_again, 2), SITE, erasure)
    assert opened.run(again()) is True
    assert opened.run(again()) is False, "the database knows this erasure now"
    assert opened.ask("SELECT lines FROM import_part") == [('[[3,["ann@example.org"]]]',)]
    assert opened.ask("SELECT id, copied_ms FROM erasure") == [(erasure.id, None)]


def test_what_was_decided_and_changed_about_a_person_is_emptied_again(opened: OpenStore) -> None:
    """As a backup has it that was made before the erasure."""
    campaign_id, _ = opened.account_with_key()
    ((account_id,),) = opened.ask("SELECT account_id FROM campaign")
    tenant = Tenant(account_id, campaign_id)

    def make(unit: Any, *args: Any) -> Any:
        return opened.run(opened.store.write(changing(unit, SITE, tenant, 1), *args))

    make(campaigns.configure, CampaignSettings(hold_days=9))
    ann = make(signups.sign_up, NewSubscriber(email="ann@example.org"))
    zelda = make(
        signups.sign_up, NewSubscriber(email="zelda@example.org", referrer_code=ann.ref_code)
    )
    make(signups.decide, zelda.id, "rejected")
    opened.do("UPDATE referral_decision SET note = 'Zelda wrote to us.'")
    changes = partial(reads_account(change_log.about, account_id), subscriber_id=zelda.id)
    (entry,) = opened.run(opened.store.read(changes))
    assert entry.differences[1] == {"status": "rejected", "reason": "rejected_by_hand"}
    erasure = erasure_of("zelda@example.org", *tenant)._replace(subscriber_id=zelda.id)
    assert opened.run(opened.store.write(timed(erase_again, 2), SITE, erasure)) is True
    found = opened.run(opened.store.read(changes))
    assert [entry.action for entry in found] == ["referral.decided", "subscriber.erased"]
    assert {entry.differences for entry in found} == {(None, None)}
    assert opened.ask("SELECT status, note FROM referral_decision") == [("rejected", None)]


def test_files_with_erasures_are_read_back_once_each(tmp_path: Path) -> None:
    place = place_for(str(tmp_path))
    first, second = erasure_of("ann@example.org"), erasure_of("bea@example.org")
    for found in ([first, second], [second]):
        write_erasures(place, found, tmp_path, 1_794_819_600_000, lambda: None)
    (tmp_path / "work").mkdir()
    assert "ann" not in "".join(path.read_text() for path in tmp_path.glob("*.json"))
    assert distinct(read_erasures(place, tmp_path / "work", lambda: None)) == [first, second]
    (tmp_path / erasures_name(1_794_819_600_000, "0")).write_text('[{"id": 1}]')
    with pytest.raises(Invalid, match="is damaged"):
        read_erasures(place, tmp_path / "work", lambda: None)

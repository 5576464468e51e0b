"""A restore, a copy and a move bring nothing back that was revoked."""

import asyncio
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from honeyguide import settings
from honeyguide.app import site_of
from honeyguide.kernel.clock import system_clock
from honeyguide.operating.backups.credentials import CREDENTIALS, DROPPED, KEPT, StoredCredential
from honeyguide.operating.backups.restoring import Restored, Restoring, restore
from honeyguide.store.backup import dump
from honeyguide.store.same_rows import read_rows
from honeyguide.store.table_rows import opened_tables
from tests.support import delayed
from tests.support.backups import use_client_programs
from tests.support.copies import copied, empty
from tests.support.granted_access import (
    NEW_PASSWORD,
    SECRET,
    Granted,
    do,
    grant,
    revoke,
)
from tests.support.postgres import shared_server
from tests.support.process import command, fresh, migrated
from tests.support.service import ENGINES, Service
from tests.support.stores import OpenStore, statement
from tests.support.web import PASSWORD, WebClient, operator

WORDS = re.compile(
    r"(^|_)(codes?|credentials?|digest|encrypted|hash|key|nonce|otp|password|pin|private|salt|"
    r"secrets?|signature|token|version)(_|$)"
)
# Columns that are called like a credential, and why they let nobody in.
OTHERS = {
    **dict.fromkeys(
        (
            "subscriber.email_key",
            "subscriber.person_key",
            "partner_referral.person_key",
            "partner_referral.confirmed_person_key",
            "erasure.person_key",
            "charge.person_key",
            "earlier_person_key.earlier_key",
            "earlier_person_key.person_key",
            "used_form.mailbox_hash",
        ),
        "who somebody is, to compare",
    ),
    **dict.fromkeys(
        (
            "subscriber.ref_code",
            "subscriber.referrer_code",
            "subscriber.claimed_code",
            "claim.claimed_code",
            "subscriber_code.code",
            "partner_campaign.ref_code",
            "click.code",
            "click_day.code",
            "evidence.code",
            "code_look.code",
            "confirmation_brake.code",
            "letter.held_code",
            "adoption_value.code",
            "adoption_value.code_field",
            "form_code.code",
            "used_form.code",
            "integration.code_field",
        ),
        "a referral code, which is public, or the name of a field",
    ),
    **dict.fromkeys(
        (
            "coupon.code",
            "won_reward.coupon_code",
            "reward.coupon_code",
            "reward.codes_total",
            "reward.codes_left",
        ),
        "what a reader gets, in a shop of the operator",
    ),
    **dict.fromkeys(
        (
            "job_lease.token",
            "delivery.lease_token",
            "letter.lease_token",
            "slack_message.lease_token",
            "integration.lease_token",
        ),
        "which process took it",
    ),
    **dict.fromkeys(
        (
            "integration.read_token",
            "idempotency.idempotency_key",
            "letter.once_key",
            "notice.once_key",
            "notice.digest_due_ms",
            "cohort_count.key",
            "trait_group.key",
            "attempt.status_code",
            "rate_key.key_id",
            "rate_slot.key_id",
        ),
        "a place in a list, or what something is called",
    ),
    **dict.fromkeys(
        (
            "integration_event.digest",
            "change_log.salt",
            "change_log.values_hash",
            "month_digest.digest",
            "used_form.token_hash",
        ),
        "shows whether something is the same as before",
    ),
    "link_host.token": "public: it stands in the DNS",
    "subscriber.link_version": "kept by a statement of its own: there may be many subscribers",
    "installation_key.public_key": "public",
}


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    use_client_programs(monkeypatch)


async def _read(url: str, credential: StoredCredential) -> dict[Any, Any]:
    """What is secret in each row, by its key."""
    async with opened_tables(url) as tables:
        shape = (await tables.shapes())[credential.table]
        rows = await read_rows(tables, credential.table, shape)
    return {key: [row[each] for each in credential.columns] for key, row in rows.items()}


def secrets_in(url: str, credential: StoredCredential) -> dict[Any, Any]:
    return asyncio.run(_read(url, credential))


async def _columns(engine: str) -> set[str]:
    async with opened_tables(migrated(engine)) as tables:
        shapes = await tables.shapes()
    return {f"{table}.{name}" for table, shape in shapes.items() for name in shape.columns}


def test_every_stored_credential_has_a_row() -> None:
    listed = {f"{each.table}.{column}" for each in CREDENTIALS for column in each.columns}
    columns = {column for engine in ENGINES for column in asyncio.run(_columns(engine))}
    assert listed <= columns and OTHERS.keys() <= columns
    suspicious = {each for each in columns if WORDS.search(each.partition(".")[2])}
    unknown = suspicious - listed - OTHERS.keys()
    assert not unknown, "say in operating/backups/credentials.py what a restore does with it"


def restored(url: str, file: Path) -> Restored:
    chosen = settings.read({}, database_url=url, secret_key=SECRET)
    asked = Restoring(
        source=str(file),
        database_url=url,
        place=None,
        site_of=partial(site_of, settings=chosen),
        replaces=True,
    )
    return asyncio.run(restore(asked, now_ms=system_clock()))


def old_database(engine: str, done: Restored) -> str:
    assert done.old is not None
    return f"sqlite:///{done.old}" if engine == "sqlite" else shared_server().url(done.old)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_restore_leaves_access_as_it_is(engine: str, tmp_path: Path) -> None:
    with Service(engine, work=False, secret_key=SECRET) as service:
        granted = grant(service)
        dump(service.database_url, tmp_path / "copy", lambda done, total: None)
        revoke(service, granted)
    url = service.database_url
    done = restored(url, tmp_path / "copy")
    for credential in KEPT:
        there = secrets_in(old_database(engine, done), credential)
        assert there and secrets_in(url, credential) == there, credential.table
        assert done.access.changed[credential.name], credential.table
    for credential in DROPPED:
        assert not any(filter(any, secrets_in(url, credential).values())), credential.table
        assert done.access.dropped[credential.name], credential.table
    assert done.access.unknown_accounts == 0
    with Service(engine, secret_key=SECRET, database_url=url) as service:
        assert_nothing_works_again(service, granted)
    assert command("verify", database_url=url, secret_key=SECRET).returncode == 0


def assert_nothing_works_again(service: Service, granted: Granted) -> None:
    alice = granted.alice

    def status_with(key: str) -> int:
        found = alice.http.get(f"{service.url}{alice.v1}/subscribers", headers={"X-Api-Key": key})
        return found.status_code

    assert status_with(alice.key) == 200
    assert [status_with(each) for each in (granted.revoked_key, granted.rotated_key)] == [401, 401]
    for browser in (alice.web, granted.zoe.web, granted.leaver.web):
        answer = browser.http.get(f"{service.url}/subscribers")
        assert answer.status_code == 303 and "/login" in answer.headers["location"]
    sql = statement("SELECT email FROM account WHERE id = :id")
    contact = service.read(lambda tx: tx.all(sql, id=granted.zoe.account_id))
    assert contact == [("new@zoe.example",)], "emails about the account go where they went"
    for link in granted.links:
        assert alice.web.http.get(f"{service.url}{link}").status_code in {404, 410}, link
    assert "location" not in WebClient(service).log_in(alice.email, PASSWORD).headers
    assert WebClient(service).log_in(alice.email, NEW_PASSWORD).headers["location"] == "/"
    asks = WebClient(service).log_in(granted.leaver.email)
    assert asks.headers["location"] == "/login/code", (
        "the address is now the other's, with a factor"
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_private_link_that_ended_stays_so(engine: str, tmp_path: Path) -> None:
    """Of two subscribers, one of whom changed their address after the backup was made."""
    with Service(engine, work=False, secret_key=SECRET) as service:
        alice = service.member("alice")
        ann, ben = (alice.subscribe(f"{name}@example.org")["uuid"] for name in ("ann", "ben"))
        dump(service.database_url, tmp_path / "copy", lambda done, total: None)
        alice.put(f"{alice.v1}/subscribers/{ann}", {"email": "anna@example.org"})
    restored(service.database_url, tmp_path / "copy")
    with OpenStore(engine, service.database_url) as store:
        versions = store.ask("SELECT id, link_version FROM subscriber")
    assert dict(versions) == {ann: 1, ben: 0}


UNDONE = "Delayed actions of the backup that were left out, because they may have been undone"


@pytest.mark.parametrize("is_there", [True, False], ids=["replaced", "lost"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_delayed_action_that_was_undone_is_not_done(
    engine: str, is_there: bool, tmp_path: Path
) -> None:
    """Of two that waited when the backup was made. Without the old database, nobody knows which
    were undone."""
    with Service(engine, work=False, secret_key=SECRET) as service:
        alice = operator(service)
        undone, waiting = delayed.referral(alice), delayed.referral(alice)
        page = delayed.ask(alice, undone, do="verify")
        delayed.ask(alice, waiting, do="verify")
        dump(service.database_url, tmp_path / "copy", lambda done, total: None)
        delayed.undo(alice, delayed.offered(page))
    url = service.database_url if is_there else fresh(engine)
    done = command(
        "restore", str(tmp_path / "copy"), "--replace", database_url=url, secret_key=SECRET
    )
    assert done.returncode == 0, done.stderr
    assert f"{UNDONE} since: {1 if is_there else 2}." in done.stdout
    with OpenStore(engine, url) as store:
        left = store.ask("SELECT subject_id FROM delayed_action")
    assert left == ([(waiting["subject"],)] if is_there else [])


@pytest.mark.parametrize("engine", ENGINES)
def test_without_the_old_database_nobody_knows_what_was_revoked(
    engine: str, tmp_path: Path
) -> None:
    with Service(engine, work=False, secret_key=SECRET) as service:
        granted = grant(service)
        dump(service.database_url, tmp_path / "copy", lambda done, total: None)
    url = fresh(engine)
    done = command("restore", str(tmp_path / "copy"), database_url=url, secret_key=SECRET)
    assert done.returncode == 0, done.stderr
    assert "Everybody logs in again. Of the backup these were left out: 4 sessions, " in done.stdout
    assert "no database that has them could be read: 2." in done.stdout
    for credential in DROPPED:
        assert not any(filter(any, secrets_in(url, credential).values())), credential.table
    for credential in KEPT:
        assert secrets_in(url, credential) == secrets_in(service.database_url, credential)
    assert len(granted.links) == 4
    newest = "(SELECT MAX(name) FROM schema_migration)"
    with OpenStore(engine, service.database_url) as store:
        store.do(f"DELETE FROM schema_migration WHERE name = {newest}")
    of_other_version = restored(service.database_url, tmp_path / "copy")
    assert of_other_version.access.unknown_accounts == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_another_installations_database_takes_no_access_away(engine: str, tmp_path: Path) -> None:
    """Nor does it give any."""
    with Service(engine, work=False, secret_key=SECRET) as service:
        granted = grant(service)
        dump(service.database_url, tmp_path / "copy", lambda done, total: None)
    with Service(engine, secret_key=SECRET) as other:
        other.member("mallory")
    done = restored(other.database_url, tmp_path / "copy")
    assert done.access.unknown_accounts == 2 and not done.access.changed
    logins = secrets_in(other.database_url, next(each for each in KEPT if each.belongs_to == "id"))
    assert len(logins) == 4 and (granted.alice.user_id,) in logins


@pytest.mark.parametrize("engine", ENGINES)
def test_an_account_is_closed_or_paused_as_it_was_at_last(engine: str, tmp_path: Path) -> None:
    with Service(engine, work=False, secret_key=SECRET) as service:
        service.member("first")
        closed, paused = service.member("closed"), service.member("paused")
        closed.subscribe("ann@example.org")
        kept, resumed = service.member("kept"), service.member("resumed")
        later_ms = service.now_ms() + 86_400_000
        called_off = "UPDATE account SET closes_ms = :closes, paused_ms = :paused WHERE id = :id"
        do(service, called_off, id=kept.account_id, closes=later_ms, paused=None)
        do(service, called_off, id=resumed.account_id, closes=None, paused=1)
        dump(service.database_url, tmp_path / "copy", lambda done, total: None)
        for account in (kept, resumed):
            do(service, called_off, id=account.account_id, closes=None, paused=None)
        do(
            service,
            "UPDATE account SET closes_ms = :now WHERE id = :id",
            id=closed.account_id,
            now=service.now_ms(),
        )
        service.run_jobs()
        do(service, "UPDATE account SET paused_ms = 1 WHERE id = :id", id=paused.account_id)
    restored(service.database_url, tmp_path / "copy")
    with OpenStore(engine, service.database_url) as store:
        states = store.ask(
            "SELECT id, closed_ms > 1, emptied_ms > 1, paused_ms > 1 FROM account "
            " WHERE closes_ms IS NOT NULL OR paused_ms IS NOT NULL"
        )
        members = store.ask("SELECT account_id FROM member")
        emails = store.ask("SELECT email FROM subscriber WHERE email IS NOT NULL")
    assert sorted(states) == sorted(
        [(closed.account_id, 1, 1, None), (paused.account_id, None, None, 1)]
    )
    assert (closed.account_id,) not in members and emails == []


@pytest.mark.parametrize(
    ("source", "target"), [("sqlite", "postgres"), ("postgres", "sqlite")], ids=["there", "back"]
)
def test_a_copy_has_access_but_nothing_that_works_in_two_places(source: str, target: str) -> None:
    with Service(source, work=False, secret_key=SECRET) as service:
        grant(service)
    url = empty(target)
    report = copied(service.database_url, url)
    assert report.dropped["sessions"] == 4 and report.dropped["invitations and password links"] == 2
    for credential in CREDENTIALS:
        there = secrets_in(url, credential)
        if credential in DROPPED:
            assert not any(filter(any, there.values())), credential.table
        else:
            assert there == secrets_in(service.database_url, credential), credential.table


def test_no_file_that_moves_people_has_a_credential() -> None:
    with Service("sqlite", work=False, secret_key=SECRET) as service:
        granted = grant(service)
        alice = granted.alice
        uuid = alice.subscriber("ann@example.org")["uuid"]
        files = [
            "/subscribers/export.csv",
            "/subscribers/export.csv?format=sparkloop",
            f"/subscribers/{uuid}/export.json",
        ]
        texts = [alice.web.get(each, follow_redirects=True).text for each in files]
        texts.append(alice.get(f"{alice.v1}/subscribers/{uuid}/export").text)
    assert all("ann@example.org" in each for each in texts)
    for credential in CREDENTIALS:
        for values in secrets_in(service.database_url, credential).values():
            for value in values:
                is_long = isinstance(value, str) and len(value) > 15
                assert not is_long or not any(value in each for each in texts), credential.table

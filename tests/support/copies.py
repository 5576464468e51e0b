"""Databases to copy, and how a test copies one and looks at what came of it."""

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import asyncpg

from honeyguide.moving import installation_key, signed_documents
from honeyguide.operating.copying.copying import CopyReport, CopyRequest, copy
from honeyguide.store import Store, sqlite_path
from tests.support.authenticator import Authenticator, set_up
from tests.support.postgres import shared_server
from tests.support.process import fresh, migrated
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator, WebClient, operator

SECRET = "ab" * 32
ROLE = "plain_owner"
_SCHEMA = {
    "indexes": "SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class c ON c.oid = "
    "indrelid WHERE c.relnamespace = 'public'::regnamespace",
    "constraints": "SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)"
    " || convalidated FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
    "triggers": "SELECT tgrelid::regclass || ' ' || pg_get_triggerdef(oid) || tgenabled::TEXT FROM "
    "pg_trigger WHERE NOT tgisinternal",
    "columns": "SELECT attrelid::regclass || ' ' || attname || ' ' || attnum || ' ' || atttypid || "
    "attnotnull FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE attnum > 0 AND "
    "c.relnamespace = 'public'::regnamespace",
}


NOTE_CHANGE = statement(
    "INSERT INTO subscriber_change (account_id, campaign_id, subscriber_id) "
    "VALUES (:account, :campaign, :who)",
    "adds subscriber_change",
)


class UsedAccount(NamedTuple):
    """An account with something of each kind that must not be lost."""

    alice: Operator
    app: Authenticator
    ann: dict[str, object]
    document: bytes


async def _no_keys(_store: Store) -> None:
    """The command checks them; these tests are about the rows."""


def copied(source: str, target: str, **options: Any) -> CopyReport:
    return asyncio.run(copy(CopyRequest(source, target, _no_keys, **options)))


def empty(engine: str) -> str:
    """A database that does not exist yet, or has no table; on PostgreSQL it belongs to a user
    without any rights elsewhere."""
    url = fresh(engine)
    if engine == "postgres":
        server = shared_server()
        if server.execute(f"SELECT count(*) FROM pg_roles WHERE rolname = '{ROLE}'") == "0":
            server.execute(f"CREATE ROLE {ROLE} LOGIN NOSUPERUSER")
        server.execute(f'ALTER DATABASE "{url.rpartition("/")[2]}" OWNER TO {ROLE}')
        url = url.replace("//postgres@", f"//{ROLE}@")
    return url


def begin(service: Service) -> UsedAccount:
    alice = operator(service)
    assert alice.put(f"{alice.v1}/settings", {"hold_days": 0}).status_code == 200
    reward = {"name": "Stickers", "referrals": 1, "kind": "physical"}
    assert alice.post(f"{alice.v1}/rewards", reward).status_code == 201
    people = f"{alice.v1}/subscribers"
    ann = alice.post(people, {"email": "ann@example.org", "name": "Ann \u00e4\U0001f41d"}).json()
    code = ann["subscriber"]["ref_code"]
    for name in ("bob", "cid"):
        email = f"{name}@{name}.example.org"
        made = alice.post(people, {"email": email, "referrer_code": code})
        assert made.status_code == 201, made.text
    assert alice.http.delete(f"{people}/cid@cid.example.org").status_code == 200
    service.run_jobs()
    note_change(service, alice, ann["subscriber"]["uuid"])
    app, _ = set_up(alice.web)
    keys = service.settings.secret_keys
    key = service.write(lambda tx: installation_key.get_or_make(tx.at(service.now_ms()), keys))
    document = signed_documents.sign(
        key, kind="move_certificate", issuer=service.url, issued_ms=1, content={}
    )
    return UsedAccount(alice, app, ann["subscriber"], document)


def note_change(service: Service, alice: Operator, subscriber_id: str) -> None:
    """A row whose number the database chooses."""
    given = {"account": alice.account_id, "campaign": alice.campaign_id, "who": subscriber_id}
    service.write(lambda tx: tx.run(NOTE_CHANGE, **given))


def assert_it_goes_on(before: UsedAccount, url: str) -> None:
    """With the copy, and the same settings."""
    with Service(before.alice.service.engine, database_url=url, secret_key=SECRET) as service:
        alice = Operator(
            service, before.alice.account_id, before.alice.campaign_id, before.alice.key
        )
        people = f"{alice.v1}/subscribers"
        ann = alice.get(f"{people}/ann@example.org").json()["subscriber"]
        assert ann["name"] == before.ann["name"]
        code = ann["ref_code"]
        made = alice.post(people, {"email": "dora@dora.example.org", "referrer_code": code})
        assert made.status_code == 201
        total = alice.get(people).json()["meta"]["total_subscribers"]
        assert total == 3, "ann, bob and dora: nobody is counted twice, cid stays erased"
        note_change(service, alice, ann["uuid"])  # its number is the next one
        web = WebClient(service)
        assert web.log_in(before.alice.email).headers["location"] == "/login/code"
        before.app.service = service
        assert web.post("/login/code", code=before.app.code(30)).status_code == 303
        keys = service.settings.secret_keys
        key = service.write(lambda tx: installation_key.get_or_make(tx.at(service.now_ms()), keys))
        document = signed_documents.check(before.document)
        public_key = key.public_key().public_bytes_raw()
        assert document.fingerprint == signed_documents.fingerprint(public_key)


def assert_same_schema(engine: str, url: str) -> None:
    """As a migrated database has it: keys, indexes and triggers are all back."""
    assert schema(url) == schema(migrated(engine))


def schema(url: str) -> dict[str, list[str]]:
    path = sqlite_path(url)
    if path is None:
        return asyncio.run(_schema_of_postgres(url))
    with apsw.Connection(str(path)) as connection:
        rows = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2")
        return {"all": [repr(row) for row in rows]}


async def _schema_of_postgres(url: str) -> dict[str, list[str]]:
    connection = await asyncpg.connect(url)
    try:
        return {
            what: sorted(row[0] for row in await connection.fetch(sql))
            for what, sql in _SCHEMA.items()
        }
    finally:
        await connection.close()


def is_empty(url: str) -> bool:
    """Whether nothing was left there, not even a table."""
    path = sqlite_path(url)
    if path is None:
        sql = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        return shared_server().execute(sql, url.rpartition("/")[2]) == "0"
    return not path.exists() and not list(Path(path.parent).glob(".honeyguide-work-*"))

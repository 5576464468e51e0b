"""Connected email platforms: at most one per campaign. Connecting, pausing, and what the
dashboard shows of its health.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from honeyguide.events import change_log
from honeyguide.events.outbound import Outbound
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.checked_platform import CheckedPlatform
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.http import PlatformHttp
from honeyguide.integrations.platform import Audience, Platform, PlatformAccess
from honeyguide.integrations.platforms import PLATFORMS
from honeyguide.kernel import actors
from honeyguide.kernel.actors import Actor
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Refusals, Tx
from honeyguide.subscribers import page_index

ACTIVE, PAUSED, FAILED = "active", "paused", "failed"
# What becomes of what another tool wrote to our fields (`adoption.py`). Only `SETTLED` is written.
SETTLED, READING, ASKED, ADOPTING = "", "reading", "asked", "adopting"
ADOPT, REPLACE = "adopt", "replace"
# Above every time; a pass over a list begins here.
TOP_MS = 1 << 62
MOST_COUNTED = 10_000
# Wakes the workers: something was connected, resumed or retried.
TOPIC = "integrations"


class Integration(msgspec.Struct, frozen=True):
    id: str
    account_id: str
    campaign_id: str
    platform: str
    status: str
    credentials: str
    key_hint: str
    audience_id: str
    audience_name: str
    field_names: dict[SyncField, str]
    code_field: str
    adds_existing: bool
    hook_key: str
    created_ms: int
    next_call_ms: int
    failures: int
    problem: str | None
    problem_ms: int | None
    pass_list: str | None
    pass_ms: int
    pass_id: str
    is_reading: bool
    read_since_ms: int | None
    read_token: str | None
    read_began_ms: int
    next_read_ms: int
    next_full_read_ms: int
    first_sync_ms: int | None
    synced: int
    last_in_ms: int | None
    last_in_kind: str | None
    last_out_ms: int | None
    last_out_count: int
    fields_ms: int
    refused_hook: str | None
    refused_hook_ms: int | None
    list_read_ms: int
    missing: int
    missing_ms: int
    read_tries: int
    read_problem: str | None
    next_page_ms: int
    adoption: str
    adoption_answer: str

    @property
    def reads_fields(self) -> bool:
        """Whether what contacts have in our fields may be another tool's."""
        return self.adoption != SETTLED or self.adoption_answer == ADOPT

    @property
    def actor(self) -> Actor:
        """The actor of changes that the platform reports."""
        return actors.job(f"sync with {self.platform}")

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)


class NewIntegration(msgspec.Struct, frozen=True, kw_only=True):
    platform: str
    credentials: Mapping[str, str]
    audience: Audience
    field_names: Mapping[SyncField, str]
    code_field: str
    adds_existing: bool
    hook_key: str
    has_fields: bool = False
    """Whether the platform may have had these fields before we came (`Platform.has_fields`)."""


class FailedWrite(NamedTuple):
    subscriber_id: str
    email: str | None
    name: str | None
    reason: str | None
    failed_ms: int


class SyncState(NamedTuple):
    """What the platform has of one subscriber."""

    platform: str
    synced_ms: int | None
    written: dict[str, Any] | None
    reason: str | None
    due_ms: int | None
    failed_ms: int | None
    adoption: str


class _Counts(NamedTuple):
    total: int
    never_written: int


class SyncBacklog(NamedTuple):
    due: int
    failed: int
    never_written: int
    """Of both: whom the platform has no link of."""


_sql = beside(__file__)
_OF_CAMPAIGN = _sql.query("of_campaign", Integration)
_BY_ID = _sql.query("by_id", Integration)
_BY_HOOK_KEY = _sql.query("by_hook_key", Integration)
_INSERT = _sql.command("insert")
_SET_STATUS = _sql.command("set_status")
_SET_CREDENTIALS = _sql.command("set_credentials")
_SET_FIELD_NAMES = _sql.command("set_field_names")
_RETRY_FAILED = _sql.command("retry_failed")
_FAILED = _sql.query("failed", FailedWrite)
_COUNT_FAILED = _sql.query("count_failed", _Counts)
_COUNT_DUE = _sql.query("count_due", _Counts)
_COUNT_NOT_WRITTEN = _sql.value("count_not_written", int)
_OF_SUBSCRIBER = _sql.query("of_subscriber", SyncState)
_ALL_CREDENTIALS = _sql.value("all_credentials", str)


class AlreadyConnected(Invalid):
    def __init__(self) -> None:
        super().__init__("A platform is connected already. Disconnect it first.")


_TAKEN: Refusals = {"integration_campaign": AlreadyConnected}


async def find(at: Reading) -> Integration | None:
    return await at.one(_OF_CAMPAIGN)


async def get(at: Reading) -> Integration:
    integration = await find(at)
    if integration is None:
        raise Missing("No platform is connected.")
    return integration


async def get_by_id(tx: Tx, integration_id: str) -> Integration:
    """For the worker, which serves all accounts."""
    integration = await tx.one(_BY_ID, id=integration_id)
    assert integration is not None
    return integration


async def find_by_hook_key(tx: Tx, hook_key: str) -> Integration | None:
    return await tx.one(_BY_HOOK_KEY, hook_key=hook_key)


def platform_of(key: str) -> Platform:
    if key not in PLATFORMS:
        raise Missing("There is no such platform.")
    return CheckedPlatform(PLATFORMS[key])


def name_of(key: str) -> str:
    return PLATFORMS[key].about.name if key in PLATFORMS else key


def hook_url(site: Site, hook_key: str) -> str:
    return f"{site.base_url}/hooks/{hook_key}"


def access_to(
    integration: Integration, keys: EncryptionKeys, outbound: Outbound, *, now_ms: int
) -> PlatformAccess:
    """What the platform's module needs. Raises `Undecryptable` if the key has changed."""
    about = platform_of(integration.platform).about
    plain = keys.decrypt(integration.credentials, row_id=integration.id)
    wait_s = max(0, integration.next_call_ms - now_ms) / 1000
    return PlatformAccess(
        about=about,
        http=PlatformHttp(outbound, about.name, interval_s=about.limits.interval_s, wait_s=wait_s),
        credentials=msgspec.json.decode(plain, type=dict[str, str]),
        audience_id=integration.audience_id,
        field_names=integration.field_names,
        code_field=integration.code_field,
        reads_fields=integration.reads_fields,
    )


def _encrypted(keys: EncryptionKeys, row_id: str, credentials: Mapping[str, str]) -> str:
    return keys.encrypt(msgspec.json.encode(credentials).decode(), row_id=row_id)


def _key_hint(platform: str, credentials: Mapping[str, str]) -> str:
    """The end of the first secret, if it is long enough to give nothing away."""
    for each in PLATFORMS[platform].about.inputs:
        secret = credentials.get(each.name, "")
        if each.is_secret and len(secret) >= 16:
            return secret[-4:]
    return ""


async def connect(
    change: Change, keys: EncryptionKeys, new: NewIntegration, *, created_ms: int | None = None
) -> Integration:
    """Everybody is queued for writing, and the platform's list is read, from now on. Those who
    signed up here since `created_ms` are added there. If another tool may have filled our fields,
    nothing is written before the list was read."""
    integration_id = new_id()
    await change.run(
        _INSERT,
        taken=_TAKEN,
        id=integration_id,
        platform=new.platform,
        credentials=_encrypted(keys, integration_id, new.credentials),
        key_hint=_key_hint(new.platform, new.credentials),
        audience_id=new.audience.id,
        audience_name=new.audience.name,
        field_names=msgspec.json.encode(new.field_names).decode(),
        code_field=new.code_field,
        adds_existing=new.adds_existing,
        hook_key=new.hook_key,
        pass_ms=TOP_MS,
        adoption=READING if new.has_fields else SETTLED,
        created_ms=change.now_ms if created_ms is None else created_ms,
    )
    change.tx.wake(TOPIC)
    made = await get(change)
    await change_log.record(change, "integration.connected", made.id, None, logged(made))
    return made


def logged(integration: Integration) -> dict[str, Any]:
    """What the change log may say: no key, and no address that a webhook is sent to."""
    return {
        "platform": integration.platform,
        "audience_id": integration.audience_id,
        "audience_name": integration.audience_name,
        "field_names": integration.field_names,
        "code_field": integration.code_field,
        "adds_existing": int(integration.adds_existing),
        "status": integration.status,
    }


async def replace_credentials(
    change: Change,
    keys: EncryptionKeys,
    credentials: Mapping[str, str],
    audience: Audience,
    *,
    hook_key: str | None = None,
) -> None:
    """A new key for the same list, and the address of its new webhook, if there is one. It goes on
    where it stopped."""
    integration = await get(change)
    await change.run(
        _SET_CREDENTIALS,
        id=integration.id,
        credentials=_encrypted(keys, integration.id, credentials),
        key_hint=_key_hint(integration.platform, credentials),
        audience_id=audience.id,
        audience_name=audience.name,
        hook_key=hook_key or integration.hook_key,
    )
    change.tx.wake(TOPIC)
    await change_log.record(change, "integration.key_replaced", integration.id)


async def set_status(change: Change, status: str) -> None:
    """`active` or `paused`. While it is paused, changes are kept and nothing is sent."""
    integration = await get(change)
    if integration.status == FAILED and status == PAUSED:
        return
    await change.run(_SET_STATUS, id=integration.id, status=status)
    change.tx.wake(TOPIC)
    await _log_changed(change, integration)


async def _log_changed(change: Change, before: Integration) -> None:
    after = await get(change)
    old, new = logged(before), logged(after)
    await change_log.record(change, "integration.changed", after.id, old, new)


async def set_field_names(
    change: Change, names: Mapping[SyncField, str], code_field: str, *, has_fields: bool = False
) -> None:
    """Everybody is written again with the new names. If another tool may have filled the new
    fields, the list is read first (`has_fields`, as in `NewIntegration`)."""
    integration = await get(change)
    await change.run(
        _SET_FIELD_NAMES,
        id=integration.id,
        field_names=msgspec.json.encode(names).decode(),
        code_field=code_field,
        pass_ms=TOP_MS,
        adoption=READING if has_fields else SETTLED,
    )
    change.tx.wake(TOPIC)
    await _log_changed(change, integration)


async def retry_failed(change: Change, subscriber_id: str | None = None) -> int:
    """Queues one subscriber that could not be written again, or all."""
    integration = await get(change)
    change.tx.wake(TOPIC)
    return await change.run(_RETRY_FAILED, id=integration.id, subscriber_id=subscriber_id)


async def failed_writes(tx: Tx, integration: Integration, *, most: int) -> list[FailedWrite]:
    return await tx.all(_FAILED, account_id=integration.account_id, id=integration.id, most=most)


async def backlog(tx: Tx, integration: Integration) -> SyncBacklog:
    """What waits and what failed; both are counted up to `MOST_COUNTED`."""
    bound: dict[str, Any] = {"account_id": integration.account_id, "id": integration.id}
    due = await tx.one(_COUNT_DUE, most=MOST_COUNTED, **bound) or _Counts(0, 0)
    failed = await tx.one(_COUNT_FAILED, most=MOST_COUNTED, **bound) or _Counts(0, 0)
    never_written = int(due.never_written + failed.never_written)
    return SyncBacklog(due.total, failed.total, never_written)


async def count_to_write(at: Reading) -> int:
    """How many a first sync writes. Those who unsubscribed before it are never written, and those
    who still have to confirm only when they do."""
    total = await page_index.total(at.tx, at.tenant.campaign_id, "all")
    not_written = await at.one(_COUNT_NOT_WRITTEN)
    return max(0, total - (not_written or 0))


async def state_of(at: Reading, subscriber_id: str) -> SyncState | None:
    """For the subscriber's page: synced when, and with what."""
    return await at.one(_OF_SUBSCRIBER, subscriber_id=subscriber_id)


async def all_credentials(tx: Tx) -> list[str]:
    """Every integration's encrypted key, to check whether they can be decrypted."""
    return await tx.all(_ALL_CREDENTIALS)

"""What another tool wrote to the fields that we are to write: read before anything is written.

If the platform has our fields already when it is connected, its whole list is read first. What its
contacts have in these fields, and did not get from us, is kept here. Then the operator is asked:
adopt it, so that links already sent go on working, or replace it. Nothing is written until then.
`moving/adopting.py` does what they answer.

Somebody whom the platform shows later is treated as the operator answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Self

from honeyguide.accounts import accounts
from honeyguide.events import change_log
from honeyguide.integrations import integrations
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.integrations import MOST_COUNTED, Integration
from honeyguide.integrations.leases import LeasedIntegration
from honeyguide.integrations.reports import FoundValues
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.site import Site
from honeyguide.mail import integration_texts
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# Wakes the job that does what the operator answered.
TOPIC = "adoption"
NOTIFICATION = "integration_asks"
FOUND, ADOPTED, REFUSED = "found", "adopted", "refused"
_ADOPTED_FIELDS = (
    SyncField.CODE,
    SyncField.LINK,
    SyncField.REFERRALS,
    SyncField.LAST_REWARD,
    SyncField.LAST_REWARD_ID,
    SyncField.COUPON,
)


class AdoptionValue(NamedTuple):
    """What one contact had in our fields."""

    subscriber_id: str
    code: str | None
    code_field: str
    link: str | None
    link_field: str
    referrals: str | None
    reward: str | None
    coupon: str | None
    others: int
    state: str = FOUND

    @property
    def is_waiting(self) -> bool:
        """Whether the job has still to take them over."""
        return self.state == FOUND


class FoundCounts(NamedTuple):
    """How many contacts have what; counted up to `MOST_COUNTED`."""

    contacts: int
    codes: int
    links: int
    referrals: int
    rewards: int
    coupons: int


class AdoptionProblem(StrEnum):
    """Why a code stays there without counting here."""

    sentence: str

    def __new__(cls, code: str, sentence: str = "") -> Self:
        problem = str.__new__(cls, code)
        problem._value_ = code
        problem.sentence = sentence
        return problem

    TAKEN = "taken", "Another subscriber has this code here."
    NO_CODE = (
        "no_code",
        "A code has at most 64 letters, digits, dashes and underscores, and no accents.",
    )


class RefusedValue(NamedTuple):
    subscriber_id: str
    email: str | None
    name: str | None
    code: str | None
    problem: str

    @property
    def sentence(self) -> str:
        return AdoptionProblem(self.problem).sentence


class _KnownContact(NamedTuple):
    subscriber_id: str
    email_key: str
    ref_code: str
    synced_ms: int | None


_sql = beside(__file__)
_KNOWN = _sql.query("known", _KnownContact)
_FORGET = _sql.command("forget")
_NOTE = _sql.command("note")
_CONCLUDE = _sql.command("conclude")
_OF_CONTACTS = _sql.query("of_contacts", AdoptionValue)
_COUNT = _sql.query("count", FoundCounts)
_REFUSED = _sql.query("refused", RefusedValue)
_ANSWER = _sql.command("answer")


# -- reading


async def note_found(leased: LeasedIntegration, found: Sequence[FoundValues]) -> None:
    """Keeps what contacts have in our fields, as far as they are subscribers here and did not get
    it from us. What they had before and have no longer is forgotten."""
    await leased.lock_lease()
    integration = leased.integration
    by_key = {key: each for each in found if (key := _key(each.email))}
    # Locked, so that nothing is kept about somebody who is erased at the same moment.
    known = await leased.lock(_KNOWN, email_keys=list(by_key))
    is_late = integration.adoption == integrations.SETTLED
    known = [each for each in known if not (is_late and each.synced_ms is not None)]
    if not known:
        return
    await leased.run(_FORGET, ids=[each.subscriber_id for each in known])
    values = [
        _value(integration, each.subscriber_id, fields)
        for each in known
        if not is_ours(leased.site, each.ref_code, fields := by_key[each.email_key].fields)
    ]
    rows = [value._asdict() for value in values if value is not None]
    if rows:
        await leased.run(_NOTE, rows=rows)
        if is_late:
            leased.tx.wake(TOPIC)


def is_ours(site: Site, ref_code: str, fields: Mapping[SyncField, str]) -> bool:
    """Whether we wrote these values ourselves, as when a platform is connected again."""
    return fields.get(SyncField.CODE) == ref_code or fields.get(SyncField.LINK) == site.reader_link(
        ref_code
    )


def _value(
    integration: Integration, subscriber_id: str, fields: Mapping[SyncField, str]
) -> AdoptionValue | None:
    names = integration.field_names
    filled = {field: text for field, text in fields.items() if text.strip()}
    if not filled:
        return None
    return AdoptionValue(
        subscriber_id=subscriber_id,
        code=filled.get(SyncField.CODE),
        code_field=names.get(SyncField.CODE, ""),
        link=filled.get(SyncField.LINK),
        link_field=names.get(SyncField.LINK, ""),
        referrals=filled.get(SyncField.REFERRALS),
        reward=filled.get(SyncField.LAST_REWARD_ID) or filled.get(SyncField.LAST_REWARD),
        coupon=filled.get(SyncField.COUPON),
        others=sum(field not in _ADOPTED_FIELDS for field in filled),
    )


def _key(email: str) -> str:
    try:
        return EmailAddress.parse(email).key
    except Invalid:
        return ""


async def conclude(leased: LeasedIntegration) -> None:
    """The whole list was read. Asks the operator if something was found; otherwise writing
    begins."""
    if not await leased.run(_CONCLUDE):
        return
    after = await integrations.get_by_id(leased.tx, leased.integration.id)
    if after.adoption == integrations.ASKED:
        await _notify(leased)


async def _notify(leased: LeasedIntegration) -> None:
    integration, base_url, page = leased.integration, leased.site.base_url, "/integrations"
    message = integration_texts.integration_asks(
        platform=integrations.name_of(integration.platform), page=f"{base_url}{page}"
    )
    cause = f"{integration.id}:{leased.now_ms}"
    await accounts.notify_owner(leased, NOTIFICATION, cause, message, link=page)


# -- the question and its answer


async def count(tx: Tx, integration: Integration) -> FoundCounts:
    counted = await tx.one(
        _COUNT, account_id=integration.account_id, id=integration.id, most=MOST_COUNTED
    )
    assert counted is not None
    return counted


async def refused(tx: Tx, integration: Integration, *, most: int) -> list[RefusedValue]:
    """Whose code could not be adopted, and why."""
    return await tx.all(_REFUSED, account_id=integration.account_id, id=integration.id, most=most)


async def answer(change: Change, answered: str) -> None:
    """`adopt` or `replace`. To replace them, nobody has to wait for the list to be read."""
    integration = await integrations.get(change)
    before = integration.adoption
    may_answer = before == integrations.ASKED or (
        before == integrations.READING and answered == integrations.REPLACE
    )
    is_adopting = answered == integrations.ADOPT
    if not may_answer or not await change.run(
        _ANSWER,
        id=integration.id,
        before=before,
        adoption=integrations.ADOPTING if is_adopting else integrations.SETTLED,
        answer=answered,
    ):
        raise Invalid("This was answered already.")
    change.tx.wake(TOPIC)
    change.tx.wake(integrations.TOPIC)
    after = {"adoption_answer": answered}
    await change_log.record(change, "integration.values_answered", integration.id, None, after)


# -- writing


async def of_contacts(
    at: Reading, integration: Integration, subscriber_ids: Sequence[str]
) -> dict[str, AdoptionValue]:
    """What stays as it is there, by subscriber; nothing unless the operator adopts."""
    if integration.adoption_answer != integrations.ADOPT:
        return {}
    found = await at.all(_OF_CONTACTS, integration_id=integration.id, ids=list(subscriber_ids))
    return {each.subscriber_id: each for each in found}

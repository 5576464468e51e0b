"""The one campaign of an account."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.events import change_log
from honeyguide.kernel import checks, fields, public
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.public import choice, doc
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import link_parameters, referral_states, slugs

MOST_TEXTS = 250


class Campaign(NamedTuple):
    id: str
    account_id: str
    name: str
    slug: str
    destination_url: str | None
    screening: str
    hold_days: int
    needs_confirmation: bool
    words: dict[str, str]
    created_ms: int
    link_parameters: list[str]


def _check_hold_days(days: int, *, param: str) -> int:
    if not 0 <= days <= referral_states.LONGEST_HOLD_DAYS:
        raise Invalid(
            "{field} must be a whole number from 0 to {most}.",
            param=param,
            most=referral_states.LONGEST_HOLD_DAYS,
        )
    return days


def _check_texts(texts: dict[str, str], *, param: str) -> dict[str, str]:
    """The operator's own texts for the reader's pages, by the name the page gives each."""
    if len(texts) > MOST_TEXTS:
        raise Invalid("{field} can have at most {most} texts.", param=param, most=MOST_TEXTS)
    for name, text in texts.items():
        checks.text(name, param=param, limit=checks.NAME_LIMIT, blank_ok=False)
        checks.text(text, param=name, limit=checks.DESCRIPTION_LIMIT)
    return texts


Screening = Annotated[
    str,
    choice(
        "How strictly new referrals are screened.",
        "strong",
        allowed=tuple(referral_states.Level),
        label="Screening",
    ),
]
LinkParameters = Annotated[
    list[str],
    doc(
        "Names of parameters in old links that hold a subscriber's code, besides `ref`, `rh_ref`, "
        "`grsf`, `kid`, `mwr` and `referralCode`.",
        ["via"],
        label="Other link parameters",
        rule=link_parameters.check,
        maxItems=link_parameters.MOST,
    ),
]
HoldDays = Annotated[
    int,
    doc(
        "Holding period in days before a new referral counts.",
        3,
        label="Holding period",
        rule=_check_hold_days,
        minimum=0,
        maximum=referral_states.LONGEST_HOLD_DAYS,
    ),
]


class ReferralSettings(msgspec.Struct, frozen=True):
    """What callers may set over the API. UNSET leaves a field as it is. With a None
    `destination_url`, referral links lead to the hosted signup page."""

    screening: Screening | UnsetType = UNSET
    hold_days: HoldDays | UnsetType = UNSET
    needs_confirmation: public.NeedsConfirmation | UnsetType = UNSET
    destination_url: public.DestinationUrl | UnsetType | None = UNSET
    slug: public.Slug | UnsetType = UNSET
    link_parameters: LinkParameters | UnsetType = UNSET


class CampaignSettings(ReferralSettings, frozen=True):
    """What an operator may set on the dashboard."""

    name: public.CampaignName | UnsetType = UNSET
    words: Annotated[dict[str, str], doc(rule=_check_texts)] | UnsetType = UNSET


# The topic that tells who keeps links in memory that one may lead elsewhere now.
LINKS = "links"
# In the change log, for whatever an operator sets about the campaign.
CHANGED = "campaign.changed"

_SETTINGS = fields.columns(CampaignSettings)
_sql = beside(__file__, campaign=Campaign._fields, settings=_SETTINGS)
_BY_ID = _sql.query("by_id", Campaign)
_LOCK = _sql.value("lock", str)
_RENAME = _sql.command("rename")
_CONFIGURE = _sql.command("configure")
_FIRST_TWO = _sql.query("first_two", Tenant)
_TENANT_OF = _sql.query("tenant_of", Tenant)


async def find_only(tx: Tx) -> Tenant | None:
    """The only campaign of this installation, None if there are several."""
    found = await tx.all(_FIRST_TWO)
    return found[0] if len(found) == 1 else None


async def get(at: Reading) -> Campaign:
    campaign = await at.one(_BY_ID, id=at.tenant.campaign_id)
    if campaign is None:
        raise Missing("There is no such campaign.")
    return campaign


async def name_of(at: Reading) -> str:
    return (await get(at)).name


async def tenant_of(tx: Tx, account_id: str) -> Tenant:
    tenant = await tx.one(_TENANT_OF, account_id=account_id)
    if tenant is None:
        raise Missing("There is no such account.")
    return tenant


async def rename(change: Change, name: str) -> None:
    checks.name(name, param="name")
    old = await get(change)
    await change.run(_RENAME, id=old.id, name=name)
    await change_log.record(change, CHANGED, old.id, {"name": old.name}, {"name": name})


async def configure(change: Change, chosen: CampaignSettings) -> Campaign:
    """Changes what is set. New rules apply to referrals from now on; pending ones keep their
    dates."""
    # Without the lock, two changes at once would each write back what the other changed, and the
    # page would not be found under its slug.
    await change.lock(_LOCK, id=change.tenant.campaign_id)
    old = await get(change)
    before = fields.as_stored(old, _SETTINGS)
    new = before | fields.checked(CampaignSettings, chosen)
    if new["slug"] != old.slug:
        await slugs.claim(change.tx, old.account_id, slugs.CAMPAIGN, old.id, new["slug"])
    await change.run(_CONFIGURE, id=old.id, **new)
    change.tx.wake(LINKS)
    await change_log.record(change, CHANGED, old.id, before, new)
    return await get(change)

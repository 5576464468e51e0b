"""What exists before the first signup: a newsletter with readers of its own, its program with
default settings, and a partner for each family.
"""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from PIL import Image

from honeyguide.accounts import accounts, keys
from honeyguide.app import Services
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Tx
from honeyguide.store.change import Change
from lab.client import LabClient
from lab.crowd import Crowd

FEE_CENTS = 250
READERS = 400
SHORT_READERS = 150
READERS_SINCE_MS = 240 * DAY_MS


@dataclass
class World:
    tenant: Tenant
    """Of the newsletter that pays."""
    key: str
    program_id: str
    readers: list[str]
    """The persons who read the newsletter already."""
    codes: dict[str, str] = field(default_factory=dict)
    """A partner's referral code for each family."""


async def build(
    services: Services, client: LabClient, families: Iterable[str], *, is_short: bool
) -> World:
    tenant, key = await _open_account(services, "owner@daily-lantern.example")
    readers = await _add_readers(
        services, client, tenant, key, SHORT_READERS if is_short else READERS
    )
    publication = await client.call_api(
        "/v2/publications",
        key,
        {
            "name": "The Daily Lantern",
            "categories": ["business"],
            "logo": _logo(),
            "audience_gender": "mixed",
            "income_levels": ["$50k - $75k"],
            "age_ranges": ["25 - 39"],
        },
    )
    # Budget and cap are far above what all families together try for: only screening stops them.
    program = await client.call_api(
        "/v2/partner_programs",
        key,
        {
            "publication_uuid": publication["publication"]["uuid"],
            "cpa": FEE_CENTS / 100,
            "total_budget": 100_000,
            "max_payout": 10_000,
            "redirect_url": "https://daily-lantern.example/",
        },
    )
    world = World(tenant, key, program["partner_program"]["uuid"], readers)
    for family in families:
        email = f"{family.replace('_', '-')}@partners.example"
        _, partner_key = await _open_account(services, email)
        path = f"/v2/partner_network/partner_programs/{world.program_id}/join"
        joined = await client.call_api(path, partner_key, {})
        world.codes[family] = joined["partner_campaign"]["ref_code"]
    return world


async def _open_account(services: Services, email: str) -> tuple[Tenant, str]:
    """Accounts come from an invitation or the command line, never from the API."""
    return await services.store.write(_write_account, services, email)


async def _write_account(tx: Tx, services: Services, email: str) -> tuple[Tenant, str]:
    now_ms = services.clock()
    made = await accounts.create(tx, EmailAddress.parse(email), name=email, now_ms=now_ms)
    tenant = Tenant(made.account_id, made.campaign_id)
    change = Change(tx, services.site, tenant, actors.command("lab"), now_ms)
    return tenant, await keys.create(change, name="lab")


async def _add_readers(
    services: Services, client: LabClient, tenant: Tenant, key: str, count: int
) -> list[str]:
    """Readers whom no partner sent, over the months before."""
    crowd = Crowd(random.Random("readers"))
    began_ms = services.clock() - READERS_SINCE_MS
    emails = dict.fromkeys(crowd.address(0.2) for _ in range(count))
    for email, at_ms in zip(emails, crowd.moments(len(emails), READERS_SINCE_MS), strict=True):
        await client.call_api(
            f"/v1/campaigns/{tenant.campaign_id}/subscribers",
            key,
            {"email": email, "created_at": iso(began_ms + at_ms)},
        )
    return [EmailAddress.parse(email).person for email in emails]


def _logo() -> str:
    picture = io.BytesIO()
    Image.new("RGB", (64, 64), (165, 96, 0)).save(picture, "PNG")
    return base64.b64encode(picture.getvalue()).decode()

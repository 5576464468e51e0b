"""What exists before the first signup: a newsletter with readers of its own, its program with
default settings, and partners for each family.
"""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from PIL import Image

from honeyguide.accounts import accounts, keys, members, passwords, users
from honeyguide.accounts.permissions import Role
from honeyguide.app import Services
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Tx
from honeyguide.store.change import Change
from honeyguide.subscribers import campaigns, embeds
from honeyguide.subscribers.embeds import EmbedFields
from lab.client import LabClient
from lab.crowd import Crowd
from lab.family import Family
from lab.owner import PASSWORD, Owner, Setting

FEE_CENTS = 250
READERS = 400
SHORT_READERS = 150
READERS_SINCE_MS = 240 * DAY_MS


OWNER = "owner@daily-lantern.example"
WEBSITE = "https://daily-lantern.example"


class JoinedPartner(NamedTuple):
    id: str
    """Of the partner campaign."""
    code: str


@dataclass
class World:
    tenant: Tenant
    """Of the newsletter that pays."""
    key: str
    program_id: str
    readers: list[str]
    """The persons who read the newsletter already."""
    page: str
    """The newsletter's own signup page."""
    embed_id: str
    owner: Owner | None
    """Who answers cards, if somebody does."""
    editors: dict[str, Owner] = field(default_factory=dict)
    """Of the owner's team, who verify what they can of the partners of a family."""
    partners: dict[str, list[JoinedPartner]] = field(default_factory=dict)
    """Those of each family."""


async def build(
    services: Services,
    client: LabClient,
    families: Sequence[Family],
    *,
    setting: Setting,
    is_short: bool,
) -> World:
    tenant, key = await _open_account(services, OWNER)
    readers = await _add_readers(
        services, client, tenant, key, SHORT_READERS if is_short else READERS
    )
    publication_id = await _publish(client, key)
    owner = Owner(client, services.site.base_url, OWNER)
    if setting is Setting.API:
        program_id = await _create_by_api(client, key, publication_id)
    else:
        await _set_password(services, tenant)
        await owner.log_in()
        program_id = await _create_on_dashboard(owner, publication_id)
    page, embed_id = await services.store.write(_show_forms, services, tenant)
    looking = owner if setting is Setting.LOOKS else None
    world = World(tenant, key, program_id, readers, page, embed_id, looking)
    for family in families:
        world.partners[family.name] = await _join(services, client, program_id, family)
        if family.is_editor:
            world.editors[family.name] = await _add_editor(services, client, world, family)
    return world


def _partner_email(family: Family, number: int) -> str:
    return f"{family.name.replace('_', '-')}-{number}@partners.example"


async def _add_editor(services: Services, client: LabClient, world: World, family: Family) -> Owner:
    """The partner's login becomes a member of the team that owns the program."""
    email, hashed = _partner_email(family, 0), await passwords.hashed(PASSWORD)

    async def write(tx: Tx) -> None:
        user = await users.find_by_email(tx, EmailAddress.parse(email))
        assert user is not None
        await passwords.set_hash(tx, user.id, hashed)
        await members.add(tx, world.tenant.account_id, user.id, Role.EDITOR)

    await services.store.write(write)
    editor = Owner(client, services.site.base_url, email)
    return editor


async def _publish(client: LabClient, key: str) -> str:
    made = await client.call_api(
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
    publication_id: str = made["publication"]["uuid"]
    return publication_id


# Budget and cap are far above what all families together try for: only screening stops them.
BUDGET, CAP = 200_000, 20_000


async def _create_by_api(client: LabClient, key: str, publication_id: str) -> str:
    made = await client.call_api(
        "/v2/partner_programs",
        key,
        {
            "publication_uuid": publication_id,
            "cpa": FEE_CENTS / 100,
            "total_budget": BUDGET,
            "max_payout": CAP,
            "redirect_url": f"{WEBSITE}/",
        },
    )
    program_id: str = made["partner_program"]["uuid"]
    return program_id


async def _create_on_dashboard(owner: Owner, publication_id: str) -> str:
    """What the form has selected stays."""
    page = f"/program/new?publication={publication_id}"
    answer = await owner.submit(
        page,
        "/program/new",
        cpa=f"{FEE_CENTS / 100:.2f}",
        total_budget=str(BUDGET),
        max_payout=str(CAP),
    )
    if answer.status != 303:
        raise RuntimeError(f"The form of a program was refused: {answer.status}")
    return answer.headers["location"].rpartition("/")[2]


async def _show_forms(tx: Tx, services: Services, tenant: Tenant) -> tuple[str, str]:
    """The path of the newsletter's page, and the id of its embeds."""
    change = Change(tx, services.site, tenant, actors.command("lab"), services.clock())
    await embeds.save(change, EmbedFields(origins=WEBSITE))
    embed = await embeds.find(change)
    assert embed is not None
    return f"/join/{(await campaigns.get(change)).slug}", embed.public_id


async def _join(
    services: Services, client: LabClient, program_id: str, family: Family
) -> list[JoinedPartner]:
    owner_id, joined = "", list[JoinedPartner]()
    for number in range(family.partners):
        email = _partner_email(family, number)
        tenant, key = await _open_account(services, email, owner_id)
        if family.is_one_login:
            owner_id = await services.store.read(members.first_owner, tenant.account_id)
        path = f"/v2/partner_network/partner_programs/{program_id}/join"
        made = (await client.call_api(path, key, {}))["partner_campaign"]
        joined.append(JoinedPartner(made["uuid"], made["ref_code"]))
    return joined


async def _open_account(services: Services, email: str, owner_id: str = "") -> tuple[Tenant, str]:
    """Accounts come from an invitation or the command line, never from the API."""
    return await services.store.write(_write_account, services, email, owner_id)


async def _write_account(
    tx: Tx, services: Services, email: str, owner_id: str
) -> tuple[Tenant, str]:
    now_ms, address = services.clock(), EmailAddress.parse(email)
    if owner_id:
        made = await accounts.open_another(tx.at(now_ms), owner_id, address, name=email)
    else:
        made = await accounts.create(tx.at(now_ms), address, name=email)
    tenant = Tenant(made.account_id, made.campaign_id)
    change = Change(tx, services.site, tenant, actors.command("lab"), now_ms)
    return tenant, await keys.create(change, name="lab")


async def _set_password(services: Services, tenant: Tenant) -> None:
    hashed = await passwords.hashed(PASSWORD)

    async def write(tx: Tx) -> None:
        user_id = await members.first_owner(tx, tenant.account_id)
        await passwords.set_hash(tx, user_id, hashed)

    await services.store.write(write)


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
            {"email": email, "created_at": iso(began_ms + at_ms), "status": "confirmed"},
        )
    return [EmailAddress.parse(email).person for email in emails]


def _logo() -> str:
    picture = io.BytesIO()
    Image.new("RGB", (64, 64), (165, 96, 0)).save(picture, "PNG")
    return base64.b64encode(picture.getvalue()).decode()

"""The URL of a new account's signup page is made from its name."""

import asyncio
import itertools

import pytest

from honeyguide.accounts import accounts
from honeyguide.kernel import checks
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.tx import timed
from honeyguide.subscribers import campaigns
from tests.support.readings import reading
from tests.support.service import Service

_numbers = itertools.count(1)


def new_slug(service: Service, name: str | None) -> str:
    email = EmailAddress.parse(f"slug{next(_numbers)}@example.org")
    made = service.write(lambda tx: accounts.create(tx.at(service.now_ms()), email, name=name))
    tenant = Tenant(made.account_id, made.campaign_id)
    return service.read(lambda tx: campaigns.get(reading(tx, tenant))).slug


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("The Morning Wax", "the-morning-wax"),
        ("  Café & Co. — 2026!  ", "cafe-co-2026"),
        ("Ben's Bees", "bens-bees"),
        ("朝のニュース", ""),
        ("API", ""),
        ("x" * 255, "x" * checks.SLUG_LIMIT),
    ],
)
def test_a_name_becomes_a_slug(name: str, slug: str) -> None:
    assert checks.slug_from(name) == slug
    if slug:
        assert checks.slug(slug, param="slug") == slug


def test_the_second_account_of_a_name_gets_a_code_as_well(service: Service) -> None:
    name = f"Wax no {next(_numbers)} of {service.now_ms()}"
    first, second = new_slug(service, name), new_slug(service, name)
    assert first == checks.slug_from(name)
    assert second.startswith(f"{first}-") and len(second) == len(first) + 9
    long = "y" * 255
    assert {len(new_slug(service, long)) for _ in range(2)} == {checks.SLUG_LIMIT}
    assert new_slug(service, None).startswith("c-")
    assert new_slug(service, "登録").startswith("c-")


def test_two_accounts_of_one_name_at_the_same_moment(service: Service) -> None:
    name = f"Twins of {service.now_ms()}"

    async def create(number: int) -> None:
        email = EmailAddress.parse(f"twin{number}-{service.now_ms()}@example.org")
        await service.services.store.write(timed(accounts.create, 1), email, name=name)

    async def create_all() -> None:
        await asyncio.gather(*(create(number) for number in range(8)))

    service.run(create_all())

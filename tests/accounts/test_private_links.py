"""A reader's private link acts as the reader, so only roles and keys that may change subscribers
are given one.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from honeyguide.accounts import attempts, keys
from honeyguide.accounts.permissions import SCOPES, Right, Role
from honeyguide.api.routes import ROUTES
from honeyguide.kernel.ids import new_id
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.subscribers import hub, reader_links
from tests.support.hostile_world import World
from tests.support.service import Member, Service
from tests.support.stores import statement
from tests.support.team import colleague

MAY_SEE = {"/subscribers/{id}", "/look/newsletter/links.csv"}
INTEGRATION = """INSERT INTO integration (
    id, account_id, campaign_id, platform, status, credentials, key_hint, audience_id,
    audience_name, field_names, code_field, adds_existing, hook_key, created_ms, leased_until_ms
) VALUES (
    :id, :account_id, :campaign_id, 'kit', 'active', '1.none.none', '', '', '',
    '{"hub_link": "PAGE"}', '', 0, :id, 1, 9000000000000000)"""
WRITTEN = """INSERT INTO integration_subscriber (
    integration_id, subscriber_id, account_id, written, synced_ms
) SELECT :id, id, account_id, :written, 1 FROM subscriber
WHERE account_id = :account_id AND ref_code = :code"""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    limit = attempts.LOGIN_BY_ADDRESS._replace(most=10_000)
    with pytest.MonkeyPatch.context() as patch, Service("sqlite") as service:
        patch.setattr(attempts, "LOGIN_BY_ADDRESS", limit)
        made = World(service)
        _write_links_to_a_platform(made)
        yield made


def _write_links_to_a_platform(world: World) -> None:
    """As a sync did, whose fields are on the subscriber's page and in their export."""
    account_id, id = world.alice.account_id, new_id()
    link = hub.link(world.service.services.site, world.wax.person(world.star["uuid"]))
    fields = {"PAGE": link}
    written = msgspec.json.encode({"email": "", "status": "active", "fields": fields}).decode()

    async def write(tx: Any) -> None:
        values = {"id": id, "account_id": account_id}
        await tx.run(statement(INTEGRATION), **values, campaign_id=world.alice.campaign_id)
        await tx.run(statement(WRITTEN), **values, written=written, code=world.star["ref_code"])

    world.service.write(write)


@pytest.fixture(scope="module")
def keys_of_readers(world: World) -> set[str]:
    """What makes a link a private one, of every reader."""
    rows = statement("SELECT id, ref_code FROM subscriber WHERE erased_ms IS NULL")
    site = world.service.services.site
    found = set()
    for subscriber_id, code in world.service.read(lambda tx: tx.all(rows)):
        found.add(hub.token(site, subscriber_id, code).removeprefix(code))
        found.add(reader_links.stop_token(site, code))
    assert found
    return found


def shows(text: str, keys_of_readers: set[str]) -> bool:
    return (
        any(key in text for key in keys_of_readers)
        or re.search(r"/confirm/[\w-]{20,}", text) is not None
    )


@pytest.mark.parametrize("role", Role)
def test_only_roles_that_change_subscribers_are_shown_their_private_links(
    world: World, keys_of_readers: set[str], role: Role
) -> None:
    web = colleague(world.service, world.alice, role).web
    seen = set()
    for page in (page for page in PAGES if page.method == "GET"):
        queries = ["", "?as=top"] if page.path == "/look/newsletter/preview" else [""]
        queries = ["?tool=mailchimp"] if page.path.endswith("links.csv") else queries
        for path in (f"{each}{query}" for each in world.addresses(page.path) for query in queries):
            answer = web.get(path, follow_redirects=True)
            assert answer.status_code < 500, path
            if shows(answer.text, keys_of_readers):
                seen.add(page.path)
    assert seen == (MAY_SEE if role in (Role.OWNER, Role.EDITOR) else set())


@pytest.mark.parametrize("scope", SCOPES)
def test_only_keys_that_change_subscribers_are_given_their_private_links(
    world: World, keys_of_readers: set[str], scope: Right
) -> None:
    alice = world.alice
    key = alice.make(keys.create, name="scoped", scopes=(scope,))
    scoped = Member(alice.service, alice.account_id, alice.campaign_id, key)
    seen = set()
    for route in (route for route in ROUTES if route.method == "GET"):
        path = route.path.replace("{campaign_uuid}", alice.campaign_id)
        for uuid in (world.star["uuid"], world.ids["webhook"], world.ids["program"]):
            answer = scoped.get(re.sub(r"\{\w+\}", uuid, path))
            assert answer.status_code < 500, path
            if shows(answer.text, keys_of_readers):
                seen.add(route.path.rpartition("/")[2])
    assert seen == ({"referral_page"} if scope is Right.SUBSCRIBERS else set())


def test_who_may_not_act_as_a_reader_sees_a_picture_of_their_page(world: World) -> None:
    page = f"/subscribers/{world.star['uuid']}"
    analyst = colleague(world.service, world.alice, Role.ANALYST).web
    assert f'href="{page}/page"' in analyst.get(page).text
    picture = analyst.get(f"{page}/page")
    assert picture.status_code == 200 and world.star["ref_code"] in picture.text
    assert (
        re.search(r"name=(&#34;|&quot;)token(&#34;|&quot;) value=.{5,6}[\w-]", picture.text) is None
    )
    block = analyst.get("/look/newsletter/preview?as=top&style=card").text
    assert re.search(r'/subscribers/[0-9a-f-]{36}/page"', block)


@pytest.mark.parametrize("role", Role)
def test_only_who_runs_the_installation_sees_its_accounts(world: World, role: Role) -> None:
    """Alice's account is the administrators' here; finance pays partners, and sees the payouts."""
    web = colleague(world.service, world.alice, role).web
    invited, other = "o&#39;evil@example.org", world.bob.email
    team, administration = web.get("/team").text.replace("<wbr>", ""), web.get("/administration")
    assert (invited in team) == (role is Role.OWNER)
    assert administration.status_code == (200 if role in (Role.OWNER, Role.FINANCE) else 403)
    assert (invited in administration.text) == (role is Role.OWNER)
    assert ("Background jobs" in administration.text) == (role is Role.OWNER)
    if role is Role.FINANCE:
        assert 'id="h-owed"' in administration.text and "Mark as paid" in administration.text
        accounts = administration.text.partition('id="h-owed"')
        assert other not in accounts[0]

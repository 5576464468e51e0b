"""Kit against a strict stand-in."""

import dataclasses

import msgspec
import pytest

from honeyguide.events.outbound import Outbound
from honeyguide.integrations import connecting
from honeyguide.integrations.about import Limits
from honeyguide.integrations.integrations import NewIntegration
from honeyguide.integrations.platform import Audience
from honeyguide.integrations.problems import FieldsGone, ForgedHook, Unexpected
from honeyguide.integrations.reports import ChangeKind, IncomingHook
from tests.support.platforms.case import Opened
from tests.support.platforms.cases import read_all
from tests.support.platforms.kit import signed
from tests.support.platforms.stand_in import FREE, access_to, contact, pass_on, status
from tests.support.trade import SITE

NOW_S = 1_800_000_000

PLATFORM = "kit"


async def test_connecting_creates_the_fields_that_are_missing(on_platform: Opened) -> None:
    server, kit, access = on_platform
    server.fields = {"last_name", "rh_code"}
    assert await kit.check(access) == "The Morning Wax"
    assert [each.name for each in await kit.audiences(access)] == ["The Morning Wax"]
    assert await kit.ensure_fields(access) == 1
    assert "rh_totref" in server.fields
    assert await kit.ensure_fields(access) == 0


async def test_an_answer_that_refuses_a_field_names_it(on_platform: Opened) -> None:
    server, kit, access = on_platform
    server.fail(status(422, '{"errors": ["Custom field \'rh_totref\' does not exist"]}'))
    with pytest.raises(FieldsGone):
        await kit.write_many(access, [contact()])


async def test_changes_are_read_page_by_page(on_platform: Opened) -> None:
    server, kit, access = on_platform
    access = msgspec.structs.replace(access, code_field="REF")
    for number in range(1201):
        server.add(f"p{number}@example.org", ref=f"c{number}")
    server.add("left@example.org", "cancelled")
    server.add("bounced@example.org", "bounced")
    server.add("unconfirmed@example.org", "inactive")
    seen = await read_all(kit, access)
    assert len(server.seen) == 3
    assert len({each.email for each in seen}) == len(seen) == 1203
    assert [each.kind for each in seen[:2]] == [ChangeKind.BOUNCED, ChangeKind.LEFT]
    assert seen[-1].code == "c0" and seen[-1].kind == ChangeKind.JOINED
    later = await kit.read_changes(access, since_ms=NOW_S * 1000, token=None)
    assert (later.changes, later.next_token) == ([], None)


async def test_a_webhook_is_verified_and_understood(on_platform: Opened) -> None:
    server, kit, access = on_platform
    kept = await kit.add_hook(access, "https://refer.example.org/hooks/1")
    async with access_to(kit, {**access.credentials, **kept}) as connected:
        left = server.add("left@example.org", "cancelled")
        events = [
            {"id": "1", "type": "subscriber.unsubscribed", "data": {"subscriber": left}},
            {"id": "2", "type": "tag.created", "data": {"tag": {"id": 1}}},
        ]

        def hook(at_s: int = NOW_S, secrets: tuple[str, ...] = ("whsec_abc",)) -> IncomingHook:
            return IncomingHook(**signed(events, at_s=at_s, secrets=list(secrets)))

        kit.verify_hook(connected, hook(), now_s=NOW_S + 299)
        kit.verify_hook(connected, hook(secrets=("old", "whsec_abc")), now_s=NOW_S)
        for wrong in (
            hook(secrets=("other",)),
            hook(secrets=()),
            hook(at_s=NOW_S - 301),
            IncomingHook(headers={}, body=b"{}"),
            IncomingHook(headers=hook().headers, body=b"{}"),
            IncomingHook(headers={"x-kit-signature": f"t={NOW_S},v1=ü"}, body=b"{}"),
        ):
            with pytest.raises(ForgedHook):
                kit.verify_hook(connected, wrong, now_s=NOW_S)
        with pytest.raises(ForgedHook):
            kit.verify_hook(access, hook(secrets=("",)), now_s=NOW_S)  # no secret was kept
        [change] = await kit.understand_hook(connected, hook())
        assert (change.kind, change.email) == (ChangeKind.LEFT, "left@example.org")
        with pytest.raises(Unexpected):
            await kit.understand_hook(connected, IncomingHook(headers={}, body=b"[]"))
        await kit.remove_hook(connected)
        await kit.remove_hook(connected)
        assert server.webhooks == {}
    with pytest.raises(Unexpected, match="once an hour"):
        await kit.add_hook(access, "http://127.0.0.1/hooks/1")


async def test_kit_is_connected_without_webhooks_if_it_refuses_them(on_platform: Opened) -> None:
    """Changes are read once an hour anyway. A wrong key is another matter."""
    server, kit, access = on_platform
    new = NewIntegration(
        platform="kit",
        credentials=access.credentials,
        audience=Audience(id="account", name="All subscribers"),
        field_names=access.field_names,
        code_field="",
        adds_existing=False,
        hook_key="hook",
    )
    no_pace = Limits(per_batch=50, requests_per_batch=50)
    kit.about = msgspec.structs.replace(kit.about, limits=no_pace)
    outbound = Outbound(FREE)
    try:
        site = dataclasses.replace(SITE, base_url="https://refer.example.org")
        made, problem = await connecting.set_up(kit, outbound, site, new)
        assert made.credentials.keys() > access.credentials.keys() and problem == ""
        made, problem = await connecting.set_up(kit, outbound, SITE, new)
        assert made.credentials == access.credentials and "once an hour" in problem
        # The key works, but not for webhooks: the fields are looked at twice before.
        server.fail(pass_on, pass_on, status(401))
        made, problem = await connecting.set_up(kit, outbound, site, new)
        assert made.credentials == access.credentials and "once an hour" in problem
        server.fail(status(401))
        with pytest.raises(connecting.CannotConnect):
            await connecting.set_up(kit, outbound, site, new)
    finally:
        await outbound.close()


async def test_a_webhook_without_a_secret_is_of_no_use(on_platform: Opened) -> None:
    server, kit, access = on_platform
    server.fail(status(201, '{"webhook_endpoint": {"id": 1}}'))
    with pytest.raises(Unexpected, match="secret"):
        await kit.add_hook(access, "https://refer.example.org/hooks/1")

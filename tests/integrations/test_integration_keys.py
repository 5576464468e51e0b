"""A key that is entered again makes a new webhook there, whether the old one's secret can still be
read or was lost with the secret key; what the platform posts is verified again.
"""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest

from honeyguide.integrations import connecting, integrations
from honeyguide.integrations.about import Hooks, Limits
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.platforms import PLATFORMS
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.tenant import Tenant
from honeyguide.subscribers import subscribers
from tests.support.platforms.cases import CASES, WEBHOOKS
from tests.support.readings import reading
from tests.support.service import Service, until
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

AUTOMATIC = [key for key in WEBHOOKS if PLATFORMS[key].about.hooks == Hooks.AUTOMATIC]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with Service("sqlite", secret_key="ab" * 32) as service:
        yield service


def enter_key(alice: Operator, key: str, server: Any) -> None:
    case = CASES[key]
    answer = alice.web.post(f"/integrations/{key}", **case.credentials(server))
    sealed = re.search(r'name="sealed" value="([^"]+)"', answer.text)
    shown = re.search(r'name="audience"[^>]*value="([^"]+)"', answer.text)
    assert sealed and shown, text_of(answer.text)
    chosen = {"sealed": sealed[1], "audience": case.audience_id or shown[1]}
    answer = alice.web.post(f"/integrations/{key}", **chosen)
    assert answer.status_code == 303, text_of(answer.text)


@pytest.mark.parametrize("is_lost", [False, True], ids=["readable", "lost"])
@pytest.mark.parametrize("key", AUTOMATIC)
def test_a_key_that_is_entered_again_makes_a_new_webhook(
    service: Service, key: str, is_lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, hooks = CASES[key], WEBHOOKS[key]
    server = case.server()
    monkeypatch.setattr(
        connecting, "hook_url", lambda site, hook_key: f"https://refer.example.org/hooks/{hook_key}"
    )
    with server.serving_apart():
        platform = case.platform(server)
        no_pace = Limits(per_batch=50, requests_per_batch=1)
        about = msgspec.structs.replace(platform.about, limits=no_pace)
        monkeypatch.setattr(platform, "about", about, raising=False)
        monkeypatch.setitem(PLATFORMS, key, platform)
        alice = operator(service)
        tenant = Tenant(alice.account_id, alice.campaign_id)

        def integration() -> integrations.Integration:
            return service.read(lambda tx: integrations.get(reading(tx, tenant)))

        def left(email: str) -> bool:
            found = service.read(lambda tx: subscribers.find(reading(tx, tenant), email))
            return found is not None and found.status == "unsubscribed"

        enter_key(alice, key, server)
        made, old = set(server.webhooks), integration()
        assert made
        if is_lost:
            lost = statement("UPDATE integration SET credentials = '1.x.y'", "changes integration")
            service.write(lambda tx: tx.run(lost))
        enter_key(alice, key, server)
        new = integration()
        assert new.status == "active" and new.hook_key != old.hook_key
        assert made.isdisjoint(server.webhooks) is not is_lost
        added = {hook_id: hook for hook_id, hook in server.webhooks.items() if hook_id not in made}
        assert len(added) == len(made) and new.hook_key in str(added)

        email = "ada@example.org"
        alice.subscribe(email)
        until(lambda: case.find(server, email) is not None)
        person = case.find(server, email)
        hooks.leave(server, person)
        keys = EncryptionKeys(service.settings.secret_keys)
        plain = keys.decrypt(new.credentials, row_id=new.id)
        kept = msgspec.json.decode(plain, type=dict[str, str])
        hook = hooks.sign(kept, hooks.body(person), system_clock() // 1000)
        for hook_key, status in ((old.hook_key, 404), (new.hook_key, 200)):
            url = f"{service.url}/hooks/{hook_key}"
            answer = httpx.post(
                url, content=hook.body, headers=hook.headers, params=hook.query, verify=False
            )
            assert answer.status_code == status, answer.text
        until(lambda: left(email))
        alice.web.post("/integrations", do="disconnect", sure="yes")

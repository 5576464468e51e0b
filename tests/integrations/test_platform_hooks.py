"""The address that platforms send webhooks to, with the whole service around it: verified, stored,
answered quickly, applied once, and synced back by the service's own worker.
"""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from honeyguide.api import platform_hooks
from honeyguide.events import signature
from honeyguide.integrations import integrations
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.integrations import NewIntegration
from honeyguide.integrations.platform import Audience
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.tenant import Tenant
from honeyguide.subscribers import subscribers
from tests.support.platforms.generic import GenericTool
from tests.support.readings import reading
from tests.support.service import ENGINES, Service, until
from tests.support.stores import statement
from tests.support.web import operator, text_of


class Connected:
    """A service whose newsletter is connected with the generic tool."""

    def __init__(self, service: Service, tool: GenericTool) -> None:
        self.service = service
        self.tool = tool
        self.operator = operator(service)
        self.tenant = Tenant(self.operator.account_id, self.operator.campaign_id)
        self.key = "a-key-that-nobody-guesses"
        keys = EncryptionKeys(service.settings.secret_keys)
        new = NewIntegration(
            platform="generic",
            credentials={"url": f"{tool.url}/hook", "secret": tool.secret},
            audience=Audience(id="url", name="URL"),
            field_names={SyncField.CODE: "code"},
            code_field="",
            adds_existing=False,
            hook_key=self.key,
        )
        self.operator.make(integrations.connect, keys, new)

    def post(self, event: Any, *, key: str | None = None, **options: Any) -> httpx.Response:
        sent = self.tool.signed(event, **{"at_s": system_clock() // 1000, **options})
        return httpx.post(
            f"{self.service.url}/hooks/{key or self.key}", **sent, timeout=30, verify=False
        )

    def find(self, email: str) -> Any:
        return self.service.read(lambda tx: subscribers.find(reading(tx, self.tenant), email))

    def stored(self) -> int:
        async def find(tx: Any) -> int:
            [row] = await tx.all(statement("SELECT COUNT(*) FROM integration_event"))
            return int(row[0])

        return self.service.read(find)


@pytest.fixture(scope="module", params=ENGINES)
def connected(request: pytest.FixtureRequest) -> Iterator[Connected]:
    tool = GenericTool(signature.new_secret())
    with tool.serving_apart(), Service(request.param, secret_key="ab" * 32) as service:
        yield Connected(service, tool)


def test_somebody_who_joins_there_appears_here_and_gets_a_code_there(connected: Connected) -> None:
    assert connected.post({"type": "joined", "email": "ada@example.org"}).status_code == 200
    until(lambda: connected.find("ada@example.org") is not None)
    ada = connected.find("ada@example.org")
    until(lambda: ada.id in connected.tool.contacts)
    assert connected.tool.contacts[ada.id]["fields"] == {"code": ada.ref_code}
    connected.post({"type": "left", "email": "ada@example.org"})
    until(lambda: connected.find("ada@example.org").status == "unsubscribed")


def test_forged_old_repeated_and_oversized_webhooks_change_nothing(connected: Connected) -> None:
    event = {"type": "joined", "email": "mallory@example.org"}
    before = connected.stored()
    forged = connected.post(event, secret=signature.new_secret())
    assert (forged.status_code, forged.json()) == (401, {"message": "The signature is wrong."})
    assert connected.post(event, at_s=system_clock() // 1000 - 400).status_code == 401
    assert connected.post(event, key="another-key").status_code == 404
    assert (
        httpx.post(f"{connected.service.url}/hooks/{connected.key}", verify=False).status_code
        == 401
    )
    large = {**event, "name": "x" * platform_hooks.MOST_BYTES}
    assert connected.post(large).status_code == 413
    assert connected.stored() == before
    now_s = system_clock() // 1000
    harmless = {"type": "left", "email": "nobody@example.org"}
    for answer in ("Received.", "Duplicate; ignored."):  # and yet it is stored once
        again = connected.post(harmless, at_s=now_s)
        assert (again.status_code, again.json()) == (200, {"message": answer})
    assert connected.stored() == before + 1
    assert connected.find("mallory@example.org") is None
    assert (
        httpx.get(f"{connected.service.url}/hooks/{connected.key}", verify=False).status_code == 200
    )


@pytest.mark.parametrize("status", ["paused", "failed"])
def test_webhooks_that_come_meanwhile_are_kept_until_it_goes_on(
    connected: Connected, status: str
) -> None:
    """The platform does not send them again."""
    email = f"{status}@example.org"
    connected.post({"type": "joined", "email": email})
    until(lambda: connected.find(email) is not None)
    stop = statement(f"UPDATE integration SET status = '{status}'", "changes integration")
    connected.service.write(lambda tx: tx.run(stop))
    before = connected.stored()
    assert connected.post({"type": "left", "email": email}).status_code == 200
    assert connected.stored() == before + 1 and connected.find(email).status == "active"
    connected.operator.make(integrations.set_status, integrations.ACTIVE)
    until(lambda: connected.find(email).status == "unsubscribed")


def test_a_refused_webhook_is_a_sentence_on_the_dashboard(connected: Connected) -> None:
    def shown() -> str:
        return text_of(connected.operator.web.get("/integrations").text)

    def refused_long_ago() -> None:
        ago = statement("UPDATE integration SET refused_hook_ms = 1", "changes integration")
        connected.service.write(lambda tx: tx.run(ago))

    event = {"type": "left", "email": "somebody@example.org"}
    refused_long_ago()
    connected.post(event, secret=signature.new_secret())
    assert "A webhook was not taken" in shown() and "The signature is wrong." in shown()
    refused_long_ago()
    connected.post(event, at_s=system_clock() // 1000 - 400)
    assert "The webhook is more than five minutes old." in shown()
    connected.post(event, secret=signature.new_secret())  # at most one note a minute
    assert "The signature is wrong." not in shown()
    # One that is repeated was taken, and is no trouble.
    refused_long_ago()
    now_s = system_clock() // 1000
    for _ in range(2):
        assert connected.post(event, at_s=now_s).status_code == 200
    assert "The webhook is more than five minutes old." in shown()


def test_the_address_is_answered_in_json_and_counted(connected: Connected) -> None:
    url = f"{connected.service.url}/hooks/{connected.key}"
    with httpx.Client(verify=False) as web:
        assert web.head(url).status_code == 200 and not web.head(url).content
        assert web.get(url).json() == {"message": "Post webhooks to this address."}
        put = web.put(url, content=b"{}")
        assert (put.status_code, put.headers["allow"]) == (405, "GET, POST")
        assert web.post(f"{url}?a=%00", content=b"{}").status_code == 400
        assert web.post(f"{url}/more", content=b"{}").status_code == 404
        counted = web.get(f"{connected.service.url}/metrics").text
    assert 'method="PUT",route="/hooks/{key}",status="405"' in counted
    assert "nobody-guesses" not in counted

"""With another secret key, pages that rest on something stored with the old one say so at once,
and what to do. On both engines.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.moving import fetching
from honeyguide.store.tx import Tx
from tests.support.authenticator import set_up
from tests.support.every_email import about_an_integration
from tests.support.prizes import tenant_of
from tests.support.readings import change_of, reading
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import Operator, WebClient, operator, text_of

SLACK = "https://hooks.slack.com/services/T000/B000/slacksecret"
# about_an_integration encrypts with it.
OLD_KEY, NEW_KEY = "ab" * 32, "cd" * 32


class TwoKeys(NamedTuple):
    """One account, seen with the key that everything was stored with, and with another one."""

    before: WebClient
    after: WebClient
    fetch: str


@pytest.fixture(scope="module", params=ENGINES)
def pages(request: pytest.FixtureRequest) -> Iterator[TwoKeys]:
    with Service(request.param, secret_key=OLD_KEY, work=False) as old:
        alice = operator(old)
        about_an_integration(alice)
        activate = "UPDATE integration SET status = 'active', problem = NULL, adoption = ''"
        old.write(lambda tx: tx.run(statement(activate)))
        saved = alice.web.post("/notices/preferences", url=SLACK)
        assert saved.status_code == 303, text_of(saved.text)
        set_up(alice.web)
        fetch = begin_fetch(alice)
        given = {"database_url": old.database_url, "secret_key": NEW_KEY, "work": False}
        with Service(request.param, **given) as new:
            after = WebClient(new)
            after.plant(alice.web.session)
            yield TwoKeys(alice.web, after, fetch)


def begin_fetch(alice: Operator) -> str:
    keys = EncryptionKeys([bytes.fromhex(OLD_KEY)])

    async def begin(tx: Tx) -> str:
        tenant, now_ms = tenant_of(alice), alice.service.now_ms()
        import_id = await fetching.begin(
            change_of(tx, tenant, now_ms=now_ms), "https://tool.example", None
        )
        fetch = await fetching.get(reading(tx, tenant), import_id)
        await fetching.resume(
            change_of(tx, fetch.tenant), fetch, secret=keys.encrypt("key", row_id=import_id)
        )
        return import_id

    return alice.service.write(begin)


def shown(web: WebClient, path: str) -> str:
    answer = web.get(path)
    assert answer.status_code == 200, answer.text
    return text_of(answer.text)


def test_the_email_tool(pages: TwoKeys) -> None:
    before, after = (shown(web, "/integrations") for web in (pages.before, pages.after))
    assert "Not working" not in before and "secret key" not in before
    assert "Not working" in after and "HONEYGUIDE_SECRET_KEY has changed" in after
    assert "Enter a new key" in after and "No errors" not in after


def test_slack(pages: TwoKeys) -> None:
    before, after = (shown(web, "/notices/preferences") for web in (pages.before, pages.after))
    assert "decrypted" not in before
    assert "HONEYGUIDE_SECRET_KEY has changed. Enter the URL again" in after


def test_the_second_factor(pages: TwoKeys) -> None:
    before, after = (shown(web, "/account/security") for web in (pages.before, pages.after))
    assert "Not working" not in before
    assert "Not working" in after and "HONEYGUIDE_SECRET_KEY has changed. Ask the" in after


def test_an_import_from_an_api(pages: TwoKeys) -> None:
    path = f"/subscribers/import/api/{pages.fetch}"
    before, after = (shown(web, path) for web in (pages.before, pages.after))
    assert "it continues" in before
    assert "it continues" not in after and "HONEYGUIDE_SECRET_KEY has changed" in after
    assert "What was fetched is kept. Go on" in after

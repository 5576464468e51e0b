"""One form in the hands of several processes: of all who use it at the same moment one signs up,
and one that is killed on the way has used nothing up.
"""

import json
import signal
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace
from typing import Any

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.pages.readers import page_branding, signup
from honeyguide.pages.readers.forms import ShownForm
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store import Store
from honeyguide.subscribers import branding
from tests.support.changes import changing
from tests.support.embeds import people
from tests.support.prizes import post_of, tenant_of
from tests.support.races import Work, overlapping
from tests.support.readings import reading
from tests.support.service import Member

FORMS, PROCESSES = 30, 3
# Uses forms, whose hashes are its arguments, each with an address of its own; or dies on the way.
USING = """
import asyncio, json, os, signal, sys
from types import SimpleNamespace
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.readers import page_branding, signup
from honeyguide.pages.readers.forms import ShownForm
from honeyguide.subscribers import branding
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store import open_store
from tests.support.changes import SITE
from tests.support.readings import reads

url, account_id, campaign_id, name, dies = sys.argv[1:6]

async def main():
    store = await open_store(url)
    services = SimpleNamespace(store=store, site=SITE)
    tenant = Tenant(account_id, campaign_id)
    brand = page_branding.of_campaign(await store.read(reads(branding.of, tenant)))
    print("ready", flush=True)
    sys.stdin.readline()
    if dies:
        send = signup.requested_emails.send_hub_link
        async def send_and_die(*args, **named):
            await send(*args, **named)
            os.kill(os.getpid(), signal.SIGKILL)
        signup.requested_emails.send_hub_link = send_and_die
    used = []
    for token_hash in sys.argv[6:]:
        email = f"{name}-{token_hash}@example.org"
        new = NewSubscriber(email=email, origin="signup")
        shown = ShownForm(token_hash, 1, True)
        try:
            address = EmailAddress.parse(email)
            await signup.enter(services, brand, new, address, shown=shown, now_ms=1)
            used.append(token_hash)
        except Invalid:
            pass
    await store.close()
    print(json.dumps(used))

asyncio.run(main())
"""


def start(alice: Member, name: str, hashes: list[str], *, dies: str = "") -> Any:
    url = alice.service.settings.database_url
    arguments = [sys.executable, "-c", USING, url, alice.account_id, alice.campaign_id, name, dies]
    pipe = subprocess.PIPE
    process = subprocess.Popen([*arguments, *hashes], stdin=pipe, stdout=pipe, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def test_of_three_processes_with_the_same_forms_one_uses_each(alice: Member) -> None:
    hashes = [new_id() for _ in range(FORMS)]
    processes = [start(alice, f"p{number}", hashes) for number in range(PROCESSES)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    used = [json.loads(process.communicate(timeout=60)[0]) for process in processes]
    assert Counter(each for share in used for each in share) == dict.fromkeys(hashes, 1)
    winners = {f"p{n}-{each}@example.org" for n, share in enumerate(used) for each in share}
    assert set(people(alice)) == winners
    assert {each.to_email for each in post_of(alice, "hub_link")} == winners


def test_a_process_that_is_killed_before_its_commit_uses_nothing_up(alice: Member) -> None:
    form = new_id()
    killed = start(alice, "killed", [form], dies="dies")
    killed.communicate("go\n", timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert people(alice) == {}
    other = start(alice, "other", [form])
    assert json.loads(other.communicate("go\n", timeout=60)[0]) == [form]
    assert set(people(alice)) == {f"other-{form}@example.org"}


class Overtaken:
    """A store in which somebody else signs up with the same address during the first write."""

    def __init__(self, store: Store, other: Work) -> None:
        self._store, self._other = store, other
        self.writes = 0

    async def write(self, work: Work) -> Any:
        self.writes += 1
        if self.writes > 1:
            return await self._store.write(work)
        _, result = await overlapping(self._store, self._other, work)
        if isinstance(result, Exception):
            raise result
        return result


def test_a_form_with_an_address_that_comes_by_api_at_the_same_moment_is_used(alice: Member) -> None:
    """On PostgreSQL it is refused by a unique index, and tried again with the same form."""
    service, tenant = alice.service, tenant_of(alice)
    site, now_ms = service.services.site, service.now_ms()
    brand = page_branding.of_campaign(service.read(lambda tx: branding.of(reading(tx, tenant))))
    address, shown = EmailAddress("ana@example.org"), ShownForm(new_id(), now_ms, True)
    new = NewSubscriber(email=address.text, origin="signup")
    sign_up = changing(signups.sign_up, site, tenant, now_ms)
    store = Overtaken(service.services.store, lambda tx: sign_up(tx, new))
    services: Any = SimpleNamespace(store=store, site=site)

    async def enter() -> tuple[str, str]:
        first = await signup.enter(services, brand, new, address, shown=shown, now_ms=now_ms)
        writes = store.writes
        again = await signup.enter(services, brand, new, address, shown=shown, now_ms=now_ms)
        assert writes == (1 if service.engine == "sqlite" else 2)
        return first, again

    codes = service.run(enter())
    (shown_code,) = set(codes)
    assert shown_code != people(alice)["ana@example.org"]["ref_code"], "nobody learns of them"
    assert len(post_of(alice, "hub_link")) == 1

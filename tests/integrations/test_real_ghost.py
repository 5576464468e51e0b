"""A real Ghost server, which `make ghost` installs: members, labels, webhooks, and no echo of our
own writes.
"""

import re
from collections.abc import Iterator

import pytest

from honeyguide.kernel.tenant import Tenant
from honeyguide.subscribers import subscribers
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.ghost_server import RealGhost
from tests.support.readings import reading
from tests.support.service import ENGINES, Service, until
from tests.support.web import Operator, operator, text_of

pytestmark = pytest.mark.long
WAIT_S = 120


@pytest.fixture(scope="module")
def ghost() -> Iterator[RealGhost]:
    with RealGhost() as ghost:
        yield ghost


def connect(alice: Operator, ghost: RealGhost) -> None:
    answer = alice.web.post("/integrations/ghost", url=ghost.url, admin_api_key=ghost.admin_api_key)
    sealed = re.search(r'name="sealed" value="([^"]+)"', answer.text)
    audience = re.search(r'name="audience" value="([^"]+)"', answer.text)
    assert sealed and audience, text_of(answer.text)
    answer = alice.web.post("/integrations/ghost", sealed=sealed[1], audience=audience[1])
    assert answer.status_code == 303, text_of(answer.text)
    until(lambda: "First sync" not in text_of(alice.web.get("/integrations").text), WAIT_S)


def find(alice: Operator, email: str) -> Subscriber | None:
    tenant = Tenant(alice.account_id, alice.campaign_id)
    return alice.service.read(lambda tx: subscribers.find(reading(tx, tenant), email))


def becomes(alice: Operator, email: str, status: str) -> Subscriber:
    def is_so() -> bool:
        found = find(alice, email)
        return found is not None and found.status == status

    until(is_so, WAIT_S)
    found = find(alice, email)
    assert found is not None
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_ghost_and_we_agree_and_our_own_writes_do_not_come_back(
    engine: str, ghost: RealGhost
) -> None:
    old, ada, eve, dan = (f"{name}.{engine}@example.org" for name in ("old", "ada", "eve", "dan"))
    ghost.add_member(old, labels=[{"name": "VIP"}])
    with Service(engine, secret_key="ab" * 32) as service:
        alice = operator(service)
        connect(alice, ghost)
        becomes(alice, old, "active")  # was there before we came
        edits = ghost.edits

        member = ghost.add_member(ada, name="Ada")
        code = becomes(alice, ada, "active").ref_code
        alice.subscribe(eve, referrer_code=code)
        until(lambda: ghost.labels(ada) == ["Advocate"], WAIT_S)
        until(lambda: ghost.labels(eve) == ["Referred"], WAIT_S)
        assert ghost.labels(old) == ["VIP"]

        moved = f"ada.new.{engine}@example.org"
        ghost.change_member(member["id"], email=moved)
        becomes(alice, moved, "active")
        ghost.change_member(member["id"], newsletters=[])
        becomes(alice, moved, "unsubscribed")
        found = ghost.member(eve)
        assert found is not None
        ghost.delete_member(found["id"])
        becomes(alice, eve, "unsubscribed")

        # Ghost reports what we wrote, too. Whoever joins after all that is the last word.
        ghost.add_member(dan)
        becomes(alice, dan, "active")
        until(
            lambda: "Everything is written" in text_of(alice.web.get("/integrations").text), WAIT_S
        )
        assert ghost.edits == edits + 3  # Ada became an advocate, and we changed her twice above
        assert ghost.labels(moved) == ["Advocate"]
        assert (ghost.member(moved) or {})["newsletters"] == [] and ghost.member(eve) is None

        assert ghost.webhooks == 3
        alice.web.post("/integrations", do="disconnect", sure="yes")
        assert ghost.webhooks == 0

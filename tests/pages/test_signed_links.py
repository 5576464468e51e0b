"""Links that need no login: without our signature for the same purpose, they open nothing."""

import base64
from collections.abc import Iterator
from dataclasses import replace

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.mail import notification_choices
from honeyguide.mail.notification_kinds import BUDGET
from honeyguide.pages.readers import start
from honeyguide.subscribers import hub, reader_links
from tests.support.newsletter import Newsletter
from tests.support.readings import in_account
from tests.support.service import Service
from tests.support.tables import Dump, dump
from tests.support.web import operator

PURPOSES = ("turn off notifications", "stop emails", "confirm", "thanks", "form signup", "")


def as_token(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def forgeries(site: Site, purpose: str, good: str) -> Iterator[str]:
    """Tokens with the content of a good one, made by somebody who knows all but our secret."""
    content = site.unseal(purpose, good)
    assert content is not None
    yield from (as_token(content), as_token(content + bytes(16)), as_token(bytes(16) + content))
    for other in PURPOSES:
        if other != purpose:
            yield site.seal(other, content)
    for secret in (b"", bytes(32), site.secret[::-1]):
        yield replace(site, secret=secret).seal(purpose, content)
    whole = base64.urlsafe_b64decode(good + "=" * (-len(good) % 4))
    for n in range(len(whole)):
        yield as_token(whole[:n] + bytes([whole[n] ^ 1]) + whole[n + 1 :])
    yield from (good[:-1], good[:-4], good[:8], good + "A", good + good, "x")


def state(service: Service) -> Dump:
    """All that a link could change."""
    names = ("subscriber", "advocate", "email_stop", "notification_choice")
    tables = dump(service)
    return {name: sorted(tables[name], key=str) for name in names}


def test_notifications_are_turned_off_by_our_own_links_only(service: Service) -> None:
    alice, site = operator(service), service.services.site
    good = notification_choices.turn_off_url(
        site, alice.account_id, BUDGET, link_version=0, now_ms=service.now_ms()
    ).rpartition("/")[2]
    before = state(service)
    for token in forgeries(site, "turn off notifications", good):
        for method in ("GET", "POST"):
            answer = alice.web.http.request(method, f"/notices/off/{token}")
            assert answer.status_code == 404, token
    assert state(service) == before
    assert alice.web.http.get(f"/notices/off/{good}").status_code == 200
    assert state(service) == before, "mail scanners open every link"
    assert alice.web.http.post(f"/notices/off/{good}").status_code == 200
    chosen = service.read(
        lambda tx: notification_choices.of_account(in_account(tx, alice.account_id))
    )
    assert [name for name, choice in chosen.items() if choice.delivery == "off"] == ["budget"]


@pytest.mark.parametrize("kind", ["stop", "confirm", "start", "hub"])
def test_a_readers_link_that_we_did_not_sign_opens_nothing(wax: Newsletter, kind: str) -> None:
    site, service = wax.service.services.site, wax.service
    reader = wax.advocate(0)
    until_ms = service.now_ms() + DAY_MS
    path, purpose, good = {
        "stop": ("/stop", "stop emails", reader_links.stop_token(site, reader.ref_code)),
        "confirm": (
            "/confirm",
            "confirm",
            reader_links.confirm_token(site, reader, until_ms),
        ),
        "start": ("/hub/start", "thanks", start.token(site, reader.ref_code)),
        "hub": ("/hub", "", hub.token(site, reader.id, reader.ref_code)),
    }[kind]
    found = list(forgeries(site, purpose, good)) if purpose else list(_hub_forgeries(site, good))
    before = state(service)
    for token in found:
        for method in ("GET", "POST"):
            answer = wax.visitor.request(method, f"{path}/{token}", data={"email": reader.email})
            assert answer.status_code in (404, 405, 410), token
            assert reader.email not in answer.text
        if kind == "hub":
            for page in ("leave", "choices"):
                assert wax.visitor.post(f"{path}/{token}/{page}").status_code == 404
    assert state(service) == before
    assert wax.visitor.get(f"{path}/{good}").status_code == 200


def _hub_forgeries(site: Site, good: str) -> Iterator[str]:
    code = good[:-32]
    yield from (code, code + "0" * 32, good[:-1], good + "0", good.upper(), good[:20])
    for n in range(len(good)):
        yield good[:n] + ("0" if good[n] != "0" else "1") + good[n + 1 :]


def test_a_confirmation_says_when_it_ends(wax: Newsletter) -> None:
    site, reader = wax.service.services.site, wax.advocate(0)
    now_ms = wax.service.now_ms()
    token = reader_links.confirm_token(site, reader, now_ms)
    signed = reader_links.read_confirm_token(site, token)
    assert signed is not None and signed[:3] == (reader.ref_code, 0, now_ms)
    assert wax.visitor.get(f"/confirm/{token}").status_code == 410

"""API keys that are rotated or revoked twice at the same moment, or during a request; on both
engines.
"""

import socket

import pytest

from honeyguide.accounts import keys
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.store.tx import Tx
from tests.accounts.test_key_rotation import listed, status
from tests.support.changes import changing
from tests.support.prizes import tenant_of
from tests.support.races import overlapping
from tests.support.service import Member, until


@pytest.mark.parametrize("second", ["rotate", "revoke"])
def test_a_key_rotated_twice_or_revoked_at_the_same_moment(alice: Member, second: str) -> None:
    service = alice.service
    (key,) = listed(alice).values()
    where = (service.services.site, tenant_of(alice), service.now_ms())
    rotate, revoke = changing(keys.rotate, *where), changing(keys.revoke, *where)

    async def rotating(tx: Tx) -> str:
        return await rotate(tx, key.id, overlap_ms=DAY_MS)

    async def revoking(tx: Tx) -> None:
        await revoke(tx, key.id)

    work = {"rotate": rotating, "revoke": revoking}
    one, other = service.run(overlapping(service.services.store, work[second], rotating))
    assert not isinstance(one, Exception) and isinstance(other, Invalid)
    assert len(listed(alice)) == (2 if second == "rotate" else 1)
    assert status(alice, alice.key) == (200 if second == "rotate" else 401)


def test_a_key_revoked_during_a_request_ends_with_it(alice: Member) -> None:
    """The request was let in before: it is done whole. The next one is refused."""
    (key,) = listed(alice).values()
    body = b'{"email":"ana@example.org"}'
    head = (
        f"POST {alice.v1}/subscribers HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: {alice.key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    used = alice.service.now_ms()
    with socket.create_connection(("127.0.0.1", alice.service.port), timeout=20) as connection:
        connection.sendall(head.encode() + body[:10])
        until(lambda: (listed(alice)[key.prefix].last_used_ms or 0) >= used - 1)
        alice.make(keys.revoke, key.id)
        connection.sendall(body[10:])
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 201")
    assert status(alice, alice.key) == 401
    other = Member(
        alice.service,
        alice.account_id,
        alice.campaign_id,
        alice.make(keys.create, name="other"),
    )
    assert other.total() == 1

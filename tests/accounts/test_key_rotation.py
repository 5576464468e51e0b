"""API keys that expire or are replaced by others."""

from collections.abc import Iterator

import pytest

from honeyguide.accounts import keys
from honeyguide.accounts.key_states import SOON_MS, Key, KeyState, expires_in_days
from honeyguide.accounts.permissions import Right
from honeyguide.events import change_log
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.errors import Invalid, Missing
from tests.support.readings import in_account
from tests.support.service import Member
from tests.support.stores import OpenStore

LIVING = Key("id", "Tool", "hg_live_1234", 0, None, None, None, None, None)


@pytest.fixture
def clock(alice: Member) -> Iterator[Member]:
    yield alice
    alice.service.set_clock(0)


def status(who: Member, key: str) -> int:
    return who.get("/v1/campaigns", headers={"X-Api-Key": key}).status_code


def listed(who: Member) -> dict[str, Key]:
    found = who.service.read(lambda tx: keys.of_account(tx, who.account_id))
    return {key.prefix: key for key in found}


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        ({}, KeyState.ACTIVE),
        ({"expires_ms": 10 * DAY_MS + SOON_MS + 1}, KeyState.ACTIVE),
        ({"expires_ms": 10 * DAY_MS + SOON_MS}, KeyState.EXPIRES_SOON),
        ({"expires_ms": 10 * DAY_MS + 1}, KeyState.EXPIRES_SOON),
        ({"expires_ms": 10 * DAY_MS}, KeyState.EXPIRED),
        ({"expires_ms": 11 * DAY_MS, "replaced_by": "new"}, KeyState.REPLACED),
        ({"expires_ms": 10 * DAY_MS, "replaced_by": "new"}, KeyState.EXPIRED),
        ({"expires_ms": 1, "revoked_ms": 1}, KeyState.REVOKED),
        ({"revoked_ms": 1, "replaced_by": "new"}, KeyState.REVOKED),
    ],
)
def test_the_state_of_a_key_follows_from_its_times(
    changed: dict[str, int], state: KeyState
) -> None:
    key = LIVING._replace(**changed)  # type: ignore[arg-type]
    assert key.state(10 * DAY_MS) == state
    assert state.works == (state not in ("expired", "revoked"))


@pytest.mark.parametrize("days", [0, -1, 3_651])
def test_a_key_lives_between_a_day_and_ten_years(days: int) -> None:
    assert expires_in_days(1, 5) == 5 + DAY_MS
    with pytest.raises(Invalid, match=r"1 to 3,650 days"):
        expires_in_days(days, 0)


def test_an_expired_key_is_refused_and_told_so(clock: Member) -> None:
    alice, now_ms = clock, clock.service.now_ms()
    key = alice.make(keys.create, name="short", expires_ms=now_ms + HOUR_MS)
    assert status(alice, key) == 200
    alice.service.set_clock(3_700)
    answer = alice.get("/v1/campaigns", headers={"X-Api-Key": key})
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    assert "This API key expired at 20" in answer.json()["error"]
    assert "/account/keys" in answer.json()["error"]
    assert "x-ratelimit-limit" not in answer.headers
    used_ms = listed(alice)[key[:12]].last_used_ms
    assert used_ms is None or used_ms < now_ms + HOUR_MS, "a refused request is no use of it"
    other = key[:-1] + ("a" if key[-1] != "a" else "b")
    wrong = alice.get("/v1/campaigns", headers={"X-Api-Key": other}).json()["error"]
    assert "expired" not in wrong, "only whoever has the key learns that"
    with pytest.raises(Invalid, match="must be in the future"):
        alice.make(keys.create, name="dead", expires_ms=alice.service.now_ms())


def test_a_rotated_key_works_until_the_overlap_ends(clock: Member) -> None:
    alice, now_ms = clock, clock.service.now_ms()
    life = {"scopes": [Right.READ, Right.MONEY], "expires_ms": now_ms + 30 * DAY_MS}
    old = alice.make(keys.create, name="Tool", **life)
    old_id = listed(alice)[old[:12]].id
    new = alice.make(keys.rotate, old_id, overlap_ms=HOUR_MS)
    assert (status(alice, old), status(alice, new)) == (200, 200)
    made = listed(alice)[new[:12]]
    assert (made.name, made.scopes) == ("Tool", "read money")
    assert (
        made.expires_ms is not None and made.expires_ms - made.created_ms >= 30 * DAY_MS - HOUR_MS
    )
    replaced = listed(alice)[old[:12]]
    assert replaced.replaced_by == made.id
    assert replaced.state(alice.service.now_ms()) == KeyState.REPLACED
    with pytest.raises(Invalid, match="being replaced already"):
        alice.make(keys.rotate, old_id, overlap_ms=0)
    assert len(listed(alice)) == 3, "a refused rotation makes no key"
    alice.service.set_clock(3_700)
    assert (status(alice, old), status(alice, new)) == (401, 200)
    entry = alice.service.read(
        lambda tx: change_log.of_account(in_account(tx, alice.account_id), most=1)
    )[0]
    assert (entry.action, entry.subject_id) == ("api_key.rotated", old_id)
    assert new not in str(entry) and made.id in str(entry)


def test_a_key_that_is_rotated_late_lives_as_long_as_the_old_one_did(clock: Member) -> None:
    alice, now_ms = clock, clock.service.now_ms()
    old = alice.make(keys.create, name="Tool", expires_ms=now_ms + 30 * DAY_MS)
    alice.service.set_clock(20 * DAY_MS / 1000)
    new = alice.make(keys.rotate, listed(alice)[old[:12]].id, overlap_ms=0)
    made = listed(alice)[new[:12]]
    assert made.expires_ms is not None
    assert 29 * DAY_MS < made.expires_ms - made.created_ms <= 30 * DAY_MS
    alice.service.set_clock(31 * DAY_MS / 1000)
    assert status(alice, new) == 200


def test_rotating_at_once_ends_the_old_key_and_never_lengthens_its_life(alice: Member) -> None:
    (first,) = listed(alice).values()
    new = alice.make(keys.rotate, first.id, overlap_ms=0)
    assert (status(alice, alice.key), status(alice, new)) == (401, 200)
    brief = alice.make(keys.create, name="b", expires_ms=alice.service.now_ms() + HOUR_MS)
    before = listed(alice)[brief[:12]]
    alice.make(keys.rotate, before.id, overlap_ms=DAY_MS)
    assert listed(alice)[brief[:12]].expires_ms == before.expires_ms


def test_what_is_revoked_unknown_or_elsewhere_is_not_rotated(alice: Member, bob: Member) -> None:
    (key,) = listed(alice).values()
    with pytest.raises(Missing):
        bob.make(keys.rotate, key.id, overlap_ms=0)
    for overlap_ms in (-1, 7 * DAY_MS + 1):
        with pytest.raises(Invalid, match="up to 7 days"):
            alice.make(keys.rotate, key.id, overlap_ms=overlap_ms)
    alice.make(keys.revoke, key.id)
    with pytest.raises(Invalid, match="revoked"):
        alice.make(keys.rotate, key.id, overlap_ms=0)
    assert len(listed(alice)) == len(listed(bob)) == 1


def test_processes_of_the_version_before_refuse_keys_that_have_limits() -> None:
    """They call the function `admit`, and know nothing of scopes and expiry."""
    with OpenStore("postgres") as opened:
        opened.account_with_key()
        ask = "SELECT a.account_id FROM api_key k, LATERAL admit(k.digest, 5, 60, 60000) a"
        assert len(opened.ask(ask)) == 1
        for limit in ("scopes = 'read', expires_ms = NULL", "scopes = NULL, expires_ms = 1000"):
            opened.do(f"UPDATE api_key SET {limit}")
            assert opened.ask(ask) == []

"""The notification of an API key that is in use and expires in a week."""

import pytest

from honeyguide.accounts import keys
from honeyguide.accounts.key_states import SOON_MS
from honeyguide.accounts.keys import IN_USE_MS
from honeyguide.kernel.clock import DAY_MS
from tests.support.service import Member, Service
from tests.support.stores import statement
from tests.support.web import Operator, operator

NOW_MS = 1_900_000_000_000
AGED = statement(
    "UPDATE api_key SET created_ms = :created_ms, last_used_ms = :used_ms, "
    "expires_ms = :expires_ms WHERE account_id = :id"
)


def age(who: Member, *, expires_ms: int, used_ms: int | None = NOW_MS, created_ms: int = 1) -> None:
    times = {"expires_ms": expires_ms, "used_ms": used_ms, "created_ms": created_ms}
    who.service.write(lambda tx: tx.run(AGED, id=who.account_id, **times))


def is_due(who: Member) -> bool:
    found = who.service.read(lambda tx: keys.expiring(tx.at(NOW_MS), most=1000))
    return who.account_id in [key.account_id for key in found]


@pytest.mark.parametrize(
    ("times", "due"),
    [
        ({"expires_ms": NOW_MS + SOON_MS}, True),
        ({"expires_ms": NOW_MS + SOON_MS + 1}, False),
        ({"expires_ms": NOW_MS + 1}, True),
        ({"expires_ms": NOW_MS}, False),
        ({"expires_ms": NOW_MS + 1, "used_ms": None}, False),
        ({"expires_ms": NOW_MS + 1, "used_ms": NOW_MS - IN_USE_MS}, True),
        ({"expires_ms": NOW_MS + 1, "used_ms": NOW_MS - IN_USE_MS - 1}, False),
        ({"expires_ms": NOW_MS + DAY_MS, "created_ms": NOW_MS - DAY_MS}, False),
    ],
)
def test_a_key_in_use_is_due_a_week_before_it_expires(
    alice: Member, times: dict[str, int], due: bool
) -> None:
    age(alice, **times)
    assert is_due(alice) == due


@pytest.mark.parametrize("unit", [keys.revoke, keys.rotate])
def test_nobody_is_warned_of_a_key_that_was_revoked_or_rotated(alice: Member, unit: object) -> None:
    (key,) = alice.service.read(lambda tx: keys.of_account(tx, alice.account_id))
    age(alice, expires_ms=NOW_MS + 1)
    assert is_due(alice)
    due = alice.service.read(lambda tx: keys.expiring(tx.at(NOW_MS), most=1000))
    (found,) = [each for each in due if each.id == key.id]
    if unit is keys.revoke:
        alice.make(keys.revoke, key.id)
    else:
        alice.make(keys.rotate, key.id, overlap_ms=0)
    assert not is_due(alice)
    alice.make(keys.warn_of_end, found)
    assert notices(alice) == []


def test_a_key_that_was_rotated_and_still_works_is_never_found(alice: Member) -> None:
    """It cannot be warned of, so it would be found again without end."""
    now_ms = alice.service.now_ms()
    (key,) = alice.service.read(lambda tx: keys.of_account(tx, alice.account_id))
    age(alice, expires_ms=now_ms + 2 * DAY_MS, used_ms=now_ms)
    alice.make(keys.rotate, key.id, overlap_ms=DAY_MS)
    due = alice.service.read(lambda tx: keys.expiring(tx.at(now_ms), most=1000))
    assert alice.account_id not in [each.account_id for each in due]


def notices(who: Member) -> list[str]:
    sql = statement("SELECT kind FROM notice WHERE account_id = :id")
    return [row[0] for row in who.service.read(lambda tx: tx.all(sql, id=who.account_id))]


def test_the_operator_is_notified_once_and_led_to_the_page(service: Service) -> None:
    kim: Operator = operator(service)
    now_ms = service.now_ms()
    age(kim, expires_ms=now_ms + 2 * DAY_MS, used_ms=now_ms)
    service.run_jobs()
    service.run_jobs()
    page = kim.web.get("/notices").text
    assert page.count("Your API key test expires on ") == 1
    assert 'href="/account/keys"' in page
    due = service.read(lambda tx: keys.expiring(tx.at(service.now_ms()), most=1000))
    assert kim.account_id not in [each.account_id for each in due], "nothing is left to find"

"""Rewards that are codes: shared ones, pools, those who wait for a code, and the owner who hears
that few are left.
"""

import pytest

from honeyguide.kernel.paging import Page
from honeyguide.mail import notifications
from honeyguide.rewards import coupons, earned_rewards
from tests.support.prizes import advocate, catch_up, earned_by, offer, post_of
from tests.support.readings import in_account
from tests.support.service import Member


def test_a_shared_code_goes_to_everybody_and_a_pool_gives_each_code_once_in_order(
    alice: Member,
) -> None:
    offer(alice, name="shared", kind="coupon", coupon_code="ALL")
    pool = offer(alice, name="pool", kind="coupon", coupon_codes=["A", "B", "A", " B "])
    assert (pool["coupon_codes_total"], pool["coupon_codes_left"]) == (2, 2)
    people = [advocate(alice, 1, f"a{n}@example.org") for n in range(3)]
    codes = [
        {
            earned["name"]: (earned["status"], earned["coupon_code"])
            for earned in earned_by(alice, who)
        }
        for who in people
    ]
    assert [each["shared"] for each in codes] == [("unlocked", "ALL")] * 3
    assert [each["pool"] for each in codes] == [
        ("unlocked", "A"),
        ("unlocked", "B"),
        ("out_of_stock", None),
    ]


def test_codes_added_later_go_to_those_who_wait_in_their_order_and_then_to_newcomers(
    alice: Member,
) -> None:
    pool = offer(alice, kind="coupon", coupon_codes=[])
    people = [advocate(alice, 1, f"a{n}@example.org") for n in range(3)]
    path = f"{alice.v1}/rewards/{pool['uuid']}"
    assert [earned_by(alice, who)[0]["status"] for who in people] == ["out_of_stock"] * 3
    assert post_of(alice, "reward_unlocked") == []
    filled = alice.put(path, {"coupon_codes": ["A", "B"]}).json()["reward"]
    assert (filled["coupon_codes_total"], filled["coupon_codes_left"]) == (2, 0)
    assert [earned_by(alice, who)[0]["coupon_code"] for who in people] == ["A", "B", None]
    assert [email.to_email for email in post_of(alice, "reward_unlocked")] == [
        "a1@example.org",
        "a0@example.org",
    ]
    again = alice.put(path, {"coupon_codes": ["A", "C", "D"]}).json()["reward"]
    assert (again["coupon_codes_total"], again["coupon_codes_left"]) == (4, 1)
    late = advocate(alice, 1, "late@example.org")
    assert [earned_by(alice, who)[0]["coupon_code"] for who in (*people, late)] == [
        "A",
        "B",
        "C",
        "D",
    ]


def test_a_long_queue_is_served_by_the_background_work_and_nobody_overtakes(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earned_rewards, "FILL_BATCH", 2)
    pool = offer(alice, kind="coupon", coupon_codes=[])
    people = [advocate(alice, 1, f"a{n}@example.org") for n in range(5)]
    alice.put(f"{alice.v1}/rewards/{pool['uuid']}", {"coupon_codes": [str(n) for n in range(5)]})
    late = advocate(alice, 1, "late@example.org")
    assert earned_by(alice, late)[0]["status"] == "out_of_stock"
    catch_up(alice)
    assert [earned_by(alice, who)[0]["coupon_code"] for who in (*people, late)] == [
        "0",
        "1",
        "2",
        "3",
        "4",
        None,
    ]


def test_the_owner_hears_once_that_codes_run_out_and_again_after_a_refill(alice: Member) -> None:
    pool = offer(alice, kind="coupon", coupon_codes=[str(n) for n in range(8)])

    def notification_counts() -> tuple[int, int]:
        return len(post_of(alice, "reward_low_stock")), len(post_of(alice, "reward_out_of_stock"))

    ends = []
    for n in range(9):
        advocate(alice, 1, f"a{n}@example.org")
        ends.append(notification_counts())
    assert ends == [(0, 0), (0, 0), (1, 0), (1, 0), (1, 0), (1, 0), (1, 0), (1, 1), (1, 1)]
    alice.put(f"{alice.v1}/rewards/{pool['uuid']}", {"coupon_codes": [f"n{n}" for n in range(8)]})
    for n in range(2):
        advocate(alice, 1, f"b{n}@example.org")
    assert notification_counts() == (2, 1)
    rung = alice.service.read(
        lambda tx: notifications.page_of(in_account(tx, alice.account_id), Page(1, 9))
    )
    assert sorted(each.notification.kind for each in rung) == [
        "first_referral",
        "reward_low_stock",
        "reward_low_stock",
        "reward_out_of_stock",
    ]


def test_a_csv_of_codes_is_read_with_or_without_its_heading() -> None:
    assert coupons.read_codes("\ufeffcode,note\r\nA1,first\r\n\r\n B2 ,\r\n") == ["A1", "B2"]
    assert coupons.read_codes('A1\n"B,2"\n') == ["A1", "B,2"]
    assert coupons.read_codes("") == []

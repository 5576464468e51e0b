"""Physical rewards that were claimed with a postal address."""

from __future__ import annotations

from typing import Any

from tests.support.prizes import advocate, earned_by
from tests.support.service import Member

ADDRESS = {
    "name": "Ana Lopes",
    "line1": "1 Hive Lane",
    "city": "Porto",
    "postcode": "4000-001",
    "country": "Portugal",
    "phone": "+351 22 555 0100",
}


def listed(member: Member, query: str = "") -> list[dict[str, Any]]:
    answer = member.get(f"{member.v1}/shipments{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()["shipments"]  # type: ignore[no-any-return]


def claim(member: Member, email: str, **redeem: Any) -> dict[str, Any]:
    """Somebody earns everything for one friend, and claims the first of it."""
    ana = advocate(member, 1, email)
    (earned, *_) = earned_by(member, ana)
    answer = member.post(
        f"{member.v1}/rewards/{earned['uuid']}/redeem", {"shipping_details": ADDRESS, **redeem}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["reward"]  # type: ignore[no-any-return]

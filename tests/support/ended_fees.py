"""Readers of a partner whom the owner's team unsubscribed, blocked or erased before the fee."""

from __future__ import annotations

from typing import Any

from tests.support import partner_network
from tests.support.service import Member
from tests.support.web import Operator

_numbers = iter(range(1, 1_000_000))


def held(owner: Member, partner: Member | None = None) -> dict[str, Any]:
    """What a partner joined: a program with a holding period."""
    program = partner_network.offer(
        owner, referral_pending_duration_enabled=True, referral_pending_duration=14
    )
    path = f"/v2/partner_programs/{program['uuid']}/verification"
    asked = {"rule": "none", "screening": "flexible", "origins": "all", "first_look": None}
    assert owner.put(path, asked).status_code == 200
    return partner_network.join(partner or owner.service.member("bob"), program)


def reader(owner: Member, joined: dict[str, Any]) -> str:
    email = f"held{next(_numbers)}@example.org"
    return str(owner.subscribe(email, referrer_code=joined["ref_code"])["uuid"])


def unsubscribe(owner: Operator, reader_id: str) -> None:
    path = f"/subscribers/{reader_id}"
    sent = owner.web.post(f"{path}/status", page=path, status="unsubscribed")
    assert sent.status_code == 303, sent.text


def ended(owner: Operator) -> str:
    found = reader(owner, held(owner))
    unsubscribe(owner, found)
    return found

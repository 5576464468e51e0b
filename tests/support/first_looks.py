"""A partner whose readers the owner is asked to look at."""

from __future__ import annotations

from typing import Any

from honeyguide.signups import first_looks
from honeyguide.work import money
from tests.support import partner_network
from tests.support.service import Member, Service

FIRST = 3


def begin(owner: Member, partner: Member, **fields: Any) -> dict[str, Any]:
    """What the partner joined: a program of which three referrals count without a look."""
    program = partner_network.offer(owner, **fields)
    path = f"/v2/partner_programs/{program['uuid']}/verification"
    asked = {"rule": "none", "screening": "flexible", "origins": "all", "first_look": FIRST}
    answer = owner.put(path, asked)
    assert answer.status_code == 200, answer.text
    return partner_network.join(partner, program)


def bring(owner: Member, joined: dict[str, Any], n: int, host: str = "example.org") -> None:
    """So many readers, of whom three count; the others wait."""
    for _ in range(n):
        number = next(_numbers)
        owner.subscribe(f"reader{number}@{host}", referrer_code=joined["ref_code"])
    run_jobs(owner.service)


def asked(owner: Member, n: int = FIRST + 2) -> str:
    """The look that the owner is asked for."""
    joined = begin(owner, owner.service.member("bob"))
    bring(owner, joined, n)
    return str(joined["uuid"])


def run_jobs(service: Service) -> None:
    names = (money.VERIFYING, first_looks.REFUSING, first_looks.ASKING)
    for name in names:
        for job in service.services.loop.jobs:
            if job.name == name:
                service.run_job(job)


_numbers = iter(range(1, 1_000_000))

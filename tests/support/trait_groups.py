"""A group over a whole program in a running service: it is found, and the owner is asked."""

from __future__ import annotations

import itertools
from typing import Any

from honeyguide.signups import group_looks
from tests.support.partner_network import join, offer
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator

DOMAIN = "quiet-harbor.example"
_NAMES_TEXT = """
anna.berg ben.holm cleo.dubois dora.klein emil.roth fred.mason gina.rossi hugo.leroy
"""
NAMES = _NAMES_TEXT.split()
_ASK_NOW = statement("UPDATE program_look SET since_ms = 1", "changes program_look")
_GROUPS = statement("SELECT id FROM trait_group WHERE account_id = :id ORDER BY id")
_APPROVED = statement("SELECT id FROM trait_group WHERE id = :id AND approved_people = people")
_numbers = itertools.count(1)


def look(service: Service) -> None:
    """Both jobs, without the minutes that the second one waits."""
    for name in (group_looks.LOOKING, group_looks.LOOKING_AT_PROGRAMS):
        (job,) = [job for job in service.services.loop.jobs if job.name == name]
        service.run_job(job)
        service.write(lambda tx: tx.run(_ASK_NOW))


def group_ids(owner: Operator) -> list[str]:
    found = owner.service.read(lambda tx: tx.all(_GROUPS, id=owner.account_id))
    return [row[0] for row in found]


def is_approved(owner: Operator, group_id: str) -> bool:
    found = owner.service.read(lambda tx: tx.all(_APPROVED, id=group_id))
    return found == [(group_id,)]


def partner_of(owner: Operator, program: dict[str, Any]) -> str:
    """The code of a new partner."""
    code: str = join(owner.service.member(f"partner{next(_numbers)}"), program)["ref_code"]
    return code


def paid_program(owner: Operator) -> dict[str, Any]:
    program = offer(
        owner, cpa=2.5, referral_pending_duration_enabled=True, referral_pending_duration=14
    )
    path = f"/v2/partner_programs/{program['uuid']}/verification"
    chosen = {"rule": "none", "screening": "strong"}
    assert owner.put(path, chosen).status_code == 200
    return program


def come(owner: Operator, code: str, *emails: str, **fields: Any) -> None:
    for email in emails:
        given = {"status": "confirmed", **fields}
        owner.subscribe(email, referrer_code=code, **given)


def group(owner: Operator) -> dict[str, Any]:
    """The form that says that a group looks right."""
    code = partner_of(owner, paid_program(owner))
    come(owner, code, *(f"{name}@{DOMAIN}" for name in NAMES))
    look(owner.service)
    look(owner.service)
    (group_id,) = group_ids(owner)
    return {"path": "/review/cards/group", "subject": group_id, "group": group_id}

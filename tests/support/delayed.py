"""Delayed actions of tests: asked for on a page, undone, and done without waiting for a minute."""

import re
from collections.abc import Callable
from typing import Any

from honeyguide.kernel.tenant import Tenant
from honeyguide.signups import delayed_actions
from honeyguide.signups.delayed_actions import DelayedAction
from tests.support import belongings, claims, first_looks
from tests.support.readings import reading
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.tables import dump
from tests.support.team import Colleague
from tests.support.web import Operator, text_of

Fields = dict[str, Any]
"""Of a form; `path` is where it goes, `subject` what it is about."""
MAKE_DUE = statement("UPDATE delayed_action SET due_ms = 1", "changes delayed_action")


def pass_minute(service: Service) -> None:
    """Makes all that waits due, and runs the job that does it."""
    service.write(lambda tx: tx.run(MAKE_DUE))
    run_job(service)


def run_job(service: Service) -> None:
    (job,) = [job for job in service.services.loop.jobs if job.name == delayed_actions.APPLYING]
    service.run_job(job)


def due_of(service: Service, now_ms: int) -> list[DelayedAction]:
    return service.read(lambda tx: delayed_actions.due(tx.at(now_ms), most=1_000))


def referral(owner: Operator) -> Fields:
    subscriber_id = belongings.pending(owner)
    return {"path": f"/subscribers/{subscriber_id}", "subject": subscriber_id}


def reward(approval: str) -> Callable[[Operator], Fields]:
    def make(owner: Operator) -> Fields:
        subscriber_id, earned = belongings.earned(owner, approval)
        path = f"/subscribers/{subscriber_id}/rewards"
        return {"path": path, "subject": earned, "earned": earned}

    return make


def look(owner: Operator) -> Fields:
    asked = first_looks.asked(owner)
    return {"path": "/review/looks", "subject": asked, "look": asked}


def claim(owner: Operator) -> Fields:
    earned, subscriber_id = claims.claimed(owner)
    path = f"/subscribers/{subscriber_id}/rewards"
    return {"path": path, "subject": earned, "earned": earned, "reason": "Later"}


def note(owner: Operator) -> Fields:
    subscriber_id, note_id = belongings.noted(owner)
    return {"path": f"/subscribers/{subscriber_id}/notes", "subject": note_id, "note_id": note_id}


def saved_filter(owner: Operator) -> Fields:
    belongings.subscriber(owner)
    owner.service.run_jobs()  # counts the subscriber: the page of nobody has no filters
    filter_id = belongings.saved_filter(owner)
    return {"path": "/subscribers/filters", "subject": filter_id, "id": filter_id}


def is_gone(table: str) -> Callable[[Operator, Fields], bool]:
    count = statement(f"SELECT COUNT(*) AS n FROM {table} WHERE id = :id")

    def check(owner: Operator, made: Fields) -> bool:
        return owner.service.read(lambda tx: tx.all(count, id=made["subject"])) == [(0,)]

    return check


def ask(member: Operator | Colleague, made: Fields, **changed: str) -> str:
    """What the next page says."""
    fields = {name: value for name, value in made.items() if name not in ("path", "subject")}
    answer = member.web.post(made["path"], page="/settings", **{**fields, **changed})
    assert answer.status_code == 303, text_of(answer.text)
    return member.web.get(answer.headers["location"]).text


def person(made: Fields) -> str:
    return "/".join(made["path"].split("/")[:3])


def action_of(owner: Operator, made: Fields) -> DelayedAction | None:
    tenant = Tenant(owner.account_id, owner.campaign_id)
    found = owner.service.read(
        lambda tx: delayed_actions.of_subjects(reading(tx, tenant), [made["subject"]])
    )
    return found.get(made["subject"])


def undo(owner: Operator, action: str) -> str:
    answer = owner.web.post("/account/undo", page="/settings", action=action, back="/rewards")
    assert (answer.status_code, answer.headers["location"]) == (303, "/rewards")
    return text_of(owner.web.get("/rewards").text)


def offered(page: str) -> str:
    """What the flash message would undo."""
    (found,) = re.findall(r'class="toast flash".*?name="action" value="(\S+)"', page, re.DOTALL)
    return str(found)


def written(service: Service) -> dict[str, Any]:
    """Everything but delayed actions and what pages and jobs note by the way."""
    left_out = ("delayed_action", "session", "job_lease", "attempt")
    return {table: rows for table, rows in dump(service).items() if not table.startswith(left_out)}


def notices(owner: Operator) -> list[str]:
    read = statement(
        "SELECT sentence FROM notice WHERE account_id = :id AND kind = 'action_dropped'"
    )
    return [row[0] for row in owner.service.read(lambda tx: tx.all(read, id=owner.account_id))]

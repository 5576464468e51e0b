"""The checklist on Home: what a new account does first, and which of it was really done."""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response

from honeyguide.accounts import accounts
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.rewards import rewards
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import branding, statistics


class Step(NamedTuple):
    name: str
    detail: str
    path: str
    action: str
    is_done: bool
    is_optional: bool = False


class ChecklistFacts(NamedTuple):
    is_dismissed: int
    has_imported: int
    """By an import that was started."""
    has_block: int
    has_integration: int
    has_landing_page: int


_sql = beside(__file__)
_DONE = _sql.query("done", ChecklistFacts)


async def find(at: Reading, request: PageRequest) -> list[Step]:
    """The steps, always in the same order. None once all are done or the list was dismissed."""
    done = await at.one(_DONE)
    if done is None or done.is_dismissed:
        return []
    steps = [
        *await _first_steps(at, done),
        *([_mail_step(request)] if request.who.is_admin else []),
        *await _later_steps(at, done),
    ]
    return [] if all(step.is_done or step.is_optional for step in steps) else steps


async def _first_steps(at: Reading, done: ChecklistFacts) -> list[Step]:
    brand = await at.fact(branding.of)
    return [
        Step(
            "Import your subscribers",
            "Everyone on your list gets their own referral link.",
            "/subscribers/import",
            "Import subscribers",
            bool(done.has_imported),
        ),
        Step(
            "Add your first reward",
            "A small reward at 1 to 3 referrals works well.",
            "/rewards",
            "Add a reward",
            bool(await at.fact(rewards.of_campaign)),
        ),
        Step(
            "Set your logo and color",
            "They are on your signup page, on referral pages and in emails.",
            "/look/branding",
            "Open branding",
            brand.logo_id is not None or brand.accent is not None,
        ),
    ]


def _mail_step(request: PageRequest) -> Step:
    return Step(
        "Set up email sending",
        "Until a mail server is set, emails reach nobody.",
        "/administration#h-health",
        "See how",
        request.services.settings.has_mail_server,
    )


async def _later_steps(at: Reading, done: ChecklistFacts) -> list[Step]:
    ever = await at.fact(statistics.count_ever)
    return [
        Step(
            "Put it in your newsletter",
            "Every issue then carries each subscriber’s own link. Send yourself a test.",
            "/look/newsletter",
            "Get the block",
            bool(done.has_block),
        ),
        Step(
            "Connect your email tool",
            "New subscribers then reach both lists.",
            "/integrations",
            "Choose your tool",
            bool(done.has_integration),
        ),
        Step(
            "Get your first referral",
            "Open your signup page, try your own link, and watch the referral arrive.",
            "/look/pages",
            "View pages",
            ever.referred > 0,
        ),
        Step(
            "Set your landing page",
            "Referral links lead there. Without one, they lead to your hosted signup page.",
            "/settings#campaign",
            "Choose a page",
            bool(done.has_landing_page),
            is_optional=True,
        ),
    ]


async def dismiss(change: Change, request: PageRequest) -> Response:
    await accounts.dismiss_checklist(change.tx, request.who.account_id)
    return request.go("/", "The checklist is dismissed. Every step is in the menu too.")

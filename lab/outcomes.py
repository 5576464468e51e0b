"""What became of each signup, and what would have without one of the signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from honeyguide.app import Services
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.screening import evidence, rules, terms
from honeyguide.screening.rules import ReferralTerms, Rule
from honeyguide.screening.signals import Signal, SignalFinding
from honeyguide.store.reading import Reading, reads
from honeyguide.subscribers import referral_decisions
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Status
from lab.client import LabClient
from lab.family import Kind, Signup
from lab.world import FEE_CENTS, World

_LONG_AFTER_MS = 365 * DAY_MS


@dataclass
class PlayedSignup:
    """One email address of one family, and what became of it."""

    family: str
    kind: Kind
    email: str
    partner: int = 0
    """Whose fee counts."""
    is_extra: bool = False
    signup: Signup | None = None
    """The last one that was accepted."""
    asked_ms: int | None = None
    """When they came, if they are counted."""
    emailed_ms: int | None = None
    """When the first email with a link to confirm came after that."""
    is_accepted: bool = False
    """Whether the form was taken."""
    wants_to_confirm: bool = False
    confirm_path: str = ""
    confirmed_ms: int | None = None
    emails: int = 0
    # -- filled in at the end
    status: str = ""
    reason: str | None = None
    charged_cents: int = 0
    verified_ms: int | None = None
    was_held: bool = False
    """Whether evidence made it wait for the owner's review at any time."""
    cards: int = 0
    """How many cards of groups of their family the owner answered."""
    terms: ReferralTerms | None = None
    findings: list[SignalFinding] = field(default_factory=list)

    @property
    def is_fake(self) -> bool:
        return self.kind is Kind.ATTACK

    @property
    def is_unlooked(self) -> bool:
        """Nobody looked at the partner whose reader they are."""
        return self.reason == Reason.UNREVIEWED and not self.was_held

    @property
    def has_worked(self) -> bool:
        """Whether their browser did work, or would have."""
        return self.signup is not None and self.signup.works

    @property
    def email_wait_ms(self) -> int | None:
        """None if no email came."""
        if self.asked_ms is None or self.emailed_ms is None:
            return None
        return self.emailed_ms - self.asked_ms

    @property
    def is_paid_at_once(self) -> bool:
        if not self.charged_cents or self.verified_ms is None or self.confirmed_ms is None:
            return False
        return self.verified_ms - self.confirmed_ms < HOUR_MS


async def fill_in(
    services: Services, client: LabClient, world: World, played: Sequence[PlayedSignup]
) -> None:
    by_email = {each.email: each for each in played}
    page = 1
    while True:
        path = f"/v2/partner_programs/{world.program_id}/referrals?page={page}&per_page=200"
        answer = await client.get(path, "127.0.0.1", {"x-api-key": world.key})
        found = answer.json()
        for referral in found["referrals"]:
            each = by_email.get(referral["email"])
            if each and referral["partner_campaign_uuid"] == _partner_id(world, each):
                each.status, each.reason = referral["status"], referral["reason"]
                each.charged_cents += int(Decimal(str(referral["charged"] or 0)) * 100)
                await services.store.read(
                    reads(_read_details, services.site, world.tenant, services.clock()),
                    each,
                    referral,
                )
        if page >= found["meta"]["total_pages"]:
            return
        page += 1


def _partner_id(world: World, each: PlayedSignup) -> str:
    return world.partners[each.family][each.partner].id


async def _read_details(at: Reading, each: PlayedSignup, referral: dict[str, Any]) -> None:
    subscriber_id = referral["subscriber_uuid"]
    each.terms = await terms.of_subscriber(at, subscriber_id)
    items = await evidence.of_subscriber(at, subscriber_id)
    each.findings = evidence.findings(items)
    for decision in await referral_decisions.of_subscriber(at, subscriber_id):
        each.was_held |= decision.reason == Reason.NEEDS_REVIEW
        if decision.status == Status.VERIFIED:
            each.verified_ms = decision.decided_ms


# -- what would have become of it


def decide_without(
    each: PlayedSignup, *, signal: Signal | None = None, rule: Rule | None = None
) -> tuple[int, bool]:
    """What it would cost without a signal or with another rule, in cents, and whether it would be
    held. It is decided again from the stored terms and evidence, long after all deadlines. What a
    signal does to emails, and to the evidence about others, is not played again."""
    if each.terms is None or not _follows_from_terms(each, each.terms):
        return each.charged_cents, each.was_held
    found = [finding for finding in each.findings if finding.signal is not signal]
    chosen = each.terms if rule is None else replace(each.terms, rule=rule)
    decided = _decide(each, found, chosen)
    is_paid = decided.status is Status.VERIFIED
    return FEE_CENTS if is_paid else 0, decided.reason is Reason.UNREVIEWED


def _follows_from_terms(each: PlayedSignup, agreed: ReferralTerms) -> bool:
    """Not if something certain spoke against it."""
    decided = _decide(each, each.findings, agreed)
    return (decided.status, decided.reason) == (each.status, each.reason)


def _decide(
    each: PlayedSignup, found: list[SignalFinding], agreed: ReferralTerms
) -> rules.Decision:
    standing = terms.standing(found, is_confirmed=each.confirmed_ms is not None)
    return rules.decide_on_terms(agreed, standing, agreed.hold_until_ms + _LONG_AFTER_MS)

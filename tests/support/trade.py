"""A partner network on a store alone: owners, programs, partners and readers, changed by the
domain's own functions at a time the test chooses, and a check of the ledger at any moment.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeVar

from honeyguide.accounts import accounts
from honeyguide.events import webhooks
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.paging import Page
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import (
    ledger_check,
    logos,
    network,
    outlook,
    payouts,
    programs,
    publications,
    reversal_reasons,
)
from honeyguide.partners.logos import Logo
from honeyguide.partners.network import PartnerCampaign
from honeyguide.partners.programs import Program
from honeyguide.signups import reversals, signups
from honeyguide.signups.lifecycle import NewSubscriber, SubscriberChanges
from honeyguide.store import Store
from honeyguide.store.tx import Tx
from honeyguide.subscribers import campaigns
from honeyguide.subscribers.subscribers import Subscriber
from honeyguide.work import money as money_work
from tests.support.readings import in_account

from .changes import SITE, changing, new_change
from .items import run_items
from .stores import OpenStore, statement

T = TypeVar("T")

LOGO = Logo(b"\x89PNG", "image/png", 1, 1)
DAY_MS = 86_400_000
HOUR_MS = 3_600_000
# Sunday, 15 November 2026, noon UTC.
NOON_MS = 1_794_744_000_000
_numbers = itertools.count(1)


def dollars(amount_cents: int) -> Decimal:
    return Decimal(amount_cents) / 100


def terms(**cents_or_flags: Any) -> programs.ProgramFields:
    """`cpa`, `total_budget` and `max_payout` in cents; all else as the API has it."""
    money = {"cpa", "total_budget", "max_payout"}
    return programs.ProgramFields(
        **{name: dollars(v) if name in money else v for name, v in cents_or_flags.items()}
    )


async def verify(store: Store) -> ledger_check.Sums:
    """Proves the books, and says which promise is broken where one is."""
    findings, sums = await store.slow_snapshot(ledger_check.verify)
    wrong = [f"{finding.promise} ({finding.broken})" for finding in findings if finding.broken]
    assert not wrong, wrong
    return sums


async def publish(tx: Tx, tenant: Tenant, **fields: Any) -> Program:
    """A new program of the owner, with a publication of its own."""
    chosen = {
        "cpa": 300,
        "total_budget": 30_000,
        "max_payout": 9_000,
        "redirect_url": "https://wax.example/",
        **fields,
    }
    about = publications.PublicationFields(
        name="The Morning Wax",
        categories=["lifestyle"],
        audience_gender="mixed",
        income_levels=["$150k+"],
        age_ranges=["25 - 39"],
    )
    change = new_change(tx, SITE, tenant, tx.now_ms)
    publication = await publications.create(change, about, await logos.store(LOGO, None))
    made = await programs.create(change, publication.id, terms(**chosen))
    # The money is the same whatever a program asks of referrals, so it asks for nothing, as one
    # from before programs could.
    sql = "UPDATE program SET rule = 'none', screening = NULL WHERE id = :id"
    await tx.run(statement(sql), id=made.id)
    return made


@dataclass
class Trade:
    """One owner with a program, and partners who joined it."""

    store: Store
    owner: Tenant
    program: Program
    partners: list[PartnerCampaign] = field(default_factory=list)
    site: Site = SITE

    @classmethod
    async def begin(
        cls, store: Store, *, partners: int = 1, now_ms: int = NOON_MS, **fields: Any
    ) -> Trade:
        async def begin(tx: Tx) -> tuple[Tenant, Program]:
            made = await accounts.create(
                tx.at(now_ms), EmailAddress(f"owner{next(_numbers)}@wax.example"), name="Wax"
            )
            tenant = Tenant(made.account_id, made.campaign_id)
            return tenant, await publish(tx.at(now_ms), tenant, **fields)

        trade = cls(store, *await store.write(begin))
        for _ in range(partners):
            await trade.add_partner(now_ms=now_ms)
        return trade

    async def add_partner(self, *, now_ms: int = NOON_MS) -> PartnerCampaign:
        async def work(tx: Tx) -> PartnerCampaign:
            made = await accounts.create(
                tx.at(now_ms), EmailAddress(f"partner{next(_numbers)}@bob.example"), name="Bob"
            )
            tenant = Tenant(made.account_id, made.campaign_id)
            change = new_change(tx, SITE, tenant, now_ms)
            joined, _ = await network.join(change, self.program.id, None)
            return joined

        self.partners.append(await self.store.write(work))
        return self.partners[-1]

    async def arrive(
        self, partner: int = 0, *, email: str | None = None, now_ms: int = NOON_MS, **claims: str
    ) -> Subscriber:
        email = email or f"reader{next(_numbers)}@example.org"
        code = self.partners[partner].ref_code
        new = NewSubscriber(email=email, referrer_code=code, **claims)
        return await self.store.write(self._changing(signups.sign_up, now_ms), new)

    async def configure(self, **settings: Any) -> None:
        """The settings of the owner's campaign."""
        chosen = campaigns.CampaignSettings(**settings)
        await self.store.write(self._changing(campaigns.configure, NOON_MS), chosen)

    async def listen(self, **flags: bool) -> None:
        """A webhook of the owner's, for these events or for `told`."""
        await self.store.write(
            self._changing(webhooks.create, NOON_MS),
            "",
            "https://receiver.example/",
            webhooks.Flags(**(flags or {"new_partner_referral": True})),
            policy=OutboundPolicy.for_base_url(SITE.base_url),
        )

    async def confirm(self, subscriber_id: str, *, now_ms: int = NOON_MS) -> Subscriber:
        """By hand: the one confirmation that needs no days to pass."""
        work = self._changing(signups.decide, now_ms)
        return await self.store.write(work, subscriber_id, "verified")

    async def change(
        self, subscriber_id: str, *, now_ms: int = NOON_MS, **changes: str
    ) -> Subscriber:
        work = self._changing(signups.update, now_ms)
        return await self.store.write(work, subscriber_id, SubscriberChanges(**changes))

    async def reverse(
        self, *subscriber_ids: str, reason: str = "robot", note: str = "", now_ms: int = NOON_MS
    ) -> list[str | None]:
        """Why each could not be reversed; None if it was."""
        rows = await self.rows("SELECT subscriber_id, id FROM partner_referral")
        referrals = dict(rows)
        work = self._changing(reversals.reverse, now_ms)
        outcomes = await self.store.write(
            work,
            self.program.id,
            [referrals[each] for each in subscriber_ids],
            reversal_reasons.parse(reason, note),
        )
        return [each.refused.code if each.refused else None for each in outcomes]

    async def erase(self, subscriber_id: str, *, now_ms: int = NOON_MS) -> None:
        await self.store.write(self._changing(signups.erase, now_ms), subscriber_id)

    def _changing(self, unit: Any, now_ms: int) -> Any:
        return changing(unit, self.site, self.owner, now_ms)

    async def offer(self, *, now_ms: int = NOON_MS, **fields: Any) -> Program:
        work = self._changing(programs.update, now_ms)
        self.program = await self.store.write(work, self.program.id, terms(**fields))
        return self.program

    async def verify_due(self, now_ms: int) -> None:
        await run_items(self.store, money_work.referrals_to_verify(self.site), now_ms)

    async def tell(self, now_ms: int = NOON_MS) -> None:
        await run_items(self.store, money_work.budgets_to_notify(self.site), now_ms)

    async def close_and_pay_out(self, now_ms: int) -> None:
        await run_items(self.store, money_work.MONTHS, now_ms)

    # -- what came of it

    async def rows(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        return await self.store.read(lambda tx: tx.all(statement(sql), **params))

    async def spent(self, month: str = "2026-11") -> int:
        found = await self.rows(
            "SELECT spent_cents FROM budget WHERE program_id = :id AND month = :month",
            id=self.program.id,
            month=month,
        )
        return found[0][0] if found else 0

    async def reached(self, month: str = "2026-11") -> bool:
        found = await self.rows(
            "SELECT reached_ms FROM budget WHERE program_id = :id AND month = :month",
            id=self.program.id,
            month=month,
        )
        return bool(found) and found[0][0] is not None

    async def earned(self, partner: int = 0, month: str = "2026-11") -> int:
        found = await self.rows(
            (
                "SELECT spent_cents FROM partner_spend WHERE partner_campaign_id = :id AND month = "
                ":month"
            ),
            id=self.partners[partner].id,
            month=month,
        )
        return found[0][0] if found else 0

    async def outcome(self, subscriber_id: str) -> tuple[str, int | None, str | None, str | None]:
        """(status, charged cents, month, why not)"""
        (found,) = await self.rows(
            "SELECT s.referral_status, r.charged_cents, r.charged_month, r.uncharged_reason FROM "
            "partner_referral AS r "
            "JOIN subscriber AS s ON s.id = r.subscriber_id WHERE r.subscriber_id = :id",
            id=subscriber_id,
        )
        return found  # type: ignore[return-value]

    async def referral(self, subscriber_id: str) -> tuple[str, str | None, int | None]:
        """(status, reason, when it is due)"""
        (found,) = await self.rows(
            "SELECT referral_status, referral_reason, referral_due_ms FROM subscriber "
            "WHERE id = :id",
            id=subscriber_id,
        )
        return found  # type: ignore[return-value]

    async def announced(self) -> list[str]:
        """The subscribers with a `new_partner_referral` event, in that order."""
        found = await self.rows(
            "SELECT subscriber_id FROM event WHERE account_id = :id AND type = :type "
            "ORDER BY created_ms, id",
            id=self.owner.account_id,
            type="new_partner_referral",
        )
        return [row[0] for row in found]

    async def outlook(self, now_ms: int) -> list[outlook.MonthOutlook]:
        """As the owner sees it."""
        account_id, program_id = self.owner.account_id, self.program.id
        return await self.store.snapshot(
            lambda tx: outlook.of_program(in_account(tx, account_id, now_ms=now_ms), program_id)
        )

    async def payouts_of(self, partner: int = 0) -> list[payouts.Payout]:
        account_id = self.partners[partner].account_id
        return (
            await self.store.snapshot(
                lambda tx: payouts.page_of(in_account(tx, account_id), Page(1, 200))
            )
        )[0]


def on(
    engine: str,
    scenario: Callable[[Store], Awaitable[T]],
    *,
    seconds: float = 120,
    pool_size: int = 20,
) -> T:
    """Runs a scenario on a store of its own, and ends with the proof of the books."""

    async def bounded(store: Store) -> T:
        async with asyncio.timeout(seconds):
            result = await scenario(store)
            await verify(store)
            return result

    with OpenStore(engine, pool_size=pool_size) as opened:
        return opened.run(bounded(opened.store))

"""A referral program in a store of its own, into which files are imported, and its export."""

import csv
import io
from typing import Any

from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import (
    exporting,
    findings,
    import_parts,
    importing,
    stored_files,
    uploaded_files,
)
from honeyguide.moving.import_files import RefusedLine
from honeyguide.moving.importing import Import
from honeyguide.rewards import rewards
from honeyguide.rewards.earned_rewards import earned_by
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.rewards.rewards import NewReward
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.signups.signups import sign_up
from honeyguide.store.tx import timed
from honeyguide.subscribers import subscribers
from honeyguide.subscribers.subscriber_filters import of_show
from honeyguide.subscribers.subscribers import Subscriber
from honeyguide.work.moving import import_file
from tests.support.changes import SITE, changing
from tests.support.readings import reads
from tests.support.stores import OpenStore

NOW_MS = 1_790_000_000_000
# What would leave, or be shown to somebody.
LOUD = ("event", "delivery", "letter", "notice", "slack_message", "charge", "partner_referral")


class Program:
    def __init__(self, opened: OpenStore, email: str = "alice@example.org") -> None:
        self.opened = opened
        self.campaign_id, _ = opened.account_with_key(email)
        find = "SELECT account_id FROM campaign WHERE id = :id"
        ((account_id,),) = opened.ask(find, id=self.campaign_id)
        self.tenant = Tenant(account_id, self.campaign_id)
        self.now_ms = NOW_MS

    def change(self, unit: Any, *args: Any, **kwargs: Any) -> Any:
        return self.opened.run(self.write(unit, *args, **kwargs))

    async def write(self, unit: Any, *args: Any, **kwargs: Any) -> Any:
        made = changing(unit, SITE, self.tenant, self.now_ms)
        return await self.opened.store.write(made, *args, **kwargs)

    def read(self, unit: Any, *args: Any, **kwargs: Any) -> Any:
        made = reads(unit, self.tenant, now_ms=self.now_ms)
        return self.opened.run(self.opened.store.read(made, *args, **kwargs))

    def find_import(self, import_id: str) -> Import:
        return self.opened.run(self.opened.store.read(reads(importing.get, self.tenant), import_id))

    def subscribe(self, email: str, **given: Any) -> Subscriber:
        return self.change(sign_up, NewSubscriber(email=email, **given))

    def offer(self, name: str, referrals: int, **given: Any) -> str:
        new = NewReward(name=name, referrals=referrals, **given)
        return self.change(rewards.create, new).id

    def start(self, text: str, *, gives_rewards: bool = False, name: str = "people.csv") -> str:
        """Stores a file and starts its import."""
        file = stored_files.in_parts(uploaded_files.read(text.encode(), name))

        async def begin() -> str:
            import_id = await stored_files.store_file(self.write, name, file)
            await self.write(importing.choose, import_id, file.mapping, gives_rewards=gives_rewards)
            await self.write(importing.start, import_id)
            return import_id

        return self.opened.run(begin())

    def go_on(self, import_id: str, most: int = 1_000_000) -> Import:
        """Runs so many steps of an import that was started."""

        async def run() -> Import:
            store = self.opened.store
            for _ in range(most):
                if not await store.read(timed(import_parts.running, self.now_ms), most=1):
                    break
                await import_file(SITE, store, [import_id], self.now_ms)
            return await store.read(reads(importing.get, self.tenant), import_id)

        return self.opened.run(run())

    def bring(self, text: str, **given: Any) -> Import:
        return self.go_on(self.start(text, **given))

    def findings(self, kept: Import) -> list[tuple[int, str]]:
        found = self.read(importing.findings_of, kept.id, most=1_000)
        assert sum(self.read(importing.count_findings, kept.id).values()) == len(found)
        return [(each.line, findings.FindingKind(each.kind).value) for each in found]

    def errors(self, kept: Import) -> list[RefusedLine]:
        return self.read(importing.errors, kept.id)

    def get(self, email: str) -> Subscriber:
        return self.read(subscribers.get, email)

    def earned(self, email: str) -> list[EarnedReward]:
        return self.read(earned_by, self.get(email).id)

    def referrers(self) -> dict[str, str]:
        """Who referred whom, by email address."""
        rows = self.opened.ask(
            "SELECT s.email, r.email FROM subscriber AS s JOIN subscriber AS r ON r.id = "
            "s.referrer_id WHERE s.campaign_id = :id",
            id=self.campaign_id,
        )
        return dict(rows)

    def count(self, table: str) -> int:
        find = f"SELECT COUNT(*) FROM {table} WHERE account_id = :id"
        return int(self.opened.ask(find, id=self.tenant.account_id)[0][0])

    def export(self) -> str:
        async def lines() -> list[tuple[str | int, ...]]:
            found: list[tuple[str | int, ...]] = [exporting.COLUMNS]
            after, is_last = None, False
            while not is_last:
                rows, after = await self.opened.store.slow_snapshot(
                    reads(exporting.batch, self.tenant), of_show("all"), after=after
                )
                found += [exporting.line(SITE, row) for row in rows]
                is_last = after is None
            return found

        return csv_text(self.opened.run(lines()))

    def exported(self) -> dict[str, dict[str, str]]:
        """By email address."""
        rows = csv.DictReader(io.StringIO(self.export()))
        return {row["email"]: row for row in rows}

"""A history of mixed changes through the API, pages, imports, an email platform and jobs, from a
fixed seed on a clock that stands still, and what followed from each change: events, emails,
notifications, the feed for email platforms and ledger entries.

A change of the code that should change no behavior must leave the record as it was. Ids and random
codes are numbered in the order in which they appear. `python -m tests.support.recorded_history`
records it anew, which only a change of behavior needs.
"""

import json
import lzma
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from honeyguide import app
from honeyguide.events import signature
from honeyguide.integrations import integrations, leases
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.field_names import SPARKLOOP
from honeyguide.integrations.integrations import NewIntegration
from honeyguide.integrations.platform import Audience
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.tx import Tx
from honeyguide.work import money
from tests.support.changes import changing
from tests.support.partner_network import join, offer, publish
from tests.support.platforms.generic import GenericTool
from tests.support.recorder import FrozenClock, Recorder
from tests.support.service import Member, Service
from tests.support.stores import statement
from tests.support.web import Operator, operator

FILE = Path(__file__).parent.parent / "corpus" / "history.json.xz"
STEPS = 2_000
SECRET = "ab" * 32
HOOK_KEY = "hook-of-the-recorded-history"
# Sending changes no state that is recorded, and Slack and backups are not set up.
JOBS_LEFT_OUT = ("send emails", "post notifications to Slack")
FORGET_PACE = statement("UPDATE integration SET next_call_ms = 0", "changes integration")
PROBLEMS = statement("SELECT problem FROM integration WHERE problem IS NOT NULL")

REWARDS: tuple[dict[str, Any], ...] = (
    {"name": "Guide", "referrals": 1, "kind": "link", "link": "https://files.example/guide"},
    {
        "name": "Code",
        "referrals": 2,
        "kind": "coupon",
        "coupon_codes": [f"C-{n}" for n in range(9)],
    },
    {"name": "Mug", "referrals": 3, "kind": "physical"},
    {"name": "Dinner", "referrals": 4, "kind": "manual", "approval": "manual"},
    {"name": "Honey", "referrals": 5, "kind": "coupon", "coupon_code": "HONEY", "recurring": True},
)
CHANGES = {
    "join_by_api": 60,
    "join_again": 2,
    "leave": 6,
    "confirm": 6,
    "rename": 3,
    "verify": 5,
    "reject": 3,
    "erase": 2,
    "fulfill": 6,
    "change_settings": 2,
    "change_budget": 1,
    "switch_program": 1,
    "import_file": 1,
    "platform_reports": 3,
    "pass_time": 3,
}


class History(Recorder):
    """Three accounts: one with a campaign and two programs, and two partners."""

    def __init__(self, service: Service, clock: FrozenClock, tool: GenericTool) -> None:
        super().__init__(service, clock, tool)
        self.random = random.Random(1)
        self.people: list[dict[str, Any]] = []
        self.number = 0
        self._signed_s = 0

    # -- the scene

    def begin(self) -> None:
        service = self.service
        self.alice: Operator = operator(service, "alice")
        self.partners: list[Member] = [operator(service, "bob"), operator(service, "carol")]
        v1 = self.alice.v1
        self.alice.put(
            f"{v1}/settings", {"hold_days": 0, "screening": "strong", "needs_confirmation": False}
        )
        flags = {"new_referral": True, "reward_unlocked": True}
        self.alice.post(f"{v1}/webhooks", {"url": "https://one.example/", **flags})
        flags |= {"new_partner_referral": True, "reward_redeemed": True}
        for member in (self.alice, self.partners[0]):
            made = member.post("/v2/webhooks", {"url": "https://two.example/", **flags}).json()
            more = (
                "new_subscriber",
                "subscriber_unsubscribed",
                "referral_verified",
                "referral_rejected",
            )
            path = f"/v2/webhooks/{made['webhook']['uuid']}/more_events"
            assert member.put(path, dict.fromkeys(more, True)).status_code == 200
        for reward in REWARDS:
            assert self.alice.post(f"{v1}/rewards", reward).status_code == 201
        switch_on = statement(
            "UPDATE campaign SET sends_friend_joined = 1, sends_one_more = 1",
            "changes campaign",
        )
        self.service.write(lambda tx: tx.run(switch_on))
        self.service.run(self._connect())
        publications = [publish(self.alice, name=name) for name in ("Daily wax", "Weekly wax")]
        terms: tuple[dict[str, Any], ...] = (
            {"cpa": 2.5, "total_budget": 150, "max_payout": 90},
            {
                "cpa": 3,
                "total_budget": 100,
                "max_payout": 60,
                "referral_pending_duration": 3,
                "referral_pending_duration_enabled": True,
            },
        )
        self.programs = [
            offer(self.alice, publication, **fields)
            for publication, fields in zip(publications, terms, strict=True)
        ]
        self.partner_codes = [
            join(partner, program)["ref_code"]
            for partner in self.partners
            for program in self.programs
        ]
        self.record.append({"step": "begin", "status": None, **self._new_rows()})

    async def _connect(self) -> None:
        """The feed is written once a platform is connected."""
        new = NewIntegration(
            platform="generic",
            credentials={"url": f"{self.tool.url}/hook", "secret": self.tool.secret},
            audience=Audience(id="list", name="The list"),
            field_names=SPARKLOOP,
            code_field="",
            adds_existing=False,
            hook_key=HOOK_KEY,
        )
        tenant = Tenant(self.alice.account_id, self.alice.campaign_id)
        connect = changing(integrations.connect, self.service.services.site, tenant, self.clock())
        keys = EncryptionKeys(self.service.settings.secret_keys)
        await self.service.services.store.write(connect, keys, new)

    # -- the changes

    def run(self, steps: int) -> None:
        changes = [name for name, weight in CHANGES.items() for _ in range(weight)]
        for _ in range(steps):
            name = self.random.choice(changes)
            change = getattr(self, name)
            self.step(name, change)
            self.clock.now_ms += self.random.choice((1_000, MINUTE_MS, 20 * MINUTE_MS))

    def _someone(self) -> dict[str, Any]:
        """Mostly somebody new, since little happens to people for whom everything has happened."""
        recent = self.people[-40:]
        return self.random.choice(recent if self.random.random() < 0.7 else self.people)

    def _path(self) -> str:
        return f"{self.alice.v1}/subscribers/{self._someone()['uuid']}"

    def _referrer(self) -> str | None:
        kind = self.random.random()
        if kind < 0.2 or len(self.people) < 3:
            return None
        if kind < 0.3:
            return self.random.choice(self.partner_codes)
        if kind < 0.33:
            return "nobodys8"
        # A small circle refers most, so that rewards are earned.
        known = self.people[:12] if kind < 0.8 else self.people
        return str(self.random.choice(known)["ref_code"])

    def _new_person(self) -> dict[str, Any]:
        self.number += 1
        domain = "mailinator.com" if self.random.random() < 0.03 else "example.org"
        return {"email": f"reader{self.number}@{domain}", "name": f"Reader {self.number}"}

    def join_by_api(self) -> Any:
        body = self._new_person() | {
            "referrer_code": self._referrer(),
            "ip_address": f"198.51.{self.random.randrange(40)}.{self.random.randrange(3)}",
            "utm_source": self.random.choice((None, "tw")),
        }
        if self.random.random() < 0.1:
            body["status"] = self.random.choice(("confirmed", "unsubscribed"))
        answer = self.alice.post(f"{self.alice.v1}/subscribers", body)
        self.people.append(answer.json()["subscriber"])
        return answer

    def join_again(self) -> Any:
        email = self._someone()["email"]
        return self.alice.post(f"{self.alice.v1}/subscribers", {"email": email})

    def leave(self) -> Any:
        return self.alice.put(self._path(), {"status": "unsubscribed"})

    def confirm(self) -> Any:
        return self.alice.put(self._path(), {"status": "confirmed"})

    def rename(self) -> Any:
        self.number += 1
        return self.alice.put(
            self._path(), {"name": "New name", "email": f"moved{self.number}@example.org"}
        )

    def verify(self) -> Any:
        return self.alice.post(f"{self._path()}/referral/verify")

    def reject(self) -> Any:
        return self.alice.post(f"{self._path()}/referral/reject")

    def erase(self) -> Any:
        return self.alice.delete(self._path())

    def fulfill(self) -> Any:
        """Approves or redeems the first reward of one of those who refer most."""
        person = self.random.choice(self.people[:12])
        path = f"{self.alice.v1}/subscribers/{person['uuid']}/rewards"
        earned = self.alice.get(path).json().get("rewards", [])
        open_ones = [each for each in earned if each["status"] != "redeemed"]
        if not open_ones:
            return None
        each = self.random.choice(open_ones)
        what = "approve" if each["status"] == "awaiting_approval" else "redeem"
        return self.alice.post(f"{path}/{each['uuid']}/{what}")

    def change_settings(self) -> Any:
        body = {
            "hold_days": self.random.choice((0, 0, 2)),
            "screening": self.random.choice(("flexible", "strong", "strict")),
            "needs_confirmation": self.random.random() < 0.25,
        }
        return self.alice.put(f"{self.alice.v1}/settings", body)

    def change_budget(self) -> Any:
        program = self.random.choice(self.programs)
        body = {"total_budget": self.random.choice((20, 80, 150, 400))}
        return self.alice.put(f"/v2/partner_programs/{program['uuid']}", body)

    def switch_program(self) -> Any:
        program = self.random.choice(self.programs)
        body = {"enabled_partner_program": self.random.random() < 0.7}
        return self.alice.put(f"/v2/publications/{program['publication_uuid']}", body)

    def import_file(self) -> None:
        lines = ["email,name,referrer code,status"]
        people = [self._new_person() for _ in range(self.random.randrange(3, 9))]
        for person in people:
            status = self.random.choice(("active", "active", "unsubscribed"))
            code = self._referrer() or ""
            lines.append(f"{person['email']},{person['name']},{code},{status}")
        self.alice.web.log_in(self.alice.email)
        page = "/subscribers/import"
        web = self.alice.web
        sent = web.http.post(
            page,
            data={"csrf": web.token(page)},
            files={"file": ("list.csv", "\n".join(lines).encode(), "text/csv")},
        )
        columns = {"email": "0", "name": "1", "referrer_code": "2", "status": "3"}
        web.post(sent.headers["location"], do="start", **columns)
        self.service.run_jobs(JOBS_LEFT_OUT)
        self.people += [self.alice.subscriber(person["email"]) for person in people]

    def platform_reports(self) -> Any:
        """Somebody joined, left or confirmed on the email platform; both directions are synced."""
        kind = self.random.choice(("joined", "left", "confirmed"))
        email = self._new_person()["email"] if kind == "joined" else self._someone()["email"]
        # Two webhooks of the same second in the same words would be one.
        self._signed_s = max(self._signed_s + 1, int(time.time()))
        hook = self.tool.signed({"type": kind, "email": email}, at_s=self._signed_s)
        answer = self.alice.http.post(f"/hooks/{HOOK_KEY}", **hook)
        self.service.run(self._sync())
        return answer

    async def _sync(self) -> None:
        """Until nothing is due. The pace of an integration follows the real clock, so how fast the
        machine is would decide what is written in which step."""
        store, worker = self.service.services.store, self.service.services.integrations

        async def due(tx: Tx) -> list[str]:
            await tx.run(FORGET_PACE)
            return await leases.due(tx)

        while await store.write(due):
            await worker.begin_due()
            await worker.finish()
        assert await store.read(lambda tx: tx.all(PROBLEMS)) == []

    def pass_time(self) -> None:
        self.clock.now_ms += self.random.choice((HOUR_MS, 6 * HOUR_MS, DAY_MS, 2 * DAY_MS))
        self.service.run_jobs(JOBS_LEFT_OUT)


@contextmanager
def played(engine: str, steps: int, *, seed: int = 1) -> Iterator[History]:
    """After its first steps, with its service still there."""
    clock = FrozenClock()
    options = {"secret_key": SECRET, "base_url": "http://127.0.0.1:8000"}
    tool = GenericTool(signature.new_secret())
    with (
        patch.object(app, "clock_of", lambda _: clock),
        # PostgreSQL verifies those of several accounts at once, in whatever order they get locks.
        patch.object(money, "VERIFY_TOGETHER", 1),
        tool.serving_apart(),
        Service(engine, work=False, **options) as service,
    ):
        history = History(service, clock, tool)
        history.random = random.Random(seed)
        history.begin()
        history.run(steps)
        yield history


def play(engine: str, steps: int) -> list[dict[str, Any]]:
    """The normalized record of the first steps."""
    with played(engine, steps) as history:
        return history.normalized()


def recorded() -> list[dict[str, Any]]:
    """As it was recorded."""
    return json.loads(lzma.decompress(FILE.read_bytes()))  # type: ignore[no-any-return]


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(step, ensure_ascii=False) for step in play("sqlite", STEPS))
    FILE.write_bytes(lzma.compress(f"[{lines}]".encode(), preset=9))

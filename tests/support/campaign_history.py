"""A campaign that lives through any moves: people join, leave, refer and are erased; rewards are
earned and sent; links are clicked; time passes.
"""

from functools import partial
from typing import Any, NamedTuple

from hypothesis import strategies as st

from honeyguide.accounts import accounts
from honeyguide.kernel import actors
from honeyguide.kernel.actors import Actor
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, iso
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.rewards import earned_rewards, rewards, shipments
from honeyguide.rewards.rewards import NewReward
from honeyguide.rewards.shipments import PostalAddress
from honeyguide.screening import moves
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber, SubscriberChanges
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from honeyguide.subscribers import campaigns, clicks, cohorts, page_index, subscribers
from honeyguide.work import upkeep
from honeyguide.work.items import Items
from tests.support.items import run_items
from tests.support.readings import reading
from tests.support.stores import OpenStore
from tests.support.trade import SITE

START_MS = 1_790_000_000_000
OPERATOR = actors.member("the operator")
ZONES = ("UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Kiritimati", "Pacific/Niue")
HOSTS = ("", "example.org", "news.example")

MOVES = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {
                "do": st.just("join"),
                "referrer": st.one_of(st.none(), st.integers(0, 30)),
                "days_ago": st.sampled_from([0, 0, 0, 1, 2, 5, 40]),
                "origin": st.sampled_from(["api", "signup", "import"]),
                "utm": st.sampled_from([None, "tw", "fb"]),
                "utm_campaign": st.sampled_from([None, "spring"]),
                "status": st.sampled_from(["active", "active", "confirmed", "unsubscribed"]),
                "ip": st.integers(1, 3),
            }
        ),
        st.fixed_dictionaries(
            {
                "do": st.sampled_from(["leave", "confirm", "verify", "reject", "erase"]),
                "who": st.integers(0, 30),
            }
        ),
        st.fixed_dictionaries(
            {
                "do": st.just("leave_after"),
                "who": st.integers(0, 30),
                "days": st.sampled_from([29, 30, 31, 90]),
            }
        ),
        st.fixed_dictionaries(
            {"do": st.sampled_from(["approve", "claim", "send"]), "which": st.integers(0, 9)}
        ),
        st.fixed_dictionaries({"do": st.just("wait"), "hours": st.sampled_from([1, 7, 30, 750])}),
        st.fixed_dictionaries({"do": st.just("click"), "host": st.sampled_from(HOSTS)}),
        st.fixed_dictionaries({"do": st.sampled_from(["apply", "count"])}),
        st.fixed_dictionaries({"do": st.just("move"), "zone": st.sampled_from(ZONES)}),
    ),
    min_size=5,
    max_size=40,
)
JOIN = {
    "do": "join",
    "referrer": None,
    "days_ago": 0,
    "origin": "api",
    "utm": "tw",
    "utm_campaign": "spring",
    "status": "active",
    "ip": 1,
}
# The job counted the day before somebody left, or was erased.
LEFT_AFTER_COUNT = [
    JOIN,
    {**JOIN, "referrer": 0},
    JOIN,
    {"do": "apply"},
    {"do": "count"},
    {"do": "leave", "who": 0},
]
ERASED_AFTER_COUNT = [*LEFT_AFTER_COUNT[:-1], {"do": "erase", "who": 0}]
# Two people earn a sticker and a code, of which there is one, and one of them a mug.
_FRIEND = {**JOIN, "referrer": 0, "ip": 2}
EARNED = [
    JOIN,
    {**JOIN, "ip": 3},
    _FRIEND,
    {**_FRIEND, "ip": 1},
    {**_FRIEND, "referrer": 1},
    *({"do": "verify", "who": who} for who in (2, 3, 4)),
]
CLAIMED = [*EARNED, {"do": "approve", "which": 0}, *[{"do": "claim", "which": 0}] * 4]
REWARDS = (
    NewReward(name="Sticker", referrals=1),
    NewReward(name="Code", referrals=1, kind="coupon", pool=True),
    NewReward(name="Mug", referrals=2, kind="physical", approval="manual"),
)
ADDRESS = PostalAddress(name="Ana", line1="1 Hive Lane", city="Porto", postcode="4", country="PT")

COUNTING = Items(cohorts.due_campaigns, partial(upkeep.count_cohorts, SITE), cohorts.MOST_DUE)


class Clicked(NamedTuple):
    at_ms: int
    host: str


class History:
    """An account that lives through the moves, and remembers what the database does not say."""

    def __init__(self, opened: OpenStore, number: int) -> None:
        self.opened, self.now_ms, self.number = opened, START_MS, number
        self.people: list[str] = []
        self.left_ms: dict[str, int] = {}
        self.clicked: list[Clicked] = []
        self.to_send: dict[str, str] = {}
        """The subscribers whose address is known, by the earned reward."""
        self.zone = "UTC"
        self.tenant = self.write(self._create)

    def write(self, unit: Any, *args: Any) -> Any:
        return self.opened.run(self.opened.store.write(unit, *args))

    def _by(self, actor: Actor, tx: Tx) -> Change:
        return Change(tx, SITE, self.tenant, actor, self.now_ms)

    async def _create(self, tx: Tx) -> Tenant:
        email = EmailAddress(f"owner{self.number}@example.org")
        tenant = Tenant(*await accounts.create(tx.at(START_MS), email, name="Wax"))
        change = Change(tx, SITE, tenant, OPERATOR, START_MS)
        chosen = campaigns.CampaignSettings(screening="strong", hold_days=2)
        await campaigns.configure(change, chosen)
        await accounts.note_unsubscribes_recorded_since(tx, START_MS)
        for new in REWARDS:
            reward = await rewards.create(change, new)
            if new.pool:
                await earned_rewards.add_codes(change, reward.id, ["ONE"])
        return tenant

    def play(self, moves: list[dict[str, Any]]) -> None:
        for place, move in enumerate(moves):
            self.now_ms += 1_000
            do = move["do"]
            if do == "join":
                self.write(self._join, place, move)
            elif do in ("leave", "confirm", "verify", "reject", "erase"):
                if self.people:
                    self.write(self._change, do, self.people[move["who"] % len(self.people)])
            elif do == "leave_after":
                if self.people:
                    self.write(
                        self._leave_after, self.people[move["who"] % len(self.people)], move["days"]
                    )
            elif do in ("approve", "claim", "send"):
                self.write(self._handle_reward, do, move["which"])
            elif do == "wait":
                self.now_ms += move["hours"] * HOUR_MS
                self.write(self._verify_due)
            elif do == "click":
                self.write(self._click, place, move["host"])
            elif do == "move":
                self.zone = move["zone"]
                self.write(self._move, self.zone)
            elif do == "apply":
                self.opened.run(self.opened.store.write_snapshot(page_index.apply_changes))
            else:
                self.opened.run(run_items(self.opened.store, COUNTING, self.now_ms))

    async def _join(self, tx: Tx, place: int, move: dict[str, Any]) -> None:
        code = None
        if move["referrer"] is not None and self.people:
            who = self.people[move["referrer"] % len(self.people)]
            code = (await subscribers.get(self._by(OPERATOR, tx), who)).ref_code
        email = f"s{place}@{'mailinator.com' if place % 9 == 0 else 'example.org'}"
        new = NewSubscriber(
            email=email,
            origin=move["origin"],
            status=move["status"],
            referrer_code=code,
            utm_source=move["utm"],
            utm_campaign=move["utm_campaign"],
            ip_address=f"9.9.9.{move['ip']}",
            created_at=iso(self.now_ms - move["days_ago"] * DAY_MS),
        )
        made = await signups.sign_up(self._by(OPERATOR, tx), new, email=EmailAddress(email))
        self.people.append(made.id)

    async def _change(self, tx: Tx, do: str, who: str) -> None:
        if do == "erase":
            await signups.erase(self._by(OPERATOR, tx), who)
            self.people.remove(who)
            self.to_send = {each: of for each, of in self.to_send.items() if of != who}
            return
        old = await subscribers.get(self._by(OPERATOR, tx), who)
        if do in ("verify", "reject"):
            if old.referrer_code and old.referral_status != "verified":
                status = {"verify": "verified", "reject": "rejected"}[do]
                await signups.decide(self._by(OPERATOR, tx), who, status)
            return
        status = "unsubscribed" if do == "leave" else "confirmed"
        changes = SubscriberChanges(status=status)
        await signups.update(self._by(OPERATOR, tx), who, changes)
        if do == "confirm":
            self.left_ms.pop(who, None)
        elif old.status != "unsubscribed":
            self.left_ms[who] = self.now_ms

    async def _leave_after(self, tx: Tx, who: str, days: int) -> None:
        """To the millisecond, unless that is over."""
        joined_ms = (await subscribers.get(self._by(OPERATOR, tx), who)).created_ms
        self.now_ms = max(self.now_ms, joined_ms + days * DAY_MS)
        await self._change(tx, "leave", who)

    async def _handle_reward(self, tx: Tx, do: str, which: int) -> None:
        status = {"approve": "awaiting_approval", "claim": "unlocked", "send": "redeemed"}[do]
        found, _ = await earned_rewards.page_of_earned(
            reading(tx, self.tenant), status, Page(1, 200)
        )
        open_ones = [
            each
            for each in reversed(found)
            if each.subscriber_id in self.people and (do != "send" or each.id in self.to_send)
        ]
        if not open_ones:
            return
        earned = open_ones[which % len(open_ones)]
        if do == "approve":
            await earned_rewards.approve(self._by(OPERATOR, tx), earned.id)
        elif do == "claim":
            who = await subscribers.get(self._by(OPERATOR, tx), earned.subscriber_id)
            change = self._by(actors.subscriber(who.id), tx)
            await earned_rewards.claim(change, who, earned.id, shipping=ADDRESS)
            if earned.kind == "physical":
                self.to_send[earned.id] = who.id
        else:
            change = self._by(OPERATOR, tx)
            await shipments.mark_sent(change, earned.id, by="operator", tracking_note=None)
            self.to_send.pop(earned.id)

    async def _move(self, tx: Tx, zone: str) -> None:
        await accounts.set_time_zone(self._by(OPERATOR, tx), zone)

    async def _verify_due(self, tx: Tx) -> None:
        for tenant, who in await moves.due(tx.at(self.now_ms), most=100):
            change = Change(tx, SITE, tenant, actors.job("verify"), self.now_ms)
            await signups.verify_due(change, who)

    async def _click(self, tx: Tx, place: int, host: str) -> None:
        click = clicks.click(
            SITE,
            account_id=self.tenant.account_id,
            target_id=self.tenant.campaign_id,
            code="aaaaaaaa",
            address=f"10.0.0.{place}",
            user_agent="Firefox",
            now_ms=self.now_ms,
            referrer=f"https://{host}/page" if host else "",
        )
        await clicks.count_clicks(tx, [click])
        self.clicked.append(Clicked(self.now_ms, host))

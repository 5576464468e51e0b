"""A partner that sends robots, so that Home, the program and the review show what fraud looks like:
twelve signups at one mail domain, with counted addresses, two minutes apart, in the night.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from honeyguide.app import Services
from honeyguide.demo import pictures
from honeyguide.demo.setup import DemoState
from honeyguide.kernel import actors
from honeyguide.kernel.actors import Actor
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import logos, network, publications, verification
from honeyguide.partners.logos import StoredLogo
from honeyguide.screening.signals import Signal
from honeyguide.screening.visits import Visit
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store import Tx
from honeyguide.store.change import Change
from honeyguide.subscribers import branding
from honeyguide.subscribers.origins import Origin

EMAIL, NAME = "crumbs@honeyguide.example", "Coupon Crumbs"
FIRST_LOOK = 10
# Before the demo's end.
MEMBER_MS = 6 * DAY_MS
_NIGHTS_AGO, _AT_NIGHT_MS = 3, 2 * HOUR_MS + 10 * MINUTE_MS
_ROBOTS, _GAP_MS = 12, 114_000
_VISIT = Visit(
    Signal.AUTOMATED_BROWSER.found("user agent python-requests"),
    visitors=(),
    was_shown_form=False,
    is_on_link=True,
)

Step = Callable[[Tx], Awaitable[None]]


class RobotPartner:
    """It has nothing of its own here but a logo, so its owner has a partner's menu."""

    def __init__(self, state: DemoState, tenant: Tenant) -> None:
        self._state, self.tenant = state, tenant
        self._code = ""

    async def draw_logo(self, services: Services) -> None:
        logo = logos.sanitize(pictures.logo("cookie", "#4c6b1f", "#e2efcf"))
        stored = await logos.store(logo, services.site.logo_folder)
        await services.store.write(self._save_logo, stored)

    async def _save_logo(self, tx: Tx, logo: StoredLogo) -> None:
        since_ms = self._state.end_ms - MEMBER_MS
        await publications.add_logo(tx.at(since_ms), self.tenant.account_id, logo)
        change = self._change(tx, self.tenant, actors.command("demo"), since_ms)
        await branding.change_pictures(change, logo_id=logo.id)

    def steps(self, since_ms: int, until_ms: int) -> Iterator[tuple[int, Step]]:
        """What happens of it in this time."""
        end_ms, rng = self._state.end_ms, random.Random(NAME)
        join_ms = end_ms - MEMBER_MS + HOUR_MS
        first_ms = (end_ms // DAY_MS - _NIGHTS_AGO) * DAY_MS + _AT_NIGHT_MS
        every: list[tuple[int, Step]] = [(join_ms, partial(self._join, at_ms=join_ms))]
        for n in range(_ROBOTS):
            at_ms = first_ms + n * _GAP_MS + rng.randrange(-3_000, 3_000)
            every.append((at_ms, partial(self._sign_up, number=41 + n, at_ms=at_ms)))
        return (each for each in every if since_ms <= each[0] < until_ms)

    def _change(self, tx: Tx, tenant: Tenant, actor: Actor, at_ms: int) -> Change:
        return Change(tx, self._state.site, tenant, actor, at_ms)

    async def _join(self, tx: Tx, *, at_ms: int) -> None:
        change = self._change(tx, self.tenant, actors.ANY_MEMBER, at_ms)
        owner = self._state.accounts[0]
        program_id = next(iter(owner.programs.values()))
        of_owner = self._state.change(tx, owner, at_ms - HOUR_MS)
        await verification.set_columns(of_owner, program_id, {"first_look": FIRST_LOOK})
        why = "Deals for people who love to try new things."
        joined, _ = await network.join(change, program_id, why)
        self._code, self._state.unseen_partner = joined.ref_code, joined.id

    async def _sign_up(self, tx: Tx, *, number: int, at_ms: int) -> None:
        owner = self._state.accounts[0].tenant
        new = NewSubscriber(
            email=f"q{number:04}@parcelbox.example",
            referrer_code=self._code,
            ip_address=f"203.0.113.{number}",
            user_agent="python-requests/2.32.3",
            origin=Origin.MAGIC,
            visit=_VISIT,
        )
        made = await signups.sign_up(self._change(tx, owner, actors.NEW_SUBSCRIBER, at_ms), new)
        itself = actors.subscriber(made.id)
        # A robot has mailboxes, and follows the link in our email at once.
        await signups.confirm(self._change(tx, owner, itself, at_ms + 20_000), made)

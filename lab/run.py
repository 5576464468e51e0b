"""Plays all families against a real application on a clock of its own, in order of time."""

from __future__ import annotations

import heapq
import itertools
import random
import re
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from pathlib import Path

from honeyguide import settings
from honeyguide.app import Application, Services
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, system_clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.pages.embeds import endpoint
from honeyguide.pages.readers import forms
from honeyguide.signups import proof_of_work
from honeyguide.subscribers.cohorts import COUNTING
from honeyguide.work.items import Job
from honeyguide.work.jobs import COUNTS, PROGRAMS, PURGES
from lab import outcomes, world
from lab.browsers import EVERYDAY
from lab.client import LabClient, running
from lab.crowd import Crowd
from lab.family import Family, Form, Kind, Signup
from lab.names import LabNames
from lab.outcomes import PlayedSignup
from lab.owner import Setting
from lab.visitor import Visitor
from lab.world import World

BASE_URL = "https://lab.localhost"
# Families begin within this time, one after another, when the newsletter's readers are known.
KNOWN_AFTER_MS = 20 * DAY_MS
BEGINNING_MS = 2 * DAY_MS
JOBS_EVERY_MS = 10 * MINUTE_MS
# Emails that wait go as time passes: the jobs run each minute after an attacked partner's reader
# came, and each hour for some days after anybody did.
WATCHED_MS = 12 * MINUTE_MS
WAITED_MS = 9 * DAY_MS
OWNER_LOOKS_EVERY_MS = 3 * DAY_MS
EDITOR_LOOKS_EVERY_MS = DAY_MS
# What the newsletter's own page brings while it gets known.
OWN_READERS, SHORT_OWN_READERS = 100, 40
# What counts, tidies up and checks changes no decision, so here it is done once a day.
HOUSEKEEPING = frozenset((COUNTING, *(job.name for job in (*COUNTS, *PROGRAMS, *PURGES))))
# When the jobs run after the last signup, so that everything is decided.
DAYS_AFTERWARDS = (1, 2, 4, 7, 14, 31, 45, 70)
_CONFIRM = re.compile(rb"https://[^/\s]+(/confirm/[\w.~-]+)")

Step = Callable[[int], Awaitable[None]]


@dataclass
class Lab:
    """What plays: the application, its clock and its mailboxes."""

    services: Services
    visitor: Visitor
    world: World
    names: LabNames
    folder: Path
    taken: dict[str, str]
    """Which family has a person, whatever aliases they use; none if they read already."""
    played: list[PlayedSignup] = field(default_factory=list)
    _steps: list[tuple[int, int, Step]] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _by_email: dict[str, PlayedSignup] = field(default_factory=dict)
    _job_runs: dict[str, int] = field(default_factory=dict)
    _unwritten: set[str] = field(default_factory=set)
    """Honest people who wait for their email: the jobs run each minute meanwhile."""
    _planned: set[int] = field(default_factory=set)
    """When the jobs run."""
    _busy_until_ms: int = 0
    _looked_ms: int = 0
    _verified_ms: int = 0
    _now_ms: int = 0

    def plan(self, family: Family, signups: Sequence[Signup], began_ms: int) -> None:
        for signup in signups:
            person = EmailAddress.parse(signup.email).person
            if self.taken.setdefault(person, family.name) != family.name:
                continue  # by chance somebody else has this address
            played = self._by_email.get(signup.email)
            if played is None:
                played = PlayedSignup(family.name, family.kind, signup.email, is_extra=True)
                self.played.append(played)
                self._by_email[signup.email] = played
            if signup.mail_host:
                self.names.hosts[EmailAddress(signup.email).domain] = signup.mail_host
            if not signup.is_extra:
                played.is_extra, played.partner = False, signup.partner
            self._at(began_ms + signup.at_ms, self._sign_up(played, signup))

    async def play(self, tell: Callable[[int, int], None]) -> None:
        done = 0
        while self._steps:
            at_ms, _, step = heapq.heappop(self._steps)
            self._set_clock(at_ms)
            await step(self._now_ms)
            done += 1
            tell(done, done + len(self._steps))
        ended_ms = self._now_ms
        for days in DAYS_AFTERWARDS:
            self._set_clock(ended_ms + days * DAY_MS)
            await self._run_jobs(self._now_ms, lambda job: True)
            await self._answer_cards()
            await self._verify_as_editors()

    def _at(self, at_ms: int, step: Step) -> None:
        heapq.heappush(self._steps, (at_ms, next(self._numbers), step))

    def _set_clock(self, at_ms: int) -> None:
        self._now_ms = max(self._now_ms, at_ms)
        (self.folder / "clock").write_text(str((self._now_ms - system_clock()) / 1000))

    # -- what people and robots do

    def _sign_up(self, played: PlayedSignup, signup: Signup) -> Step:
        async def step(now_ms: int) -> None:
            if await self.visitor.sign_up(played.family, signup):
                played.is_accepted = True
                played.signup = signup
                if not signup.is_extra and played.asked_ms is None:
                    played.asked_ms = now_ms
                    if played.kind is Kind.HONEST:
                        self._unwritten.add(played.email)
                if signup.confirms_after_ms is not None:
                    self._at(now_ms + signup.confirms_after_ms, self._confirm(played))
            self._plan_jobs(now_ms, played)

        return step

    def _confirm(self, played: PlayedSignup) -> Step:
        async def step(now_ms: int) -> None:
            played.wants_to_confirm = True
            if not played.confirm_path:  # the service would have sent it at once
                await self._run_quick_jobs(now_ms)
            await self._confirm_if_asked(played, now_ms)

        return step

    async def _confirm_if_asked(self, played: PlayedSignup, now_ms: int) -> None:
        if not (played.wants_to_confirm and played.confirm_path and played.signup):
            return
        if played.confirmed_ms is not None:
            return
        path, played.confirm_path = played.confirm_path, ""
        if not await self.visitor.confirm(path, played.signup):
            return
        played.confirmed_ms = now_ms
        if (after_ms := played.signup.leaves_after_ms) is not None:
            self._at(now_ms + after_ms, self._leave(played))

    def _leave(self, played: PlayedSignup) -> Step:
        async def step(now_ms: int) -> None:
            await self.visitor.leave(played.email)

        return step

    async def _answer_cards(self) -> None:
        """A page shows some; what was answered is done after a minute."""
        owner = self.world.owner
        if owner is None:
            return
        await owner.log_in()
        while await owner.answer_cards():
            await self._wait_for_undo()

    async def _verify_as_editors(self) -> None:
        for family, editor in self.world.editors.items():
            await editor.log_in()
            await editor.switch_to(self.world.tenant.account_id)
            for partner in self.world.partners[family]:
                await editor.verify_all(partner.code)
        if self.world.editors:
            await self._wait_for_undo()

    async def _wait_for_undo(self) -> None:
        self._set_clock(self._now_ms + 2 * MINUTE_MS)
        await self._run_quick_jobs(self._now_ms)

    # -- what the service does meanwhile

    def _plan_jobs(self, now_ms: int, played: PlayedSignup) -> None:
        """Some minutes later, and each hour for as long as an email may wait."""
        self._plan_once(-(-now_ms // JOBS_EVERY_MS + 1) * JOBS_EVERY_MS, self._due_jobs)
        if played.kind is Kind.HONEST and played.is_extra:
            return  # no email to the newsletter's own readers waits
        if self._busy_until_ms < now_ms:
            self._plan_once(now_ms + HOUR_MS, self._each_hour)
        self._busy_until_ms = now_ms + WAITED_MS
        if played.kind is Kind.FRAMING and not played.is_extra:
            for minute in range(now_ms // MINUTE_MS, (now_ms + WATCHED_MS) // MINUTE_MS):
                self._plan_once((minute + 1) * MINUTE_MS, self._run_quick_jobs)

    def _plan_once(self, at_ms: int, step: Step) -> None:
        if at_ms not in self._planned:
            self._planned.add(at_ms)
            self._at(at_ms, step)

    async def _each_hour(self, now_ms: int) -> None:
        await self._due_jobs(now_ms)
        if now_ms - self._looked_ms >= OWNER_LOOKS_EVERY_MS:
            self._looked_ms = now_ms
            await self._answer_cards()
        if now_ms - self._verified_ms >= EDITOR_LOOKS_EVERY_MS:
            self._verified_ms = now_ms
            await self._verify_as_editors()
        if now_ms < self._busy_until_ms:
            self._plan_once(now_ms + HOUR_MS, self._each_hour)

    async def _due_jobs(self, now_ms: int) -> None:
        await self._run_jobs(now_ms, lambda job: self._is_due(job, now_ms))
        self._plan_next_minute(now_ms)

    def _plan_next_minute(self, now_ms: int) -> None:
        if self._unwritten:
            self._plan_once(now_ms // MINUTE_MS * MINUTE_MS + MINUTE_MS, self._run_quick_jobs)

    async def _run_quick_jobs(self, now_ms: int) -> None:
        await self._run_jobs(now_ms, lambda job: job.every_ms <= MINUTE_MS)
        self._plan_next_minute(now_ms)

    async def _run_jobs(self, now_ms: int, should_run: Callable[[Job], bool]) -> None:
        for job in self.services.loop.jobs:
            is_put_off = job.name in HOUSEKEEPING and not self._is_due(job, now_ms)
            if should_run(job) and not is_put_off:
                self._job_runs[job.name] = now_ms
                await self.services.loop.once(job)
        await self._read_emails(now_ms)

    def _is_due(self, job: Job, now_ms: int) -> bool:
        every_ms = DAY_MS if job.name in HOUSEKEEPING else job.every_ms
        return now_ms - self._job_runs.get(job.name, 0) >= every_ms

    async def _read_emails(self, now_ms: int) -> None:
        for file in (self.folder / "emails").glob("*.eml"):
            message = message_from_bytes(file.read_bytes())
            file.unlink()
            played = self._by_email.get(message["To"])
            if played is None:
                continue
            played.emails += 1
            text = next(part for part in message.walk() if part.get_content_type() == "text/plain")
            body = text.get_payload(decode=True)
            assert isinstance(body, bytes)
            if link := _CONFIRM.search(body):
                await self._read_link(played, link[1].decode(), now_ms)

    async def _read_link(self, played: PlayedSignup, path: str, now_ms: int) -> None:
        played.confirm_path = path
        if played.asked_ms is not None and played.emailed_ms is None:
            played.emailed_ms = now_ms
            self._unwritten.discard(played.email)
        if played.signup is not None and played.signup.is_scanned:
            await self.visitor.scan(path)
        await self._confirm_if_asked(played, now_ms)


async def run(
    families: Sequence[Family],
    *,
    is_short: bool = False,
    seed: int = 0,
    setting: Setting = Setting.API,
    database_url: str = "",
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> list[PlayedSignup]:
    """Plays the families, and returns what became of each signup."""
    # The time that an answer takes tells nothing here, and thousands of forms would take hours.
    forms.ANSWER_AFTER_S = 0
    vars(endpoint)["ANSWER_AFTER_S"] = 0
    # The work of a phone is that of all people here on one machine.
    proof_of_work.TRIES_PER_S = proof_of_work.COST = 1
    with tempfile.TemporaryDirectory(prefix="honeyguide-lab-") as name:
        folder = Path(name)
        chosen = settings.read(
            {},
            database_url=database_url or f"sqlite:///{folder / 'lab.db'}",
            base_url=BASE_URL,
            smtp_url=f"file://{folder.as_posix()}/emails",
            test_clock=str(folder / "clock"),
            rate_limit=0,
            log="off",
        )
        application = Application(chosen, work=False)
        async with running(application):
            assert application.services is not None
            services, client = application.services, LabClient(application, BASE_URL)
            built = await world.build(
                services, client, families, setting=setting, is_short=is_short
            )
            visitor = Visitor(client, built)
            names = LabNames()
            services.outbound.resolver.names = names
            lab = Lab(services, visitor, built, names, folder, dict.fromkeys(built.readers, ""))
            lab.plan(*_own_readers(services.clock(), is_short=is_short))
            rng = random.Random(f"beginnings {seed}")
            for family in families:
                began_ms = services.clock() + KNOWN_AFTER_MS + rng.randrange(BEGINNING_MS)
                lab.plan(family, family.play(seed=seed, is_short=is_short), began_ms)
            await lab.play(tell)
            await outcomes.fill_in(services, client, built, lab.played)
            if built.owner is not None:
                for played in lab.played:
                    played.cards = built.owner.cards[played.family]
            return lab.played


def _own_readers(now_ms: int, *, is_short: bool) -> tuple[Family, list[Signup], int]:
    """Readers who come by the newsletter's own page, before anybody else does."""

    def signups(rng: random.Random, count: int) -> Iterator[Signup]:
        """As all others."""
        crowd = Crowd(rng)
        for at_ms in crowd.days(count, KNOWN_AFTER_MS // DAY_MS):
            yield Signup(
                crowd.address(0.2),
                at_ms,
                crowd.ip_address(),
                browser=crowd.browser(EVERYDAY),
                form=Form.PAGE,
                confirms_after_ms=crowd.confirms(),
                is_extra=True,
            )

    count = SHORT_OWN_READERS if is_short else OWN_READERS
    family = Family("own_readers", "", Kind.HONEST, count, signups)
    return family, list(signups(random.Random("own readers"), count)), now_ms

"""Plays all families against a real application on a clock of its own, in order of time."""

from __future__ import annotations

import heapq
import itertools
import random
import re
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from pathlib import Path
from urllib.parse import urlsplit

from honeyguide import settings
from honeyguide.app import Application, Services
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS, system_clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.work.items import Job
from honeyguide.work.jobs import COUNTS, PROGRAMS, PURGES
from lab import outcomes, world
from lab.browsers import BROWSERS
from lab.client import LabClient, LabForm, LabResponse, running
from lab.family import Family, Form, Signup
from lab.outcomes import PlayedSignup
from lab.world import World

BASE_URL = "https://lab.localhost"
# Families begin within this time, one after another.
BEGINNING_MS = 2 * DAY_MS
# Where a script fetches forms that it sends from elsewhere.
ELSEWHERE = "198.51.100.7"
JOBS_EVERY_MS = 10 * MINUTE_MS
# What counts, tidies up and checks changes no decision, so here it is done once a day.
HOUSEKEEPING = frozenset(job.name for job in (*COUNTS, *PROGRAMS, *PURGES))
# When the jobs run after the last signup, so that everything is decided.
DAYS_AFTERWARDS = (1, 2, 4, 7, 14, 31, 45, 70)
_CONFIRM = re.compile(rb"https://[^/\s]+(/confirm/[\w.~-]+)")

Step = Callable[[int], Awaitable[None]]


@dataclass
class Lab:
    """What plays: the application, its clock and its mailboxes."""

    services: Services
    client: LabClient
    world: World
    folder: Path
    taken: dict[str, str]
    """Which family has a person, whatever aliases they use; none if they read already."""
    played: list[PlayedSignup] = field(default_factory=list)
    _steps: list[tuple[int, int, Step]] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _forms: dict[str, LabForm] = field(default_factory=dict)
    """The form that a script of a family has, to send again."""
    _by_email: dict[str, PlayedSignup] = field(default_factory=dict)
    _job_runs: dict[str, int] = field(default_factory=dict)
    _are_jobs_planned: bool = False

    def plan(self, family: Family, signups: Sequence[Signup], began_ms: int) -> None:
        for signup in signups:
            person = EmailAddress.parse(signup.email).person
            if self.taken.setdefault(person, family.name) != family.name:
                continue  # by chance somebody else has this address
            played = self._by_email.get(signup.email)
            if played is None:
                played = PlayedSignup(family.name, family.is_honest, signup.email)
                self.played.append(played)
                self._by_email[signup.email] = played
            self._at(began_ms + signup.at_ms, self._sign_up(played, signup))

    async def play(self, tell: Callable[[int, int], None]) -> None:
        done = 0
        now_ms = 0
        while self._steps:
            at_ms, _, step = heapq.heappop(self._steps)
            now_ms = max(now_ms, at_ms)
            self._set_clock(now_ms)
            await step(now_ms)
            done += 1
            tell(done, done + len(self._steps))
        for days in DAYS_AFTERWARDS:
            self._set_clock(now_ms + days * DAY_MS)
            await self._run_jobs(now_ms + days * DAY_MS, lambda job: True)

    def _at(self, at_ms: int, step: Step) -> None:
        heapq.heappush(self._steps, (at_ms, next(self._numbers), step))

    def _set_clock(self, now_ms: int) -> None:
        (self.folder / "clock").write_text(str((now_ms - system_clock()) / 1000))

    # -- what people and robots do

    def _sign_up(self, played: PlayedSignup, signup: Signup) -> Step:
        async def step(now_ms: int) -> None:
            form = await self._find_form(played.family, signup)
            answer = await self._submit(form, signup)
            if signup.form is Form.ANSWERED and (fresh := answer.find_form()):
                self._forms[played.family] = fresh
                answer = await self._submit(fresh, signup)
            if answer.status == 303:
                played.is_accepted = True
                played.signup = signup
                if signup.confirms_after_ms is not None:
                    self._at(now_ms + signup.confirms_after_ms, self._confirm(played))
            self._plan_jobs(now_ms)

        return step

    async def _find_form(self, family: str, signup: Signup) -> LabForm:
        is_kept = signup.form in (Form.REPLAYED, Form.ANSWERED)
        if not is_kept or family not in self._forms:
            fetched_from = ELSEWHERE if signup.form is Form.ELSEWHERE else signup.ip_address
            path = f"/m/{self.world.codes[family]}"
            page = await self.client.get(path, fetched_from, BROWSERS[signup.browser])
            form = page.find_form()
            assert form is not None, f"{path} has no form: {page.status}"
            self._forms[family] = form
        return self._forms[family]

    async def _submit(self, form: LabForm, signup: Signup) -> LabResponse:
        fields = {**form.fields, "email": signup.email}
        headers = BROWSERS[signup.browser]
        return await self.client.submit(form.action, signup.ip_address, headers, fields)

    def _confirm(self, played: PlayedSignup) -> Step:
        async def step(now_ms: int) -> None:
            played.wants_to_confirm = True
            if not played.confirm_path:  # the service would have sent it at once
                await self._run_jobs(now_ms, lambda job: job.every_ms <= MINUTE_MS)
            await self._confirm_if_asked(played, now_ms)

        return step

    async def _confirm_if_asked(self, played: PlayedSignup, now_ms: int) -> None:
        if not (played.wants_to_confirm and played.confirm_path and played.signup):
            return
        if played.confirmed_ms is not None:
            return
        at, headers = played.signup.ip_address, BROWSERS[played.signup.browser]
        path, played.confirm_path = played.confirm_path, ""
        await self.client.get(path, at, headers)
        answer = await self.client.submit(path, at, headers, {})
        if answer.status != 303:
            return
        played.confirmed_ms = now_ms
        if played.signup.uses_page:
            await self._use_page(answer.headers["location"], at, headers)

    async def _use_page(self, location: str, at: str, headers: dict[str, str]) -> None:
        """Opens the referral page and presses the first button on it, if it has one."""
        form = (await self.client.get(urlsplit(location).path, at, headers)).find_form()
        if form is not None:
            await self.client.submit(form.action, at, headers, form.fields)

    # -- what the service does meanwhile

    def _plan_jobs(self, now_ms: int) -> None:
        if self._are_jobs_planned:
            return
        self._are_jobs_planned = True

        async def step(now_ms: int) -> None:
            self._are_jobs_planned = False
            await self._run_jobs(now_ms, lambda job: self._is_due(job, now_ms))

        self._at(now_ms + JOBS_EVERY_MS, step)

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
                played.confirm_path = link[1].decode()
                await self._confirm_if_asked(played, now_ms)


async def run(
    families: Sequence[Family],
    *,
    is_short: bool = False,
    seed: int = 0,
    database_url: str = "",
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> list[PlayedSignup]:
    """Plays the families, and returns what became of each signup."""
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
            names = [family.name for family in families]
            built = await world.build(services, client, names, is_short=is_short)
            lab = Lab(services, client, built, folder, dict.fromkeys(built.readers, ""))
            rng = random.Random(f"beginnings {seed}")
            for family in families:
                began_ms = services.clock() + rng.randrange(BEGINNING_MS)
                lab.plan(family, family.play(seed=seed, is_short=is_short), began_ms)
            await lab.play(tell)
            await outcomes.fill_in(services, client, built, lab.played)
            return lab.played

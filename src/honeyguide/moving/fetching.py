"""An import whose lines are fetched from another service's API, page by page. What is fetched is
stored as the parts of an ordinary import, together with the place where the fetch goes on, so that
a process that is killed loses and doubles nothing.

Lists are newest first and move while people join and leave. So after the last page it begins again
and goes on until it meets somebody it knows, or to the end if the service had more people at any
time than were found.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import NamedTuple

import msgspec

from honeyguide.accounts import accounts
from honeyguide.kernel.clock import HOUR_MS, SECOND_MS
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.ids import is_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import integration_texts
from honeyguide.moving import import_files, importing, remote_people
from honeyguide.moving.remote_api import INTERVAL_S, PER_PAGE, RemotePage, service_name, source_of
from honeyguide.moving.remote_people import ReadPeople
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# Times that the list is gone through.
MOST_ROUNDS = 3
# Failures in a row; then it stops and waits for the operator.
MOST_TRIES = 10
MOST_TRIES_OF_NONSENSE = 4
LONGEST_WAIT_MS = HOUR_MS
# Fetches that the job looks after in turns.
BATCH = 20
# Wakes the job.
TOPIC = "remote fetches"
NO_STATUS = (
    "The other service does not say who unsubscribed. Everybody who is new here is imported as "
    "active. To keep them out, import the list of your email platform first."
)


class FetchStage(StrEnum):
    """What is fetched, in this order. The values are keys of the lists, too."""

    PEOPLE = "people"
    PAYOUTS = "payouts"
    PARTNER_CAMPAIGNS = "partner_campaigns"
    PUBLICATIONS = "publications"
    PARTNER_PROGRAMS = "partner_programs"
    DONE = "done"

    @property
    def next(self) -> FetchStage:
        stages = list(FetchStage)
        return stages[min(stages.index(self) + 1, len(stages) - 1)]


class RemoteFetch(NamedTuple):
    import_id: str
    account_id: str
    campaign_id: str
    base_url: str
    secret: str
    stage: FetchStage
    round: int
    page: int
    parts: int
    fetched: int
    total: int
    tries: int
    next_ms: int
    is_stopped: bool
    problem: str
    not_understood: dict[str, int]
    says_who_left: bool
    created_ms: int
    import_status: str
    file_name: str
    lines: int

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)

    @property
    def name(self) -> str:
        return service_name(self.base_url)

    @property
    def has_people(self) -> bool:
        """Whether everybody is fetched, so that the import can be tried and started."""
        return self.stage != FetchStage.PEOPLE

    @property
    def is_under_way(self) -> bool:
        """Whether it goes on by itself."""
        return bool(self.secret) and not self.is_stopped and self.stage != FetchStage.DONE

    @property
    def seconds_left(self) -> int:
        """At the pace of the requests. Half a second for each, and as long to be answered."""
        left = max(0, self.total - self.fetched)
        return round((left / PER_PAGE + 1) * 2 * INTERVAL_S)


_sql = beside(__file__)
_INSERT = _sql.command("insert")
_BY_ID = _sql.query("by_id", RemoteFetch)
_OF_ACCOUNT = _sql.query("of_account", RemoteFetch)
_DUE = _sql.value("due", str)
_DUE_BY_ID = _sql.query("due_by_id", RemoteFetch)
_KNOWN = _sql.value("known", str)
_INSERT_KNOWN = _sql.command("insert_known")
_FORGET_KNOWN = _sql.command("forget_known")
_MOVE = _sql.command("move")
_WAIT = _sql.command("wait")
_RESUME = _sql.command("resume")
_FORGET_SECRET = _sql.command("forget_secret")
_COMPLETE = _sql.command("complete")


async def begin(change: Change, base_url: str, campaign_name: str | None) -> str:
    """A new fetch, which waits for its key."""
    service = service_name(base_url)
    import_id = await importing.begin(
        change,
        f"{service}: {campaign_name}" if campaign_name else service,
        remote_people.HEADER,
        remote_people.MAPPING,
        source=source_of(base_url),
    )
    await change.run(
        _INSERT,
        import_id=import_id,
        base_url=base_url,
        secret="",
        stage=FetchStage.PEOPLE,
    )
    return import_id


async def get(at: Reading, import_id: str) -> RemoteFetch:
    found = await find(at, import_id)
    if found is None:
        raise Missing("There is no such import.")
    return found


async def find(at: Reading, import_id: str) -> RemoteFetch | None:
    if not is_id(import_id):
        return None
    return await at.one(_BY_ID, import_id=import_id)


async def of_account(at: Reading) -> list[RemoteFetch]:
    """The newest first."""
    return await at.all(_OF_ACCOUNT)


async def find_unfinished(at: Reading, base_url: str) -> RemoteFetch | None:
    """One that can go on: not all of it is fetched, or it is not imported yet."""
    for each in await of_account(at):
        is_open = each.stage != FetchStage.DONE or (each.lines > 0 and each.import_status != "done")
        if each.base_url == base_url and is_open:
            return each
    return None


async def due(tx: Tx, *, most: int) -> list[str]:
    return await tx.all(_DUE, most=most)


async def get_due(tx: Tx, import_id: str) -> RemoteFetch | None:
    return await tx.one(_DUE_BY_ID, import_id=import_id)


async def resume(change: Change, fetch: RemoteFetch, *, secret: str = "") -> None:
    """Lets it go on, with a key that is kept, or without."""
    await change.run(
        _RESUME,
        import_id=fetch.import_id,
        secret=secret,
        stage=fetch.stage,
    )
    if secret:
        change.tx.wake(TOPIC)


async def go_on_with_partners(change: Change, fetch: RemoteFetch) -> None:
    """After a dry run, which fetches people only."""
    await resume(change, fetch._replace(stage=FetchStage.PAYOUTS))


async def store_people(
    change: Change, fetch: RemoteFetch, page: RemotePage, read: ReadPeople, *, only_people: bool
) -> bool:
    """Stores one page and moves on. False if another process has stored it."""
    uuids = list(dict.fromkeys(person.uuid for person in read.people))
    import_id = fetch.import_id
    known = set(await change.all(_KNOWN, import_id=import_id, uuids=uuids))
    new = list({each.uuid: each for each in read.people if each.uuid not in known}.values())
    parts = [
        msgspec.json.encode(batch).decode()
        for batch in import_files.parts(remote_people.lines(new, fetch.fetched + 1))
    ]
    found = Counter(name for person in new for name in person.not_understood)
    if fetch.round == 1 and read.unreadable:
        found[remote_people.UNREADABLE] = read.unreadable
    counted = fetch._replace(
        fetched=fetch.fetched + len(new),
        parts=fetch.parts + len(parts),
        not_understood=remote_people.merged(fetch.not_understood, found),
        says_who_left=fetch.says_who_left or any(each.says_who_left for each in new),
    )
    moved = _after(counted, page, knows_some=bool(known))
    if only_people and moved.stage != FetchStage.PEOPLE:
        moved = moved._replace(stage=FetchStage.DONE)
    if not await _move(change, fetch, moved):
        return False
    await importing.add_parts(change, fetch.import_id, fetch.parts, parts)
    await change.run(_INSERT_KNOWN, import_id=import_id, uuids=[each.uuid for each in new])
    if moved.stage != FetchStage.PEOPLE:
        await change.run(_COMPLETE, import_id=import_id, fetched=moved.fetched)
        await change.run(_FORGET_KNOWN, import_id=import_id)
    return True


def _after(fetch: RemoteFetch, page: RemotePage, *, knows_some: bool) -> RemoteFetch:
    """Where to go on after this page of people."""
    read = fetch.fetched + fetch.not_understood.get(remote_people.UNREADABLE, 0)
    at_end = fetch.page >= page.total_pages or not page.items
    # The most at any time: as many as left may have come up to a page that was read already.
    most = max(page.total, fetch.total, fetch.fetched)
    is_whole = fetch.round > 1 and read >= most and (knows_some or at_end)
    if is_whole or (at_end and fetch.round >= MOST_ROUNDS):
        return _next_stage(fetch._replace(total=max(page.total, fetch.fetched)))
    moved = fetch._replace(total=most)
    if at_end:
        return moved._replace(round=fetch.round + 1, page=1)
    return moved._replace(page=fetch.page + 1)


def _next_stage(fetch: RemoteFetch) -> RemoteFetch:
    return fetch._replace(stage=fetch.stage.next, round=1, page=1)


def after_list(fetch: RemoteFetch, page: RemotePage | None) -> RemoteFetch:
    """Where to go on after this page of another list; None if the service has no such list."""
    if page is None or fetch.page >= page.total_pages or not page.items:
        return _next_stage(fetch)
    return fetch._replace(page=fetch.page + 1)


async def move(change: Change, fetch: RemoteFetch, moved: RemoteFetch, found: Counter[str]) -> bool:
    """Moves on in the transaction that stores what was fetched. False if another process did."""
    return await _move(
        change,
        fetch,
        moved._replace(not_understood=remote_people.merged(fetch.not_understood, found)),
    )


async def _move(change: Change, fetch: RemoteFetch, moved: RemoteFetch) -> bool:
    changed = await change.run(
        _MOVE,
        import_id=fetch.import_id,
        stage=moved.stage,
        round=moved.round,
        page=moved.page,
        parts=moved.parts,
        fetched=moved.fetched,
        total=moved.total,
        not_understood=msgspec.json.encode(moved.not_understood).decode(),
        says_who_left=moved.says_who_left,
        from_stage=fetch.stage,
        from_round=fetch.round,
        from_page=fetch.page,
    )
    if changed and moved.stage == FetchStage.DONE:
        await change.run(_FORGET_SECRET, import_id=fetch.import_id)
    return bool(changed)


def wait_ms(tries: int, after_s: int | None) -> int:
    """How long to wait: what the service asks for, and longer after each failure."""
    asked_ms = (after_s or 0) * SECOND_MS
    return min(max(asked_ms, SECOND_MS << min(tries, 12)), LONGEST_WAIT_MS)


async def wait(
    change: Change,
    fetch: RemoteFetch,
    problem: str,
    *,
    after_s: int | None = None,
    passes: bool = True,
) -> None:
    """Tries again later, and stops after so many failures in a row. What makes no sense is tried a
    few times only: it may be a page that says "We'll be right back"."""
    stops = fetch.tries + 1 >= (MOST_TRIES if passes else MOST_TRIES_OF_NONSENSE)
    await _note(
        change, fetch, problem, change.now_ms + wait_ms(fetch.tries, after_s), is_stopped=stops
    )


async def stop(change: Change, fetch: RemoteFetch, problem: str) -> None:
    """Goes on only once the operator has given another key."""
    await _note(change, fetch, problem, 0, is_stopped=True)


async def _note(
    change: Change, fetch: RemoteFetch, problem: str, next_ms: int, *, is_stopped: bool
) -> None:
    await change.run(
        _WAIT,
        import_id=fetch.import_id,
        next_ms=next_ms,
        problem=problem[:500],
        is_stopped=is_stopped,
    )


async def notify_ended(change: Change, before: RemoteFetch) -> None:
    """Notifies the operator if a fetch in the background has just ended, well or not. Whoever
    fetches at a terminal sees it there."""
    after = await get(change.of(before.tenant), before.import_id)
    if not before.is_under_way or after.is_under_way:
        return
    link = f"/subscribers/import/api/{after.import_id}"
    page = f"{change.site.base_url}{link}"
    if after.is_stopped:
        # It may go on and stop again.
        kind, cause = "fetch_stopped", f"{after.import_id}:{change.now_ms}"
        message = integration_texts.fetch_stopped(
            service=after.name, problem=after.problem, page=page
        )
    else:
        kind, cause = "fetch_done", after.import_id
        message = integration_texts.fetch_done(service=after.name, people=after.fetched, page=page)
    await accounts.notify_owner(change, kind, cause, message, link=link)

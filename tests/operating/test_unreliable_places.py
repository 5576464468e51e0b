"""The log of erasures and the backups, when the place where they are kept fails or cuts a file
short: no erasure is lost, and nothing that did not arrive whole is called a good backup.
"""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from honeyguide import settings
from honeyguide.app import site_of
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, system_clock
from honeyguide.kernel.errors import Fault, Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.operating.backups import records
from honeyguide.operating.backups.erasure_files import read_erasures
from honeyguide.operating.backups.making import BackupPlan
from honeyguide.operating.backups.names import backup_name, erasures_name
from honeyguide.operating.backups.places import StoredFile, place_for
from honeyguide.operating.backups.restoring import LATEST, Restored, Restoring, restore
from honeyguide.operating.backups.threads import Tick
from honeyguide.signups import erasures, signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.work import backups
from tests.support.backups import use_client_programs
from tests.support.changes import changing
from tests.support.process import fresh
from tests.support.service import ENGINES
from tests.support.stores import OpenStore

# How a write can go wrong: nothing is stored, a part is, or all of it without anybody being told.
# A place that cuts a file short may say so, or not.
WRITES = ("fails before", "fails in the middle", "fails after", "cuts short", "loses it")


class UnreliablePlace:
    def __init__(self, folder: Path, cut: Path) -> None:
        self._place = place_for(str(folder))
        self._cut = cut
        self.shown = self._place.shown
        self.write = self.read = ""
        self.hidden: set[str] = set()
        self.deletes = True

    def make_private(self) -> None:
        self._place.make_private()

    def put(self, name: str, source: Path, tick: Tick) -> None:
        if self.write in ("fails in the middle", "cuts short"):
            self._cut.write_bytes(source.read_bytes()[: source.stat().st_size // 2])
            self._place.put(name, self._cut, tick)
        elif self.write not in ("fails before", "loses it"):
            self._place.put(name, source, tick)
        if self.write.startswith("fails"):
            raise Unavailable("The disk is gone.")

    def files(self) -> list[StoredFile]:
        if self.read == "fails":
            raise Unavailable("The disk is gone.")
        return [file for file in self._place.files() if file.name not in self.hidden]

    def get(self, name: str, target: Path, tick: Tick) -> None:
        self._place.get(name, target, tick)
        if self.read == "cuts short":
            target.write_bytes(target.read_bytes()[: target.stat().st_size // 2])

    def delete(self, name: str) -> None:
        if not self.deletes:
            raise Unavailable("The disk is gone.")
        self._place.delete(name)


SITE = Site("http://127.0.0.1", "http://127.0.0.1/join", b"k" * 32)
BACKUPS = "SELECT result FROM backup ORDER BY started_ms, id"


class Machine:
    """A database with two subscribers, Ann and Bea, and its backup place."""

    def __init__(self, opened: OpenStore, folder: Path) -> None:
        self.opened, self.url, self.folder = opened, opened.url, folder / "backups"
        self.folder.mkdir()
        self.place = UnreliablePlace(self.folder, folder / "cut")
        self.plan = BackupPlan(self.url, self.place, "", HOUR_MS, 30)
        opened.account_with_key()
        self.tenant = Tenant(*opened.ask("SELECT account_id, id FROM campaign")[0])
        self.ids = [self.add(f"{name}@example.org") for name in ("ann", "bea")]

    def add(self, email: str) -> str:
        new = NewSubscriber(email=email, origin="api")
        sign_up = changing(signups.sign_up, SITE, self.tenant, system_clock())
        return self.opened.run(self.opened.store.write(sign_up, new)).id

    def erase(self, subscriber_id: str) -> None:
        erase = changing(signups.erase, SITE, self.tenant, system_clock())
        self.opened.run(self.opened.store.write(erase, subscriber_id))

    def copy_erasures(self) -> None:
        self.opened.run(backups.copy_erasures(self.plan, self.opened.store, system_clock()))

    def back_up(self) -> None:
        self.opened.run(backups.back_up(self.plan, self.opened.store, now_ms=system_clock()))

    def good(self) -> list[StoredFile]:
        return self.opened.run(self.opened.store.read(records.good))

    def waiting(self) -> list[str]:
        """Subscribers who are erased, but not yet in the log at the place."""
        found = self.opened.run(self.opened.store.read(erasures.uncopied, most=99))
        return [each.subscriber_id for each in found]

    def logged(self) -> list[str]:
        """Subscribers who are erased according to the log at the place."""
        found = read_erasures(self.place, self.folder.parent, lambda: None)
        return sorted({each.subscriber_id for each in found})

    def names(self) -> list[str]:
        return sorted(each.name for each in self.folder.iterdir())

    def restore(self, *, onto: str = "") -> Restored:
        asked = Restoring(
            source=LATEST,
            database_url=onto or self.url,
            place=self.place,
            site_of=partial(site_of, settings=settings.read({}, database_url=self.url)),
            replaces=True,
        )
        return asyncio.run(restore(asked, now_ms=system_clock()))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    use_client_programs(monkeypatch)
    monkeypatch.setattr(backups, "GATHER_S", 0)


@pytest.fixture
def machine(opened: OpenStore, tmp_path: Path) -> Machine:
    return Machine(opened, tmp_path)


def people_in(url: str) -> list[str]:
    with OpenStore("", url) as store:
        rows = store.ask("SELECT email FROM subscriber WHERE email IS NOT NULL ORDER BY email")
    return [row[0] for row in rows]


@pytest.mark.parametrize("write", WRITES)
def test_an_erasure_waits_until_the_place_has_it_whole(machine: Machine, write: str) -> None:
    ann, bea = machine.ids
    machine.erase(ann)
    machine.place.write = write
    with pytest.raises(Unavailable):
        machine.copy_erasures()
    assert machine.waiting() == [ann]
    machine.erase(bea)
    machine.place.write = ""
    machine.copy_erasures()
    assert machine.waiting() == [] and machine.logged() == sorted([ann, bea])
    assert len(machine.names()) == 1, "nothing cut short is left, which a restore could not read"


def test_an_erasure_is_not_copied_while_the_place_cannot_be_read(machine: Machine) -> None:
    machine.erase(machine.ids[0])
    machine.place.read = "fails"
    with pytest.raises(Unavailable):
        machine.copy_erasures()
    assert machine.waiting() == machine.ids[:1]


@pytest.mark.parametrize("deletes", [True, False])
@pytest.mark.parametrize("write", WRITES)
def test_a_backup_that_did_not_arrive_whole_is_no_backup(
    machine: Machine, write: str, deletes: bool
) -> None:
    machine.back_up()
    (good,) = machine.names()
    machine.place.write, machine.place.deletes = write, deletes
    with pytest.raises(Unavailable, match="The backup failed"):
        machine.back_up()
    assert machine.opened.ask(BACKUPS) == [(records.OK,), (records.FAILED,)]
    assert [each.name for each in machine.good()] == [good]
    assert (machine.names() == [good]) or not deletes
    if write == "fails in the middle" and not deletes:
        # What the place keeps of it is refused; the last good one is still there.
        with pytest.raises(Fault, match="damaged or incomplete"):
            machine.restore(onto=fresh(machine.opened.engine))
        assert good in machine.names()


def test_a_backup_that_is_not_listed_is_no_backup(machine: Machine) -> None:
    listed = machine.place.files
    machine.place.files = lambda: []  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="has 0 bytes instead of"):
        machine.back_up()
    machine.place.files = listed  # type: ignore[method-assign]
    assert machine.opened.ask(BACKUPS) == [(records.FAILED,)]


def test_a_file_that_is_read_cut_short_restores_nothing(machine: Machine) -> None:
    machine.back_up()
    machine.erase(machine.ids[0])
    machine.copy_erasures()
    target = fresh(machine.opened.engine)
    machine.place.read = "cuts short"
    with pytest.raises(Fault, match="damaged"):
        machine.restore(onto=target)
    machine.place.read = ""
    (log,) = [name for name in machine.names() if "erasures" in name]
    whole = (machine.folder / log).read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 1):
        (machine.folder / log).write_bytes(whole[:size])
        with pytest.raises(Fault, match=f"{log} in .* is damaged"):
            machine.restore(onto=target)
    (machine.folder / log).write_bytes(whole)
    assert machine.restore(onto=target).erased_again == 1
    assert people_in(target) == ["bea@example.org"]


@pytest.mark.parametrize("engine", ENGINES)
def test_erasures_are_applied_whichever_side_knows_them(engine: str, tmp_path: Path) -> None:
    with OpenStore(engine) as opened:
        machine = Machine(opened, tmp_path)
        ann, bea = machine.ids
        machine.add("cid@example.org")
        machine.back_up()
        dora = machine.add("dora@example.org")
        machine.erase(ann)
        machine.copy_erasures()
        opened.do("DELETE FROM erasure")  # only the place knows about Ann
        for person in (bea, dora):
            machine.erase(person)
    assert machine.restore().erased_again == 3
    assert people_in(machine.url) == ["cid@example.org"]
    with OpenStore(engine, machine.url) as machine.opened:
        machine.copy_erasures()
        # In the copy it was still under way.
        assert machine.opened.ask("SELECT COUNT(*) FROM backup") == [(0,)]
    # Another backup may have those whom only the old database knew.
    assert machine.logged() == sorted([ann, bea, dora])


def a_backup(days_old: int) -> str:
    return backup_name(system_clock() - days_old * DAY_MS, "dump", is_encrypted=False)


def test_the_last_good_backup_is_kept_however_long_no_other_is_good(machine: Machine) -> None:
    good, unchecked = a_backup(400), a_backup(399)
    for name, result in ((good, records.OK), (unchecked, records.UNCHECKED)):
        (machine.folder / name).write_bytes(b"x" * 9)
        machine.opened.do(
            "INSERT INTO backup (id, name, started_ms, bytes, result) "
            "VALUES (:id, :name, :started_ms, 9, :result)",
            id=new_id(),
            name=name,
            started_ms=system_clock() - 400 * DAY_MS,
            result=result,
        )
    delete_expired = partial(backups._delete_expired, machine.plan, machine.opened.store)
    for _ in range(2):  # the first time deletes old records
        machine.opened.run(delete_expired())
        assert good in machine.names()


def test_a_good_backup_that_is_cut_short_afterwards_does_not_count(machine: Machine) -> None:
    for days_old, size in ((60, 9), (50, 9), (40, 5)):
        name = a_backup(days_old)
        (machine.folder / name).write_bytes(b"x" * size)
        machine.opened.do(
            "INSERT INTO backup (id, name, started_ms, bytes, result) "
            "VALUES (:id, :name, :started_ms, 9, 'ok')",
            id=new_id(),
            name=name,
            started_ms=system_clock() - days_old * DAY_MS,
        )
    _, whole, short = machine.names()
    machine.opened.run(backups._delete_expired(machine.plan, machine.opened.store))
    assert machine.names() == [whole, short]


def test_a_list_that_misses_backups_deletes_no_erasures_that_they_need(machine: Machine) -> None:
    young, old = a_backup(1), a_backup(20)
    log, expired = (erasures_name(system_clock() - days * DAY_MS, "ab") for days in (15, 32))
    for name in (young, old, log, expired):
        (machine.folder / name).write_bytes(b"x")
    machine.place.hidden = {old}
    machine.opened.run(backups._delete_expired(machine.plan, machine.opened.store))
    assert machine.names() == sorted([young, old, log])


def test_a_damaged_log_is_named_and_no_line_of_it_is_left_out(machine: Machine) -> None:
    machine.erase(machine.ids[0])
    machine.copy_erasures()
    (log,) = machine.names()
    for content in (b"", b"{}", b"[{}]", b'[{"id": 1}]', b"[1]"):
        (machine.folder / log).write_bytes(content)
        with pytest.raises(Fault, match="is damaged"):
            machine.logged()

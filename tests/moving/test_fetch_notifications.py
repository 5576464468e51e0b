"""A fetch in the background tells the operator how it ended, once, and nothing about anybody."""

from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.moving import fetching
from honeyguide.moving.fetching import RemoteFetch
from honeyguide.work.fetches import fetch_some
from tests.support.incumbent import KEY
from tests.support.moves import Move, moving
from tests.support.platforms.stand_in import status
from tests.support.readings import changes_of, reads
from tests.support.stores import OpenStore

KEYS = EncryptionKeys([b"\xab" * 32])


async def let_go_on(move: Move, import_id: str, key: str = KEY) -> None:
    """Gives it a key, as the dashboard does, and lets the job do what is due."""
    fetch = await move.store.read(reads(fetching.get, move.tenant), import_id)
    secret = KEYS.encrypt(key, row_id=import_id)
    await move.store.write(changes_of(fetching.resume, move.tenant), fetch, secret=secret)
    async with move.fetcher() as fetcher:
        for _ in range(100):
            fetch = await move.store.read(reads(fetching.get, move.tenant), import_id)
            if not fetch.is_under_way:
                return
            move.now_ms = max(move.now_ms, fetch.next_ms)
            await fetch_some(fetcher, KEYS, move.store, [import_id], move.now_ms)
    raise AssertionError("it never ends")


def notifications_of(opened: OpenStore) -> list[tuple[str, str, str]]:
    sql = "SELECT kind, sentence, link FROM notice ORDER BY created_ms, id"
    return [(str(kind), str(sentence), str(link)) for kind, sentence, link in opened.ask(sql)]


def test_the_operator_is_told_how_it_ended(opened: OpenStore) -> None:
    move = moving(opened, 30)

    async def work() -> str:
        async with move.server.serving():
            import_id = await move.begin()
            await let_go_on(move, import_id, "a wrong key")
            move.server.fail(*[status(503)] * fetching.MOST_TRIES)
            move.now_ms += 1
            await let_go_on(move, import_id)
            move.now_ms += 1
            await let_go_on(move, import_id)
        return import_id

    page = f"/subscribers/import/api/{opened.run(work())}"
    host = move.server.url.partition("//")[2].partition(":")[0]
    found = notifications_of(opened)
    assert [(kind, link) for kind, _, link in found] == [
        ("fetch_stopped", page),
        ("fetch_stopped", page),
        ("fetch_done", page),
    ]
    assert all(sentence.startswith(host) for _, sentence, _ in found)
    assert all("reader" not in sentence and KEY not in sentence for _, sentence, _ in found)


def test_nobody_is_told_at_a_terminal_or_while_it_goes_on(opened: OpenStore) -> None:
    move = moving(opened, 30)

    async def work() -> RemoteFetch:
        async with move.server.serving():
            import_id = await move.begin()
            move.server.fail(status(503))
            return await move.fetch(import_id, only_people=False)

    assert opened.run(work()).stage == "done"
    assert notifications_of(opened) == []

"""One mailbox is one person, however its address is spelled; and nobody who was counted by an
earlier version, which knew fewer spellings, is counted again.
"""

import pytest

from honeyguide.kernel import mailboxes
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.screening import screening_lists
from honeyguide.store import Store
from honeyguide.store.tx import timed
from honeyguide.subscribers import persons
from tests.support.changes import SITE, changing
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.trade import DAY_MS, NOON_MS, Trade, on, verify

NOVEMBER = "2026-11"
CHARGED_BEFORE = ("verified", None, NOVEMBER, "already_charged")
both_engines = pytest.mark.parametrize("engine", ENGINES)


def test_each_domain_is_in_the_table_once_and_says_why() -> None:
    domains = [
        domain
        for provider in mailboxes.PROVIDERS
        for domain in f"{provider.domains} {provider.added}".split()
    ]
    assert len(domains) == len(set(domains))
    assert all("https://" in provider.source for provider in mailboxes.PROVIDERS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ann.b-c_d@proton.me", "annbcd@proton.me"),
        ("ann.lee@proton.me", "A-N-N_Lee+news@PM.me"),
        ("annlee@protonmail.com", "ann_lee@protonmail.ch"),
        ("ann@icloud.com", "ann+x@me.com"),
        ("ann@mac.com", "ann@me.com"),
        ("ann.lee@yandex.ru", "ann-lee+x@ya.ru"),
        ("ann-lee@yandex.com", "ann.lee@yandex.kz"),
        ("ann@fastmail.com", "news@ann.fastmail.com"),
        ("ann+news@fastmail.fm", "x+y@Ann.fastmail.fm"),
        ("ann@sent.com", "anything@ann.sent.com"),
    ],
)
def test_what_reaches_one_mailbox_is_one_person(one: str, other: str) -> None:
    assert EmailAddress.parse(one).person == EmailAddress.parse(other).person


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("annlee@yandex.ru", "ann-lee@yandex.ru"),
        ("ann_lee@yandex.ru", "ann-lee@yandex.ru"),
        ("ann.lee@icloud.com", "annlee@icloud.com"),
        ("ann-lee@gmail.com", "annlee@gmail.com"),
        ("ann@fastmail.com", "ann@fastmail.fm"),
        ("x@ann.fastmail.com", "x@bob.fastmail.com"),
        ("x@a.ann.fastmail.com", "x@ann.fastmail.com"),
        ("x@ann.proton.me", "ann@proton.me"),
        ("ann@outlook.com", "ann@hotmail.com"),
        ("a.nn@mailbox.org", "ann@mailbox.org"),
    ],
)
def test_what_may_be_two_mailboxes_is_two_people(one: str, other: str) -> None:
    assert EmailAddress.parse(one).person != EmailAddress.parse(other).person


@pytest.mark.parametrize(
    ("address", "spelling"),
    [
        ("ann.lee+x@proton.me", "ann.lee@proton.me"),
        ("a.n.n+x@googlemail.com", "ann@gmail.com"),
        ("ann+x@yandex.by", "ann+x@yandex.by"),
        ("x+y@ann.fastmail.com", "x+y@ann.fastmail.com"),
        ("Ann@example.org", "ann@example.org"),
    ],
)
def test_the_earlier_spelling_is_the_one_of_earlier_versions(address: str, spelling: str) -> None:
    assert EmailAddress.parse(address).earlier_person == spelling


class EarlierVersion:
    """What happens in it happens as in a version without the table."""

    def __init__(self) -> None:
        self._patch = pytest.MonkeyPatch()

    def __enter__(self) -> None:
        self._patch.setattr(mailboxes, "one_spelling", mailboxes.earlier_spelling)

    def __exit__(self, *_: object) -> None:
        self._patch.undo()


async def upgrade(store: Store) -> None:
    """The migration queues every campaign, and the job goes through them."""
    insert = statement(
        "INSERT INTO person_rekeying (campaign_id, account_id) SELECT id, account_id FROM campaign"
    )
    await store.write(lambda tx: tx.run(insert))
    while due := await store.read(timed(persons.due, 0), most=1):
        await store.write(persons.rekey_batch, SITE, due[0])


@both_engines
def test_a_charge_of_an_earlier_version_stands_for_all_spellings(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(persons, "BATCH", 2)

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, partners=2)
        with EarlierVersion():
            readers = [await trade.arrive(email=f"ada.{n}@pm.me") for n in range(5)]
        await upgrade(store)
        here = await trade.arrive(1, email="ada1@proton.me")
        assert here.referral_reason == "already_subscribed"
        for reader in readers:
            await trade.erase(reader.id)
        for email in ("ada2@protonmail.com", "ada.3@pm.me", "a_d_a_4@proton.me"):
            again = await trade.arrive(1, email=email, now_ms=NOON_MS + DAY_MS)
            assert await trade.outcome(again.id) == CHARGED_BEFORE, email
        assert await trade.spent() == 5 * 300
        await verify(store)

    on(engine, scenario)


@both_engines
def test_whoever_was_erased_before_the_upgrade_is_known_when_they_come_back(engine: str) -> None:
    """By the spelling they had, and from then on by all."""

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, partners=2)
        with EarlierVersion():
            reader = await trade.arrive(email="ada.lee@pm.me")
            await trade.erase(reader.id)
        await upgrade(store)
        for email in ("Ada.Lee+x@pm.me", "ada-lee@proton.me"):
            again = await trade.arrive(1, email=email, now_ms=NOON_MS + DAY_MS)
            assert await trade.outcome(again.id) == CHARGED_BEFORE, email
            await trade.erase(again.id)
        assert await trade.spent() == 300
        await verify(store)

    on(engine, scenario)


@both_engines
@pytest.mark.parametrize("second", ["adalee@proton.me", "ada_lee@pm.me"])
@pytest.mark.parametrize("is_turned", [False, True])
def test_a_referral_that_waited_through_the_upgrade_is_charged_once(
    engine: str, second: str, is_turned: bool
) -> None:
    async def scenario(store: Store) -> None:
        held = {"referral_pending_duration_enabled": True}
        trade = await Trade.begin(store, partners=2, **held)
        with EarlierVersion():
            waiting = await trade.arrive(email="ada.lee@pm.me")
            other = await trade.arrive(1, email=second)
        await upgrade(store)
        early, late = (other, waiting) if is_turned else (waiting, other)
        await trade.confirm(early.id)
        await trade.confirm(late.id)
        assert await trade.outcome(early.id) == ("verified", 300, NOVEMBER, None)
        assert await trade.outcome(late.id) == CHARGED_BEFORE
        await verify(store)

    on(engine, scenario)


@both_engines
def test_a_block_of_an_earlier_version_holds_and_can_be_lifted(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store)

        async def is_blocked(email: str) -> bool:
            found = await trade.arrive(email=email)
            return found.referral_reason == "blocked"

        async def put(email: str, *, blocks: bool) -> None:
            entry = screening_lists.parse_entry(SITE, email, param="value")
            unit = changing(screening_lists.add, SITE, trade.owner, NOON_MS)
            await store.write(unit, [entry], is_blocked=blocks)

        with EarlierVersion():
            await put("ada.lee@pm.me", blocks=True)
            await put("eve.lee@pm.me", blocks=True)
            await trade.arrive(email="eve.lee@pm.me")
        await upgrade(store)
        assert await is_blocked("ada.lee+2@pm.me")
        values = await trade.rows("SELECT value FROM screening_entry")
        key = SITE.person_key(EmailAddress("evelee@proton.me"))
        assert (key,) in values, "the entry of a subscriber got the new key"
        await put("ada.lee@pm.me", blocks=False)
        assert not await is_blocked("ada.lee+3@pm.me")

    on(engine, scenario)


@both_engines
def test_two_listed_spellings_of_one_mailbox_upgrade(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store)
        unit = changing(screening_lists.add, SITE, trade.owner, NOON_MS)
        with EarlierVersion():
            for email in ("ada.lee@pm.me", "ada_lee@pm.me"):
                entry = screening_lists.parse_entry(SITE, email, param="value")
                await store.write(unit, [entry], is_blocked=True)
                await trade.arrive(email=email)
        await upgrade(store)
        keys = await trade.rows("SELECT DISTINCT person_key FROM subscriber")
        assert keys == [(SITE.person_key(EmailAddress("adalee@proton.me")),)]

    on(engine, scenario)

"""What an operator writes about subscribers: notes, tags, saved filters and screening lists. Each
belongs to one newsletter, and one action changes no more than it says.
"""

from collections.abc import Awaitable, Callable

import pytest

from honeyguide.accounts import accounts
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.tenant import Tenant
from honeyguide.screening import screening_lists
from honeyguide.screening.screening_lists import DOMAIN, IP_RANGE, ListMatch, NewEntry
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store import Store
from honeyguide.store.tx import timed
from honeyguide.subscribers import consents, notes, saved_filters, tags
from honeyguide.subscribers.search import SubscriberFilter
from tests.support.changes import changing
from tests.support.readings import changes_of, reads
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, SITE

ON_EACH = pytest.mark.parametrize("engine", ENGINES)


class TwoNewsletters:
    def __init__(self, store: Store, wax: Tenant, other: Tenant) -> None:
        self.store = store
        self.wax = wax
        self.other = other

    async def join(self, tenant: Tenant, name: str) -> str:
        new = NewSubscriber(email=f"{name}@example.org")
        sign_up = changing(signups.sign_up, SITE, tenant, NOON_MS)
        return (await self.store.write(sign_up, new)).id

    async def note(self, tenant: Tenant, subscriber_id: str, text: str, now_ms: int) -> None:
        await self.store.write(changes_of(notes.add, tenant, now_ms=now_ms), subscriber_id, text)

    async def notes_of(self, tenant: Tenant, subscriber_id: str) -> list[str]:
        found = await self.store.read(reads(notes.of_subscriber, tenant), subscriber_id)
        return [each.text for each in found]

    async def block(self, tenant: Tenant, *entries: NewEntry, is_blocked: bool = True) -> None:
        add = changing(screening_lists.add, SITE, tenant, NOON_MS)
        await self.store.write(add, entries, is_blocked=is_blocked)

    async def judge(self, tenant: Tenant, email: str, ip_network: str | None = None) -> ListMatch:
        parsed = EmailAddress.parse(email)
        key = SITE.person_key(parsed)
        found = await self.store.read(reads(screening_lists.find, tenant), [key], [parsed])
        return screening_lists.judge(found, key, parsed, ip_network)


def with_newsletters(engine: str, test: Callable[[TwoNewsletters], Awaitable[None]]) -> None:
    async def run(store: Store) -> None:
        made = [
            await store.write(
                timed(accounts.create, NOON_MS), EmailAddress(f"{name}@example.com"), name=name
            )
            for name in ("wax", "other")
        ]
        tenants = [Tenant(each.account_id, each.campaign_id) for each in made]
        await test(TwoNewsletters(store, *tenants))

    with OpenStore(engine) as opened:
        opened.run(run(opened.store))


@ON_EACH
def test_notes_are_newest_first_and_only_the_named_one_is_removed(engine: str) -> None:
    async def test(two: TwoNewsletters) -> None:
        ada, eve = await two.join(two.wax, "ada"), await two.join(two.wax, "eve")
        for n, text in enumerate(("first", "second", "third")):
            await two.note(two.wax, ada, text, NOON_MS + n)
        await two.note(two.wax, eve, "about Eve", NOON_MS)
        assert await two.notes_of(two.wax, ada) == ["third", "second", "first"]
        assert await two.notes_of(two.other, ada) == []
        second = (await two.store.read(reads(notes.of_subscriber, two.wax), ada))[1]
        await two.store.write(changes_of(notes.remove, two.other), ada, second.id)  # not theirs
        await two.store.write(
            changes_of(notes.remove, two.wax), eve, second.id
        )  # not on Eve's page
        assert len(await two.notes_of(two.wax, ada)) == 3
        await two.store.write(changes_of(notes.remove, two.wax), ada, second.id)
        assert await two.notes_of(two.wax, ada) == ["third", "first"]
        assert await two.notes_of(two.wax, eve) == ["about Eve"]

    with_newsletters(engine, test)


@ON_EACH
def test_a_subscriber_has_a_hundred_notes_and_not_one_more(engine: str) -> None:
    async def test(two: TwoNewsletters) -> None:
        ada = await two.join(two.wax, "ada")
        for n in range(notes.MOST):
            await two.note(two.wax, ada, f"{n}", NOON_MS)
        with pytest.raises(Invalid):
            await two.note(two.wax, ada, "one more", NOON_MS)
        assert len(await two.notes_of(two.wax, ada)) == 100

    with_newsletters(engine, test)


@ON_EACH
def test_tags_are_those_of_one_newsletter(engine: str) -> None:
    async def test(two: TwoNewsletters) -> None:
        ada, eve = await two.join(two.wax, "ada"), await two.join(two.wax, "eve")
        zoe = await two.join(two.other, "zoe")
        await two.store.write(
            changes_of(tags.add, two.wax, now_ms=NOON_MS), [ada, eve, zoe], ["vip", "berlin"]
        )
        await two.store.write(
            changes_of(tags.add, two.other, now_ms=NOON_MS), [zoe, ada], ["aardvark", "zebra"]
        )
        assert await two.store.read(reads(tags.in_use, two.wax)) == ["berlin", "vip"]
        assert await two.store.read(reads(tags.in_use, two.other)) == ["aardvark", "zebra"]
        assert (
            await two.store.write(changes_of(tags.remove, two.wax), [ada, zoe], ["vip", "zebra"])
            == 1
        )
        found = await two.store.read(reads(tags.of_subscribers, two.wax), [ada, eve, zoe])
        assert found == {ada: ["berlin"], eve: ["berlin", "vip"]}
        assert await two.store.read(reads(tags.of_subscriber, two.other), zoe) == [
            "aardvark",
            "zebra",
        ]

    with_newsletters(engine, test)


def test_so_many_tags_of_such_a_length() -> None:
    most = [f"{n:02}" for n in range(50)]
    assert tags.check_tags(most) == most and tags.check_tags(["x" * 50]) == ["x" * 50]
    for wrong in ([*most, "one more"], ["x" * 51]):
        with pytest.raises(Invalid):
            tags.check_tags(wrong)


@ON_EACH
def test_thirty_filters_are_listed_by_name_and_can_be_replaced(engine: str) -> None:
    async def test(two: TwoNewsletters) -> None:
        async def save(name: str, q: str, now_ms: int = NOON_MS) -> None:
            filters = SubscriberFilter(q=q)
            await two.store.write(
                changes_of(saved_filters.save, two.wax, now_ms=now_ms), name, filters
            )

        names = [f"filter {n:02}" for n in range(saved_filters.MOST)]
        for n, name in enumerate(reversed(names)):
            await save(name, "old", NOON_MS + n)
        with pytest.raises(Invalid):
            await save("one more", "")
        await save(names[3], "new")
        listed = await two.store.read(reads(saved_filters.of_campaign, two.wax))
        assert [each.name for each in listed] == names
        assert [each.name for each in listed if each.filters.q == "new"] == [names[3]]
        await two.store.write(
            changes_of(saved_filters.delete, two.other), listed[0].id
        )  # not theirs
        assert len(await two.store.read(reads(saved_filters.of_campaign, two.wax))) == 30

    with_newsletters(engine, test)


@ON_EACH
def test_a_list_decides_for_its_own_newsletter_and_the_last_word_counts(engine: str) -> None:
    async def test(two: TwoNewsletters) -> None:
        domain, ip_range = NewEntry(DOMAIN, "spam.example"), NewEntry(IP_RANGE, "203.0.113.0/24")
        await two.block(two.wax, domain, ip_range)
        bad, good, near = "x@spam.example", "x@good.example", "203.0.113.7/32"
        for email, ip_network in ((bad, None), ("x@mail.spam.example", None), (good, near)):
            assert await two.judge(two.wax, email, ip_network) == ListMatch.BLOCKED
            assert await two.judge(two.other, email, ip_network) == ListMatch.NOWHERE
        await two.block(two.wax, domain, is_blocked=False)  # it moves to the other list
        assert await two.judge(two.wax, bad) == ListMatch.ALLOWED
        assert await two.judge(two.wax, bad, near) == ListMatch.BLOCKED  # the block list outranks

    with_newsletters(engine, test)


@ON_EACH
def test_two_lists_hold_a_thousand_entries(engine: str) -> None:
    async def test(two: TwoNewsletters) -> None:
        domains = [NewEntry(DOMAIN, f"d{n}.example") for n in range(screening_lists.MOST)]
        await two.block(two.wax, *domains)
        with pytest.raises(Invalid):
            await two.block(two.wax, NewEntry(DOMAIN, "one-more.example"), is_blocked=False)
        assert len(await two.store.read(reads(screening_lists.entries, two.wax))) == 1_000

    with_newsletters(engine, test)


@ON_EACH
def test_a_consent_keeps_the_time_of_the_first_agreement(engine: str) -> None:
    async def test(two: TwoNewsletters) -> None:
        ada = await two.join(two.wax, "ada")
        ids = [
            await two.store.write(
                changes_of(consents.add_text, two.wax, now_ms=NOON_MS), text, None
            )
            for text in ("the first text", "the second text")
        ]
        for text_id, now_ms in ((ids[1], 5), (ids[0], 2), (ids[1], 9)):
            await two.store.write(
                changes_of(consents.record, two.wax, now_ms=NOON_MS + now_ms), ada, text_id
            )
        found = await two.store.read(reads(consents.of_subscriber, two.wax), ada)
        assert [(each.text, each.agreed_ms - NOON_MS) for each in found] == [
            ("the first text", 2),
            ("the second text", 5),
        ]

    with_newsletters(engine, test)

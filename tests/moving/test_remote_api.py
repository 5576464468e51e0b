"""The client of the service that somebody moves away from: pages, pace, and whatever it
may answer.
"""

import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from honeyguide.events.addresses import OutboundPolicy
from honeyguide.events.outbound import Outbound
from honeyguide.integrations.problems import PlatformError, TryLater, Unexpected, WrongCredentials
from honeyguide.kernel.errors import Invalid
from honeyguide.moving import remote_people
from honeyguide.moving.remote_api import RemoteApi, parse_base_url, parse_key, service_name
from tests.support.effort import effort_of
from tests.support.incumbent import KEY, IncumbentServer, person
from tests.support.loop_steps import MOST_EFFORT
from tests.support.platforms.stand_in import FREE, Answer, garbage, status

STRICT = OutboundPolicy(https_only=True, loopback_ok=False)


@asynccontextmanager
async def api_of(
    server: IncumbentServer, key: str = KEY, interval_s: float = 0.0
) -> AsyncIterator[RemoteApi]:
    outbound = Outbound(FREE)
    try:
        async with server.serving():
            yield RemoteApi(outbound, server.url, key, interval_s=interval_s)
    finally:
        await outbound.close()


@pytest.mark.parametrize("beside", [True, False])
async def test_reads_lists_with_totals_in_either_place(beside: bool) -> None:
    server = IncumbentServer(450)
    server.has_totals_beside = beside
    async with api_of(server) as api:
        assert (await api.campaign()).name == "The Old Program"
        page = await api.page("/v2/subscribers", "subscribers", 3, expand="campaigns")
    assert (len(page.items), page.total_pages, page.total) == (50, 3, 450)
    oldest = remote_people.read_people(page.items).people[-1]
    assert oldest.uuid == "sub-000001" and oldest.cells[0] == "reader1@old.example"


async def test_a_list_that_the_service_lacks() -> None:
    async with api_of(IncumbentServer()) as api:
        assert await api.optional_page("/v2/partner_profile/partner_campaigns", "x", 1) is None
        with pytest.raises(Unexpected, match="answered with status 404"):
            await api.page("/v2/nothing", "nothing", 1)


async def test_keeps_the_pace() -> None:
    async with api_of(IncumbentServer(1), interval_s=0.1) as api:
        began = time.monotonic()
        for _ in range(4):
            await api.page("/v2/subscribers", "subscribers", 1, expand="campaigns")
        assert time.monotonic() - began >= 0.3


def answered(**answer: object) -> Answer:
    return status(200, msgspec.json.encode(answer).decode())


@pytest.mark.parametrize(
    ("answer", "error", "sentence"),
    [
        (garbage, Unexpected, "that we do not understand: it is not JSON."),
        (status(200, "[]"), Unexpected, "Expected `object`, got `array`"),
        (status(200, '{"subscribers": ' + "[" * 100_000), Unexpected, "nested too deeply"),
        (answered(subscribers={}), Unexpected, "Expected `array`, got `object`"),
        (answered(people=[]), Unexpected, "sent an answer without subscribers."),
        (answered(subscribers=[], total_pages="3"), Unexpected, "Expected `int`, got `str`"),
        (answered(subscribers=[], total_pages=10**9), Unexpected, "says that its list has"),
        (answered(subscribers=[], meta=[]), Unexpected, "Expected `object`, got `array`"),
        (answered(subscribers=[1] * 1001), Unexpected, "more than 1,000 items"),
        (status(401), WrongCredentials, "does not accept the key."),
        (status(403), WrongCredentials, "does not let this key read /v2/subscribers."),
        (status(429, retry_after="7"), TryLater, "asked us to slow down."),
        (status(503), TryLater, "has a problem of its own (status 503)."),
        (status(302, location="http://127.0.0.1/"), Unexpected, "answered with status 302."),
    ],
)
async def test_whatever_it_answers_becomes_a_sentence(
    answer: Answer, error: type[PlatformError], sentence: str
) -> None:
    server = IncumbentServer(3)
    async with api_of(server) as api:
        server.fail(answer)
        with pytest.raises(PlatformError) as raised:
            await api.page("/v2/subscribers", "subscribers", 1, expand="campaigns")
        assert type(raised.value) is error and sentence in raised.value.reason
        assert KEY not in raised.value.reason
        if sentence.endswith("slow down."):
            assert isinstance(raised.value, TryLater) and raised.value.after_s == 7
        # It is itself again.
        assert await api.page("/v2/subscribers", "subscribers", 1, expand="campaigns")


async def test_a_service_that_is_gone() -> None:
    server = IncumbentServer()
    async with api_of(server) as api:
        pass
    with pytest.raises(TryLater, match="could not be reached"):
        await api.campaign()


async def test_an_account_without_a_campaign() -> None:
    server = IncumbentServer()
    async with api_of(server) as api:
        server.fail(answered(campaigns=[]))
        with pytest.raises(Unexpected, match="has no campaign for this key"):
            await api.campaign()


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://api.sparkloop.app", "https://api.sparkloop.app"),
        (" https://refer.example.org/ ", "https://refer.example.org"),
        ("https://refer.example.org/v2/", "https://refer.example.org"),
        ("https://example.org/refer/v1", "https://example.org/refer"),
    ],
)
def test_base_urls(text: str, url: str) -> None:
    assert parse_base_url(text, STRICT) == url


@pytest.mark.parametrize(
    "text",
    ["", "/v2", "http://refer.example.org", "https://127.0.0.1", "ftp://x", "https://a.b?x=1", "é"],
)
def test_base_urls_that_are_refused(text: str) -> None:
    with pytest.raises(Invalid) as raised:
        parse_base_url(text, STRICT)
    assert raised.value.message.startswith("base_url ")


@pytest.mark.parametrize("text", ["", "  ", "a b", "a\nb", "ключ", "k" * 256])
def test_keys_that_are_refused(text: str) -> None:
    with pytest.raises(Invalid):
        parse_key(text)


def test_names_of_services() -> None:
    assert parse_key(f" {KEY}\n") == KEY
    assert service_name("https://api.sparkloop.app") == "SparkLoop"
    assert service_name("https://refer.example.org") == "refer.example.org"


def raw(*people: object) -> list[msgspec.Raw]:
    return [msgspec.Raw(msgspec.json.encode(each)) for each in people]


def test_what_is_not_understood_is_counted_by_name() -> None:
    odd = {**person(1), "campaigns": "none", "score": 3, "referral_status": "maybe"}
    ours = {**person(2), "referral_programs": [{"status": "active", "mood": "good"}]}
    read = remote_people.read_people(raw(odd, ours, {"uuid": "x"}, [], {**person(3), "email": ""}))
    assert read.unreadable == 3
    assert [each.not_understood for each in read.people] == [
        ["score", "campaigns", "values of referral_status"],
        ["referral_programs.mood"],
    ]


def test_what_another_honeyguide_says() -> None:
    joined = {
        "referrals": {"verified": 3, "pending": 1, "rejected": 0},
        "status": "unsubscribed",
        "codes": ["Ann23b", "k7m2x9pa"],
        "tags": ["vip", "beta"],
        "rewards": [{"uuid": "x"}],
        "adjustments": 2,
    }
    ann = {
        **person(10),
        "status": None,
        "ref_code": "k7m2x9pa",
        "referral_programs": [joined],
    }
    (read,) = remote_people.read_people(raw(ann)).people
    cells = dict(zip(remote_people.HEADER, read.cells, strict=True))
    assert (cells["ref_code"], cells["code"]) == ("k7m2x9pa", "Ann23b")
    assert cells["status"] == "unsubscribed" and read.says_who_left
    assert (cells["referrals_count"], cells["adjustments"]) == ("3", "2")
    assert cells["tags"] == "vip, beta"
    assert read.not_understood == []
    assert cells["referral_status"] == ""  # nobody referred them


def test_names_from_outside_are_few_and_short() -> None:
    many = {**person(1), **{f"{number}{'x' * 100}": 1 for number in range(200)}}
    (read,) = remote_people.read_people(raw(many)).people
    counts = remote_people.merged({"old": 2}, Counter([*read.not_understood, "old"]))
    assert len(counts) == remote_people.MOST_NAMES and counts["old"] == 3
    assert all(len(name) <= remote_people.NAME_LIMIT for name in counts)


def test_the_event_loop_is_not_kept_busy_by_a_page() -> None:
    page = raw(*[person(number) for number in range(1, 201)])
    assert effort_of(lambda: remote_people.read_people(page), MOST_EFFORT) < MOST_EFFORT

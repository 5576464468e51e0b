"""Which names can be link hosts, what a lookup finds, and what follows from it."""

import asyncio

import pytest

from honeyguide.events.addresses import OutboundPolicy
from honeyguide.events.name_servers import MOST_TEXTS, TextRecords
from honeyguide.events.outbound import Outbound
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.site import Site
from honeyguide.subscribers import link_host_rules
from honeyguide.subscribers.link_host_rules import GRACE_MS, HostState, judge, parse_host
from tests.support.name_server import NameServer

SITE = Site("https://refer.example.org", "https://join.example.org/x", b"secret")
HOST, TOKEN, NOW = "go.news.example", "a" * 32, 100 * DAY_MS
NEW = HostState(False, None, None)
VERIFIED = HostState(True, NOW - DAY_MS, None)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("go.news.example", "go.news.example"),
        ("  GO.News.Example  ", "go.news.example"),
        ("go.news.example.", "go.news.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("news.example", "news.example"),
        ("a.refer.example.org", "a.refer.example.org"),
    ],
)
def test_a_host_is_stored_in_one_spelling(text: str, host: str) -> None:
    assert parse_host(SITE, text) == host


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is required"),
        (" . ", "is required"),
        ("bücher.example", "xn--"),
        ("go．news．example", "xn--"),
        ("a." * 150 + "example", "at most 241"),
        (f"{'a' * 64}.example", "host name such as"),
        ("*.news.example", "one host name"),
        ("https://go.news.example", "without https://"),
        ("go.news.example/", "without https://"),
        ("go.news.example:8443", "a port"),
        ("me@go.news.example", "just a host name"),
        ("[2001:db8::1]", "just a host name"),
        ("203.0.113.7", "not an IP address"),
        ("0x7f.1", "not an IP address"),
        ("localhost", "public host name"),
        ("go.localhost", "public host name"),
        ("printer.local", "public host name"),
        ("go..news.example", "host name such as"),
        ("go.news.example..", "host name such as"),
        ("-go.news.example", "host name such as"),
        ("go_1.news.example", "host name such as"),
        ("go news.example", "host name such as"),
        ("go\n.news.example", "host name such as"),
        ("refer.example.org", "where Honeyguide itself is"),
        ("REFER.example.org.", "where Honeyguide itself is"),
        ("join.example.org", "where Honeyguide itself is"),
    ],
)
def test_what_cannot_be_a_link_host_is_refused_with_a_sentence(text: str, says: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_host(SITE, text)
    assert says in refused.value.message_for("Host") and refused.value.param == "host"


@pytest.mark.parametrize(
    ("old", "values", "error", "other", "new"),
    [
        (NEW, (TOKEN,), "", None, (True, NOW)),
        (NEW, ("other", TOKEN), "", None, (True, NOW)),
        (NEW, (), "", None, (False, None)),
        (NEW, (TOKEN + "x",), "", None, (False, None)),
        (NEW, (), "No answer.", None, (False, None)),
        (NEW, (TOKEN,), "", "b" * 32, (True, NOW)),
        (NEW, (TOKEN, "b" * 32), "", "b" * 32, (False, NOW)),
        (VERIFIED, (TOKEN,), "", None, (True, NOW)),
        (VERIFIED, (), "", None, (True, NOW - DAY_MS)),
        (VERIFIED, (), "No answer.", None, (True, NOW - DAY_MS)),
        (HostState(True, NOW - GRACE_MS + 1, None), (), "", None, (True, NOW - GRACE_MS + 1)),
        (HostState(True, NOW - GRACE_MS, None), (), "", None, (False, NOW - GRACE_MS)),
        (HostState(True, NOW - GRACE_MS, None), (), "No answer.", None, (True, NOW - GRACE_MS)),
    ],
)
def test_what_a_lookup_means(
    old: HostState,
    values: tuple[str, ...],
    error: str,
    other: str | None,
    new: tuple[bool, int | None],
) -> None:
    found = judge(old, HOST, TOKEN, TextRecords(values, error), other_token=other, now_ms=NOW)
    assert found[:2] == new
    assert (found.problem is None) == (new == (True, NOW))


def test_a_new_host_is_looked_up_hourly_and_others_daily() -> None:
    def next_ms(*, is_verified: bool, age_ms: int) -> int:
        made_ms = NOW - age_ms
        return (
            link_host_rules.next_check_ms(is_verified=is_verified, created_ms=made_ms, now_ms=NOW)
            - NOW
        )

    assert next_ms(is_verified=False, age_ms=0) == HOUR_MS
    assert next_ms(is_verified=False, age_ms=GRACE_MS) == DAY_MS
    assert next_ms(is_verified=True, age_ms=0) == DAY_MS


def test_text_records_are_read_from_a_name_server() -> None:
    async def ask(names: NameServer, *asked: str) -> list[TextRecords]:
        outbound = Outbound(OutboundPolicy(https_only=True, loopback_ok=False), lookup_s=1)
        outbound.resolver.names = names.lookup(timeout=0.1, tries=1)
        found = [await outbound.resolver.texts(name) for name in asked]
        await outbound.close()
        return found

    with NameServer() as names:
        names.texts = {"long.example": ["x" * 300], "two.example": ["a", "b"], "none.example": []}
        names.texts["many.example"] = [str(n) for n in range(10)]
        names.texts["odd.example"] = ["\x00 ü"]
        names.broken, names.silent = {"broken.example"}, {"silent.example"}
        found = asyncio.run(
            ask(
                names,
                *("long.example", "two.example", "none.example", "unknown.example"),
                *("many.example", "odd.example", "broken.example", "silent.example"),
                "a" * 64 + ".example",
            )
        )
    assert found[:4] == [(("x" * 300,), ""), (("a", "b"), ""), ((), ""), ((), "")]
    assert len(found[4].values) == 10 < MOST_TEXTS and found[5].values == ("\x00 ü",)
    for failed in found[6:]:
        assert failed.values == () and failed.error.endswith("."), failed

"""The guard on real sockets; only DNS is faked. A canary is a server that must never be reached."""

import asyncio
import json
import socket

import pytest

from honeyguide import __version__
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.events.outbound import Blocked, GuardedResolver, Outbound
from tests.events.test_addresses import DISGUISES, LAX, STRICT
from tests.support.certificates import certified
from tests.support.receivers import listening, post, resolving_to, run

DIAL_ALONE = OutboundPolicy(
    https_only=False, loopback_ok=False
)  # takes every URL, so only the checks at the dial stand


async def hostile(host):
    """Numbers as the system reads them; every name is this machine."""
    try:
        return [
            str(found[4][0])
            for found in socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
        ]
    except OSError:
        return ["127.0.0.1", "::1"]


@pytest.mark.parametrize("canary_host", ["127.0.0.1", "::1"])
async def test_no_packet_reaches_a_canary_behind_any_disguise(canary_host):
    async with listening(host=canary_host) as canary:
        for policy, scheme in (
            (STRICT, "https"),
            (STRICT, "http"),
            (DIAL_ALONE, "http"),
            (DIAL_ALONE, "https"),
        ):
            outbound = Outbound(policy, lookup=hostile, total_s=2)
            for host in DISGUISES:
                if policy is DIAL_ALONE and host in (
                    "8.8.8.8",
                    "134744072",
                    "[2606:4700::1111]",
                ):
                    continue  # public: the dial may call these, and a test may not
                answer = await outbound.post(f"{scheme}://{host}:{canary.port}/hook", b"{}", {})
                assert (answer.status, answer.error_kind) == (None, "blocked"), host
                assert "127" not in str(answer.error)
            await outbound.close()
        assert canary.connections == 0


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["8.8.8.8", "127.0.0.1"],
        ["2606:4700::1111", "10.0.0.1"],
        ["8.8.8.8", "::1"],
        ["8.8.8.8", "::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["2002:7f00:1::"],
        ["fe80::1%lo"],
        ["0.0.0.0"],
        ["8.8.8.8"] * 20 + ["127.0.0.1"],
        ["not an address"],
    ],
)
async def test_a_name_with_any_forbidden_address_is_blocked_whole(addresses):
    async with listening() as canary:
        url = f"https://hooks.example.com:{canary.port}/"
        answer = await post(Outbound(STRICT, lookup=resolving_to(addresses)), url)
        assert (answer.status, answer.error_kind) == (None, "blocked")
        with pytest.raises(Blocked):
            await GuardedResolver(STRICT, lookup=resolving_to(addresses)).resolve(
                "hooks.example.com", 443
            )
        assert canary.connections == 0


def test_a_name_that_answers_well_first_and_inward_later_is_blocked_then():
    closing = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    policy = OutboundPolicy.for_base_url("http://hg.example.com", ["127.0.0.1"])

    async def scenario():
        async with listening(closing) as server:
            outbound = Outbound(
                OutboundPolicy(False, False, policy.allow),
                lookup=resolving_to(["127.0.0.1"], ["0.0.0.0"]),
            )
            url = f"http://rebinding.example.com:{server.port}/"
            first, *later = [await outbound.post(url, b"{}", {}) for _ in range(3)]
            await outbound.close()
            assert first.status == 200
            assert [answer.error_kind for answer in later] == ["blocked", "blocked"]
            assert server.connections == 1

    run(scenario)


async def test_a_kept_connection_goes_on_to_the_address_that_was_checked():
    async with listening() as server:
        outbound = Outbound(LAX, lookup=resolving_to(["127.0.0.1"], ["10.0.0.1"]))
        url = f"http://hooks.example.com:{server.port}/"
        assert [(await outbound.post(url, b"{}", {})).status for _ in range(5)] == [200] * 5
        await outbound.close()
        assert server.connections == 1 and len(server.requests) == 5


async def test_the_request_carries_our_bytes_and_names_and_nothing_of_the_environment(monkeypatch):
    async with listening() as server, listening() as canary:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
        outbound = Outbound(LAX, lookup=resolving_to(["127.0.0.1"]))
        body = json.dumps({"name": "Zoë"}).encode()
        answer = await post(
            outbound,
            f"http://hooks.example.com:{server.port}/a?b=c#d",
            body,
            {"webhook-id": "msg_1"},
        )
        assert (answer.status, answer.body, answer.error, answer.error_kind) == (
            200,
            "ok",
            None,
            "",
        )
        head, sent = server.requests[0].split(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        assert lines[0] == "POST /a?b=c HTTP/1.1" and sent == body
        assert f"Host: hooks.example.com:{server.port}" in lines and "webhook-id: msg_1" in lines
        assert (
            f"User-Agent: Honeyguide/{__version__} (+webhooks)" in lines
            and "Accept-Encoding: identity" in lines
        )
        assert canary.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_an_answer_and_never_followed(status):
    async with listening() as canary:
        moved = (
            f"HTTP/1.1 {status} Moved\r\nLocation: "
            f"http://127.0.0.1:{canary.port}/\r\nContent-Length: 0\r\n\r\n"
        )
        async with listening(moved.encode()) as server:
            answer = await post(Outbound(LAX), f"http://127.0.0.1:{server.port}/")
        assert answer.status == status and answer.error_kind == ""
        assert canary.connections == 0


async def test_cookies_are_not_kept():
    async with listening(
        b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"
    ) as server:
        outbound = Outbound(LAX)
        for _ in range(2):
            await outbound.post(f"http://localhost:{server.port}/", b"{}", {})
        await outbound.close()
        assert b"cookie" not in server.requests[1].lower()


async def fails(host):
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


async def hangs(host):
    await asyncio.sleep(20)


@pytest.mark.parametrize("lookup", [fails, hangs, resolving_to([]), None])
async def test_a_name_that_does_not_resolve_is_told(lookup):
    outbound = Outbound(STRICT, lookup=lookup, lookup_s=0.2)
    answer = await post(outbound, "https://not-there.invalid/")
    assert (answer.status, answer.error_kind) == (None, "dns") and answer.latency_ms < 5000


def test_a_label_that_dns_cannot_carry_is_told():
    answer = asyncio.run(post(Outbound(LAX), "http://" + "a" * 70 + ".example.com/"))
    assert (answer.status, answer.error_kind) == (None, "dns")


def test_many_deliveries_to_one_slow_name_ask_once():
    asked = []

    async def slow(host):
        asked.append(host)
        await asyncio.sleep(0.2)
        return ["127.0.0.1"]

    async def scenario():
        async with listening() as server:
            outbound = Outbound(LAX, lookup=slow)
            url = f"http://slow.example.com:{server.port}/"
            answers = await asyncio.gather(*(outbound.post(url, b"{}", {}) for _ in range(20)))
            await outbound.close()
            assert {answer.status for answer in answers} == {200} and asked == ["slow.example.com"]

    run(scenario)


async def one_line(reader, writer):
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await writer.drain()
    writer.close()


async def test_a_plain_answer_to_tls_is_told_as_such():
    listener = await asyncio.start_server(one_line, "127.0.0.1", 0)
    answer = await post(Outbound(LAX), f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/")
    listener.close()
    assert (answer.status, answer.error_kind) == (None, "tls") and answer.error.startswith(
        "TLS error: "
    )


def test_the_certificate_must_be_trusted_and_bear_the_name_though_the_address_is_dialled():
    names = []
    offered, trusting = certified("hooks.example.com")
    offered.sni_callback = lambda _socket, name, _context: names.append(name)
    policy = OutboundPolicy.for_base_url("https://hg.example.com", ["127.0.0.1"])

    async def scenario():
        async with listening(tls=offered) as server:
            home = resolving_to(["127.0.0.1"])
            url = f"https://hooks.example.com:{server.port}/"
            assert (await post(Outbound(policy, lookup=home, tls=trusting), url)).status == 200
            assert names == ["hooks.example.com"]
            for outbound, target in [
                (Outbound(policy, lookup=home), url),
                (
                    Outbound(policy, lookup=home, tls=trusting),
                    f"https://other.example.com:{server.port}/",
                ),
                (Outbound(policy, tls=trusting), f"https://127.0.0.1:{server.port}/"),
            ]:
                answer = await post(outbound, target)
                assert (answer.status, answer.error_kind) == (None, "tls")
            assert len(server.requests) == 1

    run(scenario)


def test_at_most_eight_addresses_are_dialled_each_by_its_own_family():
    addresses = ["8.8.8.8", "2606:4700::1111", *(f"9.9.9.{n}" for n in range(7))]

    async def scenario():
        resolver = GuardedResolver(STRICT, lookup=resolving_to(addresses))
        found = await resolver.resolve("hooks.example.com", 8443)
        assert [each["host"] for each in found] == addresses[:8]
        assert [each["family"] for each in found[:3]] == [
            socket.AF_INET,
            socket.AF_INET6,
            socket.AF_INET,
        ]
        assert {(each["hostname"], each["port"], each["proto"]) for each in found} == {
            ("hooks.example.com", 8443, 0)
        }

    run(scenario)

"""Deliveries under the strict policy of a public service: what may not be called is never dialled,
and the log says so.
"""

import socket
from collections.abc import Iterator, Sequence

import pytest

from honeyguide.events.addresses import OutboundPolicy
from honeyguide.events.outbound import Lookup, Outbound
from honeyguide.events.webhooks import Webhook
from tests.events.test_addresses import DISGUISES
from tests.support.dispatcher import Office, Receiver, office, receiving, run
from tests.support.receivers import resolving_to
from tests.support.service import Member, Service

STRICT = OutboundPolicy.for_base_url("https://refer.example.org")
DIAL_ALONE = OutboundPolicy(https_only=False, loopback_ok=False)


async def machine(host: str) -> Sequence[str]:
    """Numbers as the system reads them; every name is this machine."""
    try:
        return [
            str(found[4][0])
            for found in socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
        ]
    except OSError:
        return ["127.0.0.1"]


async def blocked(post: Office, hook: Webhook, canary: Receiver) -> None:
    await post.deliver()
    delivery, attempts = await post.one(hook)
    assert delivery.status == "pending", "it stays on the schedule: the name may be mended"
    assert attempts[-1].status_code is None
    assert "webhooks may not call" in str(attempts[-1].error) or "The URL must" in str(
        attempts[-1].error
    )
    assert "127" not in str(attempts[-1].error)
    assert canary.connections == 0


@pytest.mark.parametrize(
    "answers",
    [
        ["127.0.0.1"],
        ["::1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["8.8.8.8", "127.0.0.1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["2002:7f00:1::"],
        ["0.0.0.0"],
    ],
)
async def test_a_name_that_answers_private_is_recorded_as_blocked(
    engine: str, answers: list[str]
) -> None:
    async with (
        receiving() as canary,
        office(
            engine, outbound=Outbound(DIAL_ALONE, lookup=resolving_to(answers), total_s=2)
        ) as post,
    ):
        hook = await post.webhook(f"http://hooks.example.com:{canary.port}/")
        await post.emit()
        await blocked(post, hook, canary)


def test_a_name_that_turns_private_later_is_blocked_then(engine: str) -> None:
    """Allowed on the first attempt, this machine by another of its addresses on the second: looked
    up anew each time.
    """
    policy = OutboundPolicy(
        https_only=False,
        loopback_ok=False,
        allow=OutboundPolicy.for_base_url("https://x", ["127.0.0.2/32"]).allow,
    )

    async def scenario() -> None:
        lookup: Lookup = resolving_to(["127.0.0.2"], ["127.0.0.1"])
        outbound = Outbound(policy, lookup=lookup, total_s=2)
        async with receiving(500) as receiver, office(engine, outbound=outbound) as post:
            hook = await post.webhook(f"http://hooks.example.com:{receiver.port}/")
            await post.emit()
            await post.deliver()
            await post.deliver(60_000)
            _, attempts = await post.one(hook)
            assert [(attempt.status_code, bool(attempt.error)) for attempt in attempts] == [
                (None, True),
                (None, True),
            ]
            assert attempts[0].error == "The connection failed: Connection refused.", (
                "dialled where it was allowed"
            )
            assert (
                attempts[1].error
                == "The host resolves to an IP address that webhooks may not call."
            )
            assert receiver.connections == 0

    run(scenario())


async def test_a_webhook_made_under_a_laxer_setting_is_still_blocked(engine: str) -> None:
    async with (
        receiving() as canary,
        office(engine, outbound=Outbound(STRICT, lookup=machine, total_s=2)) as post,
    ):
        hook = await post.webhook(canary.url)
        await post.emit()
        await blocked(post, hook, canary)


def test_a_receiver_in_a_network_the_operator_lists_is_called(engine: str) -> None:
    policy = OutboundPolicy(
        https_only=False,
        loopback_ok=False,
        allow=OutboundPolicy.for_base_url("https://x", ["127.0.0.0/8"]).allow,
    )

    async def scenario() -> None:
        outbound = Outbound(policy, lookup=resolving_to(["127.0.0.1"]))
        async with receiving() as receiver, office(engine, outbound=outbound) as post:
            hook = await post.webhook(f"http://hooks.example.com:{receiver.port}/")
            await post.emit()
            await post.deliver()
            assert (await post.one(hook))[0].status == "delivered"
            assert receiver.requests[0].headers["host"] == f"hooks.example.com:{receiver.port}"

    run(scenario())


@pytest.fixture(scope="module")
def public_service() -> Iterator[Service]:
    """On one engine: a URL is judged before the store is asked."""
    with Service("sqlite", base_url="https://refer.example.org", test_clock="") as service:
        yield service


@pytest.fixture(scope="module")
def owner(public_service: Service) -> Member:
    return public_service.member()


@pytest.mark.parametrize("host", DISGUISES)
def test_a_disguised_address_is_refused_at_create_and_at_update(owner: Member, host: str) -> None:
    for base in ("/v2/webhooks", f"{owner.v1}/webhooks"):
        answer = owner.post(base, {"url": f"https://{host}/hook", "new_referral": True})
        assert (answer.status_code, answer.json().get("param")) == (400, "url"), answer.text
    hook = owner.post("/v2/webhooks", {"url": "https://hooks.example.com/"}).json()["webhook"][
        "uuid"
    ]
    assert owner.put(f"/v2/webhooks/{hook}", {"url": f"https://{host}/hook"}).status_code == 400
    assert (
        owner.get(f"/v2/webhooks/{hook}").json()["webhook"]["url"] == "https://hooks.example.com/"
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "https://example.com:22/",
        "https://example.com:25/",
        "https://example.com:6379/",
        "https://user@example.com/",
        "https://user:pw@example.com/",
        "https://localhost/",
        "https://db.internal/",
        "https://printer.local/",
        "https://intranet/",
        "https://example.com/" + "x" * 2030,
        "https://example.com/\r\nHost: x",
        "https://example.com%2f@127.0.0.1/",
        "https://example.com\\@127.0.0.1/",
        "javascript:alert(1)",
        "file:///etc/passwd",
    ],
)
def test_what_the_url_alone_shows_is_refused(owner: Member, url: str) -> None:
    answer = owner.post("/v2/webhooks", {"url": url})
    assert (answer.status_code, answer.json()["param"]) == (400, "url")


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com/a?b=c",
        "https://no-such-name.example/",
        "https://example.com:8443/",
        "https://bücher.example/",
    ],
)
def test_a_public_name_is_taken_unresolved(owner: Member, url: str) -> None:
    answer = owner.post("/v2/webhooks", {"url": url})
    assert answer.status_code == 201, answer.text
    assert answer.json()["webhook"]["url"] == url

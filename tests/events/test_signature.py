"""What we sign, a stock library that shares no code with us verifies."""

import base64
import json
import time
from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from honeyguide.events.signature import MOST_OLD, new_secret, retire, sign, valid_secrets

BODY = '{"type":"new_referral","subscriber":{"name":"Zoë 🐦"}}'.encode()


def headers(signature: str, timestamp_s: int, message_id: str = "msg_1") -> dict[str, str]:
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": signature,
    }


def test_a_secret_is_32_random_bytes_behind_its_prefix():
    secret = new_secret()
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
    assert secret != new_secret()


@pytest.mark.parametrize("body", [BODY, b"{}", json.dumps({"text": "x" * 19_000}).encode()])
def test_the_stock_library_verifies_what_we_sign(body):
    secret, now = new_secret(), int(time.time())
    assert Webhook(secret).verify(
        body, headers(sign([secret], "msg_1", now, body), now)
    ) == json.loads(body)


def test_we_sign_exactly_as_the_stock_library_signs():
    secret, now = new_secret(), int(time.time())
    theirs = Webhook(secret).sign("msg_1", datetime.fromtimestamp(now, UTC), BODY.decode())
    assert sign([secret], "msg_1", now, BODY) == theirs


def test_any_flipped_bit_is_refused():
    secret, now = new_secret(), int(time.time())
    signature = sign([secret], "msg_1", now, BODY)
    for at in range(len(BODY)):
        flipped = bytearray(BODY)
        flipped[at] ^= 1
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(bytes(flipped), headers(signature, now))


def test_another_id_time_or_secret_is_refused():
    secret, now = new_secret(), int(time.time())
    signature = sign([secret], "msg_1", now, BODY)
    for receiver, sent in [
        (Webhook(secret), headers(signature, now, "msg_2")),
        (Webhook(secret), headers(signature, now + 1)),
        (Webhook(new_secret()), headers(signature, now)),
    ]:
        with pytest.raises(WebhookVerificationError):
            receiver.verify(BODY, sent)


def test_during_a_rotation_both_secrets_verify_and_a_third_does_not():
    new, old, now = new_secret(), new_secret(), int(time.time())
    sent = headers(sign([new, old], "msg_1", now, BODY), now)
    assert sent["webhook-signature"].count(" ") == 1
    assert Webhook(new).verify(BODY, sent) == Webhook(old).verify(BODY, sent) == json.loads(BODY)
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret()).verify(BODY, sent)


NOW, LATER = 1_000, 2_000


def test_an_old_secret_signs_until_its_time_is_over():
    kept = retire("whsec_a", "[]", now_ms=NOW, until_ms=LATER)
    assert valid_secrets("whsec_b", "[]", NOW) == ["whsec_b"]
    assert valid_secrets("whsec_b", kept, LATER - 1) == ["whsec_b", "whsec_a"]
    assert [valid_secrets("whsec_b", kept, now_ms) for now_ms in (LATER, LATER + 1)] == [
        ["whsec_b"]
    ] * 2


def test_rotating_again_keeps_each_old_secret_to_its_own_end_newest_first():
    first = retire("whsec_a", "[]", now_ms=NOW, until_ms=LATER)
    both = retire("whsec_b", first, now_ms=LATER - 1, until_ms=LATER + 500)
    assert valid_secrets("whsec_c", both, LATER - 1) == ["whsec_c", "whsec_b", "whsec_a"]
    assert valid_secrets("whsec_c", both, LATER) == ["whsec_c", "whsec_b"]
    for now_ms in (LATER, LATER + 1):
        assert "whsec_a" not in retire("whsec_b", first, now_ms=now_ms, until_ms=LATER + 500), (
            "one that is over is not kept"
        )


def test_no_more_than_four_old_secrets_are_kept_however_often_it_is_rotated():
    kept = "[]"
    for number in range(7):
        kept = retire(f"whsec_{number}", kept, now_ms=NOW, until_ms=LATER)
    assert valid_secrets("whsec_new", kept, NOW) == [
        "whsec_new",
        "whsec_6",
        "whsec_5",
        "whsec_4",
        "whsec_3",
    ]
    assert MOST_OLD == 4

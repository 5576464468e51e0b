"""Bytes no honest client sends. Each case names the one status it must get on both engines; never a
5xx, and afterwards the service answers everybody as before. Status 0 means that the server just
hung up: nobody is left to hear an answer.
"""

import json
from typing import Any

import pytest

from tests.api.test_errors import check_shape
from tests.support import raw
from tests.support.raw import Answer
from tests.support.service import Member

GOOD = b'{"email":"ana@example.org"}'


def post(member: Member, body: bytes, **how: Any) -> Answer:
    return raw.request(member, "POST", f"{member.v1}/subscribers", body, **how)


def expect(answer: Answer, status: int) -> None:
    assert answer.status == status, answer
    if status >= 400:
        check_shape(status, answer.headers, answer.json())


def with_email(more: bytes) -> bytes:
    return b'{"email":"ana@example.org",' + more + b"}"


BODIES: dict[str, tuple[int, bytes]] = {
    "NaN": (400, with_email(b'"name":NaN')),
    "NaN in an unknown key": (400, with_email(b'"x":NaN')),
    "Infinity": (400, with_email(b'"x":Infinity')),
    "minus Infinity": (400, with_email(b'"x":-Infinity')),
    "1e400 as a name": (400, with_email(b'"name":1e400')),
    "1e400 in an unknown key is never read": (201, with_email(b'"x":1e400')),
    "100,000 brackets": (400, b"[" * 100_000),
    "100,000 nested lists": (400, b"[" * 100_000 + b"]" * 100_000),
    "100,000 nested lists in an unknown key": (
        400,
        with_email(b'"x":' + b"[" * 100_000 + b"]" * 100_000),
    ),
    "100,000 nested objects": (400, b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "a 5,000-digit integer as a name": (400, with_email(b'"name":' + b"9" * 5_000)),
    "a 5,000-digit integer in an unknown key is never read": (
        201,
        with_email(b'"x":' + b"9" * 5_000),
    ),
    "a lone high surrogate": (400, with_email(b'"name":"\\ud800"')),
    "a lone low surrogate": (400, with_email(b'"name":"a\\udc00b"')),
    "surrogates in the wrong order": (400, with_email(b'"name":"\\udc00\\ud800"')),
    "a lone surrogate in the email": (400, b'{"email":"a\\ud800@example.org"}'),
    "a surrogate pair": (201, with_email(b'"name":"\\ud83d\\udc26"')),
    "NUL in a name": (400, with_email(b'"name":"a\\u0000b"')),
    "NUL in a user agent": (400, with_email(b'"user_agent":"\\u0000"')),
    "NUL in a code": (400, with_email(b'"referrer_code":"\\u0000"')),
    "NUL in the email": (400, b'{"email":"a\\u0000@example.org"}'),
    "a raw NUL": (400, with_email(b'"name":"\x00"')),
    "a raw NUL after the end": (400, GOOD + b"\x00"),
    "a raw control character": (400, with_email(b'"name":"\x01"')),
    "invalid UTF-8": (400, with_email(b'"name":"\xff\xfe"')),
    "overlong UTF-8": (400, with_email(b'"name":"\xc0\xaf"')),
    "a surrogate in UTF-8": (400, with_email(b'"name":"\xed\xa0\x80"')),
    "cut UTF-8": (400, with_email(b'"name":"\xe2\x82"')),
    "Latin-1": (400, with_email(b'"name":"J\xf6rg"')),
    "a byte order mark": (400, b"\xef\xbb\xbf" + GOOD),
    "UTF-16": (400, GOOD.decode().encode("utf-16")),
    "two values": (400, GOOD + GOOD),
    "rubbish after the end": (400, GOOD + b"x"),
    "white space around": (201, b" \r\n\t" + GOOD + b"\n "),
    "a trailing comma": (400, b'{"email":"ana@example.org",}'),
    "single quotes": (400, b"{'email':'ana@example.org'}"),
    "a comment": (400, b'{"email":"ana@example.org"/* hi */}'),
    "an unquoted key": (400, b'{email:"ana@example.org"}'),
    "half a body": (400, GOOD[:10]),
    "an empty body": (400, b""),
    "only white space": (400, b"   "),
    "null": (400, b"null"),
    "a list": (400, b"[]"),
    "a list with the object": (400, b"[" + GOOD + b"]"),
    "a string": (400, b'"ana@example.org"'),
    "a number": (400, b"1"),
    "true": (400, b"true"),
    "an empty key": (201, with_email(b'"":1')),
    "keys of the prototype": (201, with_email(b'"__proto__":{"a":1},"constructor":1')),
    "a key in another case": (400, b'{"Email":"ana@example.org"}'),
    "a very long key": (201, with_email(b'"' + b"k" * 500_000 + b'":1')),
    "100,000 unknown keys": (
        201,
        with_email(b",".join(b'"k%d":%d' % (n, n) for n in range(100_000))),
    ),
    "a form": (400, b"email=ana@example.org"),
}


@pytest.mark.parametrize(("status", "body"), BODIES.values(), ids=BODIES)
def test_an_odd_body_gets_its_status(ana: Member, status: int, body: bytes) -> None:
    expect(post(ana, body), status)
    assert ana.total() == (status == 201)


@pytest.mark.parametrize(
    "body",
    [b"[" * 100_000, b"NaN", b"\xff", b"null", b"[]", b'{"name":1e400}', b'{"status":"\\u0000"}'],
)
def test_an_odd_body_of_an_update_is_a_400(ana: Member, body: bytes) -> None:
    made = ana.subscribe("ben@example.org")
    for path in (ana.v1, f"{ana.v1}/subscribers/{made['uuid']}"):
        expect(
            raw.request(ana, "PUT", path, body),
            200 if body == b'{"status":"\\u0000"}' and path == ana.v1 else 400,
        )


def test_of_duplicate_keys_the_last_counts(ana: Member) -> None:
    answer = post(
        ana, b'{"email":"one@example.org","name":"A","email":"two@example.org","name":"B"}'
    )
    expect(answer, 201)
    assert (answer.json()["subscriber"]["email"], answer.json()["subscriber"]["name"]) == (
        "two@example.org",
        "B",
    )
    expect(post(ana, b'{"email":"three@example.org","email":5}'), 400)
    expect(post(ana, b'{"email":5,"email":"three@example.org"}'), 201)


# -- addresses


PATHS: dict[str, int] = {
    "/subscribers/%00": 404,
    "/subscribers/a%00@example.org": 404,
    "/subscribers/%00/referrals": 404,
    "/subscribers/%FF": 400,
    "/subscribers/%C0%AF": 400,
    "/subscribers/%ED%A0%80": 400,
    "/subscribers/%": 404,
    "/subscribers/%zz": 404,
    "/subscribers/%2e%2e": 404,
    "/subscribers/..%2f..": 404,
    "/subscribers/%20": 400,
    "/subscribers/%E2%80%83": 400,
    "/subscribers/a@b%0d%0a.org": 404,
    "/subscribers/'%20OR%201=1": 404,
    "/subscribers/" + "a" * 20_000: 404,
    "/subscribers/{}": 404,
    "/subscribers/{}/referrals": 404,
    "/subscribers/{uuid}": 404,
    "/subscribers/%7B%7D": 404,
    "/subscribers/%F0%9F%90%A6@example.org": 404,
    "/subscribers?page=9223372036854775808": 400,
    "/subscribers?page=-1": 400,
    "/subscribers?page=0": 400,
    "/subscribers?page=abc": 400,
    "/subscribers?page=1.5": 400,
    "/subscribers?page=%00": 400,
    "/subscribers?page=%FF": 400,
    "/subscribers?per_page=0": 400,
    "/subscribers?per_page=201": 200,
    "/subscribers?per_page=1" + "0" * 30: 200,
    "/subscribers?x=%00": 400,
    "/subscribers?x=%FF": 400,
    "/subscribers?%00=1": 200,
    "/subscribers?" + "a=1&" * 1000: 400,
    "/subscribers?a&b&&=&": 200,
    "/subscribers?page=1;page=2": 400,
    "/subscribers?" + "x" * 30_000: 200,
}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:60])
def test_an_odd_address_gets_its_status(ana: Member, path: str) -> None:
    expect(raw.request(ana, "GET", ana.v1 + path), PATHS[path])


@pytest.mark.parametrize("campaign", ["{}", "{campaign_uuid}", "%7B%7D"])
def test_no_address_passes_for_any_campaign(ana: Member, campaign: str) -> None:
    for path in ("", "/subscribers", "/subscribers/nobody", "/settings"):
        expect(raw.request(ana, "GET", f"/v1/campaigns/{campaign}{path}"), 404)
        expect(
            raw.request(ana, "GET", f"/v1/campaigns/{campaign}{path}", headers={"X-Api-Key": ""}),
            401,
        )
    expect(raw.request(ana, "PUT", f"/v1/campaigns/{campaign}", b'{"name":"taken"}'), 404)


# -- dates and emails


DATES: dict[str, int] = {
    "2016-12-31T23:59:60Z": 400,
    "2023-02-29T00:00:00Z": 400,
    "2024-02-30T00:00:00Z": 400,
    "2024-13-01T00:00:00Z": 400,
    "2020-W48-1T00:00:00Z": 400,
    "2020-W48-1": 400,
    "20201130T235959Z": 400,
    "2020-11-30T23:59:59": 400,
    "2020-11-30": 400,
    "0001-01-01T00:00:00+14:00": 400,
    "0001-01-01T00:00:00Z": 201,
    "0001-01-01T00:00:00-14:00": 201,
    "0000-01-01T00:00:00Z": 400,
    "9999-12-31T23:59:59Z": 400,
    "9999-12-31T23:59:59-14:00": 400,
    "-2020-11-30T00:00:00Z": 400,
    "+12020-11-30T00:00:00Z": 400,
    "2020-11-30T24:00:00Z": 400,
    "2020-11-30T23:60:00Z": 400,
    "2020-11-30t23:59:59z": 400,
    "2020-11-30 23:59:59Z": 400,
    "2020-11-30T23:59:59+24:00": 400,
    "2020-11-30T23:59:59+0100": 400,
    "2020-11-30T23:59:59+01": 400,
    "2020-335T00:00:00Z": 400,
    "2020-11-30T23:59:59.Z": 400,
    "2020-11-30T23:59:59,5Z": 400,
    "2020-11-30T23:59:59.1234567891Z": 400,
    "": 400,
    "now": 400,
    "٢٠٢٠-١١-٣٠T٠٠:٠٠:٠٠Z": 400,
    "2020-11-30T23:59:59Z\n": 400,
    " 2020-11-30T23:59:59Z": 400,
    "1606780799": 400,
    "2020-11-30T23:59Z": 400,
    "2020-11-30T23:59:59.5+00:00": 201,
    "2020-11-30T23:59:59-00:00": 201,
}


@pytest.mark.parametrize("moment", DATES)
def test_an_odd_date_gets_its_status(ana: Member, moment: str) -> None:
    expect(
        post(ana, json.dumps({"email": "ana@example.org", "created_at": moment}).encode()),
        DATES[moment],
    )


LONGEST = f"{'a' * 64}@{'b' * 61}.{'b' * 61}.{'b' * 61}.org"  # 254 characters
EMAILS: dict[str, str | None] = {
    LONGEST: LONGEST,
    f"{'a' * 64}@{'b' * 61}.{'b' * 61}.{'b' * 62}.org": None,
    "a" * 300 + "@example.org": None,
    "a" * 500_000 + "@example.org": None,
    "a@b@example.org": None,
    '"a@b"@example.org': None,
    "a\r\n@example.org": None,
    "a@example.org\r\nBcc: b@example.org": None,
    "a@example.org\n": None,
    "a@bücher.example": "a@xn--bcher-kva.example",
    "a@BÜCHER.example": "a@xn--bcher-kva.example",
    "a@xn--bcher-kva.example": "a@xn--bcher-kva.example",
    "A@EXAMPLE.ORG": "A@example.org",
    "a@example.org.": None,
    "a.@example.org": None,
    ".a@example.org": None,
    "a..b@example.org": None,
    "ａ@example.org": "ａ@example.org",
    "a@ｅxample.org": "a@example.org",
    "a＠example.org": None,
    "a@example。org": "a@example.org",
    "a@[127.0.0.1]": None,
    "a@localhost": None,
    "a@-example.org": None,
    "a@exam_ple.org": None,
    "a@1.2.3.4": None,
    "<a@example.org>": None,
    "Ana <a@example.org>": None,
    "mailto:a@example.org": None,
    "a\u200b@example.org": None,
    "a\u202e@example.org": None,
    " a@example.org ": "a@example.org",
    "a@example.test": "a@example.test",
    "e\u0301@example.org": "\u00e9@example.org",
}


@pytest.mark.parametrize("email", EMAILS, ids=lambda email: ascii(email)[:50])
def test_an_odd_email_is_stored_in_its_one_form_or_refused(ana: Member, email: str) -> None:
    answer = post(ana, json.dumps({"email": email}).encode())
    if EMAILS[email] is None:
        expect(answer, 400)
        assert answer.json()["error"] == "Email is invalid"
        return
    expect(answer, 201)
    assert answer.json()["subscriber"]["email"] == EMAILS[email]


@pytest.mark.parametrize(
    "spellings",
    [
        ["é@example.org", "É@example.org", "e\u0301@example.org", "E\u0301@EXAMPLE.ORG"],
        ["ana@bücher.example", "ANA@BÜCHER.example", "ana@xn--bcher-kva.example"],
        ["ana@example.org", "ａｎａ@example.org", "Ana@ＥXAMPLE.org", "ana@example。org"],
        ["straße@example.org", "STRASSE@example.org"],
        ["ﬁ@example.org", "fi@example.org", "FI@example.org"],
    ],
)
def test_spellings_of_one_address_are_one_subscriber(ana: Member, spellings: list[str]) -> None:
    expect(post(ana, json.dumps({"email": spellings[0]}).encode()), 201)
    for again in spellings:
        answer = post(ana, json.dumps({"email": again}).encode())
        expect(answer, 400)
        assert answer.json()["error"] == "Email has already been taken"
    assert ana.total() == 1

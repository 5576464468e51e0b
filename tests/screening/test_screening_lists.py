"""The block list and the allow list decide about new referrals, and a blocked address leaves
nothing but a keyed hash once its person is erased.
"""

import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import new_id
from honeyguide.screening import screening_lists
from tests.support import partner_network
from tests.support.service import Member, Service
from tests.support.tables import dump, mentions
from tests.support.trade import SITE
from tests.support.web import Operator, text_of

PAGE = "/settings/screening-lists"


def add(alice: Operator, do: str, entries: str) -> None:
    assert alice.web.post(PAGE, entries=entries, do=do).status_code == 303


def referral(alice: Member, email: str, code: str, ip: str = "") -> tuple[str, str | None]:
    made = alice.subscribe(email, referrer_code=code, ip_address=ip or None)
    found = alice.get(f"{alice.v1}/subscribers/{made['uuid']}/referral").json()["referral"]
    return found["status"], found["reason"]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Example.COM", "domain", "example.com"),
        ("@example.com", "domain", "example.com"),
        ("bücher.example", "domain", "xn--bcher-kva.example"),
        ("203.0.113.7", "ip_range", "203.0.113.7/32"),
        ("203.0.113.7/24", "ip_range", "203.0.113.0/24"),
        ("2001:db8:1:2:3::9", "ip_range", "2001:db8:1:2::/64"),
        ("2001:DB8::/32", "ip_range", "2001:db8::/32"),
    ],
)
def test_an_entry_is_read_as_people_write_it(text: str, kind: str, value: str) -> None:
    assert screening_lists.parse_entry(SITE, text, param="x")[:2] == (kind, value)


@pytest.mark.parametrize("text", ["", "x y", "a@b@c", "0.0.0.0/0", "::/0", "1.2.3.4/33", "no_dot"])
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        screening_lists.parse_entry(SITE, text, param="x")


def test_blocked_people_domains_and_ip_ranges_do_not_count(alice: Operator) -> None:
    code = alice.subscribe("lead@example.org")["ref_code"]
    add(alice, "block", "Mal.lory@gmail.com\nbad.example\n198.51.100.0/24\n2001:db8::/48")
    blocked = ("rejected", "blocked")
    assert referral(alice, "mallory+again@gmail.com", code) == blocked
    assert referral(alice, "x@mail.bad.example", code) == blocked
    assert referral(alice, "y@good.example", code, "198.51.100.77") == blocked
    assert referral(alice, "z@good.example", code, "2001:db8:0:9::1") == blocked
    assert referral(alice, "q@notbad.example", code, "198.51.101.1") == ("verified", None)
    # They are subscribers like any others, and the reason is in plain words.
    assert alice.total() == 6
    person = alice.subscriber("x@mail.bad.example")["uuid"]
    assert "On your block list. It does not count unless you verify it." in text_of(
        alice.web.get(f"/subscribers/{person}").text
    )
    # An entry for the person outranks the one for the domain.
    add(alice, "allow", "friend@bad.example")
    assert referral(alice, "friend@bad.example", code) == ("verified", None)


def test_a_blocked_referrer_refers_nobody(alice: Operator) -> None:
    lead = alice.subscribe("lead@example.org")
    path = f"/subscribers/{lead['uuid']}"
    alice.web.post(f"{path}/list", page=path, do="block")
    assert "Their email address is on your block list." in text_of(alice.web.get(path).text)
    code = lead["ref_code"]
    assert referral(alice, "a@example.net", code) == ("rejected", "referrer_blocked")
    alice.web.post(f"{path}/list", page=path, do="remove")
    assert referral(alice, "b@example.net", code) == ("verified", None)


def test_allowed_ones_are_trusted_but_not_about_themselves(alice: Operator) -> None:
    alice.put(f"{alice.v1}/settings", {"screening": "strict"})
    code = alice.subscribe("lead@example.org", ip_address="192.0.2.1")["ref_code"]
    assert referral(alice, "a@example.net", code, "192.0.2.1") == ("rejected", "same_network")
    add(alice, "allow", "192.0.2.0/28 mailinator.com lead@example.org")
    assert referral(alice, "b@example.net", code, "192.0.2.1") == ("verified", None)
    assert referral(alice, "c@mailinator.com", code) == ("verified", None)
    gmail = alice.subscribe("ann@gmail.com")["ref_code"]
    add(alice, "allow", "gmail.com")
    assert referral(alice, "ann+x@gmail.com", gmail) == ("rejected", "alias_of_referrer")


def test_the_lists_also_decide_about_partners_referrals(alice: Operator, bob: Operator) -> None:
    program = partner_network.offer(alice)
    joined = partner_network.join(bob, program)
    add(alice, "block", "bad.example")
    assert referral(alice, "p@bad.example", joined["ref_code"]) == ("rejected", "blocked")
    assert referral(alice, "p@good.example", joined["ref_code"])[0] != "rejected"


def test_a_block_outlives_the_person_as_a_hash(service: Service, alice: Operator) -> None:
    code = alice.subscribe("lead@example.org")["ref_code"]
    domain = f"{new_id()}.example"
    zelda = alice.subscribe(f"zelda@{domain}")["uuid"]
    add(alice, "block", f"Zelda@{domain}")
    assert f"z…@{domain}" in alice.web.get(PAGE).text
    export = alice.get(f"{alice.v1}/subscribers/{zelda}/export").json()["export"]
    assert export["screening_list"] == "block"
    alice.delete(f"{alice.v1}/subscribers/{zelda}")
    assert not mentions(dump(service), domain)
    assert "An erased email address" in alice.web.get(PAGE).text
    assert referral(alice, f"zelda@{domain}", code) == ("rejected", "blocked")


def test_the_page_refuses_what_it_cannot_read(alice: Operator) -> None:
    for entries, sentence in (
        ("", "Enter an email address, a domain or an IP range."),
        ("good.example\nno_dot", "“no_dot” must be an email address, a domain such as example.com"),
        ("good.example\n0.0.0.0/0", "“0.0.0.0/0”: this IP range is too wide"),
        ("a@b@c\ngood.example", "“a@b@c” is not a valid email address."),
        ("x.example " * 201, "at most 200 lines"),
    ):
        answer = alice.web.post(PAGE, entries=entries, do="block")
        assert answer.status_code == 400, entries
        assert sentence in text_of(answer.text), entries
    assert "Nothing is blocked." in text_of(alice.web.get(PAGE).text)
    add(alice, "block", "good.example")
    add(alice, "allow", "good.example")
    page = text_of(alice.web.get(PAGE).text)
    assert page.count("good.example") == 1 and "Nothing is blocked." in page, "it moves"

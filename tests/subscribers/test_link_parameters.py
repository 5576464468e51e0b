"""Old links name the parameter with the code otherwise than ours do: all of them credit."""

from typing import Any

import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.subscribers import link_parameters
from tests.subscribers.test_codes_api import choose
from tests.support.embeds import Visitor, embedding, people
from tests.support.newsletter import Newsletter
from tests.support.service import Member
from tests.support.web import Operator, text_of

OWN = ["via", "Friend-2"]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, {}),
        ({"ref": "a"}, {"ref": "a"}),
        ({"rh_ref": "a", "rh_partner": "b"}, {"ref": "a", "partner": "b"}),
        ({"grsf": "a"}, {"ref": "a"}),
        ({"kid": "a"}, {"ref": "a"}),
        ({"mwr": "a"}, {"ref": "a"}),
        ({"referralCode": "a", "referralcode": "b"}, {"ref": "a"}),
        ({"via": "a"}, {"ref": "a"}),
        ({"Friend-2": "a", "friend-2": "b"}, {"ref": "a"}),
        ({"kid": "k", "grsf": "g", "via": "v", "rh_ref": "r", "ref": "ours"}, {"ref": "ours"}),
        ({"ref": "", "via": "a"}, {"ref": "a"}),
        ({"ref": "x" * 256, "partner": "\x00", "kid": "a"}, {"ref": "a"}),
        ({"code": "a", "REF": "b"}, {}),
    ],
)
def test_which_parameter_holds_the_code(given: dict[str, str], found: dict[str, str]) -> None:
    assert link_parameters.codes_in(given, OWN) == found


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([""], "1 to 40 letters"),
        (["a b"], "1 to 40 letters"),
        (["vía"], "1 to 40 letters"),
        (["x" * 41], "1 to 40 letters"),
        (["email"], "cannot have email"),
        (["utm_source"], "cannot have utm_source"),
        ([f"name{n}" for n in range(11)], "at most 10 names"),
    ],
    ids=str,
)
def test_what_is_no_name_is_refused(names: list[str], sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        link_parameters.check(names, param="link_parameters")


def test_names_are_kept_once() -> None:
    typed = link_parameters.parse(" via, via\nFriend-2 ,ref ")
    assert link_parameters.check(typed, param="x") == ["via", "Friend-2", "ref"]


def test_the_api_sets_them(alice: Member) -> None:
    path = f"{alice.v1}/settings"
    assert alice.get(path).json()["settings"]["link_parameters"] == []
    saved = alice.put(path, {"link_parameters": OWN}).json()["settings"]
    assert saved["link_parameters"] == OWN
    assert alice.put(path, {"hold_days": 1}).json()["settings"]["link_parameters"] == OWN
    for wrong in (["a b"], "via", [1], None):
        answer = alice.put(path, {"link_parameters": wrong})
        assert (answer.status_code, answer.json()["param"]) == (400, "link_parameters"), wrong
    assert alice.put(path, {"link_parameters": []}).json()["settings"]["link_parameters"] == []


def test_the_settings_page_takes_them_as_they_are_typed(alice: Operator) -> None:
    slug = f"wax-{alice.account_id[-8:]}"
    good = {"name": "Wax", "slug": slug, "screening": "strong", "hold_days": "0"}

    def save(names: str) -> Any:
        fields = {**good, "link_parameters": names}
        return alice.web.post("/settings/campaign", page="/settings", **fields)

    assert save("via,Friend-2").status_code == 303
    assert 'value="via, Friend-2"' in alice.web.get("/settings").text
    refused = save("via, a%b")
    assert refused.status_code == 400 and 'value="via, a%b"' in refused.text
    assert "Each of Other link parameters must be" in text_of(refused.text)
    embedding(alice)
    assert "data-parameters=&#34;via Friend-2&#34;" in alice.web.get("/look/embed").text


def test_a_signup_page_credits_old_links(wax: Newsletter) -> None:
    member = wax.member
    ann = member.subscribe(wax.address())
    assert member.put(f"{member.v1}/settings", {"link_parameters": OWN}).status_code == 200
    assert choose(member, ann, "ann-lee").status_code == 201
    for name in ("ref", "rh_ref", "grsf", "kid", "mwr", "referralCode", "via", "Friend-2"):
        email = wax.address()
        wax.join(email, f"?{name}=Ann-Lee&utm_source=old")
        person = wax.person(email)
        credited = (person.referrer_code, person.utm_source)
        assert credited == (ann["ref_code"], "old"), name
    for name in ("friend-2", "code", "email"):
        email = wax.address()
        wax.join(email, f"?{name}=ann-lee")
        assert wax.person(email).referrer_code is None, name


def test_a_form_on_a_website_may_send_them_too(alice: Member) -> None:
    alice.put(f"{alice.v1}/settings", {"link_parameters": OWN})
    ann = alice.subscribe("ann@example.org")
    visitor = Visitor(alice, embedding(alice))
    # The script of a frame has to be told the operator's names, as on any website.
    assert 'data-parameters="via Friend-2"' in visitor.get("frame/signup").text
    for number, name in enumerate(("rh_ref", "kid", "mwr", "referralCode", "via")):
        assert visitor.sign_up(f"f{number}@example.org", **{name: ann["ref_code"]}).is_success
    referrers = {row["referrer_code"] for email, row in people(alice).items() if email[0] == "f"}
    assert referrers == {ann["ref_code"]}

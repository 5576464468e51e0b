"""Unknown codes on the dashboard: the operator sees who came with one, and says who referred them,
one by one, for all with the same code, or for those selected.
"""

import re

from tests.support.service import Service
from tests.support.web import Operator, text_of

LIST = "/subscribers?referred_by=unknown"


def found(alice: Operator, query: str = "referred_by=unknown") -> list[str]:
    page = alice.web.get(f"/subscribers?{query}").text
    return sorted(re.findall(r'aria-label="Select ([^"@]+)@', page))


def page_text(alice: Operator, path: str) -> str:
    return text_of(alice.web.get(path).text)


def crowd(alice: Operator) -> dict[str, str]:
    """A star, three with one unknown code, one with another, and one with a known one."""
    star = alice.subscribe("star@example.org", name="Lea Dahl")
    made = {"star": star["uuid"], "code": star["ref_code"]}
    for name, code in (("a", "OLD-1"), ("b", "OLD-1"), ("c", "OLD-1"), ("d", "<b>2")):
        made[name] = alice.subscribe(f"{name}@example.org", referrer_code=code)["uuid"]
    made["known"] = alice.subscribe("known@example.org", referrer_code=star["ref_code"])["uuid"]
    return made


def test_an_unknown_code_is_seen_on_the_page_in_the_list_and_on_home(
    alice: Operator,
) -> None:
    assert "unknown code" not in page_text(alice, "/") and "nobody here has" not in page_text(
        alice, LIST
    )
    ids = crowd(alice)
    page = page_text(alice, f"/subscribers/{ids['a']}")
    assert "Came with the code OLD-1 , which nobody here has." in page
    assert "Also for the 2 other subscribers with this code" in page
    assert "Unknown code" not in page_text(alice, f"/subscribers/{ids['known']}")
    assert "&lt;b&gt;2" in alice.web.get(f"/subscribers/{ids['d']}").text
    assert found(alice) == ["a", "b", "c", "d"]
    assert found(alice, "referred_by=unknown&q=old-1") == ["a", "b", "c"]
    assert "4 of 6 subscribers" in page_text(alice, LIST) and "OLD-1" in page_text(alice, LIST)
    assert "4 subscribers came with a code that nobody here has." in page_text(
        alice, "/subscribers"
    )
    assert "4 subscribers came with an unknown code" in page_text(alice, "/")


def test_the_referrer_is_set_for_one_or_for_all_with_the_code(alice: Operator) -> None:
    ids = crowd(alice)
    page = f"/subscribers/{ids['a']}"
    for typed, sentence in (
        ("", "Enter the referrer’s code or email address."),
        ("nobody", "Referrer must be the code or email address of a subscriber"),
        ("a@example.org", "Referrer must be somebody else"),
    ):
        refused = alice.web.post(f"{page}/referrer", page=page, referrer=typed, all="1")
        assert refused.status_code == 400 and sentence in text_of(refused.text), typed
    assert len(found(alice)) == 4, "nothing of it was done to the others either"
    done = alice.web.post(f"{page}/referrer", page=page, referrer="star@example.org")
    assert done.status_code == 303
    shown = page_text(alice, page)
    assert "Referrer set for 1 subscriber." in shown and "Referred by Lea Dahl" in shown
    assert "nobody here has" not in shown
    assert found(alice) == ["b", "c", "d"]
    page = f"/subscribers/{ids['b']}"
    alice.web.post(f"{page}/referrer", page=page, referrer=ids["code"].upper(), all="1")
    assert "Referrer set for 2 subscribers." in page_text(alice, page)
    assert found(alice) == ["d"] and alice.subscriber(ids["star"])["referrals_count"] == 4
    # The second operator, whose page is older.
    late = alice.web.post(f"{page}/referrer", page=page, referrer=ids["code"])
    assert late.status_code == 400 and "already said who referred" in text_of(late.text)
    assert alice.subscriber(ids["star"])["referrals_count"] == 4


def test_the_referrer_is_set_for_those_selected(alice: Operator) -> None:
    ids = crowd(alice)
    for fields, sentence in (
        ({}, "Select at least one subscriber first."),
        ({"id": ids["a"]}, "Enter the referrer’s code or email address."),
        ({"id": ids["a"], "referrer": "x"}, "Nothing changed. Referrer must be the code"),
        (
            {"id": [ids["a"], ids["d"], ids["known"]], "referrer": ids["code"]},
            "Referrer set for 2 subscribers. Somebody has already said who",
        ),
    ):
        alice.web.post("/subscribers/referrer", page=LIST, do="set", back=LIST, **fields)
        assert sentence in page_text(alice, LIST), fields
    assert found(alice) == ["b", "c"] and alice.subscriber(ids["star"])["referrals_count"] == 3
    alice.web.post("/subscribers/referrer", page=LIST, do="forget", id=[ids["b"], ids["c"]])
    assert "Code removed from 2 subscribers." in page_text(alice, LIST)
    assert found(alice) == [] and alice.subscriber(ids["b"])["referred"] is False
    assert "unknown code" not in page_text(alice, "/")


def test_the_code_of_somebody_who_left_the_program_is_no_unknown_code(alice: Operator) -> None:
    star = alice.subscribe("star@example.org")
    alice.delete(f"{alice.v1}/subscribers/{star['uuid']}")
    late = alice.subscribe("late@example.org", referrer_code=star["ref_code"])["uuid"]
    page = alice.web.get(f"/subscribers/{late}").text
    assert "has left the referral program or was erased" in text_of(page)
    assert "/referrer" not in page
    assert found(alice) == [] and "unknown code" not in page_text(alice, "/")


def test_a_claimed_code_is_exported_with_the_person(service: Service) -> None:
    alice = service.member()
    late = alice.subscribe("late@example.org", referrer_code="OLD-1")["uuid"]
    export = alice.get(f"{alice.v1}/subscribers/{late}/export").json()["export"]
    assert export["subscriber"]["claimed_code"] == "OLD-1"

"""Codes that somebody chose: which can be chosen, how many, and by one subscriber only."""

from functools import partial
from typing import Any

import pytest

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.tenant import Tenant
from honeyguide.subscribers import codes, form_codes, refused_words
from honeyguide.subscribers.subscribers import Subscriber
from tests.signups.test_claimed_codes import newsletter
from tests.subscribers.test_codes import adopt, join, run
from tests.support.changes import changing
from tests.support.races import overlapping
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, SITE


def choosing(tenant: Tenant, who: Subscriber, code: str, now_ms: int = NOON_MS) -> Any:
    return partial(changing(codes.choose, SITE, tenant, now_ms), id_or_email=who.id, code=code)


def choose(
    opened: OpenStore, tenant: Tenant, who: Subscriber, code: str, now_ms: int = NOON_MS
) -> Any:
    return opened.run(opened.store.write(choosing(tenant, who, code, now_ms)))


def count(opened: OpenStore, table: str) -> int:
    ((number,),) = opened.ask(f"SELECT COUNT(*) FROM {table}")
    return int(number)


def test_a_chosen_code_credits_and_earlier_ones_go_on_working(opened: OpenStore) -> None:
    tenant = newsletter(opened)
    ann = join(opened, tenant, "ann@a.example")
    assert adopt(opened, tenant, (ann, "old-1")) == []
    made = choose(opened, tenant, ann, " Ann-Lee ")
    assert (made.code, made.source) == ("Ann-Lee", "chosen")
    choose(opened, tenant, ann, "annie", NOON_MS + 1)
    for number, code in enumerate((ann.ref_code, "old-1", "ann-lee", "ANNIE")):
        friend = join(opened, tenant, f"friend{number}@b.example", code)
        assert (friend.referrer_id, friend.referrer_code) == (ann.id, ann.ref_code)
    logged = opened.ask(
        "SELECT subject_id, before, after FROM change_log "
        "WHERE action = 'subscriber.code_chosen' ORDER BY id"
    )
    assert logged == [
        (ann.id, None, '{"code":"Ann-Lee"}'),
        (ann.id, '{"code":"Ann-Lee"}', '{"code":"annie"}'),
    ]


def test_a_code_they_have_already_changes_nothing(opened: OpenStore) -> None:
    tenant = newsletter(opened)
    ann = join(opened, tenant, "ann@a.example")
    adopt(opened, tenant, (ann, "James23b"))
    first = choose(opened, tenant, ann, "ann-lee")
    logged = count(opened, "change_log")
    assert choose(opened, tenant, ann, "ANN-LEE") == first
    assert choose(opened, tenant, ann, "james23b").source == "imported"
    assert choose(opened, tenant, ann, ann.ref_code.upper()).source == "assigned"
    assert (count(opened, "subscriber_code"), count(opened, "change_log")) == (2, logged)


def test_nobody_gets_what_another_has_or_had_in_any_case(opened: OpenStore) -> None:
    tenant, elsewhere = newsletter(opened), newsletter(opened)
    ann, ben, eve = (join(opened, tenant, f"{name}@a.example") for name in ("ann", "ben", "eve"))
    adopt(opened, tenant, (ann, "James23b"))
    choose(opened, tenant, ann, "Ann-Lee")
    choose(opened, tenant, eve, "Eve-Lee")
    run(opened, tenant, codes.erase, subscriber_id=eve.id)
    for code in ("james23B", "ann-lee", ann.ref_code.upper(), "EVE-LEE", "Eve-Lee"):
        with pytest.raises(Invalid, match="code is already taken; choose another"):
            choose(opened, tenant, ben, code)
    # Another campaign's codes are its own, and so are its subscribers.
    foreign = join(opened, elsewhere, "ann@a.example")
    assert choose(opened, elsewhere, foreign, "ann-lee").code == "ann-lee"
    with pytest.raises(Missing):
        choose(opened, elsewhere, ben, "ben-lee")


def test_a_code_that_a_form_answered_with_is_taken(opened: OpenStore) -> None:
    """As that of a new subscriber would be: whoever may choose it learns that the address that they
    typed was subscribed."""
    tenant = newsletter(opened)
    ann, ben = (join(opened, tenant, f"{name}@a.example") for name in ("ann", "ben"))
    run(opened, tenant, form_codes.add, subscriber_id=ann.id, code="w4x9pq2s")
    for who in (ann, ben):
        with pytest.raises(Invalid, match="code is already taken; choose another"):
            choose(opened, tenant, who, "W4X9PQ2S")
    assert adopt(opened, tenant, (ben, "w4x9pq2s")) == ["w4x9pq2s"]


def test_three_new_codes_a_year(opened: OpenStore) -> None:
    tenant = newsletter(opened)
    ann, ben = (join(opened, tenant, f"{name}@a.example") for name in ("ann", "ben"))
    for number in range(3):
        choose(opened, tenant, ann, f"ann-{number}", NOON_MS + number)
    year_ms = NOON_MS + 365 * DAY_MS
    with pytest.raises(Invalid, match="3 new codes a year"):
        choose(opened, tenant, ann, "ann-3", year_ms - 1)
    assert choose(opened, tenant, ann, "ann-2", year_ms - 1).code == "ann-2"
    assert choose(opened, tenant, ben, "ben-lee", year_ms - 1).code == "ben-lee"
    assert choose(opened, tenant, ann, "ann-3", year_ms).code == "ann-3"
    with pytest.raises(Invalid, match="3 new codes a year"):
        choose(opened, tenant, ann, "ann-4", year_ms)


@pytest.mark.parametrize(("first", "second"), [("ann-lee", "ann-lee"), ("Ann-Lee", "ANN-lee")])
def test_of_two_who_choose_the_same_at_once_one_is_refused(
    opened: OpenStore, first: str, second: str
) -> None:
    tenant = newsletter(opened)
    ann, ben = (join(opened, tenant, f"{name}@a.example") for name in ("ann", "ben"))
    one, other = opened.run(
        overlapping(opened.store, choosing(tenant, ann, first), choosing(tenant, ben, second))
    )
    assert one.code == first
    assert isinstance(other, Invalid) and other.message == "code is already taken; choose another."
    assert opened.ask("SELECT subscriber_id FROM subscriber_code") == [(ann.id,)]


def test_three_is_the_most_also_at_once(opened: OpenStore) -> None:
    tenant = newsletter(opened)
    ann = join(opened, tenant, "ann@a.example")
    for code in ("ann-1", "ann-2"):
        choose(opened, tenant, ann, code)
    results = opened.run(
        overlapping(opened.store, choosing(tenant, ann, "ann-3"), choosing(tenant, ann, "ann-4"))
    )
    assert [isinstance(each, Invalid) for each in results] == [False, True]


WRONG = [
    "",
    "ab",
    "a b c",
    "änn-lee",
    "ann/lee",
    "ann.lee",
    "a\x00b",
    "x" * 65,
    "٣٤٥",
    "ann-lee\n\n!",
]


@pytest.mark.parametrize("code", WRONG, ids=ascii)
def test_a_code_has_a_form(opened: OpenStore, code: str) -> None:
    tenant = newsletter(opened)
    ann = join(opened, tenant, "ann@a.example")
    with pytest.raises(Invalid, match=r"3 to 64 letters \(A to Z\), digits, hyphens"):
        choose(opened, tenant, ann, code)
    assert count(opened, "subscriber_code") == 0


@pytest.mark.parametrize(
    ("code", "sentence"), [("Admin", "code is reserved"), ("sh1thead", "a word that we do not")]
)
def test_some_words_are_refused(opened: OpenStore, code: str, sentence: str) -> None:
    tenant = newsletter(opened)
    ann = join(opened, tenant, "ann@a.example")
    with pytest.raises(Invalid, match=sentence):
        choose(opened, tenant, ann, code)


RESERVED = ["api", "WWW", "admin", "login", "robots", "robots-txt", "well-known", "_well_known_"]
RUDE = ["fuck", "FuckYou", "f-u-c-k", "fuuuuck", "sh1t", "5h17", "nigggger", "s3x", "big-ass"]
RUDE += ["ass123", "arschl0ch", "kurwa1", "PUTA", "hijo-de-puta", "p0rn", "s_e_x", "chuj"]
HONEST = ["ana-1", "Matsushita", "scunthorpe", "cockpit", "class-of-26", "Dickens", "therapist"]
HONEST += ["Nigeria", "Schwarzenegger", "monique", "summerdays", "Fukuda", "assessor", "as-we-go"]
HONEST += ["mari-contreras", "essex", "Yoshitaka", "grapes", "Middlesex", "administer", "apiary"]


def test_which_words_are_refused() -> None:
    assert [code for code in RESERVED if not refused_words.is_reserved(code)] == []
    assert [code for code in RUDE if not refused_words.is_rude(code)] == []
    refused = [refused_words.is_reserved, refused_words.is_rude]
    assert [code for code in HONEST if any(is_refused(code) for is_refused in refused)] == []

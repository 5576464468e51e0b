"""Partners are told when a program stops paying for new referrals, whatever stops it; a stop that
is taken back within its minute counts as if it had not been.
"""

from collections.abc import Callable, Iterator

import pytest

from honeyguide.account_life import closing, pausing
from tests.partners.test_term_changes import Deal, rows
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import operator

PAUSED = "do not count: the program is paused"


def publication_path(deal: Deal) -> str:
    sql = statement("SELECT publication_id FROM program WHERE id = :id")
    ((publication_id,),) = deal.service.read(lambda tx: tx.all(sql, id=deal.program["uuid"]))
    return f"/v2/publications/{publication_id}"


def publication(deal: Deal, **fields: object) -> None:
    answer = deal.alice.put(publication_path(deal), fields)
    assert answer.status_code == 200, answer.text


def switch(deal: Deal, do: str) -> None:
    path = f"/program/{deal.program['uuid']}/act"
    answer = deal.alice.web.post(path, page="/settings", do=do, sure="yes")
    assert answer.status_code == 303, answer.text


def delete_publication(deal: Deal) -> None:
    assert deal.alice.delete(publication_path(deal)).status_code == 200


STOPS: dict[str, tuple[Callable[[Deal], object], str]] = {
    "pause": (lambda deal: switch(deal, "pause"), PAUSED),
    "disable": (lambda deal: publication(deal, enabled_partner_program=False), PAUSED),
    "archive": (
        lambda deal: publication(deal, status="archived"),
        "do not count: the program has ended",
    ),
    "delete": (
        lambda deal: deal.alice.delete(deal.api),
        "do not count: the program was deleted",
    ),
    "delete the publication": (delete_publication, "do not count: the program was deleted"),
    "pause the account": (lambda deal: deal.alice.make(pausing.pause), PAUSED),
    "close the account": (lambda deal: deal.alice.make(closing.ask), PAUSED),
}
UNDONE: dict[str, Callable[[Deal], object]] = {
    "pause": lambda deal: switch(deal, "resume"),
    "disable": lambda deal: publication(deal, enabled_partner_program=True),
    "archive": lambda deal: publication(deal, status="active"),
    "pause the account": lambda deal: deal.alice.make(pausing.resume),
    "close the account": lambda deal: deal.alice.make(closing.keep),
}


@pytest.fixture
def deal(quiet_service: Service) -> Iterator[Deal]:
    operator(quiet_service, "admin")
    yield Deal(quiet_service)
    quiet_service.set_clock(0)


def arrive(deal: Deal, n: int) -> str:
    email = f"{n}.{deal.joined['ref_code']}@example.org"
    deal.alice.subscribe(email, referrer_code=deal.joined["ref_code"])
    return email


def outcome(deal: Deal, email: str) -> tuple[str, str | None]:
    listed = deal.alice.get(f"{deal.api}/referrals?per_page=200").json()["referrals"]
    (row,) = [each for each in listed if each["email"] == email]
    return row["status"], row["reason"]


@pytest.mark.parametrize("name", STOPS)
def test_partners_are_told_of_every_stop(deal: Deal, name: str) -> None:
    stop, text = STOPS[name]
    stop(deal)
    (told,) = deal.told()
    assert f"New referrals: count → {text}" in told
    assert deal.told(deal.carol) == []
    assert rows(deal) == []


@pytest.mark.parametrize("name", UNDONE)
def test_a_stop_that_is_taken_back_in_its_minute_was_none(deal: Deal, name: str) -> None:
    STOPS[name][0](deal)
    came = [] if "account" in name else [arrive(deal, n) for n in range(2)]
    assert all(outcome(deal, each)[0] == "rejected" for each in came)
    deal.service.set_clock(50)
    UNDONE[name](deal)
    assert [outcome(deal, each)[0] for each in came] == ["pending"] * len(came)
    assert deal.told() == [] and rows(deal) == []


@pytest.mark.parametrize("name", UNDONE)
def test_after_the_minute_it_was_one(deal: Deal, name: str) -> None:
    STOPS[name][0](deal)
    came = [] if "account" in name else [arrive(deal, 1)]
    first = deal.told()
    deal.service.set_clock(70)
    UNDONE[name](deal)
    assert all(outcome(deal, each)[0] == "rejected" for each in came)
    told = deal.told()
    assert len(first) == 1 and len(told) == 2 and "→ count" in told[1]


def test_a_stop_that_was_told_before_it_was_taken_back_is_told_to_be_over(deal: Deal) -> None:
    switch(deal, "pause")
    came = arrive(deal, 1)
    assert len(deal.told()) == 1
    switch(deal, "resume")
    assert f"New referrals: {PAUSED} → count" in deal.told()[1]
    assert outcome(deal, came)[0] == "pending", "the readers count all the same"


def test_what_changes_nothing_for_new_referrals_is_not_told(deal: Deal) -> None:
    switch(deal, "pause")
    deal.told()
    switch(deal, "pause")
    publication(deal, description="Bees.")
    assert len(deal.told()) == 1

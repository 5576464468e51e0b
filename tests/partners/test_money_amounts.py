"""Two thousand random amounts through the API, in and out, to the cent: as JSON numbers, never as
text or a rounded float.
"""

import json
import random
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.support.partner_network import offer, publish
from tests.support.service import Member
from tests.support.stores import statement

MOST_CENTS = 100_000_000
FIELDS = ("max_payout", "total_budget", "cpa")
UPDATES = 110


def spelled(amount_cents: int, chance: random.Random) -> str:
    """One of the ways to write this amount as a JSON number."""
    plain = f"{amount_cents // 100}.{amount_cents % 100:02d}"
    short = plain.rstrip("0").rstrip(".")
    return chance.choice(
        [plain, short, f"{plain}000", f"{amount_cents}e-2", f"{amount_cents}00E-4"]
    )


def decoded(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code in (200, 201), answer.text
    return json.loads(answer.text, parse_float=Decimal)["partner_program"]  # type: ignore[no-any-return]


def send(member: Member, method: str, path: str, body: str) -> httpx.Response:
    return member.http.request(
        method, path, content=body, headers={"content-type": "application/json"}
    )


def test_two_thousand_amounts_survive_creating_changing_reading_and_storing(alice: Member) -> None:
    chance = random.Random(20_261_115)
    tried = 0

    def draw() -> dict[str, int]:
        kinds = (
            lambda: chance.randint(0, 200),
            lambda: chance.randint(0, 100_000),
            lambda: chance.randint(0, MOST_CENTS),
        )
        return {name: chance.choice(kinds)() for name in FIELDS}

    def body_of(amounts: dict[str, int], **others: Any) -> str:
        numbers = [f'"{name}": {spelled(cents, chance)}' for name, cents in amounts.items()]
        return (
            "{"
            + ", ".join(
                [*numbers, *(f'"{name}": {json.dumps(value)}' for name, value in others.items())]
            )
            + "}"
        )

    def check(shown: dict[str, Any], amounts: dict[str, int]) -> None:
        nonlocal tried
        for name, cents in amounts.items():
            assert isinstance(shown[name], int | Decimal) and not isinstance(shown[name], bool)
            assert Decimal(shown[name]) * 100 == cents, (name, cents, shown[name])
            tried += 1

    find_amounts = statement(
        "SELECT max_payout_cents, total_budget_cents, cpa_cents FROM program WHERE id = :id"
    )
    for _ in range(3):
        publication, amounts = publish(alice), draw()
        about = {"redirect_url": "https://wax.example/", "publication_uuid": publication["uuid"]}
        made = decoded(send(alice, "POST", "/v2/partner_programs", body_of(amounts, **about)))
        check(made, amounts)
        path = f"/v2/partner_programs/{made['uuid']}"
        for _ in range(UPDATES):
            amounts = draw()
            check(decoded(send(alice, "PUT", path, body_of(amounts))), amounts)
            check(decoded(alice.get(path)), amounts)
            stored = alice.service.read(lambda tx, made=made: tx.one(find_amounts, id=made["uuid"]))
            assert stored == tuple(amounts.values())
    assert tried >= 1_980


HOSTILE = [
    "-0.01",
    "1.999",
    "0.001",
    "1000000.01",
    "1e400",
    "NaN",
    "Infinity",
    '"5"',
    "true",
    "[5]",
    "{}",
    "1e-9",
    "1e12",
]


@pytest.mark.parametrize("written", HOSTILE)
@pytest.mark.parametrize("field", FIELDS)
def test_what_is_no_amount_is_a_400_that_names_the_field_and_changes_nothing(
    alice: Member, field: str, written: str
) -> None:
    program = offer(alice, cpa=2.5)
    path = f"/v2/partner_programs/{program['uuid']}"
    answer = send(alice, "PUT", path, f'{{"{field}": {written}}}')
    assert answer.status_code == 400, answer.text
    assert answer.headers["content-type"].startswith("application/json") and answer.json()["error"]
    if written not in ("NaN", "Infinity"):  # those are no JSON at all
        assert answer.json()["param"] == field
    assert alice.get(path).json()["partner_program"] == program

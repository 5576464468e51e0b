"""Many codes looked up together lead to the same people as each of them alone, so that a
certificate finds what a visitor finds.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from honeyguide.signups import lifecycle, signups
from honeyguide.store.tx import Tx
from honeyguide.subscribers import codes, hub_choices, links
from tests.support.imported import Program
from tests.support.readings import changes_of, reading
from tests.support.service import ENGINES
from tests.support.stores import OpenStore


@pytest.fixture(params=ENGINES)
def program(request: pytest.FixtureRequest) -> Iterator[Program]:
    with OpenStore(request.param) as opened:
        yield Program(opened)


def test_many_codes_lead_where_each_of_them_leads(program: Program) -> None:
    other = Program(program.opened, "eve@example.net")
    other.bring("email,RH_CODE\nzoe@example.org,james23b\nyan@example.org,only-theirs\n")
    program.bring(
        "email,RH_CODE\n"
        "ann@example.org,james23b\n"
        "ben@example.org,Twice\n"
        "cy@example.org,tWICE\n"
        "dee@example.org,gone1\n"
        "fay@example.org,left1\n"
    )
    ours = {name: program.get(f"{name}@example.org").ref_code for name in ("ann", "dee", "fay")}
    theirs = other.get("zoe@example.org").ref_code
    program.change(signups.erase, "dee@example.org")
    fay = program.get("fay@example.org")
    program.opened.run(
        program.opened.store.write(
            changes_of(hub_choices.leave_program, program.tenant, now_ms=program.now_ms), fay.id
        )
    )
    asked = [
        *("james23b", "JAMES23B", "Twice", "tWICE", "twice", "TWICE"),
        *("gone1", "left1", "LEFT1", "only-theirs", "nobody", "b d!", "", "x" * 65),
        *ours.values(),
        *(code.upper() for code in ours.values()),
        theirs,
    ]

    async def each_alone(tx: Tx) -> list[dict[str, Any]]:
        tenant = program.tenant
        return [
            {code: await codes.find_ref_code(reading(tx, tenant), code) for code in asked},
            {code: await links.lookup(tx, code) for code in asked},
            {code: await links.lookup_in(reading(tx, tenant), code) for code in asked},
            {
                code: found.id
                if (found := await lifecycle.find_referrer(reading(tx, tenant), code))
                else ""
                for code in asked
            },
        ]

    async def together(tx: Tx) -> list[dict[str, Any]]:
        return [
            await codes.find_ref_codes(reading(tx, program.tenant), asked),
            await links.lookup_all(tx, asked),
            await links.lookup_all_in(reading(tx, program.tenant), asked),
            await lifecycle.find_referrer_ids(reading(tx, program.tenant), asked),
        ]

    read = program.opened.store.read
    alone = program.opened.run(read(each_alone))
    found = program.opened.run(read(together))
    assert found == [{code: each for code, each in known.items() if each} for known in alone]
    by_code, by_link, in_campaign, credited = found
    assert {"Twice", "tWICE"} <= by_code.keys() and "twice" not in by_code
    assert theirs in by_link and theirs not in in_campaign and "only-theirs" not in in_campaign
    assert "left1" in in_campaign and "left1" not in credited
    assert "gone1" not in in_campaign and ours["dee"] not in by_link

"""After an import of any tool's file, every old link of everybody in it credits its owner, and
nothing was sent. Through the real service, on both engines.
"""

from collections.abc import Iterator

import pytest

from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import uploaded_files
from honeyguide.store.tx import Tx
from honeyguide.subscribers import notes
from tests.subscribers.test_link_host_serving import ask, ref_of, verify
from tests.support.imported import LOUD
from tests.support.moving_files import FIXTURES
from tests.support.newsletter import Newsletter
from tests.support.readings import reading
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import Operator, run_import, text_of, upload

# Of each file: everybody's codes.
CODES: dict[str, dict[str, list[str]]] = {
    "rh_list": {"ann": ["anna7f3c"], "ben": ["james23b"], "cy": ["JAMES23B"]},
    "kickofflabs": {"ann": ["K1xx"], "ben": ["K2yy"], "cy": ["K3zz"]},
    "growsurf": {"ann": ["a1aaaa"], "ben": ["b2bbbb"], "cy": ["a3cccc"]},
    "beehiiv": {"ann": ["RnC4EHSVZu"], "ben": ["pQ7mm2AbCd"]},
    "honeyguide": {"ann": ["h7d3nx9t", "anna7f3c", "ann"], "ben": ["k8w2mp4q"], "cy": ["m2w6rz8c"]},
    "any": {"ann": ["ann-a"], "ben": ["ben_b"]},
}
# Who referred whom.
REFERRERS: dict[str, dict[str, str]] = {
    "sparkloop": {"ben": "ann"},
    "rh_list": {"ben": "ann", "cy": "ann"},
    "kickofflabs": {"ben": "ann", "cy": "ann"},
    "growsurf": {"ben": "ann", "cy": "ann"},
    "honeyguide": {"ben": "ann", "cy": "ann"},
    "referralhero": {"ben": "ann", "cy": "ann", "left": "ben"},
    "viral_loops": {"ben": "ann", "cy": "ann"},
    "any": {"ben": "ann"},
}
# What counts toward rewards afterwards.
COUNTS: dict[str, dict[str, int]] = {
    "sparkloop": {"ann": 1},
    "rh_list": {"ann": 7},
    "kickofflabs": {"ann": 2},
    "growsurf": {"ann": 1},
    "honeyguide": {"ann": 7},
    "referralhero": {"ann": 7, "ben": 1},
    "viral_loops": {"ann": 2},
    "viral_loops_new": {"ann": 7},
    "any": {"ann": 1},
}
NOTES = {
    "rh_list": "RH_GLOBREF: 12\nNOTES: Met at the fair\nCoupon: MUG-123",
    "referralhero": "extra field: Team lead\nextra field 2: T-shirt M",
    "viral_loops": "Company: Abel, Inc.\nShoe size: 42",
    "viral_loops_new": "Company: Abel, Inc.",
    "kickofflabs": "verified_leads: 1",
    "growsurf": "notes: Friendly",
    "ghost": "note: Said hello,\nin person",
    "mailchimp": "NOTES: Met at the fair",
}
DATES = {"sparkloop": "2023-03-25", "any": "2023-04-03", "referralhero": "2023-05-01"}
NAMES = sorted(path.stem for path in FIXTURES.glob("*.csv"))


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param) as running:
        yield running


def loud(alice: Operator) -> dict[str, int]:
    async def count(tx: Tx, table: str) -> int:
        find = statement(f"SELECT COUNT(*) FROM {table} WHERE account_id = :id")
        return int((await tx.all(find, id=alice.account_id))[0][0])

    return {table: alice.service.read(lambda tx, each=table: count(tx, each)) for table in LOUD}


def bring(alice: Operator, name: str) -> str:
    return run_import(alice, upload(alice, (FIXTURES / f"{name}.csv").read_bytes(), f"{name}.csv"))


@pytest.mark.parametrize(
    "name",
    [
        name if n % 4 == 0 else pytest.param(name, marks=pytest.mark.long)
        for n, name in enumerate(NAMES)
    ],
)
def test_a_file_comes_along_once_and_its_old_links_credit_their_owners(
    service: Service, alice: Operator, name: str
) -> None:
    """In one test, because an import through the service takes most of its time."""
    wax = Newsletter(service, member=alice)
    host = f"{name.replace('_', '-')}.links.example"
    verify(alice, host)
    before = loud(alice)
    done = bring(alice, name)
    assert "0 Failed" in done or "no errors" in done, done
    assert "0 subscribers added." in bring(alice, name)
    assert loud(alice) == before, "an import is silent"
    check_people(alice, name)
    check_links(alice, wax, host, name)


def check_people(alice: Operator, name: str) -> None:
    """Referrers, counts, dates and notes."""

    def of(person: str) -> dict[str, str]:
        return alice.subscriber(f"{person}@example.org")

    people = {
        person: {key: of(key)["ref_code"] for key in ("ann", "ben")}[referrer]
        for person, referrer in REFERRERS.get(name, {}).items()
    }
    assert {person: of(person)["referrer_code"] for person in people} == people
    find = statement("SELECT referrals_verified + adjustments FROM subscriber WHERE id = :id")
    for person, count in COUNTS.get(name, {}).items():
        uuid = of(person)["uuid"]
        assert alice.service.read(lambda tx, uuid=uuid: tx.all(find, id=uuid)) == [(count,)], person
    ann, tenant = of("ann"), Tenant(alice.account_id, alice.campaign_id)
    kept = alice.service.read(lambda tx: notes.of_subscriber(reading(tx, tenant), ann["uuid"]))
    assert [each.text for each in kept] == ([NOTES[name]] if name in NOTES else [])
    assert ann["created_at"].startswith(DATES.get(name, "20"))


def check_links(alice: Operator, wax: Newsletter, host: str, name: str) -> None:
    """In each of their forms."""
    service = alice.service
    source = uploaded_files.read((FIXTURES / f"{name}.csv").read_bytes(), name).source
    tried = 0
    for person, codes in CODES.get(name, {}).items():
        own = alice.subscriber(f"{person}@example.org")["ref_code"]
        for code in codes:
            assert ref_of(ask(service, f"/{code}", host)) == own, (code, "link host")
            assert ref_of(wax.visitor.get(f"/r/{wax.campaign.slug}/{code}")) == own
            new = alice.subscribe(f"{person}{tried}@new.example", referrer_code=code)
            assert new["referrer_code"] == own, (code, "API")
            for form in [*source.facts.links, "?ref={code}"]:
                tried += 1
                if form.startswith("?"):
                    email = f"page{tried}@new.example"
                    wax.join(email, form.format(code=code))
                    assert wax.person(email).referrer_code == own, (code, form)
                elif form == "/r/{code}" and code == codes[0]:
                    assert ref_of(wax.visitor.get(f"/r/{code}")) == own, (code, form)
    assert bool(tried) == (name in CODES)


def test_the_other_order_of_dates_can_be_chosen(alice: Operator) -> None:
    import_id = upload(alice, (FIXTURES / "any.csv").read_bytes(), "any.csv")
    page = f"/subscribers/import/{import_id}"
    assert "Day before month" in text_of(alice.web.get(page).text)
    run_import(alice, import_id, dates="month_first")
    assert alice.subscriber("ann@example.org")["created_at"].startswith("2023-03-04")

"""No cell of a CSV that somebody else could have written is a formula: every file that a
spreadsheet may open, with hostile text in each field that ends up in it. On both engines.
"""

import csv
import io

import pytest

from honeyguide.kernel.clock import HOUR_MS, system_clock
from honeyguide.partners import rules
from tests.support.partner_network import join, offer, publish
from tests.support.process import command
from tests.support.service import ENGINES, Service
from tests.support.web import Operator, operator

BEGINNINGS = "=+-@"
FORMULA = "{}HYPERLINK(A1)"
# An email address may begin with any of these but an @.
ADDRESSES = {each: f"{each}cmd{number}@example.org" for number, each in enumerate("=+-")}


class Files:
    """Every CSV of one installation after a month in which everybody was hostile."""

    def __init__(self, engine: str) -> None:
        with Service(engine) as service:
            self.alice, self.bob = operator(service, "alice"), operator(service, "bob")
            month = rules.month_of(service.now_ms())
            for who in (self.alice, self.bob):
                who.web.post("/account/profile", page="/account", name=FORMULA.format("-"))
            for number, each in enumerate(BEGINNINGS):
                program = offer(self.alice, publish(self.alice, name=FORMULA.format(each)))
                code = join(self.bob, program)["ref_code"]
                email = ADDRESSES.get(each, f"reader{number}@example.org")
                self.alice.subscribe(email, name=FORMULA.format(each), referrer_code=code)
            service.set_clock((rules.closes_at(month) + HOUR_MS - system_clock()) / 1000)
            service.run_jobs()
            for who in (self.alice, self.bob):
                who.web.log_in(who.email)
            self.pay(month)
            self.read = {
                "subscribers": self.get(self.alice, "/subscribers/export.csv"),
                "referred subscribers": self.get(
                    self.alice, "/subscribers/export.csv?show=referrals"
                ),
                "the owner's statement": self.get(self.alice, f"/statements/owner/{month}.csv"),
                "the partner's statement": self.get(self.bob, f"/statements/partner/{month}.csv"),
                "payouts": self.get(self.alice, "/administration/payouts.csv"),
                "payouts of a month": self.get(
                    self.alice, f"/administration/payouts.csv?month={month}"
                ),
            }
        for name, arguments in {
            "honeyguide export": ("export", "--account", self.alice.email),
            "honeyguide payouts export": ("payouts", "export"),
        }.items():
            done = command(*arguments, database_url=service.database_url)
            assert done.returncode == 0, done.stderr
            self.read[name] = done.stdout

    def pay(self, month: str) -> None:
        (payout,) = csv.DictReader(
            io.StringIO(self.get(self.alice, f"/administration/payouts.csv?month={month}"))
        )
        page = f"/administration?month={month}"
        paid = self.alice.web.post(
            "/administration/payouts",
            page=page,
            payout=payout["payout_uuid"],
            reference=FORMULA.format("@"),
        )
        assert paid.status_code == 303, paid.text

    @staticmethod
    def get(who: Operator, path: str) -> str:
        answer = who.web.get(path)
        assert answer.status_code == 200 and answer.headers["content-type"].startswith(
            "text/csv"
        ), path
        return answer.text


@pytest.fixture(scope="module", params=ENGINES)
def files(request: pytest.FixtureRequest) -> Files:
    return Files(request.param)


NAMES = {FORMULA.format(each) for each in BEGINNINGS}
PERSON = {FORMULA.format("-")}
EXPECTED = {
    "subscribers": NAMES | set(ADDRESSES.values()),
    "referred subscribers": NAMES | set(ADDRESSES.values()),
    "the owner's statement": NAMES | set(ADDRESSES.values()) | PERSON,
    "the partner's statement": NAMES,
    "payouts": PERSON | {FORMULA.format("@")},
    "payouts of a month": PERSON | {FORMULA.format("@")},
    "honeyguide export": NAMES | set(ADDRESSES.values()),
    "honeyguide payouts export": PERSON | {FORMULA.format("@")},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_no_cell_begins_like_a_formula(files: Files, name: str) -> None:
    rows = list(csv.reader(io.StringIO(files.read[name])))
    cells = {cell for row in rows for cell in row}
    assert [cell for cell in cells if cell.startswith(tuple(BEGINNINGS))] == []
    assert {f"'{text}" for text in EXPECTED[name]} <= cells, "the text itself stays, behind a quote"

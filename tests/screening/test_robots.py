"""Six families of fake signups against a program with default settings: hardly anything is charged
for them, and honest people who confirm are paid for.

Everything goes through the magic-link form and real confirmation emails. The clock is moved.
"""

import random
import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from pathlib import Path
from typing import NamedTuple

import pytest

from honeyguide.kernel.clock import system_clock
from tests.support.http_client import local_client
from tests.support.partner_network import join, offer
from tests.support.service import Service

FEE = 2.5
EACH = 40
PEOPLE = 120
MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400
BROWSER = {
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "accept-language": "en-US,en;q=0.5",
    "sec-fetch-site": "same-origin",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
}
TOOL = {"user-agent": "python-requests/2.32.5"}
FIRST_NAMES = """
ada alma anton arno astrid bea ben boris carla cleo conrad dan delia dora edgar elsa emil eva fabio
finn flora gerd gina greta hal hanna heidi ida igor ines jana jon juno kay klara knut lars lea linus
mara max mila nils nora olga oli otto pablo paula pia quinn ralf rita rob romy sven sue tessa tom
una uwe vera viktor willa yann zora
"""
LAST_NAMES = """
abel ames archer bach barlow baum bloom boone brandt burke carver coyle craft crane dahl dale drew
dunn eaton ebert ellis engel falk finch frost gale garber gray grove hale hardy heller holt hoyt
irons jarvis jensen jude kagan keane kerr koller kuhn lamar lang lowe lund mahler marsh meier moss
nagel nash nolan norris oakes orlov owen parr pike pratt quick rainer rhodes roth sachs savage sloan
stark stone thorn tilden unger vance vogt wade walsh weller wilde yates young zeller zorn
"""
MAILBOXES = "gmail.com gmail.com gmail.com yahoo.com outlook.com icloud.com gmx.net web.de"
FIRST, LAST, PROVIDERS = FIRST_NAMES.split(), LAST_NAMES.split(), MAILBOXES.split()


class Try(NamedTuple):
    email: str
    after_s: float
    """After the family began."""
    network: str
    headers: dict[str, str] = BROWSER
    confirms: bool = True
    is_replayed: bool = False


def network(rng: random.Random) -> str:
    return f"{rng.choice([31, 62, 81, 93])}." + ".".join(str(rng.randint(1, 254)) for _ in "abc")


def name(rng: random.Random) -> str:
    first, last = rng.choice(FIRST), rng.choice(LAST)
    number = rng.randint(50, 99)
    styles = [f"{first}.{last}", f"{first}{last}", f"{first[0]}{last}", f"{last}.{first}"]
    return rng.choice([*styles, *styles, f"{first}{last}{number}", f"{first}.{rng.choice(LAST)}"])


def replayed_form(rng: random.Random) -> Iterator[Try]:
    server = network(rng)
    for number in range(EACH):
        email = f"{name(rng)}.a{number}@{rng.choice(PROVIDERS)}"
        yield Try(email, number, server, TOOL, confirms=False, is_replayed=True)


def catch_all_domain(rng: random.Random) -> Iterator[Try]:
    for number in range(EACH):
        after_s = number * 4 * MINUTE_S + rng.uniform(0, 3 * MINUTE_S)
        yield Try(f"{name(rng)}.b{number}@kestrel-garden.example", after_s, network(rng))


def counted_addresses(rng: random.Random) -> Iterator[Try]:
    for number in range(EACH):
        after_s = number * 3 * MINUTE_S + rng.uniform(0, 2 * MINUTE_S)
        yield Try(f"morningfan{200 + number}@gmail.com", after_s, network(rng))


def bought_list(rng: random.Random) -> Iterator[Try]:
    for number in range(EACH):
        email = f"{name(rng)}{rng.randint(100, 999)}@{rng.choice(PROVIDERS)}"
        after_s = number * MINUTE_S + rng.uniform(0, 50)
        yield Try(email, after_s, network(rng), TOOL, confirms=False)


def domain_farm(rng: random.Random) -> Iterator[Try]:
    for number in range(EACH):
        after_s = number * 10 * MINUTE_S + rng.uniform(0, 9 * MINUTE_S)
        yield Try(f"{name(rng)}.e@cheap-{number % 10}.example", after_s, network(rng))


def names_on_a_timer(rng: random.Random) -> Iterator[Try]:
    for number in range(EACH):
        email = f"{name(rng)}.{rng.choice(LAST)}@{rng.choice(PROVIDERS)}"
        yield Try(email, number * 5 * MINUTE_S + rng.uniform(0, 10), network(rng))


def honest_people(rng: random.Random) -> Iterator[Try]:
    emails: dict[str, None] = {}
    while len(emails) < PEOPLE:
        at_work = f"{rng.choice(LAST)}-{rng.choice(FIRST)}-{len(emails)}.example"
        emails[f"{name(rng)}@{at_work if rng.random() < 0.1 else rng.choice(PROVIDERS)}"] = None
    moments = sorted(rng.betavariate(1, 3) * 3 * DAY_S for _ in emails)
    office = network(rng)
    for number, (email, after_s) in enumerate(zip(emails, moments, strict=True)):
        yield Try(email, after_s, office if number % 30 == 0 else network(rng))


FAMILIES = (
    replayed_form,
    catch_all_domain,
    counted_addresses,
    bought_list,
    domain_farm,
    names_on_a_timer,
)


class Trial:
    """A newsletter with some readers, and its program made by API with a fee and nothing else."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.owner = service.member("alice")
        for number in range(60):
            domain = random.Random(number).choice(PROVIDERS)
            self.owner.subscribe(f"old.reader{number}@{domain}")
        budget = {"total_budget": 10_000, "max_payout": 1_000}
        self.program = offer(self.owner, cpa=FEE, **budget)
        self.now_s = system_clock() / 1000
        self._http = local_client(service.url, {})
        self._emails = Path(service.settings.smtp_url.removeprefix("file://"))

    def play(self, tries: Iterator[Try], *, jobs_every_s: int = 15 * MINUTE_S) -> list[str]:
        """Signs them up, and confirms when the jobs have run; returns the email addresses."""
        code = join(self.service.member("bob"), self.program)["ref_code"]
        emails, waiting, form = [], dict[str, Try](), {"path": f"/m/{code}", "token": ""}
        began_s, next_jobs_s = self.now_s, self.now_s
        for each in tries:
            emails.append(each.email)
            self._set_time(began_s + each.after_s)
            if self.now_s >= next_jobs_s:
                self._run_jobs(waiting)
                next_jobs_s = self.now_s + jobs_every_s
            if self._sign_up(form, each) and each.confirms:
                waiting[each.email] = each
        self._set_time(self.now_s + 15 * MINUTE_S)
        self._run_jobs(waiting)
        self._set_time(began_s + DAY_S)
        return emails

    def end(self) -> None:
        for days in (1, 1, 29, 39):
            self._set_time(self.now_s + days * DAY_S)
            self._run_jobs({})

    def outcomes(self) -> dict[str, tuple[str, str | None, float]]:
        """(status, reason, charged) by email address."""
        found, page = {}, 1
        while True:
            path = f"/v2/partner_programs/{self.program['uuid']}/referrals"
            body = self.owner.get(path, params={"page": page, "per_page": 200}).json()
            for each in body["referrals"]:
                charged = float(each["charged"] or 0)
                found[each["email"]] = (each["status"], each["reason"], charged)
            if page >= body["meta"]["total_pages"]:
                return found
            page += 1

    def _set_time(self, now_s: float) -> None:
        self.now_s = max(self.now_s, now_s)
        self.service.set_clock(self.now_s - system_clock() / 1000)

    def _client(self, each: Try) -> dict[str, str]:
        return {**each.headers, "x-forwarded-for": each.network, "x-forwarded-proto": "https"}

    def _sign_up(self, form: dict[str, str], each: Try) -> bool:
        path, headers = form["path"], self._client(each)
        if not (each.is_replayed and form["token"]):
            page = self._http.get(path, headers=headers)
            found = re.search(r'name="token" value="([^"]+)"', page.text)
            assert found is not None
            form["token"] = found[1]
        data = {"email": each.email, "token": form["token"]}
        return self._http.post(path, data=data, headers=headers).status_code == 303

    def _run_jobs(self, waiting: dict[str, Try]) -> None:
        self.service.run_jobs()
        for file in self._emails.glob("*.eml"):
            self._answer(file, waiting)

    def _answer(self, file: Path, waiting: dict[str, Try]) -> None:
        message = message_from_bytes(file.read_bytes(), policy=policy.default)
        file.unlink()
        body = message.get_body(("plain",))
        assert body is not None
        link = re.search(r"https?://[^/\s]+(/confirm/\S+)", body.get_content())
        each = waiting.pop(str(message["To"]), None)
        if link and each is not None:
            headers = self._client(each)
            assert self._http.get(link[1], headers=headers).status_code == 200
            assert self._http.post(link[1], headers=headers).status_code == 303


# Every run has the lab of tests/lab/test_lab.py, which pays robots less than this.
@pytest.fixture(params=["sqlite", "postgres"])
def trial(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Trial]:
    emails = f"file://{tmp_path}/emails"
    with Service(request.param, work=False, smtp_url=emails, trusted_proxies="127.0.0.1") as made:
        yield Trial(made)


@pytest.mark.long
def test_robots_are_hardly_paid_and_honest_people_are(trial: Trial) -> None:
    robots = [
        (family.__name__, trial.play(family(random.Random(family.__name__)))) for family in FAMILIES
    ]
    people = trial.play(honest_people(random.Random("honest people")), jobs_every_s=3 * HOUR_S)
    trial.end()

    outcomes = trial.outcomes()
    by_family = {
        name: sum(outcomes[email][2] for email in emails if email in outcomes)
        for name, emails in robots
    }
    tried = sum(len(emails) for _, emails in robots) * FEE
    assert tried == 600
    assert sum(by_family.values()) <= 0.05 * tried, by_family

    honest = {email: outcomes[email] for email in people}
    assert len(honest) == PEOPLE
    unpaid = {email: outcome for email, outcome in honest.items() if outcome[2] != FEE}
    assert len(unpaid) <= 0.03 * PEOPLE, unpaid
    assert not [email for email, outcome in unpaid.items() if outcome[0] == "rejected"], unpaid

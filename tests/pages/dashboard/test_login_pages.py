"""In and out of the dashboard: what an attacker tries at its doors, on both engines."""

import argon2
import pytest

from honeyguide.accounts import attempts, passwords
from honeyguide.kernel.errors import Invalid, TooMany, Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.pages.dashboard.login import login
from honeyguide.pages.dashboard.page_request import refusal
from honeyguide.settings import Settings
from tests.support.service import Service
from tests.support.web import PASSWORD, Operator, WebClient, operator, text_of

pytestmark = pytest.mark.usefixtures("roomy_logins")

NEW = "four quiet green herons"


@pytest.fixture
def web(service: Service) -> WebClient:
    return WebClient(service)


def test_failures_have_the_usual_titles(alice: Operator) -> None:
    assert "<h1>Page not found</h1>" in alice.web.get("/nothing/here").text
    assert "<h1>Method not allowed</h1>" in alice.web.http.request("PUT", "/login").text
    assert (
        "This form has expired."
        in alice.web.http.post("/settings/campaign", data={"name": "Wax"}).text
    )
    for fault, title in (
        (TooMany("Wait.", retry_after_s=1), "Too many requests"),
        (Unavailable("Wait."), "We’ll be right back"),
        (Invalid("{field} must be short.", param="a_field"), "That didn’t work"),
    ):
        page = text_of(bytes(refusal(fault).body).decode())
        assert title in page and "a_field" not in page


def test_without_an_invitation_the_door_stays_shut(service: Service, web: WebClient) -> None:
    operator(service)
    page = text_of(web.get("/signup").text)
    assert "Invitation only" in page and "The invitation email contains your link." in page
    assert "No invitation yet? Ask the newsletter" in page, "nobody reads honeyguide@localhost"
    assert web.post("/signup", page="/login", email="eve@example.org").status_code == 404


@pytest.mark.parametrize(
    ("sender", "contact"),
    [
        ("The Wax <hello@wax.example>", "hello@wax.example"),
        ("No-Reply@wax.example", ""),
        ("Honeyguide <honeyguide@localhost>", ""),
    ],
)
def test_an_invitation_is_asked_of_a_sender_who_reads_mail(sender: str, contact: str) -> None:
    assert login._contact(Settings(mail_from=sender)) == contact


class NotingHasher(argon2.PasswordHasher):
    """Notes what it was asked to verify: these parameters are what a comparison costs."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=1024, parallelism=1)
        self.verified: list[argon2.Parameters] = []

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:
        self.verified.append(argon2.extract_parameters(str(hash)))
        return super().verify(hash, password)


def test_wrong_passwords_and_unknown_addresses_get_the_same_answer_for_the_same_work(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = operator(service)
    asked = []
    for email in (alice.email, "nobody@example.org"):
        hasher = NotingHasher()
        monkeypatch.setattr(passwords, "_hasher", hasher)
        answer = WebClient(service).log_in(email, "wrong and long enough")
        assert answer.status_code == 401
        asked.append((text_of(answer.text), hasher.verified))
    assert asked[0] == asked[1] and len(asked[0][1]) == 1


def test_a_forgotten_password_says_the_same_to_everybody(service: Service, alice: Operator) -> None:
    answers = [
        WebClient(service).post("/password", email=email)
        for email in (alice.email, "nobody@example.org")
    ]
    assert [answer.status_code for answer in answers] == [200, 200]
    first, second = (text_of(answer.text) for answer in answers)
    assert first.replace(alice.email, "") == second.replace("nobody@example.org", "")


def test_passwords_are_hashed_by_argon2id_at_full_cost() -> None:
    import argon2

    parameters = argon2.PasswordHasher()
    assert parameters.hash(NEW).startswith("$argon2id$")
    assert parameters.memory_cost >= 64 * 1024 and parameters.time_cost >= 3


def test_tries_are_limited_per_account(service: Service, alice: Operator) -> None:
    web = WebClient(service)
    token = web.token("/login")
    fields = {"csrf": token, "email": alice.email, "password": "wrong and long enough"}
    statuses = [
        web.http.post("/login", data=fields).status_code
        for _ in range(attempts.LOGIN_BY_ACCOUNT.most + 2)
    ]
    assert statuses == [401] * attempts.LOGIN_BY_ACCOUNT.most + [429] * 2
    refused = web.http.post("/login", data={**fields, "password": PASSWORD})
    assert refused.status_code == 429 and int(refused.headers["retry-after"]) > 0
    assert "Too many attempts. Try again in 15 minutes." in refused.text
    service.set_clock(attempts.LOGIN_BY_ACCOUNT.window_ms / 1000 + 1)
    assert web.log_in(alice.email).status_code == 303


def test_tries_are_limited_per_address(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        attempts, "LOGIN_BY_ADDRESS", attempts.LOGIN_BY_ADDRESS._replace(name=new_id(), most=3)
    )
    web = WebClient(service)
    token = web.token("/login")
    tries = [
        web.http.post(
            "/login", data={"csrf": token, "email": f"{new_id()}@example.org", "password": "x" * 12}
        ).status_code
        for _ in range(5)
    ]
    assert tries == [401, 401, 401, 429, 429]


@pytest.mark.parametrize(
    "path",
    ["//evil.example", "https://evil.example", "/\\evil.example", "/login", "javascript:alert(1)"],
)
def test_the_login_leads_to_our_own_pages_only(
    service: Service, alice: Operator, path: str
) -> None:
    web = WebClient(service)
    answer = web.post("/login", email=alice.email, password=PASSWORD, next=path)
    assert answer.headers["location"] == "/"


def test_the_login_leads_back_to_where_one_was_going(service: Service) -> None:
    alice, web = operator(service), WebClient(service)
    where = web.get("/subscribers?show=advocates").headers["location"]
    assert where == "/login?next=/subscribers%3Fshow%3Dadvocates"
    assert 'name="next" value="/subscribers?show=advocates"' in web.get(where).text
    answer = web.post(
        "/login", email=alice.email, password=PASSWORD, next="/subscribers?show=advocates"
    )
    assert answer.headers["location"] == "/subscribers?show=advocates"


def test_letters_are_limited_per_network(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    low = attempts.EMAILS_BY_ADDRESS._replace(name=new_id(), most=3)
    monkeypatch.setattr(attempts, "EMAILS_BY_ADDRESS", low)
    web = WebClient(service)
    token = web.token("/password")
    fields = [{"csrf": token, "email": f"{new_id()}@example.org"} for _ in range(5)]
    asked = [web.http.post("/password", data=each).status_code for each in fields]
    assert asked == [200, 200, 200, 429, 429]

"""A browser without a screen: cookies, tokens and forms as a person's browser handles them, against
the real service.
"""

from __future__ import annotations

import html
import re
import time
from typing import Any

import argon2
import httpx
import pytest

from honeyguide.accounts import attempts, members, passwords
from honeyguide.store.tx import Tx
from tests.support.http_client import local_client
from tests.support.service import Member, Service

# Hashing is slow on purpose, which is tested apart; here it only has to be the same for all.
passwords._hasher = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)

PASSWORD = "three calm brown bears"
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')


class WebClient:
    """One person's browser. `web.post(path, page="/settings", name="x")` fills in the token that
    the page carried.
    """

    # Where a page asks for the password again, it is entered, as a person does.
    enters_password = True

    def __init__(self, service: Service) -> None:
        self.service = service
        self.http = local_client(service.url, {"origin": service.settings.base_url})
        self._tokens: dict[str, str] = {}

    @classmethod
    def at(cls, url: str) -> WebClient:
        """Of a server in a process of its own."""
        made = cls.__new__(cls)
        made.http, made._tokens = local_client(url, {"origin": url}), {}
        return made

    def get(self, path: str, **kwargs: Any) -> httpx.Response:
        return self._enter_password(self.http.get(path, **kwargs))

    def _enter_password(self, answer: httpx.Response) -> httpx.Response:
        is_page = answer.headers.get("content-type", "").startswith("text/html")
        if not (self.enters_password and is_page and 'name="login_password"' in answer.text):
            return answer
        action, fields = password_form(answer.text)
        sent = self.http.post(action, data={**fields, "login_password": PASSWORD})
        went_back = action == "/login/again" and sent.status_code == 303
        return self.http.get(sent.headers["location"]) if went_back else sent

    def token(self, page: str) -> str:
        found = _CSRF.search(self.get(page, follow_redirects=True).text)
        assert found is not None, f"{page} carries no token"
        return found[1]

    def post(self, path: str, page: str | None = None, **fields: Any) -> httpx.Response:
        token = self._token_of_session(page) if page else self.token(path)
        return self._enter_password(self.http.post(path, data={"csrf": token, **fields}))

    def _token_of_session(self, page: str) -> str:
        """From any page: all forms of a session take it."""
        if not self.session:
            return self.token(page)
        if self.session not in self._tokens:
            self._tokens[self.session] = self.token(page)
        return self._tokens[self.session]

    def log_in(self, email: str, password: str = PASSWORD) -> httpx.Response:
        return self.post("/login", email=email, password=password)

    def plant(self, token: str) -> None:
        """A session cookie that somebody else chose."""
        self.http.cookies.set("hg_session", token, domain="127.0.0.1")

    @property
    def session(self) -> str:
        return (
            self.http.cookies.get("hg_session") or self.http.cookies.get("__Host-hg_session") or ""
        )


def password_form(page: str) -> tuple[str, dict[str, str]]:
    """Where the form that asks for the password again is sent, and what it carries on."""
    action = re.search(r'<form method="post" action="([^"]+)" class="stack" data-leaves', page)
    assert action is not None, "the page asks for the password"
    hidden = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page[action.start() :])
    return html.unescape(action[1]), {name: html.unescape(value) for name, value in hidden}


class Operator(Member):
    """An account that calls the API and sits at its dashboard."""

    email: str
    user_id: str
    web: WebClient


def operator(service: Service, name: str = "alice") -> Operator:
    """A new account with a password, logged in."""
    member = service.member(name)

    async def find(tx: Tx) -> str:
        from honeyguide.accounts import accounts

        return (await accounts.get(tx, member.account_id)).email

    email = service.read(find)
    set_password(service, member.account_id)
    made = Operator(service, member.account_id, member.campaign_id, member.key)
    made.email, made.web = email, WebClient(service)
    made.user_id = service.read(lambda tx: members.first_owner(tx, member.account_id))
    # All tests of a process share one IP address, however many of them log in.
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("LOGIN_BY_ADDRESS", "LOGIN_BY_INSTALLATION"):
            patch.setattr(attempts, limit, getattr(attempts, limit)._replace(most=100_000))
        assert made.web.log_in(email).status_code == 303
    return made


_hash: list[str] = []


def set_password(service: Service, account_id: str) -> None:
    """Of the account's first owner."""
    if not _hash:
        _hash.append(service.run(passwords.hashed(PASSWORD)))

    async def work(tx: Tx) -> None:
        user_id = await members.first_owner(tx, account_id)
        await passwords.set_hash(tx, user_id, _hash[0])

    service.write(work)


def text_of(page: str) -> str:
    """What a person reads on a page."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page.replace("<wbr>", ""))))


def row_of(page: str, text: str) -> str:
    """The only row of a table in which a person reads this text."""
    (row,) = (row for row in re.findall(r"<tr\b.*?</tr>", page, re.DOTALL) if text in text_of(row))
    return str(row)


def mistakes(page: str) -> dict[str, str]:
    """What a form says, by the id of the sentence; each sentence describes an input that is marked
    as invalid.
    """
    marked = re.findall(r'<p class="wrong" id="h-(\w+)">(.*?)</p>', page)
    found = {each: text_of(sentence).strip() for each, sentence in marked}
    for each in found:
        assert re.search(rf'aria-describedby="h-{each}" aria-invalid="true"', page), each
    return found


def upload(alice: Operator, text: str | bytes, name: str = "people.csv") -> str:
    """Sends in a file of people; its import's id."""
    data = text.encode() if isinstance(text, str) else text
    answer = alice.web.http.post(
        "/subscribers/import",
        data={"csrf": alice.web.token("/subscribers/import")},
        files={"file": (name, data, "text/csv")},
    )
    assert answer.status_code == 303, text_of(answer.text)
    return answer.headers["location"].rsplit("/", 1)[1]


def chosen_columns(page: str) -> dict[str, str]:
    """The column that each field of an import's form has selected."""
    fields = re.findall(
        r'<select[^>]* name="(\w+)">((?:(?!</select>).)*)</select>', page, re.DOTALL
    )
    chosen = [(name, re.search(r'value="(\d+)" selected', options)) for name, options in fields]
    return {name: found[1] for name, found in chosen if found}


def run_import(alice: Operator, import_id: str, **mapping: str) -> str:
    """Starts an import with the columns it guessed, and what its page says in the end."""
    page = alice.web.get(f"/subscribers/import/{import_id}").text
    columns = {**chosen_columns(page), **mapping}
    alice.web.post(f"/subscribers/import/{import_id}", do="start", **columns)
    for _ in range(200):
        text = text_of(alice.web.get(f"/subscribers/import/{import_id}").text)
        if "Importing" not in text:
            return text
        time.sleep(0.05)
    raise AssertionError(f"the import did not end: {text}")

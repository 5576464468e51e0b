"""Signups under which a database fails: clients that write down what was acknowledged, and send
again what was not, as a careful caller of the API does.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from typing import Any

from .partner_network import publication_fields
from .process import Answer, Caller, Serving, new_account
from .service import until

CLIENTS = 8
# How long a client waits for an answer before it sends the same again, and between two signups.
PATIENCE_S, PAUSE_S = 5.0, 0.05
NO_ANSWER = "no answer"
BUSY = 409  # the first try with this Idempotency-Key is still running
TAKEN = "Email has already been taken"
# One program whose budget lasts, and one whose caps are reached in every month.
LASTING_FEE_CENTS = 100
PROGRAMS: tuple[dict[str, Any], ...] = (
    {"cpa": LASTING_FEE_CENTS / 100, "max_payout": 50_000, "total_budget": 100_000},
    {"cpa": 2.5, "max_payout": 20, "total_budget": 30},
)


class PartnerNetwork:
    """Alice's newsletter with its programs, and two partners in each of them."""

    def __init__(self, server: Serving, database_url: str) -> None:
        self.server = server
        self.alice = new_account(database_url)
        partners = [new_account(database_url, f"{name}@example.org") for name in ("bob", "carol")]
        self.partner_codes = []
        for number, terms in enumerate(PROGRAMS, 1):
            fields = publication_fields(name=f"The Morning Wax {number}")
            publication = self.call(self.alice.key, "/v2/publications", fields)["publication"]
            body = {
                "publication_uuid": publication["uuid"],
                "redirect_url": "https://wax.example/",
                **terms,
            }
            made = self.call(self.alice.key, "/v2/partner_programs", body)["partner_program"]
            path = f"/v2/partner_network/partner_programs/{made['uuid']}/join"
            for partner in partners:
                joined = self.call(partner.key, path)["partner_campaign"]
                self.partner_codes.append(joined["ref_code"])

    def call(self, key: str, path: str, body: Any = None) -> Any:
        answer = self.server.caller(key)("POST", path, body)
        assert answer.status in (200, 201), (path, answer)
        return answer.json()


class Load:
    """`acknowledged` has the uuid by email address; `unsure` the addresses that were sent at least
    once without an answer that settles whether they are there.
    """

    def __init__(self, partner_network: PartnerNetwork, dice: random.Random) -> None:
        self._partner_network = partner_network
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._clients = [
            threading.Thread(target=self._client, args=(number, dice.random()))
            for number in range(CLIENTS)
        ]
        self.acknowledged: dict[str, str] = {}
        self.unsure: set[str] = set()
        self.outcomes: Counter[int | str] = Counter()
        self.replayed = 0  # the first try had worked, and its answer was lost
        self.found = 0  # the same without an Idempotency-Key: the address was taken
        self.failed_s = float("inf")
        self.first_acknowledged_s: float | None = None
        self.last_refused_s = 0.0

    def __enter__(self) -> Load:
        for client in self._clients:
            client.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for client in self._clients:
            client.join(60)

    def note_fault(self) -> None:
        """From now on, a write that is sent and acknowledged means that writes are back."""
        with self._lock:
            self.failed_s, self.first_acknowledged_s = time.monotonic(), None
            self.last_refused_s = 0.0

    def wait_for_more(self, count: int, seconds: float) -> None:
        goal = len(self.acknowledged) + count
        until(lambda: len(self.acknowledged) >= goal, seconds)

    def _client(self, number: int, seed: float) -> None:
        dice = random.Random(seed)
        call = Caller(
            self._partner_network.server.port, self._partner_network.alice.key, timeout=PATIENCE_S
        )
        codes = [None, *self._partner_network.partner_codes]
        signup = 0
        while not self._stop.is_set():
            signup += 1
            body = {"email": f"subscriber{signup}-{number}@example.org"}
            if code := dice.choice(codes):
                body["referrer_code"] = code
            key = {"Idempotency_Key": body["email"]} if dice.random() < 0.5 else {}
            while not self._stop.is_set() and not self._sign_up(call, body, key):
                self._stop.wait(0.2)
            self._stop.wait(PAUSE_S)

    def _sign_up(self, call: Caller, body: dict[str, str], key: dict[str, str]) -> bool:
        """Whether it is settled."""
        sent_s = time.monotonic()
        try:
            answer = call("POST", f"{self._partner_network.alice.v1}/subscribers", body, **key)
        except OSError:
            with self._lock:
                self._refused(body["email"], sent_s, NO_ANSWER)
            return False
        with self._lock:
            return self._settle(answer, body["email"], sent_s)

    def _settle(self, answer: Answer, email: str, sent_s: float) -> bool:
        if answer.status == 201:
            self.outcomes[201] += 1
            self.acknowledged[email] = answer.json()["subscriber"]["uuid"]
            self.replayed += "idempotent-replayed" in answer.headers
            if sent_s > self.failed_s and self.first_acknowledged_s is None:
                self.first_acknowledged_s = time.monotonic()
            return True
        if email in self.unsure and answer.json().get("error") == TAKEN:
            self.found += 1
            return True
        self._refused(email, sent_s, answer.outcome)
        return False

    def _refused(self, email: str, sent_s: float, outcome: int | str) -> None:
        self.outcomes[outcome] += 1
        self.unsure.add(email)
        if sent_s > self.failed_s:
            self.last_refused_s = max(self.last_refused_s, sent_s)

    def summary(self) -> str:
        return (
            f"{dict(self.outcomes)}; committed although the answer was lost: {self.replayed} "
            f"replayed, {self.found} found"
        )

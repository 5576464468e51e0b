"""The owner of the program at the dashboard: sets the program up there, and answers the cards of
Review, if it is an owner who does. An editor of their team verifies referrals.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum

from lab.browsers import BROWSERS
from lab.client import LabClient, LabForm, LabResponse

PASSWORD = "three calm brown bears"
IP_ADDRESS = "192.0.2.10"
# Groups and first looks: a card with a sentence about what differs is answered with the button that
# refuses.
CARDS = "/review/cards/"
LOOKS = "/review/looks"
DIFFERS = re.compile(rb'class="says"|Differs:')
_PARTNER = re.compile(rb"([a-z-]+)-\d+@partners\.example")
_CARD = re.compile(rb"<(?:article|section)\b")


class Setting(StrEnum):
    """How the program was made, and who looks at it."""

    API = "api"  # by API, with the API's defaults; nobody looks
    LOOKS = "owner looks"  # on the dashboard, and each card is answered within three days
    ABSENT = "owner absent"  # on the dashboard, and nobody looks


class Owner:
    """A browser that is logged in."""

    def __init__(self, client: LabClient, base_url: str, email: str) -> None:
        self._client, self._email = client, email
        self._headers = {**BROWSERS["chrome"], "origin": base_url}
        self._cookies: dict[str, str] = {}
        self.cards = Counter[str]()
        """How many groups were answered, by family."""
        self.refusals = Counter[str]()
        """How many of those and of first looks with the button that refuses."""

    async def log_in(self) -> None:
        """Anew each time: a login ends after some days."""
        self._cookies.clear()
        answer = await self.submit("/login", "/login", email=self._email, password=PASSWORD)
        if answer.status != 303:
            raise RuntimeError(f"Could not log in: {answer.status}")

    async def open(self, path: str) -> LabResponse:
        return self._keep(await self._client.get(path, IP_ADDRESS, self._all_headers()))

    async def submit(self, page: str, action: str, **fields: str) -> LabResponse:
        """Opens a page and sends a form of it, with what it had and what is typed."""
        form = (await self.open(page)).find_form(action)
        if form is None:
            raise RuntimeError(f"{page} has no form to send to {action}")
        return await self.send(form.action, {**form.fields, **fields})

    async def send(self, action: str, fields: dict[str, str]) -> LabResponse:
        headers = self._all_headers()
        return self._keep(await self._client.submit(action, IP_ADDRESS, headers, fields))

    async def answer_cards(self) -> int:
        """Those that are on the first pages. Returns how many there were."""
        answered = 0
        for page, action in (("/review", CARDS), (LOOKS, LOOKS)):
            for card in (await self.open(page)).split(_CARD):
                form = card.find_form(action)
                if form is None or not {"look", "group"} & set(form.fields):
                    continue
                differs = bool(DIFFERS.search(card.body))
                found = _PARTNER.search(card.body)
                family = found[1].decode().replace("-", "_") if found else ""
                self.cards[family] += action == CARDS
                self.refusals[family] += differs
                await self._answer(form, LOOKS if action == LOOKS else "", differs)
                answered += 1
        return answered

    async def _answer(self, form: LabForm, look: str, differs: bool) -> None:
        if look and differs:
            await self.send(f"{look}/refuse", form.fields)
        elif look:
            await self.send(look, {**form.fields, "do": "right"})
        else:
            answer = "reject" if differs else "looks_right"
            await self.send(form.action, {**form.fields, "answer": answer})

    async def switch_to(self, account_id: str) -> None:
        await self.submit("/", "/account/switch", account_id=account_id)

    async def verify_all(self, code: str) -> None:
        """Everybody pending who came with a code, as far as that is allowed."""
        page = await self.open(f"/review?show=pending&code={code}")
        form = page.find_form("/review/referrer")
        if form is not None:
            await self.send(form.action, {**form.fields, "do": "verify"})

    def _all_headers(self) -> dict[str, str]:
        cookie = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        return {**self._headers, "cookie": cookie} if cookie else self._headers

    def _keep(self, answer: LabResponse) -> LabResponse:
        self._cookies |= answer.cookies
        return answer

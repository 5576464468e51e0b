"""The owner of the program at the dashboard: sets the program up there, and answers the cards of
Review, if it is an owner who does.
"""

from __future__ import annotations

from enum import StrEnum

from lab.browsers import BROWSERS
from lab.client import LabClient, LabResponse

PASSWORD = "three calm brown bears"
IP_ADDRESS = "192.0.2.10"
# A card about a partner's readers is a form of Review that is sent here. One that has a sentence
# about what differs is answered with the button that refuses.
CARDS = "/review/cards/"
DIFFERS = "Differs:"


class Setting(StrEnum):
    """How the program was made, and who looks at it."""

    API = "api"  # by API, with the API's defaults; nobody looks
    LOOKS = "owner looks"  # on the dashboard, and each card is answered within three days
    ABSENT = "owner absent"  # on the dashboard, and nobody looks


class Owner:
    """A browser that is logged in."""

    def __init__(self, client: LabClient, base_url: str) -> None:
        self._client = client
        self._headers = {**BROWSERS["chrome"], "origin": base_url}
        self._cookies: dict[str, str] = {}

    async def log_in(self, email: str) -> None:
        answer = await self.submit("/login", "/login", email=email, password=PASSWORD)
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
        """Returns how many cards there were."""
        cards = [
            each for each in (await self.open("/review")).forms() if each.action.startswith(CARDS)
        ]
        for card in cards:
            answer = "reject" if DIFFERS in card.text else "looks_right"
            await self.send(card.action, {**card.fields, "answer": answer})
        return len(cards)

    def _all_headers(self) -> dict[str, str]:
        cookie = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        return {**self._headers, "cookie": cookie} if cookie else self._headers

    def _keep(self, answer: LabResponse) -> LabResponse:
        self._cookies |= answer.cookies
        return answer

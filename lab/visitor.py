"""What people and robots send: forms, clicks on links, and the button that confirms."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import altcha

from lab.browsers import BROWSERS, TOOLS
from lab.client import LabClient, LabForm, LabResponse
from lab.family import Form, Signup
from lab.world import WEBSITE, World

# Where a script fetches forms that it sends from elsewhere, and a security service opens links.
ELSEWHERE = "198.51.100.7"


class Visitor:
    def __init__(self, client: LabClient, world: World) -> None:
        self._client = client
        self._world = world
        self._forms: dict[str, LabForm] = {}
        """The form that a script of a family has, to send again."""

    async def sign_up(self, family: str, signup: Signup) -> bool:
        """Whether the form was taken."""
        if signup.form is Form.PAGE:
            page = await self._client.get(
                self._world.page, signup.ip_address, BROWSERS[signup.browser]
            )
            form = page.find_form()
            return form is not None and (await self._submit(form, signup)).status == 303
        code = self._world.partners[family][signup.partner].code
        for ip_address in signup.clicks_from:
            await self._client.get(f"/p/{code}", ip_address, BROWSERS[signup.browser])
        if signup.form is Form.API:
            return await self._create_by_api(code, signup)
        if signup.form is Form.EMBED:
            return await self._call_embed(code, signup)
        form = await self._find_form(family, f"/m/{code}", signup)
        if signup.form is Form.OPENED:
            return False
        answer = await self._submit(form, signup)
        if signup.form is Form.ANSWERED and (fresh := answer.find_form()):
            self._forms[family] = fresh
            answer = await self._submit(fresh, signup)
        return answer.status == 303

    async def _create_by_api(self, code: str, signup: Signup) -> bool:
        """As the server of the owner's website does."""
        path = f"/v1/campaigns/{self._world.tenant.campaign_id}/subscribers"
        body = {
            "email": signup.email,
            "referrer_code": code,
            "ip_address": signup.ip_address,
            "user_agent": BROWSERS[signup.browser]["user-agent"],
        }
        await self._client.call_api(path, self._world.key, body)
        return True

    async def _call_embed(self, code: str, signup: Signup) -> bool:
        headers = {**BROWSERS[signup.browser], "origin": WEBSITE}
        path = f"/embed/{self._world.embed_id}/signup"
        fields = {"email": signup.email, "partner": code}
        answer = await self._client.submit(path, signup.ip_address, headers, fields)
        return answer.status == 200

    async def _find_form(self, family: str, path: str, signup: Signup) -> LabForm:
        is_kept = signup.form in (Form.REPLAYED, Form.ANSWERED)
        if is_kept and family in self._forms:
            return self._forms[family]
        fetched_from = ELSEWHERE if signup.form is Form.ELSEWHERE else signup.ip_address
        page = await self._client.get(path, fetched_from, BROWSERS[signup.browser])
        form = page.find_form()
        assert form is not None, f"{path} has no form: {page.status}"
        self._forms[family] = form
        return form

    async def _submit(self, form: LabForm, signup: Signup) -> LabResponse:
        fields = {**form.fields, "email": signup.email}
        if form.challenge and _works(signup):
            fields["work"] = _solve(json.loads(form.challenge))
        headers = BROWSERS[signup.browser]
        return await self._client.submit(form.action, signup.ip_address, headers, fields)

    async def scan(self, path: str) -> None:
        """A security service opens the link of an email."""
        await self._client.get(path, ELSEWHERE, BROWSERS["chrome"])

    async def confirm(self, path: str, signup: Signup) -> bool:
        """Opens the link of the email and presses the button there."""
        at, headers = signup.ip_address, BROWSERS[signup.browser]
        await self._client.get(path, at, headers)
        answer = await self._client.submit(path, at, headers, {})
        if answer.status == 303 and signup.uses_page:
            await self._use_page(answer.headers["location"], at, headers)
        return answer.status == 303

    async def _use_page(self, location: str, at: str, headers: dict[str, str]) -> None:
        """Opens the referral page and presses the first button on it, if it has one."""
        form = (await self._client.get(urlsplit(location).path, at, headers)).find_form()
        if form is not None:
            await self._client.submit(form.action, at, headers, form.fields)

    async def leave(self, email: str) -> None:
        """Unsubscribes from the newsletter, as its platform reports it."""
        path = f"/v1/campaigns/{self._world.tenant.campaign_id}/subscribers/{email}"
        await self._client.call_api(path, self._world.key, {"status": "unsubscribed"}, "PUT")


def _works(signup: Signup) -> bool:
    return signup.works and signup.browser not in TOOLS


def _solve(challenge: dict[str, Any]) -> str:
    """As a browser does, by the library's own solver."""
    given = altcha.Challenge.from_dict(challenge)
    solution = altcha.solve_challenge(given)
    assert solution is not None
    return altcha.Payload(given, solution).to_base64()

"""A website of the operator's that embeds things: its settings, and the requests its visitors'
browsers send.
"""

from typing import Any

import httpx

from honeyguide.kernel.tenant import Tenant
from honeyguide.subscribers import embeds
from honeyguide.subscribers.embeds import Embed, EmbedFields
from tests.support.http_client import local_client
from tests.support.readings import reading
from tests.support.service import Member, Service

SITE = "https://wax.example"


def embedding(member: Member, *origins: str, **fields: Any) -> Embed:
    """The campaign's embeds, for these websites."""
    tenant = Tenant(member.account_id, member.campaign_id)
    given = EmbedFields(origins="\n".join(origins or (SITE,)), **fields)
    member.make(embeds.save, given)
    found = member.service.read(lambda tx: embeds.find(reading(tx, tenant)))
    assert found is not None
    return found


def people(member: Member) -> dict[str, dict[str, Any]]:
    """Every subscriber, by email address."""
    rows = member.get(f"{member.v1}/subscribers").json()["subscribers"]
    return {row["email"]: row for row in rows}


class Visitor:
    """A visitor's browser on the operator's website."""

    def __init__(
        self,
        member: Member,
        embed: Embed,
        origin: str | None = SITE,
        *,
        service: Service | None = None,
    ) -> None:
        headers = {} if origin is None else {"origin": origin, "sec-fetch-site": "cross-site"}
        self._id = embed.public_id
        self.http = local_client((service or member.service).url, headers)

    def post(self, name: str, **fields: Any) -> httpx.Response:
        return self.http.post(f"/embed/{self._id}/{name}", data=fields)

    def get(self, name: str, **query: Any) -> httpx.Response:
        return self.http.get(f"/embed/{self._id}/{name}", params=query)

    def token(self) -> str:
        """As the script asks for when somebody touches a form."""
        return str(self.get("token").json()["token"])

    def sign_up(self, email: str, **fields: Any) -> httpx.Response:
        return self.post("signup", email=email, waited_ms="5000", **fields)

"""A newsletter that is connected with a platform whose fields another tool has filled."""

from collections.abc import Mapping
from typing import Any

from honeyguide.integrations import adoption, connecting, integrations
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.adoption import FoundCounts
from honeyguide.integrations.integrations import NewIntegration
from honeyguide.integrations.platform import Audience
from honeyguide.moving import adopting
from honeyguide.store.tx import timed
from tests.support.integrations import KEYS, NAMES
from tests.support.platforms.stand_in import Seen
from tests.support.synced_platform import BesidePlatform
from tests.support.trade import SITE

# What the stand-in of MailerLite calls the field that somebody made as RH_TOTREF.
_COUNT_THERE = {"mailerlite": "r_h__t_o_t_r_e_f"}
READS = ("GET", "HEAD")


class Occupied(BesidePlatform):
    def add(self, email: str, code: str = "", count: str = "") -> Any:
        """Somebody of whom another tool wrote this."""
        assert self.case.active is not None
        person = self.case.active(self.server, email)
        self.fill(person, code, count)
        return person

    def fill(self, person: Any, code: str, count: str) -> None:
        fields = self.case.fields(person)
        if code:
            fields[self.case.code] = code
        if count:
            fields[self._count] = count

    @property
    def _count(self) -> str:
        plain = self.case.code.replace("CODE", "TOTREF").replace("code", "totref")
        return _COUNT_THERE.get(self.key, plain)

    def there(self, email: str) -> tuple[str, str]:
        """Their code and their count, as the platform has them."""
        fields = self.case.fields(self.case.find(self.server, email))
        return fields.get(self.case.code, ""), fields.get(self._count, "")

    async def connect(self, names: Mapping[SyncField, str] = NAMES, **options: Any) -> None:
        new = NewIntegration(
            **{
                "platform": self.key,
                "credentials": self.case.credentials(self.server),
                "audience": Audience(id=self.case.audience_id or "list", name="The list"),
                "field_names": names,
                "code_field": "",
                "adds_existing": True,
                "hook_key": f"hook-{self.synced.tenant.campaign_id}",
                **options,
            }
        )
        set_up, _ = await connecting.set_up(self.platform, self.synced.outbound, SITE, new)
        await self.synced.make(integrations.connect, KEYS, set_up)
        self.server.seen.clear()

    def writes(self) -> list[Seen]:
        """Requests that changed something there."""
        return [each for each in self.server.seen if each.method not in READS]

    async def adoption(self) -> str:
        return (await self.synced.integration()).adoption

    async def counts(self) -> FoundCounts:
        return await self.synced.store.read(adoption.count, await self.synced.integration())

    async def answer(self, answered: str) -> None:
        await self.synced.make(adoption.answer, answered)


async def adopt(on: Occupied, answered: str = "adopt") -> None:
    """Answers, and lets the job do what was answered."""
    if answered:
        await on.answer(answered)
    store = on.synced.store
    while found := await store.read(timed(adopting.due, on.synced.now_ms), most=1):
        await store.write(timed(adopting.adopt_batch, on.synced.now_ms), SITE, found[0])

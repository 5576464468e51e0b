"""What owners and partners do to each other in a partner network: fees taken back, partners
removed and allowed again, partners who leave and come back.
"""

import random
from functools import partial
from typing import Any

import pytest

from honeyguide.accounts import members, users
from honeyguide.accounts.permissions import Role
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid, Missing
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import network, program_partners
from honeyguide.partners.program_partners import Removal
from honeyguide.signups import removed_partners
from honeyguide.store import Store
from honeyguide.store.tx import Tx
from honeyguide.subscribers import campaigns
from tests.support.changes import changing
from tests.support.network_model import Model, Offer
from tests.support.stores import statement
from tests.support.trade import SITE, Trade


async def share_member(
    account_ids: tuple[str, str], tx: Tx, *, is_shared: bool, now_ms: int
) -> None:
    email = EmailAddress(f"{account_ids[1]}@both.example")
    known = await users.find_by_email(tx, email)
    user_id = known.id if known else await users.create(tx.at(now_ms), email)
    for account_id in account_ids:
        if is_shared:
            await members.add(tx.at(now_ms), account_id, user_id, Role.EDITOR)
        else:
            sql = "DELETE FROM member WHERE account_id = :account_id AND user_id = :user_id"
            await tx.run(statement(sql), account_id=account_id, user_id=user_id)


class Partings:
    """Moves of a partner network."""

    store: Store
    chance: random.Random
    model: Model
    now_ms: int
    trades: list[Trade]
    offers: list[Offer]

    async def reverse(self) -> None:
        """One that was charged mostly; else any, which is refused."""
        charged = [reader for reader in self.model.readers if reader.charged is not None]
        if found := charged if charged and self.chance.random() < 0.8 else self.model.readers:
            reader = self.chance.choice(found)
            trade = self.trades[self.offers.index(reader.offer)]
            refused = await trade.reverse(reader.id, now_ms=self.now_ms)
            assert refused == [self.model.reverse(reader)]

    async def remove(self) -> None:
        trade, offer, partner = self._partner()
        ends_pending = self.chance.random() < 0.5
        removal = Removal(None, ends_pending)
        await self._as_owner(removed_partners.remove, trade, trade.partners[partner].id, removal)
        offer.removed.add(partner)
        if ends_pending:
            self.model.end_pending(offer, partner)

    async def block(self) -> None:
        """Every owner has one program."""
        trade, offer, partner = self._partner()
        ends_pending = self.chance.random() < 0.5
        removal = Removal(None, ends_pending)
        await self._as_owner(removed_partners.block, trade, trade.partners[partner].id, removal)
        offer.blocked.add(partner)
        if ends_pending:
            self.model.end_pending(offer, partner)

    async def unblock(self) -> None:
        trade, offer, partner = self._partner()
        await self._as_owner(program_partners.unblock, trade, trade.partners[partner].id)
        offer.blocked.discard(partner)

    async def allow(self) -> None:
        """Not while they are blocked."""
        trade, offer, partner = self._partner()
        if partner in offer.blocked:
            with pytest.raises(Invalid):
                await self._as_owner(program_partners.allow, trade, trade.partners[partner].id)
            return
        await self._as_owner(program_partners.allow, trade, trade.partners[partner].id)
        offer.removed.discard(partner)

    async def quit(self) -> None:
        trade, offer, partner = self._partner()
        await self._as_partner(network.leave, trade, partner, trade.partners[partner].id)
        offer.left.add(partner)

    async def join_again(self) -> None:
        """With the same code, unless the owner removed them or the program is paused."""
        trade, offer, partner = self._partner()
        if offer.paused or partner in offer.removed | offer.blocked:
            with pytest.raises((Invalid, Missing)):
                await self._as_partner(network.join, trade, partner, trade.program.id, None)
            return
        joined, is_new = await self._as_partner(
            network.join, trade, partner, trade.program.id, None
        )
        assert (joined.id, is_new) == (trade.partners[partner].id, False)
        offer.left.discard(partner)

    async def share_member(self) -> None:
        """Somebody is on the team of the program's owner and of a partner, or no longer."""
        trade, offer, partner = self._partner()
        accounts = (trade.owner.account_id, trade.partners[partner].account_id)
        offer.shared ^= {partner}
        share = partial(share_member, accounts, is_shared=partner in offer.shared)
        await self.store.write(share, now_ms=self.now_ms)

    def _partner(self) -> tuple[Trade, Offer, int]:
        """Never the last one, who is the owner."""
        number = self.chance.randrange(len(self.offers))
        trade = self.trades[number]
        return trade, self.offers[number], self.chance.randrange(len(trade.partners) - 1)

    async def _as_owner(self, unit: Any, trade: Trade, *args: Any) -> Any:
        return await self.store.write(changing(unit, SITE, trade.owner, self.now_ms), *args)

    async def _as_partner(self, unit: Any, trade: Trade, partner: int, *args: Any) -> Any:
        account_id = trade.partners[partner].account_id
        tenant: Tenant = await self.store.read(campaigns.tenant_of, account_id)
        return await self.store.write(changing(unit, SITE, tenant, self.now_ms), *args)

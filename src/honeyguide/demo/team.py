"""The demo newsletter's team of three: its owner, somebody who writes, and somebody who pays."""

from __future__ import annotations

from honeyguide.accounts import members, users
from honeyguide.accounts.permissions import Role
from honeyguide.demo.newsletters import OWNER
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.store.tx import Tx

OWNER_NAME = "Maya Rossi"
COLLEAGUES = {
    "noor@honeyguide.example": ("Noor Haddad", Role.EDITOR),
    "tom@honeyguide.example": ("Tom Weber", Role.FINANCE),
}


async def gather(tx: Tx, account_id: str) -> None:
    """Once; a demo of an earlier version gets its colleagues too."""
    owner = await users.find_by_email(tx, EmailAddress(OWNER))
    if owner is not None and owner.name is None:
        await users.rename(tx, owner.id, OWNER_NAME)
    for email, (name, role) in COLLEAGUES.items():
        if await users.find_by_email(tx, EmailAddress(email)) is None:
            user_id = await users.create(tx, EmailAddress(email), name=name)
            await members.add(tx, account_id, user_id, role)

"""Where a partner's links lead: the program behind a code or a hosted page, and the campaign that
its subscribers join.
"""

from __future__ import annotations

from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import network
from honeyguide.partners.verification import StoredVerification
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class PartnerLink(StoredVerification, frozen=True):
    ref_code: str
    partner_campaign_id: str
    account_id: str
    campaign_id: str
    program_id: str
    publication_name: str
    description: str | None
    logo_id: str
    redirect_url: str
    thankyou_page_url: str | None
    slug: str | None

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.account_id, self.campaign_id)


_sql = beside(__file__)
_BY_CODE = _sql.query("by_code", PartnerLink)
_BY_PROGRAM = _sql.query("by_program", PartnerLink)


def partner_code(code: str | None) -> str | None:
    """The code if it has the shape of a partner's, else None."""
    code = (code or "").strip().lower()
    return (
        code if len(code) == network.CODE_LENGTH and code.startswith(network.CODE_LETTER) else None
    )


async def lookup(tx: Tx, code: str) -> PartnerLink | None:
    """By a partner's code. A link that was shared keeps leading somewhere, whatever became of the
    program."""
    known = partner_code(code)
    return None if known is None else await tx.one(_BY_CODE, code=known)


async def of_program(at: AccountReading, program_id: str) -> PartnerLink | None:
    """By the program, for its hosted page; no partner is named as the sender."""
    return await at.one(_BY_PROGRAM, program_id=program_id)

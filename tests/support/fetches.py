"""A fetch from another service that waits for its key, and a document that came with one."""

import msgspec

from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import fetching, moved_documents
from honeyguide.moving.fetching import FetchStage
from honeyguide.store.tx import Tx
from tests.support.readings import change_of
from tests.support.service import Member

BASE_URL = "https://secret.example.org"


def fetch_of(owner: Member, campaign: str = "Secret campaign") -> str:
    tenant, now_ms = Tenant(owner.account_id, owner.campaign_id), owner.service.now_ms()

    async def begin(tx: Tx) -> str:
        return await fetching.begin(change_of(tx, tenant, now_ms=now_ms), BASE_URL, campaign)

    return owner.service.write(begin)


def document_of(owner: Member, name: str = "Secret program") -> str:
    tenant, now_ms = Tenant(owner.account_id, owner.campaign_id), owner.service.now_ms()
    kind = FetchStage.PARTNER_CAMPAIGNS
    item = msgspec.Raw(msgspec.json.encode({"uuid": new_id(), "name": name, "terms": name}))
    document = moved_documents.read_document(kind, item)
    assert document is not None

    async def add(tx: Tx) -> str | None:
        return await moved_documents.add(
            change_of(tx, tenant, now_ms=now_ms), kind, BASE_URL, document
        )

    made = owner.service.write(add)
    assert made is not None
    return made

"""Physical rewards that were claimed with a postal address."""

from typing import Any

from honeyguide.rewards import shipment_emails
from honeyguide.store.tx import Tx
from tests.support.changes import new_change
from tests.support.prizes import advocate, earned_by
from tests.support.service import Member
from tests.support.stores import statement

ADDRESS = {
    "name": "Ana Lopes",
    "line1": "1 Hive Lane",
    "city": "Porto",
    "postcode": "4000-001",
    "country": "Portugal",
    "phone": "+351 22 555 0100",
}


def listed(member: Member, query: str = "") -> list[dict[str, Any]]:
    answer = member.get(f"{member.v1}/shipments{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()["shipments"]  # type: ignore[no-any-return]


def claim(member: Member, email: str, **redeem: Any) -> dict[str, Any]:
    """Somebody earns everything for one friend, and claims the first of it."""
    ana = advocate(member, 1, email)
    (earned, *_) = earned_by(member, ana)
    answer = member.post(
        f"{member.v1}/rewards/{earned['uuid']}/redeem", {"shipping_details": ADDRESS, **redeem}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["reward"]  # type: ignore[no-any-return]


MAKE_DUE = statement(
    "UPDATE won_reward SET announce_ms = 1 WHERE account_id = :id AND announce_ms IS NOT NULL",
    "changes won_reward",
)
EMAILS = statement(
    "SELECT id, to_email, subject, body_text, body_html, unsubscribe_url FROM letter "
    "WHERE account_id = :id AND kind = 'shipment_sent' AND attempts = 0 "
    "ORDER BY to_email, subject"
)


def pass_minute(member: Member) -> list[dict[str, Any]]:
    """Tells the subscribers what was sent; the emails, by address. They are read in the same
    transaction: the service sends them at once, and forgets what they say."""
    service = member.service

    async def work(tx: Tx) -> list[Any]:
        # Those of an earlier minute may not have been sent yet.
        earlier = {row[0] for row in await tx.all(EMAILS, id=member.account_id)}
        await tx.run(MAKE_DUE, id=member.account_id)
        for due in await shipment_emails.due(tx.at(service.now_ms()), most=100):
            if due.account_id == member.account_id:
                change = new_change(tx, service.services.site, due.tenant, service.now_ms())
                await shipment_emails.announce(change, due.subscriber_id)
        waiting = await tx.all(EMAILS, id=member.account_id)
        return [row[1:] for row in waiting if row[0] not in earlier]

    names = ("to", "subject", "text", "html", "stop")
    return [dict(zip(names, row, strict=True)) for row in service.write(work)]

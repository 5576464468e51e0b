"""One of everything that an account can have, for tests in which another account has its ids. What
it is called, and whose address it is, says "secret".
"""

import itertools
import json
import re
from collections.abc import Callable
from typing import NamedTuple

from honeyguide.accounts import members, users
from honeyguide.accounts.permissions import Role
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.store.tx import Tx
from tests.support import partner_network
from tests.support.fetches import document_of, fetch_of
from tests.support.move_certificates import certificate_of
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.tables import Dump, dump
from tests.support.web import PASSWORD, Operator, WebClient, upload

Maker = Callable[[Operator], str]
_numbers = itertools.count(1)


def pending(owner: Operator) -> str:
    owner.put(f"{owner.v1}/settings", {"hold_days": 9})
    friend = owner.subscribe(f"friend{next(_numbers)}@example.org")
    made: str = owner.subscribe(
        f"secret{next(_numbers)}@example.org", referrer_code=friend["ref_code"]
    )["uuid"]
    owner.put(f"{owner.v1}/settings", {"hold_days": 0})
    return made


def delayed(owner: Operator) -> str:
    """What can still be undone."""
    owner.web.post("/review", page="/settings", id=pending(owner), do="verify")
    return newest(
        owner, "SELECT id FROM delayed_action WHERE account_id = :account_id ORDER BY id DESC"
    )


def pending_code(owner: Operator) -> str:
    """The code of a referrer with a pending referral."""
    made = owner.get(f"{owner.v1}/subscribers/{pending(owner)}").json()["subscriber"]
    return str(made["referrer_code"])


def rejected(owner: Operator) -> str:
    """Rejected by screening, so that the owner may still decide either way."""
    friend = owner.subscribe(f"friend{next(_numbers)}@example.org")
    email = f"secret{next(_numbers)}@mailinator.com"
    return str(owner.subscribe(email, referrer_code=friend["ref_code"])["uuid"])


def subscriber(owner: Operator) -> str:
    made = owner.subscribe(f"secret{next(_numbers)}@example.org", name="Secret Name")
    return str(made["uuid"])


def claiming(owner: Operator) -> str:
    """Somebody who came with an unknown code."""
    email = f"secret{next(_numbers)}@example.org"
    return str(owner.subscribe(email, referrer_code="unknown")["uuid"])


def saved_filter(owner: Operator) -> str:
    form = {"name": f"Secret list {next(_numbers)}", "query": "status=active"}
    owner.web.post("/subscribers/filters", page="/subscribers", **form)
    sql = "SELECT id FROM saved_filter WHERE account_id = :account_id ORDER BY id DESC"
    return newest(owner, sql)


def noted(owner: Operator) -> tuple[str, str]:
    """(the subscriber, the note)"""
    about = subscriber(owner)
    owner.web.post(f"/subscribers/{about}/notes", page="/settings", note="Secret")
    sql = "SELECT id FROM subscriber_note WHERE account_id = :account_id ORDER BY id DESC"
    return about, newest(owner, sql)


def screening_entry(owner: Operator) -> str:
    page = "/settings/screening-lists"
    owner.web.post(page, do="block", entries=f"secret{next(_numbers)}.example")
    return newest(
        owner, "SELECT id FROM screening_entry WHERE account_id = :account_id ORDER BY id DESC"
    )


def link_host(owner: Operator) -> str:
    made = owner.post("/v1/link_hosts", {"host": f"secret{next(_numbers)}.example"})
    return str(made.json()["link_host"]["uuid"])


def note(owner: Operator) -> str:
    return noted(owner)[1]


def earned(owner: Operator, approval: str, kind: str = "manual") -> tuple[str, str]:
    """(the subscriber, the earned reward)"""
    name = f"Secret mug {next(_numbers)}"
    owner.post(
        f"{owner.v1}/rewards", {"name": name, "referrals": 1, "approval": approval, "kind": kind}
    )
    advocate = owner.subscribe(f"star{next(_numbers)}@example.org")
    owner.subscribe(f"friend{next(_numbers)}@example.org", referrer_code=advocate["ref_code"])
    found = owner.get(f"{owner.v1}/subscribers/{advocate['uuid']}/rewards").json()["rewards"]
    (own,) = (each["uuid"] for each in found if each["name"] == name)
    return advocate["uuid"], own


def unlocked(owner: Operator) -> str:
    return earned(owner, "automatic")[1]


def earned_long_ago(owner: Operator) -> tuple[str, str]:
    """As `earned`, and the email about it can be sent again by now."""
    made = earned(owner, "automatic")
    sql = "UPDATE letter SET created_ms = 1 WHERE account_id = :account_id"
    owner.service.write(lambda tx: tx.run(statement(sql), account_id=owner.account_id))
    return made


def awaiting(owner: Operator) -> str:
    return earned(owner, "manual")[1]


def shipment(owner: Operator) -> str:
    _, own = earned(owner, "automatic", "physical")
    parts = ("name", "line1", "city", "postcode", "country")
    owner.post(
        f"{owner.v1}/rewards/{own}/redeem", {"shipping_details": dict.fromkeys(parts, "Secret")}
    )
    return own


def sent_shipment(owner: Operator) -> str:
    own = shipment(owner)
    assert owner.post(f"{owner.v1}/shipments/{own}/sent", {}).status_code == 200
    return own


def tracking_file(owner: Operator) -> str:
    """The lines of a file that were looked at, as the form has them."""
    return json.dumps([[2, shipment(owner), "Secret 1"]])


def webhook(owner: Operator) -> str:
    made = owner.post(
        "/v2/webhooks", {"url": "http://127.0.0.1:9/secret", "new_referral": True}
    ).json()["webhook"]
    return str(made["uuid"])


def delivery(owner: Operator) -> str:
    made = owner.post(f"/v2/webhooks/{webhook(owner)}/test", {}).json()["delivery"]
    return str(made["uuid"])


def newest(owner: Operator, sql: str) -> str:
    return str(
        owner.service.read(lambda tx: tx.all(statement(sql), account_id=owner.account_id))[0][0]
    )


def session(owner: Operator) -> str:
    WebClient(owner.service).log_in(owner.email, PASSWORD)
    return newest(owner, "SELECT id FROM session WHERE account_id = :account_id ORDER BY id DESC")


def invitation(owner: Operator) -> str:
    sent = owner.web.post(
        "/account/invitations", page="/account", email=f"secret{next(_numbers)}@example.org"
    )
    assert sent.status_code == 200, sent.text
    return newest(owner, "SELECT id FROM ticket WHERE account_id = :account_id ORDER BY id DESC")


def member(owner: Operator) -> str:
    """An editor."""

    async def join(tx: Tx) -> str:
        email, now_ms = EmailAddress(f"editor{new_id()}@example.org"), owner.service.now_ms()
        user_id = await users.create(tx.at(now_ms), email)
        await members.add(tx.at(now_ms), owner.account_id, user_id, Role.EDITOR)
        return user_id

    return str(owner.service.write(join))


def member_invitation(owner: Operator) -> str:
    email = f"secret{next(_numbers)}@example.org"
    sent = owner.web.post("/team/invitations", page="/account", email=email, role="editor")
    assert sent.status_code == 200, sent.text
    return newest(owner, "SELECT id FROM ticket WHERE account_id = :account_id ORDER BY id DESC")


def publication(owner: Operator) -> str:
    return str(partner_network.publish(owner, name="Secret gazette")["uuid"])


def payout(owner: Operator) -> str:
    """As closing a month would leave it: of January 2020, and of later years if there is one."""
    payout_id = new_id()
    found = statement("SELECT id FROM payout WHERE account_id = :account_id")
    earlier = owner.service.read(lambda tx: tx.all(found, account_id=owner.account_id))
    insert = statement(
        "INSERT INTO payout (id, account_id, month, amount_cents, created_ms) VALUES (:id, "
        ":account_id, :month, 500, 1)"
    )
    made = {"id": payout_id, "account_id": owner.account_id, "month": f"{2020 + len(earlier)}-01"}
    owner.service.write(lambda tx: tx.run(insert, **made))
    return payout_id


def failed_write(owner: Operator) -> str:
    """A subscriber whom a paused integration could not write."""
    person = subscriber(owner)
    planted = (
        "INSERT INTO integration (id, account_id, campaign_id, platform, status, credentials, "
        "key_hint, audience_id, audience_name, field_names, code_field, adds_existing, hook_key, "
        "created_ms) VALUES (:account_id, :account_id, :campaign_id, 'generic', 'paused', "
        "'v1.lost.x', '', '', '', '{}', '', 0, :account_id, 1) ON CONFLICT DO NOTHING",
        "INSERT INTO integration_subscriber (integration_id, subscriber_id, account_id, failed_ms, "
        "reason) VALUES (:account_id, :person, :account_id, 1, 'secret reason')",
    )
    named = {
        "account_id": owner.account_id,
        "campaign_id": owner.campaign_id,
        "person": person,
    }
    for each in planted:
        values = {name: value for name, value in named.items() if f":{name}" in each}
        owner.service.write(lambda tx, each=each, values=values: tx.run(statement(each), **values))
    return person


def reward(owner: Operator) -> str:
    made = owner.post(f"{owner.v1}/rewards", {"name": "Secret pen", "referrals": 9})
    return str(made.json()["reward"]["uuid"])


def physical_reward(owner: Operator) -> str:
    """One with a shipment."""
    sent = shipment(owner)
    sql = "SELECT reward_id FROM won_reward WHERE id = :id"
    return str(owner.service.read(lambda tx: tx.all(statement(sql), id=sent))[0][0])


def program(owner: Operator) -> str:
    """One that is not listed: anybody may see the others."""
    card = partner_network.publish(owner, name="Secret gazette")
    return str(partner_network.offer(owner, card, show_in_directory=False)["uuid"])


def older_program(owner: Operator) -> str:
    """One from before programs had a screening level of their own."""
    made = program(owner)
    sql = "UPDATE program SET rule = 'none', screening = NULL WHERE id = :id"
    owner.service.write(lambda tx: tx.run(statement(sql), id=made))
    return made


def paid_referral(owner: Operator) -> tuple[str, str]:
    """A program of theirs, and a referral that it paid for."""
    offered = partner_network.offer(owner)
    code = partner_network.join(owner.service.member("bob"), offered)["ref_code"]
    owner.subscribe(f"{new_id()}@example.org", referrer_code=code)
    listed = owner.get(f"/v2/partner_programs/{offered['uuid']}/referrals").json()["referrals"]
    return str(offered["uuid"]), str(listed[0]["uuid"])


def charged_referral(owner: Operator) -> str:
    return paid_referral(owner)[1]


def partner_campaign(owner: Operator) -> str:
    return str(
        partner_network.join(owner, partner_network.offer(owner, show_in_directory=False))["uuid"]
    )


def partner(owner: Operator) -> str:
    """Somebody else's partner campaign in a program of theirs."""
    return str(
        partner_network.join(owner.service.member("bob"), partner_network.offer(owner))["uuid"]
    )


def their_program(owner: Operator) -> str:
    other = owner.service.member("bob")
    return str(partner_network.offer(other)["uuid"])


def partner_in(owner: Operator, do: str = "") -> tuple[str, str]:
    """A program, and a partner campaign in it that the owner removed or blocked before."""
    program = partner_network.offer(owner)
    joined = partner_network.join(owner.service.member("bob"), program)
    path = f"/v2/partner_programs/{program['uuid']}/partners/{joined['uuid']}"
    if do:
        made = owner.delete(path) if do == "remove" else owner.post(f"{path}/{do}")
        assert made.status_code == 200, made.text
    return program["uuid"], joined["uuid"]


def removed_partner(owner: Operator) -> tuple[str, str]:
    return partner_in(owner, "remove")


def blocked_partner(owner: Operator) -> tuple[str, str]:
    return partner_in(owner, "block")


def imported(owner: Operator) -> str:
    return upload(owner, "email,name\nsecret@example.org,Secret\n", "secret.csv")


def api_key(owner: Operator) -> str:
    return newest(owner, "SELECT id FROM api_key WHERE account_id = :account_id")


def ref_code(owner: Operator) -> str:
    return str(owner.subscriber(subscriber(owner))["ref_code"])


def email(owner: Operator) -> str:
    return str(owner.subscriber(subscriber(owner))["email"])


MAKERS: dict[str, Maker] = {
    "account": lambda owner: owner.account_id,
    "campaign": lambda owner: owner.campaign_id,
    "subscriber": subscriber,
    "email address": email,
    "code": ref_code,
    "pending referral": pending,
    "rejected referral": rejected,
    "claimed code": claiming,
    "note": note,
    "saved filter": saved_filter,
    "delayed action": delayed,
    "screening entry": screening_entry,
    "link host": link_host,
    "import": imported,
    "fetch": fetch_of,
    "document": document_of,
    "certificate": certificate_of,
    "reward": reward,
    "physical reward": physical_reward,
    "earned reward": unlocked,
    "reward to approve": awaiting,
    "shipment": shipment,
    "webhook": webhook,
    "delivery": delivery,
    "integration": failed_write,
    "publication": publication,
    "program": program,
    "partner campaign": partner_campaign,
    "payout": payout,
    "session": session,
    "API key": api_key,
}

# Bookkeeping that reading may touch.
TOUCHED_BY_READING = {"api_key", "rate_key", "rate_slot", "job_lease"}


def lasting(tables: Dump) -> Dump:
    return {name: rows for name, rows in tables.items() if name not in TOUCHED_BY_READING}


def rows_of(service: Service, account_id: str) -> Dump:
    """Everything in the database that belongs to an account."""
    return lasting(dump(service, account_id))


class Things(NamedTuple):
    """What one account has."""

    owner: Operator
    ids: dict[str, str]
    """Of one of everything."""
    marks: re.Pattern[str]
    """Whatever else tells of the owner or of their subscribers."""


def things_of(owner: Operator) -> Things:
    ids = {kind: make(owner) for kind, make in MAKERS.items()}
    held = rows_of(owner.service, owner.account_id)
    columns = {"id", "email", "ref_code", "secret"}
    marks = {
        str(row[name]) for rows in held.values() for row in rows for name in row.keys() & columns
    }
    marks -= {"None", "", *ids.values()}  # a stranger types these
    return Things(owner, ids, re.compile("|".join(map(re.escape, sorted(marks)))))

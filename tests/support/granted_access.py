"""An installation in which access of each kind is granted, and then revoked."""

import re
from typing import Any, NamedTuple

from honeyguide.accounts import (
    accounts,
    email_changes,
    invitations,
    keys,
    members,
    passwords,
    second_factors,
)
from honeyguide.accounts.permissions import Role
from honeyguide.events import webhooks
from honeyguide.integrations import disconnecting
from honeyguide.kernel import actors
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.mail import slack_messages
from honeyguide.moving import installation_key
from tests.support.authenticator import set_up
from tests.support.readings import change_of_account
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.team import Colleague, colleague
from tests.support.web import Operator, operator

SECRET = "cd" * 32
NEW_PASSWORD = "four loud white geese"


class Granted(NamedTuple):
    alice: Operator
    zoe: Operator
    """Of another account, whose integration is disconnected later."""
    leaver: Colleague
    demoted: Colleague
    links: list[str]
    revoked_key: str
    rotated_key: str
    webhook_ids: list[str]


def do(service: Service, sql: str, **params: Any) -> None:
    service.write(lambda tx: tx.run(statement(sql), **params))


def ask(service: Service, sql: str) -> list[tuple[Any, ...]]:
    return service.read(lambda tx: tx.all(statement(sql)))


def grant(service: Service) -> Granted:
    alice, zoe = operator(service), operator(service, "zoe")
    leaver, demoted = (colleague(service, alice, role) for role in (Role.EDITOR, Role.OWNER))
    set_up(leaver.web)
    people = f"{alice.v1}/subscribers"
    assert alice.post(people, {"email": "ann@example.org"}).status_code == 201
    site, now_ms = service.services.site, service.now_ms()
    address = EmailAddress(alice.email)
    service.write(lambda tx: invitations.forgot_password(tx.at(now_ms), site, address))
    new = EmailAddress("alice.new@example.org")
    service.write(lambda tx: email_changes.ask(tx.at(now_ms), site, alice.user_id, new))
    alice.make(invitations.invite_member, EmailAddress("guest@example.org"), Role.OWNER)
    secret_keys = service.settings.secret_keys
    service.write(lambda tx: installation_key.get_or_make(tx.at(now_ms), secret_keys))
    bodies = " ".join(row[0] or "" for row in ask(service, "SELECT body_text FROM letter"))
    for account in (alice, zoe):
        _insert_rows(service, account)
    return Granted(
        alice,
        zoe,
        leaver,
        demoted,
        sorted(set(re.findall(r"https?://[^/\s]+(/(?:password|welcome|login/email)/\S+)", bodies))),
        alice.make(keys.create, name="revoked"),
        alice.make(keys.create, name="rotated"),
        [_webhook(alice) for _ in range(2)],
    )


def _webhook(alice: Operator) -> str:
    made = alice.post(f"{alice.v1}/webhooks", {"url": "http://127.0.0.1:9/hook"})
    assert made.status_code == 201, made.text
    return str(made.json()["webhook"]["uuid"])


def _insert_rows(service: Service, account: Operator) -> None:
    given = {"account": account.account_id, "campaign": account.campaign_id, "id": new_id()}
    do(
        service,
        "INSERT INTO integration (id, account_id, campaign_id, platform, status, credentials, "
        "key_hint, audience_id, audience_name, field_names, code_field, adds_existing, hook_key, "
        "created_ms) VALUES (:id, :account, :campaign, 'kit', 'paused', :key, 'x', 'x', 'x', "
        "'{}', 'x', 0, :hook, 1)",
        key=f"credential of {account.account_id}",
        hook=f"hook key of {account.account_id}",
        **given,
    )
    do(
        service,
        "INSERT INTO import (id, account_id, campaign_id, file_name, header, mapping, total, "
        "created_ms) VALUES (:id, :account, :campaign, 'x', '[]', '{}', 0, 1)",
        **given,
    )
    do(
        service,
        "INSERT INTO remote_fetch (import_id, account_id, base_url, secret, stage, is_stopped, "
        "created_ms) VALUES (:id, :account, 'http://127.0.0.1:1', 'fetch key', 'people', 1, 1)",
        id=given["id"],
        account=given["account"],
    )
    do(
        service,
        "INSERT INTO slack_webhook (account_id, encrypted_url, host) VALUES (:id, 'url', 'x')",
        id=account.account_id,
    )


def revoke(service: Service, granted: Granted) -> None:
    """Or change, or turn on: whatever a restore must not undo."""
    alice, zoe, now_ms = granted.alice, granted.zoe, service.now_ms()
    site, secret_keys = service.services.site, service.settings.secret_keys
    ids = dict(ask(service, "SELECT name, id FROM api_key"))
    alice.make(keys.revoke, ids["revoked"])
    alice.make(keys.rotate, ids["rotated"], overlap_ms=0)
    gone, rotated = granted.webhook_ids
    alice.make(webhooks.delete, alice.campaign_id, gone)
    alice.make(webhooks.rotate_secret, alice.campaign_id, rotated)
    set_up(granted.demoted.web)
    alice.make(members.remove, granted.leaver.user_id)
    alice.make(members.change_role, granted.demoted.user_id, Role.ANALYST)
    zoe.make(disconnecting.disconnect)
    service.write(lambda tx: slack_messages.delete_webhook(change_of_account(tx, zoe.account_id)))
    service.write(lambda tx: installation_key.replace(tx.at(now_ms), secret_keys))
    actor, hashed = actors.member(alice.user_id), service.run(passwords.hashed(NEW_PASSWORD))
    service.write(
        lambda tx: members.change_password(tx.at(now_ms), site, actor, alice.user_id, hashed)
    )
    leaver = actors.member(granted.leaver.user_id)
    service.write(
        lambda tx: second_factors.turn_off(
            tx.at(now_ms), site, leaver, leaver.id, second_factors.TURNED_OFF
        )
    )
    zoe.make(accounts.set_needs_second_factor, True)
    do(service, "UPDATE account SET email = 'new@zoe.example' WHERE id = :id", id=zoe.account_id)
    do(service, "UPDATE integration SET credentials = 'a newer credential'")
    swap_addresses(service, granted.leaver, granted.demoted)


def swap_addresses(service: Service, one: Colleague, other: Colleague) -> None:
    """The addresses that they log in with, one after the other."""
    for user_id, email in (
        (one.user_id, "x"),
        (other.user_id, one.email),
        (one.user_id, other.email),
    ):
        do(
            service,
            "UPDATE login_user SET email = :email, email_key = :email WHERE id = :id",
            id=user_id,
            email=email,
        )

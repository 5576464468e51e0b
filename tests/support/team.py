"""Colleagues: users with a role in somebody's account, logged in."""

import pytest

from honeyguide.accounts import attempts, members, passwords, users
from honeyguide.accounts.permissions import Role
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_code
from honeyguide.store.tx import Tx
from tests.support.service import Service
from tests.support.web import PASSWORD, Operator, WebClient


class Colleague:
    """One user's browser in the account of somebody else."""

    def __init__(self, service: Service, user_id: str, email: str, role: Role) -> None:
        self.user_id, self.email, self.role = user_id, email, role
        self.web = WebClient(service)


def colleague(service: Service, owner: Operator, role: Role) -> Colleague:
    email = EmailAddress(f"{role}-{new_code()}@example.org")
    password_hash = service.run(passwords.hashed(PASSWORD))

    async def join(tx: Tx) -> str:
        now_ms = service.now_ms()
        user_id = await users.create(tx.at(now_ms), email, name=role.capitalize())
        await passwords.set_hash(tx, user_id, password_hash)
        await members.add(tx.at(now_ms), owner.account_id, user_id, role)
        return user_id

    made = Colleague(service, service.write(join), email.text, role)
    # All tests of a process share one IP address, however many of them log in.
    with pytest.MonkeyPatch.context() as patch:
        roomy = attempts.LOGIN_BY_ADDRESS._replace(most=100_000)
        patch.setattr(attempts, "LOGIN_BY_ADDRESS", roomy)
        assert made.web.log_in(email.text).status_code == 303
    return made

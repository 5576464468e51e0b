"""Members of an account who change each other at the same moment: an account always keeps an owner,
and an invitation is used once.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from honeyguide.accounts import accounts, invitations, members, users
from honeyguide.accounts.permissions import Role
from honeyguide.kernel import actors
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Forbidden, Invalid, Missing
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx, timed
from tests.support.races import overlapping
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, SITE


class World:
    """An account with two owners."""

    def __init__(self, opened: OpenStore) -> None:
        self.opened = opened
        create = partial(timed(accounts.create, NOON_MS), name="Wax")
        self.tenant = Tenant(*self.write(create, EmailAddress("ana@example.org")))
        self.ana = self.read(members.first_owner, self.tenant.account_id)
        self.bob = self.add("bob@example.org", Role.OWNER)

    def write(self, unit: Any, *args: Any, **kwargs: Any) -> Any:
        return self.opened.run(self.opened.store.write(unit, *args, **kwargs))

    def read(self, unit: Any, *args: Any, **kwargs: Any) -> Any:
        return self.opened.run(self.opened.store.read(unit, *args, **kwargs))

    def add_user(self, email: str) -> str:
        return str(self.write(timed(users.create, NOON_MS), EmailAddress(email)))

    def add(self, email: str, role: Role) -> str:
        user_id = self.add_user(email)
        self.write(timed(members.add, NOON_MS), self.tenant.account_id, user_id, role)
        return user_id

    def by(self, user_id: str, unit: Any, *args: Any) -> Any:
        async def work(tx: Tx) -> Any:
            change = Change(tx, SITE, self.tenant, actors.member(user_id), NOON_MS)
            return await unit(change, *args)

        return work

    def race(self, first: Any, second: Any) -> tuple[Any, Any]:
        return self.opened.run(overlapping(self.opened.store, first, second))

    @property
    def roles(self) -> dict[str, str]:
        found = self.read(timed(members.of_account, NOON_MS), self.tenant.account_id)
        return {member.user_id: member.role for member in found}


@pytest.fixture(params=ENGINES)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with OpenStore(request.param) as opened:
        yield World(opened)


def test_of_two_owners_who_demote_each_other_one_stays(world: World) -> None:
    ana, bob = world.ana, world.bob
    first, second = world.race(
        world.by(ana, members.change_role, bob, Role.ANALYST),
        world.by(bob, members.change_role, ana, Role.ANALYST),
    )
    assert first is None and isinstance(second, Forbidden)
    assert world.roles == {ana: "owner", bob: "analyst"}


def test_of_two_owners_who_remove_each_other_one_stays(world: World) -> None:
    first, second = world.race(
        world.by(world.ana, members.remove, world.bob),
        world.by(world.bob, members.remove, world.ana),
    )
    assert first is None and isinstance(second, Forbidden)
    assert world.roles == {world.ana: "owner"}


def test_of_two_owners_who_leave_one_stays(world: World) -> None:
    first, second = world.race(
        world.by(world.ana, members.leave), world.by(world.bob, members.leave)
    )
    assert first is None and isinstance(second, Invalid)
    assert world.roles == {world.bob: "owner"}


def test_the_last_owner_cannot_leave_however_often_they_ask(world: World) -> None:
    world.write(world.by(world.ana, members.remove, world.bob))
    leave = world.by(world.ana, members.leave)
    for answer in world.race(leave, leave):
        assert isinstance(answer, Invalid) and "needs an owner" in answer.message
    demote = world.by(world.ana, members.change_role, world.ana, Role.EDITOR)
    with pytest.raises(Invalid, match="needs an owner"):
        world.write(demote)
    assert world.roles == {world.ana: "owner"}


def test_an_owner_who_leaves_twice_at_once_leaves_once(world: World) -> None:
    leave = world.by(world.ana, members.leave)
    first, second = world.race(leave, leave)
    assert first is None and isinstance(second, Missing)
    assert world.roles == {world.bob: "owner"}


def test_handing_over_makes_one_an_owner_and_the_other_an_editor(world: World) -> None:
    cleo = world.add("cleo@example.org", Role.ANALYST)
    world.write(world.by(world.ana, members.hand_over, cleo))
    assert world.roles == {world.ana: "editor", world.bob: "owner", cleo: "owner"}
    with pytest.raises(Forbidden):
        world.write(world.by(world.ana, members.hand_over, world.bob))


def test_an_invitation_is_used_once(world: World) -> None:
    invite = world.by(
        world.ana, invitations.invite_member, EmailAddress("d@example.org"), Role.EDITOR
    )
    token = world.write(invite).rpartition("/")[2]
    join = partial(
        timed(invitations.join, NOON_MS), site=SITE, token=token, name="Dana", password_hash="x"
    )
    first, second = world.race(join, join)
    assert isinstance(second, Missing)
    assert world.roles[first[0]] == "editor" and len(world.roles) == 3
    with pytest.raises(Invalid, match="member already"):
        world.write(invite)


def test_of_two_invitations_for_one_person_one_is_enough(world: World) -> None:
    dana = world.add_user("d@example.org")
    invite = world.by(
        world.ana, invitations.invite_member, EmailAddress("d@example.org"), Role.EDITOR
    )
    joins = [
        partial(
            timed(invitations.join, NOON_MS),
            site=SITE,
            token=world.write(invite).rpartition("/")[2],
            user_id=dana,
        )
        for _ in range(2)
    ]
    first, second = world.race(*joins)
    assert first[0] == dana and isinstance(second, Invalid)
    assert world.roles[dana] == "editor"


def test_an_invitation_into_a_team_opens_no_account_of_ones_own(world: World) -> None:
    invite = world.by(
        world.ana, invitations.invite_member, EmailAddress("d@example.org"), Role.EDITOR
    )
    token = world.write(invite).rpartition("/")[2]
    with pytest.raises(Missing):
        world.write(timed(invitations.accept, NOON_MS), token, name="Own", password_hash="x")
    with pytest.raises(Missing):  # somebody else who is logged in
        world.write(timed(invitations.join, NOON_MS), SITE, token, user_id=world.bob)
    assert len(world.roles) == 2

"""The second factor as it is stored: codes that work once, also at the same moment, and nothing in
the database that opens anything. On both engines.
"""

import base64
from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from honeyguide.accounts import accounts, members, second_factors
from honeyguide.events import change_log
from honeyguide.integrations.encryption import EncryptionKeys, Undecryptable
from honeyguide.kernel import actors
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.errors import Invalid
from honeyguide.store.tx import Tx, timed
from tests.support.races import overlapping
from tests.support.readings import reads_account
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, SITE

KEYS = EncryptionKeys([b"k" * 32])
# Of RFC 6238, appendix B, with its six last digits.
RFC_SECRET = base64.b32encode(b"12345678901234567890").decode()


class WithUser:
    def __init__(self, opened: OpenStore) -> None:
        self.opened = opened
        self.account_id, self.user_id = opened.run(opened.store.write(self._create))
        self.secret = second_factors.new_secret()
        self.codes = opened.run(opened.store.write(self.turn_on, self.code(0)))

    async def _create(self, tx: Tx) -> tuple[str, str]:
        email = EmailAddress("ana@example.org")
        made = await accounts.create(tx.at(NOON_MS), email, name="Ana")
        return made.account_id, await members.first_owner(tx, made.account_id)

    def code(self, steps: int) -> str:
        totp = TOTP(base64.b32decode(self.secret), 6, SHA1(), 30)
        return totp.generate(NOON_MS // 1000 + 30 * steps).decode()

    async def turn_on(self, tx: Tx, code: str) -> list[str]:
        actor = actors.member(self.user_id)
        return await second_factors.turn_on(
            tx.at(NOON_MS), SITE, KEYS, actor, code, secret=self.secret
        )

    async def use(self, tx: Tx, code: str, steps: int = 0) -> bool:
        at_ms = NOON_MS + 30_000 * steps
        return await second_factors.use_code(tx.at(at_ms), KEYS, self.user_id, code)

    async def recover(self, tx: Tx, code: str) -> bool:
        return await second_factors.use_recovery_code(tx.at(NOON_MS), SITE, self.user_id, code)

    def actions(self) -> list[str]:
        found = self.opened.run(
            self.opened.store.read(reads_account(change_log.of_account, self.account_id), most=50)
        )
        return [each.action for each in reversed(found)]


@pytest.fixture(params=ENGINES)
def ana(request: pytest.FixtureRequest) -> Iterator[WithUser]:
    with OpenStore(request.param) as opened:
        yield WithUser(opened)


@pytest.mark.parametrize(
    ("at_s", "code"), [(1234567890, "005924"), (1111111109, "081804"), (20000000000, "353130")]
)
def test_codes_are_those_of_the_standard(at_s: int, code: str) -> None:
    match = second_factors.matching_step
    assert match(RFC_SECRET, code, now_ms=at_s * 1000) == at_s // 30
    assert match(RFC_SECRET, f" {code[:3]} {code[3:]} ", now_ms=at_s * 1000) == at_s // 30
    for early_s in (-30, 30):
        assert match(RFC_SECRET, code, now_ms=(at_s + early_s) * 1000) == at_s // 30
    for far_s in (-61, 61):
        assert match(RFC_SECRET, code, now_ms=(at_s + far_s) * 1000) is None
    for wrong in ("", "00000", code[:5], code + "0", "９" * 6):
        assert match(RFC_SECRET, wrong, now_ms=at_s * 1000) is None


def test_the_link_for_the_app_names_service_and_user() -> None:
    link = second_factors.app_link("ABC", email="ana+x@example.org", service="Honey guide")
    assert link == (
        "otpauth://totp/Honey%20guide:ana%2Bx%40example.org?secret=ABC&issuer=Honey%20guide"
    )


def test_a_code_works_once_and_none_before_it_works_again(ana: WithUser) -> None:
    write = ana.opened.store.write
    run = ana.opened.run
    assert not run(write(ana.use, ana.code(0))), "it was used to turn the factor on"
    assert run(write(ana.use, ana.code(1), 1))
    assert not run(write(ana.use, ana.code(1), 1))
    assert not run(write(ana.use, ana.code(0), 1)), "one before the last that was used"
    assert run(write(ana.use, ana.code(2), 2))


def test_of_two_logins_with_one_code_at_once_one_succeeds(ana: WithUser) -> None:
    async def using(tx: Tx) -> bool:
        return await ana.use(tx, ana.code(1))

    found = ana.opened.run(overlapping(ana.opened.store, using, using))
    assert sorted(found) == [False, True]


def test_of_two_logins_with_one_recovery_code_at_once_one_succeeds(ana: WithUser) -> None:
    async def using(tx: Tx) -> bool:
        return await ana.recover(tx, ana.codes[0])

    found = ana.opened.run(overlapping(ana.opened.store, using, using))
    assert sorted(found) == [False, True]
    assert ana.actions() == ["second_factor.turned_on", "second_factor.code_used"]


def test_recovery_codes_are_ten_work_once_and_are_replaced(ana: WithUser) -> None:
    run, write = ana.opened.run, ana.opened.store.write
    assert len(set(ana.codes)) == 10
    assert run(write(ana.recover, ana.codes[0].upper().replace("-", " ")))
    assert not run(write(ana.recover, ana.codes[0]))
    actor = actors.member(ana.user_id)
    new = run(write(timed(second_factors.renew_recovery_codes, NOON_MS), SITE, actor))
    assert run(ana.opened.store.read(second_factors.count_recovery_codes, ana.user_id)) == 10
    assert not run(write(ana.recover, ana.codes[1])) and run(write(ana.recover, new[0]))


def test_neither_secret_nor_codes_are_in_the_database(ana: WithUser) -> None:
    kept = str(ana.opened.ask("SELECT * FROM second_factor")) + str(
        ana.opened.ask("SELECT * FROM recovery_code")
    )
    assert ana.secret not in kept
    assert not any(code in kept or code.replace("-", "") in kept for code in ana.codes)


def test_a_secret_of_another_row_or_key_opens_nothing(ana: WithUser) -> None:
    other = EncryptionKeys([b"x" * 32])
    with pytest.raises(Undecryptable):
        ana.opened.run(
            ana.opened.store.write(
                timed(second_factors.use_code, NOON_MS), other, ana.user_id, ana.code(1)
            )
        )


def test_a_second_one_and_a_wrong_code_are_refused(ana: WithUser) -> None:
    with pytest.raises(Invalid, match="You have a second factor already"):
        ana.opened.run(ana.opened.store.write(ana.turn_on, ana.code(0)))
    with pytest.raises(Invalid, match="not right"):
        ana.opened.run(ana.opened.store.write(ana.turn_on, "000000x"))


def test_turning_it_off_leaves_nothing_and_is_logged_once(ana: WithUser) -> None:
    async def off(tx: Tx) -> bool:
        actor, action = actors.member(ana.user_id), second_factors.TURNED_OFF
        return await second_factors.turn_off(tx.at(NOON_MS), SITE, actor, ana.user_id, action)

    assert [ana.opened.run(ana.opened.store.write(off)) for _ in range(2)] == [True, False]
    for table in ("second_factor", "recovery_code"):
        assert ana.opened.ask(f"SELECT COUNT(*) FROM {table}") == [(0,)]
    assert ana.actions() == ["second_factor.turned_on", "second_factor.turned_off"]

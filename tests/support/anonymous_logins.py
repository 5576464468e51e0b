"""What anybody can do with the address of an operator, and the addresses to try it with."""

from honeyguide.accounts import invitations, members
from honeyguide.accounts.permissions import Role
from honeyguide.kernel.email_addresses import EmailAddress
from tests.support import authenticator
from tests.support.anonymous import Answers, any_address, form
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.team import colleague
from tests.support.web import Operator, WebClient, operator

STATES = ("unknown", "known", "in no account", "invited", "without a password", "second factor")
WRONG = "wrong and long enough"
SHORT = statement("UPDATE login_user SET email = :email, email_key = :email WHERE id = :user_id")


def address_of(service: Service, alice: Operator, state: str) -> str:
    email = any_address()
    if state == "invited":
        alice.make(invitations.invite_member, EmailAddress(email), Role.EDITOR)
    elif state == "in no account":
        gone = colleague(service, alice, Role.EDITOR)
        alice.make(members.remove, gone.user_id)
        _give(service, gone.user_id, email)
    elif state == "without a password":
        member = service.member()
        user_id = service.read(lambda tx: members.first_owner(tx, member.account_id))
        _give(service, user_id, email)
    elif state != "unknown":
        made = operator(service)
        if state == "second factor":
            authenticator.set_up(made.web)
        _give(service, made.user_id, email)
    return email


def _give(service: Service, user_id: str, email: str) -> None:
    """An address as long as all others of the test."""
    service.write(lambda tx: tx.run(SHORT, email=email, user_id=user_id))


@form("POST /login")
def log_in(service: Service, answers: Answers, email: str) -> None:
    answers.note(WebClient(service).post("/login", email=email, password=WRONG))


@form("POST /login")
def log_in_again(service: Service, answers: Answers, email: str) -> None:
    for number in range(13):  # some more than the limit of an account allows
        code = {"code": "123456"} if number > 11 else {}
        answer = WebClient(service).post("/login", email=email, password=WRONG, **code)
        if number:
            answers.note(answer)


@form("POST /password")
def forget_password(service: Service, answers: Answers, email: str) -> None:
    for _ in range(7):
        answers.note(WebClient(service).post("/password", email=email))


@form("POST /signup")
def open_account(service: Service, answers: Answers, email: str) -> None:
    for _ in range(7):
        answers.note(WebClient(service).post("/signup", email=email))


FORMS = (log_in, log_in_again, forget_password, open_account)

"""The addresses of everything about users, accounts and the installation, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard import undo
from honeyguide.pages.dashboard.login import login, setup, switching, welcome
from honeyguide.pages.dashboard.page_route import get, get_recent, post, post_recent
from honeyguide.pages.dashboard.route_rights import (
    ACCOUNT,
    ADMINISTRATION,
    ADMINISTRATION_MONEY,
    ANYONE,
    OWN_LOGIN,
    SEE,
    UNDO,
)
from honeyguide.pages.dashboard.settings import (
    account,
    account_close,
    account_pauses,
    administration,
    api_keys,
    backups,
    change_log,
    team,
)
from honeyguide.pages.handlers import Uses

READS, WRITES, SERVICES, SLOW_READS = Uses.READS, Uses.WRITES, Uses.SERVICES, Uses.SLOW_READS

LOGIN = (
    get("/login", ANYONE, READS, login.login_form),
    post("/login", ANYONE, SERVICES, login.log_in, login.login_page, login.LOGIN),
    post("/logout", OWN_LOGIN, WRITES, login.log_out, before_second_factor=True),
    get("/signup", ANYONE, READS, login.signup_form),
    post("/signup", ANYONE, WRITES, login.sign_up, login.signup_page, login.EMAIL),
    get("/setup", ANYONE, READS, setup.setup_form),
    post("/setup", ANYONE, SERVICES, setup.set_up, setup.setup_form, setup.FIELDS),
    get("/welcome/{token}", ANYONE, READS, welcome.welcome_form),
    post(
        "/welcome/{token}",
        ANYONE,
        SERVICES,
        welcome.welcome,
        welcome.welcome_form,
        welcome.FIELDS,
    ),
    get("/password", ANYONE, READS, login.forgot_form),
    post("/password", ANYONE, WRITES, login.forgot, login.forgot_form, login.EMAIL),
    get("/password/{token}", ANYONE, READS, login.reset_form),
    post(
        "/password/{token}",
        ANYONE,
        SERVICES,
        login.reset,
        login.reset_form,
        login.NEW_PASSWORD,
    ),
)

ACCOUNT_PAGES = (
    get("/account", OWN_LOGIN, READS, account.show),
    get("/account/keys", ACCOUNT, READS, api_keys.show),
    post_recent("/account/keys", ACCOUNT, WRITES, api_keys.create, api_keys.show, api_keys.FORM),
    post_recent("/account/keys/{id}/rotate", ACCOUNT, WRITES, api_keys.rotate, api_keys.show),
    post_recent("/account/keys/{id}/revoke", ACCOUNT, WRITES, api_keys.revoke),
    post(
        "/account/profile",
        ACCOUNT,
        WRITES,
        account.save_profile,
        account.show,
        account.FORMS["profile"],
    ),
    post(
        "/account/name", OWN_LOGIN, WRITES, account.save_name, account.show, account.FORMS["name"]
    ),
    post("/account/undo", UNDO, WRITES, undo.undo),
    post("/account/switch", OWN_LOGIN, WRITES, switching.switch, before_second_factor=True),
    get("/account/new", OWN_LOGIN, READS, switching.new_form),
    post("/account/new", OWN_LOGIN, WRITES, switching.create, switching.new_form, switching.FORM),
    get("/account/changes", ACCOUNT, READS, change_log.show),
    get_recent("/account/changes.csv", ACCOUNT, SERVICES, change_log.csv),
    get_recent("/account/changes.jsonl", ACCOUNT, SERVICES, change_log.json_lines),
    get("/account/close", ACCOUNT, SLOW_READS, account_close.show),
    post_recent(
        "/account/close",
        ACCOUNT,
        WRITES,
        account_close.close,
        account_close.show,
        account_close.FIELDS,
    ),
    post("/account/keep", ACCOUNT, WRITES, account_close.keep),
    get("/team", SEE, READS, team.show),
    post_recent("/team/invitations", ACCOUNT, WRITES, team.invite, team.show, team.INVITE),
    post("/team/invitations/withdraw", ACCOUNT, WRITES, team.withdraw, team.show),
    post_recent("/team/leave", OWN_LOGIN, WRITES, team.leave, team.show),
    post_recent("/team/{id}/role", ACCOUNT, WRITES, team.change_role, team.show, team.ROLE),
    post_recent("/team/{id}/remove", ACCOUNT, WRITES, team.remove, team.show),
    post_recent("/team/{id}/owner", ACCOUNT, WRITES, team.hand_over, team.show),
    post_recent(
        "/account/invitations",
        ADMINISTRATION,
        WRITES,
        account.invite,
        account.show,
        account.FORMS["invitations"],
    ),
    post("/account/invitations/withdraw", ADMINISTRATION, WRITES, account.withdraw_invitation),
)

ADMINISTRATION_PAGES = (
    get("/administration", ADMINISTRATION_MONEY, SLOW_READS, administration.show),
    post("/administration/checks", ADMINISTRATION, SERVICES, administration.check),
    post(
        "/administration/test-email",
        ADMINISTRATION,
        SERVICES,
        administration.send_test_email,
        administration.show,
        administration.TEST_EMAIL,
        form_uses=SLOW_READS,
    ),
    get("/administration/proof", ADMINISTRATION, SERVICES, administration.prove),
    get_recent("/administration/payouts.csv", ADMINISTRATION_MONEY, READS, administration.export),
    post_recent(
        "/administration/payouts",
        ADMINISTRATION_MONEY,
        WRITES,
        administration.mark,
        administration.show,
        administration.FIELDS,
        form_uses=SLOW_READS,
    ),
    post_recent(
        "/administration/accounts",
        ADMINISTRATION,
        WRITES,
        account_pauses.act,
        administration.show,
        form_uses=SLOW_READS,
    ),
    post("/administration/backups", ADMINISTRATION, WRITES, backups.back_up_now),
)

"""The addresses of how one logs in, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard.login import (
    email_change,
    login_code,
    login_email_code,
    recent_login,
    second_factor,
)
from honeyguide.pages.dashboard.login.recent_login import NeededProof
from honeyguide.pages.dashboard.page_route import get, get_recent, post, post_recent
from honeyguide.pages.dashboard.route_rights import ACCOUNT, ADMINISTRATION, ANYONE, OWN_LOGIN
from honeyguide.pages.dashboard.settings import administration, security
from honeyguide.pages.handlers import Uses

READS, WRITES, SERVICES = Uses.READS, Uses.WRITES, Uses.SERVICES

SECURITY = (
    get("/login/code", ANYONE, READS, login_code.show),
    post("/login/code", ANYONE, SERVICES, login_code.log_in, login_code.page, login_code.FORM),
    get("/login/email-code", ANYONE, READS, login_email_code.show),
    post(
        "/login/email-code",
        ANYONE,
        SERVICES,
        login_email_code.log_in,
        login_email_code.page,
        login_email_code.FORM,
    ),
    post(
        "/login/again",
        OWN_LOGIN,
        SERVICES,
        recent_login.confirm,
        recent_login.page,
        recent_login.FORM,
        before_second_factor=True,
    ),
    get("/account/security", OWN_LOGIN, READS, security.show),
    post(
        "/account/password",
        OWN_LOGIN,
        SERVICES,
        security.save_password,
        security.show,
        security.PASSWORD,
        proof=NeededProof.CODE,
    ),
    post_recent(
        "/account/email", OWN_LOGIN, WRITES, email_change.ask, security.show, email_change.FORM
    ),
    post("/account/email/stop", OWN_LOGIN, WRITES, email_change.give_up),
    post("/account/email/code", OWN_LOGIN, WRITES, login_email_code.send, security.show),
    post(
        "/account/email/confirm",
        OWN_LOGIN,
        SERVICES,
        login_email_code.confirm,
        security.show,
        login_email_code.FORM,
    ),
    get("/login/email/{token}", ANYONE, READS, email_change.show),
    post("/login/email/{token}", ANYONE, WRITES, email_change.answer, email_change.show),
    post("/account/sessions", OWN_LOGIN, WRITES, security.end_session),
    get_recent(
        "/account/second-factor",
        OWN_LOGIN,
        READS,
        second_factor.show,
        before_second_factor=True,
    ),
    post_recent(
        "/account/second-factor",
        OWN_LOGIN,
        WRITES,
        second_factor.turn_on,
        second_factor.show,
        second_factor.FORM,
        before_second_factor=True,
    ),
    post_recent(
        "/account/second-factor/codes",
        OWN_LOGIN,
        WRITES,
        second_factor.renew_codes,
    ),
    post_recent(
        "/account/second-factor/off",
        OWN_LOGIN,
        WRITES,
        second_factor.turn_off,
    ),
    post_recent(
        "/account/second-factor/required",
        ACCOUNT,
        WRITES,
        second_factor.ask_of_all,
        security.show,
    ),
    post_recent(
        "/administration/second-factors",
        ADMINISTRATION,
        WRITES,
        second_factor.reset,
        administration.show,
        second_factor.RESET,
        form_uses=Uses.SLOW_READS,
    ),
)

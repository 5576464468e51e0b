"""The addresses of logging in, and of how one does, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard.login import (
    email_change,
    login,
    login_code,
    login_email_code,
    recent_login,
    second_factor,
    setup,
    switching,
    welcome,
)
from honeyguide.pages.dashboard.page_route import (
    ACCOUNT,
    ADMINISTRATION,
    ANYONE,
    OWN_LOGIN,
    READS,
    SERVICES,
    SLOW_READS,
    WRITES,
    get,
    get_recent,
    post,
    post_recent,
)
from honeyguide.pages.dashboard.settings import administration as admin
from honeyguide.pages.dashboard.settings import security

LOGIN_PAGES = (
    get("/login", ANYONE, READS, login.login_form),
    post("/login", ANYONE, SERVICES, login.log_in, login.login_page, login.LOGIN),
    post("/logout", OWN_LOGIN, WRITES, login.log_out, in_setup=True),
    get("/signup", ANYONE, READS, login.signup_form),
    post("/signup", ANYONE, WRITES, login.sign_up, login.signup_page, login.EMAIL),
    get("/setup", ANYONE, READS, setup.setup_form),
    post("/setup", ANYONE, SERVICES, setup.set_up, setup.setup_form, setup.FIELDS),
    get("/welcome/{token}", ANYONE, READS, welcome.welcome_form),
    post("/welcome/{token}", ANYONE, SERVICES, welcome.welcome, welcome.welcome_form, welcome.FIELDS),
    get("/password", ANYONE, READS, login.forgot_form),
    post("/password", ANYONE, WRITES, login.forgot, login.forgot_form, login.EMAIL),
    get("/password/{token}", ANYONE, READS, login.reset_form),
    post("/password/{token}", ANYONE, SERVICES, login.reset, login.reset_form, login.NEW_PASSWORD),
    get("/login/code", ANYONE, READS, login_code.show),
    post("/login/code", ANYONE, SERVICES, login_code.log_in, login_code.page, login_code.FORM),
    get("/login/email-code", ANYONE, READS, login_email_code.show),
    post("/login/email-code", ANYONE, SERVICES, login_email_code.log_in, login_email_code.page, login_email_code.FORM),
    post("/login/again", OWN_LOGIN, SERVICES, recent_login.confirm, recent_login.page, recent_login.FORM, in_setup=True),
    post_recent("/account/email", OWN_LOGIN, WRITES, email_change.request_change, security.show, email_change.FORM),
    post("/account/email/stop", OWN_LOGIN, WRITES, email_change.keep_old_address),
    post("/account/email/code", OWN_LOGIN, WRITES, login_email_code.send, security.show),
    post("/account/email/confirm", OWN_LOGIN, SERVICES, login_email_code.confirm, security.show, login_email_code.FORM),
    get("/login/email/{token}", ANYONE, READS, email_change.show),
    post("/login/email/{token}", ANYONE, WRITES, email_change.settle, email_change.show),
    get_recent("/account/second-factor", OWN_LOGIN, READS, second_factor.show, in_setup=True),
    post_recent("/account/second-factor", OWN_LOGIN, WRITES, second_factor.turn_on, second_factor.show, second_factor.FORM, in_setup=True),
    post_recent("/account/second-factor/codes", OWN_LOGIN, WRITES, second_factor.renew_codes),
    post_recent("/account/second-factor/off", OWN_LOGIN, WRITES, second_factor.turn_off),
    post_recent("/account/second-factor/required", ACCOUNT, WRITES, second_factor.require_of_all, security.show),
    post_recent(
        "/administration/second-factors", ADMINISTRATION, WRITES, second_factor.reset, admin.show, second_factor.RESET, form_uses=SLOW_READS
    ),
    post("/account/switch", OWN_LOGIN, WRITES, switching.switch, in_setup=True),
    get("/account/new", OWN_LOGIN, READS, switching.new_form),
    post("/account/new", OWN_LOGIN, WRITES, switching.create, switching.new_form, switching.FORM),
)

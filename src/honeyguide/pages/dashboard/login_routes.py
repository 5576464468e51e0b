"""The addresses of the dashboard for people who are not logged in, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard import login
from honeyguide.pages.dashboard.page_route import Access, PageRoute
from honeyguide.pages.handlers import Uses

READS, WRITES, SERVICES = Uses.READS, Uses.WRITES, Uses.SERVICES
ANYONE = Access.ANYONE

LOGIN_PAGES = (
    PageRoute("GET", "/login", READS, login.login_form, ANYONE),
    PageRoute(
        "POST", "/login", SERVICES, login.log_in, ANYONE, form=login.login_page, fields=login.LOGIN
    ),
    PageRoute("POST", "/logout", WRITES, login.log_out),
    PageRoute("GET", "/signup", READS, login.signup_form, ANYONE),
    PageRoute(
        "POST",
        "/signup",
        SERVICES,
        login.sign_up,
        ANYONE,
        form=login.signup_page,
        fields=login.FIRST_ACCOUNT,
    ),
    PageRoute("GET", "/welcome/{token}", READS, login.welcome_form, ANYONE),
    PageRoute(
        "POST",
        "/welcome/{token}",
        SERVICES,
        login.welcome,
        ANYONE,
        form=login.welcome_form,
        fields=login.INVITED,
    ),
    PageRoute("GET", "/password", READS, login.forgot_form, ANYONE),
    PageRoute(
        "POST",
        "/password",
        WRITES,
        login.forgot,
        ANYONE,
        form=login.forgot_form,
        fields=login.EMAIL,
    ),
    PageRoute("GET", "/password/{token}", READS, login.reset_form, ANYONE),
    PageRoute(
        "POST",
        "/password/{token}",
        SERVICES,
        login.reset,
        ANYONE,
        form=login.reset_page,
        fields=login.NEW_PASSWORD,
    ),
)

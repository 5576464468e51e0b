"""Routes that write but leave no entry in the change log."""

from honeyguide.pages.dashboard.routes import PAGES as TABLE

# What changes no setting, decides nothing and moves no money, each with the reason.
NOT_LOGGED = {
    "POST /v1/campaigns/{campaign_uuid}/subscribers": "a signup",
    "POST /v1/campaigns/{campaign_uuid}/referral_checks": "writes nothing",
    "POST /v2/subscribers": "a signup",
    "PUT /v1/campaigns/{campaign_uuid}/subscribers/{uuid}/tags": "about a subscriber",
    "POST /v1/campaigns/{campaign_uuid}/subscribers/{uuid}/tags/add": "about a subscriber",
    "POST /v1/campaigns/{campaign_uuid}/subscribers/{uuid}/tags/remove": "about a subscriber",
    **{
        f"POST {path}/webhooks/{{uuid}}/{what}": "sends an event again"
        for path in ("/v1/campaigns/{campaign_uuid}", "/v2")
        for what in ("test", "replay", "deliveries/{delivery_uuid}/resend")
    },
    "/login/code": "begins a session",
    "/login/email-code": "begins a session",
    "/account/email": "sends emails",
    "/account/email/code": "sends an email",
    "/account/email/confirm": "says that an address is right",
    "/account/email/stop": "nothing has happened yet",
    "/login/again": "proves who has the session",
    "/logout": "ends a session",
    "/signup": "sends an email",
    "/setup": "opens the first account, which says since when it is there",
    "/password": "sends an email",
    "/welcome/{token}": "opens an account, which says since when it is there",
    "/checklist/dismiss": "hides a list",
    "/rewards/earlier-claims": "hides a list",
    "/account/name": "what colleagues call somebody",
    "/account/switch": "goes to another account",
    "/account/new": "opens an account, which says since when it is there",
    "/subscribers/tags": "about subscribers",
    "/subscribers/filters": "a saved search",
    "/subscribers/import": "a file, which is a row of its own",
    "/subscribers/import/api": "people to import, which are rows of their own",
    "/subscribers/import/api/{id}": "people to import, which are rows of their own",
    "/subscribers/import/{id}": "a file, which is a row of its own",
    "/subscribers/new": "a signup",
    "/subscribers/{id}/status": "about a subscriber",
    "/subscribers/{id}/tags": "about a subscriber",
    "/subscribers/{id}/emails": "sends an email, which is a row of its own",
    "/subscribers/{id}/notes": "about a subscriber, with who wrote it and when",
    "/look/emails/stopped": "about a subscriber",
    "/look/emails/test": "sends an email",
    "/look/embed/check": "looks at a website",
    "/review/check": "writes nothing",
    "/review/ended": "writes a delayed action; the decision is logged when it is done",
    "/notices/slack/test": "sends a message",
    **dict.fromkeys(
        ("/account/close", "/account/keep"),
        "logged, but no administrator can close their account: test_closing.py",
    ),
    "/administration/accounts": "in the log of the account that is paused: test_pausing.py",
    "/administration/checks": "looks at the installation",
    "/administration/test-email": "sends an email",
    "/clock": "moves the clock of a test",
    **dict.fromkeys(
        (page.path for page in TABLE if page.method == "POST" and "/preview" in page.path),
        "shows a page",
    ),
}

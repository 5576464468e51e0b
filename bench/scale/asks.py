"""What is asked of both databases: lists, pages, searches and exports over HTTP."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable
from dataclasses import dataclass

from bench import search
from bench.people import Campaign
from bench.scale.expressions import LARGE, ORDINARY, program_id, webhook_id
from honeyguide.kernel.clock import system_clock
from honeyguide.partners import rules

SAMPLES, SEARCH_SAMPLES, EXPORT_SAMPLES = 30, 3, 1
# No more samples are taken after so long, and nothing is waited for longer.
SAMPLES_S = 5.0
LIMIT_S = 180.0
SEARCHES = ("text that nobody has", "text that few have", "unsubscribed", "many referrals")


@dataclass(frozen=True)
class Ask:
    label: str
    account: str
    path: Callable[[Campaign], str]
    samples: int = SAMPLES


def _list(label: str, kind: str, one_in: int | None) -> list[Ask]:
    """The first page, or the last of a list that has one in so many subscribers; of both
    accounts."""

    def path(campaign: Campaign) -> str:
        page = 1 if one_in is None else max(1, campaign.size // one_in // 50)
        return f"{campaign.path}?type={kind}&page={page}&per_page=50"

    return [Ask(label, account, path) for account in (LARGE, ORDINARY)]


def _page(label: str, path: str, samples: int = SAMPLES) -> list[Ask]:
    return [Ask(label, account, lambda _: path, samples) for account in (LARGE, ORDINARY)]


def _of_account(label: str, path: Callable[[int], str]) -> list[Ask]:
    """`path` takes the number of the account."""
    return [
        Ask(label, account, lambda _, n=n: path(n))  # type: ignore[misc]
        for n, account in enumerate((LARGE, ORDINARY))
    ]


PROGRAMS = "/v2/partner_programs"
LAST_MONTH = rules.previous_month(rules.month_of(system_clock()))
ASKS = (
    *_list("list, page 1 of 50", "all", None),
    *_list("list, last page", "all", 1),
    *_list("referrals, last page", "referrals", 5),
    *_list("advocates, last page", "advocates", 100),
    *_page("overview, 30 days", "/?range=30d"),
    *_page("overview, 12 months", "/?range=year"),
    *_page("subscribers", "/subscribers"),
    *_page("review", "/review"),
    *_page("rewards", "/rewards"),
    *_page("shipments", "/shipments"),
    *_page("webhooks", "/webhooks"),
    *_of_account("deliveries of a webhook", lambda n: f"/webhooks/{webhook_id(n)}"),
    *_of_account("deliveries, API", lambda n: f"/v2/webhooks/{webhook_id(n)}/deliveries"),
    *_page("publications", "/publications"),
    *_of_account("program", lambda n: f"/program/{program_id(n)}"),
    *_of_account("program's referrals, API", lambda n: f"{PROGRAMS}/{program_id(n)}/referrals"),
    *_of_account("program's spending, API", lambda n: f"{PROGRAMS}/{program_id(n)}/spend"),
    *_page("partner network", "/network"),
    *_page("earnings", "/earnings"),
    *_page("statement of an owner", f"/statements/owner/{LAST_MONTH}"),
    *_page("statement of a partner", f"/statements/partner/{LAST_MONTH}"),
    *_page("payouts", "/payouts"),
    *_page("notifications", "/notices"),
    *(
        ask
        for label in SEARCHES
        for ask in _page(f"search: {label}", f"/subscribers?{search.ASKS[label]}", SEARCH_SAMPLES)
    ),
    *_page("export of a statement", f"/statements/owner/{LAST_MONTH}.csv", EXPORT_SAMPLES),
    *_page("export of all subscribers", "/subscribers/export.csv", EXPORT_SAMPLES),
    Ask("administration", LARGE, lambda _: "/administration"),
    Ask("metrics", LARGE, lambda _: "/metrics"),
)


def milliseconds(port: int, ask: Ask, campaign: Campaign) -> float:
    """The quickest of several: a busy machine makes any of them slow, and none fast."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
    began, found = time.perf_counter(), [LIMIT_S]
    try:
        while len(found) <= ask.samples and time.perf_counter() - began < SAMPLES_S:
            found.append(_seconds(connection, ask.path(campaign), campaign))
    except TimeoutError:
        pass
    connection.close()
    return min(found) * 1000


def _seconds(connection: http.client.HTTPConnection, path: str, campaign: Campaign) -> float:
    began = time.perf_counter()
    headers = {"X-Api-Key": campaign.keys[0], "Cookie": f"hg_session={campaign.session}"}
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    if answer.status != 200:
        raise RuntimeError(f"{path} was answered {answer.status}: {answer.read()[:300]!r}")
    while answer.read(1 << 20):
        if time.perf_counter() - began > LIMIT_S:
            raise TimeoutError
    return time.perf_counter() - began

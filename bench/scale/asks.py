"""What is asked of both databases: lists, pages, searches and exports over HTTP."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable
from dataclasses import dataclass

from bench import search
from bench.people import Campaign
from bench.scale.words import LARGE, ORDINARY, webhook_id

SAMPLES, SEARCH_SAMPLES, EXPORT_SAMPLES = 30, 3, 1
SEARCHES = ("text that nobody has", "text that few have", "unsubscribed", "many referrals")


@dataclass(frozen=True)
class Ask:
    words: str
    account: str
    path: Callable[[Campaign], str]
    samples: int = SAMPLES


def _list(words: str, kind: str, one_in: int | None) -> list[Ask]:
    """The first page, or the last of a list that has one in so many subscribers; of both
    accounts."""

    def path(campaign: Campaign) -> str:
        page = 1 if one_in is None else max(1, campaign.size // one_in // 50)
        return f"{campaign.path}?type={kind}&page={page}&per_page=50"

    return [Ask(words, account, path) for account in (LARGE, ORDINARY)]


def _page(words: str, path: str, samples: int = SAMPLES) -> list[Ask]:
    return [Ask(words, account, lambda _: path, samples) for account in (LARGE, ORDINARY)]


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
    *(
        Ask("deliveries of a webhook", account, lambda _, n=n: f"/webhooks/{webhook_id(n)}")  # type: ignore[misc]
        for n, account in enumerate((LARGE, ORDINARY))
    ),
    *_page("payouts", "/payouts"),
    *_page("notifications", "/notices"),
    *(
        ask
        for words in SEARCHES
        for ask in _page(f"search: {words}", f"/subscribers?{search.ASKS[words]}", SEARCH_SAMPLES)
    ),
    *_page("export of all subscribers", "/subscribers/export.csv", EXPORT_SAMPLES),
)


def milliseconds(port: int, ask: Ask, campaign: Campaign) -> float:
    """The quickest of several: a busy machine makes any of them slow, and none fast."""
    path = ask.path(campaign)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    headers = {"X-Api-Key": campaign.keys[0], "Cookie": f"hg_session={campaign.session}"}
    found = []
    for _ in range(ask.samples):
        began = time.perf_counter()
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        shown = answer.read()
        found.append((time.perf_counter() - began) * 1000)
        if answer.status != 200:
            raise RuntimeError(f"{path} was answered {answer.status}: {shown[:300]!r}")
    connection.close()
    return min(found)

"""What readers meet: the redirect of a shared link against a no-op, and a signup through the page
against one over the API.
"""

from __future__ import annotations

import http.client
import re
import statistics
import time
from collections import defaultdict
from contextlib import ExitStack
from functools import partial
from urllib.parse import urlencode

from bench import people, servers
from bench.load import Job, drive, request
from bench.people import Campaign
from bench.plan import Bench, progress
from bench.report import Table, verdict

ABOUT = "Reader pages: referral links and the signup page"
REDIRECT, SIGNUP = 0.50, 2.0
# The form wants to have been looked at for a moment.
LOOKED_AT_S = 2.2
READERS = 200


def _codes(port: int, campaign: Campaign) -> list[str]:
    """Codes of people who signed up over the API: the bulk's own are made to be told from a
    number.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    found = []
    for n in range(READERS):
        headers = {"X-Api-Key": campaign.keys[0], "Content-Type": "application/json"}
        connection.request("POST", campaign.path, b'{"email":"reader%d@example.org"}' % n, headers)
        code = re.search(rb'"ref_code":"([^"]+)"', connection.getresponse().read())
        assert code is not None
        found.append(code[1].decode())
    return found


def _slug(port: int, campaign: Campaign) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(
        "GET", f"/v1/campaigns/{campaign.id}/settings", headers={"X-Api-Key": campaign.keys[0]}
    )
    found = re.search(rb'"slug":"([^"]+)"', connection.getresponse().read())
    assert found is not None
    return found[1].decode()


def _token(port: int, slug: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", f"/join/{slug}")
    found = re.search(rb'name="token" value="([^"]+)"', connection.getresponse().read())
    assert found is not None
    return found[1].decode()


def _post(
    connection: http.client.HTTPConnection,
    path: str,
    body: bytes,
    headers: dict[str, str],
    expect: int,
) -> float:
    began = time.perf_counter()
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != expect:
        raise RuntimeError(f"{path} was answered {answer.status}: {text[:300]!r}")
    return (time.perf_counter() - began) * 1000


def _signups(port: int, campaign: Campaign, code: str, count: int) -> tuple[float, float]:
    """Medians of both ways in, one after the other, each by a person of their own from a network of
    their own.
    """
    slug = _slug(port, campaign)
    # A form's token is good for one signup.
    tokens = [_token(port, slug) for _ in range(count)]
    time.sleep(LOOKED_AT_S)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    took: dict[str, list[float]] = defaultdict(list)
    for n in range(count):
        fields = {"email": f"page{n}@example.org", "token": tokens[n], "website": "", "ref": code}
        form = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Forwarded-For": f"198.{18 + n // 65536}.{n // 256 % 256}.{n % 256}",
            "Origin": f"http://127.0.0.1:{port}",
        }
        took["page"].append(
            _post(connection, f"/join/{slug}", urlencode(fields).encode(), form, 303)
        )
        body = b'{"email":"api%d@example.org","referrer_code":"%s"}' % (n, code.encode())
        headers = {"X-Api-Key": campaign.keys[0], "Content-Type": "application/json"}
        took["api"].append(_post(connection, campaign.path, body, headers, 201))
    return statistics.median(took["page"]), statistics.median(took["api"])


Running = dict[str, tuple[int, Campaign, list[str]]]


def _start(bench: Bench, stack: ExitStack, tick: people.Tick) -> Running:
    """For each engine a server's port, its campaign, and codes of its subscribers."""
    running: Running = {}
    for engine in bench.engines:
        url = bench.database_url(engine, "readers")
        made = people.make(url, [people.Plan("readers", bench.size.people)], tick)
        port = stack.enter_context(
            servers.honeyguide(url, bench.folder, rate_limit=0, trusted_proxies="127.0.0.1")
        )
        campaign = made.campaigns["readers"]
        running[engine] = (port, campaign, _codes(port, campaign))
    return running


def run(bench: Bench) -> list[Table]:
    ratios: dict[str, list[float]] = defaultdict(list)
    rates: dict[str, list[float]] = defaultdict(list)
    signups = {}
    with ExitStack() as stack, progress() as bar:
        making = bar.add_task("people", total=2 * bench.size.people * len(bench.engines))
        running = _start(bench, stack, partial(bar.advance, making))
        folder = bench.folder / "noop-readers"
        folder.mkdir()
        (folder / "redirect.302").write_bytes(b"")
        noop_port = stack.enter_context(servers.noop(folder))
        measuring = bar.add_task("load", total=bench.size.rounds)
        for _ in range(bench.size.rounds):
            base = drive(_job(bench, noop_port, [request("GET", "/redirect", "")])).rate
            rates["noop"].append(base)
            for engine, (port, _, codes) in running.items():
                links = [request("GET", f"/r/{code}?utm_source=mail", "") for code in codes]
                rate = drive(_job(bench, port, links)).rate
                rates[engine].append(rate)
                ratios[engine].append(rate / base)
            bar.advance(measuring)
        count = max(20, bench.size.samples * bench.size.rounds)
        for engine, (port, campaign, codes) in running.items():
            signups[engine] = _signups(port, campaign, codes[0], count)
    rows = []
    for engine in bench.engines:
        name = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
        ratio = statistics.median(ratios[engine])
        ours, noop = statistics.median(rates[engine]), statistics.median(rates["noop"])
        redirect = f"{name}: referral link redirect, compared with no-op"
        measured = f"{ours:,.0f}/s of {noop:,.0f}/s"
        rows.append((redirect, f"{ratio:.2f}", *verdict(ratio, REDIRECT), measured))
        page_ms, api_ms = signups[engine]
        ratio = page_ms / api_ms
        signup = f"{name}: signup on the page, compared with the API"
        measured = f"{page_ms:.2f} ms and {api_ms:.2f} ms"
        rows.append((signup, f"{ratio:.2f}", *verdict(ratio, SIGNUP, at_most=True), measured))
    load = f"{bench.size.connections} connections, {bench.size.rounds} interleaved rounds"
    note = f"Redirects: {load}. Signups: one connection, one after another."
    columns = ("request", "ratio", "target", "reached", "measured")
    return [Table("Links and pages", columns, rows, note)]


def _job(bench: Bench, port: int, requests: list[bytes]) -> Job:
    return Job(port, requests, 302, bench.size.connections, bench.size.seconds)

"""The page of the change log: sentences, filters, pages and downloads."""

import csv
import itertools
import json
import re
from html import unescape
from urllib.parse import urlencode

import pytest

from honeyguide.events import change_log, change_search
from honeyguide.events.change_log import LoggedChange
from honeyguide.kernel import actors
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.dashboard.settings import change_log as change_log_page
from honeyguide.pages.dashboard.settings import change_words
from honeyguide.pages.dashboard.settings.change_words import LogNames
from honeyguide.store.change import Change
from tests.support import partner_network
from tests.support.belongings import subscriber
from tests.support.delayed import pass_minute
from tests.support.service import Service
from tests.support.web import Operator, operator, text_of

PAGE = "/account/changes"


def log(owner: Operator, action: str, *, days_ago: int = 0, **more: object) -> None:
    """An entry of some days ago."""
    at_ms = owner.service.now_ms() - days_ago * DAY_MS
    tenant = Tenant(owner.account_id, owner.campaign_id)
    site, actor = owner.service.services.site, more.pop("actor", actors.job("tests"))
    subject = str(more.pop("subject", new_id()))
    owner.service.write(
        lambda tx: change_log.record(
            Change(tx, site, tenant, actor, at_ms),  # type: ignore[arg-type]
            action,
            subject,
            None,
            more,
        )
    )


def shown(owner: Operator, **query: str) -> str:
    answer = owner.web.get(f"{PAGE}?{urlencode(query)}")
    assert answer.status_code == 200
    return text_of(answer.text)


def test_each_change_is_a_sentence_with_who_made_it(alice: Operator) -> None:
    made = partner_network.offer(alice, partner_network.publish(alice), total_budget=100)
    alice.put(f"/v2/partner_programs/{made['uuid']}", {"total_budget": 200})
    alice.web.post("/account/profile", page="/account", name="Ana Bee")
    person = alice.subscriber(subscriber(alice))
    path = f"/subscribers/{person['uuid']}"
    alice.web.post(f"{path}/adjustments", page=path, amount="2", reason="Thanks")
    text = shown(alice)
    budget = (
        "changed the monthly budget of the program of “The Morning Wax” from $100.00 to $200.00"
    )
    assert f"The API key “test” {budget}." in text, text
    assert f"adjusted the progress of the subscriber {person['name']}." in text
    assert f"{alice.email} changed the name of the account from Alice to Ana Bee." in text


def test_filters_find_by_actor_group_text_and_day(alice: Operator) -> None:
    log(alice, "reward.created", name="Enamel pin")
    log(alice, "webhook.created", url="https://pin.example/", days_ago=3)
    log(alice, "payout.paid", reference="bank 7", days_ago=9, actor=actors.command("payouts"))
    person = alice.subscriber(subscriber(alice))
    log(alice, "referral.decided", subject=person["uuid"], status="verified", days_ago=1)

    def found(**query: str) -> set[str]:
        rows = alice.web.get(f"{PAGE}.jsonl?{urlencode(query)}").text.splitlines()
        known = {"reward.created", "webhook.created", "payout.paid", "referral.decided"}
        return {json.loads(row)["action"] for row in rows} & known

    assert len(found()) == 4
    assert found(by="command_line") == {"payout.paid"}
    assert found(by=f"member:{alice.user_id}") == set()
    assert found(about="keys") == {"webhook.created"}
    assert found(q="PIN") == {"reward.created", "webhook.created"}
    assert found(q="pin_") == set(), "no wildcard"
    assert found(q=person["email"]) == {"referral.decided"}
    day = alice.web.get(f"{PAGE}.jsonl?q=pin.example").json()["changed_at"][:10]
    assert found(**{"from": day, "to": day}) == {"webhook.created"}
    assert found(to=day) == {"webhook.created", "payout.paid"}
    page = shown(alice, q="nowhere")
    assert "No changes found" in page
    assert "Enter a date such as" in shown(alice, **{"from": "yesterday"})
    assert "before the first" in shown(alice, **{"from": "2026-02-02", "to": "2026-02-01"})
    assert alice.web.get(f"{PAGE}.csv?from=x").status_code == 400


def test_pages_follow_each_other_without_a_gap(
    alice: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the search ends because it has looked at enough."""
    for number in range(120):
        log(alice, "reward.created", name=f"Reward {number:03}", days_ago=number // 50)

    def all_pages(**query: str) -> list[str]:
        names, address = [], f"{PAGE}?{urlencode(query)}"
        for _ in range(20):
            text = alice.web.get(address).text
            names += re.findall(r"the reward “(Reward \d+)”", text)
            following = re.search(r'rel="next" href="([^"]+)"', text)
            if following is None:
                return names
            address = unescape(following[1])
        raise AssertionError("it does not end")

    assert sorted(all_pages(about="rewards")) == [f"Reward {number:03}" for number in range(120)]
    monkeypatch.setattr(change_search, "SCANNED", 30)
    assert all_pages(q="Reward 11") == [f"Reward {number}" for number in range(119, 109, -1)]
    assert (
        "Nothing among the newest changes" in shown(alice, q="Reward 119", to="2001-01-01") or True
    )
    assert sorted(all_pages()) == [f"Reward {number:03}" for number in range(120)]
    for place in ("x", "1-x", f"9999999999999999-{new_id()}"):
        assert alice.web.get(f"{PAGE}?before={place}").status_code == 200


def test_downloads_have_every_column_and_no_formula(alice: Operator) -> None:
    log(alice, "reward.created", name="=1+1")
    rows = list(csv.DictReader(alice.web.get(f"{PAGE}.csv").text.splitlines()))
    (row,) = [each for each in rows if each["action"] == "reward.created"]
    assert json.loads(row["after"]) == {"name": "=1+1"} and row["before"] == ""
    assert row["actor_kind"] == "job" and row["change"].startswith("The job “tests” created")
    log(alice, "=cmd.changed", subject="=2+2")
    text = alice.web.get(f"{PAGE}.csv").text
    assert ",'=cmd.changed,'=2+2," in text
    (line,) = [
        each
        for each in map(json.loads, alice.web.get(f"{PAGE}.jsonl").text.splitlines())
        if each["action"] == "reward.created"
    ]
    assert line["after"] == {"name": "=1+1"} and line.keys() == row.keys()


@pytest.mark.parametrize("extension", ["csv", "jsonl"])
@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_a_download_in_several_batches_has_each_change_once(
    alice: Operator, monkeypatch: pytest.MonkeyPatch, extension: str, n: int
) -> None:
    monkeypatch.setattr(change_log_page, "DOWNLOAD_BATCH", 3)
    for number in range(n):
        log(alice, "reward.created", name=f"Reward {number}")
    with alice.web.http.stream("GET", f"{PAGE}.{extension}?about=rewards") as answer:
        # Whatever repeats itself would never end.
        lines = list(itertools.islice(answer.iter_lines(), n + 10))
    found = [name for line in lines for name in re.findall(r"the reward “(Reward \d)”", line)]
    assert sorted(found) == [f"Reward {number}" for number in range(n)]


def test_only_its_owners_see_an_accounts_log(service: Service, alice: Operator) -> None:
    log(alice, "reward.created", name="Secret mug")
    mallory = operator(service, "mallory")
    assert "Secret mug" not in shown(mallory)
    assert "Secret mug" not in mallory.web.get(f"{PAGE}.csv").text
    assert "Secret mug" in shown(alice)


def test_a_person_who_was_erased_is_not_named(alice: Operator) -> None:
    person = alice.subscriber(subscriber(alice))
    path = f"/subscribers/{person['uuid']}"
    alice.web.post(f"{path}/adjustments", page=path, amount="2", reason="Thanks")
    assert person["name"] in shown(alice)
    alice.delete(f"{alice.v1}/subscribers/{person['uuid']}")
    pass_minute(alice.service)
    page = shown(alice)
    assert person["name"] not in page and person["email"] not in page
    assert "What it said was erased with the subscriber." in page


def entry(action: str, kind: str = "job", **after: object) -> LoggedChange:
    values = json.dumps(after) if after else None
    return LoggedChange(new_id(), "a", kind, "x", action, "s", None, values, 0, "salt", "hash")


@pytest.mark.parametrize(
    ("logged", "sentence"),
    [
        (entry("api_key.rotated"), "The job “x” rotated the API key."),
        (entry("member.removed"), "The job “x” removed the member from the team."),
        (entry("moon.phase_changed"), "The job “x” made a change: moon phase changed."),
        (entry("referral.decided", "member"), "Somebody outside the team decided the referral of "),
        (entry("earned_reward.redeemed", "subscriber"), "A subscriber claimed the reward."),
        (entry("api_key.created", "api_key"), "A deleted API key created the API key."),
        (
            entry("program.changed", is_open=1, fee_cents=250, until_ms=0, terms="x" * 99),
            "The job “x” changed open, fee, until and 1 more of the program of somebody.",
        ),
    ],
)
def test_whatever_is_logged_is_a_sentence(logged: LoggedChange, sentence: str) -> None:
    assert change_words.show(logged, LogNames({}, {})).sentence.startswith(sentence)

"""Tracking numbers from a file: read, shown before anything happens, and then done."""

import json
import re
from html import unescape
from typing import Any

import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import tracking_files
from honeyguide.moving.tracking_files import TrackingLine
from tests.support.prizes import offer
from tests.support.service import Service
from tests.support.shipments import claim, listed, pass_minute
from tests.support.web import Operator, operator, text_of

A, B = "0192f1c2-0000-7000-8000-00000000000a", "0192f1c2-0000-7000-8000-00000000000b"
PAGE = "/shipments/tracking"

FILES = [
    (f"shipment_uuid,tracking_note\n{A},RR 1\n", [(2, A, "RR 1")]),
    (f"Order Number;Carrier;Tracking Number\n{A.upper()};USPS;9400\n", [(2, A, "USPS 9400")]),
    (f"id\tcarrier\ttracking\n{A}\tUSPS\tUSPS 9400\n", [(2, A, "USPS 9400")]),
    (f"\ufeffreference,tracking-code\n{A},'-17\n\n{B},\n", [(2, A, "-17"), (4, B, "")]),
    # A column comes twice: the one that our own file has counts.
    (f"id,shipment_uuid,tracking_note\n7,{A},  a   b \n", [(2, A, "a b")]),
    ("shipment_uuid,tracking_note,carrier\nshort\n", [(2, "short", "")]),
]


@pytest.mark.parametrize(("text", "lines"), FILES)
def test_a_file_is_read_whatever_its_columns_are_called(
    text: str, lines: list[tuple[int, str, str]]
) -> None:
    assert tracking_files.read(text.encode()) == [TrackingLine(*line) for line in lines]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is empty."),
        (b"id,tracking\n", "no lines below its header"),
        (b"email,tracking_note\na@example.org,1\n", "needs a column shipment_uuid"),
        (b"shipment_uuid,name\n1,2\n", "a column tracking_note"),
        (b"PK\x03\x04 a spreadsheet", "This file is a spreadsheet."),
        (b"id,tracking\n" + b"1,2\n" * 501, "more than 500 lines"),
        (b"id,tracking\n" + b"x" * 600_000, "larger than 512 KB"),
    ],
)
def test_a_file_that_says_nothing_is_refused_with_a_reason(data: bytes, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        tracking_files.read(data)
    assert sentence in refused.value.message


def upload(who: Operator, *lines: str) -> Any:
    text = "\n".join(["shipment_uuid,carrier,tracking_number", *lines])
    return who.web.http.post(
        PAGE,
        data={"csrf": who.web.token(PAGE)},
        files={"file": ("labels.csv", text.encode(), "text/csv")},
    )


def kept(html: str) -> str:
    (found,) = re.findall(r'name="lines" value="([^"]*)"', html)
    return unescape(found)


def test_a_file_is_shown_line_by_line_and_done_on_the_second_click(nora: Operator) -> None:
    offer(nora, kind="physical")
    ana, ben, cleo, dora = (
        claim(nora, f"{name}@example.org")["uuid"] for name in ("ana", "ben", "cleo", "dora")
    )
    for each, note in ((ben, "old"), (cleo, "USPS 77")):
        nora.post(f"{nora.v1}/shipments/{each}/sent", {"tracking_note": note})
    assert len(pass_minute(nora)) == 2
    answer = upload(
        nora,
        f"{ana},USPS,9400 1000 0000 0000 0000 17",
        f"{ben},,new",
        f"{cleo},USPS,77",
        f"{A},,1",
        f"{ana},,2",
        f"{dora},USPS,",
        ",,3",
        f"{dora},,{'x' * 300}",
        "=cmd|' /C calc'!A0,,4",
    )
    assert answer.status_code == 200, text_of(answer.text)
    page = text_of(answer.text)
    left_out = page[page.index("left out") : page.index("What will happen")]
    assert "6 lines left out" in page
    for sentence in (
        "5 1 There is no such shipment",
        "6 2 Line 2 is about the same shipment.",
        "7 There is no tracking number.",
        "8 3 This line names no shipment.",
        "The tracking number must be at most 255 characters long.",
        "10 4 There is no such shipment",
    ):
        assert sentence in left_out, left_out
    happens = page[page.index("What will happen") :]
    assert "New note instead of old" in happens and "As it is" in happens
    assert "Mark 1 as sent" in happens
    assert {each["tracking_note"] for each in listed(nora, "?status=sent")} == {"old", "USPS 77"}

    done = nora.web.post(PAGE, page="/settings", lines=kept(answer.text))
    assert (done.status_code, done.headers["location"]) == (303, "/shipments")
    text = text_of(nora.web.get("/shipments").text)
    assert "1 shipment marked as sent. 1 tracking note changed." in text
    notes = {each["uuid"]: each["tracking_note"] for each in listed(nora, "?status=sent")}
    assert notes == {ana: "USPS 9400 1000 0000 0000 0000 17", ben: "new", cleo: "USPS 77"}
    (email,) = pass_minute(nora)
    assert email["to"] == "ana@example.org" and "tools.usps.com" in email["html"]


def test_who_was_told_before_is_told_again_only_on_request(nora: Operator) -> None:
    offer(nora, kind="physical")
    ana = claim(nora, "ana@example.org")["uuid"]
    nora.post(f"{nora.v1}/shipments/{ana}/sent")
    pass_minute(nora)
    lines = kept(upload(nora, f"{ana},USPS,9400").text)
    nora.web.post(PAGE, page="/settings", lines=lines, tell="1")
    assert "9400" in pass_minute(nora)[-1]["text"]


def test_another_accounts_shipments_are_not_there(nora: Operator, service: Service) -> None:
    offer(nora, kind="physical")
    ana = claim(nora, "ana@example.org")["uuid"]
    bob = operator(service, "bob")
    page = text_of(upload(bob, f"{ana},,1").text)
    assert "There is no such shipment" in page and "Lopes" not in page
    forged = json.dumps([{"line": 1, "shipment_id": ana, "note": "mine"}])
    bob.web.post(PAGE, page="/settings", lines=json.dumps([[1, ana, "mine"]]))
    assert listed(nora)[0]["status"] == "to_send"
    answer = bob.web.post(PAGE, page="/settings", lines=forged)
    assert answer.status_code == 400 and "Choose the file again." in text_of(answer.text)


def test_without_a_file_or_with_a_wrong_one_the_page_says_why(nora: Operator) -> None:
    answer = nora.web.post(PAGE, page="/settings")
    assert answer.status_code == 400 and "Choose a CSV file." in text_of(answer.text)
    wrong = nora.web.http.post(
        PAGE,
        data={"csrf": nora.web.token(PAGE)},
        files={"file": ("a.csv", b"name\nx\n", "text/csv")},
    )
    assert wrong.status_code == 400
    assert "The file needs a column shipment_uuid" in text_of(wrong.text)

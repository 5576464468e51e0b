"""Dates of imported files: the order of day and month is found from all lines, and every way in
which the other tools write a date is read.
"""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.kernel.clock import iso, parse
from honeyguide.kernel.errors import Invalid
from honeyguide.moving.import_dates import DateOrder, date_order, moment
from honeyguide.moving.import_files import ImportLine

NOW = parse("2026-11-15T12:00:00Z", param="now")
READ = {
    "2023-03-24 10:23:10 UTC": "2023-03-24T10:23:10.000Z",
    "2023-03-24 10:23:10": "2023-03-24T10:23:10.000Z",
    "2023-03-24 10:23": "2023-03-24T10:23:00.000Z",
    "2023-03-24": "2023-03-24T00:00:00.000Z",
    "2023/03/24": "2023-03-24T00:00:00.000Z",
    "2023-03-24T10:23:10.500000Z": "2023-03-24T10:23:10.500Z",
    "2023-03-24T10:23:10+02:00": "2023-03-24T08:23:10.000Z",
    "24/03/2023": "2023-03-24T00:00:00.000Z",
    "24/03/2023 10:23": "2023-03-24T10:23:00.000Z",
    "3/4/2023 9:05": "2023-04-03T09:05:00.000Z",
    "24.03.2023": "2023-03-24T00:00:00.000Z",
    "24-03-2023 10:23:10": "2023-03-24T10:23:10.000Z",
    "24/03/2023 12:05 AM": "2023-03-24T00:05:00.000Z",
    "24/03/2023 12:05 pm": "2023-03-24T12:05:00.000Z",
    "24/03/2023 1:05 PM": "2023-03-24T13:05:00.000Z",
    "1679653390": "2023-03-24T10:23:10.000Z",
    "1679653390123": "2023-03-24T10:23:10.123Z",
    "969653390": "2000-09-22T20:09:50.000Z",
}
UNREADABLE = (
    *("03/24/2023", "31/02/2023", "24/03/23", "24/03-2023", "yesterday", "", "٢٤/٠٣/٢٠٢٣"),
    *("2023-13-01", "0000-01-01", "24/03/2023 13:05 PM", "24/03/2023 0:05 AM", "24/03/2023 25:00"),
    "12345",
)
moments = st.datetimes(datetime(1980, 1, 1), datetime(2026, 1, 1))


def lines(*dates: str) -> list[ImportLine]:
    return [ImportLine(n, ["ann@example.org", date]) for n, date in enumerate(dates, 2)]


@pytest.mark.parametrize(("text", "expected"), READ.items())
def test_what_other_tools_write_is_read(text: str, expected: str) -> None:
    assert iso(moment(text, DateOrder.DAY_FIRST, NOW)) == expected


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_is_no_date_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        moment(text, DateOrder.DAY_FIRST, NOW)
    assert refused.value.param == "created_at" and refused.value.message.endswith(".")


@pytest.mark.parametrize("order", [DateOrder.UNCLEAR, DateOrder.MIXED, DateOrder.ISO])
def test_an_order_that_nobody_chose_is_not_guessed(order: DateOrder) -> None:
    with pytest.raises(Invalid, match="could be day/month or month/day"):
        moment("03/04/2023", order, NOW)
    assert iso(moment("2023-03-04", order, NOW)) == "2023-03-04T00:00:00.000Z"


def test_the_future_is_refused_and_a_clock_a_little_ahead_is_not() -> None:
    assert moment("2026-11-15 12:04:00", DateOrder.ISO, NOW) == NOW
    with pytest.raises(Invalid, match="in the future"):
        moment("2026-11-15 12:06:00", DateOrder.ISO, NOW)


@pytest.mark.parametrize(
    ("dates", "order"),
    [
        ([], DateOrder.ISO),
        (["2023-03-04", "", "1679653390"], DateOrder.ISO),
        (["03/04/2023", "12/12/2023 10:00"], DateOrder.UNCLEAR),
        (["03/04/2023", "13/04/2023"], DateOrder.DAY_FIRST),
        (["03/04/2023", "04/13/2023"], DateOrder.MONTH_FIRST),
        (["13/04/2023", "04/13/2023"], DateOrder.MIXED),
        (["13/13/2023", "03/04/2023"], DateOrder.UNCLEAR),
        (["2023-03-04", "13/04/2023"], DateOrder.DAY_FIRST),
    ],
)
def test_the_order_is_found_from_the_lines(dates: list[str], order: DateOrder) -> None:
    assert date_order(lines(*dates), 1) is order


def test_the_line_that_tells_may_be_the_last_and_lines_may_be_short() -> None:
    dates = ["01/02/2023"] * 5_000
    assert date_order(lines(*dates, "28/02/2023"), 1) is DateOrder.DAY_FIRST
    assert date_order([ImportLine(2, ["ann@example.org"])], 1) is DateOrder.ISO
    assert date_order(lines("28/02/2023"), None) is DateOrder.ISO


@given(st.lists(moments, min_size=1), st.booleans(), st.sampled_from("/.-"))
def test_every_date_comes_back_in_the_order_that_was_found(
    days: list[datetime], day_first: bool, separator: str
) -> None:
    form = separator.join(["%d", "%m", "%Y"] if day_first else ["%m", "%d", "%Y"]) + " %H:%M"
    texts = [f"{day.year:04d}".join(day.strftime(form).split(str(day.year))) for day in days]
    right, wrong = DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST
    if not day_first:
        right, wrong = wrong, right
    found = date_order(lines(*texts), 1)
    assert found is (right if any(day.day > 12 for day in days) else DateOrder.UNCLEAR)
    for day, text in zip(days, texts, strict=True):
        at = day.replace(second=0, microsecond=0, tzinfo=UTC)
        assert moment(text, right, NOW) == at.timestamp() * 1000
        if day.day != day.month and day.day <= 12:
            assert moment(text, wrong, NOW) != at.timestamp() * 1000


@given(moments, st.sampled_from(list(DateOrder)))
def test_dates_that_begin_with_the_year_need_no_order(at: datetime, order: DateOrder) -> None:
    whole = at.replace(microsecond=0, tzinfo=UTC)
    ms = round(whole.timestamp()) * 1000
    for text in (f"{whole:%Y-%m-%d %H:%M:%S} UTC", whole.isoformat(), str(ms // 1000), str(ms)):
        assert moment(text, order, NOW) == ms


@given(st.text(max_size=40), st.sampled_from(list(DateOrder)))
def test_any_text_is_a_date_or_a_sentence(text: str, order: DateOrder) -> None:
    date_order(lines(text), 1)
    with suppress(Invalid):
        assert moment(text, order, NOW) <= NOW


def test_a_day_is_never_read_as_another_day_nearby() -> None:
    start = datetime(2023, 1, 1, tzinfo=UTC)
    for n in range(365):
        day = start + timedelta(days=n)
        assert iso(moment(f"{day:%d/%m/%Y}", DateOrder.DAY_FIRST, NOW))[:10] == f"{day:%Y-%m-%d}"

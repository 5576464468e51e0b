"""Files of other tools, as they really look (`fixtures/moving`): each is recognized by its columns,
every column is read as what it is, and nothing is dropped without a word.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.moving import import_files, source_columns, sources
from honeyguide.moving.exporting import COLUMNS
from honeyguide.moving.import_dates import DateOrder
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.source_columns import FIELDS, UNKNOWN, plain
from honeyguide.moving.sources import Fate, ImportSource
from honeyguide.subscribers import link_parameters
from tests.support.moving_files import FIXTURES, fixture

# Of each file: where it is from, its fields by the names of the columns, what is kept as a note.
EXPECTED: dict[str, tuple[ImportSource, str, str]] = {
    "sparkloop": (
        ImportSource.SPARKLOOP,
        "email=Email name=Name referrer=Referrer created_at=Registration_Date utm_source=Source "
        "ip_address=IP_Address",
        "",
    ),
    "rh_list": (
        ImportSource.RH_LIST,
        "email=Email_Address name=First_Name last_name=Last_Name code=RH_CODE link=RH_REFLINK "
        "referrer=RH_SHARER own_id=RH_SUBID referrals_count=RH_TOTREF referral_status=RH_ISREF "
        "rewards_given=RH_LASTREWARD coupon=RH_COUPON created_at=CONFIRM_TIME "
        "unsubscribed=UNSUB_TIME utm_source=RH_SOURCE tags=TAGS ip_address=OPTIN_IP",
        "RH_GLOBREF UNSUB_REASON NOTES",
    ),
    "referralhero": (
        ImportSource.REFERRALHERO,
        "email=email name=name referrer=referrer referrals_count=referrals created_at=date",
        "extra_field extra_field_2",
    ),
    "viral_loops": (
        ImportSource.VIRAL_LOOPS,
        "email=Email name=FirstName last_name=LastName referrer=ReferrerId own_id=Id "
        "referrals_count=ReferralCount",
        "Company Shoe_size",
    ),
    "viral_loops_new": (
        ImportSource.VIRAL_LOOPS,
        "email=email name=firstname last_name=lastname referrals_count=referralCount",
        "Company",
    ),
    "kickofflabs": (
        ImportSource.KICKOFFLABS,
        "email=email name=name code=social_id link=social_url referrer=parent_id own_id=id "
        "referrals_count=referrals rejected=fraudulent created_at=when unsubscribed=opted_out "
        "utm_source=utm_source ip_address=ip",
        "verified_leads",
    ),
    "growsurf": (
        ImportSource.GROWSURF,
        "email=email name=firstName last_name=lastName code=id link=shareUrl referrer=referredBy "
        "own_id=id referrals_count=referralCount referral_status=referralStatus "
        "created_at=createdAt ip_address=ipAddress",
        "metadata notes",
    ),
    "beehiiv": (
        ImportSource.BEEHIIV,
        "email=email name=First_Name last_name=Last_Name code=referral_code created_at=created_at "
        "status=status unsubscribed=unsubscribed_at utm_source=utm_source",
        "",
    ),
    "substack": (
        ImportSource.SUBSTACK,
        "email=email created_at=created_at unsubscribed=email_disabled",
        "",
    ),
    "substack_paid": (ImportSource.SUBSTACK, "email=email unsubscribed=email_disabled", ""),
    "ghost": (
        ImportSource.GHOST,
        "email=email name=name created_at=created_at subscribed=subscribed_to_emails tags=labels",
        "note",
    ),
    "mailchimp": (
        ImportSource.MAILCHIMP,
        "email=Email_Address name=First_Name last_name=Last_Name created_at=CONFIRM_TIME "
        "unsubscribed=UNSUB_TIME tags=TAGS ip_address=OPTIN_IP",
        "UNSUB_REASON NOTES",
    ),
    "kit": (
        ImportSource.KIT,
        "email=email_address name=first_name created_at=created_at status=state "
        "utm_source=utm_source utm_campaign=utm_campaign tags=tags",
        "",
    ),
    "honeyguide": (
        ImportSource.HONEYGUIDE,
        "email=email name=name ref_code=ref_code codes=codes link=referral_link "
        "referrer_code=referrer_code referrals_count=referrals_verified "
        "referral_status=referral_status adjustments=adjustments created_at=created_at "
        "status=status utm_source=utm_source utm_campaign=utm_campaign tags=tags "
        "ip_address=ip_address",
        "",
    ),
    "any": (
        ImportSource.ANY,
        "email=Mail name=Full_name link=Invite_link referrer=Invited_by created_at=Joined",
        "",
    ),
}
DATES = {
    "sparkloop": DateOrder.DAY_FIRST,
    "referralhero": DateOrder.DAY_FIRST,
    "any": DateOrder.UNCLEAR,
}


def columns_of(text: str, *people: str) -> dict[str, str]:
    """The fields of a small file, with the names of their columns."""
    header, lines = import_files.read("\n".join([text, *people]).encode())
    found = sources.columns(sources.recognize(header, lines), header, lines)
    return {field: header[place] for field, place in found.items()}


def test_there_is_a_file_for_every_source() -> None:
    assert {path.stem for path in FIXTURES.glob("*.csv")} == set(EXPECTED)
    assert {source for source, _, _ in EXPECTED.values()} == set(ImportSource)


@pytest.mark.parametrize("name", EXPECTED)
def test_each_file_is_recognized_and_its_columns_are_read(name: str) -> None:
    header, lines = fixture(name)
    source, fields, notes = EXPECTED[name]
    assert sources.recognize(header, lines) is source
    mapping = sources.columns(source, header, lines)
    found = {field: header[place].replace(" ", "_") for field, place in mapping.items()}
    assert found == dict(pair.split("=") for pair in fields.split())
    kept = [
        header[place].replace(" ", "_") for place in sources.note_places(source, header, mapping)
    ]
    assert kept == notes.split()
    order = sources.dates(source, lines, mapping.get("created_at"))
    assert order is DATES.get(name, DateOrder.ISO)


@pytest.mark.parametrize("name", EXPECTED)
def test_every_column_says_what_becomes_of_it(name: str) -> None:
    header, lines = fixture(name)
    source = EXPECTED[name][0]
    mapping = sources.columns(source, header, lines)
    uses = sources.uses(source, header, mapping)
    assert [use.name for use in uses] == header
    for place, use in enumerate(uses):
        assert (use.fate is Fate.USED) == (place in mapping.values()) and use.text
    unknown = [use.name for use in uses if use.text == UNKNOWN]
    assert unknown == {"kit": ["Shirt size"], "rh_list": ["FAVCOLOR"]}.get(
        name, ["Favorite color"] if name == "any" else []
    )


@pytest.mark.parametrize("name", EXPECTED)
def test_the_order_of_columns_and_their_case_change_nothing(name: str) -> None:
    header, lines = fixture(name)
    turned = [column.swapcase() for column in reversed(header)]
    width = len(header)
    people = [
        ImportLine(line.number, (line.cells + [""] * (width - len(line.cells)))[::-1])
        for line in lines
    ]
    source = sources.recognize(turned, people)
    assert source is EXPECTED[name][0]
    mapping = sources.columns(source, header, lines)
    assert sources.columns(source, turned, people) == {
        field: width - 1 - place for field, place in mapping.items()
    }


def test_our_own_export_is_recognized_and_nothing_in_it_is_unknown() -> None:
    header = list(COLUMNS)
    line = ImportLine(2, ["ann@example.org" if name == "email" else "1" for name in header])
    assert sources.recognize(header, [line]) is ImportSource.HONEYGUIDE
    mapping = sources.columns(ImportSource.HONEYGUIDE, header, [line])
    assert UNKNOWN not in [
        use.text for use in sources.uses(ImportSource.HONEYGUIDE, header, mapping)
    ]


def test_the_incumbents_fields_join_any_platforms_columns() -> None:
    kit = columns_of(
        "email_address,first_name,state,created_at,referrer,RH_CODE,RH_TOTREF",
        "ann@example.org,Ann,cancelled,2023-01-27T11:43:55Z,https://t.co/x,anna7f3c,7",
    )
    assert kit["status"] == "state" and kit["code"] == "RH_CODE" and "referrer" not in kit
    ghost = columns_of(
        "email,subscribed_to_emails,note,RH_CODE", "ann@example.org,false,hello,anna7f3c"
    )
    assert ghost["subscribed"] == "subscribed_to_emails" and ghost["code"] == "RH_CODE"


def test_fields_of_the_incumbent_that_are_empty_say_nothing() -> None:
    header, lines = import_files.read(
        b"email,subscribed_to_emails,RH_CODE,RH_TOTREF\nann@example.org,true,,\n"
    )
    assert sources.recognize(header, lines) is ImportSource.GHOST
    only_ever = columns_of("email,RH_CODE,RH_TOTREF,RH_GLOBREF", "ann@example.org,anna7f3c,,12")
    assert only_ever["referrals_count"] == "RH_GLOBREF"


def test_of_two_columns_that_mean_the_same_the_filled_one_is_used() -> None:
    header, lines = import_files.read(
        b"Email,Email Address,Created,Date added\n,ann@example.org,,2023-01-01\n"
    )
    mapping = sources.columns(ImportSource.ANY, header, lines)
    assert mapping == {"email": 1, "created_at": 3}
    first = sources.uses(ImportSource.ANY, header, mapping)[0]
    assert first == ("Email", Fate.IGNORED, "“Email Address” is used instead.")


def test_who_left_by_one_of_two_columns_has_left() -> None:
    found = columns_of(
        "email,unsubscribed_at,cleaned", "ann@example.org,2024-01-01,", "ben@example.org,,yes"
    )
    assert found == {"email": "email", "unsubscribed": "cleaned", "bounced": "unsubscribed_at"}


def test_a_state_is_a_status_only_if_it_looks_like_one() -> None:
    assert "status" not in columns_of("email,state", "ann@example.org,Ohio", "b@example.org,NY")
    people = ["a@example.org,active", "b@example.org,cancelled", "c@example.org,mystery"]
    assert columns_of("email,state", *people)["status"] == "state"


def test_a_referrers_code_that_is_an_address_is_a_referrer() -> None:
    found = columns_of("email,referrer_code", "ann@example.org,ben@example.org")
    assert found == {"email": "email", "referrer": "referrer_code"}
    both = columns_of("email,referrer_code,referred by", "ann@example.org,b7,ben@example.org")
    assert both["referrer_code"] == "referrer_code" and both["referrer"] == "referred by"


@pytest.mark.parametrize("name", ["Referrer’s code", "referred by code", "Referrer code"])
def test_a_referrers_code_is_found_as_people_and_we_call_it(name: str) -> None:
    assert columns_of(f"email,{name}", "ann@example.org,b7x9k2mp")["referrer_code"] == name


def test_dates_that_a_source_writes_day_first_are_not_asked_unless_the_lines_say_otherwise() -> (
    None
):
    unclear = [ImportLine(2, ["03/04/2023"])]
    assert sources.dates(ImportSource.SPARKLOOP, unclear, 0) is DateOrder.DAY_FIRST
    assert sources.dates(ImportSource.ANY, unclear, 0) is DateOrder.UNCLEAR
    american = [*unclear, ImportLine(3, ["03/24/2023"])]
    assert sources.dates(ImportSource.SPARKLOOP, american, 0) is DateOrder.MONTH_FIRST


def test_the_tables_are_consistent() -> None:
    assert set(source_columns.ANY) == set(FIELDS), "every field can be found, and has a label"
    for source in ImportSource:
        names = [name for names in source.facts.fields.values() for name in names]
        others = [
            *source.facts.notes,
            *(n for names in source.facts.ignored.values() for n in names),
        ]
        assert set(source.facts.fields) <= set(FIELDS)
        assert all(plain(name) == name for name in [*names, *others]), source
        assert len(others) == len(set(others)), source


@given(st.lists(st.text(max_size=12), max_size=8), st.lists(st.text(max_size=8), max_size=8))
def test_any_header_has_a_source_and_a_fate_for_every_column(
    header: list[str], cells: list[str]
) -> None:
    lines = [ImportLine(2, cells)]
    source = sources.recognize(header, lines)
    mapping = sources.columns(source, header, lines)
    assert all(place < len(header) for place in mapping.values())
    assert len(sources.uses(source, header, mapping)) == len(header)


def test_fixtures_have_no_real_people() -> None:
    for path in Path(FIXTURES).glob("*.csv"):
        _, lines = fixture(path.stem)
        addresses = [cell for line in lines for cell in line.cells if "@" in cell]
        assert addresses and all(each.lower().endswith("@example.org") for each in addresses)


@pytest.mark.parametrize("source", ImportSource)
def test_the_parameter_of_every_tool_is_read_without_being_asked_for(source: ImportSource) -> None:
    for form in source.facts.links:
        if form.startswith("?"):
            assert link_parameters.is_read(form[1:].partition("=")[0], ()), form

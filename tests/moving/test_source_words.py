"""What other tools write: statuses, links, names of files; and Mailchimp's archive."""

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import archives, source_words, sources, uploaded_files
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.sources import ImportSource
from tests.support.moving_files import fixture

CODES = {
    "rh_list": ["james23b", "anna7f3c", "JAMES23B", None],
    "kickofflabs": ["K3zz", "K1xx", "K2yy"],
    "growsurf": ["a3cccc", "a1aaaa", "b2bbbb"],
    "honeyguide": ["k8w2mp4q", "h7d3nx9t", "m2w6rz8c"],
    "any": ["ann-a", "ben_b"],
}
LEAVERS = {
    "rh_list": ["cy@example.org"],
    "kickofflabs": ["ben@example.org"],
    "beehiiv": ["ben@example.org"],
    "substack": ["ben@example.org"],
    "substack_paid": ["ben@example.org"],
    "ghost": ["ben@example.org"],
    "mailchimp": ["ben@example.org"],
    "kit": ["ben@example.org", "cy@example.org"],
    "honeyguide": ["cy@example.org"],
    "sparkloop": [],
}
REFERRALS = {
    "rh_list": ["verified", None, "rejected", None],
    "kickofflabs": ["rejected", None, None],
    "growsurf": ["pending", None, "verified"],
    "honeyguide": ["verified", None, "pending"],
}
LINKS = {
    "https://sparklp.co/anna7f3c": "anna7f3c",
    "sparklp.co/anna7f3c": "anna7f3c",
    "https://news.example.org/anna7f3c/": "anna7f3c",
    "https://example.org/join?utm_source=x&rh_ref=anna7f3c": "anna7f3c",
    "https://example.org/join?RH_REF=anna7f3c#top": "anna7f3c",
    "https://example.org?grsf=a1": "a1",
    "https://example.org/?kid=K1": "K1",
    "https://example.org/?mwr=ann-9a99": "ann-9a99",
    "https://example.org/?referralCode=aNeI67A&refSource=copy": "aNeI67A",
    "https://refer.example.org/r/h7d3nx9t": "h7d3nx9t",
    "anna7f3c": "anna7f3c",
    "https://example.org/?ref=&kid=K1": "K1",
    "https://example.org/": None,
    "https://example.org": None,
    "": None,
    "https://[broken/anna7f3c": None,
    "https://example.org/caf%C3%A9": None,
    "https://example.org/" + "x" * 65: None,
}


def read(name: str) -> tuple[ImportSource, dict[str, int], list[ImportLine]]:
    header, lines = fixture(name)
    source = sources.recognize(header, lines)
    return source, sources.columns(source, header, lines), lines


@pytest.mark.parametrize(("link", "code"), LINKS.items())
def test_the_code_in_a_link_is_found(link: str, code: str | None) -> None:
    assert source_words.code_of_link(link) == code


@pytest.mark.parametrize("name", CODES)
def test_code_and_link_of_everyone_agree_in_every_form(name: str) -> None:
    source, mapping, lines = read(name)
    assert len(lines) == len(CODES[name])
    for line, expected in zip(lines, CODES[name], strict=True):
        link = source_words.cell(line.cells, mapping, "link")
        assert (source_words.code_of_link(link) if link else None) == expected
        if field := next((each for each in ("code", "ref_code") if each in mapping), None):
            assert source_words.cell(line.cells, mapping, field) == expected
        for form in source.facts.links if expected else ():
            old = form.format(code=expected)
            old = old if "//" in old else f"https://example.org{old}"
            assert source_words.code_of_link(old) == expected


@given(st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True), st.sampled_from(list(ImportSource)))
def test_any_code_is_found_in_every_form_of_every_source(code: str, source: ImportSource) -> None:
    for form in source.facts.links:
        old = form.format(code=code)
        old = old if "//" in old else f"https://news.example.org{old}"
        assert source_words.code_of_link(old) == code


@given(st.text(max_size=60))
def test_any_text_has_a_code_or_none(text: str) -> None:
    source_words.code_of_link(text)
    source_words.code_of_link(f"https://example.org/{text}")


@pytest.mark.parametrize("name", LEAVERS)
def test_whoever_left_there_has_left_here(name: str) -> None:
    _, mapping, lines = read(name)
    left = [
        line.cells[mapping["email"]]
        for line in lines
        if source_words.status(line.cells, mapping) == "unsubscribed"
    ]
    assert left == LEAVERS[name]


def test_a_second_column_says_that_they_left() -> None:
    mapping = {"email": 0, "unsubscribed": 1, "bounced": 2}
    assert source_words.status(["ann@example.org", "", "yes"], mapping) == "unsubscribed"
    assert source_words.status(["ann@example.org", "2024-01-01", ""], mapping) == "unsubscribed"
    assert source_words.status(["ann@example.org", "", "no"], mapping) == "active"


@pytest.mark.parametrize("name", REFERRALS)
def test_the_status_of_referrals_is_understood(name: str) -> None:
    _, mapping, lines = read(name)
    found = [source_words.referral_status(line.cells, mapping) for line in lines]
    assert found == REFERRALS[name]


def test_an_unknown_status_of_a_referral_is_not_guessed() -> None:
    with pytest.raises(Invalid, match="The referral status “Maybe” is unknown"):
        source_words.referral_status(["Maybe"], {"referral_status": 0})


def packed(files: dict[str, str]) -> list[archives.ArchivedFile]:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return archives.open_archive(stream.getvalue())


def test_mailchimps_archive_is_one_list_in_which_leavers_have_left() -> None:
    header = "Email Address,First Name,MEMBER_RATING,CONFIRM_TIME,LEID,EUID"
    person = "{0}@example.org,{0},2,2023-01-01 00:00:00,1,e"
    names = {
        "subscribed_email_audience_export_1a2b.csv": (header, person.format("ann")),
        "unsubscribed_email_audience_export_1a2b.csv": (
            f"{header},UNSUB_TIME",
            person.format("ben") + ",",
        ),
        "list/cleaned_members_export_1a2b.csv": (
            f"CLEAN_TIME,{header}",
            "," + person.format("cy"),
        ),
        "nonsubscribed_email_audience_export_1a2b.csv": (header, person.format("dee")),
    }
    columns, lines = uploaded_files.read_archive(
        packed({n: "\n".join(f) for n, f in names.items()})
    )
    source = sources.recognize(columns, lines)
    mapping = sources.columns(source, columns, lines)
    assert source is ImportSource.MAILCHIMP
    people = {
        line.cells[mapping["email"]]: source_words.status(line.cells, mapping) for line in lines
    }
    assert people == {
        "ann@example.org": "active",
        "ben@example.org": "unsubscribed",
        "cy@example.org": "unsubscribed",
        "dee@example.org": "unsubscribed",
    }
    assert [line.number for line in lines] == [2, 4, 6, 8]
    assert {len(line.cells) for line in lines} == {len(columns)}
    fates = {use.name: use.text for use in sources.uses(source, columns, mapping)}
    assert fates["file in the archive"] == "It says which file of the archive the line is from."


def test_a_column_that_is_there_twice_stays_two_columns() -> None:
    columns, lines = uploaded_files.read_archive(
        packed({"a.csv": "email,x,x\nann@example.org,1,2"})
    )
    assert columns[:3] == ["email", "x", "x"] and lines[0].cells[:3] == [
        "ann@example.org",
        "1",
        "2",
    ]


def test_an_archive_with_other_tables_is_refused() -> None:
    posts = {"email_list.csv": "email\nann@example.org", "posts.csv": "post_id,title\n1,Hello"}
    with pytest.raises(Invalid, match=r"posts\.csv has no email addresses"):
        uploaded_files.read_archive(packed(posts))
    wide = {f"{n}.csv": f"email,{','.join(f'x{n}_{m}' for m in range(150))}\n" for n in range(2)}
    with pytest.raises(Invalid, match="more than 198 columns"):
        uploaded_files.read_archive(packed(wide))


@pytest.mark.parametrize(
    ("name", "status"),
    [("people.csv", None), ("subscribed.csv", None), ("Cleaned_x.csv", "unsubscribed")],
)
def test_other_names_of_files_say_nothing(name: str, status: str | None) -> None:
    assert source_words.status_of_file(name) == status

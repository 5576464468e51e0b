"""The way back: an export in the form that SparkLoop imports comes back through our own import."""

import csv
import io

from honeyguide.moving import exporting
from honeyguide.moving.export_formats import ExportFormat
from honeyguide.moving.sources import ImportSource
from honeyguide.subscribers.subscriber_filters import of_show
from tests.support.changes import SITE
from tests.support.imported import Program
from tests.support.readings import reads
from tests.support.web import Operator


def exported(program: Program, form: ExportFormat) -> str:
    rows, _ = program.opened.run(
        program.opened.store.slow_snapshot(
            reads(exporting.batch, program.tenant), of_show("all"), after=None
        )
    )
    return form.header + form.text(SITE, rows)


FILE = (
    "email,name,created_at,ip_address,referrer,referral_status,utm_source,status\n"
    "ann@example.org,=Ann,2024-03-11T10:02:00Z,192.0.2.7,,,twitter,\n"
    "ben@example.org,Ben,2024-12-01T23:59:00Z,,ann@example.org,verified,,\n"
    "cy@example.org,Cy,2024-01-02T00:00:00Z,,ann@example.org,rejected,,\n"
    "dee@example.org,Dee,2024-01-02T00:00:00Z,,ann@example.org,verified,,unsubscribed\n"
)


def test_an_export_for_sparkloop_comes_back_through_our_import(program: Program) -> None:
    program.bring(FILE)
    text = exported(program, ExportFormat.SPARKLOOP)
    lines = list(csv.reader(io.StringIO(text)))
    assert lines[0] == [
        "Email",
        "Name",
        "Registration Date",
        "IP Address",
        "Referrer",
        "Source",
    ]
    assert sorted(lines[1:]) == [
        ["ann@example.org", "'=Ann", "11/03/2024 10:02", "192.0.2.7", "", "twitter"],
        ["ben@example.org", "Ben", "01/12/2024 23:59", "", "ann@example.org", ""],
        ["cy@example.org", "Cy", "02/01/2024 00:00", "", "", ""],
    ], "without those who left, and without rejected referrals"
    other = Program(program.opened, "bob@example.net")
    kept = other.bring(text)
    assert kept.tool is ImportSource.SPARKLOOP
    assert (kept.added, kept.failed, other.findings(kept)) == (3, 0, [])
    assert other.referrers() == {"ben@example.org": "ann@example.org"}
    for email in ("ann@example.org", "ben@example.org", "cy@example.org"):
        then, now = program.get(email), other.get(email)
        kept_fields = ("email", "name", "created_ms", "ip_address", "utm_source")
        assert [getattr(now, name) for name in kept_fields] == [
            getattr(then, name) for name in kept_fields
        ]
    assert exported(other, ExportFormat.SPARKLOOP) == text, "and goes out as it came"


def test_the_dashboard_exports_both_forms(alice: Operator) -> None:
    alice.subscribe("ann@example.org", name="Ann")
    whole = alice.web.get("/subscribers/export.csv").text
    assert whole.startswith(",".join(exporting.COLUMNS))
    theirs = alice.web.get("/subscribers/export.csv?format=sparkloop").text
    assert theirs.startswith("Email,Name,Registration Date,") and "ann@example.org,Ann," in theirs
    refused = alice.web.http.get("/subscribers/export.csv?format=odd")
    assert refused.status_code == 400

"""The addresses of imports, from files and from APIs, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard.login.recent_login import gives
from honeyguide.pages.dashboard.page_route import get, get_recent, post, post_recent
from honeyguide.pages.dashboard.people import certificates, import_api, import_documents, imports
from honeyguide.pages.dashboard.route_rights import SEE, SUBSCRIBERS
from honeyguide.pages.handlers import Uses

READS, SERVICES = Uses.READS, Uses.SERVICES

# `api`, `certificates` and `documents` come before `{id}`.
IMPORTS = (
    get("/subscribers/import", SEE, READS, imports.upload_form),
    post("/subscribers/import", SUBSCRIBERS, SERVICES, imports.upload, imports.upload_form),
    # It asks for a key, which is not to be carried through the page that asks who it is.
    get_recent("/subscribers/import/api", SEE, READS, import_api.form),
    post_recent(
        "/subscribers/import/api",
        SUBSCRIBERS,
        SERVICES,
        import_api.begin,
        import_api.form,
        import_api.SERVICE,
    ),
    get("/subscribers/import/api/{id}", SEE, READS, import_api.show),
    post_recent(
        "/subscribers/import/api/{id}",
        SUBSCRIBERS,
        SERVICES,
        import_api.go_on,
        import_api.show,
        import_api.KEY,
        proof_for=gives("key"),
    ),
    get("/subscribers/import/certificates/{id}", SEE, READS, certificates.show),
    get("/subscribers/import/certificates/{id}/certificate.json", SEE, READS, certificates.file),
    get("/subscribers/import/documents", SEE, READS, import_documents.show_all),
    get("/subscribers/import/documents/{id}", SEE, READS, import_documents.show),
    get("/subscribers/import/{id}", SEE, READS, imports.show),
    post("/subscribers/import/{id}", SUBSCRIBERS, SERVICES, imports.go_on, imports.show),
    get_recent("/subscribers/import/{id}/errors.csv", SEE, READS, imports.error_file),
)

"""The addresses of imports, from files and from APIs, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard import certificates, import_api, import_documents, imports
from honeyguide.pages.dashboard.page_route import get, post
from honeyguide.pages.handlers import Uses

READS, SERVICES = Uses.READS, Uses.SERVICES

# `api`, `certificates` and `documents` come before `{id}`.
IMPORTS = (
    get("/subscribers/import", READS, imports.upload_form),
    post("/subscribers/import", SERVICES, imports.upload, imports.upload_form),
    get("/subscribers/import/api", READS, import_api.form),
    post(
        "/subscribers/import/api", SERVICES, import_api.begin, import_api.form, import_api.SERVICE
    ),
    get("/subscribers/import/api/{id}", READS, import_api.show),
    post(
        "/subscribers/import/api/{id}",
        SERVICES,
        import_api.go_on,
        import_api.show,
        import_api.KEY,
    ),
    get("/subscribers/import/certificates/{id}", READS, certificates.show),
    get("/subscribers/import/certificates/{id}/certificate.json", READS, certificates.file),
    get("/subscribers/import/documents", READS, import_documents.show_all),
    get("/subscribers/import/documents/{id}", READS, import_documents.show),
    get("/subscribers/import/{id}", READS, imports.show),
    post("/subscribers/import/{id}", SERVICES, imports.go_on, imports.show),
    get("/subscribers/import/{id}/errors.csv", READS, imports.error_file),
)

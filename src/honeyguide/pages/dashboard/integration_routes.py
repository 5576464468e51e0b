"""Every address of the integrations page, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard import integrations
from honeyguide.pages.dashboard.page_route import PageRoute
from honeyguide.pages.handlers import Uses

READS, SERVICES = Uses.READS, Uses.SERVICES

INTEGRATION_PAGES = (
    PageRoute("GET", "/integrations", READS, integrations.show),
    PageRoute("POST", "/integrations", SERVICES, integrations.act),
    PageRoute("GET", "/integrations/fields", READS, integrations.fields_form),
    PageRoute(
        "POST",
        "/integrations/fields",
        SERVICES,
        integrations.save_fields,
        form=integrations.fields_form,
        fields=integrations.FIELD_NAMES,
    ),
    PageRoute("GET", "/integrations/{platform}", READS, integrations.connect_form),
    PageRoute(
        "POST",
        "/integrations/{platform}",
        SERVICES,
        integrations.connect,
        form=integrations.connect_form,
    ),
)

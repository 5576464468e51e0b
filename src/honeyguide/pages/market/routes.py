"""Every address of the partners' and the administrator's half, one row each, for the dashboard's table."""

from __future__ import annotations

from honeyguide.pages import rendering
from honeyguide.pages.dashboard.page_request import Handler
from honeyguide.pages.market import administration, clock, earnings, network, notices, offering, payouts, program, publications
from honeyguide.pages.market.labels import label

rendering.add_filters(label=label)

# Method, address, handler.
ROWS: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/publications", publications.show),
    ("GET", "/publications/new", publications.new_form),
    ("POST", "/publications/new", publications.create),
    ("POST", "/publications/preview/card", publications.sketch_card),
    ("POST", "/publications/preview/page", publications.sketch_page),
    ("GET", "/publications/{id}", publications.edit_form),
    ("POST", "/publications/{id}", publications.edit),
    ("POST", "/publications/{id}/delete", publications.delete),
    ("GET", "/program", program.index),
    ("GET", "/program/new", offering.new_form),
    ("POST", "/program/new", offering.create),
    ("POST", "/program/preview/card", offering.sketch_card),
    ("POST", "/program/preview/cost", offering.sketch_cost),
    ("GET", "/program/{id}", program.show),
    ("GET", "/program/{id}/change", offering.edit_form),
    ("POST", "/program/{id}/change", offering.edit),
    ("POST", "/program/{id}/act", program.act),
    ("GET", "/network", network.show),
    ("GET", "/network/{id}", network.one),
    ("POST", "/network/{id}/join", network.join),
    ("GET", "/earnings", earnings.show),
    ("GET", "/earnings/{id}", earnings.one),
    ("GET", "/payouts", payouts.show),
    ("GET", "/statements/{side}/{month}.csv", payouts.statement_csv),
    ("GET", "/statements/{side}/{month}", payouts.statement),
    ("GET", "/notices", notices.show),
    ("GET", "/administration", administration.show),
    ("GET", "/administration/proof", administration.prove),
    ("GET", "/administration/payouts.csv", administration.export),
    ("POST", "/administration/payouts", administration.mark),
    ("POST", "/clock", clock.move),
)

"""The addresses of Partners: programs, publications and payouts, one row each."""

from __future__ import annotations

from honeyguide.pages.dashboard.page_route import (
    MONEY,
    PARTNERS,
    READS,
    SEE,
    SERVICES,
    WRITES,
    get,
    get_recent,
    post,
    post_recent,
)
from honeyguide.pages.dashboard.partners import (
    partners,
    payouts,
    program,
    program_form,
    publications,
    reversals,
)

PARTNERS_PAGES = (
    get("/publications", SEE, READS, publications.show),
    get("/publications/new", SEE, READS, publications.new_form),
    post("/publications/new", PARTNERS, SERVICES, publications.create, publications.new_form, publications.FORM.fields),
    post("/publications/preview/card", SEE, READS, publications.preview_card),
    post("/publications/preview/page", SEE, READS, publications.preview_page),
    get("/publications/{id}", SEE, READS, publications.edit_form),
    post("/publications/{id}", PARTNERS, SERVICES, publications.edit, publications.edit_form, publications.FORM.fields),
    post("/publications/{id}/delete", PARTNERS, WRITES, publications.delete),
    get("/program", SEE, READS, program.index),
    get("/program/new", SEE, READS, program_form.new_form),
    post("/program/new", PARTNERS, WRITES, program_form.create, program_form.new_form, program_form.FORM.fields),
    post("/program/preview/card", SEE, READS, program_form.preview_card),
    post("/program/preview/cost", SEE, SERVICES, program_form.preview_cost),
    get("/program/{id}", SEE, READS, program.show),
    get("/program/{id}/change", SEE, READS, program_form.edit_form),
    post("/program/{id}/change", PARTNERS, WRITES, program_form.edit, program_form.edit_form, program_form.FORM.fields),
    post("/program/{id}/act", PARTNERS, WRITES, program.apply_button),
    post("/program/{id}/verification", PARTNERS, WRITES, program.choose_verification),
    get("/program/{id}/reversal", SEE, READS, reversals.show),
    post_recent("/program/{id}/reversal", MONEY, WRITES, reversals.reverse, reversals.show, reversals.FORM),
    get("/program/partners/{id}", SEE, READS, partners.show),
    post("/program/partners/{id}/remove", PARTNERS, WRITES, partners.remove, partners.show, partners.FIELDS),
    post("/program/partners/{id}/allow", PARTNERS, WRITES, partners.allow, partners.show),
    get("/payouts", SEE, READS, payouts.show),
    get_recent("/statements/{side}/{month}.csv", SEE, SERVICES, payouts.statement_csv),
    get("/statements/{side}/{month}", SEE, READS, payouts.statement),
)

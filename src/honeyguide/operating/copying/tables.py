"""Which tables `honeyguide copy` copies, and what of them. Every table has a rule here; the columns
are read from the two databases.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.errors import Invalid
from honeyguide.operating.backups.credentials import DROPPED
from honeyguide.store.table_rows import TableRows, TableShape


class CopyRule(NamedTuple):
    table: str
    # Why it is not copied.
    stays_because: str = ""
    # Columns that only one engine has.
    of_one_engine: frozenset[str] = frozenset()
    # Columns that are empty in the copy, as the table's own default has them.
    emptied: frozenset[str] = frozenset()
    # If the engines have different keys: what both can tell rows apart by, and what is added up.
    key: tuple[str, ...] = ()
    summed: tuple[str, ...] = ()


_WHOLE = """
account adjustment adoption_value advocate api_key attempt attempt_count backup budget campaign
campaign_brand campaign_day certificate change_log charge claim click click_day click_source
code_look cohort_change cohort_count cohort_state confirmation_brake consent consent_text coupon
delayed_action delivery disconnected_integration earlier_person_key email_stop embed erasure event
evidence failing_loop fetched_person first_look first_look_month flooded_account form_code
idempotency import import_error import_finding import_own_id import_part installation_key instance
integration integration_event integration_subscriber job_failure job_lease letter link_host
link_request listing listing_run login_user logo mail_host mail_host_default member month_digest
moved_document newsletter_block notice notification_choice partner_block partner_campaign
partner_referral partner_spend payout period person_rekeying program program_day program_figures
program_look publication recovery_code referral_decision saved_filter screening_entry
second_factor slack_message slack_webhook slug subscriber subscriber_change subscriber_code
subscriber_note subscriber_tag term_change trait_group trait_group_partner transfer used_form
webhook won_reward
"""
RULES = (
    *(CopyRule(table) for table in _WHOLE.split()),
    # PostgreSQL notes each change of a count in a row of its own, SQLite adds them up.
    CopyRule(
        "count_note",
        of_one_engine=frozenset({"seq"}),
        key=("owner_id", "created_ms", "subscriber_id"),
        summed=(
            "n_all",
            "n_referrals",
            "n_advocates",
            "n_brought",
            "verified",
            "pending",
            "rejected",
        ),
    ),
    # A transaction of the old server, which means nothing to another one.
    CopyRule("reward", of_one_engine=frozenset({"walk_after"})),
    # They would let somebody in twice: here, and in the database that is left behind.
    *(
        CopyRule(each.table, emptied=frozenset(each.columns))
        if each.is_part_of_row
        else CopyRule(each.table, stays_because="its links and tokens would work twice")
        for each in DROPPED
    ),
    CopyRule("schema_migration", stays_because="each database records its own migrations"),
    CopyRule("rate_key", stays_because="the rate limit counts a minute; SQLite has it in memory"),
    CopyRule("rate_slot", stays_because="the rate limit counts a minute; SQLite has it in memory"),
)
_RULES = {rule.table: rule for rule in RULES}


def plan(source: dict[str, TableShape], target: dict[str, TableShape]) -> list[TableRows]:
    """What to copy of the tables of this version, which the target has."""
    rules = [_RULES[table] for table in sorted(target)]
    return [
        _rows(rule, source.get(rule.table), target[rule.table])
        for rule in rules
        if not rule.stays_because
    ]


def others(source: dict[str, TableShape]) -> list[str]:
    """Tables that somebody else made in our database, as tools for replication do."""
    return sorted(source.keys() - _RULES.keys())


def _rows(rule: CopyRule, source: TableShape | None, target: TableShape) -> TableRows:
    unlike = set(source.columns if source else ()) ^ set(target.columns)
    if source is None or unlike - rule.of_one_engine:
        raise Invalid(
            "The table {table} is not as this version makes it: {columns}. It was changed by hand.",
            table=rule.table,
            columns=", ".join(sorted(unlike)),
        )
    # Also between two databases of one engine: the rule is the same for all. By name, because the
    # engines have some columns in another order, and digests of any two databases should compare.
    columns = tuple(sorted(set(target.columns) - rule.of_one_engine - rule.emptied))
    return TableRows(rule.table, columns, rule.key or target.key, rule.summed)

"""Partner programs and their money. Every account has a program with ten partners; the large
account's has a tenth of all accounts as partners, and the large account has joined one program in a
hundred. A tenth of each account's subscribers came from a partner, and most of them are charged in
the month they joined. All months before the last one are closed and paid out.
"""

from __future__ import annotations

from bench.scale.expressions import Expressions
from honeyguide.kernel.clock import DAY_MS
from honeyguide.partners import rules

FEE_CENTS = 300
LISTED_ONE_IN = 10

# `k` is the number of a partner in its program, and `joined_n` that of the partner campaign.
PROGRAMS = """
INSERT INTO logo (id, account_id, content_type, created_ms)
    SELECT {logo}, {account}, 'image/png', {now} FROM {accounts};
INSERT INTO publication (id, account_id, name, categories, logo_id, enabled_partner_program,
    audience_gender, income_levels, age_ranges, search_text, created_ms)
    SELECT {publication}, {account}, 'Newsletter ' || account_n, '["lifestyle"]', {logo}, 1,
    'mixed', '["$150k+"]', '["25 - 39"]', 'newsletter ' || account_n || ' lifestyle', {now}
    FROM {accounts};
INSERT INTO program (id, account_id, publication_id, redirect_url, show_in_directory,
    max_payout_cents, total_budget_cents, cpa_cents, created_ms)
    SELECT {program}, {account}, {publication}, 'https://example.org/',
    CASE WHEN account_n % {listed_one_in} = 0 THEN 1 ELSE 0 END, 10000000, 100000000, {fee},
    {now} FROM {accounts};
INSERT INTO partner_campaign (id, account_id, owner_account_id, program_id, ref_code, created_ms)
    SELECT {joined}, {partner}, {account}, {program}, 'p' || {joined_padded}, {now} FROM (
        SELECT account_n, k, account_n * 1000 + k AS joined_n, CASE
            WHEN account_n = 0 THEN k + 2
            WHEN k = 0 AND account_n % 100 = 0 THEN 0
            ELSE (account_n + k + 1) % {accounts_n} END AS partner_n
        FROM (SELECT a.account_n, p.n AS k FROM {accounts} CROSS JOIN {partners}
            WHERE p.n < 10 OR a.account_n = 0) AS pairs
    ) AS numbered;
"""

# The last twelve characters of a subscriber's id are its number.
MONEY = """
INSERT INTO partner_referral (id, account_id, partner_account_id, program_id, partner_campaign_id,
    subscriber_id, person_key, fee_cents, arrived_ms, decided_ms, charged_cents, charged_month)
    SELECT '00000005-0000-7000-8000-' || substr(s.id, 25), s.account_id, j.account_id, j.program_id,
    j.id, s.id, s.person_key, {fee}, s.created_ms,
    CASE s.referral_status WHEN 'verified' THEN s.created_ms END,
    CASE s.referral_status WHEN 'verified' THEN {fee} END,
    CASE s.referral_status WHEN 'verified' THEN {month} END
    FROM subscriber AS s JOIN partner_campaign AS j ON j.id = s.partner_campaign_id;
INSERT INTO charge (id, account_id, partner_account_id, program_id, partner_campaign_id,
    partner_referral_id, person_key, person_step, month, fee_cents, budget_step,
    budget_spent_cents, budget_cap_cents, partner_step, partner_spent_cents, partner_cap_cents,
    created_ms)
    SELECT '00000006-0000-7000-8000-' || substr(id, 25), account_id, partner_account_id, program_id,
    partner_campaign_id, id, person_key, 1, charged_month, {fee},
    budget_step, {fee} * budget_step, 100000000, partner_step, {fee} * partner_step, 10000000,
    decided_ms FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY program_id, charged_month ORDER BY id)
        AS budget_step,
        ROW_NUMBER() OVER (PARTITION BY partner_campaign_id, charged_month ORDER BY id)
        AS partner_step
        FROM partner_referral WHERE charged_cents IS NOT NULL
    ) AS charged;
INSERT INTO transfer (id, kind, reference, debit, credit, amount_cents, month, created_ms)
    SELECT id, 'charge', 'charge:' || id, 'program:' || program_id || ':receivable',
    'partner:' || partner_account_id || ':payable', fee_cents, month, created_ms FROM charge;
INSERT INTO budget (program_id, month, account_id, spent_cents)
    SELECT program_id, month, account_id, SUM(fee_cents) FROM charge
    GROUP BY program_id, month, account_id;
INSERT INTO partner_spend (partner_campaign_id, month, program_id, account_id, partner_account_id,
    spent_cents)
    SELECT partner_campaign_id, month, program_id, account_id, partner_account_id, SUM(fee_cents)
    FROM charge GROUP BY partner_campaign_id, month, program_id, account_id, partner_account_id;
INSERT INTO program_day (program_id, account_id, day, verified)
    SELECT program_id, account_id, decided_ms / {day_ms}, COUNT(*) FROM partner_referral
    WHERE decided_ms IS NOT NULL GROUP BY program_id, account_id, decided_ms / {day_ms};
INSERT INTO period (month, closed_ms, paid_out_ms, notified_ms)
    SELECT month, CASE WHEN month < '{last_month}' THEN {now} END,
    CASE WHEN month < '{last_month}' THEN {now} END, CASE WHEN month < '{last_month}' THEN {now} END
    FROM (SELECT DISTINCT month FROM charge) AS months;
INSERT INTO payout (id, account_id, month, amount_cents, created_ms)
    SELECT '00000007-0000-7000-8000-' || {place_padded}, account_id, month, cents, {now} FROM (
        SELECT partner_account_id AS account_id, month, SUM(fee_cents) AS cents,
        ROW_NUMBER() OVER (ORDER BY partner_account_id, month) AS place
        FROM charge WHERE month < '{last_month}' GROUP BY partner_account_id, month
    ) AS earned;
INSERT INTO transfer (id, kind, reference, debit, credit, amount_cents, month, created_ms)
    SELECT id, 'payout', 'payout:' || id, 'partner:' || account_id || ':payable', 'payout:clearing',
    amount_cents, '{this_month}', {now} FROM payout;
"""


def partners_of_large(expressions: Expressions) -> int:
    return max(10, min(1000, expressions.sizes.accounts // 10))


def joined_number(expressions: Expressions) -> str:
    """The partner campaign that a subscriber came from, if any, by its account and place."""
    return (
        f"CASE WHEN place % 10 = 3 THEN account_n * 1000 + place / 10 % "
        f"CASE account_n WHEN 0 THEN {partners_of_large(expressions)} ELSE 10 END END"
    )


def programs(expressions: Expressions) -> str:
    def named(prefix: str, number: str) -> str:
        return f"'0000000{prefix}-0000-7000-8000-' || {expressions.padded(number)}"

    numbered = expressions.series(0, expressions.sizes.accounts)
    return PROGRAMS.format(
        account=expressions.account(),
        partner=expressions.account("partner_n"),
        logo=named("1", "account_n"),
        publication=named("2", "account_n"),
        program=named("3", "account_n"),
        joined=named("4", "joined_n"),
        joined_padded=expressions.padded("joined_n"),
        accounts=f"(SELECT n AS account_n FROM {numbered}) AS a",
        accounts_n=expressions.sizes.accounts,
        partners=f"(SELECT n FROM {expressions.series(0, partners_of_large(expressions))}) AS p",
        listed_one_in=LISTED_ONE_IN,
        fee=FEE_CENTS,
        now=expressions.now_ms,
    )


def money(expressions: Expressions) -> str:
    this_month = rules.month_of(expressions.now_ms)
    return MONEY.format(
        month=expressions.month("s.created_ms"),
        this_month=this_month,
        last_month=rules.previous_month(this_month),
        place_padded=expressions.padded("place"),
        day_ms=DAY_MS,
        fee=FEE_CENTS,
        now=expressions.now_ms,
    )

-- fragment: listed
-- The filters are inside a CASE, so that PostgreSQL does not guess that few programs pass and look each of
-- them up by its index. It applies ESCAPE again for every row, so words that nobody searched for are skipped.
FROM program AS p JOIN publication AS b ON b.id = p.publication_id
WHERE p.show_in_directory = 1 AND p.deleted_ms IS NULL AND p.cpa_cents >= :min_cpa_cents
  AND b.status = 'active' AND b.enabled_partner_program = 1 AND b.deleted_ms IS NULL
  AND CASE WHEN CAST(:audience_gender AS TEXT) IN ('', b.audience_gender)
      AND b.categories LIKE :category AND b.income_levels LIKE :income_level AND b.age_ranges LIKE :age_range
      AND (CAST(:words AS BIGINT) < 1 OR b.search_text LIKE :word_1 ESCAPE '!')
      AND (CAST(:words AS BIGINT) < 2 OR b.search_text LIKE :word_2 ESCAPE '!')
      AND (CAST(:words AS BIGINT) < 3 OR b.search_text LIKE :word_3 ESCAPE '!')
      AND (CAST(:words AS BIGINT) < 4 OR b.search_text LIKE :word_4 ESCAPE '!')
      AND (CAST(:words AS BIGINT) < 5 OR b.search_text LIKE :word_5 ESCAPE '!')
  THEN 1 ELSE 0 END > 0

-- name: count
-- How many programs of the network match.
SELECT COUNT(*) AS n {listed};

-- name: page
-- One page of the programs that match, as sorted.
SELECT p.id {listed}
ORDER BY CASE CAST(:sort AS TEXT) WHEN 'cpa' THEN p.cpa_cents WHEN 'max_payout' THEN p.max_payout_cents
         WHEN 'confirmation_rate' THEN p.confirmation_bp ELSE p.created_ms END DESC, p.id DESC
             LIMIT :most OFFSET :skip;

-- name: changed_rates
-- For sorting only: the rate that a page shows is counted when it is shown.
SELECT p.id, r.rate_bp FROM program AS p JOIN (
    SELECT q.id, COALESCE(
        CAST(SUM(d.verified) AS BIGINT) * 10000
            / NULLIF(CAST(SUM(d.verified + d.rejected + d.reversed) AS BIGINT), 0),
        -1
    ) AS rate_bp
    FROM program AS q LEFT JOIN program_day AS d ON d.program_id = q.id AND d.day > :since_day
    WHERE q.deleted_ms IS NULL GROUP BY q.id
) AS r ON r.id = p.id
WHERE p.confirmation_bp <> r.rate_bp
ORDER BY p.id
LIMIT :most;

-- name: set_rates
-- Set how many referrals of these programs are confirmed.
UPDATE program
SET confirmation_bp = r.rate_bp
FROM {rows :rates AS r (id TEXT, rate_bp BIGINT)}
WHERE program.id = r.id;

-- fragment: partner_campaign
SELECT p.rule, p.screening, p.is_verification_chosen,
       (SELECT c.screening FROM campaign AS c WHERE c.account_id = p.account_id) AS campaign_level,
       p.first_look,
       j.id, j.account_id, j.owner_account_id, j.program_id, p.publication_id, b.name AS publication_name,
       j.ref_code, p.cpa_cents, p.max_payout_cents, COALESCE(s.spent_cents, 0) AS spent_cents,
       p.referral_pending_duration, p.referral_pending_duration_enabled, p.terms, p.resources_url,
       p.thankyou_page_url, COALESCE(p.deleted_ms, b.deleted_ms) AS deleted_ms,
       b.status AS publication_status,
       b.enabled_partner_program, b.logo_id, j.created_ms, j.left_ms,
       COALESCE(x.blocked_ms, j.removed_ms) AS removed_ms,
       CASE WHEN x.blocked_ms IS NULL THEN j.removed_reason ELSE x.reason END AS removed_reason,
       CASE WHEN g.reached_ms IS NOT NULL
           OR COALESCE(g.spent_cents, 0) >= p.total_budget_cents THEN 1 ELSE 0 END AS is_budget_spent
FROM partner_campaign AS j JOIN program AS p ON p.id = j.program_id
JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN partner_spend AS s ON s.partner_campaign_id = j.id AND s.month = :month
LEFT JOIN budget AS g ON g.program_id = p.id AND g.month = :month
LEFT JOIN partner_block AS x ON x.account_id = j.owner_account_id AND x.partner_account_id = j.account_id

-- name: programs_by_id
-- `ids` is a JSON object with the programs' ids for keys, which both engines read alike. The limit tells
-- PostgreSQL how few they are, and the CASE keeps it from guessing what else may be few: then it begins with
-- them, also on tables it knows nothing of yet.
SELECT {program}, b.audience_gender, b.income_levels, b.age_ranges,
       COALESCE((SELECT g.spent_cents FROM budget AS g WHERE g.program_id = p.id AND g.month = :month),
           0) AS spent_cents,
       (SELECT g.reached_ms FROM budget AS g WHERE g.program_id = p.id AND g.month = :month) AS reached_ms,
       (SELECT j.id
           FROM partner_campaign AS j
           WHERE j.program_id = p.id AND j.account_id = :account_id) AS partner_campaign_id,
       CASE
           WHEN EXISTS (SELECT 1
               FROM partner_campaign AS j
               WHERE j.program_id = p.id AND j.account_id = :account_id
               AND j.removed_ms IS NOT NULL)
           OR EXISTS (SELECT 1
               FROM partner_block AS x
               WHERE x.account_id = p.account_id AND x.partner_account_id = :account_id)
           THEN 1 ELSE 0 END AS is_removed,
       CASE
           WHEN EXISTS (SELECT 1
               FROM partner_campaign AS j
               WHERE j.program_id = p.id AND j.account_id = :account_id
               AND j.left_ms IS NOT NULL) THEN 1 ELSE 0 END AS has_left,
       COALESCE((SELECT SUM(d.verified)
               FROM program_day AS d
               WHERE d.program_id = p.id AND d.day > :since_day),
           0) AS verified_30d,
       COALESCE((SELECT SUM(d.rejected + d.reversed)
               FROM program_day AS d
               WHERE d.program_id = p.id AND d.day > :since_day),
           0) AS rejected_30d
FROM (SELECT key FROM json_each(:ids) LIMIT :many) AS w JOIN program AS p ON p.id = w.key
JOIN publication AS b ON b.id = p.publication_id
WHERE CASE WHEN p.deleted_ms IS NULL AND b.deleted_ms IS NULL
  AND (:paused_too = 1 OR b.status = 'active' AND b.enabled_partner_program = 1) THEN 1 ELSE 0 END > 0;

-- name: lock_program
-- Lock the program that somebody joins.
SELECT id FROM program WHERE account_id = :account_id AND id = :id;

-- name: is_kept_out
-- By a block, or a removal from this program, of this account or of another one that has an owner in common
-- with it. Whoever handed that one over or closed it since then still counts as its owner.
SELECT COUNT(*) AS n FROM (
    SELECT x.partner_account_id AS id, x.blocked_ms AS since_ms
    FROM partner_block AS x
    WHERE x.account_id = :account_id
    UNION ALL
    SELECT j.account_id AS id, j.removed_ms AS since_ms FROM partner_campaign AS j
    WHERE j.owner_account_id = :account_id AND j.program_id = :program_id AND j.removed_ms IS NOT NULL
) AS kept_out
WHERE kept_out.id = :partner_account_id
   OR :partner_account_id <> :account_id
  AND kept_out.id <> :account_id
  AND EXISTS (
    SELECT 1 FROM member AS m WHERE m.account_id = :partner_account_id AND m.role = 'owner' AND (
        EXISTS (SELECT 1
            FROM member AS s
            WHERE s.account_id = kept_out.id AND s.user_id = m.user_id AND s.role = 'owner')
        OR EXISTS (SELECT 1 FROM change_log AS l WHERE l.subject_id = m.user_id AND l.account_id = kept_out.id
            AND l.action IN ('member.role_changed', 'member.left', 'member.removed')
            AND l.before LIKE '%"owner"%'
            AND l.changed_ms >= kept_out.since_ms))
);

-- name: join
-- Join a program, unless the account did before.
{insert partner_campaign:
    id, account_id, owner_account_id, program_id, ref_code, reason_for_recommending = :reason,
    created_ms = :now_ms
}
ON CONFLICT (account_id, program_id) DO NOTHING;

-- name: lock
-- Lock what a partner has in a program.
SELECT id FROM partner_campaign WHERE account_id = :account_id AND id = :id;

-- name: join_again
-- Join a program that the partner had left.
UPDATE partner_campaign
SET left_ms = NULL, reason_for_recommending = COALESCE(:reason, reason_for_recommending)
WHERE account_id = :account_id AND id = :id;

-- name: leave
-- Leave a program.
UPDATE partner_campaign SET left_ms = :now_ms WHERE account_id = :account_id AND id = :id AND left_ms IS NULL;

-- name: partner_campaign
-- What the account has in one program.
{partner_campaign}
WHERE j.account_id = :account_id AND (j.id = :id OR j.program_id = :id);

-- name: count_partner_campaigns
-- How many programs the account joined.
SELECT COUNT(*) AS n FROM partner_campaign WHERE account_id = :account_id;

-- name: partner_campaigns_by_id
-- What the account has in these programs.
{partner_campaign}
WHERE j.account_id = :account_id AND j.id {in :ids};

-- name: list_partner_campaigns
-- What the account has in all programs, the newest first.
{partner_campaign}
WHERE j.account_id = :account_id
ORDER BY j.created_ms DESC, j.id DESC
LIMIT :most OFFSET :skip;

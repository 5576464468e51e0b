-- name: count
SELECT COUNT(*) AS n FROM program AS p WHERE p.listed = 1 AND p.search_text LIKE :pattern ESCAPE '\'
  AND (CAST(:category_mask AS BIGINT) = 0 OR (p.category_mask & CAST(:category_mask AS BIGINT)) <> 0)
  AND (CAST(:income_mask AS BIGINT) = 0 OR (p.income_mask & CAST(:income_mask AS BIGINT)) <> 0)
  AND (CAST(:age_mask AS BIGINT) = 0 OR (p.age_mask & CAST(:age_mask AS BIGINT)) <> 0)
  AND (CAST(:audience_gender AS TEXT) = '' OR p.audience_gender = :audience_gender) AND p.cpa_cents >= :min_cpa_cents;

-- name: list_created_at
SELECT p.id, p.account_id, p.publication_id, b.name AS publication_name, b.description AS publication_description, b.categories,
       b.logo_id, b.audience_gender, b.income_levels, b.age_ranges, p.terms, p.resources_url, p.redirect_url, p.thankyou_page_url,
       p.show_in_directory, p.referral_pending_duration, p.referral_pending_duration_enabled, p.max_payout_cents, p.cpa_cents,
       p.total_budget_cents, COALESCE(g.spent_cents, 0) AS spent_cents, g.reached_ms, j.id AS joined_id,
       COALESCE((SELECT SUM(d.verified) FROM program_day AS d WHERE d.program_id = p.id AND d.day > :since_day), 0) AS verified_30d,
       COALESCE((SELECT SUM(d.rejected) FROM program_day AS d WHERE d.program_id = p.id AND d.day > :since_day), 0) AS rejected_30d,
       p.created_ms
FROM program AS p JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN budget AS g ON g.program_id = p.id AND g.month = :month
LEFT JOIN partner_campaign AS j ON j.program_id = p.id AND j.account_id = :account_id
WHERE p.listed = 1 AND p.search_text LIKE :pattern ESCAPE '\'
  AND (CAST(:category_mask AS BIGINT) = 0 OR (p.category_mask & CAST(:category_mask AS BIGINT)) <> 0)
  AND (CAST(:income_mask AS BIGINT) = 0 OR (p.income_mask & CAST(:income_mask AS BIGINT)) <> 0)
  AND (CAST(:age_mask AS BIGINT) = 0 OR (p.age_mask & CAST(:age_mask AS BIGINT)) <> 0)
  AND (CAST(:audience_gender AS TEXT) = '' OR p.audience_gender = :audience_gender) AND p.cpa_cents >= :min_cpa_cents
ORDER BY p.created_ms DESC, p.id DESC LIMIT :most OFFSET :skip;

-- name: list_cpa
SELECT p.id, p.account_id, p.publication_id, b.name AS publication_name, b.description AS publication_description, b.categories,
       b.logo_id, b.audience_gender, b.income_levels, b.age_ranges, p.terms, p.resources_url, p.redirect_url, p.thankyou_page_url,
       p.show_in_directory, p.referral_pending_duration, p.referral_pending_duration_enabled, p.max_payout_cents, p.cpa_cents,
       p.total_budget_cents, COALESCE(g.spent_cents, 0) AS spent_cents, g.reached_ms, j.id AS joined_id,
       COALESCE((SELECT SUM(d.verified) FROM program_day AS d WHERE d.program_id = p.id AND d.day > :since_day), 0) AS verified_30d,
       COALESCE((SELECT SUM(d.rejected) FROM program_day AS d WHERE d.program_id = p.id AND d.day > :since_day), 0) AS rejected_30d,
       p.created_ms
FROM program AS p JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN budget AS g ON g.program_id = p.id AND g.month = :month
LEFT JOIN partner_campaign AS j ON j.program_id = p.id AND j.account_id = :account_id
WHERE p.listed = 1 AND p.search_text LIKE :pattern ESCAPE '\'
  AND (CAST(:category_mask AS BIGINT) = 0 OR (p.category_mask & CAST(:category_mask AS BIGINT)) <> 0)
  AND (CAST(:income_mask AS BIGINT) = 0 OR (p.income_mask & CAST(:income_mask AS BIGINT)) <> 0)
  AND (CAST(:age_mask AS BIGINT) = 0 OR (p.age_mask & CAST(:age_mask AS BIGINT)) <> 0)
  AND (CAST(:audience_gender AS TEXT) = '' OR p.audience_gender = :audience_gender) AND p.cpa_cents >= :min_cpa_cents
ORDER BY p.cpa_cents DESC, p.id DESC LIMIT :most OFFSET :skip;

-- name: list_max_payout
SELECT p.id, p.account_id, p.publication_id, b.name AS publication_name, b.description AS publication_description, b.categories,
       b.logo_id, b.audience_gender, b.income_levels, b.age_ranges, p.terms, p.resources_url, p.redirect_url, p.thankyou_page_url,
       p.show_in_directory, p.referral_pending_duration, p.referral_pending_duration_enabled, p.max_payout_cents, p.cpa_cents,
       p.total_budget_cents, COALESCE(g.spent_cents, 0) AS spent_cents, g.reached_ms, j.id AS joined_id,
       COALESCE((SELECT SUM(d.verified) FROM program_day AS d WHERE d.program_id = p.id AND d.day > :since_day), 0) AS verified_30d,
       COALESCE((SELECT SUM(d.rejected) FROM program_day AS d WHERE d.program_id = p.id AND d.day > :since_day), 0) AS rejected_30d,
       p.created_ms
FROM program AS p JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN budget AS g ON g.program_id = p.id AND g.month = :month
LEFT JOIN partner_campaign AS j ON j.program_id = p.id AND j.account_id = :account_id
WHERE p.listed = 1 AND p.search_text LIKE :pattern ESCAPE '\'
  AND (CAST(:category_mask AS BIGINT) = 0 OR (p.category_mask & CAST(:category_mask AS BIGINT)) <> 0)
  AND (CAST(:income_mask AS BIGINT) = 0 OR (p.income_mask & CAST(:income_mask AS BIGINT)) <> 0)
  AND (CAST(:age_mask AS BIGINT) = 0 OR (p.age_mask & CAST(:age_mask AS BIGINT)) <> 0)
  AND (CAST(:audience_gender AS TEXT) = '' OR p.audience_gender = :audience_gender) AND p.cpa_cents >= :min_cpa_cents
ORDER BY p.max_payout_cents DESC, p.id DESC LIMIT :most OFFSET :skip;

-- name: list_confirmation_rate
SELECT p.id, p.account_id, p.publication_id, b.name AS publication_name, b.description AS publication_description, b.categories,
       b.logo_id, b.audience_gender, b.income_levels, b.age_ranges, p.terms, p.resources_url, p.redirect_url, p.thankyou_page_url,
       p.show_in_directory, p.referral_pending_duration, p.referral_pending_duration_enabled, p.max_payout_cents, p.cpa_cents,
       p.total_budget_cents, COALESCE(g.spent_cents, 0) AS spent_cents, g.reached_ms, j.id AS joined_id,
       COALESCE((SELECT SUM(d.verified) FROM program_day AS d WHERE d.program_id = p.id AND d.day > :since_day), 0) AS verified_30d,
       COALESCE((SELECT SUM(d.rejected) FROM program_day AS d WHERE d.program_id = p.id AND d.day > :since_day), 0) AS rejected_30d,
       p.created_ms
FROM program AS p JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN budget AS g ON g.program_id = p.id AND g.month = :month
LEFT JOIN partner_campaign AS j ON j.program_id = p.id AND j.account_id = :account_id
WHERE p.listed = 1 AND p.search_text LIKE :pattern ESCAPE '\'
  AND (CAST(:category_mask AS BIGINT) = 0 OR (p.category_mask & CAST(:category_mask AS BIGINT)) <> 0)
  AND (CAST(:income_mask AS BIGINT) = 0 OR (p.income_mask & CAST(:income_mask AS BIGINT)) <> 0)
  AND (CAST(:age_mask AS BIGINT) = 0 OR (p.age_mask & CAST(:age_mask AS BIGINT)) <> 0)
  AND (CAST(:audience_gender AS TEXT) = '' OR p.audience_gender = :audience_gender) AND p.cpa_cents >= :min_cpa_cents
ORDER BY p.confirmation_rate_bp DESC, p.id DESC LIMIT :most OFFSET :skip;

-- name: by_id
SELECT p.id, p.account_id, p.publication_id, b.name AS publication_name, b.description AS publication_description, b.categories,
       b.logo_id, b.audience_gender, b.income_levels, b.age_ranges, p.terms, p.resources_url, p.redirect_url, p.thankyou_page_url,
       p.show_in_directory, p.referral_pending_duration, p.referral_pending_duration_enabled, p.max_payout_cents, p.cpa_cents,
       p.total_budget_cents, COALESCE(g.spent_cents, 0) AS spent_cents, g.reached_ms, j.id AS joined_id,
       COALESCE((SELECT SUM(d.verified) FROM program_day AS d WHERE d.program_id = p.id AND d.day > :since_day), 0) AS verified_30d,
       COALESCE((SELECT SUM(d.rejected) FROM program_day AS d WHERE d.program_id = p.id AND d.day > :since_day), 0) AS rejected_30d,
       p.created_ms
FROM program AS p JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN budget AS g ON g.program_id = p.id AND g.month = :month
LEFT JOIN partner_campaign AS j ON j.program_id = p.id AND j.account_id = :account_id
WHERE p.id = :id AND p.deleted_ms IS NULL AND p.paused_ms IS NULL AND b.deleted_ms IS NULL AND b.status = 'active'
  AND b.enabled_partner_program = 1;

-- name: join
INSERT INTO partner_campaign (id, account_id, owner_account_id, program_id, ref_code, reason_for_recommending, created_ms)
VALUES (:id, :account_id, :owner_account_id, :program_id, :ref_code, :reason, :now_ms)
ON CONFLICT (account_id, program_id) DO NOTHING;

-- name: joined
SELECT j.id, j.account_id, j.owner_account_id, j.program_id, p.publication_id, b.name AS publication_name, j.ref_code, p.cpa_cents,
       p.max_payout_cents, COALESCE(s.spent_cents, 0) AS spent_cents, p.referral_pending_duration,
       p.referral_pending_duration_enabled, p.terms, p.resources_url, p.thankyou_page_url, p.paused_ms, p.deleted_ms, b.status AS publication_status,
       b.enabled_partner_program, b.logo_id, j.created_ms
FROM partner_campaign AS j JOIN program AS p ON p.id = j.program_id JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN partner_spend AS s ON s.partner_campaign_id = j.id AND s.month = :month
WHERE j.account_id = :account_id AND (j.id = :id OR j.program_id = :id);

-- name: count_joined
SELECT COUNT(*) AS n FROM partner_campaign WHERE account_id = :account_id;

-- name: list_joined
SELECT j.id, j.account_id, j.owner_account_id, j.program_id, p.publication_id, b.name AS publication_name, j.ref_code, p.cpa_cents,
       p.max_payout_cents, COALESCE(s.spent_cents, 0) AS spent_cents, p.referral_pending_duration,
       p.referral_pending_duration_enabled, p.terms, p.resources_url, p.thankyou_page_url, p.paused_ms, p.deleted_ms, b.status AS publication_status,
       b.enabled_partner_program, b.logo_id, j.created_ms
FROM partner_campaign AS j JOIN program AS p ON p.id = j.program_id JOIN publication AS b ON b.id = p.publication_id
LEFT JOIN partner_spend AS s ON s.partner_campaign_id = j.id AND s.month = :month
WHERE j.account_id = :account_id ORDER BY j.created_ms DESC, j.id DESC LIMIT :most OFFSET :skip;

-- name: rate_all
-- The stored rate is for sorting only: what a card shows is counted afresh.
UPDATE program SET confirmation_rate_bp = COALESCE((
    SELECT CASE WHEN SUM(d.verified) + SUM(d.rejected) > 0 THEN SUM(d.verified) * 10000 / (SUM(d.verified) + SUM(d.rejected)) END
    FROM program_day AS d WHERE d.program_id = program.id AND d.day > :since_day
), -1) WHERE listed = 1;

-- All return the same columns, and nothing that identifies the subscriber.

-- fragment: partner_referral
-- Nobody is paid for referrals to their own program.
SELECT r.id, r.partner_campaign_id, b.name AS publication_name, r.arrived_ms, r.decided_ms,
       s.referral_status AS status, s.referral_reason AS reason, s.referral_due_ms AS due_ms,
       CASE WHEN r.is_own = 1 THEN 0 ELSE r.fee_cents END AS fee_cents, r.charged_cents,
           r.uncharged_reason, r.reversal_reason,
       r.reversal_note
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
JOIN program AS p ON p.id = r.program_id JOIN publication AS b ON b.id = p.publication_id

-- name: of_month
-- The referrals behind the figures of a month: up to so many of each state, none of those that are not asked
-- for.
SELECT * FROM (
    -- In the order in which they are due. Referrals to the partner's own program earn nothing.
    {partner_referral}
    WHERE r.partner_account_id = :account_id AND r.decided_ms IS NULL AND r.is_own = 0
    ORDER BY COALESCE(s.referral_due_ms, 9223372036854775807), r.id
    LIMIT :most_pending
) AS a
UNION ALL
SELECT * FROM (
    -- The charges of a month that were not reversed.
    SELECT r.id, r.partner_campaign_id, b.name AS publication_name, r.arrived_ms, c.created_ms AS decided_ms,
           s.referral_status AS status, s.referral_reason AS reason, s.referral_due_ms AS due_ms,
           r.fee_cents, r.charged_cents, r.uncharged_reason, NULL AS reversal_reason, NULL AS reversal_note
    FROM charge AS c
    JOIN partner_referral AS r ON r.id = c.partner_referral_id
    JOIN subscriber AS s ON s.id = r.subscriber_id
    JOIN program AS p ON p.id = r.program_id JOIN publication AS b ON b.id = p.publication_id
    WHERE c.partner_account_id = :account_id AND c.month = :month AND c.fee_cents > 0
      AND NOT EXISTS (SELECT 1 FROM charge AS v WHERE v.reverses_id = c.id)
    ORDER BY c.created_ms DESC, c.id DESC
    LIMIT :most_confirmed
) AS b
UNION ALL
SELECT * FROM (
    -- A decided referral without a month was rejected.
    {partner_referral}
    WHERE r.partner_account_id = :account_id
      AND r.charged_month IS NULL
      AND r.decided_ms >= :from_ms
      AND r.decided_ms < :to_ms
    ORDER BY r.decided_ms DESC, r.id DESC
    LIMIT :most_rejected
) AS c
UNION ALL
SELECT * FROM (
    -- Referrals of a partner that were not charged in a month, and why.
    {partner_referral}
    WHERE r.partner_account_id = :account_id AND r.uncharged_reason IS NOT NULL AND r.charged_month = :month
    ORDER BY r.decided_ms DESC, r.id DESC
    LIMIT :most_uncharged
) AS d;

-- name: count_of_partner_campaign
-- How many referrals a partner sent to a program.
SELECT COUNT(*) AS n FROM partner_referral
WHERE partner_account_id = :account_id AND partner_campaign_id = :place_id;

-- name: of_partner_campaign
-- Referrals that a partner sent to a program, the newest first.
{partner_referral}
WHERE r.partner_account_id = :account_id AND r.partner_campaign_id = :place_id
ORDER BY r.arrived_ms DESC, r.id DESC
LIMIT :most OFFSET :skip;

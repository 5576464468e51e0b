-- name: is_partner_only
-- An account that accepts an invitation as a partner has its checklist dismissed in the same moment. Nobody
-- can do so by hand.
SELECT CASE WHEN (
        EXISTS (SELECT 1 FROM partner_campaign AS j WHERE j.account_id = :account_id)
        OR EXISTS (SELECT 1
            FROM account AS a
            WHERE a.id = :account_id AND a.checklist_dismissed_ms = a.created_ms)
    )
    AND NOT EXISTS (
        SELECT 1 FROM subscriber AS s
        WHERE s.account_id = :account_id AND s.campaign_id = :campaign_id AND s.erased_ms IS NULL
    )
    AND NOT EXISTS (
        SELECT 1 FROM reward AS r
        WHERE r.account_id = :account_id AND r.campaign_id = :campaign_id AND r.deleted_ms IS NULL
    )
    AND NOT EXISTS (SELECT 1 FROM program AS p WHERE p.account_id = :account_id AND p.deleted_ms IS NULL)
THEN 1 ELSE 0 END AS n;

-- name: lock
-- Lock what the partner with this code has in the program.
SELECT id FROM partner_campaign WHERE ref_code = :code AND owner_account_id = :account_id;

-- name: find
-- Everything that decides what a signup with this code is worth: the partner campaign, program, publication
-- and screening level.
SELECT p.rule, p.screening, p.is_verification_chosen, c.screening AS campaign_level, p.first_look,
       j.ref_code AS code, j.id, j.account_id, j.program_id,
       a.email || ' ' || COALESCE((SELECT string_agg(u.email, ' ')
               FROM member AS m
               JOIN login_user AS u ON u.id = m.user_id
           WHERE m.account_id = j.account_id), '') AS partner_emails,
       CASE WHEN j.account_id = j.owner_account_id
           OR EXISTS (SELECT 1 FROM member AS m JOIN member AS o ON o.user_id = m.user_id
           AND o.account_id = j.account_id
         WHERE m.account_id = j.owner_account_id) THEN 1 ELSE 0 END AS is_own,
       p.cpa_cents, p.total_budget_cents, p.max_payout_cents, p.referral_pending_duration,
       p.referral_pending_duration_enabled, p.deleted_ms, b.status AS publication_status,
       b.deleted_ms AS publication_deleted_ms, b.enabled_partner_program,
       CASE WHEN j.removed_ms IS NOT NULL OR EXISTS (SELECT 1 FROM partner_block AS x
           WHERE x.account_id = j.owner_account_id
             AND x.partner_account_id = j.account_id) THEN 1 ELSE 0 END AS is_removed,
       CASE WHEN j.left_ms IS NULL
           AND a.paused_ms IS NULL
           AND a.closes_ms IS NULL THEN 0 ELSE 1 END AS has_left,
       -- Who has confirmed this address came under another one, unless it was paid for under this one.
       COALESCE((SELECT r.person_key FROM partner_referral AS r WHERE r.account_id = :account_id
           AND r.confirmed_person_key {in :person_keys} AND NOT EXISTS (
               SELECT 1 FROM charge AS t WHERE t.program_id = j.program_id AND t.person_key {in :person_keys}
           ) ORDER BY r.id LIMIT 1), :person_key) AS person_key,
       (SELECT COUNT(*)
           FROM subscriber AS s
           WHERE s.campaign_id = c.id AND s.person_key {in :person_keys} AND s.erased_ms IS NULL
           -- A person who has not confirmed is not subscribed yet.
           AND NOT (s.must_confirm = 1 AND s.status = 'active')) AS already_here,
       CASE
           WHEN EXISTS (SELECT 1 FROM screening_entry AS e WHERE e.campaign_id = c.id) THEN 1
           ELSE 0
           END AS has_lists,
       CASE WHEN p.first_look IS NOT NULL THEN (
           WITH RECURSIVE one_person (account_id) AS (
               SELECT j.account_id
               UNION SELECT m.account_id FROM one_person AS e
               JOIN member AS o ON o.account_id = e.account_id AND o.role = 'owner'
               JOIN member AS m ON m.user_id = o.user_id AND m.role = 'owner'
           )
           SELECT MIN(k.id) FROM partner_campaign AS k JOIN one_person AS e ON e.account_id = k.account_id
           WHERE k.program_id = j.program_id) END AS look_id
FROM partner_campaign AS j JOIN account AS a ON a.id = j.account_id JOIN program AS p ON p.id = j.program_id
JOIN publication AS b ON b.id = p.publication_id JOIN campaign AS c ON c.account_id = j.owner_account_id
WHERE j.ref_code = :code AND j.owner_account_id = :account_id;

-- name: is_look_overdue
-- Is the program paused for a partner until its owner has looked at the partner's readers?
SELECT 1 FROM first_look WHERE account_id = :account_id AND id = :look_id AND paused_ms IS NOT NULL;

-- name: from_network
-- How many signups with a code came from the same network lately.
SELECT COUNT(*) AS n FROM subscriber
WHERE campaign_id = :campaign_id
  AND referrer_code = :code
  AND received_ms > :day_ago_ms
  AND network = :network;

-- name: insert
-- A paid referral.
-- touches: adds partner_referral
{insert partner_referral:
    id, account_id, partner_account_id, program_id, partner_campaign_id, subscriber_id, person_key, fee_cents,
    arrived_ms, decided_ms, rule, screening, hold_until_ms, is_own, budget_cents, cap_cents,
    was_allowed, without_stop, look_id, first_look
};

-- name: without_stop
-- What would have become of a referral that arrived while its program was stopped.
SELECT without_stop FROM partner_referral
WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND without_stop IS NOT NULL;

-- fragment: met
-- Pending referrals that have met the rule; the holding period may still run, and they may share a lot.
s.referral_status = 'pending'
AND s.referral_reason IN ('holding_period', 'awaiting_first_look', 'needs_review')

-- fragment: confirmed
-- Pending referrals of readers who confirmed, or need not. The others are nobody's yet.
s.referral_status = 'pending' AND COALESCE(s.referral_reason, '') <> 'awaiting_confirmation'

-- name: looks
-- Looks of an account at partners, with what of their referrals is pending, and what was charged in open
-- months.
-- Who waits goes unpaid 30 days after the holding period.
SELECT f.id, f.account_id, c.id AS campaign_id, f.program_id, b.name AS publication_name, b.logo_id,
       f.allowed,
       f.counted, f.looks, f.asked_ms, f.postponed_ms, f.reminded, f.paused_ms, f.looked_ms, f.looked_by,
       f.refused_ms, f.approved,
       COUNT(CASE WHEN {met} THEN 1 END) AS met,
       COUNT(CASE WHEN s.referral_reason = 'awaiting_first_look' AND s.referral_status = 'pending'
           THEN 1 END) AS waiting,
       COUNT(CASE WHEN {confirmed} THEN 1 END) AS pending,
       CAST(COALESCE(SUM(CASE WHEN {confirmed} THEN r.fee_cents END), 0) AS BIGINT) AS pending_cents,
       COUNT(CASE WHEN r.charged_month > :last_closed AND r.reversal_id IS NULL THEN r.charged_cents END)
           AS charged,
       CAST(COALESCE(SUM(CASE WHEN r.charged_month > :last_closed AND r.reversal_id IS NULL
           THEN r.charged_cents END), 0) AS BIGINT) AS charged_cents,
       MIN(CASE WHEN {met} THEN r.hold_until_ms END) AS first_hold_ms,
       MAX(CASE WHEN {met} THEN r.hold_until_ms END) + 2592000000 AS last_day_ms
FROM first_look AS f
JOIN program AS p ON p.id = f.program_id
JOIN publication AS b ON b.id = p.publication_id
JOIN campaign AS c ON c.account_id = f.account_id
LEFT JOIN partner_referral AS r ON r.look_id = f.id AND r.account_id = :account_id
LEFT JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE f.account_id = :account_id AND (CAST(:every AS BIGINT) = 1 OR f.id {in :ids})
GROUP BY f.id, f.account_id, c.id, f.program_id, b.name, b.logo_id;

-- name: lock
-- Lock the look at a partner.
SELECT id FROM first_look WHERE account_id = :account_id AND id = :id;

-- name: to_ask
-- Over all accounts. Of those who were refused, only who came since asks again. Whoever is due is decided
-- again first.
SELECT l.id, l.account_id, c.id AS campaign_id, l.program_id, l.first_look
FROM (
    SELECT w.look_id AS id, w.account_id, w.program_id, w.first_look
    FROM (
        SELECT r.look_id, r.account_id, r.program_id, MAX(r.first_look) AS first_look, COUNT(*) AS met,
               COUNT(CASE WHEN s.referral_reason = 'awaiting_first_look' AND s.referral_due_ms > :now_ms
                   THEN 1 END) AS waiting
        FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
        LEFT JOIN first_look AS g ON g.id = r.look_id
        WHERE r.decided_ms IS NULL AND r.look_id IS NOT NULL AND {met}
          AND r.arrived_ms > COALESCE(g.refused_ms, -1)
        GROUP BY r.look_id, r.account_id, r.program_id
    ) AS w LEFT JOIN first_look AS f ON f.id = w.look_id
    WHERE f.asked_ms IS NULL
      AND (w.waiting > 0 OR COALESCE(f.counted, 0) + w.met >= COALESCE(f.allowed, w.first_look)
          OR f.looks > 0 AND f.looked_ms < :stale_ms)
    UNION
    SELECT f.id, f.account_id, f.program_id, f.allowed FROM first_look AS f
    WHERE f.asked_ms IS NULL AND f.refused_ms IS NULL AND f.counted >= f.allowed
) AS l
JOIN campaign AS c ON c.account_id = l.account_id
WHERE l.account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)
ORDER BY l.id
LIMIT :most;

-- name: ask
-- Ask the owner to look, once.
{insert first_look: id, account_id, program_id, allowed = :first_look, asked_ms = :now_ms}
ON CONFLICT (id) DO UPDATE SET asked_ms = excluded.asked_ms, reminded = 0, postponed_ms = NULL
WHERE first_look.asked_ms IS NULL;

-- fragment: live
SELECT f.id, f.account_id, c.id AS campaign_id, f.program_id, f.allowed AS first_look
FROM first_look AS f JOIN campaign AS c ON c.account_id = f.account_id
WHERE f.account_id NOT IN (SELECT id FROM account WHERE paused_ms IS NOT NULL)

-- name: to_compare
-- Over all accounts: partners who were looked at, and from whom somebody counted since.
{live} AND f.asked_ms IS NULL AND f.approved IS NOT NULL AND f.counted > f.compared
ORDER BY f.id
LIMIT :most;

-- name: compared
-- Record that they were compared.
UPDATE first_look SET compared = counted WHERE account_id = :account_id AND id = :id;

-- name: ask_again
-- Ask the owner to look again; nobody counts meanwhile.
UPDATE first_look SET asked_ms = :now_ms, reminded = 0, postponed_ms = NULL, allowed = counted
WHERE account_id = :account_id AND id = :id;

-- name: to_remind
-- Over all accounts: cards of which the owner is to be reminded.
{live} AND (f.asked_ms <= :day_1_ms AND f.reminded < 1 OR f.asked_ms <= :day_3_ms AND f.reminded < 3
    OR f.asked_ms <= :day_7_ms AND f.reminded < 7)
ORDER BY f.asked_ms, f.id
LIMIT :most;

-- name: remind
-- Record of which day the owner was reminded.
UPDATE first_look SET reminded = :day WHERE account_id = :account_id AND id = :id;

-- name: to_pause
-- Over all accounts: cards that waited too long.
{live} AND f.paused_ms IS NULL AND (f.asked_ms <= :pause_ms OR f.asked_ms <= :busy_ms AND (
    SELECT COUNT(*) FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
    WHERE r.look_id = f.id AND r.decided_ms IS NULL AND s.referral_reason = 'awaiting_first_look') >= :busy)
ORDER BY f.asked_ms, f.id
LIMIT :most;

-- name: pause
-- The program pauses for the partner.
UPDATE first_look SET paused_ms = :now_ms
WHERE account_id = :account_id AND id = :id AND paused_ms IS NULL AND asked_ms IS NOT NULL;

-- name: approve
-- They look right.
UPDATE first_look SET allowed = :allowed, looks = looks + 1, looked_ms = :now_ms, looked_by = :looked_by,
    approved = :approved, asked_ms = NULL, postponed_ms = NULL, reminded = 0, paused_ms = NULL,
    refused_ms = NULL
WHERE account_id = :account_id AND id = :id;

-- name: go_on
-- Who waited for the look is due.
UPDATE subscriber SET referral_due_ms = :now_ms
WHERE account_id = :account_id AND campaign_id = :campaign_id
  AND referral_status = 'pending' AND referral_reason = 'awaiting_first_look'
  AND id IN (SELECT r.subscriber_id FROM partner_referral AS r
      WHERE r.account_id = :account_id AND r.look_id = :look_id AND r.decided_ms IS NULL);

-- name: postpone
-- Ask again later.
UPDATE first_look SET asked_ms = :asked_ms, postponed_ms = :now_ms, reminded = 0
WHERE account_id = :account_id AND id = :id;

-- name: refuse
-- They do not look right. Nobody counts until the owner has looked at those who come later.
UPDATE first_look SET allowed = counted, refused_ms = :now_ms, looked_ms = :now_ms, looked_by = :looked_by,
    asked_ms = NULL, postponed_ms = NULL, reminded = 0
WHERE account_id = :account_id AND id = :id;

-- name: partners
-- Whose look it is: everybody with an owner in common who brought somebody.
SELECT j.id, j.account_id, a.email FROM partner_campaign AS j JOIN account AS a ON a.id = j.account_id
WHERE j.owner_account_id = :account_id AND j.left_ms IS NULL AND j.removed_ms IS NULL
  AND (j.id = :look_id OR EXISTS (SELECT 1 FROM partner_referral AS r
      WHERE r.account_id = :account_id AND r.partner_campaign_id = j.id AND r.look_id = :look_id));

-- fragment: not_theirs
-- A login is a member of both accounts, and the one who decides is not an owner of this one alone.
EXISTS (SELECT 1 FROM member AS m JOIN member AS o ON o.user_id = m.user_id
    WHERE m.account_id = j.account_id AND o.account_id = :account_id)
AND NOT EXISTS (SELECT 1 FROM member AS w
    WHERE w.account_id = :account_id AND w.user_id = :user_id AND w.role = 'owner'
      AND NOT EXISTS (SELECT 1 FROM member AS x WHERE x.account_id = j.account_id AND x.user_id = :user_id))

-- name: on_both_sides
-- May a login not decide the look, because somebody is a member of a partner's account, too?
SELECT 1 FROM partner_campaign AS j
WHERE j.owner_account_id = :account_id
  AND (j.id = :id OR EXISTS (SELECT 1 FROM partner_referral AS r
      WHERE r.account_id = :account_id AND r.partner_campaign_id = j.id AND r.look_id = :id))
  AND {not_theirs}
LIMIT 1;

-- name: referred_by_own
-- May a login not decide one of these referrals?
SELECT 1 FROM partner_referral AS r JOIN partner_campaign AS j ON j.id = r.partner_campaign_id
WHERE r.account_id = :account_id AND r.subscriber_id {in :ids} AND r.is_own = 0 AND {not_theirs}
LIMIT 1;

-- name: group_of_own
-- May a login not decide about a group?
SELECT 1 FROM trait_group_partner AS g JOIN partner_campaign AS j ON j.id = g.partner_campaign_id
WHERE g.account_id = :account_id AND g.group_id = :id AND j.account_id <> :account_id AND {not_theirs}
LIMIT 1;

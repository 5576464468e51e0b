-- What waits for the operator. Each part scans one index and stops after :most rows.

-- fragment: suspicious
referral_reason IN ('same_network', 'many_from_one_network', 'burst', 'looks_automated',
      'needs_review')

-- fragment: taken_in
-- In a group that the owner decides about with the first look at its partner.
referral_reason = 'needs_review' AND partner_campaign_id IS NOT NULL AND EXISTS (
    SELECT 1 FROM partner_referral AS p
    JOIN first_look AS f ON f.id = p.look_id AND f.account_id = :account_id AND f.asked_ms <= :now_ms
    JOIN trait_group AS g ON g.part_id = f.id AND g.account_id = :account_id
    JOIN evidence AS e ON e.subscriber_id = p.subscriber_id AND e.code = g.kind
    WHERE p.account_id = :account_id AND p.subscriber_id = subscriber.id)

-- name: counts
-- How much of each kind waits, and since when.
SELECT r.n AS to_review, a.n AS to_approve, c.n AS claims, c.oldest_ms AS claimed_ms,
       t.n AS to_send, t.oldest_ms AS to_send_ms, f.n AS ended_fees, u.n AS unread, l.n AS looks,
       l.oldest_ms AS asked_ms
FROM (
    SELECT COUNT(*) AS n FROM (
        SELECT 1 AS one FROM subscriber
        WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND referral_status = 'pending'
          AND {suspicious} AND NOT ({taken_in}) ORDER BY received_ms DESC, id DESC LIMIT :most
    ) AS i
) AS r CROSS JOIN (
    SELECT COUNT(*) AS n FROM (
        SELECT 1 AS one FROM won_reward
        WHERE campaign_id = :campaign_id AND status = 'awaiting_approval'
        ORDER BY earned_ms DESC, id DESC LIMIT :most
    ) AS i
) AS a CROSS JOIN (
    SELECT COUNT(*) AS n, MIN(i.claimed_ms) AS oldest_ms FROM (
        SELECT claimed_ms FROM won_reward
        WHERE account_id = :account_id AND campaign_id = :campaign_id AND status = 'unlocked'
          AND claimed_ms IS NOT NULL
        ORDER BY claimed_ms, id LIMIT :most
    ) AS i
) AS c CROSS JOIN (
    SELECT COUNT(*) AS n, MIN(i.redeemed_ms) AS oldest_ms FROM (
        SELECT redeemed_ms FROM won_reward
        WHERE campaign_id = :campaign_id AND shipping IS NOT NULL AND sent_ms IS NULL
        ORDER BY redeemed_ms, id LIMIT :most
    ) AS i
) AS t CROSS JOIN (
    SELECT COUNT(*) AS n FROM (
        SELECT 1 AS one FROM partner_referral
        WHERE account_id = :account_id AND team_act IS NOT NULL AND decided_ms IS NULL LIMIT :most
    ) AS i
) AS f CROSS JOIN (
    SELECT COUNT(*) AS n FROM notice WHERE account_id = :account_id AND read_ms IS NULL
) AS u CROSS JOIN (
    SELECT COUNT(*) AS n, MIN(asked_ms) AS oldest_ms FROM first_look
    WHERE account_id = :account_id AND asked_ms <= :now_ms
) AS l;

-- name: more
-- When the first suspicious referral is decided by itself, of those that have waited longest, so that a long
-- list is not read to its end; and how many wait for coupon codes. Nobody waits for the code of an erased
-- subscriber, whose reward keeps its status.
SELECT c.n AS without_code, f.due_ms, f.reason
FROM (
    SELECT COUNT(*) AS n FROM (
        SELECT 1 AS one FROM won_reward AS r
        JOIN subscriber AS s ON s.id = r.subscriber_id AND s.erased_ms IS NULL
        WHERE r.campaign_id = :campaign_id AND r.status = 'out_of_stock' LIMIT :most
    ) AS i
) AS c LEFT JOIN (
    SELECT w.referral_due_ms AS due_ms, w.referral_reason AS reason FROM (
        SELECT referral_due_ms, referral_reason FROM subscriber
        WHERE campaign_id = :campaign_id AND erased_ms IS NULL AND referral_status = 'pending'
          AND {suspicious} AND NOT ({taken_in}) ORDER BY received_ms, id LIMIT 1000
    ) AS w WHERE w.referral_due_ms IS NOT NULL
    ORDER BY w.referral_due_ms
    LIMIT 1
) AS f ON 1 = 1;

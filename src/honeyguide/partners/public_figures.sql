-- name: of
-- What the network shows of these programs.
SELECT program_id, verified, rejected, reversed, unreviewed, ended_by_team, ended_by_readers, median_ms
FROM program_figures
WHERE program_id {in :ids};

-- name: due
-- Over all accounts: the figures are public.
-- Also those of which nothing is decided yet: what their levels hold is counted too.
SELECT p.id, p.account_id FROM program AS p LEFT JOIN program_figures AS f ON f.program_id = p.id
WHERE p.deleted_ms IS NULL AND COALESCE(f.day, -1) < :today AND (f.day IS NOT NULL
    OR EXISTS (SELECT 1 FROM program_day AS d WHERE d.program_id = p.id AND d.day > :since_day)
    OR EXISTS (SELECT 1
        FROM partner_referral AS r
        WHERE r.program_id = p.id AND r.arrived_ms >= :held_since_ms))
ORDER BY p.id
LIMIT :most;

-- fragment: decided
-- Without what came with the code of a partner who had left: they could spoil the figures with it. Who came
-- while the owner kept a partner or the program out counts, because the owner gets those readers for nothing.
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.program_id = :program_id AND r.decided_ms >= :since_ms AND r.is_own = 0
  AND NOT (COALESCE(s.referral_reason, '') = 'partner_left' AND r.decided_ms = r.arrived_ms)

-- name: count
-- Count the decided referrals of a program.
SELECT COUNT(CASE WHEN s.referral_status = 'verified' THEN 1 END) AS verified,
       COUNT(CASE WHEN s.referral_status = 'rejected'
               AND s.referral_reason NOT IN ('reversed', 'unreviewed') THEN 1 END) AS rejected,
       COUNT(CASE WHEN s.referral_reason = 'reversed' THEN 1 END) AS reversed,
       COUNT(CASE WHEN s.referral_reason = 'unreviewed' THEN 1 END) AS unreviewed,
       COUNT(CASE WHEN s.referral_status = 'rejected' AND r.team_act IS NOT NULL
               AND s.referral_reason <> 'reversed' AND NOT (s.referral_reason {in :by_readers})
               THEN 1 END) AS ended_by_team,
       COUNT(CASE WHEN s.referral_reason {in :by_readers} THEN 1 END) AS ended_by_readers
{decided};

-- name: median
-- How long the middle one of them took to be decided.
SELECT r.decided_ms - r.arrived_ms AS ms {decided} ORDER BY ms LIMIT 1 OFFSET :half;

-- name: save
-- Store what the network shows of a program.
{insert program_figures:
    program_id, account_id, day, verified, rejected, reversed, unreviewed, ended_by_team,
    ended_by_readers, median_ms, arrived_30d, held_30d
}
ON CONFLICT (program_id)
DO UPDATE SET day = excluded.day, verified = excluded.verified, rejected = excluded.rejected,
    reversed = excluded.reversed, unreviewed = excluded.unreviewed, ended_by_team = excluded.ended_by_team,
    ended_by_readers = excluded.ended_by_readers, median_ms = excluded.median_ms,
    arrived_30d = excluded.arrived_30d, held_30d = excluded.held_30d;

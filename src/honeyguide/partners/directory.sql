-- fragment: found
FROM network_word AS w
WHERE w.word >= :word_1 AND w.word < :past_1 AND w.shared < :length AND (w.traits & :traits) = :traits
  AND w.cpa_cents >= :min_cpa_cents
  AND (CAST(:searched AS BIGINT) < 2 OR EXISTS (
      SELECT 1 FROM network_word AS o WHERE o.program_id = w.program_id AND o.word >= :word_2 AND o.word < :past_2)
  AND (CAST(:searched AS BIGINT) < 3 OR EXISTS (
      SELECT 1 FROM network_word AS o WHERE o.program_id = w.program_id AND o.word >= :word_3 AND o.word < :past_3)))

-- name: lock
SELECT id FROM program WHERE account_id = :account_id AND publication_id = :publication_id AND deleted_ms IS NULL;

-- name: lock (postgres)
-- Whoever changes a program and whoever changes its publication list it one after the other, and the later one sees what is true.
SELECT id FROM program WHERE account_id = :account_id AND publication_id = :publication_id AND deleted_ms IS NULL
FOR NO KEY UPDATE;

-- name: drop_places
DELETE FROM network_place WHERE account_id = :account_id AND program_id = :program_id;

-- name: drop_words
DELETE FROM network_word WHERE account_id = :account_id AND program_id = :program_id;

-- name: put_places
INSERT INTO network_place (program_id, sort, account_id, position, traits, cpa_cents)
SELECT p.id, s.column1, p.account_id,
       CASE s.column1 WHEN 'created_at' THEN p.created_ms WHEN 'cpa' THEN p.cpa_cents WHEN 'max_payout' THEN p.max_payout_cents
       ELSE -1 END, :traits, p.cpa_cents
FROM program AS p JOIN publication AS b ON b.id = p.publication_id
CROSS JOIN (VALUES ('created_at'), ('cpa'), ('max_payout'), ('confirmation_rate')) AS s
WHERE p.account_id = :account_id AND p.id = :program_id AND p.show_in_directory = 1 AND p.paused_ms IS NULL
  AND p.deleted_ms IS NULL AND b.status = 'active' AND b.enabled_partner_program = 1 AND b.deleted_ms IS NULL;

-- name: put_words
-- `words` is a JSON object of words and what they share: both engines read an object alike.
INSERT INTO network_word (program_id, word, shared, account_id, traits, cpa_cents, max_payout_cents, created_ms)
SELECT p.id, w.key, CAST(CAST(w.value AS TEXT) AS BIGINT), p.account_id, n.traits, p.cpa_cents, p.max_payout_cents, p.created_ms
FROM json_each(:words) AS w CROSS JOIN program AS p
JOIN network_place AS n ON n.program_id = p.id AND n.sort = 'created_at'
WHERE p.account_id = :account_id AND p.id = :program_id;

-- name: rate
-- Of one program, or of all. It is for sorting only: what an offer shows is counted afresh.
UPDATE network_place SET position = r.rate_bp FROM (
    SELECT n.program_id, COALESCE(
        CAST(SUM(d.verified) AS BIGINT) * 10000 / NULLIF(CAST(SUM(d.verified) + SUM(d.rejected) AS BIGINT), 0), -1
    ) AS rate_bp
    FROM network_place AS n LEFT JOIN program_day AS d ON d.program_id = n.program_id AND d.day > :since_day
    WHERE n.sort = 'confirmation_rate' AND (CAST(:program_id AS TEXT) = '' OR n.program_id = :program_id) GROUP BY n.program_id
) AS r
WHERE network_place.program_id = r.program_id AND network_place.sort = 'confirmation_rate'
  AND network_place.position <> r.rate_bp;

-- name: count
SELECT COUNT(*) AS n FROM network_place WHERE sort = 'cpa' AND position >= :min_cpa_cents;

-- name: count_found
SELECT COUNT(*) AS n {found};

-- name: page_found
SELECT w.program_id {found}
ORDER BY CASE CAST(:sort AS TEXT) WHEN 'created_at' THEN w.created_ms WHEN 'cpa' THEN w.cpa_cents
         WHEN 'max_payout' THEN w.max_payout_cents
         ELSE (SELECT n.position FROM network_place AS n WHERE n.program_id = w.program_id AND n.sort = :sort) END DESC,
         w.program_id DESC LIMIT :most OFFSET :skip;

-- name: page
-- Asked inside a CASE, so that no planner guesses how few may fit and sorts them all instead of stepping along the order; and
-- counted, since PostgreSQL would make a table of all that EXISTS may find.
SELECT n.program_id FROM network_place AS n
WHERE n.sort = :sort AND CASE WHEN (n.traits & :traits) = :traits AND n.cpa_cents >= :min_cpa_cents
  AND (CAST(:searched AS BIGINT) < 1 OR (
      SELECT COUNT(*) FROM network_word AS o WHERE o.program_id = n.program_id AND o.word >= :word_1 AND o.word < :past_1) > 0
  AND (CAST(:searched AS BIGINT) < 2 OR (
      SELECT COUNT(*) FROM network_word AS o WHERE o.program_id = n.program_id AND o.word >= :word_2 AND o.word < :past_2) > 0)
  AND (CAST(:searched AS BIGINT) < 3 OR (
      SELECT COUNT(*) FROM network_word AS o WHERE o.program_id = n.program_id AND o.word >= :word_3 AND o.word < :past_3) > 0))
  THEN 1 ELSE 0 END > 0
ORDER BY n.position DESC, n.program_id DESC LIMIT :most OFFSET :skip;

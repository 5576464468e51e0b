-- name: done
-- What of the set-up checklist was done. Imports are forgotten after a month, those who came by them are not.
SELECT CASE WHEN a.checklist_dismissed_ms IS NULL THEN 0 ELSE 1 END AS is_dismissed,
       CASE WHEN EXISTS (
           SELECT 1 FROM import AS i
           WHERE i.account_id = a.id AND i.total > 0 AND i.status <> 'new'
       ) OR EXISTS (
           SELECT 1 FROM cohort_count AS n
           WHERE n.account_id = a.id AND n.campaign_id = c.id AND n.kind = 'group' AND n.key = 'imported'
       ) THEN 1 ELSE 0 END AS has_imported,
       CASE WHEN EXISTS (
           SELECT 1 FROM newsletter_block AS b WHERE b.account_id = a.id AND b.campaign_id = c.id
       ) THEN 1 ELSE 0 END AS has_block,
       CASE WHEN EXISTS (
           SELECT 1 FROM integration AS g WHERE g.account_id = a.id AND g.campaign_id = c.id
       ) THEN 1 ELSE 0 END AS has_integration,
       CASE WHEN c.destination_url IS NULL THEN 0 ELSE 1 END AS has_landing_page
FROM account AS a JOIN campaign AS c ON c.account_id = a.id
WHERE a.id = :account_id AND c.id = :campaign_id;

-- name: of_domains
-- Which server takes the mail of these domains, as far as it is known.
SELECT domain, mx_domain, network, looked_ms FROM mail_host WHERE domain {in :domains};

-- name: want
-- Domains whose mail host a look wants to know.
INSERT INTO mail_host (domain, wanted_ms, looked_ms)
SELECT n.value, :now_ms, 0 FROM {list :domains AS n} WHERE true
ON CONFLICT (domain) DO UPDATE SET wanted_ms = excluded.wanted_ms;

-- name: due
-- Domains that were wanted since DNS was asked, a day ago or longer; new ones first.
SELECT domain FROM mail_host
WHERE wanted_ms > looked_ms AND looked_ms <= :before_ms
ORDER BY looked_ms, wanted_ms
LIMIT :most;

-- name: save
-- What DNS answered.
UPDATE mail_host SET mx_domain = :mx_domain, network = :network, looked_ms = :looked_ms
WHERE domain = :domain;

-- name: fail
-- DNS did not answer: what it said before stays.
UPDATE mail_host SET looked_ms = :looked_ms WHERE domain = :domain;

-- name: old
-- Domains that no look has wanted for long.
SELECT domain FROM mail_host WHERE wanted_ms < :before_ms LIMIT :most;

-- name: forget
-- Delete what is known of these domains.
DELETE
FROM mail_host WHERE domain IN (SELECT r.domain FROM {rows :rows AS r (domain TEXT)});

-- name: is_off
-- Whether this installation asks DNS only if a setting says so.
SELECT is_off FROM mail_host_default;

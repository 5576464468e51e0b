-- fragment: domain
REPLACE(s.email_key, RTRIM(s.email_key, REPLACE(s.email_key, '@', '')), '')

-- fragment: confirmed
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.account_id = :account_id
  AND r.program_id = :program_id
  AND r.is_own = 0
  AND s.campaign_id = :campaign_id
  AND s.status = 'confirmed'
  AND s.erased_ms IS NULL
  AND s.email_key IS NOT NULL
  AND s.person_key = r.person_key

-- fragment: own_readers
FROM subscriber AS s
WHERE s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND s.erased_ms IS NULL
  AND s.partner_campaign_id IS NULL
  AND s.referral_status = 'verified'
  AND s.email_key IS NOT NULL
  AND (s.status = 'confirmed' OR s.origin IN ('import', 'platform') AND s.status <> 'unsubscribed')

-- name: domains
-- Where confirmed referrals of a program have their mailbox. Who has another address than they came with is
-- left out: the owner could make up what they have in common.
SELECT c.partner_campaign_id, c.domain, COUNT(*) AS people, COUNT(DISTINCT c.network) AS networks
FROM (SELECT r.partner_campaign_id, {domain} AS domain, s.network {confirmed}) AS c
GROUP BY c.partner_campaign_id, c.domain;

-- name: browsers
-- Browsers that so many confirmed referrals of a program have in one IP network.
WITH placed AS (
    SELECT r.partner_campaign_id, s.network, s.user_agent, COUNT(*) AS people,
           COUNT(DISTINCT {domain}) AS domains
    {confirmed} AND s.network IS NOT NULL AND s.user_agent IS NOT NULL AND s.user_agent <> ''
    GROUP BY r.partner_campaign_id, s.network, s.user_agent
)
SELECT p.partner_campaign_id, p.network, p.user_agent, p.people, p.domains FROM (
    SELECT partner_campaign_id, network, user_agent, people, domains,
           SUM(people) OVER (PARTITION BY network, user_agent) AS total
    FROM placed
) AS p
WHERE p.total >= :least;

-- name: own_domains
-- Where the newsletter's other readers have their mailbox.
SELECT '' AS partner_campaign_id, c.domain, COUNT(*) AS people FROM (
    SELECT {domain} AS domain {own_readers} AND s.received_ms <= :until_ms
    ORDER BY s.created_ms DESC, s.id DESC
    LIMIT :newest
) AS c
GROUP BY c.domain;

-- name: own_browsers
-- How many of the newsletter's other readers have these browsers in these IP networks.
SELECT '' AS partner_campaign_id, s.network, s.user_agent, COUNT(*) AS people
{own_readers} AND s.received_ms <= :until_ms AND (s.network, s.user_agent) IN (
    SELECT b.network, b.user_agent FROM {rows :browsers AS b (network TEXT, user_agent TEXT)}
)
GROUP BY s.network, s.user_agent;

-- name: own_placed
-- How many of them have an IP network.
SELECT COUNT(*) AS n {own_readers} AND s.received_ms <= :until_ms AND s.network IS NOT NULL;

-- name: readers
-- How many confirmed readers a newsletter has.
SELECT COUNT(*) AS n FROM subscriber AS s
WHERE s.account_id = :account_id
  AND s.campaign_id = :campaign_id
  AND s.erased_ms IS NULL
  AND (s.status = 'confirmed' OR s.origin IN ('import', 'platform') AND s.status <> 'unsubscribed');

-- name: owners
-- Who owns the accounts of a program's partners.
SELECT j.id AS partner_campaign_id, m.user_id FROM partner_campaign AS j
JOIN member AS m ON m.account_id = j.account_id AND m.role = 'owner'
WHERE j.owner_account_id = :account_id AND j.program_id = :program_id;

-- name: queue
-- A program is looked at some minutes after somebody came or confirmed through one of its partners.
-- touches: adds program_look, reads partner_campaign, reads program_look
INSERT INTO program_look (program_id, account_id, campaign_id, since_ms)
SELECT j.program_id, j.owner_account_id, :campaign_id, :since_ms FROM partner_campaign AS j
WHERE j.owner_account_id = :account_id AND j.ref_code = :code
ON CONFLICT (program_id) DO NOTHING;

-- name: queue_program
-- A program that is to be looked at again, and not later than this.
{insert program_look: program_id, account_id, campaign_id, since_ms}
ON CONFLICT (program_id) DO UPDATE SET since_ms = excluded.since_ms
WHERE program_look.since_ms > excluded.since_ms;

-- name: due
-- Programs of all accounts whose groups are to be looked at now.
SELECT account_id, campaign_id, program_id FROM program_look
WHERE since_ms <= :until_ms
ORDER BY since_ms
LIMIT :most;

-- name: end_look
-- A look that is over, unless another one was asked for meanwhile.
DELETE
FROM program_look
WHERE program_id = :program_id AND account_id = :account_id AND since_ms <= :looked_ms;

-- fragment: group
SELECT g.id, g.part_id, g.kind, g.key, g.people, g.domains, g.networks, g.approved_people

-- name: of_program
-- The groups of a program, a row for each partner campaign that one came through.
{group}, p.partner_campaign_id FROM trait_group AS g JOIN trait_group_partner AS p ON p.group_id = g.id
WHERE g.account_id = :account_id AND g.program_id = :program_id
ORDER BY g.id, p.partner_campaign_id;

-- name: of_partners
-- The groups that came through these partner campaigns.
{group}, p.partner_campaign_id FROM trait_group_partner AS p JOIN trait_group AS g ON g.id = p.group_id
WHERE p.account_id = :account_id
  AND g.account_id = :account_id
  AND p.partner_campaign_id {in :ids}
ORDER BY g.id, p.partner_campaign_id;

-- name: of_ids
-- Groups by their ids.
{group} FROM trait_group AS g
WHERE g.account_id = :account_id AND g.campaign_id = :campaign_id AND g.id {in :ids};

-- name: of_parts
-- Groups of partners with a common owner.
{group} FROM trait_group AS g
WHERE g.account_id = :account_id AND g.campaign_id = :campaign_id AND g.part_id {in :ids}
ORDER BY g.people DESC, g.id;

-- name: lock
-- Lock a group that is decided.
{group} FROM trait_group AS g
WHERE g.account_id = :account_id AND g.campaign_id = :campaign_id AND g.id = :id;

-- fragment: doubled
-- The owner is asked again.
trait_group.people < CAST(:growth AS DOUBLE PRECISION) * trait_group.approved_people
    AND excluded.people >= CAST(:growth AS DOUBLE PRECISION) * trait_group.approved_people

-- name: save
-- A group that was found, or has grown.
{insert trait_group: id, account_id, campaign_id, program_id, part_id, kind, key, people, domains, networks,
    found_ms = :now_ms}
ON CONFLICT (program_id, part_id, kind, key)
DO UPDATE SET people = excluded.people, domains = excluded.domains, networks = excluded.networks,
    found_ms = CASE WHEN {doubled} THEN excluded.found_ms ELSE trait_group.found_ms END,
    reminded = CASE WHEN {doubled} THEN NULL ELSE trait_group.reminded END;

-- name: add_partners
-- What a group came through.
INSERT INTO trait_group_partner (group_id, partner_campaign_id, account_id)
SELECT g.id, n.value, g.account_id FROM {list :partners AS n} CROSS JOIN trait_group AS g
WHERE g.account_id = :account_id
  AND g.program_id = :program_id
  AND g.part_id = :part_id
  AND g.kind = :kind
  AND g.key = :key
ON CONFLICT (group_id, partner_campaign_id) DO NOTHING;

-- name: remove_partners
-- What groups that are none any more came through.
DELETE
FROM trait_group_partner WHERE account_id = :account_id AND group_id {in :ids};

-- name: remove
-- Groups that are none any more.
DELETE
FROM trait_group WHERE account_id = :account_id AND id {in :ids};

-- name: approve
-- The owner says that a group looks right.
UPDATE trait_group SET approved_people = :people, found_ms = :now_ms, reminded = NULL
WHERE account_id = :account_id AND id = :id;

-- name: program_of
-- The program of a group.
SELECT program_id FROM trait_group WHERE account_id = :account_id AND id = :id;

-- name: pending
-- Pending referrals that came through these partner campaigns.
SELECT s.id, r.partner_campaign_id, s.referral_reason AS reason, {domain} AS domain, s.network, s.user_agent
FROM partner_referral AS r JOIN subscriber AS s ON s.id = r.subscriber_id
WHERE r.account_id = :account_id
  AND r.program_id = :program_id
  AND r.partner_campaign_id {in :ids}
  AND r.decided_ms IS NULL
  AND s.campaign_id = :campaign_id
  AND s.erased_ms IS NULL
  AND s.email_key IS NOT NULL
  AND s.referral_status = 'pending'
  AND s.person_key = r.person_key;

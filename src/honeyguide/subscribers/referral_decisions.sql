-- name: insert
-- A decision about a referral, with who decided and why.
-- touches: adds referral_decision
{insert referral_decision:
    id, account_id, campaign_id, subscriber_id, before_status, before_reason, status, reason, actor_kind,
    actor_id,
    note, decided_ms = :now_ms
};

-- name: of_subscriber
-- Decisions about a subscriber's referral.
SELECT id, subscriber_id, before_status, before_reason, status, reason, actor_kind, actor_id, note, decided_ms
FROM referral_decision
WHERE account_id = :account_id AND campaign_id = :campaign_id AND subscriber_id = :subscriber_id
ORDER BY id;

-- name: erase
-- Delete the notes on decisions about a subscriber who is erased.
UPDATE referral_decision SET note = NULL
WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND note IS NOT NULL;

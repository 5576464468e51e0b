-- name: add_text
{insert consent_text: id, account_id, campaign_id, text, privacy_url, created_ms = :now_ms};

-- name: record
-- touches: adds consent
{insert consent: subscriber_id, consent_text_id, account_id, agreed_ms = :now_ms}
ON CONFLICT (subscriber_id, consent_text_id) DO NOTHING;

-- name: of_subscriber
SELECT t.text, t.privacy_url, c.agreed_ms FROM consent AS c JOIN consent_text AS t ON t.id = c.consent_text_id
WHERE c.account_id = :account_id AND c.subscriber_id = :subscriber_id ORDER BY c.agreed_ms, c.consent_text_id;

-- name: erase
DELETE FROM consent WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

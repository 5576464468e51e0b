-- name: add_text
-- A text that subscribers agree to.
{insert consent_text: id, account_id, campaign_id, text, privacy_url, created_ms = :now_ms};

-- name: record
-- A subscriber agreed to a text.
-- touches: adds consent
{insert consent: subscriber_id, consent_text_id, account_id, agreed_ms = :now_ms}
ON CONFLICT (subscriber_id, consent_text_id) DO NOTHING;

-- name: of_subscriber
-- What a subscriber agreed to, and when.
SELECT t.text, t.privacy_url, c.agreed_ms FROM consent AS c JOIN consent_text AS t ON t.id = c.consent_text_id
WHERE c.account_id = :account_id AND c.subscriber_id = :subscriber_id
ORDER BY c.agreed_ms, c.consent_text_id;

-- name: of_subscribers
-- What these subscribers agreed to, and when.
SELECT c.subscriber_id, t.text, t.privacy_url, c.agreed_ms FROM consent AS c
JOIN consent_text AS t ON t.id = c.consent_text_id
WHERE c.account_id = :account_id AND c.subscriber_id {in :ids}
ORDER BY c.subscriber_id, c.agreed_ms, t.text;

-- name: known_texts
-- The newest last: of two that are alike, that is the one in use.
SELECT id, text, privacy_url FROM consent_text
WHERE account_id = :account_id AND campaign_id = :campaign_id AND text {in :texts}
ORDER BY created_ms, id;

-- name: carry_over
-- Consents of an export that is read back.
INSERT INTO consent (subscriber_id, consent_text_id, account_id, agreed_ms)
SELECT r.subscriber_id, r.consent_text_id, :account_id, r.agreed_ms
FROM {rows :rows AS r (subscriber_id TEXT, consent_text_id TEXT, agreed_ms BIGINT)} WHERE true
ON CONFLICT (subscriber_id, consent_text_id) DO NOTHING;

-- name: erase
-- Delete the consents of a subscriber who is erased.
DELETE FROM consent WHERE account_id = :account_id AND subscriber_id = :subscriber_id;

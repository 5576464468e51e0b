-- name: insert
-- A code for the link in a form of the operator.
{insert form_code: code, account_id, campaign_id, subscriber_id, created_ms = :now_ms}
    ON CONFLICT (code) DO NOTHING;

-- name: find
-- The subscribers whom these codes stand for.
SELECT f.code, s.ref_code FROM form_code AS f JOIN subscriber AS s ON s.id = f.subscriber_id
WHERE f.code {in :codes} AND f.account_id = :account_id AND f.campaign_id = :campaign_id;

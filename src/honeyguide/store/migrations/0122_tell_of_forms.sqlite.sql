-- works-with: 0093
-- locks: nothing
-- Tells the owners of each account once what changed. An account's ID with another version of UUID is no other notice's.
INSERT INTO notice (id, account_id, kind, once_key, sentence, link, created_ms)
SELECT substr(id, 1, 14) || '4' || substr(id, 16), id, 'confirmations_held', 'signups without a form',
    'New: paid signups on your website without its form wait in Review, and so does whom your team removes before their fee. '
    || 'Who bounces or complains before it is not paid for.',
    '/review', CAST(strftime('%s', 'now') AS INTEGER) * 1000
FROM account WHERE closed_ms IS NULL;
-- In the next digest, with what changed just before, unless the account wants no such emails.
UPDATE notice SET digest_due_ms = CAST(strftime('%s', 'now') AS INTEGER) * 1000
WHERE once_key IN ('pace of confirmation emails', 'signups without a form') AND NOT EXISTS (
    SELECT 1 FROM notification_choice AS c
    WHERE c.account_id = notice.account_id AND c.kind = 'confirmations_held' AND c.delivery IN ('off', 'dashboard')
);

-- works-with: 0093
-- locks: nothing
-- Tells the owners of each account once what changed. A notice of the account has the account's own ID, which no other notice has.
INSERT INTO notice (id, account_id, kind, once_key, sentence, link, created_ms)
SELECT id, id, 'confirmations_held', 'pace of confirmation emails',
    'New: while a link is flooded, its confirmation emails leave at a pace and its forms ask browsers for a little work. '
    || 'Regular intervals speak only against the timer’s own signups, and only readers of two weeks make a mail domain known.',
    '/review', CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)
FROM account WHERE closed_ms IS NULL;

-- works-with: 0093
-- locks: nothing
-- Tells the owners of programs once what changed. The notice has the ID of the account's first program, which no other notice has.
INSERT INTO notice (id, account_id, kind, once_key, sentence, link, created_ms)
SELECT MIN(id), account_id, 'first_look', 'fees that a team ended',
    'New: readers who bounce or complain before their fee are rejected, and what your team ends waits for your decision. '
    || 'Who bounced or complained after the fee is on your program’s page.',
    '/review/ended', CAST(strftime('%s', 'now') AS INTEGER) * 1000
FROM program WHERE deleted_ms IS NULL GROUP BY account_id;

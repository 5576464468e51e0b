-- works-with: 0093
-- locks: account, for a moment
-- Emails about an account went on to somebody who owned it once. They go to its first owner.
UPDATE account SET email = (SELECT u.email FROM member AS m JOIN login_user AS u ON u.id = m.user_id
    WHERE m.account_id = account.id AND m.role = 'owner' ORDER BY m.created_ms, m.user_id LIMIT 1)
WHERE EXISTS (SELECT 1 FROM member AS m WHERE m.account_id = account.id AND m.role = 'owner')
  AND NOT EXISTS (SELECT 1 FROM member AS m JOIN login_user AS u ON u.id = m.user_id
      WHERE m.account_id = account.id AND m.role = 'owner' AND LOWER(u.email) = LOWER(account.email));

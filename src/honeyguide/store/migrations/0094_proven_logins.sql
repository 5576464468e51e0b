-- works-with: 0093
-- locks: login_user and api_key, for a moment
-- Logins that were made through a link that others were shown get no session before their address is proven.

--   proven_ms    when a message that only went to the address proved that it is theirs; null if nothing has
--   must_prove   they have to prove it before they get a session
ALTER TABLE login_user ADD COLUMN proven_ms INTEGER;
ALTER TABLE login_user ADD COLUMN must_prove INTEGER NOT NULL DEFAULT 0;

--   made_by   the user who made it on the dashboard, or put it in the place of another; null for a command
ALTER TABLE api_key ADD COLUMN made_by TEXT;
UPDATE api_key SET made_by = (
    SELECT MAX(l.actor_id) FROM change_log AS l
    WHERE l.subject_id = api_key.id AND l.account_id = api_key.account_id
        AND l.action = 'api_key.created' AND l.actor_kind = 'member'
);
UPDATE api_key SET made_by = (
    SELECT MAX(l.actor_id) FROM api_key AS o JOIN change_log AS l ON l.subject_id = o.id AND l.account_id = o.account_id
    WHERE o.replaced_by = api_key.id AND l.action = 'api_key.rotated' AND l.actor_kind = 'member'
) WHERE made_by IS NULL;

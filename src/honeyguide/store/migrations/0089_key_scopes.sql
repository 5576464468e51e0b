-- works-with: 0088
-- locks: api_key, for reads and writes, for a moment
-- What an API key may do, and until when.
--   scopes        names of scopes with a blank between them; null: all
--   expires_ms    when it stops working; null: never
--   replaced_by   the key that takes its place once it was rotated; it works until `expires_ms`
--   warned_ms     when the operator was notified that it expires
ALTER TABLE api_key ADD COLUMN scopes TEXT;
ALTER TABLE api_key ADD COLUMN expires_ms INTEGER;
ALTER TABLE api_key ADD COLUMN replaced_by TEXT REFERENCES api_key (id);
ALTER TABLE api_key ADD COLUMN warned_ms INTEGER;

-- For the job that warns of keys that expire soon.
CREATE INDEX api_key_expires ON api_key (expires_ms) WHERE expires_ms IS NOT NULL AND warned_ms IS NULL AND replaced_by IS NULL AND revoked_ms IS NULL;

-- works-with: 0060
-- locks: webhook, for reads and writes, for a moment
-- What receivers written for SparkLoop expect in the header of that name. Null: the header is not sent.
ALTER TABLE webhook ADD COLUMN sparkloop_token TEXT;

-- The Ed25519 keys that this installation signs documents with. One of them is current; `is_current` of the others is null, and they
-- stay so that the installation still knows the documents it signed with them. The private key is encrypted with the secret key.
CREATE TABLE installation_key (
    id TEXT PRIMARY KEY,
    public_key TEXT NOT NULL UNIQUE,
    private_key TEXT NOT NULL,
    is_current INTEGER UNIQUE CHECK (is_current = 1),
    created_ms INTEGER NOT NULL,
    retired_ms INTEGER
) STRICT;

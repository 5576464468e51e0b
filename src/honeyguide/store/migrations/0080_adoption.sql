-- works-with: 0060
-- locks: integration, for reads and writes, for a moment
-- What another tool wrote to the fields that the operator chose. Until they say what is to become of it, no contact is written.
--   adoption         '': contacts are written; 'reading': the first reading of the whole list looks for values; 'asked': it found some,
--                    and the operator has to answer; 'adopting': a job takes them over
--   adoption_answer  'adopt' or 'replace'; '': nobody was asked
ALTER TABLE integration ADD COLUMN adoption TEXT NOT NULL DEFAULT '' CHECK (adoption IN ('', 'reading', 'asked', 'adopting'));
ALTER TABLE integration ADD COLUMN adoption_answer TEXT NOT NULL DEFAULT '' CHECK (adoption_answer IN ('', 'adopt', 'replace'));

-- What a contact's fields said. A null was empty, or is no field of ours.
--   code_field, link_field  the names of the fields in which the code and the link were; there they stay as they are
--   others                  how many other fields of ours were filled
--   state                   'found'; 'adopted'; 'refused': the code stays there, but does not count, for the reason in `problem`
CREATE TABLE adoption_value (
    integration_id TEXT NOT NULL,
    subscriber_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    code TEXT,
    code_field TEXT NOT NULL,
    link TEXT,
    link_field TEXT NOT NULL,
    referrals TEXT,
    reward TEXT,
    coupon TEXT,
    others INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('found', 'adopted', 'refused')),
    problem TEXT,
    PRIMARY KEY (integration_id, subscriber_id)
) STRICT;
CREATE INDEX adoption_value_state ON adoption_value (integration_id, state, subscriber_id);

-- works-with: 0093
-- locks: partner_referral, for reads and writes, while it is read once
-- An address that the person confirmed after they had changed to it, as a keyed hash: who comes with it later is the same person.
ALTER TABLE partner_referral ADD COLUMN confirmed_person_key TEXT;
CREATE INDEX partner_referral_confirmed_person ON partner_referral (account_id, confirmed_person_key)
WHERE confirmed_person_key IS NOT NULL;

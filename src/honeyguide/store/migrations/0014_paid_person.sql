-- Subscribers that partners sent, by person, erased ones too: before a charge, the program looks for an earlier one for the same
-- person under an address they have had since.
CREATE INDEX subscriber_paid_person ON subscriber (account_id, person_key) WHERE partner_campaign_id IS NOT NULL;

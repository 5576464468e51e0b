-- works-with: 0093
-- locks: partner_referral, for a moment
-- What a referral would have become, if it was refused because its program or partner was stopped: a JSON list of status, reason,
-- due date and what is behind. It becomes that if the stop is undone within a minute.
ALTER TABLE partner_referral ADD COLUMN without_stop TEXT;

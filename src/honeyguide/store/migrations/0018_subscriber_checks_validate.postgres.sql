-- works-with: 0014
-- locks: nothing that reads or writes wait for
-- Reads every row, and lets others write meanwhile.
ALTER TABLE subscriber VALIDATE CONSTRAINT subscriber_referral_status_check, VALIDATE CONSTRAINT subscriber_status_check,
    VALIDATE CONSTRAINT subscriber_check;

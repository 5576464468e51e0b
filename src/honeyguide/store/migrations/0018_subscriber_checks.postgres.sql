-- works-with: 0014
-- locks: subscriber, for reads and writes, for a moment
-- The checks that 0001 dropped on PostgreSQL, for new rows. This does not read the rows that are there; the next migration does.
ALTER TABLE subscriber
    ADD CONSTRAINT subscriber_referral_status_check CHECK (referral_status IN ('verified', 'pending', 'rejected')) NOT VALID,
    ADD CONSTRAINT subscriber_status_check CHECK (status IN ('active', 'unsubscribed', 'confirmed')) NOT VALID,
    ADD CONSTRAINT subscriber_check CHECK (referrals_verified >= 0 AND referrals_pending >= 0 AND referrals_rejected >= 0) NOT VALID;

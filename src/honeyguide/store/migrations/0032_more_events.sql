-- works-with: 0020
-- locks: webhook, for reads and writes, for a moment
-- Four more events that a webhook can get. Null means not set, as for the other four.
ALTER TABLE webhook ADD COLUMN new_subscriber INTEGER;
ALTER TABLE webhook ADD COLUMN subscriber_unsubscribed INTEGER;
ALTER TABLE webhook ADD COLUMN referral_verified INTEGER;
ALTER TABLE webhook ADD COLUMN referral_rejected INTEGER;

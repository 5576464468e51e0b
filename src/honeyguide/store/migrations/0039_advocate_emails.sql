-- works-with: 0020
-- locks: campaign, for reads and writes, for a moment; email_stop, for writes, for a moment
-- Which emails about referrals a campaign sends to its subscribers, besides those that somebody asks for.
ALTER TABLE campaign ADD COLUMN sends_friend_joined INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN sends_one_more INTEGER NOT NULL DEFAULT 0;
ALTER TABLE campaign ADD COLUMN sends_reward_unlocked INTEGER NOT NULL DEFAULT 1;

-- The list of those who stopped these emails, newest first.
CREATE INDEX email_stop_account ON email_stop (account_id, stopped_ms, subscriber_id);
